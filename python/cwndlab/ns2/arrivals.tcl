# Flows that arrive (arrivals). Each has agents of its own, as ns-2 does not reset all of an agent. A slot
# is their place: at the routers, or on nodes of its own behind access links with a rate. A later flow
# takes it over when no packet of the one before is left in the network, nor its timer set. For a group,
# slot-GROUP makes a slot, agents-GROUP the agents of a flow, and bucket-GROUP puts them into a bucket of
# DRR.
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
# Delays of its own to a router and from it, for the agent of a slot that stays at the router.
proc delay-at {end slot} {
    global delays ways
    foreach way {to from} {
        # A link calls back the queue in front of it.
        set queue [new Queue/DropTail]
        set link [new DelayLink]
        $link set bandwidth_ 1e300
        $queue set limit_ 1000000
        $queue target $link
        lappend ways($end,$slot) $queue
        lappend delays($end,$slot) $link
    }
}
proc place-agent {end slot agent} {
    global ns place delays ways
    set at $place($end,$slot)
    $ns attach-agent $at $agent
    if {![info exists ways($end,$slot)]} { return }
    lassign $ways($end,$slot) to from
    lassign $delays($end,$slot) out in
    $agent target $to
    $out target [$at entry]
    [$at demux] install [$agent set agent_port_] $from
    $in target $agent
}
# The flow of a group at this place of its list, and after its arrival the next. ns-2's scheduler is slow
# when events lie far ahead.
proc let-arrive {group at} {
    global ns coming
    lassign [lrange $coming($group) $at $at+3] start packets access sink
    if {$start eq ""} { return }
    $ns at $start "arrive $group $packets $access $sink; let-arrive $group [expr {$at + 4}]"
}
proc arrive {group packets access sink} {
    global ns free busy arriving absorbing began length delays offsets defaultRNG phase ssthresh
    if {[llength $free($group)] == 0} { double-slots $group }
    set slot [lindex $free($group) 0]
    set free($group) [lrange $free($group) 1 end]
    set busy($slot) $group
    foreach {end delay} [list s $access d $sink] {
        if {![info exists delays($end,$slot)]} { continue }
        foreach link $delays($end,$slot) { $link set delay_ $delay }
    }
    agents-$group $slot
    place-agent s $slot $arriving($slot)
    place-agent d $slot $absorbing($slot)
    $ns connect $arriving($slot) $absorbing($slot)
    if {[info procs bucket-$group] ne ""} { bucket-$group $slot }
    $arriving($slot) set fid_ $group
    $arriving($slot) proc done {} "complete $slot $group"
    $offsets seed [expr {[info exists phase($group)] ? $phase($group) : 143581}]
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
# Frees a slot, after adding what its flow counted to the sums of its group. Its agents stay in memory:
# ns-2 crashes when they are deleted.
proc release {slot group} {
    global ns place arriving absorbing busy free counted
    foreach {counter count} [counts-of $slot] { incr counted($counter,$group) $count }
    unset busy($slot)
    foreach {end agent} [list s $arriving($slot) d $absorbing($slot)] {
        $ns detach-agent $place($end,$slot) $agent
    }
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
