//! LIA, the Linked Increases Algorithm (RFC 6356 section 3): the subflows of a connection together
//! take what one TCP would take on the best of their paths.
//!
//! ```text
//! per ACK on i:  w_i <- w_i + min(alpha / W, 1 / w_i)
//!                alpha = W max_k(w_k / rtt_k^2) / (sum_k w_k / rtt_k)^2,   W = sum_k w_k
//! on loss on i:  w_i <- w_i / 2
//! ```
//!
//! `w` in packets, the maximum and the sums over the subflows of the connection. A flow without
//! siblings is NewReno: alpha is 1.

use crate::family::no_check;
use crate::{Ack, AckFields, Congestion, FamilyOf, Needs, Sibling, WindowRule};

/// LIA.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lia {
    /// alpha / W, packets per ACK; infinite for a flow without siblings.
    step: f64,
    /// alpha.
    alpha: f64,
}

impl Default for Lia {
    fn default() -> Self {
        Self { step: f64::INFINITY, alpha: 1.0 }
    }
}

impl WindowRule for Lia {
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        ack.per_packet(cwnd, |cwnd| cwnd + self.step.min(1.0 / cwnd))
    }

    fn decrease(&mut self, cwnd: f64, _: Congestion) -> f64 {
        cwnd / 2.0
    }

    fn on_siblings(&mut self, siblings: &[Sibling], _own: usize) {
        if siblings.len() == 1 {
            *self = Self::default();
            return;
        }
        let best = Sibling::largest(siblings, |one| one.cwnd / (one.srtt_s * one.srtt_s));
        let rate = Sibling::total_rate_packets_s(siblings);
        self.step = best / (rate * rate);
        self.alpha = siblings.iter().map(|one| one.cwnd).sum::<f64>() * self.step;
    }

    fn needs(&self) -> Needs {
        Needs { ack: AckFields::Rtt, coupled: true, ..Needs::default() }
    }

    fn state(&self, report: &mut dyn FnMut(&str, f64)) {
        report("alpha", self.alpha);
    }
}

pub(crate) const FAMILY: FamilyOf<Box<Lia>> = FamilyOf {
    name: "LIA",
    summary: "couple the subflows of a connection: together one TCP on the best of their paths",
    source: "RFC 6356, section 3",
    example: "LIA",
    deployed: false,
    parameters: &[],
    check: no_check,
    build: |_| Box::default(),
};

#[cfg(test)]
mod tests {
    use super::*;

    fn siblings(of: [(f64, f64); 2]) -> [Sibling; 2] {
        of.map(|(cwnd, srtt_s)| Sibling { cwnd, srtt_s, ..Sibling::default() })
    }

    /// 10 packets at 100 ms and 20 at 200 ms: the maximum is 10 / 0.01 = 1000, the sum 100 + 100 =
    /// 200 packets/s. 1000 / 40,000 = 0.025 packets per ACK on either; alpha = 30 * 0.025 = 0.75.
    #[test]
    fn both_windows_grow_by_alpha_over_the_sum() {
        let mut rule = Lia::default();
        rule.on_siblings(&siblings([(10.0, 0.1), (20.0, 0.2)]), 0);
        assert!((rule.alpha - 0.75).abs() < 1e-12);
        assert!((rule.increase(10.0, &Ack::EMPTY) - 10.025).abs() < 1e-12);
        assert!((rule.increase(20.0, &Ack::EMPTY) - 20.025).abs() < 1e-12);
        assert_eq!(rule.decrease(20.0, Congestion::FastRetransmit), 10.0);
    }

    /// 10 packets at 10 ms and 100 at 10 s: 100,000 / (1000 + 10)^2 = 0.098 packets per ACK are
    /// more than TCP's 1/100 on the second.
    #[test]
    fn no_window_grows_faster_than_that_of_tcp() {
        let mut rule = Lia::default();
        rule.on_siblings(&siblings([(10.0, 0.01), (100.0, 10.0)]), 1);
        assert_eq!(rule.increase(100.0, &Ack::EMPTY), 100.01);
        assert!((rule.increase(10.0, &Ack::EMPTY) - 10.098_029_604_940_69).abs() < 1e-12);
    }

    #[test]
    fn a_flow_without_siblings_is_newreno() {
        assert_eq!(Lia::default().increase(10.0, &Ack::EMPTY), 10.1);
    }
}
