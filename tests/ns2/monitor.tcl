# What every script begins with that counts instead of noting each send. Arguments: file for the counts, file for the
# senders' events, seed.
# The headers that these agents read; without the others ns-2 is faster.
remove-all-packet-headers
add-packet-header IP TCP Flags RTP
set tcl_precision 17
set ns [new Simulator]
set out [open [lindex $argv 0] w]
set events [open [lindex $argv 1] w]
ns-random [lindex $argv 2]
# Time-outs and fast retransmits come as events of the sender; its counter nrexmit_ leaves out those after ECN.
proc watch {index} {
    global tcp events
    set event [new BaseTrace/Event]
    $event attach $events
    $tcp($index) cmd eventtrace $event
    $tcp($index) set fid_ $index
}
proc snapshot {} {
    global ns out monitor tcp
    set waiting [$monitor get-pkts-integrator]
    $waiting newpoint [$ns now] [$waiting set lasty_]
    set line [$waiting set sum_]
    foreach name {parrivals_ pdrops_ pmarks_ bdepartures_} { lappend line [$monitor set $name] }
    for {set i 0} {$i < [array size tcp]} {incr i} { lappend line [$tcp($i) set ack_] }
    puts $out $line
}
