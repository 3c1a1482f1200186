# A link both ways that never drops.
proc pipe {from to rate delay} {
    global ns
    $ns duplex-link $from $to $rate $delay DropTail
    $ns queue-limit $from $to 1000000
    $ns queue-limit $to $from 1000000
}
# The agents of flow i on their nodes. Its packets have fid_ i, by which the links count them.
proc tcp-flow {i flow from to payload_bytes packet_bytes links} {
    global ns tcp sink ftp name payload size path
    $ns attach-agent $from $tcp($i)
    $ns attach-agent $to $sink($i)
    $ns connect $tcp($i) $sink($i)
    $tcp($i) set fid_ $i
    set ftp($i) [new Application/FTP]
    $ftp($i) attach-agent $tcp($i)
    array set name [list $i $flow]
    array set payload [list $i $payload_bytes]
    array set size [list $i $packet_bytes]
    array set path [list $i $links]
}
# ns-2 draws the offset of each agent's timer within a tick, when the agent is reset. Seed 143581 makes
# it 0.00000003 of a tick (tcp.timer_phase).
proc reset-timers {} {
    global seed tcp phase ssthresh
    foreach i [lsort -integer [array names tcp]] {
        ns-random [expr {[info exists phase($i)] ? $phase($i) : 143581}]
        $tcp($i) reset
        if {[info exists ssthresh($i)]} { $tcp($i) set ssthresh_ $ssthresh($i) }
    }
    ns-random $seed
}
