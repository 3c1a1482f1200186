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
# Time-outs come as events of the sender: its counter nrexmit_ leaves out those after ECN. The events include expiries
# with nothing outstanding, which are the cuts that ncwndcuts_ counts and ncwndcuts1_ does not.
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
    set idle 0
    for {set i 0} {$i < [array size tcp]} {incr i} {
        incr idle [expr {[$tcp($i) set ncwndcuts_] - [$tcp($i) set ncwndcuts1_]}]
    }
    lappend line $idle
    for {set i 0} {$i < [array size tcp]} {incr i} { lappend line [$tcp($i) set ack_] }
    puts $out $line
}
