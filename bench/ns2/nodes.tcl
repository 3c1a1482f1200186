# A node and a link, there and back, for each source.
for {set i 0} {$i < $count} {incr i} {
    foreach {first last} [lindex $ways $i] {}
    set s($i) [source]
    pipe $s($i) $router($first) $access_rate [lindex $delays $i]
    agents $i
    $ns attach-agent $s($i) $tcp($i)
    $ns attach-agent $router($last) $sink($i)
    $ns connect $tcp($i) $sink($i)
}
