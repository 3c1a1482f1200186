# Agent/TCP/Linux echoes its commands to the same output, through a buffer of its own: rows begin a line.
fconfigure stdout -buffering line
proc row {args} { puts "\n[join $args "\t"]" }
