# The reference work at its fastest in ns-2. ns2_reference.py writes in front: tests/ns2/network.tcl, and the variables
# rate, delay, kind, limit, queue_variables, access_rate, delays, starts, sender, sink_kind, variables, duration.
# IP, TCP and Flags are all that these agents read; without the other headers ns-2 is about a quarter faster.
remove-all-packet-headers
add-packet-header IP TCP Flags
set tcl_precision 17
set ns [new Simulator]
set r1 [$ns node]
set r2 [$ns node]
foreach {name value} $queue_variables { Queue/$kind set $name $value }
bottleneck $r1 $r2 $rate $delay $kind $limit
# Counts what the bottleneck drops; it sees no other packet.
set dropped [new QueueMonitor]
set snoop [new SnoopQueue/Drop]
$snoop set-monitor $dropped
$snoop target [new Agent/Null]
[[$ns link $r1 $r2] queue] drop-target $snoop
set count [llength $delays]
$ns at 0.0 { set begin [clock microseconds] }
for {set i 0} {$i < $count} {incr i} {
    set s($i) [source]
    pipe $s($i) $r1 $access_rate [lindex $delays $i]
    set tcp($i) [new $sender]
    foreach {name value} $variables { $tcp($i) set $name $value }
    set sink($i) [new $sink_kind]
    $ns attach-agent $s($i) $tcp($i)
    $ns attach-agent $r2 $sink($i)
    $ns connect $tcp($i) $sink($i)
    set ftp($i) [new Application/FTP]
    $ftp($i) attach-agent $tcp($i)
    $ns at [lindex $starts $i] "$ftp($i) start"
}
proc finish {} {
    global begin tcp sink count dropped
    set wall [expr {[clock microseconds] - $begin}]
    set sent 0
    set bytes 0.0
    set timeouts 0
    for {set i 0} {$i < $count} {incr i} {
        incr sent [$tcp($i) set ndatapack_]
        incr timeouts [$tcp($i) set nrexmit_]
        set bytes [expr {$bytes + [$sink($i) set bytes_]}]
    }
    puts "$wall $sent [$dropped set pdrops_] $bytes $timeouts"
    exit 0
}
$ns at $duration finish
$ns run
