//! Queue disciplines of a scenario: the parameters of each kind, their checks, and what else the
//! builder of a network must know about a kind. `cwndlab-queues` defines the disciplines.

use crate::check::conditions::{Checked, inside, positive, share};
use crate::check::queue_conditions::{
    bucket_count, holds_a_packet, packet_bytes, step_threshold, target_within_interval,
    threshold_of_selector, thresholds, updates,
};
use cwndlab_units::{Buffer, Bytes, RateLimit, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest gain of PIE.
const MAX_GAIN: f64 = 1e3;
/// Coupling factors of DualPI2; Linux has integers from 1 to 255.
const MIN_COUPLING: f64 = 1.0;
const MAX_COUPLING: f64 = 255.0;

/// Most queues of SFQ, as in Linux.
const MAX_SFQ_BUCKETS: u64 = 65_536;
/// Largest initial quantum.
const MAX_INITIAL_QUANTUM: Bytes = Bytes(1_000_000_000);
/// Overhead and smallest packet below CAKE, bytes, as `tc-cake(8)` accepts them.
const MIN_OVERHEAD: i64 = -64;
const MAX_OVERHEAD: i64 = 256;
const MAX_MPU: Bytes = Bytes(256);

/// Between what the shares of CAKE are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowIsolation {
    /// Between flows.
    Flows,
    /// Between sources, then between their flows.
    DualSrchost,
    /// Between destinations, then between their flows.
    DualDsthost,
    /// Between hosts on the side where they have more flows, then between their flows.
    #[default]
    TripleIsolate,
}

/// What the layer below CAKE's overhead makes of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Framing {
    /// Nothing.
    #[default]
    None,
    /// Cells of 53 bytes, which carry 48 each.
    Atm,
    /// 65 bytes for each 64.
    Ptm,
}

/// A queue discipline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum QueueSpec {
    /// Drop-tail: drops arrivals at a full buffer.
    DropTail {
        /// Size of the buffer.
        #[serde(default = "one_bdp")]
        limit: Buffer,
        /// Counts the packet in service as part of the queue, as in ns-2.
        #[serde(default = "yes")]
        count_in_service: bool,
    },
    /// Random early detection: drops or marks with a probability that grows with the average queue
    /// (Floyd and Jacobson 1993; ns-2 RED).
    Red {
        /// Size of the buffer; the packet in service is not counted.
        #[serde(default = "one_bdp")]
        limit: Buffer,
        /// Average queue above which packets are dropped at random; automatic when absent (ns-2
        /// thresh_).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<Buffer>,
        /// Average queue above which all packets are dropped, or `gentle` begins; three times `min`
        /// when absent (maxthresh_).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<Buffer>,
        /// Drop probability at `max` (1/linterm_).
        #[serde(default = "tenth")]
        max_p: f64,
        /// Weight of a new sample in the average; 1 - exp(-1/packets per second) when absent
        /// (q_weight_).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        weight: Option<f64>,
        /// From `max` to twice `max` the probability rises from `max_p` to 1; true when absent
        /// (gentle_).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gentle: Option<bool>,
        /// Spaces drops out (wait_).
        #[serde(default = "yes")]
        wait: bool,
        /// Scales the probability with packet size; false when absent (bytes_).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bytes: Option<bool>,
        /// Averages the queue in bytes instead of packets; false when absent (queue_in_bytes_).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queue_in_bytes: Option<bool>,
        /// Mean packet size, for idle times, bytes and automatic values; the first flow's when
        /// absent (mean_pktsize_).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mean_packet: Option<Bytes>,
        /// Marks ECN-capable packets instead of dropping them at random (setbit_; RFC 3168).
        #[serde(default)]
        ecn: bool,
        /// Drops even ECN-capable packets from this probability on (use_mark_p_, mark_p_); never
        /// when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mark_p: Option<f64>,
        /// Adapts `max_p` so that the average stays between the thresholds (Floyd, Gummadi and
        /// Shenker 2001).
        #[serde(default)]
        adaptive: bool,
        /// Target delay of automatic thresholds (targetdelay_).
        #[serde(default = "five_ms")]
        target_delay: Time,
    },
    /// RED with in and out of profile (RIO): packets of priority 0 have their own average and
    /// thresholds (Clark and Fang 1998; ns-2 RED/RIO).
    Rio {
        /// Size of the buffer; the packet in service is not counted.
        #[serde(default = "one_bdp")]
        limit: Buffer,
        /// Lower threshold for packets out of profile, against the average of the whole queue.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<Buffer>,
        /// Their upper threshold.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<Buffer>,
        /// Drop probability at `max`.
        #[serde(default = "tenth")]
        max_p: f64,
        /// Lower threshold for packets in profile (priority 0), against the average of their own
        /// number; twice `min` when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        in_min: Option<Buffer>,
        /// Their upper threshold; three times `in_min` when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        in_max: Option<Buffer>,
        /// Drop probability at `in_max`.
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
        /// Drop-tail for packets out of profile: they are dropped only if the buffer is full, and
        /// make room for packets in profile.
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
    /// Deficit round robin: one queue per flow, served in turn (Shreedhar and Varghese 1995; ns-2
    /// DRR).
    Drr {
        /// Size of the buffer that all queues share; the packet in service is not counted.
        #[serde(default = "one_bdp")]
        limit: Buffer,
        /// Bytes that a queue may send per round; a packet of the first flow when absent
        /// (quantum_).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        quantum: Option<Bytes>,
        /// Number of queues, to which flows are mapped by number; one per flow when absent
        /// (buckets_).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        buckets: Option<u64>,
        /// Drop-tail limit of each queue; when absent a full buffer drops the head of the longest
        /// queue, as in ns-2.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        flow_limit: Option<Buffer>,
    },
    /// Stochastic fairness queueing: queues that flows share by a hash, served in turn (McKenney
    /// 1990; Linux `tc-sfq`).
    Sfq {
        /// Size of the buffer that all queues share; the packet in service is not counted.
        #[serde(default = "one_bdp")]
        limit: Buffer,
        /// Bytes that a queue may send per round; a packet of the first flow when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        quantum: Option<Bytes>,
        /// Number of queues, to which flows are mapped by a hash (divisor).
        #[serde(default = "sfq_buckets")]
        buckets: u64,
        /// Limit of each queue (depth).
        #[serde(default = "sfq_flow_limit")]
        flow_limit: Buffer,
        /// Drops packets at the head of the longest queue instead of its tail (headdrop).
        #[serde(default)]
        head_drop: bool,
        /// Interval after which the hash changes; never when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        perturb: Option<Time>,
    },
    /// Strict priority: a class is served when all classes of smaller number are empty.
    Priority {
        /// Size of each class's drop-tail buffer; the packet in service is not counted.
        #[serde(default = "one_bdp")]
        limit: Buffer,
    },
    /// Controlled delay (RFC 8289): drops at departure while the sojourn time stays above `target`
    /// for longer than `interval`.
    #[serde(rename = "codel")]
    CoDel {
        /// Size of the buffer; the packet in service is not counted.
        #[serde(default = "one_bdp")]
        limit: Buffer,
        /// Acceptable standing queue delay.
        #[serde(default = "five_ms")]
        target: Time,
        /// Time over which the delay must exceed the target: a worst-case round trip.
        #[serde(default = "hundred_ms")]
        interval: Time,
        /// Marks ECN-capable packets instead of dropping them.
        #[serde(default)]
        ecn: bool,
        /// Marks ECN-capable packets that are sent after a longer sojourn time; none when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ce_threshold: Option<Time>,
        /// Applies `ce_threshold` to packets of L4S flows only, with ECT(1) or CE.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ce_threshold_l4s: Option<bool>,
    },
    /// CAKE's AQM (Linux `sch_cake`): CoDel whose rate of drops decays slowly, and BLUE for flows
    /// that do not respond. Marks ECN-capable packets instead of dropping them.
    Cobalt {
        /// Size of the buffer, which drops from its head; the packet in service is not counted.
        #[serde(default = "one_bdp")]
        limit: Buffer,
        /// Acceptable standing queue delay.
        #[serde(default = "five_ms")]
        target: Time,
        /// Time from a delay above the target to the first drop.
        #[serde(default = "hundred_ms")]
        interval: Time,
    },
    /// A CoDel queue per flow, served by deficit round robin, new flows first (RFC 8290).
    #[serde(rename = "fq-codel")]
    FqCoDel {
        /// Size of the buffer that all queues share; the packet in service is not counted.
        #[serde(default = "one_bdp")]
        limit: Buffer,
        /// Acceptable standing queue delay.
        #[serde(default = "five_ms")]
        target: Time,
        /// Time over which the delay must exceed the target.
        #[serde(default = "hundred_ms")]
        interval: Time,
        /// Bytes that a queue may send per round; a packet of the first flow when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        quantum: Option<Bytes>,
        /// Number of queues, to which flows are mapped by number; one per flow when absent (RFC
        /// 8290 proposes 1024).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        buckets: Option<u64>,
        /// Marks ECN-capable packets instead of dropping them.
        #[serde(default)]
        ecn: bool,
        /// Marks ECN-capable packets that are sent after a longer sojourn time; none when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ce_threshold: Option<Time>,
        /// Applies `ce_threshold` to packets of L4S flows only, with ECT(1) or CE.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ce_threshold_l4s: Option<bool>,
    },
    /// A queue per flow, served by deficit round robin, new flows first, with a largest rate of a
    /// flow (Linux `tc-fq`).
    Fq {
        /// Size of the buffer that all flows share; the packet in service is not counted.
        #[serde(default = "one_bdp")]
        limit: Buffer,
        /// Limit of each flow.
        #[serde(default = "fq_flow_limit")]
        flow_limit: Buffer,
        /// Bytes that a flow may send per round; two packets of the first flow when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        quantum: Option<Bytes>,
        /// Bytes that a new flow may send at once; ten packets of the first flow when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        initial_quantum: Option<Bytes>,
        /// Largest rate of a flow (maxrate).
        #[serde(default)]
        max_rate: RateLimit,
        /// Marks ECN-capable packets that are sent after a longer wait; none when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ce_threshold: Option<Time>,
        /// Applies `ce_threshold` to packets of L4S flows only, with ECT(1) or CE.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ce_threshold_l4s: Option<bool>,
    },
    /// CAKE: a shaper, shares that are equal between hosts and then between their flows, and COBALT
    /// in each queue (Hoeiland-Joergensen, Taht and Morton 2018; Linux `tc-cake`).
    Cake {
        /// Size of the buffer that all queues share; the packet in service is not counted.
        #[serde(default = "one_bdp")]
        limit: Buffer,
        /// Acceptable standing queue delay.
        #[serde(default = "five_ms")]
        target: Time,
        /// Time from a delay above the target to the first drop (rtt).
        #[serde(default = "hundred_ms")]
        interval: Time,
        /// Bytes that the only flow of a host may send per round; a packet of the first flow when
        /// absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        quantum: Option<Bytes>,
        /// Between what the shares are equal.
        #[serde(default)]
        flow_isolation: FlowIsolation,
        /// Rate of the shaper.
        #[serde(default)]
        bandwidth: RateLimit,
        /// Bytes that a layer below adds to each packet, -64 to 256.
        #[serde(default)]
        overhead: i64,
        /// Smallest packet of that layer; none when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mpu: Option<Bytes>,
        /// What the layer below that makes of a packet.
        #[serde(default)]
        framing: Framing,
    },
    /// Proportional integral controller enhanced (RFC 8033): drops at arrival with a probability
    /// that controls the delay.
    Pie {
        /// Size of the buffer; the packet in service is not counted.
        #[serde(default = "one_bdp")]
        limit: Buffer,
        /// Target delay.
        #[serde(default = "fifteen_ms")]
        target: Time,
        /// Update interval.
        #[serde(default = "fifteen_ms")]
        update: Time,
        /// Gain of the deviation from the target, 1/s.
        #[serde(default = "pie_alpha")]
        alpha: f64,
        /// Gain of the change of the delay, 1/s.
        #[serde(default = "pie_beta")]
        beta: f64,
        /// Burst allowance.
        #[serde(default = "pie_burst")]
        burst: Time,
        /// Marks ECN-capable packets instead of dropping them, up to `mark_p`.
        #[serde(default)]
        ecn: bool,
        /// Probability above which ECN-capable packets are dropped too (RFC 8033 section 5.1).
        #[serde(default = "tenth")]
        mark_p: f64,
    },
    /// Step marking: marks ECN-capable packets that arrive while the queue is at a threshold, and
    /// drops others (Alizadeh et al. 2010, section 3.1; RFC 8257).
    Step {
        /// Size of the buffer; the packet in service is not counted.
        #[serde(default = "one_bdp")]
        limit: Buffer,
        /// Number of waiting packets from which on an arriving packet is marked (K); a seventh of
        /// the bandwidth-delay product when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        threshold: Option<Buffer>,
    },
    /// Two coupled queues, for L4S and for classic flows (RFC 9332): classic packets are dropped or
    /// marked with the square of a probability, L4S packets marked with a multiple of it.
    #[serde(rename = "dualpi2")]
    DualPi2 {
        /// Size of the buffer that both queues share; the packet in service is not counted.
        #[serde(default = "one_bdp")]
        limit: Buffer,
        /// Target delay of classic packets.
        #[serde(default = "fifteen_ms")]
        target: Time,
        /// Update interval; 15ms when absent (Tupdate).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        update: Option<Time>,
        /// Gain of the deviation from the target, 1/s; 0.15 when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        alpha: Option<f64>,
        /// Gain of the change of the delay, 1/s; 3 when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        beta: Option<f64>,
        /// Coupling factor (k): L4S packets are marked with this multiple of the probability whose
        /// square classic packets see.
        #[serde(default = "two")]
        coupling: f64,
        /// Sojourn time above which L4S packets are marked; 800us when absent (minTh).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        threshold: Option<Time>,
        /// Rise of the sojourn time above `threshold` over which the share of marks reaches 1, 0s
        /// for a step; 400us when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        range: Option<Time>,
        /// Share of the link that classic packets get at least while both queues hold packets;
        /// 0.0625 when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        classic_share: Option<f64>,
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
            Self::Sfq { .. } => "sfq",
            Self::Priority { .. } => "priority",
            Self::CoDel { .. } => "codel",
            Self::Cobalt { .. } => "cobalt",
            Self::FqCoDel { .. } => "fq-codel",
            Self::Fq { .. } => "fq",
            Self::Cake { .. } => "cake",
            Self::Pie { .. } => "pie",
            Self::Step { .. } => "step",
            Self::DualPi2 { .. } => "dualpi2",
        }
    }

    /// Size of its buffer.
    pub fn limit(&self) -> Buffer {
        match *self {
            Self::DropTail { limit, .. }
            | Self::Red { limit, .. }
            | Self::Rio { limit, .. }
            | Self::Drr { limit, .. }
            | Self::Sfq { limit, .. }
            | Self::Priority { limit }
            | Self::CoDel { limit, .. }
            | Self::Cobalt { limit, .. }
            | Self::FqCoDel { limit, .. }
            | Self::Fq { limit, .. }
            | Self::Cake { limit, .. }
            | Self::Pie { limit, .. }
            | Self::Step { limit, .. }
            | Self::DualPi2 { limit, .. } => limit,
        }
    }

    /// Its buffers, each of which must hold a packet, with their keys.
    pub(crate) fn buffers(&self) -> impl Iterator<Item = (&'static str, Buffer)> {
        let own = match *self {
            Self::Drr { flow_limit, .. } => flow_limit.map(|limit| ("flow_limit", limit)),
            Self::Sfq { flow_limit, .. } => Some(("flow_limit", flow_limit)),
            Self::Fq { flow_limit, .. } => Some(("flow_limit", flow_limit)),
            _ => None,
        };
        [("limit", self.limit())].into_iter().chain(own)
    }

    /// Whether it decides at dequeue, and so holds its packets; the others decide at enqueue over a
    /// FIFO.
    pub fn decides_at_dequeue(&self) -> bool {
        match self {
            Self::DropTail { .. }
            | Self::Red { .. }
            | Self::Rio { .. }
            | Self::Step { .. }
            | Self::Pie { .. } => false,
            Self::Drr { .. }
            | Self::Sfq { .. }
            | Self::Priority { .. }
            | Self::CoDel { .. }
            | Self::Cobalt { .. }
            | Self::FqCoDel { .. }
            | Self::Fq { .. }
            | Self::Cake { .. }
            | Self::DualPi2 { .. } => true,
        }
    }

    /// Checks its parameters, in a run of this duration. `key`: the table that they stand in.
    pub(crate) fn check(&self, key: &str, duration: Time) -> Checked {
        let at = |name: &str| format!("{key}.{name}");
        let fraction =
            |name, value: Option<f64>| value.map_or(Ok(()), |value| share(at(name), value));
        let size =
            |name, size: Option<Bytes>| size.map_or(Ok(()), |size| packet_bytes(at(name), size));
        let queues = |number: Option<u64>| {
            number.map_or(Ok(()), |number| bucket_count(at("buckets"), number))
        };
        self.buffers().try_for_each(|(name, limit)| holds_a_packet(&at(name), limit))?;
        match *self {
            Self::DropTail { .. } | Self::Priority { .. } => Ok(()),
            Self::Red { min, max, max_p, weight, mean_packet, mark_p, target_delay, .. } => {
                thresholds(key, ("min", min), ("max", max))?;
                share(at("max_p"), max_p)?;
                fraction("weight", weight)?;
                size("mean_packet", mean_packet)?;
                fraction("mark_p", mark_p)?;
                positive(at("target_delay"), target_delay)
            }
            Self::Rio {
                min,
                max,
                max_p,
                in_min,
                in_max,
                in_max_p,
                weight,
                mean_packet,
                target_delay,
                ..
            } => {
                thresholds(key, ("min", min), ("max", max))?;
                share(at("max_p"), max_p)?;
                thresholds(key, ("in_min", in_min), ("in_max", in_max))?;
                share(at("in_max_p"), in_max_p)?;
                fraction("weight", weight)?;
                size("mean_packet", mean_packet)?;
                positive(at("target_delay"), target_delay)
            }
            Self::Drr { quantum, buckets, .. } => {
                size("quantum", quantum)?;
                queues(buckets)
            }
            Self::Sfq { quantum, buckets, perturb, .. } => {
                size("quantum", quantum)?;
                inside(at("buckets"), buckets, 1, MAX_SFQ_BUCKETS)?;
                perturb.map_or(Ok(()), |perturb| updates(at("perturb"), perturb, duration))
            }
            Self::Cobalt { target, interval, .. } => target_within_interval(key, target, interval),
            Self::CoDel { target, interval, ce_threshold, ce_threshold_l4s, .. } => {
                target_within_interval(key, target, interval)?;
                threshold_of_selector(key, ce_threshold, ce_threshold_l4s)
            }
            Self::FqCoDel {
                target,
                interval,
                quantum,
                buckets,
                ce_threshold,
                ce_threshold_l4s,
                ..
            } => {
                target_within_interval(key, target, interval)?;
                threshold_of_selector(key, ce_threshold, ce_threshold_l4s)?;
                size("quantum", quantum)?;
                queues(buckets)
            }
            Self::Fq { quantum, initial_quantum, ce_threshold, ce_threshold_l4s, .. } => {
                size("quantum", quantum)?;
                initial_quantum.map_or(Ok(()), |initial| {
                    inside(at("initial_quantum"), initial, Bytes(1), MAX_INITIAL_QUANTUM)
                })?;
                threshold_of_selector(key, ce_threshold, ce_threshold_l4s)
            }
            Self::Cake { target, interval, quantum, overhead, mpu, .. } => {
                target_within_interval(key, target, interval)?;
                size("quantum", quantum)?;
                inside(at("overhead"), overhead, MIN_OVERHEAD, MAX_OVERHEAD)?;
                mpu.map_or(Ok(()), |mpu| inside(at("mpu"), mpu, Bytes(1), MAX_MPU))
            }
            Self::Pie { target, update, alpha, beta, mark_p, .. } => {
                positive(at("target"), target)?;
                updates(at("update"), update, duration)?;
                inside(at("alpha"), alpha, 0.0, MAX_GAIN)?;
                inside(at("beta"), beta, 0.0, MAX_GAIN)?;
                share(at("mark_p"), mark_p)
            }
            Self::Step { limit, threshold } => threshold
                .map_or(Ok(()), |threshold| step_threshold(&at("threshold"), threshold, limit)),
            Self::DualPi2 { target, update, alpha, beta, coupling, classic_share, .. } => {
                positive(at("target"), target)?;
                update.map_or(Ok(()), |update| updates(at("update"), update, duration))?;
                let gain = |name, gain: Option<f64>| {
                    gain.map_or(Ok(()), |gain| inside(at(name), gain, 0.0, MAX_GAIN))
                };
                gain("alpha", alpha)?;
                gain("beta", beta)?;
                inside(at("coupling"), coupling, MIN_COUPLING, MAX_COUPLING)?;
                classic_share.map_or(Ok(()), |share| inside(at("classic_share"), share, 0.0, 1.0))
            }
        }
    }
}

fn one_bdp() -> Buffer {
    Buffer::Bdp(1.0)
}

fn sfq_buckets() -> u64 {
    1024
}

fn sfq_flow_limit() -> Buffer {
    Buffer::Packets(127.0)
}

fn fq_flow_limit() -> Buffer {
    Buffer::Packets(100.0)
}

fn yes() -> bool {
    true
}

fn tenth() -> f64 {
    0.1
}

fn two() -> f64 {
    2.0
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
