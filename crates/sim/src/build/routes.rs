//! Routes: which stages a packet passes, and where it waits for an event.

use super::Builder;
use super::leads::Lead;
use crate::engine::Engine;
use crate::leg::{Head, Leg};
use crate::scheduler::Scheduler;
use crate::streams::{Door, Due, Inbox, Pending, Place};
use crate::trace::Trace;
use crate::transit::{Entry, Route, Stage};

/// A lead is a sum of doubles: this much less of it is certain.
const SAFE: f64 = 1.0 - 1e-6;

impl Builder<'_> {
    /// The route with these stages; flows alike share it.
    pub(super) fn route(&mut self, mut stages: Vec<Stage>, delayed_ack: bool) -> u32 {
        // Routes with and without events at the receiver differ: the key says which.
        let key_end = if delayed_ack { Stage::Sink } else { Stage::Source };
        stages.push(key_end);
        if let Some(&route) = self.route_of.get(&stages) {
            return route;
        }
        let key = stages.clone();
        stages.pop();
        let mut streams = 0;
        let route: Vec<(Stage, Entry)> = stages
            .iter()
            .enumerate()
            .map(|(i, &stage)| {
                let sorted = i > 0 && matches!(stages[i - 1], Stage::Link(link) | Stage::Queue(link) if self.plan.reorders(link));
                let waits = match stage {
                    _ if sorted => true,
                    // Entering the first stage is the sender's own event.
                    _ if i == 0 => false,
                    Stage::Link(link) | Stage::Queue(link) if let Lead::Inbox(inbox) = self.leads[link as usize] => {
                        let before = stages[..i].iter().rfind(|stage| self.shared(**stage));
                        let doors = &mut self.doors[inbox as usize];
                        let door = doors.iter().position(|known| known.as_ref() == before).unwrap_or_else(|| {
                            doors.push(before.copied());
                            doors.len() - 1
                        });
                        return (stage, Entry::Inbox(Door { inbox, door: door as u32 }));
                    }
                    Stage::Link(link) if self.options.look_ahead && matches!(self.leads[link as usize], Lead::InOrder { .. }) => false,
                    Stage::Source => true,
                    Stage::Sink if delayed_ack => true,
                    // A receiver answers as part of the event that brings it a packet, as in ns-2: nothing due at that moment comes between.
                    _ if !self.options.look_ahead && !delayed_ack && stages[i - 1] == Stage::Sink => false,
                    stage => self.shared(stage) || !self.options.look_ahead,
                };
                streams += u32::from(waits);
                let entry = match waits {
                    true if sorted => Entry::Sorted(streams - 1),
                    true => Entry::Stream(streams - 1),
                    false => Entry::AtOnce,
                };
                (stage, entry)
            })
            .collect();
        let sink = stages.iter().position(|stage| *stage == Stage::Sink).unwrap_or_default();
        let ahead_s = self.ahead_s(&route);
        let leg = |first| Leg::new(&route, first, ahead_s == f64::INFINITY).filter(|_| self.options.look_ahead);
        let legs = (0..route.len()).map(leg).collect();
        let head = if self.options.look_ahead { Head::new(&route) } else { None };
        self.routes.push(Route { stages: route, legs, head, sink, ahead_s });
        self.route_of.insert(key, self.routes.len() as u32 - 1);
        self.routes.len() as u32 - 1
    }

    /// How far senders of this route may run ahead. An inbox takes packets in nearly any order, but best in nearly the right one.
    fn ahead_s(&self, stages: &[(Stage, Entry)]) -> f64 {
        match stages.iter().find(|(stage, _)| self.shared(*stage)) {
            _ if !self.options.look_ahead => 0.0,
            Some((_, Entry::AtOnce)) => 0.0,
            Some((Stage::Link(link) | Stage::Queue(link), Entry::Inbox(_))) => self.inbox_leads[*link as usize],
            _ => f64::INFINITY,
        }
    }

    fn shared(&self, stage: Stage) -> bool {
        matches!(stage, Stage::Link(link) | Stage::Queue(link) if self.users[link as usize] > 1)
    }

    /// Gives a flow its streams and its place in the tables.
    pub(super) fn add_streams<S: Scheduler, T: Trace>(&self, route: u32, flow: u32, first_pipe: u32, engine: &mut Engine<S, T>) -> Place {
        let place = Place { route, first_stream: engine.transit.streams.all.len() as u32, first_pipe };
        for due in self.dues(route) {
            engine.transit.streams.all.push(Pending::new(flow, due, place));
        }
        place
    }

    /// What the streams of a flow on this route are due for.
    pub(super) fn dues(&self, route: u32) -> Vec<Due> {
        let Route { stages, ahead_s, .. } = &self.routes[route as usize];
        let due = |(stage, &(kind, entry)): (usize, &(Stage, Entry))| match (kind, entry) {
            (_, Entry::AtOnce | Entry::Inbox(_)) => None,
            // An acknowledgement may still overtake those that wait.
            (Stage::Source, Entry::Sorted(_)) => Some(Due::Ack),
            (Stage::Source, _) if *ahead_s > 0.0 => Some(Due::AckAhead),
            (Stage::Source, _) => Some(Due::Ack),
            _ => Some(Due::Enter(stage as u32)),
        };
        stages.iter().enumerate().filter_map(due).collect()
    }

    /// Gives every link that can have one an inbox.
    pub(super) fn add_inboxes<S: Scheduler, T: Trace>(&mut self, engine: &mut Engine<S, T>) {
        for (link, lead) in self.leads.iter_mut().enumerate() {
            // A queue that owns its packets is never ahead of time: its inbox only saves a stream for each flow.
            let owns = self.plan.owns(link as u32);
            let lead_s = match *lead {
                Lead::Equal(lead_s) => Some(lead_s),
                Lead::InOrder { lead_s, .. } if owns => Some(lead_s),
                _ => None,
            };
            if let Some(lead_s) = lead_s {
                let (inbox, stream) = (engine.transit.inboxes.len() as u32, engine.transit.streams.all.len() as u32);
                engine.transit.inboxes.push(Inbox::new(if owns { 0.0 } else { (lead_s * SAFE - self.behind_s[link]).max(0.0) }, stream));
                let place = Place { route: 0, first_stream: stream, first_pipe: 0 };
                engine.transit.streams.all.push(Pending::new(0, Due::Batch(inbox), place));
                self.inbox_leads[link] = lead_s;
                self.doors.push(Vec::new());
                *lead = Lead::Inbox(inbox);
            }
        }
    }
}
