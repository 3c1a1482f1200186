//! Events between endpoint and rule: ACKs, congestion and the rule's needs, limited to what a
//! simulator, a QUIC stack and a kernel can all supply.

/// Context of an ACK. Fields that the endpoint does not know are zero or false, as in
/// [`Ack::EMPTY`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ack {
    /// Arrival time, seconds.
    pub now_s: f64,
    /// Packets newly acknowledged, all of them: an ACK is one event, however many it covers.
    pub acked_packets: u64,
    /// Packets by which growth counts this ACK: `acked_packets` with appropriate byte counting (RFC
    /// 3465, Linux), one where growth counts ACKs (RFC 5681 section 3.1), none while cwnd does not
    /// limit the flow or in recovery. A rule that grows per packet repeats its step so often
    /// ([`Ack::per_packet`]).
    pub growth_packets: u64,
    /// Slow-start threshold, packets.
    pub ssthresh_packets: f64,
    /// cwnd limits the flow, neither the application nor the receiver's window
    /// ([`CwndValidation`](crate::CwndValidation)).
    pub cwnd_limited: bool,
    /// Packets delivered so far (cumulatively or selectively acknowledged), including this ACK's.
    /// Differences also count ACKs that the rule did not see (duplicates, those in recovery).
    pub delivered_packets: u64,
    /// Packets marked lost so far, for loss rates by differences.
    pub lost_packets: u64,
    /// Packets sent and not acknowledged, after this whole ACK, and those that the windows allow
    /// and the endpoint holds back, to send more as one (TSO). With [`Needs::recovery`]: without
    /// SACKed and lost packets (RFC 6675 section 4, `pipe`).
    pub in_flight_packets: u64,
    /// Packets in flight when the acknowledged packet was sent, itself included. With
    /// [`Needs::recovery`].
    pub sent_in_flight_packets: u64,
    /// Packets delivered since the acknowledged packet was sent, itself included. With
    /// [`Needs::recovery`].
    pub delivered_since_sent_packets: u64,
    /// Packets marked lost since the acknowledged packet was sent. With [`Needs::recovery`].
    pub lost_since_sent_packets: u64,
    /// In recovery: the recovery point is not acknowledged yet.
    pub in_recovery: bool,
    /// RTT of the packet that triggered the ACK, seconds.
    pub rtt_s: f64,
    /// Smoothed RTT (RFC 6298), seconds.
    pub srtt_s: f64,
    /// Minimum RTT so far, seconds.
    pub min_rtt_s: f64,
    /// Smoothed RTT less the minimum RTT, both without the granularity of a clock, seconds; 0
    /// before the first sample.
    pub queueing_delay_s: f64,
    /// Delivery rate while the acknowledged packet was in flight, packets/s; 0 when unknown. With
    /// [`Needs::delivery_rate`].
    pub delivery_rate_packets_s: f64,
    /// The ACK reports a mark. With [`Needs::exact_marks`]: the mark of the very packets it
    /// acknowledges.
    pub marked: bool,
    /// Packets newly reported as marked: counted (AccECN, RFC 9768), or all that an ACK with ECE
    /// newly delivers. 0 if the rule has seen this ACK before.
    pub marked_packets: u64,
    /// A round trip has passed: the first ACK that the rule sees since packets sent at the last
    /// such ACK were acknowledged. With [`Needs::rounds`].
    pub round_start: bool,
    /// The rate sample is application-limited: the sender was while the acknowledged packet was in
    /// flight. With [`Needs::delivery_rate`]; whether it is limited now, `cwnd_limited` tells.
    pub app_limited: bool,
}

impl Default for Ack {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl Ack {
    /// An ACK without information.
    pub const EMPTY: Self = Self {
        now_s: 0.0,
        acked_packets: 0,
        growth_packets: 1,
        ssthresh_packets: f64::INFINITY,
        cwnd_limited: true,
        delivered_packets: 0,
        lost_packets: 0,
        in_flight_packets: 0,
        sent_in_flight_packets: 0,
        delivered_since_sent_packets: 0,
        lost_since_sent_packets: 0,
        in_recovery: false,
        rtt_s: 0.0,
        srtt_s: 0.0,
        min_rtt_s: 0.0,
        queueing_delay_s: 0.0,
        delivery_rate_packets_s: 0.0,
        marked: false,
        marked_packets: 0,
        round_start: false,
        app_limited: false,
    };

    /// Packets newly acknowledged, at least one: for RFCs that count segments.
    #[inline]
    pub fn segments(&self) -> f64 {
        self.acked_packets.max(1) as f64
    }

    /// The window after one `step` for each packet by which growth counts this ACK.
    #[inline]
    pub fn per_packet(&self, cwnd: f64, step: impl FnMut(f64) -> f64) -> f64 {
        repeated(cwnd, self.growth_packets, step)
    }

    /// The window after slow start (RFC 5681 section 3.1: one packet more for each), until it
    /// reaches ssthresh; `step` takes it from there, once for each packet that is left over (Linux
    /// `tcp_slow_start`).
    #[inline]
    pub fn slow_start(&self, cwnd: f64, step: impl FnMut(f64) -> f64) -> f64 {
        let (cwnd, left_over) = self.slow_start_packets(cwnd);
        repeated(cwnd, left_over, step)
    }

    /// The window after slow start, at ssthresh at most a part of a packet beyond, and the packets
    /// left over for congestion avoidance.
    #[inline]
    pub fn slow_start_packets(&self, cwnd: f64) -> (f64, u64) {
        let room = (self.ssthresh_packets - cwnd).ceil().max(0.0);
        let packets = self.growth_packets.min(room as u64);
        (cwnd + packets as f64, self.growth_packets - packets)
    }
}

#[inline]
fn repeated(mut cwnd: f64, packets: u64, mut step: impl FnMut(f64) -> f64) -> f64 {
    for _ in 0..packets {
        cwnd = step(cwnd);
    }
    cwnd
}

/// Cause of a window reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// Loss found by duplicate ACKs, SACK, RACK or a tail loss probe.
    FastRetransmit,
    /// Marks (RFC 3168, RFC 9768).
    Ecn,
    /// A retransmission timeout: the rule's window becomes ssthresh; the endpoint sets cwnd to one
    /// packet, or with RACK to one beyond what is in flight.
    Timeout,
}

/// The rule's response to an ACK in slow start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SlowStart {
    /// cwnd, packets; slow start continues.
    Grow(f64),
    /// cwnd and ssthresh, packets; slow start ends.
    Leave(f64),
}

/// The rule's response to an ACK that reports a mark, by ECE or by AccECN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkResponse {
    /// RFC 3168 section 6.1.2: once per window of data the endpoint calls
    /// [`decrease`](crate::WindowRule::decrease) with [`Congestion::Ecn`]. Such an ACK does not
    /// grow the window, except while a timeout is repaired.
    Reduce,
    /// The rule consumed the mark: no reduction, and the ACK is processed as an unmarked one.
    Consumed,
}

/// Which fields of an [`Ack`] a rule reads; each includes those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum AckFields {
    /// Those that every rule has, [`Ack::growth_packets`] and [`Ack::ssthresh_packets`]: the new
    /// window follows from cwnd alone. Without growth such a rule is not called.
    None,
    /// Also [`Ack::rtt_s`] and [`Ack::srtt_s`].
    Rtt,
    /// Any.
    #[default]
    All,
}

/// What a rule asks of the endpoint: to measure something, where everything else costs nothing, or
/// to treat its windows in a way of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The fields of [`Ack`] that the rule reads. The endpoint may leave the others empty.
    pub ack: AckFields,
    /// [`Ack::delivery_rate_packets_s`] and [`Ack::app_limited`]. Such a rule decides itself what a
    /// window means that the flow does not use: growth counts also while cwnd does not limit it.
    pub delivery_rate: bool,
    /// ECE reports each packet's own mark instead of being latched until CWR (RFC 8257 section
    /// 3.2).
    pub exact_marks: bool,
    /// ECT(1) and AccECN: the flow is an L4S flow (RFC 9331).
    pub l4s: bool,
    /// [`Ack::round_start`].
    pub rounds: bool,
    /// [`WindowRule::pacing_rate_packets_s`](crate::WindowRule::pacing_rate_packets_s) may return a
    /// rate.
    pub pacing: bool,
    /// The rule also sees ACKs in recovery and duplicate ACKs with new SACK blocks, and sets cwnd
    /// on each: for model-based rules. Round trips then begin when a packet sent in them is
    /// acknowledged in any way.
    pub recovery: bool,
    /// Rate samples in the kernel's units ([`WindowRule::on_sample`](crate::WindowRule::on_sample)
    /// and those beside it), from endpoints that have them: then [`Ack`]s tell growth alone.
    pub samples: bool,
    /// The receiver acknowledges each packet at once, unless the scenario says otherwise: the rule
    /// measures delays to the millisecond.
    pub prompt_acks: bool,
    /// [`WindowRule::fault`](crate::WindowRule::fault) may return an error.
    pub faults: bool,
    /// A loss reduces the window although a mark in the same window of data did, against RFC 3168
    /// section 6.1.2: the reduction for a mark is smaller.
    pub cut_after_mark: bool,
    /// A reduction in slow start halves, whatever [`decrease`](crate::WindowRule::decrease)
    /// returns: only the endpoint knows whether it is in slow start.
    pub halves_in_slow_start: bool,
    /// The factor of its decrease is exactly one half, so that an endpoint may halve whatever its
    /// other parameters (ns-2's `TcpAgent::slowdown` with `decrease_num_` 0.5).
    pub factor_is_half: bool,
    /// [`WindowRule::on_siblings`](crate::WindowRule::on_siblings): the rule couples the subflows
    /// of a connection.
    pub coupled: bool,
    /// HyStart, where the slow-start scheme is that which the rule has in Linux.
    pub hystart: bool,
}

impl Needs {
    /// What is left to ask of an endpoint that gives rate samples.
    pub fn beside_samples(self) -> Self {
        Self { ack: AckFields::None, delivery_rate: false, rounds: false, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ACK of four packets at 8.5 of 10: two reach 10.5, two are left over. Far below ssthresh
    /// all four count; without growth none.
    #[test]
    fn slow_start_ends_at_ssthresh_and_leaves_the_rest_over() {
        let ack = Ack { growth_packets: 4, ssthresh_packets: 10.0, ..Ack::EMPTY };
        assert_eq!(ack.slow_start_packets(8.5), (10.5, 2));
        assert_eq!(ack.slow_start(8.5, |cwnd| cwnd + 0.125), 10.75);
        assert_eq!(ack.slow_start_packets(2.0), (6.0, 0));
        assert_eq!(Ack { growth_packets: 0, ..ack }.slow_start_packets(8.5), (8.5, 0));
        assert_eq!(
            Ack { ssthresh_packets: f64::INFINITY, ..ack }.slow_start_packets(1e9),
            (1e9 + 4.0, 0)
        );
        assert_eq!(ack.per_packet(1.0, |cwnd| 2.0 * cwnd), 16.0);
    }
}
