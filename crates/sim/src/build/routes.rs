//! Builds routes: the stages of a packet, and the event queues where it waits.

use super::builder::Builder;
use super::lookahead::Lookahead;
use super::network_plan::{DrawnAccessLinks, FlowGroup};
use crate::engine::state::Engine;
use crate::event::merge_queue::{InputPort, MergeQueue};
use crate::event::queues::{EventKind, PacketFifo};
use crate::event::scheduler::EventScheduler;
use crate::measure::trace::Tracer;
use crate::network::route::{Entry, Route, Stage, hops};
use crate::packet::FlowIndices;

/// Fraction of a lookahead to rely on, since it is a sum of doubles.
const LOOKAHEAD_MARGIN: f64 = 1.0 - 1e-6;

impl Builder<'_> {
    /// The route with these stages; equal routes are shared.
    pub(super) fn route(&mut self, mut stages: Vec<Stage>, has_receiver_timer: bool) -> u32 {
        // Routes with and without events at the receiver differ, and the key tells them apart.
        let key_end = if has_receiver_timer { Stage::Sink } else { Stage::Source };
        stages.push(key_end);
        if let Some(&route) = self.route_of.get(&stages) {
            return route;
        }
        let key = stages.clone();
        stages.pop();
        let mut fifos = 0;
        let mut route: Vec<(Stage, Entry)> = stages
            .iter()
            .enumerate()
            .map(|(i, &stage)| {
                let sorted = i > 0 && self.reorders(stages[i - 1]);
                let waits = match stage {
                    _ if sorted => true,
                    // The sender's own event enters the first stage.
                    _ if i == 0 => false,
                    Stage::Link(link) | Stage::Queue(link)
                        if let Lookahead::Merge(merge_queue) = self.lookaheads[link as usize] =>
                    {
                        let before = stages[..i].iter().rfind(|stage| self.shared(**stage));
                        let ports = &mut self.ports[merge_queue as usize];
                        let port = ports
                            .iter()
                            .position(|known| known.as_ref() == before)
                            .unwrap_or_else(|| {
                                ports.push(before.copied());
                                ports.len() - 1
                            });
                        return (stage, Entry::Merge(InputPort { merge_queue, port: port as u32 }));
                    }
                    Stage::Link(link) if self.options.look_ahead && self.is_in_order(link) => false,
                    Stage::Source => true,
                    Stage::Sink if has_receiver_timer => true,
                    // A receiver answers within the event of the packet, as in ns-2: no
                    // simultaneous event comes in between.
                    _ if !self.options.look_ahead
                        && !has_receiver_timer
                        && stages[i - 1] == Stage::Sink =>
                    {
                        false
                    }
                    stage => self.shared(stage) || !self.options.look_ahead,
                };
                fifos += u32::from(waits);
                let entry = match waits {
                    true if sorted => Entry::SortedFifo(fifos - 1),
                    true => Entry::Fifo(fifos - 1),
                    false => Entry::Immediate,
                };
                (stage, entry)
            })
            .collect();
        let sender_lookahead_s = self.sender_lookahead_s(&route);
        if sender_lookahead_s == f64::INFINITY
            && let Some((Stage::Source, entry)) = route.last_mut()
            && let Entry::Fifo(fifo) = *entry
        {
            *entry = Entry::RunAhead(fifo);
        }
        let first = self.hops.len() as u32;
        self.hops.extend(hops(&route, self.options.look_ahead));
        let sink = self.hops[first as usize..].iter().position(|hop| hop.stage == Stage::Sink);
        let sink = first + sink.unwrap_or_default() as u32;
        self.routes.push(Route { first, sink, sender_lookahead_s });
        self.route_of.insert(key, self.routes.len() as u32 - 1);
        self.routes.len() as u32 - 1
    }

    /// How far senders of this route may run ahead, seconds. A merge queue accepts packets in any
    /// order, but is fastest when they are nearly in order.
    fn sender_lookahead_s(&self, stages: &[(Stage, Entry)]) -> f64 {
        match stages.iter().find(|(stage, _)| self.shared(*stage)) {
            _ if !self.options.look_ahead => 0.0,
            Some((_, Entry::Immediate)) => 0.0,
            Some((Stage::Link(link) | Stage::Queue(link), Entry::Merge(_))) => {
                self.merge_lookaheads[*link as usize]
            }
            _ => f64::INFINITY,
        }
    }

    fn shared(&self, stage: Stage) -> bool {
        stage.link().is_some_and(|link| self.flows_per_link[link as usize] > 1)
    }

    /// Whether a stage may reorder packets.
    fn reorders(&self, stage: Stage) -> bool {
        stage.link().is_some_and(|link| self.plan.reorders(link))
    }

    /// Whether packets reach a link in order of time without events.
    fn is_in_order(&self, link: u32) -> bool {
        matches!(self.lookaheads[link as usize], Lookahead::InOrder { .. })
    }

    /// Adds the FIFOs of a flow; returns its indices.
    pub(super) fn add_fifos<S: EventScheduler, T: Tracer>(
        &self,
        route: u32,
        flow: u32,
        first_access_link: u32,
        engine: &mut Engine<S, T>,
    ) -> FlowIndices {
        let indices = FlowIndices {
            route,
            first_fifo: engine.datapath.event_queues.fifos.len() as u32,
            first_access_link,
        };
        for event in self.event_kinds(route) {
            engine.datapath.event_queues.fifos.push(PacketFifo::new(flow, event, indices));
        }
        indices
    }

    /// Events of the FIFOs of a flow on this route.
    pub(super) fn event_kinds(&self, route: u32) -> Vec<EventKind> {
        let Route { first, sender_lookahead_s, .. } = self.routes[route as usize];
        let end = self.routes.get(route as usize + 1).map_or(self.hops.len() as u32, |r| r.first);
        let event =
            |index: u32| match (self.hops[index as usize].stage, self.hops[index as usize].entry) {
                (_, Entry::Immediate | Entry::Merge(_)) => None,
                // An ACK may still overtake waiting ones.
                (Stage::Source, Entry::SortedFifo(_)) => Some(EventKind::Ack),
                (Stage::Source, _) if sender_lookahead_s > 0.0 => Some(EventKind::AckLookahead),
                (Stage::Source, _) => Some(EventKind::Ack),
                _ => Some(EventKind::EnterStage(index)),
            };
        (first..end).filter_map(event).collect()
    }

    /// Adds a merge queue to every link that can have one.
    pub(super) fn add_merge_queues<S: EventScheduler, T: Tracer>(
        &mut self,
        engine: &mut Engine<S, T>,
    ) {
        for (link, lookahead) in self.lookaheads.iter_mut().enumerate() {
            // A scheduled queue takes packets exactly when they are due, so its merge queue has no
            // lookahead and only saves a FIFO per flow.
            let has_scheduled_queue = self.plan.has_scheduled_queue(link as u32);
            let lookahead_s = match *lookahead {
                Lookahead::Equal(lookahead_s) => Some(lookahead_s),
                Lookahead::InOrder { lookahead_s, .. } if has_scheduled_queue => Some(lookahead_s),
                _ => None,
            };
            if let Some(lookahead_s) = lookahead_s {
                let (merge_queue, fifo) = (
                    engine.datapath.merge_queues.len() as u32,
                    engine.datapath.event_queues.fifos.len() as u32,
                );
                engine.datapath.merge_queues.push(MergeQueue::new(
                    if has_scheduled_queue {
                        0.0
                    } else {
                        (lookahead_s * LOOKAHEAD_MARGIN - self.max_deferral_s[link]).max(0.0)
                    },
                    fifo,
                ));
                let indices = FlowIndices { route: 0, first_fifo: fifo, first_access_link: 0 };
                engine.datapath.event_queues.fifos.push(PacketFifo::new(
                    0,
                    EventKind::MergeBatch(merge_queue),
                    indices,
                ));
                self.merge_lookaheads[link] = lookahead_s;
                self.ports.push(Vec::new());
                *lookahead = Lookahead::Merge(merge_queue);
            }
        }
    }

    /// The route of cross traffic over a path of links, behind an access link if it has one.
    pub(super) fn route_to_sink(&mut self, has_access_link: bool, links: &[u32]) -> u32 {
        let mut stages = Vec::from_iter(has_access_link.then_some(Stage::AccessLink(0)));
        stages.extend(self.stages_of(links));
        stages.push(Stage::Sink);
        self.route(stages, false)
    }

    /// The stages of a path of links.
    pub(super) fn stages_of(&self, links: &[u32]) -> Vec<Stage> {
        let stage = |&link: &u32| match self.plan.has_scheduled_queue(link) {
            true => Stage::Queue(link),
            false => Stage::Link(link),
        };
        links.iter().map(stage).collect()
    }

    /// Stages of the route of a group, and for each access link whose it is: source (0), sink (1),
    /// reverse path (2).
    pub(super) fn stages(&self, group: &FlowGroup) -> (Vec<Stage>, Vec<usize>) {
        let ([source_rate, sink_rate], source, sink) = self.plan.access_ranges(&group.spec);
        let forward = |rate: Option<u64>, high_s: f64| rate.is_some() || high_s > 0.0;
        let own = [
            // With jitter packets reach the first link by an event, as behind an access link.
            forward(source_rate, source.high.seconds() + self.plan.host_jitter_s()),
            forward(sink_rate, sink.high.seconds()),
            self.plan.back_delay_s(&group.path) > 0.0,
        ];
        let (mut stages, mut access_links) = (Vec::new(), Vec::new());
        let mut add_access_link = |stages: &mut Vec<Stage>, which: usize| {
            if own[which] {
                stages.push(Stage::AccessLink(access_links.len() as u32));
                access_links.push(which);
            }
        };
        add_access_link(&mut stages, 0);
        stages.extend(self.stages_of(&group.path.forward));
        add_access_link(&mut stages, 1);
        stages.push(Stage::Sink);
        add_access_link(&mut stages, 1);
        stages.extend(self.stages_of(&group.path.back));
        add_access_link(&mut stages, 2);
        add_access_link(&mut stages, 0);
        stages.push(Stage::Source);
        (stages, access_links)
    }

    /// Adds the access links, route and FIFOs of a flow. `stages`: those of its group.
    pub(super) fn add_route<S: EventScheduler, T: Tracer>(
        &mut self,
        group: &FlowGroup,
        (stages, access_links): &(Vec<Stage>, Vec<usize>),
        access: &DrawnAccessLinks,
        has_receiver_timer: bool,
        flow: u32,
        engine: &mut Engine<S, T>,
    ) -> FlowIndices {
        let first_access_link = engine.datapath.access_links.len() as u32;
        let [source, sink] = [access.source, access.sink].map(|own| (own.rate_bps, own.delay_s));
        let own = [source, sink, (None, self.plan.back_delay_s(&group.path))];
        access_links
            .iter()
            .for_each(|&which| engine.datapath.access_links.push(own[which].0, own[which].1));
        let route = self.route(stages.clone(), has_receiver_timer);
        self.add_fifos(route, flow, first_access_link, engine)
    }
}
