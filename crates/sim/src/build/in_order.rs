//! Links that all packets reach in order of time without waiting: those that come from one and the
//! same link in front with equal delays in between.

use super::network_plan::{EndpointOrder, NetworkPlan};

/// From where the packets of a link come.
#[derive(Clone, Copy, PartialEq)]
enum Origin {
    /// No packets so far.
    Unknown,
    /// From this link, this delay later (seconds).
    Link(u32, f64),
    /// From several, or with unequal delays.
    Mixed,
}

/// How packets of a flow reach the next link: from which shared link, unless something between them
/// depends on packet size, and the range of the delay since then, seconds.
#[derive(Clone, Copy)]
struct Upstream {
    from: Option<u32>,
    low_s: f64,
    high_s: f64,
}

/// For each link whether its packets reach it in order.
pub fn links_in_order(plan: &NetworkPlan<'_>, flows_per_link: &[u64]) -> Vec<bool> {
    let mut search =
        Search { plan, flows_per_link, origins: vec![Origin::Unknown; plan.links.len()] };
    search.run();
    search.origins.iter().map(|origin| matches!(origin, Origin::Link(..))).collect()
}

struct Search<'a> {
    plan: &'a NetworkPlan<'a>,
    flows_per_link: &'a [u64],
    origins: Vec<Origin>,
}

impl Search<'_> {
    fn run(&mut self) {
        for &link in self.plan.cross.iter().flatten() {
            self.origins[link as usize] = Origin::Mixed;
        }
        for group in &self.plan.groups {
            let spec = &group.spec;
            let (rates, _, sink) = self.plan.access_ranges(spec);
            let mut upstream = Upstream { from: None, low_s: 0.0, high_s: 0.0 };
            for &link in &group.path.forward {
                upstream = self.visit(link, upstream);
            }
            let waits = group.order() == EndpointOrder::Both || self.plan.has_receiver_timer(spec);
            if rates[1].is_some() || waits {
                upstream.from = None;
            }
            // In the order in which access links add delays, so that equal delays are equal
            // doubles.
            for own in [sink, sink] {
                upstream.low_s += own.low.link_delay_s();
                upstream.high_s += own.high.link_delay_s();
            }
            for &link in &group.path.back {
                upstream = self.visit(link, upstream);
            }
        }
    }

    /// Packets of a flow reach `link`; returns how they reach the next one.
    fn visit(&mut self, link: u32, upstream: Upstream) -> Upstream {
        let delay_s = self.plan.links[link as usize].delay.link_delay_s();
        let is_private = self.flows_per_link[link as usize] < 2;
        if self.plan.delay_varies(link) {
            if !is_private {
                self.origins[link as usize] = Origin::Mixed;
            }
            return Upstream { from: None, low_s: delay_s, high_s: f64::INFINITY };
        }
        if is_private {
            // Packets of one flow alone on a link stay in order among themselves, but not among
            // other flows.
            return Upstream {
                from: None,
                low_s: upstream.low_s + delay_s,
                high_s: upstream.high_s + delay_s,
            };
        }
        let here = match upstream.from {
            Some(from) if upstream.low_s == upstream.high_s => Origin::Link(from, upstream.low_s),
            _ => Origin::Mixed,
        };
        let known = &mut self.origins[link as usize];
        if *known == Origin::Unknown {
            *known = here;
        } else if *known != here {
            *known = Origin::Mixed;
        }
        Upstream { from: Some(link), low_s: delay_s, high_s: delay_s }
    }
}
