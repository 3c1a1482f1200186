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
# A source's node in front of a router. Sources of one bucket share it: its packets enter the router at
# once, and ns-2 takes a time for its routes that grows with the square of the nodes.
proc shared-bucket-source {i buckets router} {
    global ns bucket_sources
    set key [expr {($i - 1) % $buckets}],[$router id]
    if {![info exists bucket_sources($key)]} {
        set bucket_sources($key) [shared-bucket-node $i $buckets]
        pipe $bucket_sources($key) $router 1e300 0ms
    }
    return $bucket_sources($key)
}
