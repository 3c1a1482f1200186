//! Link outages: nothing leaves while a link is down, and arrivals wait or are dropped.

use cwndlab_scenario::{OutagePolicy, OutageSpec};
use std::sync::Arc;

/// Outages of a link, each from its first instant to just before its last.
#[derive(Clone, Debug, Default)]
pub struct Outages(Arc<[OutageSpec]>);

impl Outages {
    /// Outages of a checked scenario: in order, without overlap.
    pub fn new(outages: &[OutageSpec]) -> Self {
        Self(outages.into())
    }

    /// Whether there is no outage.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the link is down at `now_ns`, and until when this state lasts, nanoseconds.
    pub fn at_ns(&self, now_ns: u64) -> (bool, u64) {
        let past = self.0.partition_point(|outage| outage.to.nanoseconds() <= now_ns);
        match self.0.get(past) {
            Some(outage) if outage.from.nanoseconds() <= now_ns => (true, outage.to.nanoseconds()),
            Some(outage) => (false, outage.from.nanoseconds()),
            None => (false, u64::MAX),
        }
    }

    /// Whether the link is down.
    pub fn is_down(&self, now_s: f64) -> bool {
        self.current(now_s).is_some()
    }

    /// Whether an arrival is dropped.
    pub fn drops_arrivals(&self, now_s: f64) -> bool {
        self.current(now_s).is_some_and(|outage| outage.arrivals == OutagePolicy::Lost)
    }

    fn current(&self, now_s: f64) -> Option<&OutageSpec> {
        let past = self.0.partition_point(|outage| outage.to.seconds() <= now_s);
        self.0.get(past).filter(|outage| outage.from.seconds() <= now_s)
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use cwndlab_units::Time;

    /// Outages from (from, to) in milliseconds that drop arrivals.
    pub fn outages(times: &[(u64, u64)]) -> Outages {
        let outage = |&(from, to): &(u64, u64)| OutageSpec {
            from: Time::ns(from * 1_000_000),
            to: Time::ns(to * 1_000_000),
            arrivals: OutagePolicy::Lost,
        };
        Outages::new(&times.iter().map(outage).collect::<Vec<_>>())
    }

    #[test]
    fn the_first_moment_is_down_and_the_last_is_up() {
        let outages = outages(&[(10, 20), (30, 40)]);
        let down =
            [0.0, 0.0099, 0.01, 0.0199, 0.02, 0.03, 0.04, 1e9].map(|now_s| outages.is_down(now_s));
        assert_eq!(down, [false, false, true, true, false, true, false, false]);
        assert!(outages.drops_arrivals(0.01) && !outages.drops_arrivals(0.02));
        assert_eq!(
            [0, 10_000_000, 20_000_000, 40_000_000].map(|ns| outages.at_ns(ns)),
            [(false, 10_000_000), (true, 20_000_000), (false, 30_000_000), (false, u64::MAX)]
        );
    }

    #[test]
    fn arrivals_that_wait_are_not_lost() {
        let wait = OutageSpec { from: Time::ns(0), to: Time::ns(10), arrivals: OutagePolicy::Wait };
        assert!(Outages::new(&[wait]).is_down(0.0) && !Outages::new(&[wait]).drops_arrivals(0.0));
    }
}
