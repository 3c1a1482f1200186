//! BALIA, the Balanced Linked Adaptation (Peng et al. 2016; draft-walid-mptcp-congestion-control-04
//! section 3): between LIA's friendliness and OLIA's responsiveness.
//!
//! ```text
//! per ACK on r:  w_r <- w_r + (x_r / rtt_r) / (sum_k x_k)^2 (1 + a_r) / 2 (4 + a_r) / 5
//! on loss on r:  w_r <- w_r - w_r / 2 min(a_r, 1.5)
//! x_k = w_k / rtt_k,   a_r = max_k(x_k) / x_r
//! ```
//!
//! `w` in packets. A flow without siblings is NewReno: a_r is 1.

use crate::family::no_check;
use crate::{Ack, AckFields, Congestion, FamilyOf, Needs, Sibling, WindowRule};

/// BALIA.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Balia {
    /// 1 / (rtt_r sum_k x_k)^2, per packet squared; none without siblings.
    share: Option<f64>,
    /// a_r.
    alpha: f64,
}

impl Default for Balia {
    fn default() -> Self {
        Self { share: None, alpha: 1.0 }
    }
}

impl WindowRule for Balia {
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        let Some(share) = self.share else { return ack.per_packet(cwnd, |cwnd| cwnd + 1.0 / cwnd) };
        let gain = (1.0 + self.alpha) / 2.0 * (4.0 + self.alpha) / 5.0;
        ack.per_packet(cwnd, |cwnd| cwnd + cwnd * share * gain)
    }

    fn decrease(&mut self, cwnd: f64, _: Congestion) -> f64 {
        cwnd - cwnd / 2.0 * self.alpha.min(1.5)
    }

    fn on_siblings(&mut self, siblings: &[Sibling], own: usize) {
        if siblings.len() == 1 {
            *self = Self::default();
            return;
        }
        self.share = Some(Sibling::share(siblings, own));
        let fastest = Sibling::largest(siblings, Sibling::rate_packets_s);
        self.alpha = fastest / siblings[own].rate_packets_s();
    }

    fn needs(&self) -> Needs {
        Needs { ack: AckFields::Rtt, coupled: true, ..Needs::default() }
    }

    fn state(&self, report: &mut dyn FnMut(&str, f64)) {
        report("alpha", self.alpha);
    }
}

pub(crate) const FAMILY: FamilyOf<Box<Balia>> = FamilyOf {
    name: "BALIA",
    summary: "couple the subflows of a connection, in balance of friendliness and response",
    source: "Peng et al. 2016; draft-walid-mptcp-congestion-control-04, section 3",
    example: "BALIA",
    deployed: false,
    parameters: &[],
    check: no_check,
    build: |_| Box::default(),
};

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 and 20 packets at 100 ms: 100 and 200 packets/s, a = 2 and 1. The first grows by
    /// 1000 / 90,000 * 1.5 * 1.2 = 0.02, the second by 2000 / 90,000. A loss takes three quarters
    /// of the first, for 1.5 is less than 2, and half of the second.
    #[test]
    fn by_hand() {
        let two = [10.0, 20.0].map(|cwnd| Sibling { cwnd, srtt_s: 0.1, ..Sibling::default() });
        let [mut first, mut second] = [Balia::default(), Balia::default()];
        first.on_siblings(&two, 0);
        second.on_siblings(&two, 1);
        assert!((first.increase(10.0, &Ack::EMPTY) - 10.02).abs() < 1e-12);
        assert!((second.increase(20.0, &Ack::EMPTY) - 20.022_222_222_222_222).abs() < 1e-12);
        assert!((first.decrease(10.0, Congestion::FastRetransmit) - 2.5).abs() < 1e-12);
        assert!((second.decrease(20.0, Congestion::FastRetransmit) - 10.0).abs() < 1e-12);
    }

    #[test]
    fn a_flow_without_siblings_is_newreno() {
        let mut rule = Balia::default();
        assert_eq!(rule.increase(10.0, &Ack::EMPTY), 10.1);
        assert_eq!(rule.decrease(10.0, Congestion::Timeout), 5.0);
    }
}
