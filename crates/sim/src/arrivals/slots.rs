//! The engine's part: flows arrive in slots, finish, and answer requests.

use super::{Group, Job, Template, Transfer, whole};
use crate::engine::Engine;
use crate::flow::{Agenda, Bins, Host, Losses, Sink};
use crate::hash::TraceHash;
use crate::scheduler::Scheduler;
use crate::streams::{Pending, Place};
use crate::timers::Kind;
use crate::trace::Trace;
use cwndlab_tcp::{Counters, NEVER, Receiver, Recovery, Sender};

/// Transfers that are kept: about 2 GiB.
const MOST_TRANSFERS: usize = 50_000_000;

impl<S: Scheduler, T: Trace> Engine<S, T> {
    /// A flow arrives.
    pub(crate) fn on_arrival(&mut self, index: u32) {
        let now_s = self.now_s;
        let group = &mut self.groups[index as usize];
        if let Some(next_s) = group.gaps.next_s(now_s) {
            self.transit.timers.push(next_s, Kind::Arrive, index);
        }
        let packets = whole(group.size.next());
        group.tally.arrived += u64::from(self.transit.window.contains(now_s));
        // What of a flow that is over is still in a queue decides which slot is quiet.
        self.transit.catch_up_all(now_s);
        let flow = match self.quiet_slot(index) {
            Some(flow) => flow,
            None => self.add_slot(index),
        };
        let group = &mut self.groups[index as usize];
        // Not the whole of it: lists would be copied for every flow.
        let Template { recovery, phase_s, base_rtt_s, slowest_s, .. } = group.template;
        let rule = group.template.rule.clone();
        let base_rtt_s = base_rtt_s + self.draw_delays(index, flow);
        let knobs = &self.knobs[self.hosts[flow as usize].knobs as usize];
        let host = &mut self.hosts[flow as usize];
        host.sender.reset(rule, recovery, Some(packets), phase_s, knobs);
        (host.armed_s, host.finish_s) = (NEVER, NEVER);
        let job = Job { group: index, began_s: now_s, packets, base_rtt_s, slowest_s, requests: None, is_cut: false };
        match &mut host.agenda {
            Some(agenda) => (agenda.paced_s, agenda.job) = (NEVER, Some(job)),
            none => *none = Agenda::of(&host.sender, NEVER, Some(job)),
        }
        for sums in [&mut self.begun, &mut self.measured] {
            sums.get_mut(flow as usize).iter_mut().for_each(|sums| **sums = Counters::default());
        }
        self.start(flow);
    }

    /// A slot of the group whose flow is over, with nothing of it left in the network.
    fn quiet_slot(&mut self, index: u32) -> Option<u32> {
        let now_s = self.now_s;
        let group = &self.groups[index as usize];
        // What has just ended may have ended ahead of time, and only on this engine's way of looking ahead.
        let is_quiet = |&(_, flow): &(u64, u32)| {
            let (sender, sink) = (&self.hosts[flow as usize].sender, &self.transit.sinks[flow as usize]);
            let losses = &self.transit.slot_losses[flow as usize - self.listed];
            let counters = sender.counters(now_s);
            let data_gone = counters.sent == sink.total_delivered + sink.total_dropped;
            let acks_gone = counters.rtt_count + losses.acks == sink.acks() && sink.receiver.deadline_s() == NEVER;
            let long_ago = sender.last_event_s() < now_s && losses.last_s < now_s;
            data_gone && acks_gone && long_ago
        };
        let place = group.retired.iter().take_while(|slot| f64::from_bits(slot.0) < now_s).position(is_quiet)?;
        let group = &mut self.groups[index as usize];
        let (_, flow) = group.retired.remove(place)?;
        let sink = &mut self.transit.sinks[flow as usize];
        group.tally.add_received(sink);
        sink.renew(group.template.recovery.uses_sack());
        self.transit.slot_losses[flow as usize - self.listed] = Losses::NONE;
        Some(flow)
    }

    /// One more slot: a host, a receiver, pipes and streams.
    fn add_slot(&mut self, index: u32) -> u32 {
        let template = &self.groups[index as usize].template;
        let flow = self.hosts.len() as u32;
        let transit = &mut self.transit;
        let (first_stream, first_pipe) = (transit.streams.all.len() as u32, transit.pipes.len() as u32);
        let place = Place { route: template.route, first_stream, first_pipe };
        for &due in &template.dues {
            transit.streams.all.push(Pending::new(flow, due, place));
        }
        transit.streams.scheduler.grow(transit.streams.all.len());
        template.pipes.iter().for_each(|&(_, (rate, ..))| transit.pipes.push(rate, 0.0));
        transit.trace.slot(index);
        let bins = Bins::new(transit.window.from_s, transit.bin_s);
        transit.slot_losses.push(Losses::NONE);
        transit.sinks.push(new_sink(template.knobs, template.recovery, &bins));
        let knobs = &self.knobs[template.knobs as usize];
        self.hosts.push(Host {
            sender: Sender::new(template.rule.clone(), template.recovery, Some(1), 0.0, knobs),
            place,
            knobs: template.knobs,
            flags: template.flags,
            armed_s: NEVER,
            hash: TraceHash::default(),
            finish_s: NEVER,
            agenda: None,
        });
        flow
    }

    /// Draws the delays of a flow's own links; returns what they add to its round trip, seconds.
    fn draw_delays(&mut self, index: u32, flow: u32) -> f64 {
        let Group { template, delays, .. } = &mut self.groups[index as usize];
        let first = self.hosts[flow as usize].place.first_pipe as usize;
        let mut drawn: [Option<f64>; 3] = [None; 3];
        let mut sum_s = 0.0;
        for (i, &(which, (_, low_s, high_s))) in template.pipes.iter().enumerate() {
            let delay_s = *drawn[which].get_or_insert_with(|| if low_s == high_s { low_s } else { delays.between(low_s, high_s) });
            self.transit.pipes.renew(first + i, delay_s);
            sum_s += delay_s;
        }
        sum_s
    }

    /// Everything that a flow had to send was acknowledged.
    #[cold]
    #[inline(never)]
    pub(crate) fn on_finished(&mut self, flow: u32) {
        let now_s = self.now_s;
        let host = &mut self.hosts[flow as usize];
        let Some(agenda) = &mut host.agenda else { return };
        let Some(job) = agenda.job.as_mut().filter(|job| !job.is_cut) else { return };
        let fct_s = now_s - job.began_s;
        let empty_s = job.base_rtt_s + job.packets as f64 * job.slowest_s;
        self.transfers.push(Transfer { group: job.group, start_s: job.began_s, packets: job.packets, fct_s, slowdown: fct_s / empty_s });
        self.transit.overflowed |= self.transfers.len() > MOST_TRANSFERS;
        if let Some((_, think)) = &mut job.requests {
            let next_s = now_s + think.next();
            if next_s < agenda.stop_s {
                agenda.request_s = next_s;
                self.transit.timers.push(next_s, Kind::Request, flow);
            }
            return;
        }
        let index = job.group as usize;
        let added = self.added(flow as usize);
        let group = &mut self.groups[index];
        let slot = (now_s.to_bits(), flow);
        // Nearly always the last: senders run ahead of each other a little.
        let place = group.retired.iter().rposition(|other| *other < slot).map_or(0, |before| before + 1);
        group.retired.insert(place, slot);
        if self.transit.window.contains(now_s) {
            group.tally.add_sent(&added);
        }
    }

    /// A request reaches the sender: it has the response to send.
    pub(crate) fn on_request(&mut self, flow: u32) {
        let now_s = self.now_s;
        let host = &mut self.hosts[flow as usize];
        host.finish_s = NEVER;
        let Some(agenda) = &mut host.agenda else { return };
        agenda.request_s = NEVER;
        let Some(job) = &mut agenda.job else { return };
        let Some((size, _)) = &mut job.requests else { return };
        let packets = whole(size.next());
        (job.began_s, job.packets) = (now_s, packets);
        self.on_sender(flow, |sender, now_s, knobs, wire| sender.supply(now_s, packets, knobs, wire));
    }

    /// The measuring window ends: what flows did since it began counts.
    pub(crate) fn measure_groups(&mut self) {
        for (flow, host) in self.hosts.iter().enumerate().skip(self.listed) {
            let Some(job) = host.job() else { continue };
            if host.finish_s >= self.now_s {
                let added = self.added(flow);
                self.groups[job.group as usize].tally.add_sent(&added);
            }
        }
    }
}

/// The receiver of a new flow.
fn new_sink(knobs: u32, recovery: Recovery, bins: &Bins) -> Sink {
    Sink::new(Receiver::new(recovery.uses_sack()), knobs, *bins)
}
