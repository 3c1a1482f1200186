//! Queue disciplines as a scenario writes them. Every kind has `limit`; what a key means is said where the discipline is (`cwndlab-queues`).

use cwndlab_units::{Buffer, Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A queue discipline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum QueueSpec {
    /// Loses what arrives at a full buffer.
    DropTail {
        /// Size of the buffer.
        #[serde(default = "one_bdp")]
        limit: Buffer,
        /// Whether the packet in service takes room in it, as in ns-2.
        #[serde(default = "yes")]
        count_in_service: bool,
    },
    /// Random early detection: loses or marks more the longer the queue is on average (Floyd and Jacobson 1993; ns-2 RED).
    Red {
        /// Size of the buffer; the packet in service is not counted.
        #[serde(default = "one_bdp")]
        limit: Buffer,
        /// Average queue from which packets are lost at random; automatic when absent (ns-2 thresh_).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<Buffer>,
        /// Average queue from which all are lost, or where `gentle` begins; three times `min` when absent (maxthresh_).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<Buffer>,
        /// Probability of a loss at `max` (1/linterm_).
        #[serde(default = "tenth")]
        max_p: f64,
        /// Weight of a new sample in the average; 1 - exp(-1/packets per second) when absent (q_weight_).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        weight: Option<f64>,
        /// From `max` to twice `max` the probability rises from `max_p` to 1 (gentle_).
        #[serde(default = "yes")]
        gentle: bool,
        /// Losses keep a distance (wait_).
        #[serde(default = "yes")]
        wait: bool,
        /// Probability in proportion to a packet's size (bytes_).
        #[serde(default)]
        bytes: bool,
        /// The average counts bytes, in mean packets, instead of packets (queue_in_bytes_).
        #[serde(default)]
        queue_in_bytes: bool,
        /// Mean size of a packet: for idle times, bytes and automatic values; the first flow's when absent (mean_pktsize_).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mean_packet: Option<Bytes>,
        /// Marks packets of flows that understand it instead of losing them at random (setbit_; RFC 3168).
        #[serde(default)]
        ecn: bool,
        /// Loses also these from this probability on (use_mark_p_, mark_p_); marks always when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mark_p: Option<f64>,
        /// Adapts `max_p` so that the average stays between the thresholds (Floyd, Gummadi and Shenker 2001).
        #[serde(default)]
        adaptive: bool,
        /// Delay that automatic thresholds aim at (targetdelay_).
        #[serde(default = "five_ms")]
        target_delay: Time,
    },
    /// RED with a lenient and a strict set of thresholds: packets of priority 0 count and suffer apart (Clark and Fang 1998; ns-2 RED/RIO).
    Rio {
        /// Size of the buffer; the packet in service is not counted.
        #[serde(default = "one_bdp")]
        limit: Buffer,
        /// Threshold for packets out of profile, against the average of the whole queue.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<Buffer>,
        /// The upper one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<Buffer>,
        /// Probability there.
        #[serde(default = "tenth")]
        max_p: f64,
        /// Threshold for packets in profile (priority 0), against the average of their own number; twice `min` when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        in_min: Option<Buffer>,
        /// The upper one; three times `in_min` when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        in_max: Option<Buffer>,
        /// Probability there.
        #[serde(default = "fiftieth")]
        in_max_p: f64,
        /// Weight of a new sample in both averages; automatic when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        weight: Option<f64>,
        /// As in RED, for packets out of profile.
        #[serde(default = "yes")]
        gentle: bool,
        /// As in RED.
        #[serde(default = "yes")]
        wait: bool,
        /// Drop-tail for packets out of profile: they are lost only where the buffer is full, and make room for packets in profile.
        #[serde(default)]
        out_drop_tail: bool,
        /// As in RED.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mean_packet: Option<Bytes>,
        /// As in RED.
        #[serde(default)]
        ecn: bool,
        /// As in RED.
        #[serde(default = "five_ms")]
        target_delay: Time,
    },
    /// Deficit round robin: one queue for each flow, served in turn (Shreedhar and Varghese 1995; ns-2 DRR).
    Drr {
        /// Size of the buffer that all queues share; the packet in service is not counted.
        #[serde(default = "one_bdp")]
        limit: Buffer,
        /// Bytes a queue may send in a round; a packet of the first flow when absent (quantum_).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        quantum: Option<Bytes>,
        /// Queues; a flow has its own when absent, else flows share them by number (buckets_).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        buckets: Option<u64>,
        /// Size of each flow's own queue, tail-drop; when absent the longest queue loses its head when the shared buffer is full, as in ns-2.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        flow_limit: Option<Buffer>,
    },
    /// Strict priority: a class is served when all with a smaller number are empty.
    Priority {
        /// Size of each class's buffer, drop-tail; the packet in service is not counted.
        #[serde(default = "one_bdp")]
        limit: Buffer,
    },
    /// Controlled delay (RFC 8289): loses at departure what has waited too long for too long.
    #[serde(rename = "codel")]
    CoDel {
        /// Size of the buffer; the packet in service is not counted.
        #[serde(default = "one_bdp")]
        limit: Buffer,
        /// Standing delay that is allowed.
        #[serde(default = "five_ms")]
        target: Time,
        /// Time to judge it over: a worst-case round trip.
        #[serde(default = "hundred_ms")]
        interval: Time,
        /// Marks instead.
        #[serde(default)]
        ecn: bool,
    },
    /// A CoDel queue for each flow, served in turn, new flows first (RFC 8290).
    #[serde(rename = "fq-codel")]
    FqCoDel {
        /// Size of the buffer that all queues share; the packet in service is not counted.
        #[serde(default = "one_bdp")]
        limit: Buffer,
        /// Standing delay that is allowed.
        #[serde(default = "five_ms")]
        target: Time,
        /// Time to judge it over.
        #[serde(default = "hundred_ms")]
        interval: Time,
        /// Bytes a queue may send in a round; a packet of the first flow when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        quantum: Option<Bytes>,
        /// Queues; a flow has its own when absent, else flows share them by number (RFC 8290 proposes 1024).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        buckets: Option<u64>,
        /// Marks instead.
        #[serde(default)]
        ecn: bool,
    },
    /// Proportional integral controller enhanced (RFC 8033): loses at arrival with a probability steered by the delay.
    Pie {
        /// Size of the buffer; the packet in service is not counted.
        #[serde(default = "one_bdp")]
        limit: Buffer,
        /// Delay it steers to.
        #[serde(default = "fifteen_ms")]
        target: Time,
        /// Time between its updates.
        #[serde(default = "fifteen_ms")]
        update: Time,
        /// Weight of the distance to the target, 1/s.
        #[serde(default = "pie_alpha")]
        alpha: f64,
        /// Weight of the trend, 1/s.
        #[serde(default = "pie_beta")]
        beta: f64,
        /// Burst that passes untouched.
        #[serde(default = "pie_burst")]
        burst: Time,
        /// Marks instead, up to `mark_p`.
        #[serde(default)]
        ecn: bool,
        /// Probability above which packets are lost even so (RFC 8033 section 5.1).
        #[serde(default = "tenth")]
        mark_p: f64,
    },
}

impl Default for QueueSpec {
    fn default() -> Self {
        Self::DropTail { limit: one_bdp(), count_in_service: true }
    }
}

impl QueueSpec {
    /// Its name in scenarios.
    pub fn name(&self) -> &'static str {
        match self {
            Self::DropTail { .. } => "drop-tail",
            Self::Red { .. } => "red",
            Self::Rio { .. } => "rio",
            Self::Drr { .. } => "drr",
            Self::Priority { .. } => "priority",
            Self::CoDel { .. } => "codel",
            Self::FqCoDel { .. } => "fq-codel",
            Self::Pie { .. } => "pie",
        }
    }

    /// Size of its buffer.
    pub fn limit(&self) -> Buffer {
        match *self {
            Self::DropTail { limit, .. }
            | Self::Red { limit, .. }
            | Self::Rio { limit, .. }
            | Self::Drr { limit, .. }
            | Self::Priority { limit }
            | Self::CoDel { limit, .. }
            | Self::FqCoDel { limit, .. }
            | Self::Pie { limit, .. } => limit,
        }
    }
}

fn one_bdp() -> Buffer {
    Buffer::Bdp(1.0)
}

fn yes() -> bool {
    true
}

fn tenth() -> f64 {
    0.1
}

fn fiftieth() -> f64 {
    0.02
}

fn pie_alpha() -> f64 {
    0.125
}

fn pie_beta() -> f64 {
    1.25
}

fn five_ms() -> Time {
    Time::ns(5_000_000)
}

fn fifteen_ms() -> Time {
    Time::ns(15_000_000)
}

fn hundred_ms() -> Time {
    Time::ns(100_000_000)
}

fn pie_burst() -> Time {
    Time::ns(150_000_000)
}
