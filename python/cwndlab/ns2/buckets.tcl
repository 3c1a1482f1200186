# A node whose address has a bucket of its own in DRR (DRR::hash); those that would share one stay
# unused.
proc bucket-node {} {
    global ns taken
    while 1 {
        set node [$ns node]
        set id [$node id]
        set bucket [expr {$id + ($id >> 8) + ~($id >> 4)}]
        if {![info exists taken($bucket)]} {
            set taken($bucket) 1
            return $node
        }
    }
}
