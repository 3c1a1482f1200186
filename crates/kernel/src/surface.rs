//! Growth and cuts of a rule over window and RTT, or window and queueing delay, sampled on the grid
//! of bpf/surface.h.

use crate::sampling::{MOST_GROWTH, Probe, Q32, Q44, Times, bytes, fixed};
use crate::{Accuracy, KernelError};
use cwndlab_rules::RuleSpec;

/// Points per octave (bpf/surface.h).
const STEPS: usize = 16;
const WINDOW_OCTAVES: usize = 14;
const RTT_OCTAVES: usize = 18;
const RTT_LEAST_S: f64 = 64e-6;
const WINDOWS: usize = WINDOW_OCTAVES * STEPS + 1;
const RTTS: usize = RTT_OCTAVES * STEPS + 1;
const ROOM: usize = 1 << 16;

/// The time that a rule depends on, besides the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    RoundTrip,
    QueueingDelay,
}

impl Axis {
    /// The times at a point of this axis; the queueing delay begins at 0.
    fn times(self, place: f64) -> Times {
        let time_s = RTT_LEAST_S * along(place);
        match self {
            Self::RoundTrip => Times { rtt_s: time_s, qdelay_s: 0.0 },
            Self::QueueingDelay => {
                let qdelay_s = time_s - RTT_LEAST_S;
                Times { rtt_s: 1.0 + qdelay_s, qdelay_s }
            }
        }
    }
}

/// Growth and cuts at every grid point; the window index varies fastest.
pub(crate) struct Surface {
    axis: Axis,
    growth: Vec<f64>,
    cut: Vec<f64>,
}

/// The value at a position on an axis that begins at 1 and has octaves of equal steps.
fn along(place: f64) -> f64 {
    let octave = (place / STEPS as f64).floor();
    (1.0 + place / STEPS as f64 - octave) * 2f64.powf(octave)
}

impl Surface {
    pub(crate) fn of(spec: &RuleSpec, axis: Axis) -> Result<Self, KernelError> {
        let mut probe = Probe::new(spec);
        let mut surface = Self {
            axis,
            growth: Vec::with_capacity(WINDOWS * RTTS),
            cut: Vec::with_capacity(WINDOWS * RTTS),
        };
        for rtt in 0..RTTS {
            let times = axis.times(rtt as f64);
            for window in 0..WINDOWS {
                let cwnd = along(window as f64);
                surface.growth.push(probe.held_growth(cwnd, times)?);
                surface.cut.push(probe.cut(cwnd, times)?);
            }
        }
        Ok(surface)
    }

    /// The bytes of `struct surface`.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let fixed = |points: &[f64], one: f64| {
            let mut room: Vec<i64> = points.iter().map(|&value| fixed(value, one)).collect();
            room.resize(ROOM, 0);
            room
        };
        let is_queueing = [i64::from(self.axis == Axis::QueueingDelay)];
        bytes(&fixed(&self.growth, Q44))
            .chain(bytes(&fixed(&self.cut, Q32)))
            .chain(bytes(&is_queueing))
            .collect()
    }

    /// Compares the interpolation with the rule in the middle of every cell.
    pub(crate) fn accuracy(&self, spec: &RuleSpec) -> Result<Accuracy, KernelError> {
        let (mut probe, mut accuracy) = (Probe::new(spec), Accuracy::default());
        for rtt in 0..RTTS - 1 {
            let times = self.axis.times(rtt as f64 + 0.5);
            for window in 0..WINDOWS - 1 {
                let cwnd = along(window as f64 + 0.5);
                let corner = rtt * WINDOWS + window;
                let corners =
                    |points: &[f64]| [0, 1, WINDOWS, WINDOWS + 1].map(|next| points[corner + next]);
                let growth = corners(&self.growth);
                // Where growth is limited, or leaves two packets, there is a kink.
                let least = (2.0 - along(window as f64)).min(0.0);
                if growth.iter().all(|&growth| growth.abs() < MOST_GROWTH && growth > least) {
                    accuracy.note_growth(
                        growth.iter().sum::<f64>() / 4.0,
                        probe.held_growth(cwnd, times)?,
                        1.0 / cwnd,
                    );
                }
                accuracy.note_cut(
                    corners(&self.cut).iter().sum::<f64>() / 4.0,
                    probe.cut(cwnd, times)?,
                    cwnd,
                );
            }
        }
        Ok(accuracy)
    }
}
