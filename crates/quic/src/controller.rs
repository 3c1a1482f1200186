//! The congestion controller of a quinn connection, which a window rule drives.

use crate::window::{Cause, Cut, Sample, Window};
use cwndlab_rules::Rule;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerMetrics};
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// A callback for each cut of each connection, called on the connection's thread.
pub(crate) type OnCut = Arc<dyn Fn(&Cut) + Send + Sync>;

/// A window rule as the congestion controller of one connection;
/// [`RuleFactory`](crate::RuleFactory) makes it. `Connection::congestion_state` returns a copy, and
/// `into_any` allows a downcast to this type.
#[derive(Clone)]
pub struct RuleController {
    window: Window,
    on_cut: Option<OnCut>,
}

impl fmt::Debug for RuleController {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuleController").field("window", &self.window).finish_non_exhaustive()
    }
}

impl RuleController {
    pub(crate) fn new(window: Window, on_cut: Option<OnCut>) -> Self {
        Self { window, on_cut }
    }

    /// Congestion window, packets.
    pub fn cwnd_packets(&self) -> f64 {
        self.window.cwnd()
    }

    /// Slow-start threshold, packets; none before the first cut.
    pub fn ssthresh_packets(&self) -> Option<f64> {
        self.window.ssthresh()
    }

    /// The rule with its state.
    pub fn rule(&self) -> &Rule {
        self.window.rule()
    }

    /// Why the rule stopped: its first error. The window has not changed since.
    pub fn fault(&self) -> Option<String> {
        self.window.fault()
    }

    fn tell(&self, cut: Option<Cut>) {
        if let (Some(cut), Some(tell)) = (cut, &self.on_cut) {
            tell(&cut);
        }
    }
}

impl Controller for RuleController {
    fn on_sent(&mut self, now: Instant, bytes: u64, _: u64) {
        self.window.on_sent(now, bytes);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, _: bool, rtt: &RttEstimator) {
        self.window.on_ack(Sample { now, sent, bytes, srtt: rtt.get(), min_rtt: rtt.min() });
    }

    fn on_end_acks(&mut self, _: Instant, in_flight: u64, _: bool, _: Option<u64>) {
        self.window.on_end_acks(in_flight);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        let cause = Cause::of(lost_bytes, is_persistent_congestion);
        let cut = self.window.on_congestion(now, sent, cause, lost_bytes);
        self.tell(cut);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.window.set_mtu(new_mtu);
    }

    fn window(&self) -> u64 {
        self.window.bytes()
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.window.bytes();
        metrics.ssthresh = self.window.ssthresh_bytes();
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.window.initial_bytes()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
