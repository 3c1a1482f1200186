//! RACK loss detection (RFC 8985): a packet is lost when a packet sent later was delivered and the
//! reordering window has passed since.

use crate::ticks::{HZ, tick_before, whole_us};
use crate::{CaState, SequenceSet, TcpInfo};
use std::collections::VecDeque;

/// Retransmitted (by TLP or in recovery), and neither SACKed nor marked lost since (Linux
/// `TCPCB_SACKED_RETRANS`).
const RETRANS: u8 = 1;
/// Marked lost; stays set until delivery, also after a retransmission (Linux `TCPCB_LOST`).
const LOST: u8 = 2;
/// Retransmitted at least once (Linux `TCPCB_EVER_RETRANS`).
const EVER_RETRANS: u8 = 4;
/// First packet of a buffer: what left as one and was not split since (Linux `sk_buff`).
const BEGINS: u8 = 8;
/// The last packet of what the application had written (PSH).
const PUSH: u8 = 16;

/// State of a packet that is not cumulatively acknowledged.
#[derive(Clone, Copy, Debug)]
struct SegmentState {
    xmit_s: f64,
    /// Number of transmissions before this one: orders packets sent at the same time.
    xmit_order: u32,
    flags: u8,
}

/// RACK state of a sender: names as in RFC 8985 and Linux's `tcp_packets_in_flight`.
#[derive(Clone, Debug)]
pub(crate) struct Rack {
    /// Packets from SND.UNA on.
    segments: VecDeque<SegmentState>,
    snd_una: i64,
    sacked: SequenceSet,
    /// Retransmitted packets with their transmission order.
    retransmissions: VecDeque<(i64, u32)>,
    /// Transmissions so far.
    sent_total: u32,
    /// Numbers of segments that are SACKed, lost, retransmitted and in flight, and lost without a
    /// retransmission in flight.
    sacked_out: i64,
    lost_out: i64,
    retrans_out: i64,
    to_retransmit: i64,
    /// Packets marked lost so far, lost retransmissions included (Linux `tp->lost`).
    pub(crate) lost_total: u64,
    /// Below this number every packet that was sent once is SACKed or marked lost.
    inspected_below: i64,
    /// No packet below this number waits for retransmission (Linux `retransmit_skb_hint`).
    retransmit_hint: i64,
    /// Transmission order of the most recently sent delivered packet (RACK.segment).
    rack_xmit_order: u32,
    /// RTT of the last delivery (RACK.rtt), in Linux's microseconds.
    rack_rtt_us: i64,
    min_rtt_s: f64,
    /// Highest packet delivered (RACK.fack).
    fack: i64,
    /// How often a packet that was sent once was delivered after one with a higher number
    /// (RACK.reordering_seen, Linux `tp->reord_seen`).
    reord_seen: u32,
    /// Packets by which one was overtaken at most, from a number on that Linux starts at
    /// (`tp->reordering`).
    reordering: i64,
    /// Multiples of min_rtt/4 that the reordering window spans, recoveries until it is one again,
    /// and the packet whose acknowledgement permits the next increase (RACK.reo_wnd_mult,
    /// RACK.reo_wnd_persist, RACK.dsack_round).
    reo_wnd_mult: u32,
    reo_wnd_persist: u32,
    dsack_round: Option<i64>,
}

/// Microseconds between two times, as Linux's clock reads them.
fn elapsed_us(from_s: f64, to_s: f64) -> i64 {
    whole_us(to_s) as i64 - whole_us(from_s) as i64
}

/// Packets by which one may be overtaken before any was (Linux `sysctl_tcp_reordering`), and at
/// most (`sysctl_tcp_max_reordering`).
const REORDERING: i64 = 3;
const MAX_REORDERING: i64 = 300;

/// Recoveries without DSACK after which the reordering window shrinks (RFC 8985 section 6.2).
const REO_WND_PERSIST: u32 = 16;

/// What an ACK delivered, and the RTTs that it shows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delivered {
    /// Packets newly acknowledged, cumulatively or selectively.
    pub(crate) packets: i64,
    /// It acknowledged a packet cumulatively that was sent again.
    pub(crate) retransmitted: bool,
    /// When the first and the last packet that it acknowledges were sent, seconds, without
    /// retransmitted ones; the same for packets that it SACKs.
    acked_s: Option<(f64, f64)>,
    sacked_s: Option<(f64, f64)>,
    /// It reports packets by SACK.
    pub(crate) sacks: bool,
    /// The first packet that it delivers of those sent once; [`i64::MAX`] if there is none.
    pub(crate) first_original: i64,
}

impl Delivered {
    fn note(span: &mut Option<(f64, f64)>, xmit_s: f64) {
        *span = Some((span.map_or(xmit_s, |span| span.0), xmit_s));
    }

    /// Whether it SACKs a packet that was sent before this time, seconds, and only once.
    pub(crate) fn sacks_sent_before(&self, at_s: f64) -> bool {
        self.sacked_s.is_some_and(|(first_s, _)| whole_us(first_s) < whole_us(at_s))
    }

    /// RTTs for the RTO and for the rule, seconds (Linux `tcp_ack_update_rtt`): of what is
    /// acknowledged, else of what is SACKed, else by timestamp.
    pub(crate) fn rtts_s(&self, now_s: f64, echo_s: Option<f64>) -> Option<(f64, f64)> {
        let acked_s = self.acked_s.filter(|_| !self.retransmitted);
        match (acked_s, self.sacked_s) {
            (Some((first_s, _)), Some((_, last_s))) => Some((now_s - first_s, now_s - last_s)),
            (Some((first_s, last_s)), None) | (None, Some((first_s, last_s))) => {
                Some((now_s - first_s, now_s - last_s))
            }
            (None, None) => {
                // Timestamps count ticks, at least one.
                let rtt_s = |echo_s| {
                    tick_before(now_s).saturating_sub(tick_before(echo_s)).max(1) as f64 / HZ
                };
                echo_s.filter(|_| self.retransmitted).map(|echo_s| (rtt_s(echo_s), rtt_s(echo_s)))
            }
        }
    }
}

/// Result of RACK_detect_loss().
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DetectedLosses {
    /// Time until a further packet may be marked lost, seconds; 0 when none is pending.
    pub(crate) reordering_timeout_s: f64,
    /// A retransmission was marked lost.
    pub(crate) retransmission_lost: bool,
}

impl Rack {
    pub(crate) fn new() -> Self {
        Self {
            segments: VecDeque::new(),
            snd_una: 0,
            sacked: SequenceSet::default(),
            retransmissions: VecDeque::new(),
            sacked_out: 0,
            lost_out: 0,
            retrans_out: 0,
            to_retransmit: 0,
            lost_total: 0,
            inspected_below: 0,
            retransmit_hint: 0,
            sent_total: 0,
            rack_xmit_order: 0,
            rack_rtt_us: 0,
            min_rtt_s: f64::INFINITY,
            fack: -1,
            reord_seen: 0,
            reordering: REORDERING,
            reo_wnd_mult: 1,
            reo_wnd_persist: 0,
            dsack_round: None,
        }
    }

    /// Resets the state for another flow and keeps allocated memory.
    pub(crate) fn reset(&mut self) {
        let Self { mut segments, mut retransmissions, mut sacked, .. } =
            std::mem::replace(self, Self::new());
        segments.clear();
        retransmissions.clear();
        sacked.reset();
        *self = Self { segments, retransmissions, sacked, ..Self::new() };
    }

    /// Packets in flight (Linux `tcp_packets_in_flight`).
    pub(crate) fn in_flight(&self) -> i64 {
        self.segments.len() as i64 - self.sacked_out - self.lost_out + self.retrans_out
    }

    /// Whether packets beyond SND.UNA are SACKed.
    pub(crate) fn has_sacked(&self) -> bool {
        self.sacked_out > 0
    }

    /// Whether packets marked lost are still undelivered.
    pub(crate) fn has_losses(&self) -> bool {
        self.lost_out > 0
    }

    /// The SACKed packets.
    pub(crate) fn sacked(&self) -> &SequenceSet {
        &self.sacked
    }

    /// Whether packet `number` is SACKed.
    pub(crate) fn is_sacked(&self, number: i64) -> bool {
        self.sacked.contains(number)
    }

    /// Takes an RTT sample.
    pub(crate) fn note_rtt(&mut self, rtt_s: f64) {
        self.min_rtt_s = self.min_rtt_s.min(rtt_s);
    }

    /// Minimum RTT, seconds; infinite before the first sample.
    pub(crate) fn min_rtt_s(&self) -> f64 {
        self.min_rtt_s
    }

    /// Last transmission time of the packet at SND.UNA, seconds.
    pub(crate) fn head_xmit_s(&self) -> Option<f64> {
        self.segments.front().map(|segment| segment.xmit_s)
    }

    /// Minimum RTT in microseconds; the largest 32-bit number before the first.
    fn min_rtt_us(&self) -> i64 {
        whole_us(self.min_rtt_s).min(u64::from(u32::MAX)) as i64
    }

    /// Whether nothing is outstanding.
    pub(crate) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// From packet `number` on, up to `most` packets that are sent again as one: lost ones of a
    /// buffer.
    pub(crate) fn repair_burst(&self, number: i64, most: i64) -> i64 {
        let waits = |index: &i64| {
            let segment = self.segments.get((number + index - self.snd_una) as usize);
            segment.is_some_and(|segment| segment.flags & (LOST | RETRANS | BEGINS) == LOST)
        };
        (1..most).take_while(waits).count() as i64 + 1
    }

    /// Packet `number` begins a buffer, or is the first behind what leaves an old one.
    pub(crate) fn begin_buffer(&mut self, number: i64) {
        if let Some(segment) = self.segments.get_mut((number - self.snd_una) as usize) {
            segment.flags |= BEGINS;
        }
    }

    /// Records a transmission of packet `number`.
    pub(crate) fn on_sent(&mut self, now_s: f64, number: i64) {
        let index = (number - self.snd_una) as usize;
        self.sent_total += 1;
        let xmit_order = self.sent_total;
        let Some(segment) = self.segments.get_mut(index) else {
            return self.segments.push_back(SegmentState { xmit_s: now_s, xmit_order, flags: 0 });
        };
        if segment.flags & RETRANS == 0 {
            self.retrans_out += 1;
            self.to_retransmit -= i64::from(segment.flags & LOST != 0);
        }
        *segment = SegmentState {
            xmit_s: now_s,
            xmit_order,
            flags: segment.flags | RETRANS | EVER_RETRANS,
        };
        self.retransmissions.push_back((number, xmit_order));
    }

    /// A packet that was just sent is the last of what the application had written.
    pub(crate) fn note_push(&mut self, number: i64) {
        let index = (number - self.snd_una) as usize;
        self.segments.get_mut(index).into_iter().for_each(|segment| segment.flags |= PUSH);
    }

    /// Whether an outstanding packet was that.
    pub(crate) fn is_pushed(&self, number: i64) -> bool {
        let index = (number - self.snd_una) as usize;
        self.segments.get(index).is_some_and(|segment| segment.flags & PUSH != 0)
    }

    /// Processes SACK blocks, then the cumulative ACK, as Linux does; returns what they delivered.
    /// `echo_s`: the echoed timestamp, if timestamps are on; `deliver` gets each packet in turn.
    pub(crate) fn on_ack(
        &mut self,
        now_s: f64,
        echo_s: Option<f64>,
        ack: i64,
        highest_sent: i64,
        blocks: &[(i64, i64)],
        mut deliver: impl FnMut(i64),
    ) -> Delivered {
        let mut delivered = Delivered::default();
        // The first packets that were sent once, of those SACKed and of those acknowledged: they
        // came late if they lie below one that was known to have arrived.
        let (mut late_sacked, mut late_acked) = (i64::MAX, i64::MAX);
        let mut highest = self.fack;
        for &(left, right) in blocks {
            // Blocks repeat earlier ones: step from hole to hole.
            let mut number = self.sacked.first_missing(left.max(self.snd_una));
            while number < right.min(highest_sent + 1) {
                self.sacked.insert(number);
                self.sacked_out += 1;
                delivered.packets += 1;
                let segment = &mut self.segments[(number - self.snd_una) as usize];
                let was = *segment;
                if was.flags & EVER_RETRANS == 0 {
                    Delivered::note(&mut delivered.sacked_s, was.xmit_s);
                    late_sacked = late_sacked.min(number);
                }
                segment.flags &= EVER_RETRANS | PUSH;
                self.begin_buffer(number + 1);
                deliver(number);
                // The echo is not that of a SACKed packet.
                self.on_delivered(now_s, false, was);
                highest = highest.max(number);
                number = self.sacked.first_missing(number + 1);
            }
        }
        delivered.sacks = delivered.packets > 0;
        if late_sacked < self.fack {
            self.note_reordering(late_sacked, highest);
        }
        while self.snd_una <= ack
            && let Some(segment) = self.segments.pop_front()
        {
            let is_sacked = self.sacked.contains(self.snd_una);
            if segment.flags & EVER_RETRANS != 0 {
                delivered.retransmitted |= segment.flags & RETRANS != 0 || !is_sacked;
            } else if !is_sacked {
                Delivered::note(&mut delivered.acked_s, segment.xmit_s);
                late_acked = late_acked.min(self.snd_una);
            }
            if is_sacked {
                self.sacked_out -= 1;
            } else {
                // An ACK echoes the packet that advanced it (RFC 7323 section 4.3): what left
                // later, in ticks of timestamps, arrived by an earlier transmission.
                let sent_tick = tick_before(segment.xmit_s);
                let is_earlier = echo_s.is_some_and(|echo_s| tick_before(echo_s) < sent_tick);
                deliver(self.snd_una);
                self.on_delivered(now_s, is_earlier, segment);
                delivered.packets += 1;
            }
            self.snd_una += 1;
        }
        self.sacked.advance(self.snd_una);
        if late_acked < self.fack {
            self.note_reordering(late_acked, if self.sacked_out > 0 { highest } else { ack });
        }
        delivered.first_original = late_sacked.min(late_acked);
        // Reordering is judged by what was SACKed before this ACK.
        self.fack = highest.max(ack);
        delivered
    }

    /// Packet `number` came after `highest` (Linux `tcp_check_sack_reordering`).
    #[cold]
    #[inline(never)]
    fn note_reordering(&mut self, number: i64, highest: i64) {
        if number < highest {
            self.reordering = self.reordering.max((highest + 1 - number).min(MAX_REORDERING));
            self.reord_seen += 1;
        }
    }

    /// Counts a duplicate ACK as a packet delivered, where the receiver sends no SACK (Linux
    /// `tcp_add_reno_sack`). Returns the packets newly delivered.
    pub(crate) fn count_dupack(&mut self) -> i64 {
        let before = self.sacked_out;
        self.sacked_out += 1;
        self.limit_dupacks(0);
        (self.sacked_out - before).max(0)
    }

    /// Some duplicate ACKs were for what is acknowledged now (Linux `tcp_remove_reno_sacks`).
    /// `acked`: packets acknowledged. Returns those newly delivered: one filled the hole.
    pub(crate) fn remove_dupacks(&mut self, acked: i64) -> i64 {
        let delivered = (acked - self.sacked_out).max(1);
        self.sacked_out = (self.sacked_out - (acked - 1)).max(0);
        self.limit_dupacks(acked);
        delivered
    }

    /// Duplicate ACKs tell nothing any more (Linux `tcp_reset_reno_sack`).
    pub(crate) fn forget_dupacks(&mut self) {
        self.sacked_out = 0;
    }

    /// As many duplicate ACKs as packets are reordering: at least one packet is missing (Linux
    /// `tcp_check_reno_reordering`).
    fn limit_dupacks(&mut self, acked: i64) {
        let outstanding = self.segments.len() as i64;
        let holes = self.lost_out.max(1).min(outstanding);
        if self.sacked_out + holes > outstanding {
            self.sacked_out = outstanding - holes;
            self.reordering = (outstanding + acked).min(MAX_REORDERING);
            self.reord_seen += 1;
        }
    }

    /// Without SACK the first packet is lost after `threshold` duplicate ACKs, and in a recovery
    /// with each ACK of a part (Linux `tcp_newreno_mark_lost`).
    #[cold]
    #[inline(never)]
    pub(crate) fn mark_head_lost(&mut self, recovers: bool, advanced: bool) {
        let is_lost = if recovers { advanced } else { self.sacked_out >= self.reordering };
        let head = self.segments.front().filter(|head| is_lost && head.flags & LOST == 0);
        if head.is_some() {
            self.mark_lost(self.snd_una);
        }
    }

    /// Whether a packet was overtaken by more than is usual, so that SACKs count as progress (Linux
    /// `tcp_may_raise_cwnd`).
    pub(crate) fn is_reordered_far(&self) -> bool {
        self.reordering > REORDERING
    }

    /// State for `tcp_info`.
    pub(crate) fn report(&self, info: &mut TcpInfo) {
        let count = |packets: i64| packets.max(0) as u32;
        (info.sacked, info.lost) = (count(self.sacked_out), count(self.lost_out));
        (info.retrans, info.unacked) = (count(self.retrans_out), self.segments.len() as u32);
        (info.reordering, info.reord_seen) = (count(self.reordering), self.reord_seen);
        info.min_rtt = (self.min_rtt_s * 1e6).round() as u32;
        if info.ca_state == CaState::Open && self.has_sacked() {
            info.ca_state = CaState::Disorder;
        }
    }

    /// Updates RACK state for a delivered packet (RFC 8985 section 6.2, steps 1 to 3).
    /// `is_earlier`: the ACK shows that an earlier transmission than the last one arrived.
    fn on_delivered(&mut self, now_s: f64, is_earlier: bool, segment: SegmentState) {
        self.lost_out -= i64::from(segment.flags & LOST != 0);
        self.retrans_out -= i64::from(segment.flags & RETRANS != 0);
        self.to_retransmit -= i64::from(segment.flags & (LOST | RETRANS) == LOST);
        let rtt_us = elapsed_us(segment.xmit_s, now_s);
        let is_retransmitted = segment.flags & EVER_RETRANS != 0;
        if is_retransmitted && (is_earlier || rtt_us < self.min_rtt_us()) {
            // An earlier transmission arrived.
            return;
        }
        // The RTT is that of the last delivery, also of an earlier packet (Linux
        // `tcp_rack_advance`).
        self.rack_rtt_us = rtt_us;
        self.rack_xmit_order = self.rack_xmit_order.max(segment.xmit_order);
    }

    /// A DSACK of packet `number`: its retransmission was needless, so the reordering window
    /// widens, once a round trip (RFC 8985 section 6.2 step 4). As in Linux (`tcp_dsack_seen`) a
    /// DSACK of a tail loss probe, which a timer sends, says nothing, nor does any before
    /// reordering was seen.
    pub(crate) fn on_dsack(
        &mut self,
        number: i64,
        is_probe: bool,
        highest_ack: i64,
        highest_sent: i64,
    ) {
        self.note_late_original(number);
        let counts = self.reord_seen > 0 && !is_probe;
        if counts && self.dsack_round.is_none_or(|round| highest_ack >= round) {
            self.dsack_round = Some(highest_sent);
            self.reo_wnd_mult += 1;
            self.reo_wnd_persist = REO_WND_PERSIST;
        }
    }

    /// A retransmitted packet is reported twice while packets before it are missing: if it lies
    /// below a SACKed one, its original came late (Linux `tcp_sacktag_one`).
    fn note_late_original(&mut self, number: i64) {
        let is_retransmitted = usize::try_from(number - self.snd_una)
            .ok()
            .and_then(|index| self.segments.get(index))
            .is_some_and(|segment| segment.flags & EVER_RETRANS != 0);
        if is_retransmitted && self.sacked.contains(number) {
            self.note_reordering(number, self.fack);
        }
    }

    /// The packet at SND.UNA was retransmitted, and its original arrived: it came after the packets
    /// that are SACKed (Linux `tcp_try_undo_partial`).
    pub(crate) fn note_late_head(&mut self) {
        self.note_reordering(self.snd_una, self.fack);
    }

    /// A repair ended: the reordering window shrinks again after some without DSACK.
    pub(crate) fn on_recovery_end(&mut self) {
        self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
        if self.reo_wnd_persist == 0 {
            self.reo_wnd_mult = 1;
        }
    }

    /// Nothing was lost (Linux `tcp_undo_cwnd_reduction`).
    pub(crate) fn unmark_losses(&mut self) {
        self.segments.iter_mut().for_each(|segment| segment.flags &= !LOST);
        (self.lost_out, self.to_retransmit) = (0, 0);
    }

    /// Reordering window in microseconds (RFC 8985 section 6.2 step 4; Linux `tcp_rack_reo_wnd`):
    /// min_rtt/4, and 0 in recovery or with `threshold` packets SACKed as long as no reordering was
    /// seen.
    fn reo_wnd_us(&self, repairs: bool, threshold: u32, srtt_s: f64) -> i64 {
        if self.reord_seen == 0 && (repairs || self.sacked_out >= i64::from(threshold)) {
            return 0;
        }
        (i64::from(self.reo_wnd_mult) * (self.min_rtt_us() / 4)).min(whole_us(srtt_s) as i64)
    }

    /// Marks lost packets (RACK_detect_loss, RFC 8985 section 6.2 step 5). `repairs`: losses are
    /// being repaired.
    pub(crate) fn detect_losses(
        &mut self,
        now_s: f64,
        repairs: bool,
        threshold: u32,
        srtt_s: f64,
    ) -> DetectedLosses {
        if self.retransmissions.is_empty() && !self.has_suspect() {
            return DetectedLosses::default();
        }
        // A packet that a later one overtook is lost if it was sent by this time.
        let reo_wnd_us = self.reo_wnd_us(repairs, threshold, srtt_s);
        let lost_until_us = whole_us(now_s) as i64 - self.rack_rtt_us - reo_wnd_us;
        let order = self.rack_xmit_order;
        let (mut detected, mut timeout_us) = (DetectedLosses::default(), 0);
        let mut number = self.sacked.first_missing(self.inspected_below.max(self.snd_una));
        // Packets sent once are in order of transmission time.
        while let Some(segment) = self.segments.get((number - self.snd_una) as usize).copied() {
            if segment.flags & (LOST | EVER_RETRANS) == 0 {
                if segment.xmit_order >= order {
                    break;
                }
                let remaining_us = whole_us(segment.xmit_s) as i64 - lost_until_us;
                if remaining_us > 0 {
                    timeout_us = timeout_us.max(remaining_us);
                } else {
                    self.mark_lost(number);
                }
            }
            if timeout_us == 0 {
                self.inspected_below = number + 1;
            }
            number = self.sacked.first_missing(number + 1);
        }
        let mut index = 0;
        while let Some(&(number, xmit_order)) = self.retransmissions.get(index) {
            if let Some(segment) = self.current_retransmission(number, xmit_order) {
                if segment.xmit_order >= order {
                    break;
                }
                let remaining_us = whole_us(segment.xmit_s) as i64 - lost_until_us;
                if remaining_us > 0 {
                    timeout_us = timeout_us.max(remaining_us);
                } else {
                    self.mark_lost(number);
                    detected.retransmission_lost = true;
                }
            }
            if index == 0 && timeout_us == 0 {
                self.retransmissions.pop_front();
            } else {
                index += 1;
            }
        }
        detected.reordering_timeout_s = timeout_us as f64 * 1e-6;
        detected
    }

    /// Whether an outstanding packet may be lost that was not inspected: the first of them was
    /// overtaken, or was marked or retransmitted before.
    fn has_suspect(&self) -> bool {
        let first = self.sacked.first_missing(self.inspected_below.max(self.snd_una));
        let index = (first - self.snd_una) as usize;
        self.segments.get(index).is_some_and(|segment| {
            segment.flags & (LOST | EVER_RETRANS) != 0 || segment.xmit_order < self.rack_xmit_order
        })
    }

    /// The packet, if this retransmission is its latest and in flight.
    fn current_retransmission(&self, number: i64, xmit_order: u32) -> Option<SegmentState> {
        let index = usize::try_from(number - self.snd_una).ok()?;
        self.segments
            .get(index)
            .copied()
            .filter(|segment| segment.flags & RETRANS != 0 && segment.xmit_order == xmit_order)
    }

    /// Marks a packet, or its latest retransmission, lost.
    fn mark_lost(&mut self, number: i64) {
        let segment = &mut self.segments[(number - self.snd_una) as usize];
        self.retrans_out -= i64::from(segment.flags & RETRANS != 0);
        self.lost_out += i64::from(segment.flags & LOST == 0);
        self.to_retransmit += i64::from(segment.flags & (LOST | RETRANS) != LOST);
        segment.flags = (segment.flags | LOST) & !RETRANS;
        self.lost_total += 1;
        self.retransmit_hint = self.retransmit_hint.min(number);
    }

    /// Retransmission timeout: marks lost what is not SACKed, except packets sent within the last
    /// round trip (RFC 8985 section 6.3; Linux's `tcp_timeout_mark_lost` uses no reordering
    /// window).
    pub(crate) fn on_timeout(&mut self, now_s: f64, has_sack: bool) {
        // Without SACK Linux has no RTT of RACK (`tcp_clean_rtx_queue`), and duplicate ACKs tell
        // nothing any more.
        let rack_rtt_us = if has_sack {
            self.rack_rtt_us
        } else {
            self.forget_dupacks();
            0
        };
        for index in 0..self.segments.len() {
            let (number, segment) = (self.snd_una + index as i64, self.segments[index]);
            let is_late = index == 0 || elapsed_us(segment.xmit_s, now_s) >= rack_rtt_us;
            let is_known = segment.flags & (LOST | RETRANS) == LOST;
            if is_late && !is_known && !self.sacked.contains(number) {
                self.mark_lost(number);
            }
        }
        self.inspected_below = self.snd_una;
    }

    /// Whether packets marked lost have no retransmission in flight.
    pub(crate) fn awaits_retransmission(&self) -> bool {
        self.to_retransmit > 0
    }

    /// The first packet that is marked lost and has no retransmission in flight.
    pub(crate) fn next_to_retransmit(&mut self) -> Option<i64> {
        if self.to_retransmit == 0 {
            return None;
        }
        let from = self.retransmit_hint.max(self.snd_una);
        let index = (from - self.snd_una) as usize;
        let ahead = self
            .segments
            .range(index..)
            .position(|segment| segment.flags & (LOST | RETRANS) == LOST)?;
        self.retransmit_hint = from + ahead as i64;
        Some(self.retransmit_hint)
    }
}

#[cfg(test)]
mod tests;
