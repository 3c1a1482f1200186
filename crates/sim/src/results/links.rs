//! Results of links.

use super::traffic::ArrivalResult;
use crate::build::{BuiltNetwork, LinkInfo};
use crate::endpoint::cross_traffic::Activity;
use crate::engine::state::Engine;

use crate::measure::trace::Tracer;
use crate::measure::window::MeasurementWindow;
use crate::network::link::{Link, LinkCounts};
use serde::Serialize;

/// One link, over the measurement window unless named `total_`.
#[derive(Clone, Debug, Serialize)]
#[allow(
    missing_docs,
    reason = "docs/metrics.md defines every field with its formula; names are the definition here"
)]
pub struct LinkResult {
    pub link: String,
    pub rate_bps: f64,
    pub delay_s: f64,
    pub queue: &'static str,
    pub limit_packets: Option<u64>,
    pub arrived_packets: u64,
    pub dropped_packets: u64,
    pub marked_packets: u64,
    pub l4s_marked_packets: u64,
    pub breaker_triggers: u64,
    pub departed_packets: u64,
    pub utilization: f64,
    pub mean_queue_packets: f64,
    pub mean_queueing_delay_s: Option<f64>,
    pub p50_queueing_delay_s: Option<f64>,
    pub p95_queueing_delay_s: Option<f64>,
    pub p99_queueing_delay_s: Option<f64>,
    pub p999_queueing_delay_s: Option<f64>,
    pub cross_bps: f64,
    pub available_bps: f64,
    pub left_bps: f64,
    pub total_arrived_packets: u64,
    pub total_dropped_packets: u64,
    pub total_departed_packets: u64,
    pub queued_packets: u64,
}

/// Results of all links.
pub fn link_results<T: Tracer>(
    built: &BuiltNetwork<T>,
    arrivals: &[ArrivalResult],
) -> Vec<LinkResult> {
    let engine = &built.engine;
    let result = |(link, info): (&Link, &LinkInfo)| {
        link_result(
            link,
            info,
            &engine.network.receivers.window,
            &link.counts(engine.now_s),
            &carried(engine, info, arrivals),
        )
    };
    engine.network.links.iter().zip(&built.links).map(result).collect()
}

/// Result of a link.
fn link_result(
    link: &Link,
    info: &LinkInfo,
    window: &MeasurementWindow,
    total: &LinkCounts,
    measured: &MeasuredLoad,
) -> LinkResult {
    let (begin, end) = (&link.metrics.counts_at_window_start, &link.metrics.counts_at_window_end);
    let l4s_marked = end.marks.l4s - begin.marks.l4s;
    LinkResult {
        link: info.name.clone(),
        rate_bps: info.rate_bps,
        delay_s: info.delay_s,
        queue: info.queue,
        limit_packets: info.limit_packets,
        arrived_packets: end.arrived - begin.arrived,
        dropped_packets: end.dropped - begin.dropped,
        marked_packets: l4s_marked + end.marks.classic - begin.marks.classic,
        l4s_marked_packets: l4s_marked,
        breaker_triggers: end.breaker_triggers - begin.breaker_triggers,
        departed_packets: end.departed - begin.departed,
        utilization: (end.departed_bits - begin.departed_bits) as f64
            / (info.rate_bps * window.seconds()),
        mean_queue_packets: (end.waiting_area_s - begin.waiting_area_s) / window.seconds(),
        mean_queueing_delay_s: link.metrics.waiting.mean_s(),
        p50_queueing_delay_s: link.metrics.waiting.quantile_s(0.5),
        p95_queueing_delay_s: link.metrics.waiting.quantile_s(0.95),
        p99_queueing_delay_s: link.metrics.waiting.quantile_s(0.99),
        p999_queueing_delay_s: link.metrics.waiting.quantile_s(0.999),
        cross_bps: info.cross_bps + measured.offered_bps,
        available_bps: info
            .target_available_bps
            .unwrap_or(info.rate_bps - info.cross_bps - measured.offered_bps),
        left_bps: info.rate_bps - measured.carried_bps,
        total_arrived_packets: total.arrived,
        total_dropped_packets: total.dropped,
        total_departed_packets: total.departed,
        queued_packets: total.backlog,
    }
}

/// Load of cross traffic and arriving flows on a link, bit/s.
#[derive(Clone, Copy, Debug, Default)]
struct MeasuredLoad {
    /// Offered load of sources whose rate is not known ahead.
    offered_bps: f64,
    /// Load delivered at the end of the path.
    carried_bps: f64,
}

/// Load that is known only after the run.
fn carried<T: Tracer>(
    engine: &Engine<T>,
    info: &LinkInfo,
    arrivals: &[ArrivalResult],
) -> MeasuredLoad {
    let seconds = engine.network.receivers.window.seconds();
    let mut sum = MeasuredLoad::default();
    for &number in &info.cross {
        let source = &engine.network.cross[number as usize].0;
        let sink = &engine.network.cross_sinks[number as usize];
        if !matches!(source.activity, Activity::AlwaysOn) {
            sum.offered_bps += (source.sent * u64::from(source.size_bytes) * 8) as f64 / seconds;
        }
        sum.carried_bps += (sink.delivered_bytes * 8) as f64 / seconds;
    }
    sum.carried_bps +=
        info.arrivals.iter().map(|&group| arrivals[group as usize].delivered_bps).sum::<f64>();
    sum
}
