# What every generated script begins with. Arguments: file for the sends, file for the timer phases, numbers to skip.
set tcl_precision 17
set ns [new Simulator]
set out [open [lindex $argv 0] w]
set phases [open [lindex $argv 1] w]
set draw [lindex $argv 2]
set unlimited 1000000
# A tagged trace prints the clock with 15 digits; the usual one is rounded to a microsecond. Its callback runs while the
# packet leaves the agent, when the agent's variables can be read in full.
Class Probe -superclass Trace/Enque
Probe instproc init {tcp} {
    $self instvar tcp_
    $self next
    set tcp_ $tcp
    $self tagged true
    $self set callback_ 1
    $self set src_ 0
    $self set dst_ 0
}
Probe instproc handle args {
    global out
    $self instvar tcp_
    set a [lindex $args 0]
    set x [lindex $a 17]
    set packet "[lindex $a 11] [lindex $a 1] [lindex $x 2] [lindex $a 9]"
    puts $out "$packet [$tcp_ set cwnd_] [$tcp_ set ssthresh_] [$tcp_ set nrexmit_] [$tcp_ set backoff_]"
}
proc pipe {from to rate delay limit} {
    global ns unlimited
    $ns duplex-link $from $to $rate $delay DropTail
    $ns queue-limit $from $to $limit
    $ns queue-limit $to $from $unlimited
}
proc drops {link_from link_to packets after} {
    global ns
    set model [new ErrorModel/List]
    $model unit pkt
    $model droplist $packets
    $model drop-target [new Agent/Null]
    if {$after} { $ns link-lossmodel $model $link_from $link_to } else { $ns lossmodel $model $link_from $link_to }
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
# The agents of flow `index` on their nodes, with a probe between the sender and its node.
proc connect {index} {
    global ns tcp sink s d ftp
    $tcp($index) set fid_ $index
    $ns attach-agent $s($index) $tcp($index)
    $ns attach-agent $d($index) $sink($index)
    $ns connect $tcp($index) $sink($index)
    set probe [new Probe $tcp($index)]
    $probe target [$tcp($index) target]
    $tcp($index) target $probe
    set ftp($index) [new Application/FTP]
    $ftp($index) attach-agent $tcp($index)
}
