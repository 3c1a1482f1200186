//! OLIA, the Opportunistic Linked Increases Algorithm (Khalili et al. 2012;
//! draft-khalili-mptcp-congestion-control-05 section 3): coupled growth that also moves windows
//! towards the paths that look best and have small ones.
//!
//! ```text
//! per ACK on r:  w_r <- w_r + (w_r / rtt_r^2) / (sum_k w_k / rtt_k)^2 + alpha_r / w_r
//! on loss on r:  w_r <- w_r / 2
//! alpha_r = 1 / (n |C|)   for r in C: best paths, whose window is not the largest
//!         = -1 / (n |M|)  for r in M: paths with the largest window, where C is not empty
//!         = 0             otherwise
//! ```
//!
//! `w` in packets, n subflows. A path is best where l / rtt^2 is largest, l being the packets
//! acknowledged between the last two losses or since the last one, whichever are more: TCP's rate
//! there is about the square root of 2 l / rtt^2. A flow without siblings is NewReno.

use crate::family::no_check;
use crate::{Ack, AckFields, Congestion, FamilyOf, Needs, Sibling, WindowRule};

/// OLIA.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Olia {
    /// 1 / (rtt_r sum_k w_k / rtt_k)^2, per packet squared; none without siblings.
    share: Option<f64>,
    /// alpha_r.
    alpha: f64,
}

/// alpha_r of a subflow.
fn alpha(siblings: &[Sibling], own: usize) -> f64 {
    let quality = |one: &Sibling| one.loss_interval_packets / (one.srtt_s * one.srtt_s);
    let best = Sibling::largest(siblings, quality);
    let largest = Sibling::largest(siblings, |one| one.cwnd);
    let is_collected = |one: &&Sibling| quality(one) == best && one.cwnd < largest;
    let collected = siblings.iter().filter(is_collected).count() as f64;
    let subflows = siblings.len() as f64;
    if collected == 0.0 {
        0.0
    } else if is_collected(&&siblings[own]) {
        1.0 / (subflows * collected)
    } else if siblings[own].cwnd == largest {
        let widest = siblings.iter().filter(|one| one.cwnd == largest).count() as f64;
        -1.0 / (subflows * widest)
    } else {
        0.0
    }
}

impl WindowRule for Olia {
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        let Some(share) = self.share else { return ack.per_packet(cwnd, |cwnd| cwnd + 1.0 / cwnd) };
        ack.per_packet(cwnd, |cwnd| cwnd + (cwnd * share + self.alpha / cwnd))
    }

    fn decrease(&mut self, cwnd: f64, _: Congestion) -> f64 {
        cwnd / 2.0
    }

    fn on_siblings(&mut self, siblings: &[Sibling], own: usize) {
        if siblings.len() == 1 {
            *self = Self::default();
            return;
        }
        self.share = Some(Sibling::share(siblings, own));
        self.alpha = alpha(siblings, own);
    }

    fn needs(&self) -> Needs {
        Needs { ack: AckFields::Rtt, coupled: true, ..Needs::default() }
    }

    fn state(&self, report: &mut dyn FnMut(&str, f64)) {
        report("alpha", self.alpha);
    }
}

pub(crate) const FAMILY: FamilyOf<Box<Olia>> = FamilyOf {
    name: "OLIA",
    summary: "couple the subflows of a connection, and move windows to the best of their paths",
    source: "Khalili et al. 2012; draft-khalili-mptcp-congestion-control-05, section 3",
    example: "OLIA",
    deployed: false,
    parameters: &[],
    check: no_check,
    build: |_| Box::default(),
};

#[cfg(test)]
mod tests {
    use super::*;

    fn siblings<const N: usize>(of: [(f64, f64, f64); N]) -> [Sibling; N] {
        of.map(|(cwnd, srtt_s, loss_interval_packets)| Sibling {
            cwnd,
            srtt_s,
            loss_interval_packets,
        })
    }

    fn grown(siblings: &[Sibling], own: usize) -> f64 {
        let mut rule = Olia::default();
        rule.on_siblings(siblings, own);
        rule.increase(siblings[own].cwnd, &Ack::EMPTY)
    }

    /// 10 and 20 packets at 100 ms, one loss in 100 and in 50 packets: the first path is best and
    /// has the smaller window. Sum 100 + 200 = 300 packets/s. First: 10 / 0.01 / 90,000 = 1/90, and
    /// 0.5 / 10. Second: 1/45 - 0.5 / 20.
    #[test]
    fn windows_move_to_the_best_path() {
        let two = siblings([(10.0, 0.1, 100.0), (20.0, 0.1, 50.0)]);
        assert!((grown(&two, 0) - 10.061_111_111_111_111).abs() < 1e-12);
        assert!((grown(&two, 1) - 19.997_222_222_222_222).abs() < 1e-12);
    }

    /// The best path has the largest window: nothing moves. 20 packets: 1/45.
    #[test]
    fn nothing_moves_where_the_best_path_has_the_largest_window() {
        let two = siblings([(10.0, 0.1, 50.0), (20.0, 0.1, 100.0)]);
        assert!((grown(&two, 1) - 20.022_222_222_222_222).abs() < 1e-12);
        assert!((grown(&two, 0) - 10.011_111_111_111_111).abs() < 1e-12);
    }

    /// Three paths, two of them best (200 / 0.01 = 800 / 0.04): each gets 1/6, the widest loses
    /// 1/3. Half the RTT counts four times.
    #[test]
    fn best_paths_share_what_the_widest_gives() {
        let three = siblings([(4.0, 0.1, 200.0), (5.0, 0.2, 800.0), (9.0, 0.1, 10.0)]);
        assert_eq!([0, 1, 2].map(|own| alpha(&three, own)), [1.0 / 6.0, 1.0 / 6.0, -1.0 / 3.0]);
    }

    #[test]
    fn a_flow_without_siblings_is_newreno() {
        assert_eq!(Olia::default().increase(10.0, &Ack::EMPTY), 10.1);
        assert!((grown(&siblings([(10.0, 0.1, 5.0)]), 0) - 10.1).abs() < 1e-12);
    }
}
