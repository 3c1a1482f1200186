//! The hosts of flows with endpoints of transport stacks, beside the engine: whichever has the
//! earlier event goes on.
//!
//! The engine runs without lookahead then: up to the time of an event of a host nothing later has
//! happened in the network. All datagrams that arrive at one instant are processed in the order of
//! the engine, then timers in the order of flows, the sender first.

use super::flow::{RECEIVER, SENDER, StackFlow};
use super::settings::connection;
use crate::build::BuiltNetwork;
use crate::endpoint::external::{ExternalEndpoints, ExternalPacket, Fate, PacketOutcome};
use crate::engine::state::Status;
use crate::id::FlowId;
use crate::measure::trace::Tracer;
use crate::results::{Fairness, FlowIdentity, RunResult};
use cwndlab_scenario::Scenario;
use cwndlab_stack::{Ecn, HEADER_BYTES, Stack};
use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;
use std::sync::Arc;
use std::time::Duration;

/// Events of one end at one instant beyond which it is at fault: it does not move on.
const MOST_AT_ONE_INSTANT: u32 = 100_000;
/// Bytes that datagrams may take beyond which a run stops.
const MOST_BYTES: usize = 2 << 30;

/// The hosts of all flows with endpoints of stacks.
pub struct StackHosts {
    flows: Vec<StackFlow>,
    names: Vec<String>,
    /// Index in `flows` by the number of the flow.
    index_of: BTreeMap<u32, usize>,
    /// Calls that are due: at a time an end of a flow.
    timers: BTreeSet<(Duration, usize, usize)>,
    /// Starts and stops of applications: a time, seconds, in bits that sort like it.
    schedule: BTreeSet<(u64, usize, bool)>,
    /// Datagrams in the network, by token, and tokens that are free.
    datagrams: Vec<Vec<u8>>,
    free: Vec<u32>,
    /// Bytes that they take.
    bytes: usize,
    /// Packets that a host notices later than they arrive, by that time and in order.
    noticed_later: BTreeMap<(u64, u64), PacketOutcome>,
    noticed: u64,
    /// The instant of the last event, and events of it so far.
    instant: (f64, u32),
    fault: Option<StackFault>,
}

/// Why a run with stacks ended early.
#[derive(Clone, Debug)]
pub struct StackFault {
    /// Name of the flow; none for a scenario that the stacks do not accept.
    pub flow: Option<String>,
    /// What is wrong.
    pub why: String,
    /// Simulated time, seconds.
    pub at_s: f64,
}

/// The bits of a time that is not negative sort like it.
fn sortable(at_s: f64) -> u64 {
    at_s.to_bits()
}

impl StackHosts {
    /// The hosts of a network; none if no flow has endpoints of a stack.
    pub fn of<T: Tracer>(
        scenario: &Scenario,
        built: &mut BuiltNetwork<T>,
        stacks: &[Arc<dyn Stack>],
    ) -> Option<Self> {
        let infos = take(&mut built.flows.of_stacks);
        if infos.is_empty() {
            return None;
        }
        let network = &mut built.engine.network;
        let window = (network.receivers.window, network.receivers.bin_s);
        let mut hosts = Self {
            flows: Vec::new(),
            names: Vec::new(),
            index_of: BTreeMap::new(),
            timers: BTreeSet::new(),
            schedule: BTreeSet::new(),
            datagrams: Vec::new(),
            free: Vec::new(),
            bytes: 0,
            noticed_later: BTreeMap::new(),
            noticed: 0,
            instant: (-1.0, 0),
            fault: None,
        };
        let mut held = vec![false; built.engine.senders.len()];
        for info in infos {
            held[info.flow as usize] = true;
            let identity = built.flows.of(info.flow);
            let name = identity.map(|(group, number)| FlowIdentity::new(group, number).name());
            let name = name.unwrap_or_default();
            let base_rtt_s = built.flows.base_rtts_s[info.flow as usize];
            let made = match connection(scenario, &info, base_rtt_s, &name, stacks) {
                Ok(made) => made,
                Err(why) => {
                    hosts.fault.get_or_insert(StackFault { flow: None, why, at_s: 0.0 });
                    continue;
                }
            };
            let spec = &scenario.flows[info.group];
            let config = scenario.tcp_config(&spec.tcp);
            let (index, bytes) = (hosts.flows.len(), spec.transfer_bytes(&config));
            for (at_s, starts) in [(info.start_s, true), (info.stop_s, false)] {
                if at_s.is_finite() {
                    hosts.schedule.insert((sortable(at_s), index, starts));
                }
            }
            hosts.index_of.insert(info.flow, index);
            hosts.flows.push(StackFlow::new(info, made, config.ecn.ecn, bytes, window));
            hosts.names.push(name);
        }
        built.engine.network.external = Some(ExternalEndpoints::of_flows(held));
        Some(hosts)
    }

    /// Why the run ended early.
    pub fn fault(&self) -> Option<&StackFault> {
        self.fault.as_ref()
    }

    /// Whether all data of a flow are acknowledged; none for a flow of other endpoints.
    pub fn has_finished(&self, flow: u64) -> Option<bool> {
        let index = *self.index_of.get(&u32::try_from(flow).ok()?)?;
        Some(self.flows[index].has_finished())
    }

    /// Processes about `events` events, of hosts and of the engine.
    pub fn advance<T: Tracer>(&mut self, built: &mut BuiltNetwork<T>, events: u64) -> Status {
        let end_s = built.engine.network.end_s;
        for _ in 0..events {
            if self.fault.is_some() {
                return Status::StackFailure;
            }
            let next_s = self.next_s(built);
            if next_s >= end_s {
                self.flows.iter_mut().for_each(|flow| {
                    flow.before(end_s, &mut built.engine.network.trace);
                });
                return built.engine.advance_to(end_s);
            }
            let status = self.step(built, next_s);
            if status != Status::Running {
                return status;
            }
            if self.bytes > MOST_BYTES {
                return Status::OutOfMemory;
            }
        }
        Status::Running
    }

    /// Processes all that is due up to `until_s`, this instant included.
    pub fn advance_to<T: Tracer>(&mut self, built: &mut BuiltNetwork<T>, until_s: f64) -> Status {
        while self.next_s(built) <= until_s && self.fault.is_none() {
            let status = self.advance(built, 1);
            if status != Status::Running {
                return status;
            }
        }
        match &self.fault {
            Some(_) => Status::StackFailure,
            None if until_s >= built.engine.network.end_s => self.advance(built, 1),
            None => built.engine.advance_to(until_s),
        }
    }

    /// Time of the next event, seconds; infinite for never.
    fn next_s<T: Tracer>(&self, built: &BuiltNetwork<T>) -> f64 {
        let timer_s = self.timers.first().map(|timer| timer.0.as_secs_f64());
        let application_s = self.schedule.first().map(|event| f64::from_bits(event.0));
        let noticed_s = self.noticed_later.first_key_value().map(|(key, _)| f64::from_bits(key.0));
        [timer_s, application_s, noticed_s]
            .into_iter()
            .flatten()
            .fold(built.engine.network.stations.first_s(), f64::min)
    }

    /// The engine and the hosts process what is due at `now_s`, and nothing is due before.
    fn step<T: Tracer>(&mut self, built: &mut BuiltNetwork<T>, now_s: f64) -> Status {
        let now_s = now_s.max(built.engine.clock_s);
        let status = built.engine.advance_to(now_s);
        if status != Status::Running {
            return status;
        }
        self.instant = match self.instant {
            (last_s, count) if last_s == now_s => (now_s, count + 1),
            _ => (now_s, 0),
        };
        self.fetch(built, now_s);
        let now = Duration::from_secs_f64(now_s);
        while let Some(&(_, index, starts)) =
            self.schedule.first().filter(|event| f64::from_bits(event.0) <= now_s)
        {
            self.schedule.pop_first();
            self.flows[index].before(now_s, &mut built.engine.network.trace);
            match starts {
                true => self.flows[index].start(now),
                false => self.flows[index].stop(),
            }
            self.serve(built, index, SENDER, now, false);
        }
        let due: Vec<_> = self.timers.iter().take_while(|timer| timer.0 <= now).copied().collect();
        for timer in due {
            // What happened to the end before it at this instant may have moved the timer.
            if self.timers.remove(&timer) {
                let (_, index, end) = timer;
                self.flows[index].due[end] = None;
                self.flows[index].before(now_s, &mut built.engine.network.trace);
                self.flows[index].ends[end].on_timeout(now);
                self.serve(built, index, end, now, false);
            }
        }
        Status::Running
    }

    /// Passes packets that have left the network on to their ends.
    fn fetch<T: Tracer>(&mut self, built: &mut BuiltNetwork<T>, now_s: f64) {
        let external = built.engine.network.external.as_mut();
        let mut outcomes =
            external.map(|external| take(&mut external.outcomes)).unwrap_or_default();
        for outcome in outcomes.drain(..) {
            self.noticed += 1;
            self.noticed_later.insert((sortable(outcome.at_s), self.noticed), outcome);
        }
        // Gives the memory back.
        if let Some(external) = &mut built.engine.network.external {
            external.outcomes = outcomes;
        }
        while let Some(entry) = self.noticed_later.first_entry()
            && f64::from_bits(entry.key().0) <= now_s
        {
            let outcome = entry.remove();
            self.on_outcome(built, outcome);
        }
    }

    /// A datagram arrives at its end, or was dropped.
    fn on_outcome<T: Tracer>(&mut self, built: &mut BuiltNetwork<T>, outcome: PacketOutcome) {
        let PacketOutcome { packet, at_s, fate } = outcome;
        let ExternalPacket { token, flow, reverse, ecn, .. } = packet;
        self.free.push(token);
        let Some(&index) = self.index_of.get(&flow) else { return };
        if fate == Fate::Dropped {
            if !reverse {
                self.flows[index].on_dropped(at_s);
            }
            return;
        }
        let datagram = take(&mut self.datagrams[token as usize]);
        let (end, flow) = (if reverse { SENDER } else { RECEIVER }, &mut self.flows[index]);
        let now = Duration::from_secs_f64(at_s);
        flow.before(at_s, &mut built.engine.network.trace);
        if !reverse {
            flow.on_arrived(at_s, ecn == Ecn::Ce);
        }
        flow.ends[end].receive(now, &datagram, ecn);
        self.datagrams[token as usize] = datagram;
        self.serve(built, index, end, now, reverse);
    }

    /// Serves an end after an event: its application reads or writes, and its datagrams leave.
    fn serve<T: Tracer>(
        &mut self,
        built: &mut BuiltNetwork<T>,
        index: usize,
        end: usize,
        now: Duration,
        is_ack: bool,
    ) {
        let now_s = built.engine.clock_s;
        let flow = &mut self.flows[index];
        if end == SENDER {
            flow.write();
        } else {
            let bytes = flow.read(now_s);
            if bytes > 0 {
                built.engine.network.trace.goodput(now_s, FlowId::new(flow.info.flow), bytes * 8);
            }
        }
        let mut sent = 0;
        loop {
            let token = self.free.pop().unwrap_or_else(|| {
                self.datagrams.push(Vec::new());
                self.datagrams.len() as u32 - 1
            });
            let buffer = &mut self.datagrams[token as usize];
            buffer.clear();
            self.bytes -= buffer.capacity();
            let flow = &mut self.flows[index];
            let sent_ecn = flow.ends[end].transmit(now, buffer);
            self.bytes += buffer.capacity();
            let Some(ecn) = sent_ecn else {
                self.free.push(token);
                break;
            };
            let bytes = buffer.len();
            let size_bytes =
                u16::try_from(bytes).ok().and_then(|size| size.checked_add(HEADER_BYTES));
            let Some(size_bytes) = size_bytes else {
                self.free.push(token);
                self.fail(index, now_s, format!("sends a datagram of {bytes} bytes"));
                break;
            };
            let ecn = if flow.has_ecn { ecn } else { Ecn::NotEct };
            let number = flow.info.flow;
            if end == SENDER {
                flow.on_sent(now_s);
            }
            let hash = &mut built.engine.senders[number as usize].hash;
            hash.add(sortable(now_s));
            hash.add(u64::from(size_bytes) << 3 | (ecn as u64) << 1 | end as u64);
            built.engine.inject(ExternalPacket {
                token,
                flow: number,
                number: None,
                reverse: end == RECEIVER,
                size_bytes,
                ecn,
            });
            sent += 1;
            if sent > MOST_AT_ONE_INSTANT {
                self.fail(index, now_s, "sends datagrams without end".into());
                break;
            }
        }
        self.settle(built, index, end, now_s, is_ack);
    }

    /// After an event of an end: when it wants to be called, and whether it has failed.
    fn settle<T: Tracer>(
        &mut self,
        built: &mut BuiltNetwork<T>,
        index: usize,
        end: usize,
        now_s: f64,
        is_ack: bool,
    ) {
        let flow = &mut self.flows[index];
        let due = flow.ends[end].next_timeout();
        if due != flow.due[end] {
            if let Some(before) = flow.due[end] {
                self.timers.remove(&(before, index, end));
            }
            if let Some(due) = due {
                self.timers.insert((due, index, end));
            }
            flow.due[end] = due;
        }
        if end == SENDER {
            flow.after(now_s, is_ack, &mut built.engine.network.trace);
        }
        if let Some(why) = flow.failure() {
            self.fail(index, now_s, why);
        } else if self.instant.1 > MOST_AT_ONE_INSTANT {
            self.fail(index, now_s, "asks for a timeout that has passed, again and again".into());
        }
    }

    fn fail(&mut self, index: usize, at_s: f64, why: String) {
        let flow = Some(self.names[index].clone());
        self.fault.get_or_insert(StackFault { flow, why, at_s });
    }

    /// Completes the result of a run by the flows of stacks.
    pub fn complete<T: Tracer>(&self, built: &BuiltNetwork<T>, result: &mut RunResult) {
        for flow in &self.flows {
            let row = &mut result.flows[flow.info.flow as usize];
            *row = flow.result(built, row);
            result.delivered_packets += flow.arrived();
        }
        result.fairness = Fairness::of(&result.flows);
    }
}
