//! Which links need no event for each packet that reaches them.
//!
//! A link must see its packets in order of time. That is certain without an event for each if all of them come from one and the same link with
//! nothing but equal delays between; and it can be made certain for many at once (an inbox) if all are delayed equally since their last event.

use super::network_plan::{FlowGroup, NetworkPlan};
use crate::scenario::OneWayLink;

/// What is known about the delays with which packets reach a link since their last event.
#[derive(Clone, Copy, Debug)]
pub enum Lookahead {
    /// Nothing yet.
    Unknown,
    /// All come straight from this one first-in first-out link, with this delay since: they arrive in order of time.
    InOrder { from: u32, lookahead_s: f64 },
    /// The same for all, seconds.
    Equal(f64),
    /// Not the same.
    Unequal,
    /// The same for all, and this inbox collects them.
    Merge(u32),
}

/// How a flow's packets reach a stage: from which shared link, if nothing that depends on their size lies between, and how long after their
/// last event (least and most, seconds).
#[derive(Clone, Copy)]
struct Upstream {
    from: Option<u32>,
    low_s: f64,
    high_s: f64,
    /// How long after its last event a packet may be sent on, where a queue that owns its packets was met.
    max_deferral_s: f64,
}

impl NetworkPlan<'_> {
    /// How long a queue that owns its packets may take to find out that a transmission has begun: its packet is on its way twice as long.
    pub fn max_deferral_s(&self, link: u32) -> f64 {
        // What a sender puts straight into the queue comes before a departure of the same moment if the sender's own event does: who finds out
        // late cannot tell.
        let enters_at_once = |group: &FlowGroup| {
            let ([rate, _], source, _) = self.access_ranges(&group.spec);
            group.path.forward.first() == Some(&link)
                && rate.is_none()
                && source.high.link_delay_s() == 0.0
        };
        let may = self.has_scheduled_queue(link) && !self.groups.iter().any(enters_at_once);
        if may { self.links[link as usize].delay.link_delay_s() / 2.0 } else { 0.0 }
    }
}

/// Finds out for every link. Nobody may emit straight into it, and own links must be fast enough not to hold packets back for long.
/// Returns also how much of each lead may be lost because a queue found out late.
pub fn find_lookaheads(
    plan: &NetworkPlan<'_>,
    flows_per_link: &[u64],
) -> (Vec<Lookahead>, Vec<f64>) {
    let links = plan.links.len();
    let mut search = Search {
        plan,
        flows_per_link,
        lookaheads: vec![Lookahead::Unknown; links],
        max_deferral_s: vec![0.0; links],
    };
    search.run();
    (search.lookaheads, search.max_deferral_s)
}

struct Search<'a> {
    plan: &'a NetworkPlan<'a>,
    flows_per_link: &'a [u64],
    lookaheads: Vec<Lookahead>,
    max_deferral_s: Vec<f64>,
}

impl Search<'_> {
    fn run(&mut self) {
        for &link in self.plan.cross.iter().flatten() {
            self.lookaheads[link as usize] = Lookahead::Unequal;
        }
        for group in &self.plan.groups {
            let spec = &group.spec;
            let knobs = self.plan.knobs(spec);
            let (rate, source, sink) = self.plan.access_ranges(spec);
            let slowest = |links: &[u32], plans: &[OneWayLink<'_>]| {
                links
                    .iter()
                    .map(|&link| plans[link as usize].rate.largest().bps())
                    .max()
                    .unwrap_or(0)
            };
            let held_back = rate
                .iter()
                .flatten()
                .any(|&rate| rate < slowest(&group.path.forward, &self.plan.links));
            let mut upstream = Upstream {
                from: None,
                low_s: source.low.link_delay_s(),
                high_s: source.high.link_delay_s(),
                max_deferral_s: 0.0,
            };
            for &link in &group.path.forward {
                upstream = self.visit(link, upstream, held_back);
            }
            if rate[1].is_some() || knobs.delayed_ack {
                upstream.from = None;
            }
            // In the order in which pipes add it up, so that equal delays are equal numbers.
            for own in [sink, sink] {
                upstream.low_s += own.low.link_delay_s();
                upstream.high_s += own.high.link_delay_s();
            }
            for &link in &group.path.back {
                upstream = self.visit(link, upstream, held_back || knobs.delayed_ack);
            }
        }
    }

    /// A flow's packets reach `link` on this way; returns theirs to the next stage.
    fn visit(&mut self, link: u32, upstream: Upstream, unfit: bool) -> Upstream {
        let delay_s = self.plan.links[link as usize].delay.link_delay_s();
        let known_s = &mut self.max_deferral_s[link as usize];
        *known_s = known_s.max(upstream.max_deferral_s);
        let max_deferral_s = upstream.max_deferral_s.max(self.plan.max_deferral_s(link));
        if self.plan.links[link as usize].jitter.is_some() {
            // Nothing is known of delays that vary; and what overtakes waits for an event of its own.
            self.lookaheads[link as usize] = if self.flows_per_link[link as usize] < 2 {
                self.lookaheads[link as usize]
            } else {
                Lookahead::Unequal
            };
            return Upstream { from: None, low_s: delay_s, high_s: f64::INFINITY, max_deferral_s };
        }
        if self.flows_per_link[link as usize] < 2 {
            // Alone on a link, a flow's packets stay in order among themselves, but no longer among the others.
            return Upstream {
                from: None,
                low_s: upstream.low_s + delay_s,
                high_s: upstream.high_s + delay_s,
                max_deferral_s,
            };
        }
        let known = &mut self.lookaheads[link as usize];
        let lookahead_s = upstream.low_s;
        let equal = upstream.low_s == upstream.high_s;
        let shareable = equal && lookahead_s > 0.0 && !unfit;
        *known = match (*known, upstream.from) {
            (Lookahead::Unknown, Some(from)) if equal => Lookahead::InOrder { from, lookahead_s },
            (Lookahead::InOrder { from, lookahead_s: known_s }, Some(same))
                if equal && same == from && known_s == lookahead_s =>
            {
                Lookahead::InOrder { from, lookahead_s }
            }
            (Lookahead::Unknown, _) if shareable => Lookahead::Equal(lookahead_s),
            (Lookahead::InOrder { lookahead_s: known_s, .. } | Lookahead::Equal(known_s), _)
                if shareable && known_s == lookahead_s =>
            {
                Lookahead::Equal(lookahead_s)
            }
            _ => Lookahead::Unequal,
        };
        Upstream { from: Some(link), low_s: delay_s, high_s: delay_s, max_deferral_s }
    }
}
