//! A flow that an agent controls: a rule that holds the window, and the pacing rate, of the agent's
//! last action, and counts what the flow's ACKs tell between two decisions.
//!
//! A decision belongs to an instant: its statistics cover the ACKs up to then, and its action takes
//! effect with the flow's next ACK. A rule learns the time from ACKs alone, so a policy that runs as
//! a rule ([`PyObserver`]) decides before it looks at the first ACK after that instant, and has what
//! an environment has that pauses the simulation there.

use crate::custom_rule::PyAck;
use crate::errors::RunError;
use cwndlab_rules::{Ack, Congestion, MarkResponse, Needs, SlowStart, WindowRule};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What an agent learns of a flow at a decision, of the step since the decision before: name and
/// meaning.
pub const STATISTICS: [(&str, &str); 19] = [
    ("time_s", "simulated time of the decision, seconds"),
    ("duration_s", "time since the decision before, seconds; 0 at the first one"),
    ("acks", "ACKs"),
    ("delivered_packets", "packets delivered, cumulatively or selectively acknowledged"),
    ("lost_packets", "packets found lost"),
    ("marked_packets", "packets reported as marked"),
    ("loss_events", "fast retransmits at which a rule would reduce its window"),
    ("timeouts", "retransmission timeouts"),
    ("rtt_s", "mean RTT, seconds; without an ACK that of the step before"),
    ("least_rtt_s", "least RTT, seconds"),
    ("rtt_gradient", "slope of the RTT over time by least squares, seconds per second"),
    ("srtt_s", "smoothed RTT (RFC 6298), seconds"),
    ("min_rtt_s", "least RTT since the start, seconds"),
    ("delivery_rate_packets_s", "last rate sample (draft-ietf-ccwg-bbr), packets/s"),
    ("max_delivery_rate_packets_s", "largest rate sample since the start, packets/s"),
    ("cwnd_packets", "window of the last action; before the first one the flow's own"),
    ("pacing_rate_packets_s", "pacing rate of the last action, packets/s; 0 without one"),
    ("in_flight_packets", "packets in flight at the last ACK"),
    ("has_finished", "1 if all data of the flow is acknowledged and no more will come"),
];

/// Their values.
pub type Statistics = [f64; STATISTICS.len()];

/// Shortest interval between two decisions, seconds: an RTT may be 0 in a network without delays.
const MIN_INTERVAL_S: f64 = 1e-6;

/// When the next decision is due.
#[derive(Clone, Copy, Debug)]
pub enum Every {
    /// A smoothed RTT after the last one.
    Rtt,
    /// So many seconds after the last one.
    Time(f64),
    /// With this many ACKs since the last one.
    Acks(u64),
}

impl Every {
    /// An interval by its name: `rtt`, `time` in seconds or `acks`.
    pub fn new(kind: &str, value: f64) -> PyResult<Self> {
        match kind {
            "rtt" => Ok(Self::Rtt),
            "time" if value > 0.0 => Ok(Self::Time(value)),
            "acks" if value >= 1.0 => Ok(Self::Acks(value as u64)),
            _ => Err(RunError::new_err(format!(
                "every: \"{kind}\", {value} is not valid: expected rtt, time or acks, and a \
                 number above 0"
            ))),
        }
    }
}

/// Sums over the ACKs of a step.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    acks: u64,
    marked: u64,
    loss_events: u64,
    timeouts: u64,
    least_rtt_s: f64,
    /// Time of the first ACK of the step, seconds: what the sums count times from.
    first_s: f64,
    time: f64,
    rtt: f64,
    time_squared: f64,
    time_rtt: f64,
}

impl Sums {
    fn add(&mut self, now_s: f64, rtt_s: f64) {
        if self.acks == 0 {
            (self.first_s, self.least_rtt_s) = (now_s, rtt_s);
        }
        let time_s = now_s - self.first_s;
        self.acks += 1;
        self.least_rtt_s = self.least_rtt_s.min(rtt_s);
        self.time += time_s;
        self.rtt += rtt_s;
        self.time_squared += time_s * time_s;
        self.time_rtt += time_s * rtt_s;
    }

    /// Slope of the RTT over time by least squares; 0 where the ACKs do not determine it.
    fn gradient(&self) -> f64 {
        let n = self.acks as f64;
        let spread = n * self.time_squared - self.time * self.time;
        if spread > 0.0 { (n * self.time_rtt - self.time * self.rtt) / spread } else { 0.0 }
    }
}

/// What is known of a flow, and what its agent decided.
#[derive(Debug, Default)]
pub struct Agent {
    sums: Sums,
    /// Loss events and timeouts that the next ACK is to report: a rule learns of them without their
    /// time.
    unreported: (u64, u64),
    /// The last ACK, and the one that the last step ended with.
    last: Ack,
    before: Ack,
    rtt_s: f64,
    max_delivery_rate: f64,
    /// Time of the last decision, or of the first ACK, seconds; none before that.
    decided_s: Option<f64>,
    has_decided: bool,
    pub has_finished: bool,
    /// Window and pacing rate that the flow has, packets and packets/s; none before the first
    /// action, without pacing.
    held: (Option<f64>, Option<f64>),
    /// The same from the next ACK on.
    pub next: (Option<f64>, Option<f64>),
}

impl Agent {
    pub fn has_started(&self) -> bool {
        self.decided_s.is_some()
    }

    /// Time of the last ACK, seconds.
    pub fn last_ack_s(&self) -> f64 {
        self.last.now_s
    }

    /// Whether so many ACKs have come since the last decision. The first decision takes one.
    pub fn has_acks(&self, acks: u64) -> bool {
        self.sums.acks >= if self.has_decided { acks } else { 1 }
    }

    /// When the decision after one at `now_s` is due, seconds; none where ACKs count, and before
    /// the first ACK.
    pub fn due_after_s(&self, now_s: f64, every: Every) -> Option<f64> {
        match every {
            Every::Rtt => self.decided_s.map(|_| now_s + self.last.srtt_s.max(MIN_INTERVAL_S)),
            Every::Time(interval_s) => Some(now_s + interval_s),
            Every::Acks(_) => None,
        }
    }

    /// The action that takes effect with the next ACK: window, packets, and pacing rate, packets/s.
    /// A flow keeps its initial window until its agent has seen an ACK.
    pub fn act(&mut self, window: f64, rate: f64) {
        if self.has_started() {
            self.next = (Some(window), (rate > 0.0).then_some(rate));
        }
    }

    /// Counts an ACK. Returns the window from now on, packets.
    fn on_ack(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        self.held = (self.next.0.or(Some(cwnd)), self.next.1);
        self.decided_s.get_or_insert(ack.now_s);
        self.sums.add(ack.now_s, ack.rtt_s);
        self.sums.loss_events += self.unreported.0;
        self.sums.timeouts += self.unreported.1;
        self.unreported = (0, 0);
        self.sums.marked += ack.marked_packets;
        self.max_delivery_rate = self.max_delivery_rate.max(ack.delivery_rate_packets_s);
        // An undone reduction takes losses back.
        self.before.lost_packets = self.before.lost_packets.min(ack.lost_packets);
        self.last = *ack;
        self.held.0.unwrap_or(cwnd)
    }

    /// Counts the marks of an ACK, before the ACK itself.
    fn on_mark(&mut self, ack: &Ack) {
        self.sums.marked += ack.marked_packets;
    }

    /// Returns the window, packets: what a loss means is the agent's decision.
    fn on_congestion(&mut self, cwnd: f64, congestion: Congestion) -> f64 {
        match congestion {
            Congestion::FastRetransmit => self.unreported.0 += 1,
            Congestion::Timeout => self.unreported.1 += 1,
            Congestion::Ecn => {}
        }
        self.held.0.unwrap_or(cwnd)
    }

    /// The statistics of the step that ends with a decision at `now_s`, in the order of
    /// [`STATISTICS`]. The next step begins.
    pub fn take(&mut self, now_s: f64) -> Statistics {
        let sums = std::mem::take(&mut self.sums);
        if sums.acks > 0 {
            self.rtt_s = sums.rtt / sums.acks as f64;
        }
        let least_rtt_s = if sums.acks > 0 { sums.least_rtt_s } else { self.rtt_s };
        let (ack, before) = (self.last, std::mem::replace(&mut self.before, self.last));
        let duration_s = self.decided_s.map_or(0.0, |decided_s| now_s - decided_s);
        self.decided_s = self.decided_s.map(|_| now_s);
        self.has_decided = true;
        [
            now_s,
            duration_s,
            sums.acks as f64,
            (ack.delivered_packets - before.delivered_packets) as f64,
            ack.lost_packets.saturating_sub(before.lost_packets) as f64,
            sums.marked as f64,
            sums.loss_events as f64,
            sums.timeouts as f64,
            self.rtt_s,
            least_rtt_s,
            sums.gradient(),
            ack.srtt_s,
            ack.min_rtt_s,
            ack.delivery_rate_packets_s,
            self.max_delivery_rate,
            self.next.0.or(self.held.0).unwrap_or(0.0),
            self.next.1.unwrap_or(0.0),
            ack.in_flight_packets as f64,
            f64::from(u8::from(self.has_finished)),
        ]
    }
}

/// Statistics as bytes, for `numpy.frombuffer`.
pub fn bytes_of(statistics: impl IntoIterator<Item = Statistics>) -> Vec<u8> {
    statistics.into_iter().flatten().flat_map(f64::to_ne_bytes).collect()
}

/// An agent that the simulation and the caller share.
pub type SharedAgent = Arc<Mutex<Agent>>;

/// The agent, also after a panic elsewhere: it is plain data.
pub fn locked(agent: &SharedAgent) -> MutexGuard<'_, Agent> {
    agent.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The rule of a flow whose agent acts while the simulation is paused. Copies share their agent: an
/// undo of a reduction takes back nothing that was observed.
#[derive(Clone, Debug)]
pub struct AgentRule {
    pub agent: SharedAgent,
    pub paced: bool,
}

impl WindowRule for AgentRule {
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        locked(&self.agent).on_ack(cwnd, ack)
    }

    fn decrease(&mut self, cwnd: f64, congestion: Congestion) -> f64 {
        locked(&self.agent).on_congestion(cwnd, congestion)
    }

    fn slow_start(&mut self, cwnd: f64, ack: &Ack) -> SlowStart {
        SlowStart::Leave(locked(&self.agent).on_ack(cwnd, ack))
    }

    fn on_mark(&mut self, _: f64, ack: &Ack) -> MarkResponse {
        locked(&self.agent).on_mark(ack);
        MarkResponse::Consumed
    }

    fn pacing_rate_packets_s(&self) -> Option<f64> {
        if self.paced { locked(&self.agent).held.1 } else { None }
    }

    fn needs(&self) -> Needs {
        // Those of `cwndlab.gym.PolicyRule`. The agent also acts in recovery, and decides itself
        // what a window means that the application does not fill.
        Needs {
            delivery_rate: true,
            exact_marks: true,
            recovery: true,
            pacing: self.paced,
            ..Needs::default()
        }
    }
}

/// The same for a rule in Python, which decides by itself when a decision is due.
#[pyclass(name = "Observer", module = "cwndlab._core")]
pub struct PyObserver {
    agent: Agent,
    every: Every,
    /// When the next decision is due, seconds; none before the first ACK, and where ACKs count.
    due_s: Option<f64>,
}

#[pymethods]
impl PyObserver {
    #[new]
    fn new(every: &str, value: f64) -> PyResult<Self> {
        Ok(Self { agent: Agent::default(), every: Every::new(every, value)?, due_s: None })
    }

    /// The statistics of a step that ended before `ack`, as bytes; none if no decision is due. To be
    /// called until none is: several decisions may have fallen due since the last ACK.
    fn due<'py>(&mut self, py: Python<'py>, ack: &PyAck) -> Option<Bound<'py, PyBytes>> {
        // The first decision is that of the first ACK.
        let first_s = self.agent.decided_s?;
        let at_s = match self.every {
            Every::Acks(acks) => self.agent.has_acks(acks).then(|| self.agent.last_ack_s())?,
            _ => {
                Some(*self.due_s.get_or_insert(first_s)).filter(|due_s| ack.ack().now_s > *due_s)?
            }
        };
        let statistics = self.agent.take(at_s);
        self.due_s = self.agent.due_after_s(at_s, self.every);
        Some(PyBytes::new(py, &bytes_of([statistics])))
    }

    /// The action that takes effect with the next ACK.
    fn act(&mut self, window: f64, rate: f64) {
        self.agent.act(window, rate);
    }

    /// Counts an ACK. Returns the window.
    fn on_ack(&mut self, cwnd: f64, ack: &PyAck) -> f64 {
        self.agent.on_ack(cwnd, ack.ack())
    }

    /// Counts the marks of an ACK.
    fn on_mark(&mut self, ack: &PyAck) {
        self.agent.on_mark(ack.ack());
    }

    /// Counts a loss or a timeout. Returns the window.
    fn on_congestion(&mut self, cwnd: f64, signal: &str) -> f64 {
        let congestion = match signal {
            "loss" => Congestion::FastRetransmit,
            "timeout" => Congestion::Timeout,
            _ => Congestion::Ecn,
        };
        self.agent.on_congestion(cwnd, congestion)
    }

    /// Pacing rate, packets/s; none without one.
    #[getter]
    fn pacing_rate(&self) -> Option<f64> {
        self.agent.held.1
    }

    /// Whether an ACK has come.
    #[getter]
    fn has_started(&self) -> bool {
        self.agent.has_started()
    }
}
