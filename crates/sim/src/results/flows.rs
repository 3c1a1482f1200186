//! Results of the listed flows, and how fairly they share.

use super::mean;
use crate::build::FlowInfo;
use crate::flow::{Host, Sink};
use crate::link::Window;
use cwndlab_tcp::Counters;
use serde::Serialize;

/// One TCP flow; over the measuring window unless named `total_`.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "docs/metrics.md defines every field with its formula; names are the definition here")]
pub struct FlowResult {
    pub flow: String,
    pub group: String,
    pub rule: String,
    pub recovery: &'static str,
    pub goodput_bps: f64,
    pub delivered_packets: u64,
    pub sent_packets: u64,
    pub retransmitted_packets: u64,
    pub dropped_packets: u64,
    pub timeouts: u64,
    pub fast_retransmits: u64,
    pub ecn_reductions: u64,
    pub window_reductions: u64,
    pub loss_rate: Option<f64>,
    pub mean_rtt_s: Option<f64>,
    pub mean_rto_s: Option<f64>,
    pub mean_cwnd_packets: f64,
    pub rate_cov: Option<f64>,
    pub base_rtt_s: f64,
    pub finish_s: Option<f64>,
    pub total_sent_packets: u64,
    pub total_delivered_packets: u64,
    pub total_dropped_packets: u64,
    pub in_flight_packets: u64,
}

/// (sum x)^2 / (n sum x^2); none when nothing was delivered.
pub fn jain_index(values: &[f64]) -> Option<f64> {
    let (sum, squares) = values.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    (squares > 0.0).then(|| sum * sum / (values.len() as f64 * squares))
}

/// (largest - smallest)/mean; none when nothing was delivered.
pub fn fairness_spread(values: &[f64]) -> Option<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let (low, high) = values.iter().fold((f64::INFINITY, 0.0f64), |(low, high), &x| (low.min(x), high.max(x)));
    (mean > 0.0).then(|| (high - low) / mean)
}

/// What a flow did.
pub fn flow_result(host: &Host, sink: &Sink, info: &FlowInfo, packet_bits: f64, window: &Window, bin_s: f64, now_s: f64) -> FlowResult {
    let (begin, end): (&Counters, &Counters) = (&host.at_begin, &host.at_end);
    let sent = end.sent - begin.sent;
    let (timeouts, fast_retransmits) = (end.timeouts - begin.timeouts, end.fast_retransmits - begin.fast_retransmits);
    let ecn_reductions = end.ecn_reductions - begin.ecn_reductions;
    FlowResult {
        flow: info.name.clone(),
        group: info.group.clone(),
        rule: info.rule.clone(),
        recovery: info.recovery.name(),
        goodput_bps: sink.delivered as f64 * packet_bits / window.seconds(),
        delivered_packets: sink.delivered,
        sent_packets: sent,
        retransmitted_packets: end.retransmitted - begin.retransmitted,
        dropped_packets: sink.dropped,
        timeouts,
        fast_retransmits,
        ecn_reductions,
        window_reductions: timeouts + fast_retransmits + ecn_reductions,
        loss_rate: mean(sink.dropped as f64, sent),
        mean_rtt_s: mean(end.rtt_sum_s - begin.rtt_sum_s, end.rtt_count - begin.rtt_count),
        mean_rto_s: mean(end.rto_sum_s - begin.rto_sum_s, end.rto_count - begin.rto_count),
        mean_cwnd_packets: (end.cwnd_area - begin.cwnd_area) / window.seconds(),
        rate_cov: sink.bins.coefficient_of_variation(window, bin_s),
        base_rtt_s: info.base_rtt_s,
        finish_s: host.finish_s,
        total_sent_packets: host.sender.counters(now_s).sent,
        total_delivered_packets: sink.total_delivered,
        total_dropped_packets: sink.total_dropped,
        in_flight_packets: sink.in_flight,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_by_hand() {
        // Jain 1984: x = (1, 1, 4): 36/(3 x 18) = 2/3; spread (4 - 1)/2.
        assert!((jain_index(&[1.0, 1.0, 4.0]).unwrap() - 2.0 / 3.0).abs() < 1e-15);
        assert_eq!(fairness_spread(&[1.0, 1.0, 4.0]), Some(1.5));
        assert_eq!(jain_index(&[0.0, 0.0]), None);
    }
}
