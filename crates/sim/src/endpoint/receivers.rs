//! Receivers of all flows, and what they have received.

use crate::endpoint::multipath::{MultipathConnection, ReceivingSubflow};
use crate::endpoint::tcp::{ReceiverEndpoint, SlotLosses, ack_options};
use crate::endpoint::transfer::Transfer;
use crate::id::FlowId;
use crate::measure::trace::{PacketEvent, Tracer, row};
use crate::measure::window::MeasurementWindow;
use crate::packet::{Flags, OptionStore, Packet};
use cwndlab_tcp::{AckSegment, TcpConfig};
use std::sync::Arc;

/// Receivers, and what they count together.
#[derive(Debug)]
pub struct Receivers {
    /// Receivers of the listed flows, then those of the slots of arriving flows.
    pub list: Vec<ReceiverEndpoint>,
    /// Settings of the endpoints.
    pub config: Arc<[TcpConfig]>,
    /// Flow number of the first slot for arriving flows.
    pub first_slot: usize,
    /// Losses of each slot.
    pub slot_losses: Vec<SlotLosses>,
    /// Measurement window.
    pub window: MeasurementWindow,
    /// Length of the bins of goodput, seconds.
    pub bin_s: f64,
    /// Data packets delivered to receivers.
    pub delivered: u64,
    /// ACKs of a receiver that divides them, to be sent now.
    pub divided_acks: Vec<Packet>,
    /// Completed transfers.
    pub transfers: Vec<Transfer>,
    /// Connections over several paths.
    pub connections: Vec<MultipathConnection>,
}

impl Receivers {
    /// No receivers.
    pub fn new(window: MeasurementWindow, bin_s: f64) -> Self {
        Self {
            list: Vec::new(),
            config: Arc::from([]),
            first_slot: 0,
            slot_losses: Vec::new(),
            window,
            bin_s,
            delivered: 0,
            divided_acks: Vec::new(),
            transfers: Vec::new(),
            connections: Vec::new(),
        }
    }

    /// A packet reaches a receiver. Returns the ACK that it sends at once, if any; several are put
    /// into `divided_acks`.
    #[inline(never)]
    pub fn deliver<T: Tracer>(
        &mut self,
        flow: FlowId,
        packet: &Packet,
        trace: &mut T,
        options: &mut OptionStore,
    ) -> Option<Packet> {
        let sink = self.list.get_mut(flow.index())?;
        let config = &self.config[sink.config as usize];
        self.delivered += 1;
        let rcv_nxt_before = sink.receiver.rcv_nxt();
        let (is_new, ack) = sink.receive(packet, config, &self.window, self.bin_s);
        if let Some(frames) = &mut sink.frames {
            let rcv_nxt = sink.receiver.rcv_nxt();
            while let Some(frame) = frames.take_arrived(rcv_nxt, packet.at_s) {
                self.transfers.push(frame);
            }
        }
        if T::ON {
            if is_new {
                let payload_bytes = u32::from(packet.size_bytes) - config.wire_size_of(0);
                trace.goodput(packet.at_s, flow, u64::from(payload_bytes) * 8);
            }
            trace.carried(packet.at_s, flow, u64::from(packet.size_bytes) * 8);
            trace.packet(row(PacketEvent::Receive, flow, packet));
        }
        if sink.subflow.is_some() {
            self.receive_data(flow, rcv_nxt_before, packet.at_s);
            return self.answer(flow, packet, ack?, options);
        }
        let ack = ack?;
        if config.receiver.ack_division > 1 || sink.receiver.has_earlier() {
            return self.answer(flow, packet, ack, options);
        }
        Some(answer_to(packet, &ack, sink, config, options))
    }

    /// The answer to a data packet where it may be several ACKs, or one with a DATA_ACK.
    #[inline(never)]
    fn answer(
        &mut self,
        flow: FlowId,
        packet: &Packet,
        ack: AckSegment,
        options: &mut OptionStore,
    ) -> Option<Packet> {
        let sink = self.list.get_mut(flow.index())?;
        let config = &self.config[sink.config as usize];
        let earlier = sink.receiver.take_earlier();
        if config.receiver.ack_division > 1 {
            self.divide_answer(flow, packet, &ack, options);
            return None;
        }
        let last = answer_to(packet, &ack, sink, config, options);
        let Some(earlier) = earlier else { return Some(last) };
        let first = Packet {
            number: earlier.ack,
            flags: packet.flags.of_ack(earlier.echo),
            options: options.repeat(last.options, &earlier),
            ..last
        };
        self.divided_acks.extend([first, last]);
        None
    }

    /// The packets that a subflow has in order now, and had not before, go to its connection.
    #[inline(never)]
    fn receive_data(&mut self, flow: FlowId, rcv_nxt_before: i64, at_s: f64) {
        let Self { list, connections, window, .. } = self;
        let sink = &list[flow.index()];
        let (Some(subflow), end) = (&sink.subflow, sink.receiver.rcv_nxt()) else { return };
        let ReceivingSubflow { id, data_ack } = **subflow;
        if end == rcv_nxt_before {
            return;
        }
        let connection = &mut connections[id.connection as usize];
        let arrived = (rcv_nxt_before, end);
        let expected = connection.receive(id.number as usize, arrived, at_s, window);
        if data_ack.is_some_and(|data_ack| data_ack < expected) {
            for other in &connection.subflows {
                let sibling = list[other.flow.index()].subflow.as_mut();
                sibling.into_iter().for_each(|sibling| sibling.data_ack = Some(expected));
            }
        }
    }

    /// Divides the ACK of a data packet.
    #[cold]
    #[inline(never)]
    fn divide_answer(
        &mut self,
        flow: FlowId,
        packet: &Packet,
        ack: &AckSegment,
        options: &mut OptionStore,
    ) {
        let Some(sink) = self.list.get(flow.index()) else { return };
        let config = &self.config[sink.config as usize];
        let last = answer_to(packet, ack, sink, config, options);
        self.divide_ack(flow, last, ack, options);
    }

    /// Puts the ACKs that a receiver sends in place of `last` into `divided_acks`, which is empty.
    #[cold]
    #[inline(never)]
    pub fn divide_ack(
        &mut self,
        flow: FlowId,
        last: Packet,
        ack: &AckSegment,
        options: &mut OptionStore,
    ) {
        let Some(sink) = self.list.get(flow.index()) else { return };
        let config = &self.config[sink.config as usize];
        for (number, acks_part) in sink.receiver.acks_of_parts(config) {
            self.divided_acks.push(Packet {
                number,
                flags: last.flags.with(Flags::ACKS_PART, acks_part),
                options: ack_options(last.at_s, ack, sink, config, options),
                ..last
            });
        }
        self.divided_acks.push(last);
    }
}

/// The ACK that answers a data packet.
#[inline(always)]
fn answer_to(
    packet: &Packet,
    ack: &AckSegment,
    sink: &ReceiverEndpoint,
    config: &TcpConfig,
    options: &mut OptionStore,
) -> Packet {
    Packet {
        number: ack.ack,
        size_bytes: ack.size_bytes as u16,
        flags: packet.flags.of_ack(ack.echo),
        options: ack_options(packet.at_s, ack, sink, config, options),
        ..*packet
    }
}
