# ns red.tcl FILE CLASS VARIABLE=VALUE...     what red-*.txt (CLASS RED) and rio-in.txt (CLASS RED/RIO) were made with
# ns red.tcl uniforms                         the numbers that RED draws
#
# Arrivals are the first two columns of FILE. Writes the average, and max_p or the average of in-packets, after each arrival to ave.out,
# and ns-2's trace of the queue ("+" an arrival, "d" a loss) to trace.out. Variables: ns-2's, and bw, limit and delay of the link.
set tcl_precision 17
if {[lindex $argv 0] == "uniforms"} {
    for {set i 0} {$i < 320} {incr i} { puts [$defaultRNG uniform 0 1] }
    exit 0
}
set class [lindex $argv 1]
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set use_mark_p_ false
Queue/$class set mean_pktsize_ 1000
array set link {bw 8e6 limit 30 delay 0.01}
foreach setting [lrange $argv 2 end] {
    foreach {key value} [split $setting =] {}
    if {[info exists link($key)]} { set link($key) $value } else { Queue/$class set $key $value }
}
set ns [new Simulator]
set a [$ns node]
set b [$ns node]
$ns simplex-link $a $b $link(bw) $link(delay) $class
$ns queue-limit $a $b $link(limit)
set queue [[$ns link $a $b] queue]
set second cur_max_p_
if {$class == "RED/RIO"} {
    set second in_ave_
    $queue set priority_method_ 1
}
set udp [new Agent/UDP]
$udp set packetSize_ 2000
$udp set fid_ 1
$ns attach-agent $a $udp
set null [new Agent/Null]
$ns attach-agent $b $null
$ns connect $udp $null
$ns trace-queue $a $b [open trace.out w]
set out [open ave.out w]
proc arrive {size} {
    global udp queue out second
    $udp send $size
    puts $out "[$queue set ave_] [$queue set $second]"
}
set in [open [lindex $argv 0] r]
foreach line [split [read $in] "\n"] {
    if {$line != "" && [string index $line 0] != "#"} { $ns at [lindex $line 0] "arrive [lindex $line 1]" }
}
$ns at 1000 "exit 0"
$ns run
