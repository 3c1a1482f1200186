# One or several flows of ns-2's Agent/TCP/Linux, or of its own agents, over a dumbbell, their windows sampled. Argument:
# the file for the samples. modern_rules.py writes what follows: links, agents, losses, the end.
set tcl_precision 17
set ns [new Simulator]
set out [open [lindex $argv 0] w]
set unlimited 1000000
proc pipe {from to rate delay} {
    global ns unlimited
    $ns duplex-link $from $to $rate $delay DropTail
    $ns queue-limit $from $to $unlimited
    $ns queue-limit $to $from $unlimited
}
proc bottleneck {from to rate delay kind limit} {
    global ns unlimited
    $ns simplex-link $from $to $rate $delay $kind
    $ns queue-limit $from $to $limit
    $ns simplex-link $to $from $rate $delay DropTail
    $ns queue-limit $to $from $unlimited
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
proc connect {index} {
    global ns tcp sink s d ftp
    $ns attach-agent $s($index) $tcp($index)
    $ns attach-agent $d($index) $sink($index)
    $ns connect $tcp($index) $sink($index)
    set ftp($index) [new Application/FTP]
    $ftp($index) attach-agent $tcp($index)
}
proc sample {every} {
    global ns out tcp
    for {set i 0} {$i < [array size tcp]} {incr i} {
        puts $out "$i [$ns now] [$tcp($i) set cwnd_] [$tcp($i) set ssthresh_] [$tcp($i) set ack_]"
    }
    $ns at [expr {[$ns now] + $every}] "sample $every"
}
proc agent {index kind sinks variables} {
    global tcp sink
    set tcp($index) [new Agent/TCP/$kind]
    set sink($index) [new Agent/$sinks]
    $tcp($index) set window_ 100000
    $tcp($index) set packetSize_ 1000
    $tcp($index) set windowInit_ 2
    foreach {name value} $variables { $tcp($index) set $name $value }
    connect $index
}
# The module's own names of its parameters, with their values.
proc linux {index module parameters} {
    global ns tcp sink
    agent $index Linux TCPSink/Sack1 {timestamps_ true}
    $sink($index) set ts_echo_rfc1323_ true
    $ns at 0.0 "$tcp($index) select_ca $module"
    foreach {name value} $parameters { $ns at 0.0 "$tcp($index) set_ca_param $module $name $value" }
}
