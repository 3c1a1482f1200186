# One or several flows of ns-2's Agent/TCP/Linux, or of its own agents, over a dumbbell, their windows sampled. Argument:
# the file for the samples. today.py writes what follows: links (network.tcl), agents, losses, the end.
set tcl_precision 17
set ns [new Simulator]
set out [open [lindex $argv 0] w]
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
