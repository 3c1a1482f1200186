//! Builds listed flows: their endpoints, and the timers that start and stop them.

use super::builder::Builder;
use super::flow_schedule::flow_schedule;
use super::info::{FlowInfos, GroupInfo, StackFlowInfo};
use super::network_plan::FlowGroup;
use super::transfers::TransferPlace;
use crate::endpoint::tcp::{ApplicationState, ReceiverEndpoint, SenderEndpoint};
use crate::engine::state::Engine;
use crate::event::timers::TimerKind;
use crate::measure::trace::Tracer;
use cwndlab_rules::{Arithmetic, WindowRule};
use cwndlab_scenario::Reader;
use cwndlab_tcp::{NEVER, ReaderPlan, Receiver, Recovery, Sender, TcpConfig};
use std::sync::Arc;

/// The loss recovery of flows with a transport stack: its own.
const OF_STACK: &str = "stack";

impl Builder<'_> {
    /// Adds the flows of a group.
    pub(super) fn add_flows<T: Tracer>(
        &mut self,
        group: &FlowGroup,
        config_index: u32,
        transfer_groups: &mut Vec<String>,
        engine: &mut Engine<T>,
        infos: &mut FlowInfos,
    ) {
        let (scenario, spec) = (self.plan.scenario, &group.spec);
        let config = self.plan.tcp_config(spec);
        let arithmetic =
            if config.quirks.ns2_arithmetic { Arithmetic::Ns2 } else { Arithmetic::Plain };
        let rule = spec.rule.0.build(arithmetic);
        let recovery = Recovery::from(spec.recovery);
        infos.group(GroupInfo {
            name: spec.name.clone(),
            rule: spec.rule.0.to_string(),
            recovery: match spec.stack {
                Some(_) => OF_STACK,
                None => recovery.name_under(&config),
            },
            count: spec.count,
            links: group.path.forward.clone(),
            access_bps: self.plan.access_rates(spec).into_iter().flatten().min(),
        });
        let flows = spec.count as usize;
        engine.senders.reserve_exact(flows);
        engine.network.receivers.list.reserve_exact(flows);
        let stages = self.stages(group);
        engine.network.access_links.reserve(flows * stages.1.len());
        infos.base_rtts_s.reserve_exact(flows);
        let video = self.video_law(group, engine.network.receivers.window);
        let first_flow = engine.senders.len() as u32;
        let transfers = spec.has_transfers().then(|| {
            transfer_groups.push(spec.name.clone());
            transfer_groups.len() as u32 - 1
        });
        let reader = spec.reader.as_ref().map(|reader| Arc::new(reader_plan(reader, &config)));
        let subflows = self.plan.add_subflows(group, &config, rule.needs().coupled, engine);
        let drawn_s = |i: u64| self.plan.start_s(spec, i);
        for (i, times) in
            flow_schedule(spec, scenario.duration.seconds(), drawn_s).into_iter().enumerate()
        {
            let name = spec.instance(i as u64);
            let flow = engine.senders.len() as u32;
            let access = self.plan.access(spec, i as u64);
            let indices = self.add_route(group, &stages, &access, engine);
            engine.network.access_links.host_jitter.push(&name);
            let timer_phase_s = self.plan.timer_phase_s(spec, i as u64);
            let base_rtt_s = self.plan.links_rtt_s(&group.path)
                + 2.0 * (access.source.delay_s + access.sink.delay_s);
            // A flow that would stop before it starts never starts.
            let (start_s, stop_s) = times.unwrap_or((NEVER, NEVER));
            let delay_s = access.source.delay_s + access.sink.delay_s;
            let frames = transfers.and_then(|transfers| self.frames(group, transfers, delay_s));
            if let (Some(page), 0) = (&spec.page, i) {
                let browser = self.browser(page, group, (start_s, stop_s));
                engine.add_browser(browser, first_flow);
            }
            let transfer = transfers.map(|transfers| {
                let browser = engine.browsers.len().saturating_sub(1) as u32;
                let place = TransferPlace { group: transfers, browser, number: i as u32 };
                let times = (start_s, stop_s);
                self.first_transfer(group, &name, place, video.as_ref(), times, base_rtt_s)
            });
            let subflow = subflows.map(|first| first.of_flow(i as u32, flow, engine));
            let (packets, short) = match (&transfer, subflow) {
                (Some(transfer), _) => (Some(transfer.packets), None),
                (None, Some((_, packets))) => (packets, None),
                (None, None) => spec.segments(&config),
            };
            let subflow = subflow.map(|(subflow, _)| subflow);
            if spec.stack.is_some() {
                let group = config_index as usize;
                infos.of_stacks.push(StackFlowInfo { flow, group, start_s, stop_s });
            } else if start_s < NEVER && spec.page.is_none() {
                engine.network.stations.arm(start_s, TimerKind::FlowStart, flow);
            }
            if stop_s < NEVER && spec.stack.is_none() {
                engine.network.stations.arm(stop_s, TimerKind::AppStop, flow);
            }
            let rule =
                if rule.is_stateless() { rule.clone() } else { spec.rule.0.build(arithmetic) };
            let mut sender = Sender::new(rule, recovery, packets, timer_phase_s, &config);
            sender.set_short_packet(short);
            sender.set_clock_step(scenario.host_clock.seconds());
            let mut receiver = Receiver::new(recovery.uses_sack());
            receiver.set_short_packet(short);
            if let Some(reader) = &reader {
                receiver.set_reader(Arc::clone(reader), config.handshake.syn.into());
                if !config.handshake.syn {
                    sender.expect_window(reader.buffer_at(start_s));
                }
            }
            sender.count_limits();
            let app = ApplicationState::of(&sender, stop_s, transfer, subflow.map(|own| own.id));
            engine.senders.push(SenderEndpoint {
                app,
                ..SenderEndpoint::new(sender, indices, config_index, spec.priority)
            });
            let mut receiver = ReceiverEndpoint::new(
                receiver,
                config_index,
                (config.ack_wire_size() as u16, spec.priority),
                engine.network.receivers.window.from_s,
            );
            if let Some(subflow) = subflow {
                receiver.join(subflow);
            }
            if let Some(frames) = frames {
                receiver.expect_frames(frames);
            }
            engine.network.receivers.list.push(receiver);
            infos.base_rtts_s.push(base_rtt_s);
            if scenario.trace.account {
                infos.forward_delays_s.push(self.plan.forward_delay_s(&group.path) + delay_s);
            }
        }
    }
}

/// A reader in packets of these settings: no buffer is larger than `window`.
fn reader_plan(reader: &Reader, config: &TcpConfig) -> ReaderPlan {
    let most = config.limits.window as u64;
    let packet_bits = 8.0 * f64::from(config.segment.packet_size);
    let buffer = reader.buffers().into_iter();
    let rate = reader.rates().into_iter();
    ReaderPlan {
        buffer: buffer.map(|(from_s, packets)| (from_s, packets.min(most) as u32)).collect(),
        rate: rate.map(|(from_s, bit_s)| (from_s, bit_s / packet_bits)).collect(),
    }
}
