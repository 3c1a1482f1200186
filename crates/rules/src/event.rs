//! What a rule is told and what it answers: only what a simulator, a QUIC stack and a kernel can all supply.

/// An acknowledgement. What an endpoint cannot know is zero or false, as in [`Ack::NOTHING`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ack {
    /// When it arrived, seconds.
    pub now_s: f64,
    /// Packets it newly acknowledged.
    pub acked_packets: u64,
    /// Packets acknowledged so far, cumulatively or selectively, this acknowledgement's included. A rule that counts takes
    /// differences of this, so that acknowledgements that it was not shown (duplicates, those in recovery) are counted too.
    pub delivered_packets: u64,
    /// Packets found lost so far. A rule that looks at loss rates takes differences of this, too.
    pub lost_packets: u64,
    /// Packets sent and not yet acknowledged, after this acknowledgement. Where [`Needs::recovery`] asks for it, those of them that are
    /// believed to be in the network: neither reported nor lost (RFC 6675 section 4, `pipe`).
    pub in_flight_packets: u64,
    /// Packets in flight when the acknowledged packet was sent, itself included. Filled in where [`Needs::recovery`] asks for it.
    pub sent_in_flight_packets: u64,
    /// Packets acknowledged since the acknowledged packet was sent, itself included. Filled in where [`Needs::recovery`] asks for it.
    pub delivered_since_sent_packets: u64,
    /// Packets found lost since the acknowledged packet was sent. Filled in where [`Needs::recovery`] asks for it.
    pub lost_since_sent_packets: u64,
    /// A loss is being repaired: what was outstanding when it was found is not acknowledged yet.
    pub in_recovery: bool,
    /// Round trip of the packet that triggered it, seconds.
    pub rtt_s: f64,
    /// Smoothed round trip (RFC 6298), seconds.
    pub srtt_s: f64,
    /// Smallest round trip seen so far, seconds.
    pub min_rtt_s: f64,
    /// Rate at which the network delivered while the acknowledged packet was under way, packets/s; 0 when not known.
    /// Filled in where [`Needs::delivery_rate`] asks for it.
    pub delivery_rate_packets_s: f64,
    /// It echoes a mark. Where [`Needs::exact_marks`] asks for it, the mark of the very packets that it acknowledges.
    pub marked: bool,
    /// The first acknowledgement shown to the rule since what was sent at the last such one was acknowledged: a round trip
    /// has passed. Filled in where [`Needs::rounds`] asks for it.
    pub round_start: bool,
    /// The application, not the window, limited the sender while the acknowledged packet was under way.
    pub app_limited: bool,
}

impl Default for Ack {
    fn default() -> Self {
        Self::NOTHING
    }
}

impl Ack {
    /// Nothing is known.
    pub const NOTHING: Self = Self {
        now_s: 0.0,
        acked_packets: 0,
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
        delivery_rate_packets_s: 0.0,
        marked: false,
        round_start: false,
        app_limited: false,
    };

    /// Packets it newly acknowledged, one at least: what an RFC that counts segments rather than acknowledgements uses.
    #[inline]
    pub fn segments(&self) -> f64 {
        self.acked_packets.max(1) as f64
    }
}

/// Why the window must shrink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// Loss found by duplicate acknowledgements.
    FastRetransmit,
    /// A mark echoed by the receiver (RFC 3168).
    Ecn,
    /// A retransmission time-out: only the slow-start threshold is taken from the rule's answer, since the endpoint sets
    /// the window to one packet itself.
    Timeout,
}

/// What an acknowledgement in slow start does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SlowStart {
    /// The window is this many packets; slow start goes on.
    Grow(f64),
    /// The window and the slow-start threshold are this many packets: slow start is over.
    Leave(f64),
}

/// What an echoed mark does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// As RFC 3168 section 6.1.2 says: once per window of data the endpoint calls [`decrease`](crate::WindowRule::decrease)
    /// with [`Congestion::Ecn`]. An acknowledgement answered so never grows the window, whether it cut or not.
    Congestion,
    /// The rule has taken note: no cut, and the acknowledgement goes on as an unmarked one would.
    Noted,
}

/// What a rule asks the endpoint to measure beyond what is free. An endpoint pays only for what is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// [`Ack::delivery_rate_packets_s`].
    pub delivery_rate: bool,
    /// The receiver echoes the mark of each packet instead of latching it until the sender answers (RFC 8257 section 3.2).
    pub exact_marks: bool,
    /// [`Ack::round_start`].
    pub rounds: bool,
    /// [`WindowRule::pacing_rate_packets_s`](crate::WindowRule::pacing_rate_packets_s) answers: packets leave at that rate.
    pub pacing: bool,
    /// Acknowledgements are shown in recovery too, and duplicates that report a packet, and their answer is the window: for rules that keep a
    /// model of the network and may not be left blind. Rounds then begin when a packet sent in them is acknowledged in any way.
    pub recovery: bool,
    /// [`WindowRule::fault`](crate::WindowRule::fault) may answer, and is worth asking.
    pub faults: bool,
}
