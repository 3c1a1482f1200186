//! What a group of arriving flows draws: times, sizes, access delays.

use super::network_plan::NetworkPlan;
use crate::endpoint::arrivals::ArrivalProcess;
use crate::random::stream::RandomStream;
use crate::random::variable::RandomVariable;
use cwndlab_scenario::{Distribution, Law, Packets};
use cwndlab_tcp::NEVER;
use cwndlab_units::Time;

impl NetworkPlan<'_> {
    /// Arrival process of an `[[arrivals]]` entry, sizes of its flows, and the random stream of
    /// their access delays, all at their first draw.
    pub(super) fn arrival_draws(
        &self,
        index: usize,
    ) -> (ArrivalProcess, RandomVariable, RandomStream) {
        let arrivals = &self.scenario.arrivals[index];
        let stream = |what: &str| self.stream(what, &arrivals.name);
        let one = Packets(1.0);
        let unit = if arrivals.regular {
            Distribution::Constant(one)
        } else {
            Distribution::Random(Law::Exponential { mean: one })
        };
        let phases = match arrivals.gap {
            Some(gap) => vec![(f64::INFINITY, gap.seconds())],
            None => arrivals
                .phases
                .iter()
                .map(|phase| (phase.length.seconds(), phase.gap.seconds()))
                .collect(),
        };
        // An arrival at the very end of the run counts.
        let end_s = self.scenario.duration.seconds().next_up();
        let stop_s = arrivals.stop.map_or(NEVER, Time::seconds).min(end_s);
        let unit = RandomVariable::new(&unit, stream("gap"));
        let process = ArrivalProcess::new(unit, phases, arrivals.start.seconds(), stop_s);
        (process, RandomVariable::new(&arrivals.size, stream("size")), stream("access"))
    }
}
