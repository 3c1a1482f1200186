//! What a group of arriving flows draws: times, sizes, access delays.

use super::network_plan::NetworkPlan;
use crate::endpoint::arrival_process::ArrivalProcess;
use crate::endpoint::connections::Connections;
use crate::random::stream::RandomStream;
use crate::random::variable::RandomVariable;
use cwndlab_scenario::{Distribution, Law, Packets, VectorFile};
use cwndlab_tcp::NEVER;
use cwndlab_units::Time;

impl NetworkPlan<'_> {
    /// Connections of an `[[arrivals]]` entry, and the random stream of their access delays, all at
    /// their first draw.
    pub(super) fn arrival_draws(&self, index: usize) -> (Connections, RandomStream) {
        let arrivals = &self.scenario.arrivals[index];
        let stream = |what: &str| self.stream(what, &arrivals.name);
        // An arrival at the very end of the run counts.
        let end_s = self.scenario.duration.seconds().next_up();
        let stop_s = arrivals.stop.map_or(NEVER, Time::seconds).min(end_s);
        let offset_s = arrivals.start.seconds();
        if let Some(VectorFile { vectors, .. }) = &arrivals.vectors {
            let vectors = vectors.clone();
            let recorded = Connections::Recorded { vectors, arrived: 0, offset_s, stop_s };
            return (recorded, stream("access"));
        }
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
        let unit = RandomVariable::new(&unit, stream("gap"));
        let process = ArrivalProcess::new(unit, phases, offset_s, stop_s);
        let size = arrivals.size.as_ref().expect("checked: drawn connections have a size");
        let size = RandomVariable::new(size, stream("size"));
        let exchanges = arrivals.exchanges.as_ref().zip(arrivals.think.as_ref());
        let exchanges = exchanges.map(|(exchanges, think)| {
            let count = RandomVariable::new(exchanges, stream("exchanges"));
            Box::new((count, RandomVariable::new(think, stream("think"))))
        });
        (Connections::Drawn { process, size, exchanges }, stream("access"))
    }
}
