//! NADA, what the receiver aggregates: delays, losses and marks of the last 500 ms in one congestion
//! signal (RFC 8698, sections 4.2 and 5.1).

use super::loss_intervals::LossIntervals;
use crate::Ack;
use crate::base_delay::BaseDelay;
use std::collections::VecDeque;

/// Interval of feedback, DELTA, seconds.
pub(super) const FEEDBACK_S: f64 = 0.1;
/// Observation window, LOGWIN, seconds.
pub(super) const OBSERVATION_S: f64 = 0.5;
/// Packets over which the queueing delay is filtered (section 5.1.1).
const FILTER: usize = 15;
/// Queueing delay that ends accelerated ramp-up, QEPS, seconds.
const RAMP_UP_DELAY_S: f64 = 0.01;
/// Delay from which it is warped, QTH, seconds, and the exponent, LAMBDA.
const WARP_FROM_S: f64 = 0.05;
const WARP_EXPONENT: f64 = 0.5;
/// Average loss intervals without loss until delay counts unwarped, MULTILOSS.
const WARP_INTERVALS: f64 = 7.0;
/// Penalties DLOSS and DMARK, seconds, at the ratios PLRREF and PMRREF.
const LOSS_PENALTY_S: f64 = 0.01;
const MARK_PENALTY_S: f64 = 0.002;
const REFERENCE_RATIO: f64 = 0.01;
/// Smoothing of the ratios of loss and marks, ALPHA.
const SMOOTHING: f64 = 0.1;
/// Largest congestion signal, seconds: that of the authors' implementation (ns3-rmcat, XMAX). The
/// RFC names none; without one the fall of a large signal would multiply the rate (equation 7).
const MAX_SIGNAL_S: f64 = 0.5;
/// Reports at intervals of exactly 100 ms are due in spite of rounding.
const ROUNDING_S: f64 = 1e-9;

/// Counts at the time of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counts {
    at_s: f64,
    delivered: u64,
    lost: u64,
    marked: u64,
    /// Largest queueing delay since the report before, seconds.
    largest_delay_s: f64,
}

/// A report of the receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Report {
    /// Since the last report, seconds; at most 500 ms.
    pub(super) interval_s: f64,
    /// Aggregated congestion signal, x_curr, seconds.
    pub(super) signal_s: f64,
    /// Receiving rate, r_recv, packets/s.
    pub(super) receiving_packets_s: f64,
    /// Nothing in the observation window tells of congestion: the mode is accelerated ramp-up.
    pub(super) is_clear: bool,
}

/// What is known of the path.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SignalAggregator {
    base: BaseDelay,
    /// Queueing delays of the last packets, seconds.
    delays_s: [f64; FILTER],
    next: usize,
    /// Counts now, and at the reports of the observation window.
    counts: Counts,
    reports: VecDeque<Counts>,
    losses: LossIntervals,
    pub(super) loss_ratio: f64,
    pub(super) mark_ratio: f64,
}

impl SignalAggregator {
    pub(super) fn new() -> Self {
        Self {
            base: BaseDelay::new(),
            delays_s: [f64::INFINITY; FILTER],
            next: 0,
            counts: Counts::default(),
            reports: VecDeque::new(),
            losses: LossIntervals::new(),
            loss_ratio: 0.0,
            mark_ratio: 0.0,
        }
    }

    pub(super) fn add_marks(&mut self, packets: u64) {
        self.counts.marked += packets;
    }

    /// Adds what an ACK tells of its packets.
    pub(super) fn add(&mut self, ack: &Ack) {
        let delivered = ack.delivered_packets.saturating_sub(self.counts.delivered);
        let lost = ack.lost_packets.saturating_sub(self.counts.lost);
        self.losses.add(delivered, lost, ack.now_s, ack.srtt_s);
        (self.counts.at_s, self.counts.delivered) = (ack.now_s, self.counts.delivered + delivered);
        self.counts.lost += lost;
        self.add_marks(ack.marked_packets);
        // The round trip of a handshake is none of media (section 5.1.1): its packets are smaller.
        let is_handshake = ack.delivered_packets == 1 && ack.delivered_since_sent_packets == 1;
        if ack.rtt_s > 0.0 && !is_handshake {
            self.base.update(ack.now_s, ack.rtt_s);
            let delay_s = ack.rtt_s - self.base.value_s();
            self.delays_s[self.next] = delay_s;
            self.next = (self.next + 1) % FILTER;
            self.counts.largest_delay_s = self.counts.largest_delay_s.max(delay_s);
        }
    }

    /// Queueing delay d_queue, seconds: the minimum of the last 15 packets (section 5.1.1).
    pub(super) fn queueing_delay_s(&self) -> f64 {
        self.delays_s.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// The report, if one is due.
    pub(super) fn report(&mut self) -> Option<Report> {
        let now = self.counts;
        let Some(last) = self.reports.back() else {
            self.reports.push_back(now);
            return None;
        };
        let interval_s = now.at_s - last.at_s;
        if interval_s < FEEDBACK_S - ROUNDING_S {
            return None;
        }
        let from_s = now.at_s - OBSERVATION_S - ROUNDING_S;
        while self.reports.len() > 1 && self.reports[0].at_s < from_s {
            self.reports.pop_front();
        }
        let first = self.reports[0];
        let (delivered, lost) = (now.delivered - first.delivered, now.lost - first.lost);
        let marked = (now.marked - first.marked).min(delivered);
        let smooth = |ratio: f64, part: u64, whole: u64| {
            let now = if whole > 0 { part as f64 / whole as f64 } else { 0.0 };
            SMOOTHING * now + (1.0 - SMOOTHING) * ratio
        };
        self.loss_ratio = smooth(self.loss_ratio, lost, delivered + lost);
        self.mark_ratio = smooth(self.mark_ratio, marked, delivered);
        let was_short = |counts: &Counts| counts.largest_delay_s < RAMP_UP_DELAY_S;
        let is_clear = lost == 0
            && marked == 0
            && was_short(&now)
            && self.reports.iter().skip(1).all(was_short);
        self.reports.push_back(now);
        self.counts.largest_delay_s = 0.0;
        let delay_s = self.warped_s(self.queueing_delay_s());
        Some(Report {
            interval_s: interval_s.min(OBSERVATION_S),
            signal_s: signal_s(delay_s, self.mark_ratio, self.loss_ratio).min(MAX_SIGNAL_S),
            receiving_packets_s: delivered as f64 / (now.at_s - first.at_s),
            is_clear,
        })
    }

    /// The queueing delay as it counts: warped for seven average loss intervals after a loss, then
    /// less and less over one more (section 4.2).
    fn warped_s(&self, delay_s: f64) -> f64 {
        let Some(passed) = self.losses.since_last_loss() else { return delay_s };
        let unwarped = (passed - WARP_INTERVALS).clamp(0.0, 1.0);
        unwarped * delay_s + (1.0 - unwarped) * warp_s(delay_s)
    }
}

/// Equation 1.
fn warp_s(delay_s: f64) -> f64 {
    if delay_s < WARP_FROM_S {
        return delay_s;
    }
    WARP_FROM_S * libm::exp(-WARP_EXPONENT * (delay_s - WARP_FROM_S) / WARP_FROM_S)
}

/// Equation 2.
fn signal_s(delay_s: f64, mark_ratio: f64, loss_ratio: f64) -> f64 {
    let square = |ratio: f64| (ratio / REFERENCE_RATIO) * (ratio / REFERENCE_RATIO);
    delay_s + MARK_PENALTY_S * square(mark_ratio) + LOSS_PENALTY_S * square(loss_ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(actual: f64, expected: f64) {
        assert!((actual - expected).abs() < 1e-9, "{actual} instead of {expected}");
    }

    #[test]
    fn equation_1_by_hand() {
        close(warp_s(0.049), 0.049);
        close(warp_s(0.05), 0.05);
        // 50 ms e^-0.5, and 50 ms e^-1.
        close(warp_s(0.1), 0.030_326_532_985_6);
        close(warp_s(0.15), 0.018_393_972_058_6);
    }

    #[test]
    fn equation_2_by_hand() {
        // 2 % marked: 2 ms x 4; 3 % lost: 10 ms x 9.
        close(signal_s(0.02, 0.02, 0.03), 0.118);
    }

    /// A packet every 10 ms. `rtt_s`, and packets lost and marked so far, by number.
    fn run(
        packets: u64,
        rtt_s: impl Fn(u64) -> f64,
        lost: impl Fn(u64) -> u64,
        marked: impl Fn(u64) -> bool,
    ) -> (SignalAggregator, Vec<Report>) {
        let mut aggregation = SignalAggregator::new();
        let mut reports = Vec::new();
        for number in 1..=packets {
            aggregation.add(&Ack {
                now_s: number as f64 * 0.01,
                acked_packets: 1,
                delivered_packets: number,
                lost_packets: lost(number),
                marked_packets: u64::from(marked(number)),
                rtt_s: rtt_s(number),
                srtt_s: 0.05,
                ..Ack::default()
            });
            reports.extend(aggregation.report());
        }
        (aggregation, reports)
    }

    #[test]
    fn a_report_every_100_ms_with_the_rate_of_500() {
        // 101 packets: reports at 0.11, 0.21, ... 1.01 s.
        let (_, reports) = run(101, |_| 0.05, |_| 0, |_| false);
        assert_eq!(reports.len(), 10);
        for report in reports {
            close(report.interval_s, 0.1);
            close(report.receiving_packets_s, 100.0);
            assert_eq!((report.signal_s, report.is_clear), (0.0, true));
        }
    }

    #[test]
    fn the_least_delay_of_15_packets_counts_and_the_largest_of_500_ms_ends_ramp_up() {
        // From the 42nd packet on 30 ms more, but one packet in fourteen has none.
        let delay = |number| if number > 41 && number % 14 != 0 { 0.08 } else { 0.05 };
        let (_, reports) = run(61, delay, |_| 0, |_| false);
        assert_eq!(reports.last().unwrap().signal_s, 0.0);
        assert_eq!(
            reports.iter().map(|report| report.is_clear).collect::<Vec<_>>(),
            [true, true, true, true, false, false]
        );
        // From the 42nd packet on all of them: 15 packets later, at the sixth report, 30 ms count.
        let (_, reports) =
            run(61, |number| if number > 41 { 0.08 } else { 0.05 }, |_| 0, |_| false);
        assert_eq!(reports[4].signal_s, 0.0);
        close(reports[5].signal_s, 0.03);
        // One delay of 12 ms more is in the window of five reports, to that of 0.91 s.
        let (_, reports) =
            run(121, |number| if number == 45 { 0.062 } else { 0.05 }, |_| 0, |_| false);
        let clear: Vec<_> = reports.iter().map(|report| report.is_clear).collect();
        assert_eq!(clear[..4], [true; 4]);
        assert_eq!(clear[4..9], [false; 5]);
        assert_eq!(clear[9..], [true; 3]);
    }

    #[test]
    fn ratios_of_500_ms_are_smoothed_by_a_tenth() {
        // Two packets are lost before the 25th of 61: the report at 0.31 s has 2 of 32 lost, the next
        // ones 2 of 42, 52 and 52.
        let (aggregation, reports) =
            run(61, |_| 0.05, |number| if number >= 25 { 2 } else { 0 }, |_| false);
        let by_hand: f64 = [2.0 / 32.0, 2.0 / 42.0, 2.0 / 52.0, 2.0 / 52.0]
            .iter()
            .fold(0.0, |ratio, now| 0.9 * ratio + 0.1 * now);
        close(aggregation.loss_ratio, by_hand);
        assert_eq!(reports.iter().filter(|report| report.is_clear).count(), 2);
        // At 0.31 s: 0.1 x 2/32 = 0.00625 lost, a penalty of 10 ms x 0.625^2 = 3.90625 ms.
        close(reports[2].signal_s, 0.003_906_25);
        // A packet in ten is marked: 0.1, 0.19, 0.271 of 10 % after one, two and three reports, so
        // that the third has a penalty of 2 ms x 2.71^2 = 14.6882 ms.
        let (aggregation, reports) = run(31, |_| 0.05, |_| 0, |number| number % 10 == 5);
        close(aggregation.mark_ratio, 0.0271);
        close(reports[2].signal_s, 0.014_688_2);
        assert!(!reports[0].is_clear);
    }

    #[test]
    fn delays_are_warped_for_seven_loss_intervals_after_a_loss() {
        let mut aggregation = SignalAggregator::new();
        close(aggregation.warped_s(0.1), 0.1);
        // 100 packets until a loss, then 699 more: 700 are seven averages.
        aggregation.losses.add(100, 1, 1.0, 0.05);
        close(aggregation.warped_s(0.1), 0.030_326_532_985_6);
        aggregation.losses.add(699, 0, 8.0, 0.05);
        close(aggregation.warped_s(0.1), 0.030_326_532_985_6);
        // 725: a quarter of 100 ms and three quarters of 30.33 ms.
        aggregation.losses.add(25, 0, 8.0, 0.05);
        close(aggregation.warped_s(0.1), 0.025 + 0.022_744_899_739_2);
        aggregation.losses.add(75, 0, 9.0, 0.05);
        close(aggregation.warped_s(0.1), 0.1);
        aggregation.losses.add(500, 0, 9.0, 0.05);
        close(aggregation.warped_s(0.1), 0.1);
    }

    #[test]
    fn a_large_signal_is_bounded() {
        let (_, reports) = run(101, |_| 0.05, |number| 3 * number, |_| false);
        assert_eq!(reports.last().unwrap().signal_s, 0.5);
    }

    /// An ACK of eight packets is one delay of the fifteen, and eight packets received: fourteen later
    /// ACKs with 20 ms more leave the least delay at 0, the fifteenth does not. 8 packets in 10 ms are
    /// 800/s.
    #[test]
    fn an_ack_of_eight_packets_is_one_delay() {
        let mut aggregation = SignalAggregator::new();
        let mut receiving = Vec::new();
        for number in 1..=16_u64 {
            aggregation.add(&Ack {
                now_s: number as f64 * 0.01,
                acked_packets: 8,
                growth_packets: 8,
                delivered_packets: 8 * number,
                rtt_s: if number == 1 { 0.05 } else { 0.07 },
                srtt_s: 0.05,
                ..Ack::default()
            });
            receiving.extend(aggregation.report().map(|report| report.receiving_packets_s));
            close(aggregation.queueing_delay_s(), if number == 16 { 0.02 } else { 0.0 });
        }
        assert_eq!(receiving.len(), 1);
        close(receiving[0], 800.0);
    }
}
