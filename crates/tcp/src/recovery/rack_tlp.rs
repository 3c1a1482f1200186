//! SACK recovery with RACK-TLP (RFC 8985), and PRR (RFC 9937) with the knob `prr`, in the order of
//! operations of Linux's `tcp_ack`.

mod timer;

pub(crate) use timer::{handle_rto, on_timer};

use crate::cwnd::{CwndAction, Reduction};
use crate::loss_detection::rack::DetectedLosses;
use crate::{AckSegment, Knobs, Output, SackBlocks, Sender};
use cwndlab_rules::{Congestion, WindowRule};
use timer::set_xmit_timer;

/// Congestion state (Linux `icsk_ca_state`; Disorder is Open with packets SACKed).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CaState {
    Open,
    /// cwnd was reduced for ECE.
    Cwr,
    Recovery,
    /// After a retransmission timeout.
    Loss,
}

/// What the single timer is armed for (RFC 8985 section 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PendingTimer {
    Rto,
    /// Probe timeout of the tail loss probe (TLP).
    LossProbe,
    /// Reordering timer of RACK.
    Reordering,
}

/// A tail loss probe that is not resolved yet (RFC 8985 section 7).
#[derive(Clone, Copy, Debug)]
pub(crate) struct LossProbe {
    /// Highest packet sent with the probe (TLP.end_seq).
    pub(crate) end_seq: i64,
    /// Whether the probe is a retransmission (TLP.is_retrans).
    pub(crate) is_retransmission: bool,
}

/// What one call of [`send`] transmitted.
#[derive(Clone, Copy, Default)]
struct Transmitted {
    new_data: bool,
    /// The packet at SND.UNA was retransmitted.
    head_retransmitted: bool,
}

pub(crate) fn on_ack(
    tcp: &mut Sender,
    now_s: f64,
    ack: AckSegment,
    sack: Option<&SackBlocks>,
    knobs: &Knobs,
    out: &mut impl Output,
) {
    let (advanced, highest_sent, highest_ack) =
        (ack.ack > tcp.highest_ack, tcp.highest_sent, tcp.highest_ack.max(ack.ack));
    let Some(rack) = tcp.rack.as_deref_mut() else { return };
    let lost_before = rack.lost_total;
    let delivered =
        rack.on_ack(now_s, highest_ack, highest_sent, sack.map_or(&[][..], SackBlocks::as_slice));
    if advanced {
        tcp.new_ack(now_s, ack, knobs);
    }
    process_tlp_ack(tcp, ack.ack, advanced || delivered > 0, knobs);
    leave_ca_state(tcp);
    let detected = detect_losses(tcp, now_s, knobs);
    let newly_lost = tcp.rack.as_ref().is_some_and(|rack| rack.lost_total > lost_before);
    control_cwnd(tcp, now_s, ack, delivered, advanced, newly_lost, knobs);
    if advanced && ack.ack == 0 && knobs.delay_growth {
        tcp.cwnd = tcp.initial_window(knobs);
    }
    let sent = send(tcp, now_s, knobs, knobs.max_burst, out);
    tcp.stop_timer_if_finished();
    set_xmit_timer(tcp, now_s, advanced, sent, detected.reordering_timeout_s, knobs);
}

/// Reduces cwnd in response to ECE, once per window of data.
pub(crate) fn on_ece(tcp: &mut Sender, knobs: &Knobs) {
    if tcp.complete_ecn_negotiation() || ca_state(tcp) != CaState::Open {
        return;
    }
    tcp.recover = tcp.highest_sent;
    tcp.last_cwnd_action = CwndAction::Ecn;
    tcp.counters.ecn_reductions += 1;
    set_ca_state(tcp, CaState::Cwr);
    tcp.begin_cwnd_reduction(Congestion::Ecn, knobs);
}

/// Resolves a loss probe (RFC 8985 section 7.4): if the ACK passes the probe and no duplicate ACK
/// answered it, the probe repaired a loss, and cwnd is reduced.
fn process_tlp_ack(tcp: &mut Sender, ack: i64, reports_delivery: bool, knobs: &Knobs) {
    let Some(rack) = &mut tcp.rack else { return };
    let Some(probe) = rack.loss_probe.filter(|probe| ack >= probe.end_seq) else { return };
    let repaired_loss = probe.is_retransmission && ack > probe.end_seq;
    if repaired_loss || !probe.is_retransmission || !reports_delivery {
        rack.loss_probe = None;
    }
    if repaired_loss && rack.ca_state == CaState::Open {
        tcp.enter_fast_retransmit();
        tcp.reduce_cwnd(Reduction::ToTarget(Congestion::FastRetransmit), knobs);
    }
}

/// Returns to Open once the recovery point is acknowledged; after ECE one packet later, because
/// earlier packets carry no information about the reduction.
fn leave_ca_state(tcp: &mut Sender) {
    let finished = match ca_state(tcp) {
        CaState::Open => return,
        CaState::Cwr => tcp.highest_ack > tcp.recover,
        CaState::Recovery | CaState::Loss => tcp.highest_ack >= tcp.recover,
    };
    if finished {
        tcp.end_cwnd_reduction();
        tcp.in_recovery = false;
        set_ca_state(tcp, CaState::Open);
    }
}

/// Detects losses, and enters recovery if any is not being repaired.
fn detect_losses(tcp: &mut Sender, now_s: f64, knobs: &Knobs) -> DetectedLosses {
    let srtt_s = tcp.rtt.srtt_s(knobs);
    let Some(rack) = tcp.rack.as_deref_mut() else { return DetectedLosses::default() };
    let detected = rack.detect_losses(now_s, knobs.dupack_threshold, srtt_s);
    let starts_recovery = match rack.ca_state {
        CaState::Open | CaState::Cwr => rack.has_losses(),
        CaState::Recovery => false,
        // A retransmission made after the timeout is lost: a new congestion event.
        CaState::Loss => detected.retransmission_lost,
    };
    if starts_recovery {
        enter_recovery(tcp, knobs);
    }
    detected
}

fn enter_recovery(tcp: &mut Sender, knobs: &Knobs) {
    // RFC 3168 section 6.1.2: the reduction for ECE covers a loss in the same window, if the rule
    // says so.
    let already_reduced = ca_state(tcp) == CaState::Cwr && tcp.rule.mark_covers_loss();
    set_ca_state(tcp, CaState::Recovery);
    tcp.in_recovery = true;
    tcp.rtt_active = false;
    if already_reduced {
        tcp.last_cwnd_action = CwndAction::FastRetransmit;
    } else {
        tcp.enter_fast_retransmit();
        tcp.begin_cwnd_reduction(Congestion::FastRetransmit, knobs);
    }
}

/// Sets cwnd after an ACK: by PRR, by the rule in recovery, or by growth (Linux
/// `tcp_cong_control`).
fn control_cwnd(
    tcp: &mut Sender,
    now_s: f64,
    ack: AckSegment,
    delivered: i64,
    advanced: bool,
    newly_lost: bool,
    knobs: &Knobs,
) {
    let in_flight = tcp.rack.as_ref().map_or(0, |rack| rack.in_flight());
    let is_reducing = matches!(ca_state(tcp), CaState::Cwr | CaState::Recovery);
    if is_reducing && tcp.in_cwnd_reduction() {
        tcp.update_prr(in_flight, delivered, advanced && !newly_lost);
    } else if is_reducing || !advanced {
        tcp.report_recovery_ack(now_s, ack, knobs);
    } else {
        tcp.grow(now_s, ack, delivered as u64, knobs);
    }
}

/// Sends what the window allows and sets the timer.
pub(crate) fn send_pending_data(
    tcp: &mut Sender,
    now_s: f64,
    knobs: &Knobs,
    burst: u32,
    out: &mut impl Output,
) {
    let sent = send(tcp, now_s, knobs, burst, out);
    set_xmit_timer(tcp, now_s, false, sent, 0.0, knobs);
}

/// Sends lost packets, then new data, while packets in flight are below the window.
fn send(
    tcp: &mut Sender,
    now_s: f64,
    knobs: &Knobs,
    burst: u32,
    out: &mut impl Output,
) -> Transmitted {
    let (mut sent, mut count) = (Transmitted::default(), 0);
    while (burst == 0 || count < burst)
        && let Some(number) = next_packet(tcp)
        && tcp.pacing_allows(now_s)
    {
        sent.new_data |= number > tcp.highest_sent;
        sent.head_retransmitted |= number == tcp.highest_ack + 1 && number <= tcp.highest_sent;
        tcp.output(now_s, number, knobs, out);
        tcp.snd_nxt = tcp.snd_nxt.max(number + 1);
        tcp.count_prr_out();
        count += 1;
    }
    sent
}

fn next_packet(tcp: &mut Sender) -> Option<i64> {
    let window = tcp.send_window();
    let rack = tcp.rack.as_deref_mut()?;
    if rack.in_flight() >= window {
        return None;
    }
    rack.next_to_retransmit().or_else(|| new_data(tcp))
}

/// The next new packet, if the application supplied one and rwnd allows it.
fn new_data(tcp: &Sender) -> Option<i64> {
    (tcp.snd_nxt < tcp.data_end && tcp.snd_nxt <= tcp.highest_ack + i64::from(tcp.rwnd))
        .then_some(tcp.snd_nxt)
}

fn ca_state(tcp: &Sender) -> CaState {
    tcp.rack.as_ref().map_or(CaState::Open, |rack| rack.ca_state)
}

fn set_ca_state(tcp: &mut Sender, ca_state: CaState) {
    if let Some(rack) = &mut tcp.rack {
        rack.ca_state = ca_state;
    }
}
