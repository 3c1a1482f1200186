//! Growth and cuts of a rule without memory over the window, sampled at the points of bpf/table.h.

use crate::sampling::{Probe, Q32, Q44, Times, bytes, fixed};
use crate::{Accuracy, KernelError};
use cwndlab_rules::RuleSpec;

/// Points of each curve (bpf/table.h, POINTS).
pub const POINTS: usize = 16384;
/// Points per packet of the fine curves, which end at 256 packets.
const FINE: f64 = 64.0;
/// For sampling; rules of this kind do not depend on them.
const ANY_TIMES: Times = Times { rtt_s: 0.1, qdelay_s: 0.0 };

/// Growth and cut, each at fine and at whole windows.
pub(crate) struct Table {
    growth: [Vec<f64>; 2],
    cut: [Vec<f64>; 2],
}

impl Table {
    /// Samples the rule at every point. Points below one packet, which is the least window, have
    /// the values at one packet.
    pub(crate) fn of(spec: &RuleSpec) -> Result<Self, KernelError> {
        let mut probe = Probe::new(spec);
        let mut curves = |step: f64| -> Result<(Vec<f64>, Vec<f64>), KernelError> {
            (0..POINTS)
                .map(|point| (point as f64 * step).max(1.0))
                .map(|cwnd| Ok((probe.growth(cwnd, ANY_TIMES)?, probe.cut(cwnd, ANY_TIMES)?)))
                .collect()
        };
        let (fine, whole) = (curves(1.0 / FINE)?, curves(1.0)?);
        Ok(Self { growth: [fine.0, whole.0], cut: [fine.1, whole.1] })
    }

    /// The bytes of `struct table`.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let curves = self
            .growth
            .iter()
            .map(|curve| (curve, Q44))
            .chain(self.cut.iter().map(|curve| (curve, Q32)));
        curves
            .flat_map(|(curve, one)| {
                bytes(&curve.iter().map(|&value| fixed(value, one)).collect::<Vec<_>>())
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    /// Compares the interpolation with the rule halfway between points, from one packet on.
    pub(crate) fn accuracy(&self, spec: &RuleSpec) -> Result<Accuracy, KernelError> {
        let (mut probe, mut accuracy) = (Probe::new(spec), Accuracy::default());
        let fine_end = POINTS / FINE as usize - 1;
        for (curve, step, cells) in [
            (0, 1.0 / FINE, FINE as usize..fine_end * FINE as usize),
            (1, 1.0, fine_end..POINTS - 1),
        ] {
            let halfway = |points: &[f64], point: usize| (points[point] + points[point + 1]) / 2.0;
            for point in cells {
                let cwnd = (point as f64 + 0.5) * step;
                accuracy.note_growth(
                    halfway(&self.growth[curve], point),
                    probe.growth(cwnd, ANY_TIMES)?,
                    1.0 / Q44,
                );
                accuracy.note_cut(
                    halfway(&self.cut[curve], point),
                    probe.cut(cwnd, ANY_TIMES)?,
                    cwnd,
                );
            }
        }
        Ok(accuracy)
    }
}
