# What a run measures of its flows beside the tables of its script: reductions of the window and what is
# acknowledged over the measuring window, the RTO, and series.
proc count-flows {table} {
    global tcp
    upvar #0 $table counted
    foreach i [array names tcp] {
        # Without expiries of the timer with nothing outstanding, which ncwndcuts_ counts too.
        set counted(reductions,$i) [$tcp($i) set ncwndcuts1_]
        # Packets have numbers from 0, which is that of the SYN if there is one.
        set syn [expr {[$tcp($i) set syn_] ? 1 : 0}]
        set counted(acknowledged,$i) [expr {max(0, [$tcp($i) set ack_] + 1 - $syn)}]
    }
}
# The RTO that follows from srtt_ and rttvar_ (TcpAgent::rtt_timeout), looked at every so many seconds
# while the timer is not backed off: a flow takes no sample of its RTT before its backoff ends.
proc sample-rto {every until} {
    global ns tcp rto
    if {[$ns now] > $until} { return }
    foreach i [array names tcp] {
        if {[$tcp($i) set backoff_] > 1 || [$tcp($i) set srtt_] == 0} { continue }
        set ticks [expr {((int([$tcp($i) set rttvar_]) << 3) + int([$tcp($i) set srtt_])) >> 3}]
        set found [expr {$ticks * [$tcp($i) set tcpTick_]}]
        set least [expr {max([$tcp($i) set minrto_], 2 * [$tcp($i) set tcpTick_])}]
        lappend rto($i) [expr {min(max($found, $least), [$tcp($i) set maxrto_])}]
    }
    $ns at [expr {[$ns now] + $every}] "sample-rto $every $until"
}
# A number for each flow, printed now and every so many seconds.
proc print-series {name every} {
    global ns
    row series $name [$ns now] {*}[$name]
    $ns at [expr {[$ns now] + $every}] "print-series $name $every"
}
proc bytes-in-order {} {
    global sink
    set bytes {}
    foreach i [lsort -integer [array names sink]] { lappend bytes [$sink($i) set bytes_] }
    return $bytes
}
# Packets that left the last link of each flow.
proc packets-departed {} {
    global monitor tcp path
    foreach link [array names monitor] {
        foreach flow [$monitor($link) flows] {
            set departed([$flow set flowid_],$link) [$flow set pdepartures_]
        }
    }
    set packets {}
    foreach i [lsort -integer [array names tcp]] {
        set key $i,[lindex $path($i) end]
        lappend packets [expr {[info exists departed($key)] ? $departed($key) : 0}]
    }
    return $packets
}
# The last row of each series in `series`, what was counted within the window, and mean RTOs (-1 without).
rename report report-tables
proc report {} {
    global ns tcp rto series counted_before counted_after
    foreach name $series { row series $name [$ns now] {*}[$name] }
    # The report comes before what else is due at the end of the run.
    if {![array exists counted_after]} { count-flows counted_after }
    set means {}
    foreach i [lsort -integer [array names tcp]] {
        foreach name {reductions acknowledged} {
            lappend grown($name) [expr {$counted_after($name,$i) - $counted_before($name,$i)}]
        }
        lappend means [expr {[info exists rto($i)] ?
            [expr ([join $rto($i) +]) / double([llength $rto($i)])] : -1}]
    }
    foreach name [array names grown] { row series $name [$ns now] {*}$grown($name) }
    row series mean-rto [$ns now] {*}$means
    report-tables
}
