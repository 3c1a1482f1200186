//! Flow slots: arriving flows start in slots, complete, and release them.

use crate::endpoint::arrivals::{ArrivalGroup, FlowTemplate};
use crate::endpoint::tcp::{ApplicationState, ReceiverEndpoint, SenderEndpoint, SlotLosses};
use crate::endpoint::transfer::{ActiveTransfer, NextTransfer};
use crate::engine::state::Engine;
use crate::event::timers::TimerKind;
use crate::id::FlowId;
use crate::measure::trace::Tracer;
use crate::packet::FlowIndices;
use cwndlab_tcp::{Counters, NEVER, Receiver, Sender};

/// Transfers that are recorded: about 2 GiB.
pub(crate) const MAX_TRANSFERS: usize = 50_000_000;

impl<T: Tracer> Engine<T> {
    /// A flow arrives.
    pub(crate) fn on_arrival(&mut self, index: u32) {
        let now_s = self.now_s;
        // Arrivals at one instant keep the order of their groups.
        self.cause.1 *= 1.0 - f64::from(index) * f64::from(f32::EPSILON);
        let group = &mut self.groups[index as usize];
        let drawn = group.template.packet_size(|| group.packet_sizes.uniform());
        let packet_size = self.config[drawn.config as usize].segment.packet_size;
        let (packets, exchanges) =
            group.connections.next(now_s, packet_size, group.largest_packet_size);
        if let Some(next_time_s) = group.connections.next_time_s(now_s) {
            self.network.stations.arm(next_time_s, TimerKind::FlowArrival, index);
        }
        group.counters.arrived += u64::from(self.network.receivers.window.contains(now_s));
        let flow = match self.reusable_slot(index) {
            Some(flow) => flow,
            None => self.add_slot(index),
        };
        let group = &mut self.groups[index as usize];
        // Copies fields, not the whole template, which would clone its lists for every flow.
        let FlowTemplate { recovery, timer_phase_s, base_rtt_s, .. } = group.template;
        let rule = group.template.rule.clone();
        let base_rtt_s = base_rtt_s + self.draw_delays(index, flow);
        let config = &self.config[drawn.config as usize];
        let endpoint = &mut self.senders[flow.index()];
        endpoint.config = drawn.config;
        self.network.receivers.list[flow.index()].config = drawn.config;
        endpoint.sender.reset(rule, recovery, Some(packets), timer_phase_s, config);
        endpoint.finish_s = NEVER;
        let transfer = ActiveTransfer {
            group: index,
            start_s: now_s,
            packets,
            base_rtt_s,
            bottleneck_tx_s: drawn.bottleneck_tx_s,
            next: exchanges.map(NextTransfer::Exchanges),
            is_truncated: false,
        };
        match &mut endpoint.app {
            Some(app) => app.transfer = Some(transfer),
            none => *none = ApplicationState::of(&endpoint.sender, NEVER, Some(transfer), None),
        }
        for sums in [&mut self.counters_at_window_start, &mut self.measured] {
            sums.get_mut(flow.index()).iter_mut().for_each(|sums| **sums = Counters::default());
        }
        self.start(flow);
        self.follow_concurrently(flow);
    }

    /// A slot of the group whose flow has completed and has no packet left in the network.
    fn reusable_slot(&mut self, index: u32) -> Option<FlowId> {
        let now_s = self.now_s;
        let group = &self.groups[index as usize];
        let is_quiet = |&(_, flow): &(u64, FlowId)| {
            let (sender, sink) =
                (&self.senders[flow.index()].sender, &self.network.receivers.list[flow.index()]);
            let losses = &self.network.receivers.slot_losses[flow.index() - self.listed_flows];
            let counters = sender.counters(now_s);
            let data_gone = counters.sent == sink.total_delivered + sink.total_dropped;
            let acks_gone = counters.rtt_count + losses.acks == sink.acks()
                && sink.receiver.deadline_s() == NEVER;
            let long_ago = sender.last_event_s() < now_s && losses.last_s < now_s;
            data_gone && acks_gone && long_ago
        };
        let place = group
            .retired
            .iter()
            .take_while(|slot| f64::from_bits(slot.0) < now_s)
            .position(is_quiet)?;
        let group = &mut self.groups[index as usize];
        let (_, flow) = group.retired.remove(place)?;
        let sink = &mut self.network.receivers.list[flow.index()];
        group.counters.add_received(sink, &self.config);
        sink.reset(group.template.recovery.uses_sack());
        self.network.receivers.slot_losses[flow.index() - self.listed_flows] = SlotLosses::NONE;
        Some(flow)
    }

    /// Adds a slot: sender, receiver and access links.
    fn add_slot(&mut self, index: u32) -> FlowId {
        let template = &self.groups[index as usize].template;
        let flow = FlowId::new(self.senders.len() as u32);
        let network = &mut self.network;
        let first_access_link = network.access_links.len() as u32;
        let indices = FlowIndices { route: template.route, first_access_link };
        template
            .access_links
            .iter()
            .for_each(|&(_, (rate, ..))| network.access_links.push(rate, 0.0));
        network.trace.slot(index);
        network.receivers.slot_losses.push(SlotLosses::NONE);
        let config_index = template.packet_sizes[0].config;
        let config = &self.config[config_index as usize];
        network.receivers.list.push(ReceiverEndpoint::new(
            Receiver::new(template.recovery.uses_sack()),
            config_index,
            (config.ack_wire_size() as u16, template.flags.priority()),
            network.receivers.window.from_s,
        ));
        let mut sender =
            Sender::new(template.rule.clone(), template.recovery, Some(1), 0.0, config);
        sender.set_clock_step(network.access_links.host_jitter.step_s());
        let priority = template.flags.priority();
        self.senders.push(SenderEndpoint::new(sender, indices, config_index, priority));
        flow
    }

    /// Draws the delays of the access links of a flow; returns their sum over a round trip,
    /// seconds.
    fn draw_delays(&mut self, index: u32, flow: FlowId) -> f64 {
        let ArrivalGroup { template, delays, .. } = &mut self.groups[index as usize];
        let first = self.senders[flow.index()].indices.first_access_link as usize;
        let mut drawn: [Option<f64>; 3] = [None; 3];
        let mut sum_s = 0.0;
        for (i, &(which, (_, low_s, high_s))) in template.access_links.iter().enumerate() {
            let delay_s = *drawn[which].get_or_insert_with(|| {
                if low_s == high_s { low_s } else { delays.between(low_s, high_s) }
            });
            self.network.access_links.reset(first + i, delay_s);
            sum_s += delay_s;
        }
        sum_s
    }

    /// When the last packet of a transfer that completes now arrived at the receiver, seconds. One
    /// that acknowledges packets before they arrive may not have it yet: then it is now.
    fn received_s(&self, flow: FlowId) -> f64 {
        let sink = &self.network.receivers.list[flow.index()];
        let is_optimistic = self.config[sink.config as usize].receiver.optimistic_acks > 0;
        if is_optimistic { self.now_s } else { sink.received_s }
    }

    /// A transfer completes: all of its data is acknowledged.
    #[cold]
    #[inline(never)]
    pub(crate) fn on_finished(&mut self, flow: FlowId) {
        let now_s = self.now_s;
        let received_s = self.received_s(flow);
        let endpoint = &mut self.senders[flow.index()];
        let Some(app) = &mut endpoint.app else { return };
        let Some(transfer) = app.transfer.as_mut().filter(|transfer| !transfer.is_truncated) else {
            return;
        };
        let transfers = &mut self.network.receivers.transfers;
        transfers.extend(transfer.complete(now_s, received_s));
        let overflows = transfers.len() > MAX_TRANSFERS;
        self.network.note_overflow(overflows);
        let wait_s = match &mut transfer.next {
            Some(NextTransfer::Response { think, .. }) => Some(think.next()),
            Some(NextTransfer::Segment(player)) => Some(player.receive(now_s)),
            Some(NextTransfer::Object { browser, connection }) => {
                let (browser, connection) = (*browser, *connection);
                return self.on_object_complete(browser, connection, received_s);
            }
            Some(NextTransfer::Exchanges(exchanges)) if !exchanges.left.is_empty() => {
                // The next response of a concurrent connection has its timer already.
                if exchanges.is_concurrent {
                    return;
                }
                exchanges.left.front().map(|next| next.0)
            }
            _ => None,
        };
        if let Some(wait_s) = wait_s {
            let next_time_s = now_s + wait_s;
            if next_time_s < app.stop_s {
                app.request_s = next_time_s;
                self.network.stations.arm(next_time_s, TimerKind::Request, flow.number());
            }
            return;
        }
        let index = transfer.group as usize;
        let added = self.added(flow.index());
        let group = &mut self.groups[index];
        let slot = (now_s.to_bits(), flow);
        // Nearly always the last: senders run ahead of each other a little.
        let place =
            group.retired.iter().rposition(|other| *other < slot).map_or(0, |before| before + 1);
        group.retired.insert(place, slot);
        if self.network.receivers.window.contains(now_s) {
            group.counters.add_sent(&added);
        }
    }

    /// The measurement window ends: adds the counters of flows in progress.
    pub(crate) fn measure_groups(&mut self) {
        for (flow, endpoint) in self.senders.iter().enumerate().skip(self.listed_flows) {
            let Some(transfer) = endpoint.transfer() else { continue };
            let is_between_responses =
                endpoint.app.as_ref().is_some_and(|app| app.request_s < NEVER);
            if endpoint.finish_s >= self.now_s || is_between_responses {
                let added = self.added(flow);
                self.groups[transfer.group as usize].counters.add_sent(&added);
            }
        }
    }
}
