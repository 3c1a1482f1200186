# For very many flows: ns-2's routes take memory with the square of the nodes, so all agents are on the routers. Each flow's
# own link, there and back, is a queue and a delay put between agent and router by hand; a packet meets what it meets in
# nodes.tcl, less one node's classifiers.
proc own {rate delay target} {
    global unlimited
    set queue [new Queue/DropTail]
    $queue set limit_ $unlimited
    set link [new DelayLink]
    $link set bandwidth_ $rate
    $link set delay_ $delay
    $queue target $link
    $link target $target
    return $queue
}
for {set i 0} {$i < $count} {incr i} {
    foreach {first last} [lindex $ways $i] {}
    agents $i
    $ns attach-agent $router($first) $tcp($i)
    $ns attach-agent $router($last) $sink($i)
    $ns connect $tcp($i) $sink($i)
    set delay [lindex $delays $i]
    $tcp($i) target [own $access_rate $delay [$router($first) entry]]
    [$router($first) demux] install [$tcp($i) port] [own $access_rate $delay $tcp($i)]
}
