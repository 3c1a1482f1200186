# The reference workload at its fastest in ns-2. ns2_reference.py writes in front the variables
# hops (rate and delay of each link in a row), kind, limit, queue_variables, access_rate, delays, starts, ways (first and last
# router of each flow), sender, sink_kind, variables, defaults, duration. Behind it come nodes.tcl or hand.tcl, and end.tcl.
# IP, TCP and Flags are all that these agents read; without the other headers ns-2 is about a quarter faster.
remove-all-packet-headers
add-packet-header IP TCP Flags
set tcl_precision 17
set ns [new Simulator]
eval $defaults
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
