# Timeouts of an exported script, as events of its senders. Arguments: files for the measures, the events and the number
# of expiries with nothing outstanding. The sender's counter nrexmit_, which the script prints, leaves out timeouts that
# follow a reduction for ECN; expiries with nothing outstanding are the cuts that ncwndcuts_ counts and ncwndcuts1_ does
# not.
set measures [open [lindex $argv 0] w]
set events [open [lindex $argv 1] w]
foreach i [array names tcp] {
    set event [new BaseTrace/Event]
    $event attach $events
    $tcp($i) cmd eventtrace $event
}
proc idle {} {
    global tcp
    set idle 0
    foreach i [array names tcp] { incr idle [expr {[$tcp($i) set ncwndcuts_] - [$tcp($i) set ncwndcuts1_]}] }
    return $idle
}
rename counters script-counters
proc counters {} {
    global idle_now
    lappend idle_now [idle]
    return [script-counters]
}
proc row {args} {
    global measures
    puts $measures [join $args "\t"]
}
rename report script-report
proc report {} {
    global argv measures events idle_now
    script-report
    set file [open [lindex $argv 2] w]
    puts $file [expr {[lindex $idle_now 1] - [lindex $idle_now 0]}]
    close $file
    close $measures
    close $events
}
