//! Lookahead of links: which links can process packets without an event for each.
//!
//! A link must see its packets in order of time. This holds without events if all packets come from
//! one and the same link with equal delays in between. It can be achieved for batches, by a merge
//! queue, if all packets are delayed equally since their last event.

use super::network_plan::{FlowGroup, NetworkPlan};
use cwndlab_scenario::OneWayLink;

/// Delays with which packets reach a link since their last event.
#[derive(Clone, Copy, Debug)]
pub enum Lookahead {
    /// No packets so far.
    Unknown,
    /// All packets come from one FIFO link with this delay, so they arrive in order.
    InOrder { from: u32, lookahead_s: f64 },
    /// Equal delays, seconds.
    Equal(f64),
    /// Unequal delays.
    Unequal,
    /// Equal delays, collected by this merge queue.
    Merge(u32),
}

/// How packets of a flow reach a stage: from which shared link, unless something between them
/// depends on packet size, and the range of the delay since their last event, seconds.
#[derive(Clone, Copy)]
struct Upstream {
    from: Option<u32>,
    low_s: f64,
    high_s: f64,
    /// Longest deferral of the start of a transmission at a scheduled queue on the way, seconds.
    max_deferral_s: f64,
}

impl NetworkPlan<'_> {
    /// How long the start of a transmission at this link may be deferred: half of its propagation
    /// delay.
    pub fn max_deferral_s(&self, link: u32) -> f64 {
        // A packet that a sender puts straight into the queue precedes a simultaneous departure if
        // the sender's own event does; after a deferral that order is unknown.
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

/// Finds the lookahead of every link, and how much of it deferral may consume. No source may send
/// straight into the link, and access links must be fast enough not to hold packets back.
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
            let fastest = |links: &[u32], plans: &[OneWayLink<'_>]| {
                links
                    .iter()
                    .map(|&link| plans[link as usize].rate.largest().bps())
                    .max()
                    .unwrap_or(0)
            };
            let held_back = rate
                .iter()
                .flatten()
                .any(|&rate| rate < fastest(&group.path.forward, &self.plan.links));
            let mut upstream = Upstream {
                from: None,
                low_s: source.low.link_delay_s(),
                high_s: source.high.link_delay_s() + self.plan.host_jitter_s(),
                max_deferral_s: 0.0,
            };
            for &link in &group.path.forward {
                upstream = self.visit(link, upstream, held_back);
            }
            if rate[1].is_some() || knobs.has_receiver_timer() {
                upstream.from = None;
            }
            // In the order in which access links add delays, so that equal delays are equal
            // doubles.
            for own in [sink, sink] {
                upstream.low_s += own.low.link_delay_s();
                upstream.high_s += own.high.link_delay_s();
            }
            for &link in &group.path.back {
                upstream = self.visit(link, upstream, held_back || knobs.has_receiver_timer());
            }
        }
    }

    /// Packets of a flow reach `link`; returns how they reach the next stage. `unfit` excludes a
    /// merge queue.
    fn visit(&mut self, link: u32, upstream: Upstream, unfit: bool) -> Upstream {
        let delay_s = self.plan.links[link as usize].delay.link_delay_s();
        let known_s = &mut self.max_deferral_s[link as usize];
        *known_s = known_s.max(upstream.max_deferral_s);
        let max_deferral_s = upstream.max_deferral_s.max(self.plan.max_deferral_s(link));
        if self.plan.links[link as usize].jitter.is_some() {
            // Jitter makes delays unknown, and packets that overtake wait for events of their own.
            self.lookaheads[link as usize] = if self.flows_per_link[link as usize] < 2 {
                self.lookaheads[link as usize]
            } else {
                Lookahead::Unequal
            };
            return Upstream { from: None, low_s: delay_s, high_s: f64::INFINITY, max_deferral_s };
        }
        if self.flows_per_link[link as usize] < 2 {
            // Packets of one flow alone on a link stay in order among themselves, but not among
            // other flows.
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
