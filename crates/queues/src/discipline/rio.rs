//! RIO (RED with in and out): RED in which packets in profile are judged by the average of
//! in-packets, packets out of profile by the average of all.
//!
//! Source: D. Clark and W. Fang, "Explicit Allocation of Best-Effort Packet Delivery Service",
//! IEEE/ACM ToN 6(4), 1998; ns-2 2.35 `queue/rio.cc`. Packets of priority 0 are in profile.
//!
//! * An arriving in-packet updates the average of waiting in-packets, and is dropped with the
//!   probability of `in_min`, `in_max`, `in_max_p` at that average. Beyond `in_max` every in-packet
//!   is dropped.
//! * Every arriving packet updates the average of all waiting packets; an out-packet is dropped
//!   with the probability of `min`, `max`, `max_p` at that average, gentle if so configured.
//! * Averages, probabilities and spacing are RED's (`early_detection.rs`); the classes count
//!   arrivals separately.
//! * An ECT packet is marked instead of dropped early as long as its average is below its upper
//!   threshold.
//! * A full buffer drops every arriving packet.
//!
//! With `out_drop_tail` an out-packet is dropped only when the buffer is full (Akella et al. 2002
//! give the lower class of RIO drop-tail), and in-packets find space as if there were no
//! out-packets. A discipline that decides at enqueue cannot push out an enqueued out-packet for an
//! arriving in-packet: the out-packet stays, and no other is accepted while the buffer is over its
//! limit. Hence at most `limit` packets of each class wait, and more than `limit` together only
//! where in-packets came last.
//!
//! Parameters: [`RioParameters`].
//!
//! Departures from ns-2: out-packets update the average of all packets too, as in the paper (ns-2's
//! source calls its own behaviour a bug). An idle link decays both averages at the next arrival;
//! ns-2 decays that of in-packets at the next in-packet, over the time since the link last went
//! idle, busy or not. Packets only, no byte mode; in-packets have no gentle part.

use crate::admission::{Admission, ArrivingPacket, Backlog, Decision, DepartedPacket};
use crate::buffer_limit::{BufferLimit, Limit};
use crate::early_detection::{
    AverageQueue, DropSpacing, EarlyDetection, EarlyDrop, Weight, automatic_min_packets, idle_s,
};

/// Parameters of a RIO queue. Thresholds apply to averages, in packets.
///
/// ```
/// use cwndlab_queues::{Limit, RioParameters};
/// let parameters = RioParameters::new(Limit::Packets(50), 10e6, 1000);
/// assert!(parameters.in_max_p < parameters.max_p); // packets in profile are dropped more rarely
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RioParameters {
    /// Buffer limit, without the packet in service (`limit_`).
    pub limit: Limit,
    /// Nominal rate of the link.
    pub rate_bit_s: f64,
    /// Mean packet size (`mean_pktsize_`): for idle times and automatic values.
    pub mean_packet_bytes: u32,
    /// Lower threshold for out-packets (`out_thresh_`); automatic as in RED when absent.
    pub min_packets: Option<f64>,
    /// Upper threshold for out-packets (`out_maxthresh_`); three times `min` when absent.
    pub max_packets: Option<f64>,
    /// Drop probability of out-packets at `max` (`1/linterm_`).
    pub max_p: f64,
    /// Lower threshold for in-packets (`in_thresh_`); twice `min` when absent.
    pub in_min_packets: Option<f64>,
    /// Upper threshold for in-packets (`in_maxthresh_`); three times `in_min` when absent.
    pub in_max_packets: Option<f64>,
    /// Drop probability of in-packets at `in_max` (`1/in_linterm_`).
    pub in_max_p: f64,
    /// Weight of a new sample in both averages (`q_weight_`).
    pub weight: Weight,
    /// Whether the probability of out-packets rises to 1 at twice `max` (`out_gentle_`).
    pub gentle: bool,
    /// Whether drops keep a minimum spacing (`wait_`).
    pub wait: bool,
    /// Whether out-packets have drop-tail instead of RED.
    pub out_drop_tail: bool,
    /// Whether ECT packets are marked instead of dropped early (`setbit_`).
    pub ecn: bool,
    /// Delay for which an automatic `min` is chosen (`targetdelay_`).
    pub target_delay_s: f64,
}

impl RioParameters {
    /// Automatic thresholds and weight; gentle; dropping.
    pub fn new(limit: Limit, rate_bit_s: f64, mean_packet_bytes: u32) -> Self {
        Self {
            limit,
            rate_bit_s,
            mean_packet_bytes,
            min_packets: None,
            max_packets: None,
            max_p: 0.1,
            in_min_packets: None,
            in_max_packets: None,
            in_max_p: 0.02,
            weight: Weight::Automatic,
            gentle: true,
            wait: true,
            out_drop_tail: false,
            ecn: false,
            target_delay_s: 0.005,
        }
    }
}

/// A RIO queue.
///
/// ```
/// use cwndlab_queues::{Admission, Limit, Rio, RioParameters, Weight};
/// # use cwndlab_queues::{ArrivingPacket, Backlog, Decision};
/// # let arriving = |ecn| ArrivingPacket { now_s: 1.0, size_bytes: 1000, flow: 0, ecn,
/// #     priority: 1 };
/// # let backlog = |packets| Backlog { packets, bytes: 1000 * packets,
/// #     in_service_bytes: 1000.min(1000 * packets), ..Backlog::default() };
/// let mut rio = Rio::new(&RioParameters {
///     weight: Weight::Fixed(1.0), // no memory: the averages are the queues
///     ..RioParameters::new(Limit::Packets(50), 10e6, 1000)
/// });
/// rio.admit(&arriving(false), &backlog(4), &mut || 0.5);
/// // Of the three that wait none is in profile (priority 0).
/// assert_eq!((rio.average(), rio.in_average()), (3.0, 0.0));
/// ```
#[derive(Clone, Debug)]
pub struct Rio {
    buffer_limit: BufferLimit,
    all_average: AverageQueue,
    in_average: AverageQueue,
    out_detection: EarlyDetection,
    in_detection: EarlyDetection,
    out_drop_tail: bool,
    ecn: bool,
    /// In-packets waiting and in service.
    in_packets: u64,
    /// Bytes of the in-packets waiting and in service.
    in_bytes: u64,
}

impl Rio {
    /// A queue that is empty from time 0.
    pub fn new(parameters: &RioParameters) -> Self {
        let packets_per_s = parameters.rate_bit_s / (8.0 * f64::from(parameters.mean_packet_bytes));
        let min = parameters
            .min_packets
            .unwrap_or_else(|| automatic_min_packets(parameters.target_delay_s, packets_per_s));
        let in_min = parameters.in_min_packets.unwrap_or(2.0 * min);
        let spacing = DropSpacing {
            wait: parameters.wait,
            bytes: false,
            mean_packet_bytes: parameters.mean_packet_bytes,
        };
        let average = AverageQueue::new(parameters.weight.value(packets_per_s), packets_per_s);
        Self {
            buffer_limit: BufferLimit::new(parameters.limit, None),
            all_average: average.clone(),
            in_average: average,
            out_detection: EarlyDetection::new(
                min,
                parameters.max_packets.unwrap_or(3.0 * min),
                parameters.max_p,
                parameters.gentle,
                &spacing,
            ),
            in_detection: EarlyDetection::new(
                in_min,
                parameters.in_max_packets.unwrap_or(3.0 * in_min),
                parameters.in_max_p,
                false,
                &spacing,
            ),
            out_drop_tail: parameters.out_drop_tail,
            ecn: parameters.ecn,
            in_packets: 0,
            in_bytes: 0,
        }
    }

    /// Average of all waiting packets.
    pub fn average(&self) -> f64 {
        self.all_average.value()
    }

    /// Average of waiting in-packets.
    pub fn in_average(&self) -> f64 {
        self.in_average.value()
    }

    /// Backlog of in-packets alone.
    fn in_backlog(&self, backlog: &Backlog) -> Backlog {
        let is_in_service = backlog.packets > 0 && backlog.in_service_priority == 0;
        // Waiting packets are all packets less one in service, so the count keeps one for service
        // even when an out-packet is in service.
        Backlog {
            packets: self.in_packets + u64::from(backlog.packets > 0 && !is_in_service),
            bytes: self.in_bytes,
            in_service_bytes: if is_in_service { backlog.in_service_bytes } else { 0 },
            ..*backlog
        }
    }

    fn admit_in(
        &mut self,
        packet: &ArrivingPacket,
        backlog: &Backlog,
        idle_s: f64,
        random: &mut impl FnMut() -> f64,
    ) -> Decision {
        let in_backlog = self.in_backlog(backlog);
        let waiting = in_backlog.waiting_packets();
        self.in_average.update(waiting, idle_s);
        self.in_detection.count_arrival(packet.size_bytes);
        let average = self.in_average.value();
        let early_drop = self.in_detection.test(average, waiting, packet.size_bytes, true, random);
        let is_full = self
            .buffer_limit
            .is_full(packet.size_bytes, if self.out_drop_tail { &in_backlog } else { backlog });
        if early_drop == EarlyDrop::Forced || is_full {
            self.in_detection.reset_count();
            return Decision::Drop;
        }
        let may_mark = self.ecn && packet.ecn && average < self.in_detection.max;
        let decision = early_drop.decision(may_mark);
        if decision != Decision::Drop {
            self.in_packets += 1;
            self.in_bytes += u64::from(packet.size_bytes);
        }
        decision
    }

    fn admit_out(
        &mut self,
        packet: &ArrivingPacket,
        backlog: &Backlog,
        random: &mut impl FnMut() -> f64,
    ) -> Decision {
        let is_full = self.buffer_limit.is_full(packet.size_bytes, backlog);
        if self.out_drop_tail {
            return if is_full { Decision::Drop } else { Decision::Accept };
        }
        self.out_detection.count_arrival(packet.size_bytes);
        let average = self.all_average.value();
        let early_drop = self.out_detection.test(
            average,
            backlog.waiting_packets(),
            packet.size_bytes,
            true,
            random,
        );
        if early_drop == EarlyDrop::Forced || is_full {
            self.out_detection.reset_count();
            return Decision::Drop;
        }
        early_drop.decision(self.ecn && packet.ecn && average < self.out_detection.max)
    }
}

impl Admission for Rio {
    #[inline]
    fn admit(
        &mut self,
        packet: &ArrivingPacket,
        backlog: &Backlog,
        random: &mut impl FnMut() -> f64,
    ) -> Decision {
        let idle_s = idle_s(packet.now_s, backlog);
        self.all_average.update(backlog.waiting_packets(), idle_s);
        if packet.priority == 0 {
            self.admit_in(packet, backlog, idle_s, random)
        } else {
            self.in_average.decay_idle(idle_s);
            self.admit_out(packet, backlog, random)
        }
    }

    #[inline]
    fn on_departure(&mut self, packet: &DepartedPacket, _backlog: &Backlog) {
        if packet.priority == 0 {
            self.in_packets -= 1;
            self.in_bytes -= u64::from(packet.size_bytes);
        }
    }

    #[inline]
    fn needs_departures(&self) -> bool {
        true
    }
}
