# The reference workload at its fastest in ns-2. ns2_reference.py writes in front: tests/ns2/network.tcl, and the variables
# hops (rate and delay of each link in a row), kind, limit, queue_variables, access_rate, delays, starts, ways (first and last
# router of each flow), sender, sink_kind, variables, duration. Behind it come nodes.tcl or hand.tcl, and end.tcl.
# IP, TCP and Flags are all that these agents read; without the other headers ns-2 is about a quarter faster.
remove-all-packet-headers
add-packet-header IP TCP Flags
set tcl_precision 17
set ns [new Simulator]
set count [llength $delays]
foreach {name value} $queue_variables { Queue/$kind set $name $value }
# Routers in a row. What is counted is what their links drop; the monitor sees no other packet.
set dropped [new QueueMonitor]
set router(0) [$ns node]
set number 0
foreach {rate delay} $hops {
    set before $router($number)
    incr number
    set router($number) [$ns node]
    bottleneck $before $router($number) $rate $delay $kind $limit
    set snoop [new SnoopQueue/Drop]
    $snoop set-monitor $dropped
    $snoop target [new Agent/Null]
    [[$ns link $before $router($number)] queue] drop-target $snoop
}
proc agents {index} {
    global tcp sink ftp sender sink_kind variables
    set tcp($index) [new $sender]
    foreach {name value} $variables { $tcp($index) set $name $value }
    set sink($index) [new $sink_kind]
    set ftp($index) [new Application/FTP]
    $ftp($index) attach-agent $tcp($index)
}
