//! What stands at the ends of routes: receivers, sinks of cross traffic, external endpoints.

use crate::endpoint::cross_traffic::CrossSink;
use crate::endpoint::external::{ExternalEndpoints, Fate};
use crate::endpoint::tcp::{ReceiverEndpoint, SlotLosses, ack_options};
use crate::endpoint::transfer::Transfer;
use crate::measure::trace::{PacketEvent, Tracer, row};
use crate::measure::window::MeasurementWindow;
use crate::packet::{CROSS, Flags, OptionStore, Packet};
use cwndlab_tcp::{AckSegment, TcpConfig};
use std::sync::Arc;

/// The ends of all routes.
#[derive(Debug)]
pub struct Sinks {
    /// Receivers of the listed flows, then those of the slots of arriving flows.
    pub receivers: Vec<ReceiverEndpoint>,
    /// TcpConfig of the endpoints.
    pub config: Arc<[TcpConfig]>,
    /// Flow number of the first slot for arriving flows.
    pub first_slot: usize,
    /// Losses of each slot.
    pub slot_losses: Vec<SlotLosses>,
    /// Sinks of cross traffic, by number of the source.
    pub cross: Vec<CrossSink>,
    /// Endpoints outside the simulation, which then has no receivers.
    pub external: Option<ExternalEndpoints>,
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
}

impl Sinks {
    /// No endpoints.
    pub fn new(window: MeasurementWindow, bin_s: f64) -> Self {
        Self {
            receivers: Vec::new(),
            config: Arc::from([]),
            first_slot: 0,
            slot_losses: Vec::new(),
            cross: Vec::new(),
            external: None,
            window,
            bin_s,
            delivered: 0,
            divided_acks: Vec::new(),
            transfers: Vec::new(),
        }
    }

    /// A packet reaches a receiver or the end of its route. Returns the ACK that the receiver sends
    /// at once, if any; several are put into `divided_acks`.
    #[inline(never)]
    pub fn deliver<T: Tracer>(
        &mut self,
        flow: u32,
        packet: &Packet,
        trace: &mut T,
        options: &mut OptionStore,
    ) -> Option<Packet> {
        let Some(sink) = self.receivers.get_mut(flow as usize) else {
            self.leave(flow, false, packet, trace);
            return None;
        };
        let config = &self.config[sink.config as usize];
        self.delivered += 1;
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
        let ack = ack?;
        if config.receiver.ack_division > 1 {
            self.divide_answer(flow, packet, &ack, options);
            return None;
        }
        Some(Packet {
            number: ack.ack,
            size_bytes: ack.size_bytes as u16,
            flags: packet.flags.of_ack(ack.echo),
            options: ack_options(&ack, &sink.receiver, options),
            ..*packet
        })
    }

    /// Divides the ACK of a data packet.
    #[cold]
    #[inline(never)]
    fn divide_answer(
        &mut self,
        flow: u32,
        packet: &Packet,
        ack: &AckSegment,
        options: &mut OptionStore,
    ) {
        let Some(sink) = self.receivers.get(flow as usize) else { return };
        let last = Packet {
            number: ack.ack,
            size_bytes: ack.size_bytes as u16,
            flags: packet.flags.of_ack(ack.echo),
            options: ack_options(ack, &sink.receiver, options),
            ..*packet
        };
        self.divide_ack(flow, last, ack, options);
    }

    /// Puts the ACKs that a receiver sends in place of `last` into `divided_acks`, which is empty.
    #[cold]
    #[inline(never)]
    pub fn divide_ack(
        &mut self,
        flow: u32,
        last: Packet,
        ack: &AckSegment,
        options: &mut OptionStore,
    ) {
        let Some(sink) = self.receivers.get(flow as usize) else { return };
        let config = &self.config[sink.config as usize];
        for (number, acks_part) in sink.receiver.acks_of_parts(config) {
            self.divided_acks.push(Packet {
                number,
                flags: last.flags.with(Flags::ACKS_PART, acks_part),
                options: ack_options(ack, &sink.receiver, options),
                ..last
            });
        }
        self.divided_acks.push(last);
    }

    /// A packet of cross traffic reaches its sink, or one from outside the simulation leaves it, in
    /// the reverse direction at a source.
    pub fn leave<T: Tracer>(&mut self, flow: u32, is_source: bool, packet: &Packet, trace: &mut T) {
        let &Packet { at_s, size_bytes, .. } = packet;
        if flow >= CROSS {
            self.cross[(flow & !CROSS) as usize].deliver(at_s, size_bytes, &self.window);
            if T::ON {
                trace.carried(at_s, flow, u64::from(size_bytes) * 8);
            }
        } else if let Some(external) = &mut self.external {
            external.leave(flow, is_source, packet, Fate::Delivered);
        }
    }
}
