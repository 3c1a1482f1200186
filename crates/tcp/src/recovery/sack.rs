//! Recovery with selective acknowledgements: ns-2's Sack1 (`tcp-sack1.cc`), or RFC 6675 where the knob says so.
//!
//! They differ in how packets in the network are estimated (Sack1 counts down from what was outstanding; RFC 6675 derives it
//! from the scoreboard), in what may be sent next, and in the rescue retransmission.

use super::Response;
use crate::{AckSegment, Knobs, Output, SackBlocks, Scoreboard, Sender};
use cwndlab_rules::Congestion;

#[inline(always)]
pub(crate) fn on_ack(tcp: &mut Sender, now_s: f64, ack: AckSegment, sack: Option<&SackBlocks>, knobs: &Knobs, out: &mut impl Output) {
    let valid = ack.ack >= tcp.last_ack;
    let blocks = sack.map_or(&[][..], SackBlocks::as_slice);
    if tcp.in_recovery {
        in_recovery(tcp, now_s, ack, blocks, knobs);
        tcp.show_in_recovery(now_s, ack, knobs);
        if valid {
            send_much(tcp, now_s, knobs, knobs.max_burst, out);
        }
        return;
    }
    if ack.ack > tcp.last_ack {
        tcp.new_ack_and_grow(now_s, ack, knobs);
        tcp.after_timeout = false;
        if tcp.board_in_use {
            forget_or_keep(tcp, blocks, knobs);
        }
    } else if ack.ack == tcp.last_ack && !tcp.after_timeout && !blocks.is_empty() {
        duplicate_ack(tcp, now_s, ack, blocks, knobs, out);
    }
    if valid && tcp.dupacks == 0 {
        send_much(tcp, now_s, knobs, knobs.max_burst, out);
    }
}

/// New data was acknowledged outside recovery: what was reported is of no more use, unless a time-out's losses are still being repaired, when
/// what had arrived need not be sent again (RFC 6675 section 5.1).
#[inline(never)]
fn forget_or_keep(tcp: &mut Sender, blocks: &[(i64, i64)], knobs: &Knobs) {
    let (highest_ack, highest_sent, recover) = (tcp.highest_ack, tcp.highest_sent, tcp.recover);
    let board = scoreboard(tcp);
    if knobs.sack_rfc6675 && highest_ack < recover {
        board.update(highest_ack, highest_sent, blocks);
    } else {
        board.clear();
        tcp.board_in_use = false;
    }
}

fn scoreboard(tcp: &mut Sender) -> &mut Scoreboard {
    tcp.board_in_use = true;
    tcp.scoreboard.get_or_insert_with(Box::default)
}

/// A duplicate acknowledgement counts if it reports something new.
#[inline(never)]
fn duplicate_ack(tcp: &mut Sender, now_s: f64, ack: AckSegment, blocks: &[(i64, i64)], knobs: &Knobs, out: &mut impl Output) {
    let (highest_ack, highest_sent) = (tcp.highest_ack, tcp.highest_sent);
    if !scoreboard(tcp).update(highest_ack, highest_sent, blocks) {
        return;
    }
    tcp.show_in_recovery(now_s, ack, knobs);
    tcp.dupacks += 1;
    if tcp.dupacks < knobs.dupack_threshold {
        if knobs.limited_transmit {
            tcp.send_one(now_s, knobs, out);
        }
    } else if tcp.dupacks == knobs.dupack_threshold {
        let response = tcp.third_duplicate(knobs);
        if response != Response::Ignore {
            enter_recovery(tcp, now_s, response, knobs, out);
        }
    }
}

fn enter_recovery(tcp: &mut Sender, now_s: f64, response: Response, knobs: &Knobs, out: &mut impl Output) {
    tcp.pipe = tcp.highest_sent - tcp.highest_ack - i64::from(knobs.dupack_threshold);
    if knobs.prr {
        tcp.pipe = tcp.pipe.max(0);
    }
    tcp.restart_after_cut(now_s);
    tcp.in_recovery = true;
    tcp.rescued = false;
    let in_flight = if knobs.prr { in_flight(tcp, knobs) } else { 0 };
    let first_hole = tcp.highest_ack + 1;
    scoreboard(tcp).mark_retransmitted(first_hole);
    if response == Response::Cut {
        tcp.begin_cut();
        tcp.reduce(Congestion::FastRetransmit, knobs);
        tcp.go_on_reducing(in_flight, 1, false);
    } else {
        tcp.begin_repair(knobs);
    }
    tcp.output(now_s, tcp.last_ack + 1, knobs, out);
    tcp.count_sent();
    if knobs.sack_rfc6675 {
        send_much(tcp, now_s, knobs, knobs.max_burst, out);
    }
}

/// Packets believed in the network.
fn in_flight(tcp: &Sender, knobs: &Knobs) -> i64 {
    match &tcp.scoreboard {
        Some(board) if knobs.sack_rfc6675 => board.pipe(tcp.highest_ack, tcp.highest_sent, knobs.dupack_threshold),
        _ => tcp.pipe,
    }
}

#[inline(never)]
fn in_recovery(tcp: &mut Sender, now_s: f64, ack: AckSegment, blocks: &[(i64, i64)], knobs: &Knobs) {
    tcp.pipe -= 1;
    if ack.ack >= tcp.recover {
        tcp.recover = 0;
        tcp.in_recovery = false;
        tcp.end_reducing();
        tcp.new_ack(now_s, ack, knobs);
        tcp.finish_if_done();
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
    let before = tcp.is_reducing().then(|| Progress::of(tcp, first, knobs));
    let news = scoreboard(tcp).update(highest_ack, highest_sent, blocks);
    let after = before.map(|before| (before, Progress::of(tcp, highest_ack + 1, knobs)));
    if partial {
        // The retransmission left the network as well as what it uncovered.
        tcp.pipe -= 1;
        tcp.restart_timer(now_s, ack.ack);
        tcp.rtt.reset_backoff(knobs);
    } else if news && tcp.dupacks > 0 {
        tcp.dupacks += 1;
    }
    if let Some((before, after)) = after {
        // Sack1 counts every acknowledgement as a packet that left, so that copies take its count below zero: a window cannot start from there.
        tcp.pipe = tcp.pipe.max(0);
        let lost_more = scoreboard(tcp).unreported(before.lost_below.max(highest_ack + 1), after.lost_below.max(highest_ack + 1)) > 0;
        let in_flight = in_flight(tcp, knobs);
        tcp.go_on_reducing(in_flight, after.delivered - before.delivered, partial && !lost_more);
    }
}

/// What proportional rate reduction compares before and after an acknowledgement.
struct Progress {
    /// Packets that have arrived.
    delivered: i64,
    lost_below: i64,
}

impl Progress {
    /// `first`: the first packet that was not acknowledged cumulatively.
    fn of(tcp: &Sender, first: i64, knobs: &Knobs) -> Self {
        let Some(board) = &tcp.scoreboard else { return Self { delivered: first, lost_below: first } };
        let outstanding = tcp.highest_sent + 1 - first;
        let delivered = first + outstanding - board.unreported(first, tcp.highest_sent + 1) as i64;
        Self { delivered, lost_below: board.lost_below(knobs.dupack_threshold).unwrap_or(first) }
    }
}

pub(crate) fn on_timeout(tcp: &mut Sender, knobs: &Knobs) {
    tcp.in_recovery = false;
    tcp.stop_reducing();
    tcp.after_timeout = true;
    tcp.lose_to_timer();
    tcp.last_ack = tcp.last_ack.max(tcp.highest_ack);
    match &mut tcp.scoreboard {
        Some(scoreboard) if knobs.sack_rfc6675 => scoreboard.forget_retransmissions(),
        Some(scoreboard) => scoreboard.clear(),
        None => {}
    }
}

#[inline(always)]
pub(crate) fn send_much(tcp: &mut Sender, now_s: f64, knobs: &Knobs, burst: u32, out: &mut impl Output) {
    if tcp.in_recovery {
        return send_in_recovery(tcp, now_s, knobs, burst, out);
    }
    let allowed = (tcp.last_ack + tcp.window()).min(tcp.limit - 1);
    let allowed = if burst > 0 { allowed.min(tcp.next + i64::from(burst) - 1) } else { allowed };
    // Nearly every acknowledgement lets one packet go: in line.
    if tcp.next <= allowed && tcp.may_send(now_s) {
        send_next(tcp, now_s, knobs, out);
        if tcp.next <= allowed {
            send_up_to(tcp, now_s, allowed, knobs, out);
        }
    }
}

#[inline(never)]
fn send_up_to(tcp: &mut Sender, now_s: f64, allowed: i64, knobs: &Knobs, out: &mut impl Output) {
    while tcp.next <= allowed && tcp.may_send(now_s) {
        send_next(tcp, now_s, knobs, out);
    }
}

#[inline(always)]
fn send_next(tcp: &mut Sender, now_s: f64, knobs: &Knobs, out: &mut impl Output) {
    let has_arrived = knobs.sack_rfc6675 && tcp.scoreboard.as_ref().is_some_and(|board| board.is_sacked(tcp.next));
    if !has_arrived {
        tcp.output(now_s, tcp.next, knobs, out);
    }
    tcp.next += 1;
}

/// The application has more data. With duplicate acknowledgements at hand but no recovery, Sack1's `send_much` looks at its scoreboard
/// too: a hole goes out if there ever was a cut, and stops new data if there was none.
pub(crate) fn send_supply(tcp: &mut Sender, now_s: f64, knobs: &Knobs, out: &mut impl Output) {
    if !tcp.in_recovery && tcp.dupacks > 0 && !knobs.sack_rfc6675 {
        while tcp.next <= tcp.last_ack + tcp.window() {
            let highest_ack = tcp.highest_ack;
            let Some(hole) = scoreboard(tcp).next_hole(highest_ack) else { break };
            if tcp.recover == 0 {
                return;
            }
            scoreboard(tcp).mark_retransmitted(hole);
            tcp.output(now_s, hole, knobs, out);
        }
    }
    send_much(tcp, now_s, knobs, knobs.max_burst, out);
}

#[inline(never)]
fn send_in_recovery(tcp: &mut Sender, now_s: f64, knobs: &Knobs, burst: u32, out: &mut impl Output) {
    let mut sent = 0;
    while tcp.may_send(now_s)
        && let Some(number) = next_packet(tcp, knobs)
    {
        tcp.output(now_s, number, knobs, out);
        tcp.next = tcp.next.max(number + 1);
        tcp.pipe += 1;
        tcp.count_sent();
        sent += 1;
        if burst > 0 && sent == burst {
            break;
        }
    }
}

/// What to send now in recovery, if anything.
fn next_packet(tcp: &mut Sender, knobs: &Knobs) -> Option<i64> {
    let window = knobs.window as i64;
    let new_data = (tcp.next <= tcp.highest_ack + window && tcp.next < tcp.limit).then_some(tcp.next);
    if knobs.sack_rfc6675 {
        return next_segment_rfc6675(tcp, new_data, knobs);
    }
    if tcp.pipe >= tcp.cwnd as i64 || tcp.last_ack + 1 >= tcp.limit {
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

/// RFC 6675 section 4, NextSeg: lost holes, new data, other holes, and one rescue retransmission per recovery.
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
    // Rule 4: the acknowledgement clock must not stop while the tail of the window is missing.
    if tcp.rescued {
        return None;
    }
    tcp.rescued = true;
    board.highest_hole(highest_ack, recover + 1)
}
