# What is measured at a link: packets that arrive, wait, leave and are lost, of each flow by its fid_.
proc watch {name from to} {
    global ns monitor
    set monitor($name) [$ns makeflowmon Fid]
    $monitor($name) set-pkts-integrator [new Integrator]
    $ns attach-fmon [$ns link $from $to] $monitor($name)
}
# Every counter now: of flow i its sender's and its sink's, of a link its monitor's.
proc counters {} {
    global ns monitor tcp sink receiver
    foreach i [array names tcp] {
        set now(sent,$i) [$tcp($i) set ndatapack_]
        set now(retransmitted,$i) [$tcp($i) set nrexmitpack_]
        set now(timeouts,$i) [$tcp($i) set nrexmit_]
        set now(bytes,$i) [$sink($i) set bytes_]
    }
    foreach i [array names receiver] { set now(arrived,$i) [$receiver($i) set npkts_] }
    foreach link [array names monitor] {
        set waiting [$monitor($link) get-pkts-integrator]
        $waiting newpoint [$ns now] [$waiting set lasty_]
        set now(waiting,$link) [$waiting set sum_]
        foreach counter {parrivals_ pdrops_ pmarks_ pdepartures_ bdepartures_} {
            set now($counter,$link) [$monitor($link) set $counter]
        }
        foreach flow [$monitor($link) flows] {
            set fid [$flow set flowid_]
            set now(dropped,$fid,$link) [$flow set pdrops_]
            set now(offered,$fid,$link) [$flow set parrivals_]
        }
    }
    return [array get now]
}
# How much a counter grew within the measuring window; those of bytes have 32 bits.
proc grown {counter} {
    global before after
    if {![info exists after($counter)]} { return 0 }
    if {![info exists before($counter)]} { return $after($counter) }
    set grown [expr {$after($counter) - $before($counter)}]
    return [expr {$grown < 0 ? $grown + 4294967296.0 : $grown}]
}
proc row {args} { puts [join $args "\t"] }
# The measures of all flows, sources and links over the measuring window, tab-separated.
proc report {} {
    global tcp receiver name payload size path links rate seconds
    row flow goodput_bps delivered_packets sent_packets retransmitted_packets dropped_packets timeouts
    foreach i [lsort -integer [array names tcp]] {
        set delivered [expr {int([grown bytes,$i] / $size($i))}]
        set goodput [expr {8.0 * $payload($i) * $delivered / $seconds}]
        row $name($i) $goodput $delivered [grown sent,$i] [grown retransmitted,$i] [drops $i] \
            [grown timeouts,$i]
    }
    row source offered_bps delivered_bps sent_packets delivered_packets dropped_packets
    foreach i [lsort -integer [array names receiver]] {
        set sent [grown offered,$i,[lindex $path($i) 0]]
        set arrived [grown arrived,$i]
        set bits [expr {8.0 * $size($i) / $seconds}]
        row $name($i) [expr {$bits * $sent}] [expr {$bits * $arrived}] $sent $arrived [drops $i]
    }
    row link arrived_packets dropped_packets marked_packets departed_packets utilization \
        mean_queue_packets mean_queueing_delay_s
    foreach link $links {
        set waiting [grown waiting,$link]
        set left [grown pdepartures_,$link]
        row $link [grown parrivals_,$link] [grown pdrops_,$link] [grown pmarks_,$link] $left \
            [expr {8.0 * [grown bdepartures_,$link] / $seconds / $rate($link)}] \
            [expr {$waiting / $seconds}] [expr {$left > 0 ? $waiting / $left : 0.0}]
    }
}
# Packets of a flow that the links on its path dropped.
proc drops {i} {
    global path
    set dropped 0
    foreach link $path($i) { set dropped [expr {$dropped + [grown dropped,$i,$link]}] }
    return $dropped
}
