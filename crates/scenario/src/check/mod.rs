//! Checks of a scenario beyond types: ranges, references between tables, and sizes that would
//! exhaust memory. The first error is reported.

pub(super) mod conditions;
mod cross;
mod distributions;
mod home;
mod knobs;
mod links;
mod linux_settings;
pub(super) mod queue_conditions;
mod queues;
mod repeated_transfers;
mod stacks;
mod subflows;
mod traffic;

use crate::knobs::KnobOverrides;
use crate::routing::Routes;
use crate::scenario::Scenario;
use crate::trace_spec::Sampling;
use conditions::{Checked, at_least, invalid, positive, share};
use cwndlab_tcp::TcpConfig;
use cwndlab_units::Time;
use linux_settings::check_linux_settings;
use std::collections::BTreeSet;

/// Largest seed: integers of TOML, and of the tables of results, end there.
const MAX_SEED: u64 = i64::MAX as u64;
/// Largest number of samples in a trace table: about 2 GiB.
const MAX_SAMPLES: f64 = 1e8;

impl Scenario {
    /// Checks everything beyond types.
    pub(super) fn check(&self) -> Checked {
        self.check_times()?;
        self.check_host_jitter()?;
        check_linux_settings(&self.linux)?;
        let graph = self.check_links()?;
        let mut names = BTreeSet::new();
        self.check_flows(&mut names)?;
        self.check_arrivals(&mut names)?;
        self.check_combinations()?;
        self.check_stacks()?;
        self.check_cross(&mut names)?;
        let routes = Routes::new(self, &graph)?;
        self.check_drops(&graph, &routes)?;
        self.check_left_over(&graph, &routes)?;
        self.check_buffers(&graph, &routes)?;
        self.check_trace()
    }

    /// Settings of the endpoints of a flow with these overrides.
    pub fn tcp_config(&self, own: &KnobOverrides) -> TcpConfig {
        let mut config = TcpConfig::profile(self.profile.into());
        self.tcp.apply(&mut config);
        own.apply(&mut config);
        config
    }

    /// The measurement window.
    pub fn window(&self) -> [Time; 2] {
        self.measure.unwrap_or([Time::default(), self.duration])
    }

    fn check_times(&self) -> Checked {
        if self.duration == Time::default() {
            return invalid("duration", self.duration, "a time above 0");
        }
        let [from, to] = self.window();
        if from >= to || to > self.duration {
            return invalid(
                "measure",
                format!("[{from}, {to}]"),
                format!("[from, to] with 0s <= from < to <= {}", self.duration),
            );
        }
        if self.seed > MAX_SEED {
            return invalid("seed", self.seed, format!("0 to {MAX_SEED}"));
        }
        at_least("rate_bin", self.rate_bin, Time::ns(1_000_000))?;
        self.bdp.map_or(Ok(()), |bdp| positive("bdp.rtt", bdp.rtt))
    }

    fn check_trace(&self) -> Checked {
        let flows: u64 = self.flows.iter().map(|flow| flow.count).sum();
        let samples = |key: &str, every: Time, each: u64| {
            at_least(key, every, Time::ns(1_000))?;
            let rows = self.duration.seconds() / every.seconds() * each as f64;
            if rows > MAX_SAMPLES {
                return invalid(
                    key,
                    every,
                    format!("an interval that makes at most {MAX_SAMPLES:.0} rows, not {rows:.0}"),
                );
            }
            Ok(())
        };
        if let Some(Sampling::Every(every)) = self.trace.cwnd {
            samples("trace.cwnd", every, flows)?;
        }
        if let Some(Sampling::Every(every)) = self.trace.rule {
            samples("trace.rule", every, flows)?;
        }
        if let Some(every) = self.trace.queue {
            samples("trace.queue", every, 2 + self.links.len() as u64)?;
        }
        if let Some(every) = self.trace.rate {
            samples("trace.rate", every, flows + self.links.len().max(2) as u64)?;
        }
        let shares = &self.shares;
        samples("shares.bin", shares.bin, if self.trace.shares { flows } else { 1 })?;
        share("shares.starved_below", shares.starved_below)?;
        share("shares.band", shares.band)?;
        if shares.hold < shares.bin {
            return invalid("shares.hold", shares.hold, format!("at least bin = {}", shares.bin));
        }
        samples("rate_bin", self.rate_bin, 1)
    }
}
