//! Reno and NewReno: fast retransmit and fast recovery with window inflation (RFC 5681 section 3.2,
//! RFC 6582; ns-2 `tcp-reno.cc`, `tcp-newreno.cc`).

use crate::cwnd::{CwndAction, Reduction};
use crate::loss_detection::dupack::DupackAction;
use crate::{AckSegment, Knobs, Output, Recovery, Sender};
use cwndlab_rules::Congestion;

pub(crate) fn on_ack(
    tcp: &mut Sender,
    now_s: f64,
    ack: AckSegment,
    knobs: &Knobs,
    out: &mut impl Output,
) {
    let newreno = tcp.recovery == Recovery::NewReno;
    if ack.ack > tcp.last_ack {
        if newreno && ack.ack < tcp.recover && tcp.last_cwnd_action == CwndAction::FastRetransmit {
            partial_ack(tcp, now_s, ack, knobs, out);
        } else {
            full_ack(tcp, now_s, ack, newreno, knobs);
        }
    } else if ack.ack == tcp.last_ack {
        tcp.dupacks += 1;
        if tcp.dupacks == knobs.dupack_threshold {
            fast_retransmit(tcp, now_s, newreno, knobs, out);
            if !knobs.exit_fast_retransmit {
                tcp.dupwnd = i64::from(knobs.dupack_threshold);
            }
        } else if tcp.dupacks > knobs.dupack_threshold
            && (!knobs.exit_fast_retransmit || tcp.last_cwnd_action == CwndAction::FastRetransmit)
        {
            tcp.dupwnd += 1;
        } else if tcp.dupacks < knobs.dupack_threshold && knobs.limited_transmit {
            tcp.send_limited_transmit(now_s, knobs, out);
        }
    }
    if ack.ack < tcp.last_ack {
        return;
    }
    if tcp.dupacks == 0 {
        tcp.send_pending_data(now_s, knobs, knobs.max_burst, out);
    } else if tcp.dupacks >= knobs.dupack_threshold {
        tcp.send_pending_data(
            now_s,
            knobs,
            if newreno { knobs.recovery_burst } else { knobs.max_burst },
            out,
        );
    }
}

/// An ACK that ends recovery, or any new ACK outside recovery.
fn full_ack(tcp: &mut Sender, now_s: f64, ack: AckSegment, newreno: bool, knobs: &Knobs) {
    if tcp.last_cwnd_action == CwndAction::FastRetransmit && (!newreno || tcp.dupwnd > 0) {
        tcp.last_cwnd_action = CwndAction::ExitedRecovery;
    }
    if newreno && tcp.dupwnd > 0 && knobs.exit_recovery_fix {
        // RFC 6582 section 3.2 step 3, option 1: no burst when little is outstanding.
        tcp.cwnd = tcp.ssthresh.min((tcp.highest_sent - ack.ack + 1) as f64);
    }
    tcp.dupwnd = 0;
    tcp.partial_ack_seen = false;
    tcp.new_ack_and_grow(now_s, ack, knobs);
}

fn fast_retransmit(
    tcp: &mut Sender,
    now_s: f64,
    newreno: bool,
    knobs: &Knobs,
    out: &mut impl Output,
) {
    if tcp.is_finished() {
        // A late duplicate ACK: nothing is outstanding.
        return;
    }
    let reno_repeats = !newreno && tcp.last_cwnd_action == CwndAction::FastRetransmit;
    let less_careful =
        newreno && knobs.less_careful && knobs.bug_fix && tcp.highest_ack == tcp.recover;
    match tcp.dupack_action(knobs) {
        response if response == DupackAction::Reduce || reno_repeats || less_careful => {
            tcp.enter_fast_retransmit();
            tcp.reduce_cwnd(Reduction::ToTarget(Congestion::FastRetransmit), knobs);
        }
        DupackAction::Retransmit => tcp.enter_recovery_without_reduction(knobs),
        _ => return,
    }
    tcp.restart_timer_after_reduction(now_s);
    tcp.output(now_s, tcp.last_ack + 1, knobs, out);
    tcp.dupwnd = i64::from(knobs.dupack_threshold);
}

/// A partial ACK: new data, but not up to the recovery point (RFC 6582 section 3.2 step 3).
fn partial_ack(
    tcp: &mut Sender,
    now_s: f64,
    ack: AckSegment,
    knobs: &Knobs,
    out: &mut impl Output,
) {
    if !knobs.partial_window_deflation {
        tcp.dupwnd = 0;
    }
    if !knobs.impatient || !tcp.partial_ack_seen {
        tcp.partial_ack_seen = true;
        tcp.restart_timer(now_s, ack.ack);
    }
    if knobs.partial_window_deflation {
        let acked = ack.ack - tcp.last_ack;
        if tcp.dupwnd > acked {
            tcp.dupwnd -= acked - 1;
        } else {
            tcp.cwnd -= (acked - tcp.dupwnd) as f64;
            // A value above zero means that recovery continues.
            tcp.dupwnd = 1;
        }
        tcp.cwnd = tcp.cwnd.max(1.0);
    }
    tcp.last_ack = ack.ack;
    tcp.highest_ack = ack.ack;
    tcp.snd_nxt = tcp.snd_nxt.max(ack.ack + 1);
    tcp.end_backoff_if_timed(ack.ack, knobs);
    tcp.output(now_s, tcp.last_ack + 1, knobs, out);
}
