//! NADA (RFC 8698): real-time media, by delay, loss and marks in one congestion signal.
//!
//! ```text
//! every 100 ms:  d <- least queueing delay of the last 15 packets
//!                d <- 50 ms exp(-0.5 (d - 50 ms) / 50 ms) if d is above it and losses are recent
//!                x <- d + 2 ms (p_mark / 1 %)^2 + 10 ms (p_loss / 1 %)^2
//! no congestion in the last 500 ms (accelerated ramp-up):
//!                r <- max(r, (1 + gamma) r_recv)      gamma = min(0.5, 50 ms / (rtt + 220 ms))
//! otherwise (gradual update):
//!                o <- x - prio xref rmax / r
//!                r <- r - 0.5 (interval / 500 ms) (o / 500 ms) r - (x - x before) / 500 ms r
//!                r <- min(rmax, max(rmin, r))
//! on a timeout:  r <- rmin
//! frames:        encoder max(rmin, r - min(0.05 r, 0.1 fps backlog)),
//!                pacing  min(rmax, r + min(0.05 r, 0.1 fps backlog))
//! ```
//!
//! `r` and `r_recv`, the receiving rate of the last 500 ms, in packets/s, delays in seconds;
//! p_loss and p_mark are ratios over 500 ms, each smoothed by a tenth per report. At rest x is prio
//! xref rmax / r, so that flows of one rmax share a link in proportion to their prio, and the queue
//! is as long as the link is slow. `backlog` is what the encoder produced and nobody sent yet,
//! packets; fps is 30.
//!
//! Source: RFC 8698, sections 4.2, 4.3 and 5, with its default parameters (section 4.1, table 2).
//! What the receiver computes there is computed here at the sender from its ACKs, as section 6 allows
//! and the authors' implementation (ns3-rmcat) does; `nada/signal.rs` has it.
//!
//! Departures: the transport is TCP's, which retransmits what is lost; so a frame is never
//! incomplete, but late. RTTs stand for one-way delays, which a sender alone does not see: queues on
//! the return path count, and the receiver acknowledges each packet at once. Marks end accelerated
//! ramp-up like losses (the RFC names losses and delay only: a queue that marks below 10 ms would be
//! filled for ever). x is at most 500 ms. An interval without feedback counts as 500 ms at most. Of
//! feedback that does not arrive the RFC says nothing: the window, what the rate sends in srtt +
//! 500 ms, stops the sender, and after a timeout it begins again with rmin.

mod loss_intervals;
mod signal;

use crate::family::{option, positive};
use crate::{Ack, Congestion, FamilyOf, MarkResponse, Needs, SlowStart, WindowRule};
use signal::{FEEDBACK_S, Report, SignalAggregator};

/// Smallest window, packets.
const MIN_CWND: f64 = 4.0;
/// KAPPA, ETA and TAU: scaling of the gradual update; TAU is the longest RTT for which it is stable,
/// seconds.
const KAPPA: f64 = 0.5;
const ETA: f64 = 2.0;
const TAU_S: f64 = 0.5;
/// GAMMA_MAX, QBOUND and DFILT: largest step of accelerated ramp-up, the queueing delay that it may
/// cause, and the delay of filtering, seconds.
const MAX_STEP: f64 = 0.5;
const RAMP_UP_QUEUE_S: f64 = 0.05;
const FILTERING_S: f64 = 0.12;
/// FPS, and BETA_V = BETA_S: share of the backlog that a frame interval shall remove.
const FRAMES_PER_S: f64 = 30.0;
const SHAPING: f64 = 0.1;
/// Largest share of the rate by which shaping changes it.
const MAX_SHAPING: f64 = 0.05;

/// NADA.
#[derive(Clone, Debug, PartialEq)]
pub struct Nada {
    /// Least and largest rate, packets/s.
    least: f64,
    largest: f64,
    /// Priority and reference congestion signal, seconds.
    priority: f64,
    reference_signal_s: f64,
    /// Reference rate r_ref, packets/s.
    rate: f64,
    aggregation: SignalAggregator,
    /// Congestion signal of the last report, seconds, and its receiving rate, packets/s.
    signal_s: f64,
    receiving: f64,
    is_ramping_up: bool,
    /// By how much shaping changes the rate, packets/s.
    shaping: f64,
}

impl Nada {
    /// A new flow between the rates `least` and `largest`, packets/s.
    pub fn new(least: f64, largest: f64, priority: f64, reference_signal_s: f64) -> Self {
        Self {
            least,
            largest,
            priority,
            reference_signal_s,
            rate: least,
            aggregation: SignalAggregator::new(),
            signal_s: 0.0,
            receiving: 0.0,
            is_ramping_up: true,
            shaping: 0.0,
        }
    }

    /// The reference rate r_ref, packets/s.
    pub fn reference_rate_packets_s(&self) -> f64 {
        self.rate
    }

    /// Sending rate r_send, packets/s (equation 11).
    fn sending(&self) -> f64 {
        (self.rate + self.shaping).min(self.largest)
    }

    /// Rate at which the encoder shall produce its next frame, packets/s (equations 8 to 10).
    pub(crate) fn encoder_rate_packets_s(&mut self, backlog_packets: u64) -> f64 {
        self.shaping =
            (SHAPING * FRAMES_PER_S * backlog_packets as f64).min(MAX_SHAPING * self.rate);
        (self.rate - self.shaping).max(self.least)
    }

    /// Modes of RFC 8698 section 4.2.
    pub(crate) fn phase(&self) -> &'static str {
        if self.is_ramping_up { "accelerated ramp-up" } else { "gradual update" }
    }

    fn update_rate(&mut self, report: &Report, rtt_s: f64) {
        let rate = if report.is_clear {
            // Equations 3 and 4.
            let step = (RAMP_UP_QUEUE_S / (rtt_s + FEEDBACK_S + FILTERING_S)).min(MAX_STEP);
            self.rate.max((1.0 + step) * report.receiving_packets_s)
        } else {
            // Equations 5 to 7.
            let offset_s = report.signal_s
                - self.priority * self.reference_signal_s * self.largest / self.rate;
            let change_s = report.signal_s - self.signal_s;
            self.rate
                - KAPPA * (report.interval_s / TAU_S) * (offset_s / TAU_S) * self.rate
                - KAPPA * ETA * (change_s / TAU_S) * self.rate
        };
        self.rate = rate.clamp(self.least, self.largest);
        (self.signal_s, self.receiving) = (report.signal_s, report.receiving_packets_s);
        self.is_ramping_up = report.is_clear;
    }
}

impl WindowRule for Nada {
    fn increase(&mut self, _: f64, ack: &Ack) -> f64 {
        self.aggregation.add(ack);
        if let Some(report) = self.aggregation.report() {
            self.update_rate(&report, ack.srtt_s);
        }
        (self.sending() * (ack.srtt_s + TAU_S)).max(MIN_CWND)
    }

    /// A loss counts in the next report.
    fn decrease(&mut self, cwnd: f64, congestion: Congestion) -> f64 {
        if congestion == Congestion::Timeout {
            self.rate = self.least;
        }
        cwnd
    }

    fn slow_start(&mut self, cwnd: f64, ack: &Ack) -> SlowStart {
        SlowStart::Leave(self.increase(cwnd, ack))
    }

    fn on_mark(&mut self, _: f64, ack: &Ack) -> MarkResponse {
        self.aggregation.add_marks(ack.marked_packets);
        MarkResponse::Consumed
    }

    fn pacing_rate_packets_s(&self) -> Option<f64> {
        Some(self.sending())
    }

    fn needs(&self) -> Needs {
        Needs {
            exact_marks: true,
            pacing: true,
            recovery: true,
            delivery_rate: true,
            prompt_acks: true,
            cut_after_mark: true,
            ..Needs::default()
        }
    }

    /// Names of RFC 8698 section 4.1.
    fn state(&self, report: &mut dyn FnMut(&str, f64)) {
        let delay_s = self.aggregation.queueing_delay_s();
        report("r_ref_packets_s", self.rate);
        report("r_recv_packets_s", self.receiving);
        report("x_curr_s", self.signal_s);
        report("d_queue_s", if delay_s.is_finite() { delay_s } else { f64::NAN });
        report("p_loss", self.aggregation.loss_ratio);
        report("p_mark", self.aggregation.mark_ratio);
    }
}

pub(crate) const FAMILY: FamilyOf<Box<Nada>> = FamilyOf {
    name: "NADA",
    summary: "real-time media: every 100 ms, change the rate by how far delay, loss and marks, as \
        one signal, are from what the rate may cause; quickly up while nothing waits",
    source: "RFC 8698, section 4",
    example: "NADA",
    deployed: false,
    parameters: &[
        option(positive("rmin", "least rate, packets/s: 150 kbit/s in packets of 1500 B"), 12.5),
        option(positive("rmax", "largest rate, packets/s: 1.5 Mbit/s in packets of 1500 B"), 125.0),
        option(positive("prio", "weight of the flow: shares are proportional to it"), 1.0),
        option(positive("xref", "congestion signal at rmax, seconds"), 0.01),
    ],
    check: |p| (p[0] > p[1]).then_some("rmin must not be above rmax"),
    build: |p| Box::new(Nada::new(p[0], p[1], p[2], p[3])),
};

#[cfg(test)]
mod tests {
    use super::*;

    fn close(actual: f64, expected: f64) {
        assert!((actual - expected).abs() < 1e-9 * expected, "{actual} instead of {expected}");
    }

    fn at(rate: f64, largest: f64) -> Nada {
        Nada { rate, ..Nada::new(10.0, largest, 1.0, 0.01) }
    }

    const CLEAR: Report =
        Report { interval_s: 0.1, signal_s: 0.0, receiving_packets_s: 100.0, is_clear: true };

    #[test]
    fn equations_3_and_4_by_hand() {
        // RTT 30 ms: 50/(30 + 100 + 120) = 0.2. 280 ms: 50/500 = 0.1.
        for (rtt_s, rate) in [(0.03, 120.0), (0.28, 110.0)] {
            let mut rule = at(90.0, 1000.0);
            rule.update_rate(&CLEAR, rtt_s);
            close(rule.reference_rate_packets_s(), rate);
        }
        // Never down, and never above rmax.
        let mut rule = at(130.0, 1000.0);
        rule.update_rate(&CLEAR, 0.03);
        close(rule.rate, 130.0);
        let mut rule = at(90.0, 115.0);
        rule.update_rate(&CLEAR, 0.03);
        close(rule.rate, 115.0);
    }

    #[test]
    fn equations_5_to_7_by_hand() {
        // x_offset = 30 - 10 x 150/100 = 15 ms, x_diff = 30 - 20 = 10 ms: 0.5 x 0.2 x 0.03 = 0.003
        // and 0.5 x 2 x 0.02 = 0.02 of the rate.
        let mut rule = Nada { signal_s: 0.02, ..at(100.0, 150.0) };
        let congested = Report { signal_s: 0.03, is_clear: false, ..CLEAR };
        rule.update_rate(&congested, 0.03);
        close(rule.rate, 97.7);
        // Nothing changed, and the offset is 30 - 1500/97.7 = 14.64688... ms: 0.1 x 0.02929376...
        rule.update_rate(&congested, 0.03);
        close(rule.rate, 97.413_8);
        // After 200 ms twice as much: x_offset is 14.60179... ms.
        rule.update_rate(&Report { interval_s: 0.2, ..congested }, 0.03);
        close(rule.rate, 96.844_834_4);
        // At rest where x is 10 ms x 150/100.
        let mut rule = Nada { signal_s: 0.015, ..at(100.0, 150.0) };
        rule.update_rate(&Report { signal_s: 0.015, ..congested }, 0.03);
        close(rule.rate, 100.0);
        // Twice the priority: at rest at 30 ms.
        let mut rule = Nada { priority: 2.0, signal_s: 0.03, ..at(100.0, 150.0) };
        rule.update_rate(&congested, 0.03);
        close(rule.rate, 100.0);
        // A signal of 500 ms takes the rate to its least.
        rule.update_rate(&Report { signal_s: 0.5, ..congested }, 0.03);
        close(rule.rate, 10.0);
    }

    #[test]
    fn equations_8_to_11_by_hand() {
        let mut rule = at(100.0, 102.0);
        // One packet waits: min(5, 0.1 x 30) = 3 less for the encoder; 103 to send, but rmax is 102.
        assert_eq!(rule.encoder_rate_packets_s(1), 97.0);
        assert_eq!(rule.pacing_rate_packets_s(), Some(102.0));
        rule.largest = 1000.0;
        assert_eq!(rule.pacing_rate_packets_s(), Some(103.0));
        // Four: min(5, 12).
        assert_eq!(rule.encoder_rate_packets_s(4), 95.0);
        assert_eq!(rule.pacing_rate_packets_s(), Some(105.0));
        assert_eq!(rule.encoder_rate_packets_s(0), 100.0);
        assert_eq!(rule.pacing_rate_packets_s(), Some(100.0));
        // Never below rmin: 10.2 - 0.51.
        assert_eq!(at(10.2, 1000.0).encoder_rate_packets_s(9), 10.0);
    }

    #[test]
    fn acks_become_reports_and_the_window_is_that_of_550_ms() {
        // 100 packets/s over 50 ms: r_recv is 100 in each report, and gamma 50/270. After the first
        // report the rate is 100 (1 + 0.185185...), 700 packets/s at most.
        let mut rule = Nada::new(12.5, 700.0, 1.0, 0.01);
        let mut cwnd = 10.0;
        for number in 1..=11_u64 {
            let ack = Ack {
                now_s: number as f64 * 0.01,
                acked_packets: 1,
                delivered_packets: number,
                rtt_s: 0.05,
                srtt_s: 0.05,
                ..Ack::default()
            };
            let SlowStart::Leave(window) = rule.slow_start(cwnd, &ack) else { panic!("stays") };
            cwnd = window;
            if number < 11 {
                // 12.5/s in 550 ms.
                close(cwnd, 6.875);
            }
        }
        close(rule.rate, 118.518_518_518_5);
        close(cwnd, 65.185_185_185_2);
        assert_eq!(rule.phase(), "accelerated ramp-up");
        // Loss and marks leave the window to the next report.
        assert_eq!(rule.decrease(cwnd, Congestion::FastRetransmit), cwnd);
        assert_eq!(rule.on_mark(cwnd, &Ack::default()), MarkResponse::Consumed);
        close(rule.rate, 118.518_518_518_5);
        rule.decrease(cwnd, Congestion::Timeout);
        close(rule.rate, 12.5);
        // 12.5/s in 50 ms + 500 ms at least, but no less than 4 packets.
        assert_eq!(Nada::new(1.0, 2.0, 1.0, 0.01).increase(1.0, &Ack::default()), 4.0);
    }
}
