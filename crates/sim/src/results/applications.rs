//! Results of web pages and videos.

use super::mean::{mean, quantile};
use crate::build::BuiltNetwork;
use crate::endpoint::transfer::NextTransfer;
use crate::endpoint::video_player::PlayerRecord;

use crate::measure::trace::Tracer;
use cwndlab_tcp::NEVER;
use serde::Serialize;

/// Web pages of one browser; none of another group.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(
    missing_docs,
    reason = "docs/metrics.md defines every field with its formula; names are the definition here"
)]
pub struct PageResult {
    pub pages: Option<u64>,
    pub loaded_pages: Option<u64>,
    pub mean_page_load_s: Option<f64>,
    pub p50_page_load_s: Option<f64>,
    pub p95_page_load_s: Option<f64>,
}

/// Videos of one group; none of another group.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(
    missing_docs,
    reason = "docs/metrics.md defines every field with its formula; names are the definition here"
)]
pub struct VideoResult {
    pub startup_delay_s: Option<f64>,
    pub rebufferings: Option<u64>,
    pub rebuffering_s: Option<f64>,
    pub rebuffering_share: Option<f64>,
    pub mean_bitrate_bps: Option<f64>,
    pub bitrate_switches: Option<u64>,
}

/// Web pages of the group of this name.
pub fn page_result<T: Tracer>(built: &BuiltNetwork<T>, name: &str) -> PageResult {
    let (engine, flows) = (&built.engine, built.flows.range(name));
    let Some((browser, ..)) = engine.browsers.iter().find(|browser| flows.contains(&browser.1))
    else {
        return PageResult::default();
    };
    let window = &engine.network.receivers.window;
    let begun = browser.loads().iter().filter(|load| window.contains(load.0));
    let mut times: Vec<f64> = begun.map(|load| load.1).collect();
    times.sort_by(f64::total_cmp);
    let loaded = times.len() as u64;
    let start_s = browser.page_start_s();
    let loads_still = start_s < NEVER && window.contains(start_s);
    PageResult {
        pages: Some(loaded + u64::from(loads_still)),
        loaded_pages: Some(loaded),
        mean_page_load_s: mean(times.iter().sum(), loaded),
        p50_page_load_s: quantile(&times, 0.5),
        p95_page_load_s: quantile(&times, 0.95),
    }
}

/// Videos of the group of this name.
pub fn video_result<T: Tracer>(built: &BuiltNetwork<T>, name: &str, run_end_s: f64) -> VideoResult {
    let (mut sum, mut players) = (PlayerRecord::default(), 0);
    for flow in built.flows.range(name) {
        let transfer = built.engine.senders[flow as usize].transfer();
        if let Some(NextTransfer::Segment(player)) = transfer.and_then(|all| all.next.as_ref()) {
            sum.add(&player.record(run_end_s));
            players += 1;
        }
    }
    if players == 0 {
        return VideoResult::default();
    }
    VideoResult {
        startup_delay_s: mean(sum.startup_delay_s, sum.started),
        rebufferings: Some(sum.stalls),
        rebuffering_s: Some(sum.stalled_s),
        rebuffering_share: (sum.watched_s > 0.0).then(|| sum.stalled_s / sum.watched_s),
        mean_bitrate_bps: mean(sum.bitrates_bps, sum.segments),
        bitrate_switches: Some(sum.switches),
    }
}
