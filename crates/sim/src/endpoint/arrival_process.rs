//! Arrival process of flows.

use crate::random::variable::RandomVariable;

/// Arrival process: Poisson or regular, with a mean gap per phase.
#[derive(Clone, Debug)]
pub struct ArrivalProcess {
    /// Gap in units of the mean gap: exponential, or 1.
    pub unit: RandomVariable,
    /// Length and mean gap of each phase, seconds; the phases repeat.
    pub phases: Vec<(f64, f64)>,
    /// Index of the current phase.
    pub phase: usize,
    /// End of the current phase, seconds.
    pub until_s: f64,
    /// End of the process, seconds.
    pub stop_s: f64,
}

impl ArrivalProcess {
    /// A process with these phases from `start_s` on.
    pub fn new(unit: RandomVariable, phases: Vec<(f64, f64)>, start_s: f64, stop_s: f64) -> Self {
        let until_s = start_s + phases[0].0;
        Self { unit, phases, phase: 0, until_s, stop_s }
    }

    /// The arrival after `now_s`, if it precedes the stop. A gap that spans phases is rescaled at
    /// their boundaries, which keeps the process memoryless.
    pub fn next_time_s(&mut self, mut now_s: f64) -> Option<f64> {
        let mut units = self.unit.next();
        loop {
            let gap_s = self.phases[self.phase].1;
            let next_time_s = now_s + units * gap_s;
            if next_time_s <= self.until_s || now_s >= self.stop_s {
                return Some(next_time_s).filter(|&next_time_s| next_time_s < self.stop_s);
            }
            units -= (self.until_s - now_s) / gap_s;
            now_s = self.until_s;
            self.phase = (self.phase + 1) % self.phases.len();
            self.until_s += self.phases[self.phase].0;
        }
    }
}
