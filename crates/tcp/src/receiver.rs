//! TCP receiver: cumulative ACKs, SACK blocks, delayed ACKs and ECE (ns-2 `tcp-sink.cc`, RFC 2018,
//! RFC 5681 section 4.2).

use crate::accecn::CeCounter;
use crate::ack_schedule::{AckSchedule, Answer, Arrival};
use crate::misbehavior::Misbehavior;
use crate::offered_window::OfferedWindow;
use crate::segment::EarlierAck;
use crate::syn_ack::SynAck;
use crate::{
    AckSegment, EcnEcho, EcnFeedback, NEVER, ReaderPlan, ReceivedData, SackBlocks, SequenceSet,
    ShortPacket, TcpConfig,
};
use cwndlab_prefetch::prefetch;
use std::sync::Arc;

/// A TCP receiver.
///
/// ```
/// use cwndlab_tcp::{Profile, ReceivedData, Receiver, TcpConfig, tcp_config};
/// let config = tcp_config!(TcpConfig::profile(Profile::Rfc), handshake.syn = false);
/// let mut receiver = Receiver::new(true);
/// receiver.on_data(0.1, ReceivedData::new(0, 0.0), &config);
/// // Packet 1 is lost: packet 2 repeats the ACK of packet 0, and SACK reports it.
/// let (is_new, ack) = receiver.on_data(0.2, ReceivedData::new(2, 0.1), &config);
/// assert_eq!((is_new, ack.unwrap().ack, receiver.rcv_nxt()), (true, 0, 1));
/// assert_eq!(receiver.sack_blocks().unwrap().as_slice(), [(2, 3)]);
/// ```
#[derive(Clone, Debug)]
pub struct Receiver {
    /// Next packet expected (RCV.NXT).
    rcv_nxt: i64,
    highest_received: i64,
    last_ack_sent: i64,
    echo_s: f64,
    /// Out-of-order packets and the SACK blocks that report them; allocated at the first gap.
    out_of_order: Option<Box<OutOfOrder>>,
    /// Whether out-of-order packets exist or existed at the last ACK. True before the first packet,
    /// which therefore takes the slow path.
    has_gap: bool,
    /// Whether the next packet is predicted to be in order and to need nothing but an ACK.
    predicts: bool,
    /// Delayed-ACK state; allocated at the first delayed ACK.
    delayed_ack: Option<Box<DelayedAck>>,
    /// When ACKs leave at a host of Linux; allocated at the first packet.
    schedule: Option<Box<AckSchedule>>,
    /// The SYN-ACK, as long as no data shows that it arrived.
    syn_ack: Option<Box<SynAck>>,
    /// SYN-ACKs that the timer repeated.
    syn_acks_repeated: u32,
    /// The ACK that leaves before the last one, for the same packet, and how many did.
    earlier: Option<Box<EarlierAck>>,
    earlier_acks: u32,
    /// Whether the last packet was marked.
    last_ce: bool,
    sack: bool,
    /// Feedback of the next ACK. ECE: CE arrived, and no packet with CWR since (ns-2
    /// `ecn_unacked_`).
    echo: EcnEcho,
    /// Counters of AccECN.
    ce_counter: Option<Box<CeCounter>>,
    short_packet: Option<Box<ShortPacket>>,
    misbehavior: Option<Box<Misbehavior>>,
    /// The window, where the application reads slowly or the buffer changes.
    offered: Option<Box<OfferedWindow>>,
    /// Whether its caller looks at RCV.NXT after each packet.
    is_observed: bool,
}

#[derive(Clone, Copy, Debug)]
struct DelayedPacket {
    number: i64,
    sent_s: f64,
    ce: bool,
}

/// Delayed-ACK state (RFC 5681 section 4.2).
#[derive(Clone, Debug)]
struct DelayedAck {
    /// The packet whose ACK is delayed.
    held: Option<DelayedPacket>,
    deadline_s: f64,
    /// When the delayed-ACK timer was armed, seconds.
    armed_at_s: f64,
    /// Data packets without an ACK of their own.
    acks_withheld: u64,
    /// ACKs that leave at once before the next one is delayed (Linux `icsk_ack.quick`).
    quick_acks: u32,
}

impl Default for DelayedAck {
    fn default() -> Self {
        Self { held: None, deadline_s: NEVER, armed_at_s: 0.0, acks_withheld: 0, quick_acks: 0 }
    }
}

#[derive(Clone, Debug, Default)]
struct OutOfOrder {
    received: SequenceSet,
    /// SACK blocks of the last ACK, most recent first.
    blocks: SackBlocks,
    /// The blocks with a DSACK before them, if the last ACK reported a duplicate.
    with_duplicate: Option<SackBlocks>,
}

impl OutOfOrder {
    /// Which SACK block packet `number` extends; their number if it begins another one.
    fn block_of(&self, number: i64) -> usize {
        let blocks = self.blocks.as_slice();
        let extends = |&(left, right): &(i64, i64)| left - 1 <= number && number <= right;
        blocks.iter().position(extends).unwrap_or(blocks.len())
    }
}

/// An ACK that leaves before that of the packet that arrives: of what was owed before a change of
/// marks, with the mark of those packets (RFC 8257 section 3.2), or with the window before the
/// application has read.
#[cold]
fn earlier_ack(ack: i64, ece: bool, window_bytes: Option<u32>) -> Option<Box<EarlierAck>> {
    Some(Box::new(EarlierAck { ack, echo: EcnEcho::ece(ece), window_bytes }))
}

impl Receiver {
    /// Prefetches heap data before the next packet arrives.
    #[inline]
    pub fn prefetch(&self) {
        self.out_of_order.as_deref().inspect(|out_of_order| prefetch(*out_of_order));
    }

    /// A receiver that expects packet 0; `sack`: it sends SACK blocks.
    pub fn new(sack: bool) -> Self {
        Self {
            rcv_nxt: 0,
            highest_received: -1,
            last_ack_sent: 0,
            echo_s: 0.0,
            out_of_order: None,
            has_gap: true,
            predicts: false,
            delayed_ack: None,
            schedule: None,
            syn_ack: None,
            syn_acks_repeated: 0,
            earlier: None,
            earlier_acks: 0,
            last_ce: false,
            sack,
            echo: EcnEcho::NONE,
            ce_counter: None,
            short_packet: None,
            misbehavior: None,
            offered: None,
            is_observed: false,
        }
    }

    /// Tells which packet is a short one.
    pub fn set_short_packet(&mut self, short: Option<ShortPacket>) {
        self.short_packet = short.map(Box::new);
        self.predicts = false;
    }

    /// The application reads by this plan, and ACKs offer what is free of its buffer. `first`: the
    /// first packet of data.
    pub fn set_reader(&mut self, plan: Arc<ReaderPlan>, first: i64) {
        self.offered = Some(Box::new(OfferedWindow::new(plan, first)));
        self.predicts = false;
    }

    /// No packet [`Receiver::is_in_order`] from now on: the caller looks at RCV.NXT after each.
    pub fn observe(&mut self) {
        (self.is_observed, self.predicts) = (true, false);
    }

    /// Next packet expected (RCV.NXT).
    pub fn rcv_nxt(&self) -> i64 {
        self.rcv_nxt
    }

    /// Payload of packet `number` if it is the short one, bytes.
    #[inline]
    pub fn short_payload_bytes(&self, number: i64) -> Option<u32> {
        let short = self.short_packet.as_deref().filter(|short| short.number == number)?;
        Some(short.payload_bytes)
    }

    /// Resets the receiver for another flow and keeps allocated memory.
    pub fn reset(&mut self, sack: bool) {
        let mut out_of_order = self.out_of_order.take();
        if let Some(out_of_order) = &mut out_of_order {
            out_of_order.received.reset();
            (out_of_order.blocks, out_of_order.with_duplicate) = Default::default();
        }
        let mut delayed_ack = self.delayed_ack.take();
        delayed_ack.iter_mut().for_each(|delayed_ack| **delayed_ack = DelayedAck::default());
        *self = Self { out_of_order, delayed_ack, ..Self::new(sack) };
    }

    /// Whether packet `number`, sent at `sent_s`, arrives in order and needs nothing but an ACK: no
    /// gap, delayed ACKs, counters of marks or short packet.
    #[inline(always)]
    pub fn is_in_order(&self, number: i64, sent_s: f64) -> bool {
        // RFC 7323 section 4.3: a packet sent before the one last echoed is not echoed.
        self.predicts && number == self.rcv_nxt && sent_s >= self.echo_s
    }

    /// Acknowledges a packet without CE and CWR that [`Receiver::is_in_order`]; returns the ECN
    /// feedback of its ACK.
    #[inline(always)]
    pub fn acknowledge_in_order(&mut self, number: i64, sent_s: f64) -> EcnEcho {
        (self.rcv_nxt, self.highest_received, self.last_ack_sent, self.echo_s) =
            (number + 1, number, number, sent_s);
        self.echo
    }

    /// Processes a data packet. Returns whether it is new, and the ACK to send now, if any.
    pub fn on_data(
        &mut self,
        now_s: f64,
        data: ReceivedData,
        config: &TcpConfig,
    ) -> (bool, Option<AckSegment>) {
        let ReceivedData { number, sent_s, ce, cwr, .. } = data;
        if self.is_in_order(number, sent_s) && !(ce | cwr) {
            let echo = self.acknowledge_in_order(number, sent_s);
            let size_bytes = config.ack_wire_size();
            let ack = AckSegment { ack: number, sent_s, echo_s: sent_s, size_bytes, echo };
            return (true, Some(ack));
        }
        let done = self.on_data_slow_path(now_s, data, config);
        self.predicts = !self.has_gap
            && !config.receiver.delayed_ack
            && self.schedule.is_none()
            && self.syn_ack.is_none()
            && self.ce_counter.is_none()
            && self.short_packet.is_none()
            && !config.misbehaves()
            && self.offered.is_none()
            && !self.is_observed;
        done
    }

    #[inline(never)]
    fn on_data_slow_path(
        &mut self,
        now_s: f64,
        data: ReceivedData,
        config: &TcpConfig,
    ) -> (bool, Option<AckSegment>) {
        let ReceivedData { number, sent_s, cwr, .. } = data;
        let is_syn = number == 0 && config.handshake.syn;
        // ECE of a SYN-ACK is no mark (RFC 3168 section 6.1.1); AccECN has one for it.
        let ce = data.ce && (!is_syn || config.ecn.ecn_feedback.is_accecn());
        // RFC 7323 section 4.3: echo the timestamp of the packet that advances RCV.NXT, or of an
        // equal one sent later.
        if !config.receiver.timestamp_echo_fix
            || (sent_s >= self.echo_s && number <= self.last_ack_sent + 1)
        {
            self.echo_s = sent_s;
        }
        // RFC 8257 section 3.2: ECE reports each packet's own mark; RFC 3168: ECE is latched until
        // CWR.
        let (mut acks_at_once, had_mark) = (false, self.echo == EcnEcho::ECE);
        let is_exact = config.ecn.ecn && config.ecn.ecn_feedback == EcnFeedback::ExactEce;
        let (ce_before, rcv_nxt_before) = (std::mem::replace(&mut self.last_ce, ce), self.rcv_nxt);
        let ce_changed = is_exact && ce != ce_before;
        if config.ecn.ecn && config.ecn.ecn_feedback.is_accecn() {
            let full = if is_syn { 0 } else { config.segment.packet_size };
            let payload_bytes = self.short_payload_bytes(number).unwrap_or(full);
            let counter = self.ce_counter.get_or_insert_with(|| Box::new(CeCounter::new()));
            acks_at_once = counter.on_data(ce, payload_bytes);
            self.echo = counter.echo();
        } else {
            let ends = cwr || is_exact;
            self.echo = EcnEcho::ece(ce || (self.echo == EcnEcho::ECE && !ends));
        }
        let filled_gap = number < self.highest_received;
        let new = self.accept(number);
        if let Some(offered) = &mut self.offered {
            offered.on_arrival(now_s, number, self.rcv_nxt);
        }
        if config.repeats_syn_ack() {
            self.arm_syn_ack_timer(now_s, number, sent_s, config);
        }
        let is_duplicate = !(new || is_syn);
        if config.receiver.receive_buffer > 0 {
            let schedule = self
                .schedule
                .get_or_insert_with(|| Box::new(AckSchedule::new(now_s, self.sack, config)));
            if !is_syn {
                let short =
                    self.short_packet.as_deref().is_some_and(|short| short.number == number);
                let arrival = Arrival {
                    now_s,
                    number,
                    rcv_nxt: self.rcv_nxt,
                    is_duplicate,
                    block: self.out_of_order.as_deref().map_or(0, |held| held.block_of(number)),
                    push: data.push || short,
                    // Of a DCTCP receiver the first mark is a change like others.
                    is_first_mark: ce && !had_mark && !is_exact,
                    is_urgent: acks_at_once || cwr || ce_changed,
                    ect: config.ecn.ecn.then_some(data.ect),
                    echoed_ms: data.echoed_ms,
                };
                let (owed, window_bytes) = (schedule.owes_ack(), schedule.buffer.window_bytes());
                let answer = schedule.on_arrival(&arrival);
                if ce_changed && owed {
                    self.earlier = earlier_ack(rcv_nxt_before - 1, ce_before, Some(window_bytes));
                }
                match answer {
                    Answer::Now => {}
                    Answer::Later => {
                        schedule.withhold(number, sent_s);
                        self.note_withheld(number, config);
                        return (new, None);
                    }
                    Answer::Twice(window_bytes) => {
                        let (ack, ece) = (self.rcv_nxt - 1, self.echo == EcnEcho::ECE);
                        self.earlier = earlier_ack(ack, ece, Some(window_bytes));
                    }
                    Answer::NowAsBefore => {
                        // The ACK of the packet that was held back last; this one gets none.
                        let (_, before_s) = schedule.last_withheld;
                        schedule.last_withheld = (number, sent_s);
                        let ack = self.acknowledge_as_before(number, before_s, config);
                        return (new, Some(ack));
                    }
                }
            }
        } else if config.receiver.delayed_ack {
            if ce_changed
                && self.delayed_ack.as_deref().is_some_and(|delayed| delayed.held.is_some())
            {
                self.earlier = earlier_ack(rcv_nxt_before - 1, ce_before, None);
                self.delayed_ack.iter_mut().for_each(|delayed| delayed.held = None);
            }
            acks_at_once |= ce_changed;
            let delayed_ack = self.delayed_ack.get_or_insert_default();
            let is_answered = config.receiver.immediate_ack_on_duplicate && is_duplicate;
            if number == 0 && new {
                delayed_ack.quick_acks = config.receiver.quick_acks;
            } else if is_answered {
                // An ACK was lost, or the sender does not know what arrived (Linux
                // `tcp_enter_quickack_mode`).
                delayed_ack.quick_acks = delayed_ack.quick_acks.max(config.receiver.quick_acks);
            }
            if delayed_ack.held.is_none() && number == self.rcv_nxt - 1 {
                // Linux's quick ACKs speed up slow start.
                let immediately = acks_at_once
                    || is_answered
                    || (config.receiver.immediate_ack_on_fill && filled_gap)
                    || (config.receiver.immediate_ack_on_syn && number == 0)
                    || delayed_ack.quick_acks > 0;
                if !immediately {
                    delayed_ack.held = Some(DelayedPacket { number, sent_s, ce });
                    delayed_ack.deadline_s = now_s + config.receiver.delayed_ack_interval.seconds();
                    delayed_ack.armed_at_s = now_s;
                    delayed_ack.acks_withheld += 1;
                    return (new, None);
                }
            }
            delayed_ack.deadline_s = NEVER;
            // Linux counts the ACKs of data.
            let counts = !(number == 0 && config.handshake.syn);
            delayed_ack.quick_acks = delayed_ack.quick_acks.saturating_sub(counts.into());
        }
        self.earlier_acks += u32::from(self.earlier.is_some());
        let mut ack = self.acknowledge(number, sent_s, config);
        if config.misbehaves() {
            self.misbehave(&mut ack, new && number == self.highest_received, config);
        } else if is_duplicate
            && self.sack
            && config.recovery.dsack
            && config.segment.max_sack_blocks > 0
        {
            let blocks = self.report_duplicate(number, config.segment.max_sack_blocks as usize);
            ack.size_bytes = config.ack_wire_size() + config.sack_size(blocks);
        }
        (new, Some(ack))
    }

    /// Whether a packet is a window probe: it has no data, and repeats a number. Only receivers
    /// with a reader tell one from a duplicate.
    pub fn is_window_probe(&self, number: i64, size_bytes: u32, config: &TcpConfig) -> bool {
        number < self.rcv_nxt && self.offered.is_some() && size_bytes == config.wire_size_of(0)
    }

    /// A window probe arrives: the answer offers the window again.
    pub fn on_window_probe(&mut self, now_s: f64, sent_s: f64, config: &TcpConfig) -> AckSegment {
        self.offered.iter_mut().for_each(|offered| offered.advance(now_s));
        self.delayed_ack.iter_mut().for_each(|delayed| delayed.deadline_s = NEVER);
        self.acknowledge(self.last_arrived(), sent_s, config)
    }

    /// The packet that arrived last, as far as that is known.
    fn last_arrived(&self) -> i64 {
        self.offered.as_deref().map_or(self.highest_received, |offered| offered.last)
    }

    /// The third packet of the handshake arrives, an ACK without data.
    pub fn on_handshake_ack(&mut self, now_s: f64) {
        self.syn_ack = None;
        self.schedule.iter_mut().for_each(|schedule| schedule.note_handshake(now_s));
    }

    /// The window that the last ACK offered, bytes, where a buffer limits it.
    #[inline]
    pub fn window_bytes(&self, config: &TcpConfig) -> Option<u32> {
        if let Some(offered) = &self.offered {
            let bytes = offered.packets() * i64::from(config.segment.packet_size);
            return Some(bytes.clamp(0, i64::from(u32::MAX)) as u32);
        }
        self.schedule.as_deref().map(|schedule| schedule.buffer.window_bytes())
    }

    /// Whether an ACK leaves before the last one.
    #[inline]
    pub fn has_earlier(&self) -> bool {
        self.earlier.is_some()
    }

    /// The ACK that leaves before the last one, if there is any.
    #[inline]
    pub fn take_earlier(&mut self) -> Option<EarlierAck> {
        self.earlier.take().map(|earlier| *earlier)
    }

    /// Time of the timestamp of an ACK that leaves at `now_s` (TSval, RFC 7323), seconds.
    #[inline]
    pub fn clock_s(&self, now_s: f64) -> f64 {
        self.schedule.as_deref().map_or(now_s, |schedule| schedule.clock_s)
    }

    /// A packet gets no ACK of its own, but the next one reports it.
    fn note_withheld(&mut self, number: i64, config: &TcpConfig) {
        if let Some(out_of_order) = &mut self.out_of_order {
            out_of_order.with_duplicate = None;
        }
        if self.sack && self.has_gap && number >= self.rcv_nxt {
            let most = config.segment.max_sack_blocks as usize;
            self.update_sack_blocks(number, self.rcv_nxt - 1, most);
        }
    }

    /// The ACK of the packets before `number`, which needs a SACK block more than there may be.
    #[cold]
    fn acknowledge_as_before(
        &mut self,
        number: i64,
        sent_s: f64,
        config: &TcpConfig,
    ) -> AckSegment {
        let held = self.out_of_order.as_deref();
        let before = held.map_or(SackBlocks::default(), |held| held.blocks);
        let mut ack = self.acknowledge(number, sent_s, config);
        if let Some(held) = &mut self.out_of_order {
            held.with_duplicate = Some(before);
        }
        let blocks = before.as_slice().len() as u32;
        ack.size_bytes = config.ack_wire_size() + config.sack_size(blocks);
        ack
    }

    /// A SYN arms the timer that repeats its SYN-ACK; data stop it.
    fn arm_syn_ack_timer(&mut self, now_s: f64, number: i64, sent_s: f64, config: &TcpConfig) {
        if number > 0 {
            self.syn_ack = None;
        } else if let Some(syn_ack) = &mut self.syn_ack {
            syn_ack.answer(now_s, sent_s, config);
        } else if self.highest_received == 0 {
            self.syn_ack = Some(Box::new(SynAck::new(now_s, sent_s, config)));
        }
    }

    /// Handles expiry of the timer: of a delayed ACK, of one held back, of the SYN-ACK, or of what
    /// opens the window.
    pub fn on_timer(&mut self, config: &TcpConfig) -> Option<AckSegment> {
        let rcv_nxt = self.rcv_nxt;
        let ack_timer_s = self.ack_timer_s().0;
        if let Some(offered) = &mut self.offered {
            let now_s = offered.deadline_s().min(ack_timer_s);
            offered.advance(now_s);
            if now_s < ack_timer_s {
                return offered.needs_update().then(|| self.update_window(config));
            }
        }
        if let Some(schedule) = &mut self.schedule
            && let deadline_s = schedule.deadline_s()
            && deadline_s < NEVER
        {
            let (number, sent_s) = schedule.last_withheld;
            let leaves = schedule.on_timer(deadline_s, rcv_nxt);
            return leaves.then(|| self.acknowledge(number, sent_s, config));
        }
        if let Some(syn_ack) = &mut self.syn_ack
            && syn_ack.deadline_s < NEVER
            && self.delayed_ack.as_ref().is_none_or(|delayed_ack| delayed_ack.held.is_none())
        {
            syn_ack.repeat(config);
            let sent_s = syn_ack.sent_s;
            self.syn_acks_repeated += 1;
            return Some(self.acknowledge(0, sent_s, config));
        }
        let delayed_ack = self.delayed_ack.as_deref_mut()?;
        delayed_ack.deadline_s = NEVER;
        let DelayedPacket { number, sent_s, .. } = delayed_ack.held?;
        delayed_ack.acks_withheld -= 1;
        let mut ack = self.acknowledge(number, sent_s, config);
        if config.misbehaves() {
            self.misbehave(&mut ack, true, config);
        }
        Some(ack)
    }

    /// A window update, which no packet triggered. It acknowledges what a delayed ACK would.
    #[cold]
    fn update_window(&mut self, config: &TcpConfig) -> AckSegment {
        let held = self.delayed_ack.as_deref_mut().filter(|delayed| delayed.held.is_some());
        if let Some(delayed) = held {
            (delayed.deadline_s, delayed.acks_withheld) = (NEVER, delayed.acks_withheld - 1);
        } else {
            self.offered.iter_mut().for_each(|offered| offered.updates += 1);
        }
        self.acknowledge(self.last_arrived(), NEVER, config)
    }

    /// Changes an ACK into that of a receiver that misbehaves.
    #[cold]
    fn misbehave(&mut self, ack: &mut AckSegment, is_ahead: bool, config: &TcpConfig) {
        let misbehavior = self.misbehavior.get_or_insert_default();
        misbehavior.on_ack(ack, self.highest_received, is_ahead, config);
    }

    /// The ACKs that ACK division puts before the last one: the highest packet acknowledged as a
    /// whole, and whether a part of the next one is, too.
    pub fn acks_of_parts(&self, config: &TcpConfig) -> impl Iterator<Item = (i64, bool)> + use<> {
        let misbehavior = self.misbehavior.as_deref();
        misbehavior.map(|misbehavior| misbehavior.acks_of_parts(config)).into_iter().flatten()
    }

    /// When the timer expires and when it was armed, seconds; [`NEVER`] if it is not.
    fn timer_s(&self) -> (f64, f64) {
        let for_ack = self.ack_timer_s();
        match &self.offered {
            Some(offered) if offered.deadline_s() < for_ack.0 => {
                (offered.deadline_s(), offered.armed_at_s())
            }
            _ => for_ack,
        }
    }

    /// The same for a delayed ACK or for the SYN-ACK.
    fn ack_timer_s(&self) -> (f64, f64) {
        let own =
            self.schedule.as_deref().map(|schedule| (schedule.deadline_s(), schedule.armed_at_s));
        if let Some(own) = own.filter(|own| own.0 < NEVER) {
            return own;
        }
        let delayed_ack =
            self.delayed_ack.as_ref().filter(|delayed_ack| delayed_ack.held.is_some());
        match (delayed_ack, &self.syn_ack) {
            (Some(delayed_ack), _) => (delayed_ack.deadline_s, delayed_ack.armed_at_s),
            (None, Some(syn_ack)) => (syn_ack.deadline_s, syn_ack.armed_at_s),
            (None, None) => (NEVER, 0.0),
        }
    }

    /// When the timer expires, or [`NEVER`].
    pub fn deadline_s(&self) -> f64 {
        self.timer_s().0
    }

    /// When the timer was armed, seconds.
    pub fn armed_at_s(&self) -> f64 {
        self.timer_s().1
    }

    /// Data packets that arrived and got no ACK of their own.
    pub fn acks_withheld(&self) -> u64 {
        let schedule = self.schedule.as_ref().map_or(0, |schedule| schedule.withheld);
        schedule + self.delayed_ack.as_ref().map_or(0, |delayed_ack| delayed_ack.acks_withheld)
    }

    /// ACKs that no data packet triggered: those that ACK division added, SYN-ACKs that the timer
    /// repeated, and those that only offered a larger window.
    pub fn extra_acks(&self) -> u64 {
        let divided = self.misbehavior.as_ref().map_or(0, |misbehavior| misbehavior.extra_acks);
        let updates = self.offered.as_ref().map_or(0, |offered| offered.updates);
        divided + u64::from(self.syn_acks_repeated + self.earlier_acks + updates)
    }

    /// Records the packet; returns whether it is new.
    fn accept(&mut self, number: i64) -> bool {
        let in_order = number == self.rcv_nxt;
        self.highest_received = self.highest_received.max(number);
        if in_order && self.highest_received == number {
            self.rcv_nxt += 1;
            return true;
        }
        if number < self.rcv_nxt {
            return false;
        }
        self.has_gap = true;
        let out_of_order = self.out_of_order.get_or_insert_with(Box::default);
        out_of_order.received.advance(self.rcv_nxt);
        let new = out_of_order.received.insert(number);
        if in_order {
            self.rcv_nxt = out_of_order.received.first_missing(number);
            out_of_order.received.advance(self.rcv_nxt);
        }
        new
    }

    fn acknowledge(&mut self, number: i64, sent_s: f64, config: &TcpConfig) -> AckSegment {
        let ack = self.rcv_nxt - 1;
        self.last_ack_sent = ack;
        self.offered.iter_mut().for_each(|offered| offered.offer());
        // RFC 3168 section 6.1.3, ns-2 `TcpSink::ack`: ECE reports a mark on either packet of a
        // delayed ACK.
        let held = self.delayed_ack.as_mut().and_then(|delayed_ack| delayed_ack.held.take());
        let ece = self.echo == EcnEcho::ECE || held.is_some_and(|held| held.ce);
        let agrees = config.ecn.ecn
            && config.quirks.ns2_ecn
            && (number == 0 || held.is_some_and(|held| held.number == 0));
        if let Some(out_of_order) = &mut self.out_of_order {
            out_of_order.with_duplicate = None;
        }
        let mut blocks = 0;
        if self.sack && self.has_gap && config.receiver.optimistic_acks == 0 {
            blocks = self.update_sack_blocks(number, ack, config.segment.max_sack_blocks as usize);
        }
        let size_bytes = config.ack_wire_size() + config.sack_size(blocks);
        self.has_gap &= ack < self.highest_received;
        if !self.has_gap
            && let Some(out_of_order) = &mut self.out_of_order
        {
            out_of_order.received.clear();
            out_of_order.blocks = SackBlocks::default();
        }
        // A SYN-ACK has the options of a SYN.
        let is_syn_ack = self.schedule.is_some() && ack == 0 && config.handshake.syn;
        let size_bytes = if is_syn_ack && self.highest_received == 0 {
            config.segment.syn_size
        } else {
            size_bytes
        };
        let mut segment =
            AckSegment { ack, sent_s, echo_s: self.echo_s, size_bytes, echo: self.echo };
        if let Some(counter) = &mut self.ce_counter {
            counter.report(&mut segment, blocks, config);
        } else {
            segment.echo = EcnEcho::ece(ece || agrees);
            self.echo = EcnEcho::ece(ece && config.ecn.ecn_feedback != EcnFeedback::ExactEce);
        }
        segment
    }

    /// The SACK blocks of the last ACK, if it has any.
    #[inline(always)]
    pub fn sack_blocks(&self) -> Option<&SackBlocks> {
        if !self.has_gap {
            return None;
        }
        self.out_of_order
            .as_deref()
            .map(|out_of_order| {
                out_of_order.with_duplicate.as_ref().unwrap_or(&out_of_order.blocks)
            })
            .filter(|blocks| !blocks.is_empty())
    }

    /// Puts a DSACK before the blocks of the last ACK (RFC 2883 section 4); returns how many blocks
    /// there are.
    #[cold]
    #[inline(never)]
    fn report_duplicate(&mut self, number: i64, most: usize) -> u32 {
        // The next packet takes the slow path, which removes the DSACK.
        self.has_gap = true;
        let out_of_order = self.out_of_order.get_or_insert_with(Box::default);
        let mut blocks = out_of_order.blocks;
        blocks.push_front((number, number + 1), most.min(SackBlocks::MAX));
        out_of_order.with_duplicate = Some(blocks);
        blocks.as_slice().len() as u32
    }

    /// Updates the SACK blocks and returns their number. RFC 2018 section 4: first the block of the
    /// packet just received, then the most recent others that it does not cover.
    fn update_sack_blocks(&mut self, number: i64, ack: i64, most: usize) -> u32 {
        let Some(out_of_order) = &mut self.out_of_order else { return 0 };
        let most = most.min(SackBlocks::MAX);
        if ack >= self.highest_received || most == 0 {
            out_of_order.blocks = SackBlocks::default();
            return 0;
        }
        // Mostly the packet follows the one that arrived last.
        if number == self.highest_received && out_of_order.blocks.extend_first(number) {
            return out_of_order.blocks.as_slice().len() as u32;
        }
        let right =
            out_of_order.received.first_missing(number.max(ack + 1)).min(self.highest_received + 1);
        let recent = if number > ack {
            (out_of_order.received.run_start(number), right)
        } else {
            (0, right.max(ack + 1))
        };
        let mut index = 0;
        while let Some(&old) = out_of_order.blocks.as_slice().get(index) {
            if recent.0 <= old.0 && recent.1 >= old.1 {
                out_of_order.blocks.remove(index);
            } else {
                index += 1;
            }
        }
        if number > ack {
            out_of_order.blocks.push_front(recent, most);
        }
        out_of_order.blocks.as_slice().len() as u32
    }
}
