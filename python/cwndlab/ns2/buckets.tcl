# DRR tells sources by their address, whose hash counts the buckets (DRR::hash). An agent takes on an
# address with the bucket of its flow, and needs no node of its own.
proc put-in-bucket {agent flow from to} {
    global ns
    set buckets [[[$ns link $from $to] queue] set buckets_]
    set bucket [expr {($flow - 1) % $buckets}]
    set address $bucket
    while {($address + ($address >> 8) + ~($address >> 4) + 1) % $buckets != $bucket} { incr address }
    $agent set agent_addr_ $address
}
