//! The one timer of RACK-TLP (RFC 8985 section 8): what it waits for, and what its expiry does.

use super::{Pending, Phase, Probe, Sent, find_losses, new_data, phase, send};
use crate::window::{Cut, LastCut};
use crate::{Knobs, NEVER, Output, Sender};
use cwndlab_rules::Congestion;

/// What timers wait beyond what is computed, seconds: Linux's `TCP_TIMEOUT_MIN`, two ticks of a millisecond.
const SLACK_S: f64 = 0.002;
/// The least that a timer is set to, seconds: a tick.
const TICK_S: f64 = 0.001;

/// Sets the one timer (Linux's `tcp_set_xmit_timer`, RFC 8985 section 8): for reordering, for a probe, for the time-out.
pub(super) fn set_timer(tcp: &mut Sender, now_s: f64, advanced: bool, sent: Sent, wait_s: f64, knobs: &Knobs) {
    if tcp.is_finished() {
        return;
    }
    let outstanding = tcp.highest_sent - tcp.highest_ack;
    let Some(rack) = tcp.rack.as_deref() else { return };
    let may_probe = knobs.tlp && (rack.phase == Phase::Cwr || (rack.phase == Phase::Open && !rack.has_reports()));
    let was_probe = rack.pending == Pending::Probe;
    if outstanding == 0 {
        // A window below one packet waits for the timer.
        return if tcp.cwnd < 1.0 { wait(tcp, now_s, Pending::Retransmission, tcp.rtt.timeout_s()) } else { tcp.deadline_s = NEVER };
    }
    if wait_s > 0.0 {
        wait(tcp, now_s, Pending::Reordering, wait_s + SLACK_S);
    } else if sent.head {
        wait(tcp, now_s, Pending::Retransmission, tcp.rtt.timeout_s());
    } else if advanced || sent.new_data {
        // Without news of the first packet its time-out runs since it was sent.
        let timeout_s = if sent.new_data { since_head_s(tcp, now_s) } else { tcp.rtt.timeout_s() };
        match probe_after_s(tcp, outstanding, knobs) {
            Some(probe_s) if may_probe => wait(tcp, now_s, Pending::Probe, probe_s.min(timeout_s)),
            _ if advanced => wait(tcp, now_s, Pending::Retransmission, tcp.rtt.timeout_s()),
            _ if was_probe => wait(tcp, now_s, Pending::Retransmission, timeout_s),
            _ => {}
        }
    }
}

fn wait(tcp: &mut Sender, now_s: f64, pending: Pending, seconds: f64) {
    tcp.deadline_s = now_s + seconds;
    tcp.armed_at_s = now_s;
    if let Some(rack) = &mut tcp.rack {
        rack.pending = pending;
    }
}

/// What is left of the first packet's time-out, seconds.
fn since_head_s(tcp: &Sender, now_s: f64) -> f64 {
    let head_s = tcp.rack.as_ref().and_then(|rack| rack.head_sent_s()).unwrap_or(now_s);
    (head_s + tcp.rtt.timeout_s() - now_s).max(TICK_S)
}

/// The time of silence before a probe, seconds (RFC 8985 section 7.2): two round trips, and where a lone packet's acknowledgement may be delayed
/// that time too, which Linux takes to be `min_rto`. None before the first round trip was measured.
fn probe_after_s(tcp: &Sender, outstanding: i64, knobs: &Knobs) -> Option<f64> {
    let srtt_s = tcp.rtt.srtt_s(knobs);
    let more_s = if outstanding == 1 { knobs.min_rto.seconds() } else { SLACK_S };
    (srtt_s > 0.0).then_some(2.0 * srtt_s + more_s)
}

/// The timer came up. Returns whether that was all: if not, it is a time-out.
pub(crate) fn on_timer(tcp: &mut Sender, now_s: f64, knobs: &Knobs, out: &mut impl Output) -> bool {
    let pending = tcp.rack.as_ref().map_or(Pending::Retransmission, |rack| rack.pending);
    if tcp.highest_ack == tcp.highest_sent || pending == Pending::Retransmission {
        return false;
    }
    match pending {
        Pending::Retransmission => {}
        Pending::Probe => {
            send_probe(tcp, now_s, knobs, out);
            wait(tcp, now_s, Pending::Retransmission, tcp.rtt.timeout_s());
        }
        Pending::Reordering => {
            wait(tcp, now_s, Pending::Retransmission, since_head_s(tcp, now_s));
            let found = tcp.rack.as_ref().map_or(0, |rack| rack.found);
            let inspection = find_losses(tcp, now_s, knobs);
            let Some(rack) = &tcp.rack else { return true };
            if rack.found > found {
                // Linux's `tcp_rack_reo_timeout` counts a packet delivered, so that one may leave.
                let in_flight = rack.in_flight();
                tcp.go_on_reducing(in_flight, 1, false);
            }
            let sent = send(tcp, now_s, knobs, knobs.max_burst, out);
            set_timer(tcp, now_s, false, sent, inspection.wait_s, knobs);
        }
    }
    true
}

/// One packet whatever the window says (RFC 8985 section 7.3): new data if there is any, else the last again. Only one at a time.
fn send_probe(tcp: &mut Sender, now_s: f64, knobs: &Knobs, out: &mut impl Output) {
    let Some(rack) = tcp.rack.as_deref().filter(|rack| rack.probe.is_none()) else { return };
    let is_copy = match new_data(tcp) {
        Some(number) => {
            tcp.output(now_s, number, knobs, out);
            tcp.next = number + 1;
            false
        }
        None if rack.is_reported(tcp.highest_sent) => return,
        None => {
            tcp.output(now_s, tcp.highest_sent, knobs, out);
            true
        }
    };
    let up_to = tcp.highest_sent;
    if let Some(rack) = &mut tcp.rack {
        rack.probe = Some(Probe { up_to, is_copy });
    }
}

/// A time-out (Linux's `tcp_enter_loss`): the threshold is cut, once for a window, and what is lost goes out again one by one.
pub(crate) fn expire(tcp: &mut Sender, now_s: f64, knobs: &Knobs) {
    tcp.cwnd = tcp.cwnd.max(1.0);
    if tcp.highest_ack == tcp.highest_sent {
        // Nothing outstanding: the window had fallen below one packet, or there was no data.
        if knobs.slow_start_restart {
            tcp.window_to_one();
        }
        return wait(tcp, now_s, Pending::Retransmission, tcp.rtt.timeout_s());
    }
    if tcp.highest_ack == -1 && knobs.restart_after_syn_loss {
        tcp.lost_first = true;
    }
    tcp.counters.timeouts += 1;
    let again = knobs.hold_ssthresh && tcp.timed_out_after == tcp.highest_ack;
    let hold = match phase(tcp) {
        Phase::Open => false,
        Phase::Cwr | Phase::Recovery => tcp.highest_ack < tcp.recover,
        Phase::Loss => again,
    };
    let ssthresh = tcp.ssthresh;
    tcp.stop_reducing();
    tcp.cut(Cut::ToOne(Congestion::Timeout), knobs);
    if hold {
        tcp.ssthresh = ssthresh;
    }
    (tcp.recover, tcp.timed_out_after, tcp.last_cut) = (tcp.highest_sent, tcp.highest_ack, LastCut::Timeout);
    (tcp.in_recovery, tcp.rtt_active) = (false, false);
    tcp.rtt.back_off(knobs);
    if let Some(rack) = &mut tcp.rack {
        (rack.phase, rack.probe) = (Phase::Loss, None);
        rack.on_timeout(now_s);
        tcp.cwnd = (rack.in_flight() + 1) as f64;
    }
    wait(tcp, now_s, Pending::Retransmission, tcp.rtt.timeout_s());
}
