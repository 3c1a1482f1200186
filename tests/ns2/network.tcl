# The network that tcl.py describes: links, sources of addresses that DRR tells apart, lists of losses, agents.
set unlimited 1000000
proc pipe {from to rate delay} {
    global ns unlimited
    $ns duplex-link $from $to $rate $delay DropTail
    $ns queue-limit $from $to $unlimited
    $ns queue-limit $to $from $unlimited
}
# The variables of the queue's class are set before: some of them count when the link is made.
proc bottleneck {from to rate delay kind limit} {
    global ns unlimited
    $ns simplex-link $from $to $rate $delay $kind
    $ns queue-limit $from $to $limit
    $ns simplex-link $to $from $rate $delay DropTail
    $ns queue-limit $to $from $unlimited
}
# A node whose address has a bucket of its own in DRR (DRR::hash); those that would share one stay unused.
proc source {} {
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
proc behind {router} {
    set node [source]
    pipe $node $router 1e12 0ms
    return $node
}
proc model {link_from link_to packets after} {
    global ns
    set model [new ErrorModel/List]
    $model unit pkt
    $model droplist $packets
    set link [$ns link $link_from $link_to]
    if {$after} {
        $model target [[$link link] target]
        [$link link] target $model
    } else {
        $ns lossmodel $model $link_from $link_to
    }
    $model drop-target [new Agent/Null]
    return $model
}
proc drops {link_from link_to packets after} { model $link_from $link_to $packets $after }
proc marks {link_from link_to packets after} { [model $link_from $link_to $packets $after] set markecn_ true }
# The agents of flow `index` on their nodes.
proc connect {index} {
    global ns tcp sink s d ftp
    $ns attach-agent $s($index) $tcp($index)
    $ns attach-agent $d($index) $sink($index)
    $ns connect $tcp($index) $sink($index)
    set ftp($index) [new Application/FTP]
    $ftp($index) attach-agent $tcp($index)
}
# A source of cross traffic on its node, and where it ends.
proc cross {index kind variables} {
    global ns c r2 generator
    set udp [new Agent/UDP]
    $udp set packetSize_ 65000
    set null [new Agent/Null]
    $ns attach-agent $c($index) $udp
    $ns attach-agent $r2 $null
    $ns connect $udp $null
    set generator($index) [new Application/Traffic/$kind]
    foreach {name value} $variables { $generator($index) set $name $value }
    $generator($index) attach-agent $udp
}
