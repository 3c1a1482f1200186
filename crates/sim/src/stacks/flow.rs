//! A flow with endpoints of a transport stack: its application, and what is measured of it.

use crate::build::{BuiltNetwork, StackFlowInfo};
use crate::measure::goodput_bins::GoodputBins;
use crate::measure::trace::{Tracer, WindowRow};
use crate::measure::window::MeasurementWindow;
use crate::results::{FlowResult, active_goodput_bps, active_s, mean};
use cwndlab_stack::{Connection, Endpoint};
use std::time::Duration;

/// Data of a flow that sends without end, bytes.
const ENDLESS: u64 = u64::MAX;

/// Indices of the ends of a flow.
pub const SENDER: usize = 0;
pub const RECEIVER: usize = 1;

/// Counts of the datagrams of the sender.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    sent: u64,
    dropped: u64,
    arrived: u64,
    marked: u64,
    /// Bytes of data that arrived.
    data_bytes: u64,
}

/// A flow with endpoints of a transport stack.
pub struct StackFlow {
    /// Number and times of the flow.
    pub info: StackFlowInfo,
    /// Sender and receiver.
    pub ends: [Box<dyn Endpoint>; 2],
    /// When each wants to be called, as it is known to the hosts.
    pub due: [Option<Duration>; 2],
    /// Whether its datagrams are ECN-capable.
    pub has_ecn: bool,
    is_open: bool,
    /// Bytes that the application has still to write, and all that it writes.
    left_bytes: u64,
    data_bytes: u64,
    total: Counts,
    measured: Counts,
    window: MeasurementWindow,
    bin_s: f64,
    bins: GoodputBins,
    state: WindowRow,
    cwnd_area: f64,
    rtt_sum_s: f64,
    rtt_count: u64,
    /// Losses and reductions at the edges of the measurement window that are passed.
    at_edges: Vec<(u64, [u64; 3])>,
    received_s: Option<f64>,
    finish_s: Option<f64>,
}

impl StackFlow {
    /// An idle flow. `bytes`: data to send; none for a flow that sends without end.
    pub fn new(
        info: StackFlowInfo,
        connection: Connection,
        has_ecn: bool,
        bytes: Option<u64>,
        (window, bin_s): (MeasurementWindow, f64),
    ) -> Self {
        let data_bytes = bytes.unwrap_or(ENDLESS);
        let state = WindowRow {
            time_s: 0.0,
            flow: info.flow,
            cwnd: connection.sender.cwnd_packets(),
            ssthresh: f64::INFINITY,
            srtt_s: f64::NAN,
            rttvar_s: f64::NAN,
            backoff: 1,
            duplicate_acks: 0,
            acknowledged_packets: 0,
            outstanding_packets: 0,
        };
        Self {
            info,
            ends: [connection.sender, connection.receiver],
            due: [None; 2],
            has_ecn,
            is_open: false,
            left_bytes: data_bytes,
            data_bytes,
            total: Counts::default(),
            measured: Counts::default(),
            window,
            bin_s,
            bins: GoodputBins::new(window.from_s),
            state,
            cwnd_area: 0.0,
            rtt_sum_s: 0.0,
            rtt_count: 0,
            at_edges: Vec::new(),
            received_s: None,
            finish_s: None,
        }
    }

    fn count(&mut self, now_s: f64, change: impl Fn(&mut Counts)) {
        change(&mut self.total);
        if self.window.contains(now_s) {
            change(&mut self.measured);
        }
    }

    /// The application opens the connection.
    pub fn start(&mut self, now: Duration) {
        self.is_open = true;
        self.ends[SENDER].connect(now);
    }

    /// The application stops.
    pub fn stop(&mut self) {
        if self.is_open && self.left_bytes > 0 {
            self.left_bytes = 0;
            self.ends[SENDER].stop();
        }
    }

    /// The application writes what the sender takes.
    pub fn write(&mut self) {
        while self.is_open && self.left_bytes > 0 {
            let taken = self.ends[SENDER].write(self.left_bytes);
            if taken == 0 {
                return;
            }
            self.left_bytes -= taken.min(self.left_bytes);
            if self.left_bytes == 0 && self.data_bytes != ENDLESS {
                self.ends[SENDER].finish();
            }
        }
    }

    /// The application at the receiver reads what has arrived: returns its bytes.
    pub fn read(&mut self, now_s: f64) -> u64 {
        let bytes = self.ends[RECEIVER].read();
        if bytes > 0 {
            self.count(now_s, |counts| counts.data_bytes += bytes);
            if self.total.data_bytes >= self.data_bytes {
                self.received_s.get_or_insert(now_s);
            }
        }
        bytes
    }

    /// A datagram of the sender leaves it.
    pub fn on_sent(&mut self, now_s: f64) {
        self.count(now_s, |counts| counts.sent += 1);
    }

    /// A datagram of the sender was dropped.
    pub fn on_dropped(&mut self, at_s: f64) {
        self.count(at_s, |counts| counts.dropped += 1);
    }

    /// A datagram of the sender arrives, perhaps marked.
    pub fn on_arrived(&mut self, at_s: f64, is_marked: bool) {
        let is_inside = self.bins.is_inside(at_s, self.measured.arrived, &self.window, self.bin_s);
        debug_assert_eq!(is_inside, self.window.contains(at_s));
        self.count(at_s, |counts| {
            counts.arrived += 1;
            counts.marked += u64::from(is_marked);
        });
    }

    /// The flow is about to process an event.
    pub fn before<T: Tracer>(&mut self, now_s: f64, trace: &mut T) {
        let edges_s = [self.window.from_s, self.window.to_s];
        while edges_s.get(self.at_edges.len()).is_some_and(|&edge_s| edge_s <= now_s) {
            self.at_edges.push((self.ends[SENDER].lost_packets(), self.ends[SENDER].reductions()));
        }
        trace.stack_before(now_s, &self.state);
        if self.is_open && self.finish_s.is_none() {
            let since_s = self.state.time_s.max(self.window.from_s);
            let inside_s = (now_s.min(self.window.to_s) - since_s).max(0.0);
            self.cwnd_area += inside_s * self.state.cwnd;
        }
        self.state.time_s = now_s;
    }

    /// The flow has processed an event of its sender; `is_ack`: a datagram that reached it.
    pub fn after<T: Tracer>(&mut self, now_s: f64, is_ack: bool, trace: &mut T) {
        let sender = &self.ends[SENDER];
        let srtt_s = sender.smoothed_rtt().map(|rtt| rtt.as_secs_f64());
        self.state.cwnd = sender.cwnd_packets();
        self.state.ssthresh = sender.ssthresh_packets().unwrap_or(f64::INFINITY);
        self.state.srtt_s = srtt_s.unwrap_or(f64::NAN);
        if let Some(srtt_s) = srtt_s.filter(|_| is_ack && self.window.contains(now_s)) {
            self.rtt_sum_s += srtt_s;
            self.rtt_count += 1;
        }
        if self.finish_s.is_none() && self.left_bytes == 0 && sender.is_complete() {
            self.finish_s = Some(now_s);
        }
        trace.stack_after(&self.state);
    }

    /// Why the flow failed.
    pub fn failure(&self) -> Option<String> {
        self.ends.iter().find_map(|end| end.failure())
    }

    /// Whether all of its data are acknowledged.
    pub fn has_finished(&self) -> bool {
        self.finish_s.is_some()
    }

    /// Datagrams of its sender that arrived.
    pub fn arrived(&self) -> u64 {
        self.total.arrived
    }

    /// The result of the flow, in place of that of the TCP endpoints, which never ran.
    pub fn result<T: Tracer>(&self, built: &BuiltNetwork<T>, tcp: &FlowResult) -> FlowResult {
        let edges_s = [self.window.from_s, self.window.to_s];
        let seconds = self.window.seconds();
        let delivered_bits = self.measured.data_bytes as f64 * 8.0;
        let active_s = active_s(edges_s, self.info.start_s, self.finish_s.unwrap_or(f64::INFINITY));
        let now = (self.ends[SENDER].lost_packets(), self.ends[SENDER].reductions());
        let edge = |number: usize| self.at_edges.get(number).copied().unwrap_or(now);
        let ((lost_before, cuts_before), (lost, cuts)) = (edge(0), edge(1));
        let cuts: [u64; 3] = std::array::from_fn(|cause| cuts[cause] - cuts_before[cause]);
        let [fast_retransmits, ecn_reductions, timeouts] = cuts;
        let Counts { sent, dropped, arrived, marked, .. } = self.measured;
        FlowResult {
            identity: tcp.identity.clone(),
            goodput_bps: delivered_bits / seconds,
            active_s,
            active_goodput_bps: active_goodput_bps(delivered_bits, active_s),
            delivered_packets: arrived,
            acknowledged_packets: None,
            sent_packets: sent,
            retransmitted_packets: lost - lost_before,
            dropped_packets: dropped,
            marked_packets: marked,
            timeouts,
            fast_retransmits,
            ecn_reductions,
            window_reductions: cuts.iter().sum(),
            undone_reductions: None,
            loss_rate: mean(dropped as f64, sent),
            mean_rtt_s: mean(self.rtt_sum_s, self.rtt_count),
            p50_rtt_s: None,
            p95_rtt_s: None,
            p99_rtt_s: None,
            p999_rtt_s: None,
            mean_rto_s: None,
            mean_cwnd_packets: self.cwnd_area / seconds,
            rate_cov: self.bins.coefficient_of_variation(
                arrived,
                &self.window,
                built.engine.network.receivers.bin_s,
            ),
            starved_s: None,
            convergence_s: None,
            limited_by: Default::default(),
            base_rtt_s: tcp.base_rtt_s,
            received_s: self.received_s,
            finish_s: self.finish_s,
            total_sent_packets: self.total.sent,
            total_delivered_packets: self.total.arrived,
            total_dropped_packets: self.total.dropped,
            in_flight_packets: self.total.sent - self.total.arrived - self.total.dropped,
        }
    }
}
