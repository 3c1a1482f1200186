# Timer phases that ns-2 draws itself. Arguments after those of probes.tcl: file for the phases, numbers to skip.
set phases [open [lindex $argv 1] w]
set draw [lindex $argv 2]
# ns-2's default stream from its start, without its first numbers.
proc seed {} {
    global draw defaultRNG
    ns-random 1
    for {set i 0} {$i < $draw} {incr i} { $defaultRNG uniform 0 1 }
}
# Each agent draws the phase of its timer when it is reset: note the numbers, then reset the agents in order.
proc reset-timers {} {
    global phases defaultRNG tcp ssthresh
    set flows [lsort -integer [array names tcp]]
    seed
    foreach i $flows { puts $phases [expr {[$tcp($i) set tcpTick_] * [$defaultRNG uniform 0 1]}] }
    seed
    foreach i $flows {
        $tcp($i) reset
        if {[info exists ssthresh($i)]} { $tcp($i) set ssthresh_ $ssthresh($i) }
    }
}
