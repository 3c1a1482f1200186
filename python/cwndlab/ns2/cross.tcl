# A source of cross traffic: packets of `bytes`, headers included, counted where they end.
proc cross-traffic {i source kind from to bytes links} {
    global ns generator udp receiver name size path
    set udp($i) [new Agent/UDP]
    $udp($i) set packetSize_ 65000
    $udp($i) set fid_ $i
    set receiver($i) [new Agent/LossMonitor]
    $ns attach-agent $from $udp($i)
    $ns attach-agent $to $receiver($i)
    $ns connect $udp($i) $receiver($i)
    set generator($i) [new Application/Traffic/$kind]
    $generator($i) set packetSize_ $bytes
    $generator($i) attach-agent $udp($i)
    array set name [list $i $source]
    array set size [list $i $bytes]
    array set path [list $i $links]
}
