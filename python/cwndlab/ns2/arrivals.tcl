# Flows that arrive (arrivals). A slot has agents, on nodes of its own if there are access links; a
# later flow of the group reuses it when its flow has completed and none of that flow's packets is left
# in the network, nor its timer set. The procedure slot-GROUP makes the nodes and agents of a slot.
set slots 0
# The generator of the offsets of timers (reset-timers), which is not the one that routers draw from.
set offsets [new RNG]
proc arrival-group {group title payload_bytes packet_bytes links many} {
    global free counted name payload size path
    array set name [list $group $title]
    array set payload [list $group $payload_bytes]
    array set size [list $group $packet_bytes]
    array set path [list $group $links]
    set free($group) {}
    foreach counter {sent retransmitted timeouts bytes} { set counted($counter,$group) 0 }
    for {set made 0} {$made < $many} {incr made} { add-slot $group }
}
proc add-slot {group} {
    global slots free
    lappend free($group) [incr slots]
    slot-$group $slots
}
# Routes take a time that grows with the square of the nodes, so they are computed rarely.
proc double-slots {group} {
    global ns slots
    for {set more [expr {max($slots, 8)}]} {$more > 0} {incr more -1} { add-slot $group }
    $ns compute-routes
}
proc slot-agents {slot group from to} {
    global ns arriving absorbing
    $ns attach-agent $from $arriving($slot)
    $ns attach-agent $to $absorbing($slot)
    $ns connect $arriving($slot) $absorbing($slot)
    $arriving($slot) set fid_ $group
    $arriving($slot) proc done {} "complete $slot $group"
}
proc arrive {group packets access sink} {
    global ns free busy arriving began length pipes offsets defaultRNG phase ssthresh
    if {[llength $free($group)] == 0} { double-slots $group }
    set slot [lindex $free($group) 0]
    set free($group) [lrange $free($group) 1 end]
    set busy($slot) $group
    foreach {end delay} [list s $access d $sink] {
        if {![info exists pipes($end,$slot)]} { continue }
        foreach link $pipes($end,$slot) { [$link link] set delay_ $delay }
    }
    $offsets seed [expr {[info exists phase($group)] ? $phase($group) : 1}]
    $offsets default
    $arriving($slot) reset
    $defaultRNG default
    if {[info exists ssthresh($group)]} { $arriving($slot) set ssthresh_ $ssthresh($group) }
    set began($slot) [$ns now]
    set length($slot) $packets
    $arriving($slot) advanceby $packets
}
proc complete {slot group} {
    global ns arriving began length
    row transfer $group $began($slot) $length($slot) [expr {[$ns now] - $began($slot)}]
    $ns at [expr {[$ns now] + 5.0 + [longest-rto $arriving($slot)]}] "release $slot $group"
}
# No RTO of a sender is longer (TcpAgent::rtt_timeout); ns-2 leaves the timer of a finished flow set.
proc longest-rto {tcp} {
    set ticks [expr {((int([$tcp set rttvar_]) << 3) + int([$tcp set srtt_])) >> 3}]
    set found [expr {$ticks * [$tcp set tcpTick_]}]
    set rto [expr {max($found, [$tcp set minrto_], [$tcp set rtxcur_init_]) * [$tcp set backoff_]}]
    return [expr {min($rto, [$tcp set maxrto_])}]
}
# Frees a slot, after adding what it counted to the sums of its group.
proc release {slot group} {
    global arriving absorbing busy free counted
    foreach {counter count} [counts-of $slot] { incr counted($counter,$group) $count }
    unset busy($slot)
    $absorbing($slot) reset
    $absorbing($slot) set bytes_ 0
    foreach counter {ndatapack_ nrexmitpack_ nrexmit_} { $arriving($slot) set $counter 0 }
    lappend free($group) $slot
}
proc counts-of {slot} {
    global arriving absorbing
    return [list sent [$arriving($slot) set ndatapack_] \
        retransmitted [$arriving($slot) set nrexmitpack_] timeouts [$arriving($slot) set nrexmit_] \
        bytes [expr {int([$absorbing($slot) set bytes_])}]]
}
rename counters counters-of-flows
proc counters {} {
    global counted busy
    array set now [concat [counters-of-flows] [array get counted]]
    foreach {slot group} [array get busy] {
        foreach {counter count} [counts-of $slot] { incr now($counter,$group) $count }
    }
    return [array get now]
}
rename report report-without-arrivals
proc report {} {
    report-without-arrivals
    global free name payload size seconds
    row group goodput_bps delivered_packets sent_packets retransmitted_packets dropped_packets timeouts
    foreach i [lsort -integer [array names free]] {
        set delivered [expr {int([grown bytes,$i] / $size($i))}]
        row $name($i) [expr {8.0 * $payload($i) * $delivered / $seconds}] $delivered \
            [grown sent,$i] [grown retransmitted,$i] [drops $i] [grown timeouts,$i]
    }
}
