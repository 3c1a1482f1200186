//! Recovery with selective acknowledgements as Linux does it: losses found by time (RACK-TLP, RFC 8985), the window in recovery by
//! proportional rate reduction (RFC 9937) where the knob says so. The order of what an acknowledgement does is that of Linux's `tcp_ack`.

mod timer;

pub(crate) use timer::{expire, on_timer};

use crate::rack::Inspection;
use crate::window::{Cut, LastCut};
use crate::{AckSegment, Knobs, Output, SackBlocks, Sender};
use cwndlab_rules::{Congestion, WindowRule};
use timer::set_timer;

/// Where a sender stands (Linux: `icsk_ca_state`, of which Disorder is Open with packets reported).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Open,
    /// The window was cut for an echo.
    Cwr,
    Recovery,
    /// After a time-out.
    Loss,
}

/// What the timer waits for: RFC 8985 section 8, one timer is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pending {
    Retransmission,
    /// Two round trips of silence.
    Probe,
    /// The time that reordering may take.
    Reordering,
}

/// A loss probe whose fate is not known yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    /// Highest packet sent then.
    pub(crate) up_to: i64,
    /// It was sent before.
    pub(crate) is_copy: bool,
}

/// What was sent in one go.
#[derive(Clone, Copy, Default)]
struct Sent {
    new_data: bool,
    /// The first packet that was not acknowledged was sent again.
    head: bool,
}

pub(crate) fn on_ack(tcp: &mut Sender, now_s: f64, ack: AckSegment, sack: Option<&SackBlocks>, knobs: &Knobs, out: &mut impl Output) {
    let (advanced, highest_sent, highest_ack) = (ack.ack > tcp.highest_ack, tcp.highest_sent, tcp.highest_ack.max(ack.ack));
    let Some(rack) = tcp.rack.as_deref_mut() else { return };
    let found = rack.found;
    let delivered = rack.on_ack(now_s, highest_ack, highest_sent, sack.map_or(&[][..], SackBlocks::as_slice));
    if advanced {
        tcp.new_ack(now_s, ack, knobs);
    }
    learn_of_probe(tcp, ack.ack, advanced || delivered > 0, knobs);
    leave_phase(tcp);
    let inspection = find_losses(tcp, now_s, knobs);
    let lost_more = tcp.rack.as_ref().is_some_and(|rack| rack.found > found);
    control(tcp, now_s, ack, delivered, advanced, lost_more, knobs);
    if advanced && ack.ack == 0 && knobs.delay_growth {
        tcp.cwnd = tcp.initial_window(knobs);
    }
    let sent = send(tcp, now_s, knobs, knobs.max_burst, out);
    tcp.finish_if_done();
    set_timer(tcp, now_s, advanced, sent, inspection.wait_s, knobs);
}

/// An echo of a mark: the window goes down once, until all is acknowledged that was outstanding then.
pub(crate) fn on_echo(tcp: &mut Sender, knobs: &Knobs) {
    if tcp.agree() || phase(tcp) != Phase::Open {
        return;
    }
    tcp.recover = tcp.highest_sent;
    tcp.last_cut = LastCut::Ecn;
    tcp.counters.ecn_reductions += 1;
    set_phase(tcp, Phase::Cwr);
    tcp.reduce(Congestion::Ecn, knobs);
}

/// What becomes of a loss probe (RFC 8985 section 7.4): if its acknowledgement is passed by and no second one came, it has repaired a loss, and
/// that is answered.
fn learn_of_probe(tcp: &mut Sender, ack: i64, says_something: bool, knobs: &Knobs) {
    let Some(rack) = &mut tcp.rack else { return };
    let Some(probe) = rack.probe.filter(|probe| ack >= probe.up_to) else { return };
    let repaired = probe.is_copy && ack > probe.up_to;
    if repaired || !probe.is_copy || !says_something {
        rack.probe = None;
    }
    if repaired && rack.phase == Phase::Open {
        tcp.begin_cut();
        tcp.cut(Cut::ToTarget(Congestion::FastRetransmit), knobs);
    }
}

/// All that was outstanding at the cut is acknowledged. After an echo one packet more: what was sent before it says nothing yet.
fn leave_phase(tcp: &mut Sender) {
    let over = match phase(tcp) {
        Phase::Open => return,
        Phase::Cwr => tcp.highest_ack > tcp.recover,
        Phase::Recovery | Phase::Loss => tcp.highest_ack >= tcp.recover,
    };
    if over {
        tcp.end_reducing();
        tcp.in_recovery = false;
        set_phase(tcp, Phase::Open);
    }
}

/// Looks for losses, and begins recovery if there are any that are not being repaired.
fn find_losses(tcp: &mut Sender, now_s: f64, knobs: &Knobs) -> Inspection {
    let srtt_s = tcp.rtt.srtt_s(knobs);
    let Some(rack) = tcp.rack.as_deref_mut() else { return Inspection::default() };
    let found = rack.inspect(now_s, knobs.dupack_threshold, srtt_s);
    let begins = match rack.phase {
        Phase::Open | Phase::Cwr => rack.has_losses(),
        Phase::Recovery => false,
        // What was sent again after the time-out is lost: a new congestion.
        Phase::Loss => found.lost_copy,
    };
    if begins {
        enter_recovery(tcp, knobs);
    }
    found
}

fn enter_recovery(tcp: &mut Sender, knobs: &Knobs) {
    // RFC 3168 section 6.1.2: a loss in the window of an echo was answered with it, if the rule agrees.
    let is_answered = phase(tcp) == Phase::Cwr && tcp.rule.mark_covers_loss();
    set_phase(tcp, Phase::Recovery);
    tcp.in_recovery = true;
    tcp.rtt_active = false;
    if is_answered {
        tcp.last_cut = LastCut::FastRetransmit;
    } else {
        tcp.begin_cut();
        tcp.reduce(Congestion::FastRetransmit, knobs);
    }
}

/// The window after an acknowledgement: on its way to the threshold, or growing (Linux's `tcp_cong_control`).
fn control(tcp: &mut Sender, now_s: f64, ack: AckSegment, delivered: i64, advanced: bool, lost_more: bool, knobs: &Knobs) {
    let in_flight = tcp.rack.as_ref().map_or(0, |rack| rack.in_flight());
    let is_cut = matches!(phase(tcp), Phase::Cwr | Phase::Recovery);
    if is_cut && tcp.is_reducing() {
        tcp.go_on_reducing(in_flight, delivered, advanced && !lost_more);
    } else if is_cut || !advanced {
        tcp.show_in_recovery(now_s, ack, knobs);
    } else {
        tcp.grow(now_s, ack, delivered as u64, knobs);
    }
}

/// Sends what the window allows, and sees to the timer.
pub(crate) fn send_much(tcp: &mut Sender, now_s: f64, knobs: &Knobs, burst: u32, out: &mut impl Output) {
    let sent = send(tcp, now_s, knobs, burst, out);
    set_timer(tcp, now_s, false, sent, 0.0, knobs);
}

/// Sends what is lost, then new data, while the network holds less than a window.
fn send(tcp: &mut Sender, now_s: f64, knobs: &Knobs, burst: u32, out: &mut impl Output) -> Sent {
    let (mut sent, mut count) = (Sent::default(), 0);
    while (burst == 0 || count < burst)
        && let Some(number) = next_packet(tcp)
        && tcp.may_send(now_s)
    {
        sent.new_data |= number > tcp.highest_sent;
        sent.head |= number == tcp.highest_ack + 1 && number <= tcp.highest_sent;
        tcp.output(now_s, number, knobs, out);
        tcp.next = tcp.next.max(number + 1);
        tcp.count_sent();
        count += 1;
    }
    sent
}

fn next_packet(tcp: &mut Sender) -> Option<i64> {
    let window = tcp.window();
    let rack = tcp.rack.as_deref_mut()?;
    if rack.in_flight() >= window {
        return None;
    }
    rack.next_due().or_else(|| new_data(tcp))
}

/// The next packet that was never sent, if there is one and the receiver has room.
fn new_data(tcp: &Sender) -> Option<i64> {
    (tcp.next < tcp.limit && tcp.next <= tcp.highest_ack + i64::from(tcp.max_window)).then_some(tcp.next)
}

fn phase(tcp: &Sender) -> Phase {
    tcp.rack.as_ref().map_or(Phase::Open, |rack| rack.phase)
}

fn set_phase(tcp: &mut Sender, phase: Phase) {
    if let Some(rack) = &mut tcp.rack {
        rack.phase = phase;
    }
}
