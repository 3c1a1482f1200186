//! TCP endpoints of a flow: sender and receiver with their per-flow state and counters.

use crate::endpoint::multipath::{ReceivingSubflow, SubflowId};
use crate::endpoint::transfer::{ActiveTransfer, PendingFrames};
use crate::measure::goodput_bins::GoodputBins;
use crate::measure::trace_hash::TraceHash;
use crate::measure::window::MeasurementWindow;
use crate::packet::{AckOptions, Flags, FlowIndices, OptionStore, Packet};
use cwndlab_tcp::{
    AckSegment, EcnEcho, NEVER, ReceivedData, Receiver, Sender, TcpConfig, timestamp_ms,
};

/// The sending endpoint of a flow.
#[derive(Clone, Debug)]
pub struct SenderEndpoint {
    /// TCP sender.
    pub sender: Sender,
    /// Indices of the flow in the tables of the network.
    pub indices: FlowIndices,
    /// Index of its settings.
    pub config: u32,
    /// Header bits of its packets: the priority.
    pub flags: Flags,
    /// Timestamp of the last ACK, which its packets echo, milliseconds; 0 if the receiver needs
    /// none.
    pub echoed_ms: u32,
    /// Earliest pending entry of its retransmission timer, seconds.
    pub rto_entry_s: f64,
    /// Hash of the segments that it sent.
    pub hash: TraceHash,
    /// Completion time (all data acknowledged), seconds, or [`NEVER`].
    pub finish_s: f64,
    /// Application events and pacing; none for a sender that sends without end and is not paced.
    pub app: Option<Box<ApplicationState>>,
}

/// Application schedule and pacing timer of a sender, boxed because flows of profiles without
/// pacing, whose rules do not pace either, need none.
#[derive(Clone, Debug)]
pub struct ApplicationState {
    /// When the application stops, seconds.
    pub stop_s: f64,
    /// When the next request arrives, seconds.
    pub request_s: f64,
    /// Earliest pending entry of the pacing timer, seconds.
    pub pacing_entry_s: f64,
    /// The transfer in progress; none for a sender without end.
    pub transfer: Option<ActiveTransfer>,
    /// Which subflow of a connection it is.
    pub subflow: Option<SubflowId>,
}

impl ApplicationState {
    /// State of a sender with this stop time, transfer and place in a connection; none if nothing
    /// needs to be kept.
    pub fn of(
        sender: &Sender,
        stop_s: f64,
        transfer: Option<ActiveTransfer>,
        subflow: Option<SubflowId>,
    ) -> Option<Box<Self>> {
        let has_subject = transfer.is_some() || subflow.is_some();
        let (request_s, pacing_entry_s) = (NEVER, NEVER);
        (stop_s < NEVER || has_subject || sender.is_paced())
            .then(|| Box::new(Self { stop_s, request_s, pacing_entry_s, transfer, subflow }))
    }
}

impl SenderEndpoint {
    /// A sender that has not started, without application events; `priority`: of its packets.
    pub fn new(sender: Sender, indices: FlowIndices, config: u32, priority: u8) -> Self {
        Self {
            sender,
            indices,
            config,
            flags: Flags::of_priority(priority),
            echoed_ms: 0,
            rto_entry_s: NEVER,
            hash: TraceHash::default(),
            finish_s: NEVER,
            app: None,
        }
    }

    /// The transfer in progress; none for a sender without end.
    pub fn transfer(&self) -> Option<&ActiveTransfer> {
        self.app.as_ref()?.transfer.as_ref()
    }

    /// Time of its first timer, seconds.
    #[inline(always)]
    pub fn first_timer_s(&self) -> f64 {
        let deadline_s = self.sender.deadline_s();
        match &self.app {
            None => deadline_s,
            Some(app) => {
                let pacing_s = self.sender.pacing_deadline_s();
                deadline_s.min(pacing_s).min(app.request_s).min(app.stop_s)
            }
        }
    }

    /// Whether the last data was acknowledged just now.
    pub fn is_over(&self) -> bool {
        self.finish_s == NEVER && self.sender.deadline_s() == NEVER && self.sender.is_finished()
    }

    /// Whether all data is acknowledged and no request will bring more.
    pub fn has_finished(&self) -> bool {
        let awaits_more = |app: &ApplicationState| {
            app.request_s < NEVER || app.transfer.as_ref().is_some_and(ActiveTransfer::is_object)
        };
        self.finish_s < NEVER && !self.app.as_deref().is_some_and(awaits_more)
    }

    /// Completion time (all data acknowledged), seconds.
    pub fn finish_s(&self) -> Option<f64> {
        Some(self.finish_s).filter(|&finish_s| finish_s < NEVER)
    }
}

/// The receiving endpoint of a flow. Counters named `total_` run from start to end, the others over
/// the measurement window.
#[derive(Clone, Debug)]
pub struct ReceiverEndpoint {
    /// TCP receiver.
    pub receiver: Receiver,
    /// Index of its settings.
    pub config: u32,
    /// Size of an ACK without options on the wire, bytes.
    pub ack_bytes: u16,
    /// Priority of its ACKs.
    pub priority: u8,
    /// Earliest pending entry of its timer, seconds.
    pub timer_entry_s: f64,
    /// When the last new data packet arrived, seconds: once all have, the completion at the
    /// receiver.
    pub received_s: f64,
    /// New data packets received.
    pub delivered: u64,
    /// Bytes that the short one of them lacks to a full one.
    pub missing_bytes: u32,
    /// Bytes of data packets received, duplicates and the SYN included.
    pub arrived_bytes: u64,
    /// Data packets received with a mark (CE).
    pub marked: u64,
    /// Data packets dropped in the network.
    pub dropped: u64,
    /// Data packets received, duplicates included.
    pub total_delivered: u64,
    /// Data packets dropped in the network.
    pub total_dropped: u64,
    /// Data packets in flight at the end of the run.
    pub in_flight: u32,
    /// Goodput per bin.
    pub bins: GoodputBins,
    /// Media frames on their way here.
    pub frames: Option<Box<PendingFrames>>,
    /// What it knows of its connection, if it is of a subflow.
    pub subflow: Option<Box<ReceivingSubflow>>,
}

impl ReceiverEndpoint {
    /// A receiver that has received nothing; the measurement window starts at `from_s`.
    pub fn new(
        receiver: Receiver,
        config: u32,
        (ack_bytes, priority): (u16, u8),
        from_s: f64,
    ) -> Self {
        Self {
            receiver,
            config,
            ack_bytes,
            priority,
            timer_entry_s: NEVER,
            received_s: 0.0,
            delivered: 0,
            missing_bytes: 0,
            arrived_bytes: 0,
            marked: 0,
            dropped: 0,
            total_delivered: 0,
            total_dropped: 0,
            in_flight: 0,
            bins: GoodputBins::new(from_s),
            frames: None,
            subflow: None,
        }
    }

    /// Media frames will come.
    pub fn expect_frames(&mut self, frames: PendingFrames) {
        self.receiver.observe();
        self.frames = Some(Box::new(frames));
    }

    /// It is of a subflow: its connection puts what it receives in order.
    pub fn join(&mut self, subflow: ReceivingSubflow) {
        self.receiver.observe();
        self.subflow = Some(Box::new(subflow));
    }

    /// Resets the receiver for another flow in the same slot. The bins go on with time.
    pub fn reset(&mut self, sack: bool) {
        let mut receiver = std::mem::replace(&mut self.receiver, Receiver::new(sack));
        receiver.reset(sack);
        let bins = self.bins.of_another_flow();
        let (timer_entry_s, own) = (self.timer_entry_s, (self.ack_bytes, self.priority));
        *self = Self { bins, timer_entry_s, ..Self::new(receiver, self.config, own, 0.0) };
    }

    /// Payload of the new data packets received, bytes.
    pub fn delivered_bytes(&self, config: &TcpConfig) -> u64 {
        self.delivered * u64::from(config.segment.packet_size) - u64::from(self.missing_bytes)
    }

    /// ACKs sent.
    pub fn acks(&self) -> u64 {
        self.total_delivered - self.receiver.acks_withheld() + self.receiver.extra_acks()
    }
}

/// Losses of a slot, from which it follows when all packets of its flow have left the network.
#[derive(Clone, Copy, Debug)]
pub struct SlotLosses {
    /// ACKs dropped.
    pub acks: u64,
    /// Time of the last drop, seconds.
    pub last_s: f64,
}

impl SlotLosses {
    /// No losses.
    pub const NONE: Self = Self { acks: 0, last_s: f64::NEG_INFINITY };
}

impl ReceiverEndpoint {
    /// A data packet reaches the receiver, in order and without anything to note. Returns the size
    /// of its ACK, bytes, and ECN feedback; none if the packet needs [`ReceiverEndpoint::receive`].
    #[inline(always)]
    pub fn receive_in_order(
        &mut self,
        at_s: f64,
        number: i64,
        sent_s: f64,
        size_bytes: u16,
        flags: Flags,
    ) -> Option<(u16, EcnEcho)> {
        if !self.receiver.is_in_order(number, sent_s) || flags.is_ce() || flags.has(Flags::CWR) {
            return None;
        }
        let inside = u64::from(self.bins.is_inside_as_before(at_s)?);
        self.received_s = at_s;
        self.total_delivered += 1;
        self.delivered += inside;
        self.arrived_bytes += inside * u64::from(size_bytes);
        Some((self.ack_bytes, self.receiver.acknowledge_in_order(number, sent_s)))
    }

    /// A data packet reaches the receiver. Returns whether it is new, and the ACK to send now, if
    /// any.
    pub fn receive(
        &mut self,
        packet: &Packet,
        config: &TcpConfig,
        window: &MeasurementWindow,
        bin_s: f64,
    ) -> (bool, Option<AckSegment>) {
        let &Packet { at_s, number, sent_s, size_bytes, flags, options, .. } = packet;
        let marked = flags.is_ce();
        let data = ReceivedData {
            number,
            sent_s,
            ect: flags.is_ect(),
            ce: marked,
            cwr: flags.has(Flags::CWR),
            push: flags.has(Flags::PUSH),
            echoed_ms: options,
        };
        self.total_delivered += 1;
        if self.receiver.is_window_probe(number, size_bytes.into(), config) {
            return (false, Some(self.receiver.on_window_probe(at_s, sent_s, config)));
        }
        let (is_new, ack) = self.receiver.on_data(at_s, data, config);
        // A SYN carries no data.
        let is_new = is_new && !(number == 0 && config.handshake.syn);
        if is_new {
            self.received_s = at_s;
        }
        if self.bins.is_inside(at_s, self.delivered, window, bin_s) {
            self.arrived_bytes += u64::from(size_bytes);
            self.marked += u64::from(marked);
            if is_new {
                self.delivered += 1;
                if let Some(payload_bytes) = self.receiver.short_payload_bytes(number) {
                    self.missing_bytes = config.segment.packet_size - payload_bytes;
                }
            }
        }
        (is_new, ack)
    }
}

/// Stores the options of an ACK that leaves at `at_s`, if it carries any; returns their key.
#[inline(always)]
pub fn ack_options(
    at_s: f64,
    ack: &AckSegment,
    sink: &ReceiverEndpoint,
    config: &TcpConfig,
    options: &mut OptionStore,
) -> u32 {
    let receiver = &sink.receiver;
    let data_ack = sink.subflow.as_ref().and_then(|subflow| subflow.data_ack);
    let (blocks, window_bytes) = (receiver.sack_blocks(), receiver.window_bytes(config));
    let is_plain = blocks.is_none() && window_bytes.is_none() && data_ack.is_none();
    if is_plain && ack.echo_s == ack.sent_s && ack.echo.ce_bytes().is_none() {
        return 0;
    }
    options.insert(AckOptions {
        sack: blocks.copied().unwrap_or_default(),
        echo_s: ack.echo_s,
        echo: ack.echo,
        window_bytes,
        data_ack,
        left_ms: timestamp_ms(receiver.clock_s(at_s)),
    })
}
