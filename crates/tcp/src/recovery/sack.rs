//! SACK recovery: ns-2 Sack1 (`tcp-sack1.cc`), or RFC 6675 with the knob `sack_rfc6675`.
//!
//! They differ in the estimate of packets in flight (Sack1 counts down from the outstanding
//! packets; RFC 6675 derives pipe from the scoreboard), in the choice of the next packet, and in
//! the rescue retransmission.

use crate::loss_detection::dupack::DupackAction;
use crate::{AckSegment, Knobs, Output, SackBlocks, Scoreboard, Sender};
use cwndlab_rules::Congestion;

#[inline(always)]
pub(crate) fn on_ack(
    tcp: &mut Sender,
    now_s: f64,
    ack: AckSegment,
    sack: Option<&SackBlocks>,
    knobs: &Knobs,
    out: &mut impl Output,
) {
    let valid = ack.ack >= tcp.last_ack;
    let blocks = sack.map_or(&[][..], SackBlocks::as_slice);
    if tcp.in_recovery {
        in_recovery(tcp, now_s, ack, blocks, knobs);
        tcp.report_recovery_ack(now_s, ack, knobs);
        if valid {
            send_pending_data(tcp, now_s, knobs, knobs.max_burst, out);
        }
        return;
    }
    if ack.ack > tcp.last_ack {
        tcp.new_ack_and_grow(now_s, ack, knobs);
        tcp.after_timeout = false;
        if tcp.scoreboard_in_use {
            prune_scoreboard(tcp, blocks, knobs);
        }
    } else if ack.ack == tcp.last_ack && !tcp.after_timeout && !blocks.is_empty() {
        duplicate_ack(tcp, now_s, ack, blocks, knobs, out);
    }
    if valid && tcp.dupacks == 0 {
        send_pending_data(tcp, now_s, knobs, knobs.max_burst, out);
    }
}

/// Clears the scoreboard after a new ACK outside recovery. While losses of a timeout are being
/// repaired RFC 6675 section 5.1 keeps it, so that SACKed packets are not retransmitted.
#[inline(never)]
fn prune_scoreboard(tcp: &mut Sender, blocks: &[(i64, i64)], knobs: &Knobs) {
    let (highest_ack, highest_sent, recover) = (tcp.highest_ack, tcp.highest_sent, tcp.recover);
    let board = scoreboard(tcp);
    if knobs.sack_rfc6675 && highest_ack < recover {
        board.update(highest_ack, highest_sent, blocks);
    } else {
        board.clear();
        tcp.scoreboard_in_use = false;
    }
}

fn scoreboard(tcp: &mut Sender) -> &mut Scoreboard {
    tcp.scoreboard_in_use = true;
    tcp.scoreboard.get_or_insert_with(Box::default)
}

/// A duplicate ACK counts if it SACKs a new packet.
#[inline(never)]
fn duplicate_ack(
    tcp: &mut Sender,
    now_s: f64,
    ack: AckSegment,
    blocks: &[(i64, i64)],
    knobs: &Knobs,
    out: &mut impl Output,
) {
    let (highest_ack, highest_sent) = (tcp.highest_ack, tcp.highest_sent);
    if !scoreboard(tcp).update(highest_ack, highest_sent, blocks) {
        return;
    }
    tcp.report_recovery_ack(now_s, ack, knobs);
    tcp.dupacks += 1;
    if tcp.dupacks < knobs.dupack_threshold {
        if knobs.limited_transmit {
            tcp.send_limited_transmit(now_s, knobs, out);
        }
    } else if tcp.dupacks == knobs.dupack_threshold {
        let response = tcp.dupack_action(knobs);
        if response != DupackAction::Ignore {
            enter_recovery(tcp, now_s, response, knobs, out);
        }
    }
}

fn enter_recovery(
    tcp: &mut Sender,
    now_s: f64,
    response: DupackAction,
    knobs: &Knobs,
    out: &mut impl Output,
) {
    tcp.pipe = tcp.highest_sent - tcp.highest_ack - i64::from(knobs.dupack_threshold);
    if knobs.prr {
        tcp.pipe = tcp.pipe.max(0);
    }
    tcp.restart_timer_after_reduction(now_s);
    tcp.in_recovery = true;
    tcp.rescue_retransmitted = false;
    let in_flight = if knobs.prr { in_flight(tcp, knobs) } else { 0 };
    let first_hole = tcp.highest_ack + 1;
    scoreboard(tcp).mark_retransmitted(first_hole);
    if response == DupackAction::Reduce {
        tcp.enter_fast_retransmit();
        tcp.begin_cwnd_reduction(Congestion::FastRetransmit, knobs);
        tcp.update_prr(in_flight, 1, false);
    } else {
        tcp.enter_recovery_without_reduction(knobs);
    }
    tcp.output(now_s, tcp.last_ack + 1, knobs, out);
    tcp.count_prr_out();
    if knobs.sack_rfc6675 {
        send_pending_data(tcp, now_s, knobs, knobs.max_burst, out);
    }
}

/// Estimate of packets in flight.
fn in_flight(tcp: &Sender, knobs: &Knobs) -> i64 {
    match &tcp.scoreboard {
        Some(board) if knobs.sack_rfc6675 => {
            board.pipe(tcp.highest_ack, tcp.highest_sent, knobs.dupack_threshold)
        }
        _ => tcp.pipe,
    }
}

#[inline(never)]
fn in_recovery(
    tcp: &mut Sender,
    now_s: f64,
    ack: AckSegment,
    blocks: &[(i64, i64)],
    knobs: &Knobs,
) {
    tcp.pipe -= 1;
    if ack.ack >= tcp.recover {
        tcp.recover = 0;
        tcp.in_recovery = false;
        tcp.end_cwnd_reduction();
        tcp.new_ack(now_s, ack, knobs);
        tcp.stop_timer_if_finished();
        tcp.after_timeout = false;
        scoreboard(tcp).clear();
        return;
    }
    let partial = ack.ack > tcp.highest_ack;
    let first = tcp.highest_ack + 1;
    if partial {
        tcp.highest_ack = ack.ack;
    }
    let (highest_ack, highest_sent) = (tcp.highest_ack, tcp.highest_sent);
    let before = tcp.in_cwnd_reduction().then(|| ScoreboardProgress::measure(tcp, first, knobs));
    let newly_sacked = scoreboard(tcp).update(highest_ack, highest_sent, blocks);
    let after =
        before.map(|before| (before, ScoreboardProgress::measure(tcp, highest_ack + 1, knobs)));
    if partial {
        // The retransmission left the network as well as the packet it uncovered.
        tcp.pipe -= 1;
        tcp.restart_timer(now_s, ack.ack);
        tcp.rtt.reset_backoff(knobs);
    } else if newly_sacked && tcp.dupacks > 0 {
        tcp.dupacks += 1;
    }
    if let Some((before, after)) = after {
        // Sack1 decrements pipe on every ACK, so duplicated ACKs take it below zero. PRR needs a
        // count of at least zero.
        tcp.pipe = tcp.pipe.max(0);
        let newly_lost = scoreboard(tcp).count_unsacked(
            before.lost_below.max(highest_ack + 1),
            after.lost_below.max(highest_ack + 1),
        ) > 0;
        let in_flight = in_flight(tcp, knobs);
        tcp.update_prr(in_flight, after.delivered - before.delivered, partial && !newly_lost);
    }
}

/// Scoreboard totals before and after an ACK, for PRR.
struct ScoreboardProgress {
    /// Packets delivered.
    delivered: i64,
    lost_below: i64,
}

impl ScoreboardProgress {
    /// `first`: SND.UNA.
    fn measure(tcp: &Sender, first: i64, knobs: &Knobs) -> Self {
        let Some(board) = &tcp.scoreboard else {
            return Self { delivered: first, lost_below: first };
        };
        let delivered = first + board.sacked_count(first - 1) as i64;
        Self { delivered, lost_below: board.lost_below(knobs.dupack_threshold).unwrap_or(first) }
    }
}

pub(crate) fn on_rto(tcp: &mut Sender, knobs: &Knobs) {
    tcp.in_recovery = false;
    tcp.cancel_cwnd_reduction();
    tcp.after_timeout = true;
    tcp.count_timeout_loss();
    tcp.last_ack = tcp.last_ack.max(tcp.highest_ack);
    match &mut tcp.scoreboard {
        Some(scoreboard) if knobs.sack_rfc6675 => scoreboard.forget_retransmissions(),
        Some(scoreboard) => scoreboard.clear(),
        None => {}
    }
}

#[inline(always)]
pub(crate) fn send_pending_data(
    tcp: &mut Sender,
    now_s: f64,
    knobs: &Knobs,
    burst: u32,
    out: &mut impl Output,
) {
    if tcp.in_recovery {
        return send_in_recovery(tcp, now_s, knobs, burst, out);
    }
    let send_limit = (tcp.last_ack + tcp.send_window()).min(tcp.data_end - 1);
    let send_limit =
        if burst > 0 { send_limit.min(tcp.snd_nxt + i64::from(burst) - 1) } else { send_limit };
    // Nearly every ACK releases one packet: this one is inlined.
    if tcp.snd_nxt <= send_limit && tcp.pacing_allows(now_s) {
        send_next(tcp, now_s, knobs, out);
        if tcp.snd_nxt <= send_limit {
            send_up_to(tcp, now_s, send_limit, knobs, out);
        }
    }
}

#[inline(never)]
fn send_up_to(tcp: &mut Sender, now_s: f64, send_limit: i64, knobs: &Knobs, out: &mut impl Output) {
    while tcp.snd_nxt <= send_limit && tcp.pacing_allows(now_s) {
        send_next(tcp, now_s, knobs, out);
    }
}

#[inline(always)]
fn send_next(tcp: &mut Sender, now_s: f64, knobs: &Knobs, out: &mut impl Output) {
    let is_sacked = knobs.sack_rfc6675
        && tcp.scoreboard.as_ref().is_some_and(|board| board.is_sacked(tcp.snd_nxt));
    if !is_sacked {
        tcp.output(now_s, tcp.snd_nxt, knobs, out);
    }
    tcp.snd_nxt += 1;
}

/// Sends after the application supplied data. With duplicate ACKs outside recovery, Sack1 consults
/// its scoreboard too: a hole is retransmitted if cwnd was ever reduced, and blocks new data
/// otherwise.
pub(crate) fn send_supply(tcp: &mut Sender, now_s: f64, knobs: &Knobs, out: &mut impl Output) {
    if !tcp.in_recovery && tcp.dupacks > 0 && !knobs.sack_rfc6675 {
        while tcp.snd_nxt <= tcp.last_ack + tcp.send_window() {
            let highest_ack = tcp.highest_ack;
            let Some(hole) = scoreboard(tcp).next_hole(highest_ack) else { break };
            if tcp.recover == 0 {
                return;
            }
            scoreboard(tcp).mark_retransmitted(hole);
            tcp.output(now_s, hole, knobs, out);
        }
    }
    send_pending_data(tcp, now_s, knobs, knobs.max_burst, out);
}

#[inline(never)]
fn send_in_recovery(
    tcp: &mut Sender,
    now_s: f64,
    knobs: &Knobs,
    burst: u32,
    out: &mut impl Output,
) {
    let mut sent = 0;
    while tcp.pacing_allows(now_s)
        && let Some(number) = next_packet(tcp, knobs)
    {
        tcp.output(now_s, number, knobs, out);
        tcp.snd_nxt = tcp.snd_nxt.max(number + 1);
        tcp.pipe += 1;
        tcp.count_prr_out();
        sent += 1;
        if burst > 0 && sent == burst {
            break;
        }
    }
}

/// The next packet to send in recovery.
fn next_packet(tcp: &mut Sender, knobs: &Knobs) -> Option<i64> {
    let window = knobs.window as i64;
    let new_data = (tcp.snd_nxt <= tcp.highest_ack + window && tcp.snd_nxt < tcp.data_end)
        .then_some(tcp.snd_nxt);
    if knobs.sack_rfc6675 {
        return next_segment_rfc6675(tcp, new_data, knobs);
    }
    if tcp.pipe >= tcp.cwnd as i64 || tcp.last_ack + 1 >= tcp.data_end {
        return None;
    }
    let highest_ack = tcp.highest_ack;
    match scoreboard(tcp).next_hole(highest_ack) {
        Some(hole) if tcp.recover > 0 && hole <= highest_ack + window => {
            scoreboard(tcp).mark_retransmitted(hole);
            Some(hole)
        }
        Some(_) => None,
        None => new_data,
    }
}

/// NextSeg of RFC 6675 section 4: lost holes, new data, other holes, and one rescue retransmission
/// per recovery.
fn next_segment_rfc6675(tcp: &mut Sender, new_data: Option<i64>, knobs: &Knobs) -> Option<i64> {
    let (highest_ack, highest_sent, recover) = (tcp.highest_ack, tcp.highest_sent, tcp.recover);
    let threshold = knobs.dupack_threshold;
    let board = tcp.scoreboard.as_deref_mut()?;
    tcp.pipe = board.pipe(highest_ack, highest_sent, threshold);
    if tcp.pipe >= tcp.cwnd as i64 {
        return None;
    }
    let hole = board.next_hole(highest_ack);
    let lost = hole.filter(|&hole| board.lost_below(threshold).is_some_and(|bound| hole < bound));
    if let Some(number) = lost.or(new_data).or(hole) {
        if Some(number) == hole {
            board.mark_retransmitted(number);
        }
        return Some(number);
    }
    // Rule 4: keeps the ACK clock while the tail of the window is missing.
    if tcp.rescue_retransmitted {
        return None;
    }
    tcp.rescue_retransmitted = true;
    board.highest_hole(highest_ack, recover + 1)
}
