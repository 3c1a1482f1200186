# What every generated script begins with. Arguments: file for the sends, file for the timer phases, numbers to skip.
set tcl_precision 17
set ns [new Simulator]
set out [open [lindex $argv 0] w]
set phases [open [lindex $argv 1] w]
set draw [lindex $argv 2]
# A tagged trace prints the clock with 15 digits; the usual one is rounded to a microsecond. Its callback runs while the
# packet leaves the agent, when the agent's variables can be read in full.
Class Probe -superclass Trace/Enque
Probe instproc init {tcp index} {
    $self instvar tcp_ index_
    $self next
    set tcp_ $tcp
    set index_ $index
    $self tagged true
    $self set callback_ 1
    $self set src_ 0
    $self set dst_ 0
}
Probe instproc handle args {
    global out
    $self instvar tcp_ index_
    set a [lindex $args 0]
    set x [lindex $a 17]
    set packet "$index_ [lindex $a 1] [lindex $x 2] [lindex $a 9]"
    puts $out "$packet [$tcp_ set cwnd_] [$tcp_ set ssthresh_] [$tcp_ set nrexmit_] [$tcp_ set backoff_]"
}
# The probe between a sender and its node.
proc probe {index} {
    global tcp
    set probe [new Probe $tcp($index) $index]
    $probe target [$tcp($index) target]
    $tcp($index) target $probe
}
# ns-2's default stream from its start, without its first numbers.
proc seed {} {
    global draw defaultRNG
    ns-random 1
    for {set i 0} {$i < $draw} {incr i} { $defaultRNG uniform 0 1 }
}
# Each agent draws the phase of its timer when it is reset: note the numbers, then reset the agents in order.
proc boot {count} {
    global phases defaultRNG tcp
    seed
    for {set i 0} {$i < $count} {incr i} { puts $phases [expr {[$tcp($i) set tcpTick_] * [$defaultRNG uniform 0 1]}] }
    seed
    for {set i 0} {$i < $count} {incr i} { $tcp($i) reset }
}
