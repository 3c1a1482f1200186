# A node whose packets have the bucket in DRR (DRR::hash of its address) that i - 1 modulo `buckets`
# counts, which others share. Nodes with other buckets stay unused.
proc shared-bucket-node {i buckets} {
    global ns
    while 1 {
        set node [$ns node]
        set id [$node id]
        set hash [expr {$id + ($id >> 8) + ~($id >> 4) + 1}]
        if {$hash % $buckets == ($i - 1) % $buckets} { return $node }
    }
}
