# Starts, and what is printed: microseconds from the first event to the last, packets sent, packets dropped, time-outs, bytes of
# memory at most (Linux).
$ns at 0.0 { set begin [clock microseconds] }
for {set i 0} {$i < $count} {incr i} { $ns at [lindex $starts $i] "$ftp($i) start" }
proc memory {} {
    if {[catch {open /proc/self/status} status]} { return 0 }
    regexp {VmHWM:\s+(\d+)} [read $status] all kilobytes
    return [expr {$kilobytes * 1024}]
}
proc finish {} {
    global begin tcp count dropped
    set wall [expr {[clock microseconds] - $begin}]
    set sent 0
    set timeouts 0
    for {set i 0} {$i < $count} {incr i} {
        incr sent [$tcp($i) set ndatapack_]
        incr timeouts [$tcp($i) set nrexmit_]
    }
    puts "$wall $sent [$dropped set pdrops_] $timeouts [memory]"
    exit 0
}
$ns at $duration finish
$ns run
