//! RED with "in" and "out": packets in profile are judged by their own number, packets out of profile by the whole queue.
//!
//! Source: D. Clark and W. Fang, "Explicit Allocation of Best-Effort Packet Delivery Service", IEEE/ACM ToN 6(4), 1998;
//! ns-2 2.35 `queue/rio.cc`. Packets of priority 0 are in profile.
//!
//! * An arriving in-packet updates the average number of in-packets that wait, and is lost along the curve of `in_min`, `in_max`,
//!   `in_max_p`, applied to it. The curve ends at `in_max`: beyond, every in-packet is lost.
//! * Every arriving packet updates the average of all that wait; an out-packet is lost along the curve of `min`, `max`, `max_p`, applied
//!   to that, gentle if so asked.
//! * Averages, curves and the distance between losses are RED's (`early.rs`); both classes count their arrivals apart.
//! * A packet that can be marked is marked instead of lost at random as long as its average is below its upper threshold.
//! * A full buffer loses whatever arrives.
//!
//! With `out_drop_tail` an out-packet is lost only when the buffer is full, as drop-tail would (Akella et al. 2002 give the lower class of
//! RIO this), and in-packets find room as if no out-packet were there. A discipline that would push an out-packet out for an arriving
//! in-packet is not one that decides at arrival, so the out-packet stays, and as long as the buffer is over its limit no other is taken.
//! Hence at most `limit` packets of each kind wait, and more than `limit` together only where in-packets came last.
//!
//! Knobs: [`RioParameters`].
//!
//! Departures from ns-2: the average of the whole queue is updated by out-packets too, as in the paper (ns-2's own source calls it a bug
//! that it is not). An idle link decays both averages at the next arrival; ns-2 decays that of in-packets at the next in-packet, over the
//! time since the link last went idle, busy or not. Packets only, no byte mode; in-packets have no gentle part.

use crate::early::{Average, Curve, Spread, Verdict, Weight, automatic_min_packets, idle_s};
use crate::room::Room;
use crate::{Admission, Arrival, Backlog, Decision, Departure, Limit};

/// What a RIO queue is made from. Thresholds are averages, in packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RioParameters {
    /// What may wait, without the packet in service (`limit_`).
    pub limit: Limit,
    /// The link's nominal rate.
    pub rate_bit_s: f64,
    /// Mean packet (`mean_pktsize_`): for idle times and automatic values.
    pub mean_packet_bytes: u32,
    /// All packets from which out-packets are lost at random (`out_thresh_`); automatic as in RED when absent.
    pub min_packets: Option<f64>,
    /// All packets at which the curve for out-packets ends (`out_maxthresh_`); three times `min` when absent.
    pub max_packets: Option<f64>,
    /// Probability there (ns-2 takes `1/linterm_`).
    pub max_p: f64,
    /// In-packets from which they are lost at random (`in_thresh_`); twice `min` when absent.
    pub in_min_packets: Option<f64>,
    /// In-packets from which all of them are lost (`in_maxthresh_`); three times `in_min` when absent.
    pub in_max_packets: Option<f64>,
    /// Probability there (`1/in_linterm_`).
    pub in_max_p: f64,
    /// Weight of a new sample in both averages (`q_weight_`).
    pub weight: Weight,
    /// Whether the curve for out-packets goes on to 1 at twice `max` (`out_gentle_`).
    pub gentle: bool,
    /// Whether losses keep a distance (`wait_`).
    pub wait: bool,
    /// Whether out-packets have drop-tail instead of a curve.
    pub out_drop_tail: bool,
    /// Whether packets that can be marked are marked where they would be lost at random (`setbit_`).
    pub ecn: bool,
    /// Delay that an automatic `min` is made for (`targetdelay_`).
    pub target_delay_s: f64,
}

impl RioParameters {
    /// Automatic thresholds and weight; gentle; losing, not marking.
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
#[derive(Clone, Debug)]
pub struct Rio {
    room: Room,
    all: Average,
    inside: Average,
    out_curve: Curve,
    in_curve: Curve,
    out_drop_tail: bool,
    ecn: bool,
    /// In-packets at the link, the one in service included.
    in_packets: u64,
    /// Their bytes.
    in_bytes: u64,
}

impl Rio {
    /// A queue with these parameters, empty since time 0.
    pub fn new(parameters: &RioParameters) -> Self {
        let packets_per_s = parameters.rate_bit_s / (8.0 * f64::from(parameters.mean_packet_bytes));
        let min = parameters.min_packets.unwrap_or_else(|| automatic_min_packets(parameters.target_delay_s, packets_per_s));
        let in_min = parameters.in_min_packets.unwrap_or(2.0 * min);
        let spread = Spread { wait: parameters.wait, bytes: false, mean_packet_bytes: parameters.mean_packet_bytes };
        let average = Average::new(parameters.weight.value(packets_per_s), packets_per_s);
        Self {
            room: Room::new(parameters.limit, None),
            all: average.clone(),
            inside: average,
            out_curve: Curve::new(min, parameters.max_packets.unwrap_or(3.0 * min), parameters.max_p, parameters.gentle, &spread),
            in_curve: Curve::new(in_min, parameters.in_max_packets.unwrap_or(3.0 * in_min), parameters.in_max_p, false, &spread),
            out_drop_tail: parameters.out_drop_tail,
            ecn: parameters.ecn,
            in_packets: 0,
            in_bytes: 0,
        }
    }

    /// The average of all that waits, packets.
    pub fn average(&self) -> f64 {
        self.all.value()
    }

    /// The average of the in-packets that wait.
    pub fn in_average(&self) -> f64 {
        self.inside.value()
    }

    /// The in-packets at the link, as a backlog of their own.
    fn in_backlog(&self, backlog: &Backlog) -> Backlog {
        let is_in_service = backlog.packets > 0 && backlog.in_service_priority == 0;
        // What waits is all there is less what is in service, so a slot in service is left in the count even when an out-packet has it.
        Backlog {
            packets: self.in_packets + u64::from(backlog.packets > 0 && !is_in_service),
            bytes: self.in_bytes,
            in_service_bytes: if is_in_service { backlog.in_service_bytes } else { 0 },
            ..*backlog
        }
    }

    fn admit_inside(&mut self, packet: &Arrival, backlog: &Backlog, idle_s: f64, random: &mut impl FnMut() -> f64) -> Decision {
        let inside = self.in_backlog(backlog);
        let waiting = inside.waiting_packets();
        self.inside.update(waiting, idle_s);
        self.in_curve.arrive(packet.size_bytes);
        let average = self.inside.value();
        let verdict = self.in_curve.judge(average, waiting, packet.size_bytes, true, random);
        let is_full = self.room.is_full(packet.size_bytes, if self.out_drop_tail { &inside } else { backlog });
        if verdict == Verdict::Forced || is_full {
            self.in_curve.restart();
            return Decision::Drop;
        }
        let may_mark = self.ecn && packet.ecn && average < self.in_curve.max;
        let decision = verdict.decision(may_mark);
        if decision != Decision::Drop {
            self.in_packets += 1;
            self.in_bytes += u64::from(packet.size_bytes);
        }
        decision
    }

    fn admit_outside(&mut self, packet: &Arrival, backlog: &Backlog, random: &mut impl FnMut() -> f64) -> Decision {
        let is_full = self.room.is_full(packet.size_bytes, backlog);
        if self.out_drop_tail {
            return if is_full { Decision::Drop } else { Decision::Accept };
        }
        self.out_curve.arrive(packet.size_bytes);
        let average = self.all.value();
        let verdict = self.out_curve.judge(average, backlog.waiting_packets(), packet.size_bytes, true, random);
        if verdict == Verdict::Forced || is_full {
            self.out_curve.restart();
            return Decision::Drop;
        }
        verdict.decision(self.ecn && packet.ecn && average < self.out_curve.max)
    }
}

impl Admission for Rio {
    #[inline]
    fn admit(&mut self, packet: &Arrival, backlog: &Backlog, random: &mut impl FnMut() -> f64) -> Decision {
        let idle_s = idle_s(packet.now_s, backlog);
        self.all.update(backlog.waiting_packets(), idle_s);
        if packet.priority == 0 {
            self.admit_inside(packet, backlog, idle_s, random)
        } else {
            self.inside.pass(idle_s);
            self.admit_outside(packet, backlog, random)
        }
    }

    #[inline]
    fn departed(&mut self, packet: &Departure, _backlog: &Backlog) {
        if packet.priority == 0 {
            self.in_packets -= 1;
            self.in_bytes -= u64::from(packet.size_bytes);
        }
    }

    #[inline]
    fn watches_departures(&self) -> bool {
        true
    }
}
