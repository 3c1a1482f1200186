# What notes every send of an exported script. Argument: file for the sends.
set out [open [lindex $argv 0] w]
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
# A probe between each sender and its node; flows count from 0 in cwndlab.
foreach i [array names tcp] {
    set probe [new Probe $tcp($i) [expr {$i - 1}]]
    $probe target [$tcp($i) target]
    $tcp($i) target $probe
}
proc report {} {
    global out
    close $out
}
