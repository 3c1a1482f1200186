//! Builds routes: the stages of a packet, and the stations where it waits.

use super::builder::Builder;
use super::network_plan::{DrawnAccessLinks, EndpointOrder, FlowGroup};
use crate::engine::state::Engine;
use crate::id::{HopId, LinkId};
use crate::measure::trace::Tracer;
use crate::network::route::{Entry, Route, Stage, hops};
use crate::packet::FlowIndices;

impl Builder<'_> {
    /// The route with these stages; equal routes are shared.
    pub(super) fn route(&mut self, stages: Vec<Stage>, order: EndpointOrder) -> u32 {
        let key = (stages, order);
        if let Some(&route) = self.route_of.get(&key) {
            return route;
        }
        let first = self.hops.len();
        self.hops.extend(hops(&self.entries(&key.0, order)));
        let sink = self.hops[first..].iter().position(|hop| hop.stage == Stage::Sink);
        let hop = |index: usize| HopId::new(index as u32);
        let sink = first + sink.unwrap_or_default();
        self.routes.push(Route { first: hop(first), sink: hop(sink) });
        self.route_of.insert(key, self.routes.len() as u32 - 1);
        self.routes.len() as u32 - 1
    }

    /// How packets enter each of these stages.
    pub(super) fn entries(&self, stages: &[Stage], order: EndpointOrder) -> Vec<(Stage, Entry)> {
        let entry = |(i, &stage): (usize, &Stage)| {
            // Packets that overtook each other must wait; so must all without lookahead, except in
            // front of the sender's own access link.
            let waits = match i.checked_sub(1) {
                None => !self.options.look_ahead && stage.link().is_some(),
                Some(before) => !self.options.look_ahead || self.reorders(stages[before]),
            };
            match stage {
                Stage::FifoLink(link) | Stage::ScheduledLink(link)
                    if self.station_of[link.index()] != Entry::NO_STATION =>
                {
                    let station = self.station_of[link.index()];
                    Entry::Wait(if self.options.look_ahead { station } else { self.receivers })
                }
                Stage::Source if waits || order != EndpointOrder::Own => Entry::Wait(self.senders),
                Stage::Sink if order == EndpointOrder::Both => Entry::Wait(self.receivers),
                Stage::Source => Entry::Collect,
                _ if waits => Entry::Wait(self.receivers),
                _ => Entry::Immediate,
            }
        };
        stages.iter().copied().zip(stages.iter().enumerate().map(entry)).collect()
    }

    /// Whether a stage may reorder packets.
    fn reorders(&self, stage: Stage) -> bool {
        stage.link().is_some_and(|link| self.plan.reorders(link.number()))
    }

    /// The stages of cross traffic over a path of links, behind an access link if it has one.
    pub(super) fn cross_stages(&self, has_access_link: bool, links: &[u32]) -> Vec<Stage> {
        let mut stages = Vec::from_iter(has_access_link.then_some(Stage::AccessLink(0)));
        stages.extend(self.stages_of(links));
        stages.push(Stage::Sink);
        stages
    }

    /// The stages of a path of links.
    pub(super) fn stages_of(&self, links: &[u32]) -> Vec<Stage> {
        let stage = |&link: &u32| match self.plan.has_scheduled_queue(link) {
            true => Stage::ScheduledLink(LinkId::new(link)),
            false => Stage::FifoLink(LinkId::new(link)),
        };
        links.iter().map(stage).collect()
    }

    /// Stages of the route of a group, and for each access link whose it is: source (0), sink (1),
    /// reverse path (2).
    pub(super) fn stages(&self, group: &FlowGroup) -> (Vec<Stage>, Vec<usize>) {
        let ([source_rate, sink_rate], source, sink) = self.plan.access_ranges(&group.spec);
        let forward = |rate: Option<u64>, high_s: f64| rate.is_some() || high_s > 0.0;
        let own = [
            // With jitter packets reach the first link later than the event in which they are sent, as
            // behind an access link.
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

    /// Adds the access links and the route of a flow. `stages`: those of its group.
    pub(super) fn add_route<T: Tracer>(
        &mut self,
        group: &FlowGroup,
        (stages, access_links): &(Vec<Stage>, Vec<usize>),
        access: &DrawnAccessLinks,
        engine: &mut Engine<T>,
    ) -> FlowIndices {
        let first_access_link = engine.network.access_links.len() as u32;
        let [source, sink] = [access.source, access.sink].map(|own| (own.rate_bps, own.delay_s));
        let own = [source, sink, (None, self.plan.back_delay_s(&group.path))];
        access_links
            .iter()
            .for_each(|&which| engine.network.access_links.push(own[which].0, own[which].1));
        let route = self.route(stages.clone(), group.order());
        FlowIndices { route, first_access_link }
    }
}
