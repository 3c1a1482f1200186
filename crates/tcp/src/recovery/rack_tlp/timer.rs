//! The single timer of RACK-TLP (RFC 8985 section 8): reordering timer, probe timeout or RTO.

use super::{
    CaState, LossProbe, PendingTimer, Transmitted, ca_state, detect_losses, new_data, send,
};
use crate::cwnd::{CwndAction, Reduction};
use crate::{Knobs, NEVER, Output, Sender};
use cwndlab_rules::Congestion;

/// Linux `TCP_TIMEOUT_MIN`: two ticks of a millisecond, seconds.
const TIMEOUT_MIN_S: f64 = 0.002;
/// Shortest timer, seconds: a tick.
const TICK_S: f64 = 0.001;

/// Sets the timer (Linux `tcp_set_xmit_timer`, RFC 8985 section 8) for reordering, a probe or the
/// RTO.
pub(super) fn set_xmit_timer(
    tcp: &mut Sender,
    now_s: f64,
    advanced: bool,
    sent: Transmitted,
    reordering_timeout_s: f64,
    knobs: &Knobs,
) {
    if tcp.is_finished() {
        return;
    }
    let outstanding = tcp.highest_sent - tcp.highest_ack;
    let Some(rack) = tcp.rack.as_deref() else { return };
    let may_send_probe = knobs.tlp
        && (rack.ca_state == CaState::Cwr
            || (rack.ca_state == CaState::Open && !rack.has_sacked()));
    let was_probe = rack.pending_timer == PendingTimer::LossProbe;
    if outstanding == 0 {
        // cwnd is below one packet: only the timer can open it.
        return if tcp.cwnd < 1.0 {
            arm_xmit_timer(tcp, now_s, PendingTimer::Rto, tcp.rtt.rto_s())
        } else {
            tcp.deadline_s = NEVER
        };
    }
    if reordering_timeout_s > 0.0 {
        arm_xmit_timer(tcp, now_s, PendingTimer::Reordering, reordering_timeout_s + TIMEOUT_MIN_S);
    } else if sent.head_retransmitted {
        arm_xmit_timer(tcp, now_s, PendingTimer::Rto, tcp.rtt.rto_s());
    } else if advanced || sent.new_data {
        // Without an ACK of the packet at SND.UNA, its RTO runs since its transmission.
        let timeout_s = if sent.new_data { remaining_rto_s(tcp, now_s) } else { tcp.rtt.rto_s() };
        match pto_s(tcp, outstanding, knobs) {
            Some(pto_s) if may_send_probe => {
                arm_xmit_timer(tcp, now_s, PendingTimer::LossProbe, pto_s.min(timeout_s))
            }
            _ if advanced => arm_xmit_timer(tcp, now_s, PendingTimer::Rto, tcp.rtt.rto_s()),
            _ if was_probe => arm_xmit_timer(tcp, now_s, PendingTimer::Rto, timeout_s),
            _ => {}
        }
    }
}

fn arm_xmit_timer(tcp: &mut Sender, now_s: f64, pending_timer: PendingTimer, seconds: f64) {
    tcp.deadline_s = now_s + seconds;
    tcp.armed_at_s = now_s;
    if let Some(rack) = &mut tcp.rack {
        rack.pending_timer = pending_timer;
    }
}

/// Remaining RTO of the packet at SND.UNA, seconds.
fn remaining_rto_s(tcp: &Sender, now_s: f64) -> f64 {
    let head_s = tcp.rack.as_ref().and_then(|rack| rack.head_xmit_s()).unwrap_or(now_s);
    (head_s + tcp.rtt.rto_s() - now_s).max(TICK_S)
}

/// Probe timeout (PTO, RFC 8985 section 7.2), seconds: 2 srtt, plus the largest delay of an ACK if
/// one packet is outstanding, for which Linux uses `min_rto`. None before the first RTT sample.
fn pto_s(tcp: &Sender, outstanding: i64, knobs: &Knobs) -> Option<f64> {
    let srtt_s = tcp.rtt.srtt_s(knobs);
    let more_s = if outstanding == 1 { knobs.min_rto.seconds() } else { TIMEOUT_MIN_S };
    (srtt_s > 0.0).then_some(2.0 * srtt_s + more_s)
}

/// Handles expiry of the timer. Returns false for a retransmission timeout.
pub(crate) fn on_timer(tcp: &mut Sender, now_s: f64, knobs: &Knobs, out: &mut impl Output) -> bool {
    let pending_timer = tcp.rack.as_ref().map_or(PendingTimer::Rto, |rack| rack.pending_timer);
    if tcp.highest_ack == tcp.highest_sent || pending_timer == PendingTimer::Rto {
        return false;
    }
    match pending_timer {
        PendingTimer::Rto => {}
        PendingTimer::LossProbe => {
            send_loss_probe(tcp, now_s, knobs, out);
            arm_xmit_timer(tcp, now_s, PendingTimer::Rto, tcp.rtt.rto_s());
        }
        PendingTimer::Reordering => {
            arm_xmit_timer(tcp, now_s, PendingTimer::Rto, remaining_rto_s(tcp, now_s));
            let lost_before = tcp.rack.as_ref().map_or(0, |rack| rack.lost_total);
            let detected = detect_losses(tcp, now_s, knobs);
            let Some(rack) = &tcp.rack else { return true };
            if rack.lost_total > lost_before {
                // Linux's `tcp_rack_reo_timeout` counts one delivered packet, so that PRR releases
                // one.
                let in_flight = rack.in_flight();
                tcp.update_prr(in_flight, 1, false);
            }
            let sent = send(tcp, now_s, knobs, knobs.max_burst, out);
            set_xmit_timer(tcp, now_s, false, sent, detected.reordering_timeout_s, knobs);
        }
    }
    true
}

/// Sends a tail loss probe whatever the window (RFC 8985 section 7.3): new data, else the highest
/// packet again. At most one probe is outstanding.
fn send_loss_probe(tcp: &mut Sender, now_s: f64, knobs: &Knobs, out: &mut impl Output) {
    let Some(rack) = tcp.rack.as_deref().filter(|rack| rack.loss_probe.is_none()) else { return };
    let is_retransmission = match new_data(tcp) {
        Some(number) => {
            tcp.output(now_s, number, knobs, out);
            tcp.snd_nxt = number + 1;
            false
        }
        None if rack.is_sacked(tcp.highest_sent) => return,
        None => {
            tcp.output(now_s, tcp.highest_sent, knobs, out);
            true
        }
    };
    let end_seq = tcp.highest_sent;
    if let Some(rack) = &mut tcp.rack {
        rack.loss_probe = Some(LossProbe { end_seq, is_retransmission });
    }
}

/// Handles a retransmission timeout (Linux `tcp_enter_loss`): reduces ssthresh, once per window,
/// and marks packets lost.
pub(crate) fn handle_rto(tcp: &mut Sender, now_s: f64, knobs: &Knobs) {
    tcp.cwnd = tcp.cwnd.max(1.0);
    if tcp.highest_ack == tcp.highest_sent {
        // Nothing is outstanding: cwnd is below one packet, or there was no data.
        if knobs.slow_start_restart {
            tcp.cwnd_to_one_packet();
        }
        return arm_xmit_timer(tcp, now_s, PendingTimer::Rto, tcp.rtt.rto_s());
    }
    if tcp.highest_ack == -1 && knobs.restart_after_syn_loss {
        tcp.first_packet_lost = true;
    }
    tcp.counters.timeouts += 1;
    let again = knobs.hold_ssthresh && tcp.timeout_highest_ack == tcp.highest_ack;
    let hold = match ca_state(tcp) {
        CaState::Open => false,
        CaState::Cwr | CaState::Recovery => tcp.highest_ack < tcp.recover,
        CaState::Loss => again,
    };
    let ssthresh = tcp.ssthresh;
    tcp.cancel_cwnd_reduction();
    tcp.reduce_cwnd(Reduction::ToOnePacket(Congestion::Timeout), knobs);
    if hold {
        tcp.ssthresh = ssthresh;
    }
    (tcp.recover, tcp.timeout_highest_ack, tcp.last_cwnd_action) =
        (tcp.highest_sent, tcp.highest_ack, CwndAction::Timeout);
    (tcp.in_recovery, tcp.rtt_active) = (false, false);
    tcp.rtt.back_off(knobs);
    if let Some(rack) = &mut tcp.rack {
        (rack.ca_state, rack.loss_probe) = (CaState::Loss, None);
        rack.on_timeout(now_s);
        tcp.cwnd = (rack.in_flight() + 1) as f64;
    }
    arm_xmit_timer(tcp, now_s, PendingTimer::Rto, tcp.rtt.rto_s());
}
