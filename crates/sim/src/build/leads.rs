//! Which links need no event for each packet that reaches them.
//!
//! A link must see its packets in order of time. That is certain without an event for each if all of them come from one and the same link with
//! nothing but equal delays between; and it can be made certain for many at once (an inbox) if all are delayed equally since their last event.

use super::plan::{Group, Plan};
use crate::scenario::PlannedLink;

/// What is known about the delays with which packets reach a link since their last event.
#[derive(Clone, Copy, Debug)]
pub enum Lead {
    /// Nothing yet.
    Unknown,
    /// All come straight from this one first-in first-out link, with this delay since: they arrive in order of time.
    InOrder { from: u32, lead_s: f64 },
    /// The same for all, seconds.
    Equal(f64),
    /// Not the same.
    Mixed,
    /// The same for all, and this inbox collects them.
    Inbox(u32),
}

/// How a flow's packets reach a stage: from which shared link, if nothing that depends on their size lies between, and how long after their
/// last event (least and most, seconds).
#[derive(Clone, Copy)]
struct Way {
    from: Option<u32>,
    low_s: f64,
    high_s: f64,
    /// How long after its last event a packet may be sent on, where a queue that owns its packets was met.
    behind_s: f64,
}

impl Plan<'_> {
    /// How long a queue that owns its packets may take to find out that a transmission has begun: its packet is on its way twice as long.
    pub fn behind_s(&self, link: u32) -> f64 {
        // What a sender puts straight into the queue comes before a departure of the same moment if the sender's own event does: who finds out
        // late cannot tell.
        let enters_at_once = |group: &Group| {
            let ([rate, _], source, _) = self.spans(&group.spec);
            group.way.there.first() == Some(&link) && rate.is_none() && source.high.link_delay_s() == 0.0
        };
        let may = self.owns(link) && !self.groups.iter().any(enters_at_once);
        if may { self.links[link as usize].delay.link_delay_s() / 2.0 } else { 0.0 }
    }
}

/// Finds out for every link. Nobody may emit straight into it, and own links must be fast enough not to hold packets back for long.
/// Returns also how much of each lead may be lost because a queue found out late.
pub fn find(plan: &Plan<'_>, users: &[u64]) -> (Vec<Lead>, Vec<f64>) {
    let links = plan.links.len();
    let mut search = Search { plan, users, leads: vec![Lead::Unknown; links], behind_s: vec![0.0; links] };
    search.run();
    (search.leads, search.behind_s)
}

struct Search<'a> {
    plan: &'a Plan<'a>,
    users: &'a [u64],
    leads: Vec<Lead>,
    behind_s: Vec<f64>,
}

impl Search<'_> {
    fn run(&mut self) {
        for &link in self.plan.cross.iter().flatten() {
            self.leads[link as usize] = Lead::Mixed;
        }
        for group in &self.plan.groups {
            let spec = &group.spec;
            let knobs = self.plan.knobs(spec);
            let (rate, source, sink) = self.plan.spans(spec);
            let slowest = |links: &[u32], plans: &[PlannedLink<'_>]| {
                links.iter().map(|&link| plans[link as usize].rate.largest().bps()).max().unwrap_or(0)
            };
            let held_back = rate.iter().flatten().any(|&rate| rate < slowest(&group.way.there, &self.plan.links));
            let mut way = Way { from: None, low_s: source.low.link_delay_s(), high_s: source.high.link_delay_s(), behind_s: 0.0 };
            for &link in &group.way.there {
                way = self.meet(link, way, held_back);
            }
            if rate[1].is_some() || knobs.delayed_ack {
                way.from = None;
            }
            // In the order in which pipes add it up, so that equal delays are equal numbers.
            for own in [sink, sink] {
                way.low_s += own.low.link_delay_s();
                way.high_s += own.high.link_delay_s();
            }
            for &link in &group.way.back {
                way = self.meet(link, way, held_back || knobs.delayed_ack);
            }
        }
    }

    /// A flow's packets reach `link` on this way; returns theirs to the next stage.
    fn meet(&mut self, link: u32, way: Way, unfit: bool) -> Way {
        let delay_s = self.plan.links[link as usize].delay.link_delay_s();
        let known_s = &mut self.behind_s[link as usize];
        *known_s = known_s.max(way.behind_s);
        let behind_s = way.behind_s.max(self.plan.behind_s(link));
        if self.plan.links[link as usize].jitter.is_some() {
            // Nothing is known of delays that vary; and what overtakes waits for an event of its own.
            self.leads[link as usize] = if self.users[link as usize] < 2 { self.leads[link as usize] } else { Lead::Mixed };
            return Way { from: None, low_s: delay_s, high_s: f64::INFINITY, behind_s };
        }
        if self.users[link as usize] < 2 {
            // Alone on a link, a flow's packets stay in order among themselves, but no longer among the others.
            return Way { from: None, low_s: way.low_s + delay_s, high_s: way.high_s + delay_s, behind_s };
        }
        let known = &mut self.leads[link as usize];
        let lead_s = way.low_s;
        let equal = way.low_s == way.high_s;
        let shareable = equal && lead_s > 0.0 && !unfit;
        *known = match (*known, way.from) {
            (Lead::Unknown, Some(from)) if equal => Lead::InOrder { from, lead_s },
            (Lead::InOrder { from, lead_s: known_s }, Some(same)) if equal && same == from && known_s == lead_s => {
                Lead::InOrder { from, lead_s }
            }
            (Lead::Unknown, _) if shareable => Lead::Equal(lead_s),
            (Lead::InOrder { lead_s: known_s, .. } | Lead::Equal(known_s), _) if shareable && known_s == lead_s => Lead::Equal(lead_s),
            _ => Lead::Mixed,
        };
        Way { from: Some(link), low_s: delay_s, high_s: delay_s, behind_s }
    }
}
