//! The settings of a TCP endpoint, each with its value per profile and its range, in one table that
//! code, scenario files and docs read. A scenario sets them by their names, without the groups.
//!
//! `ns2-2.35` has the defaults that `ns` prints (Debian's package). The dated profiles of ns-2
//! follow from it: `ns2_history.rs` has the day on which each default changed. `rfc` follows RFC
//! 5681, 6298, 6582, 6675, 7323, 3042, 3168 and 3390. `linux` has the defaults of current Linux, as
//! far as they are modelled.

use crate::{EcnFeedback, ShortPacket, SlowStartScheme};
use cwndlab_units::Time;

/// A set of defaults for the settings of an endpoint.
///
/// ```
/// use cwndlab_tcp::{Profile, TcpConfig};
/// let initial_window = |profile| TcpConfig::profile(profile).limits.initial_window;
/// assert_eq!(initial_window(Profile::Rfc), 4.0); // RFC 3390 at 1000 bytes
/// assert_eq!(initial_window(Profile::Linux), 10.0); // RFC 6928
/// assert_eq!(Profile::default().name(), "linux");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// ns-2 2.35.
    Ns2_235,
    /// ns-2.34 (17 June 2009).
    Ns2_2009,
    /// ns-2.1b9 (13 April 2002), as far as ns-2's records date the defaults.
    Ns2_2002,
    /// ns-2.1b8 (6 June 2001).
    Ns2_2001,
    /// ns-2.1b7a (16 October 2000).
    Ns2_2000,
    /// Current RFCs.
    Rfc,
    /// Current Linux, as far as it is modelled.
    #[default]
    Linux,
}

impl Profile {
    /// Names in scenarios, in the order of the variants.
    pub const NAMES: [&'static str; 7] =
        ["ns2-2.35", "ns2-2009", "ns2-2002", "ns2-2001", "ns2-2000", "rfc", "linux"];
    /// All profiles, in the order of the variants.
    pub const ALL: [Self; 7] = [
        Self::Ns2_235,
        Self::Ns2_2009,
        Self::Ns2_2002,
        Self::Ns2_2001,
        Self::Ns2_2000,
        Self::Rfc,
        Self::Linux,
    ];

    /// Name in scenarios.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// Passes the table of settings to the macro `$use`: groups `name: Type, "what they are about" {
/// settings }`, and in them `name: type = [ns2-2.35, rfc, linux] within [least, most], "meaning";`.
#[macro_export]
macro_rules! for_each_knob {
    ($use:ident) => {
        $use! {
            segment: SegmentConfig, "Sizes of segments, bytes." {
                packet_size: u32 = [1000, 1000, 1448] within [1.0, 65_000.0],
                    "payload of a data packet, bytes (packetSize_)";
                header_size: u32 = [40, 40, 40] within [0.0, 400.0],
                    "bytes added to every data packet on the wire (tcpip_base_hdr_size_; 0 is \
                    useHeaders_ false)";
                syn_size: u32 = [40, 40, 60] within [1.0, 65_000.0],
                    "bytes of packet 0 where syn is true";
                ack_size: u32 = [40, 40, 40] within [1.0, 65_000.0],
                    "bytes of an ACK without SACK blocks";
                timestamp_size: u32 = [10, 12, 12] within [0.0, 40.0],
                    "bytes that timestamps add to a data packet (ts_option_size_; RFC 7323)";
                ack_timestamp_size: u32 = [0, 12, 12] within [0.0, 40.0],
                    "bytes that timestamps add to an ACK (ns-2: none)";
                sack_block_size: u32 = [8, 8, 8] within [0.0, 40.0],
                    "bytes of a SACK block";
                sack_header_size: u32 = [0, 0, 4] within [0.0, 40.0],
                    "bytes that SACK blocks add once: the head of their option, padded (RFC 2018 \
                    section 3)";
                max_sack_blocks: u32 = [3, 3, 3] within [0.0, 3.0],
                    "SACK blocks in an ACK, at most 3 (maxSackBlocks_)";
            }
            limits: LimitConfig, "Limits of the window." {
                window: f64 = [20.0, 1e9, 1e9] within [1.0, 1e9],
                    "the receiver's advertised window rwnd, packets (window_)";
                initial_window: f64 = [2.0, 4.0, 10.0] within [1.0, 1e6],
                    "initial cwnd, packets (windowInit_; RFC 3390 at 1000 bytes)";
                initial_ssthresh: f64 = [1e9, 1e9, 1e9] within [1.0, 1e9],
                    "initial ssthresh, packets; never above window, but with receive_buffer";
                cwnd_floor: f64 = [-1e9, 1.0, 1.0] within [-1e9, 1e6],
                    "smallest cwnd after a reduction, packets; ns-2 has none: its cwnd can fall \
                    below zero";
                cap_window: bool = [false, true, false],
                    "cwnd never grows past window (maxcwnd_)";
                max_burst: u32 = [0, 0, 0],
                    "packets sent per ACK; 0: no limit (maxburst_)";
            }
            growth: GrowthConfig, "How the window grows, and what a reduction computes." {
                slow_start: SlowStartScheme = [SlowStartScheme::Standard, SlowStartScheme::Standard, SlowStartScheme::Linux],
                    "the slow-start scheme, by name: standard (until a loss), or one that ends \
                    slow start earlier or slows it down; linux: hystart for CUBIC, standard for \
                    other rules";
                grow_by_packets: bool = [false, false, true],
                    "growth counts the packets that an ACK acknowledges (appropriate byte \
                    counting, RFC 3465; Linux); false: ACKs (RFC 5681 section 3.1)";
                grow_when_limited: bool = [false, true, true],
                    "cwnd grows only while it limits the flow, not the application or the \
                    receiver's window (RFC 7661; Linux tcp_is_cwnd_limited)";
                idle_restart: bool = [false, true, true],
                    "after an RTO without sending, cwnd restarts from initial_window at most (RFC \
                    5681 section 4.1)";
                pacing: bool = [false, false, false],
                    "packets are paced at 2 cwnd/srtt in slow start, later at 1.2 cwnd/srtt; \
                    rules with a pacing rate pace in any case";
                tso: bool = [false, false, true],
                    "with rack: new packets leave in bursts of what a millisecond of the pacing \
                    rate allows, and wait for more ACKs meanwhile (segmentation offload, Linux \
                    tcp_tso_should_defer)";
                precise_reduction: bool = [true, true, false],
                    "reductions work on the fractional window (precisionReduce_)";
                integer_ssthresh: bool = [true, false, true],
                    "ssthresh is truncated to whole packets";
                hold_ssthresh: bool = [false, true, true],
                    "ssthresh stays when the same packet times out again (RFC 5681 section 3.1)";
            }
            handshake: HandshakeConfig, "The SYN and its answer." {
                syn: bool = [true, true, true],
                    "packet 0 is a SYN without data (syn_)";
                delay_growth: bool = [true, true, true],
                    "cwnd is one packet until the SYN is acknowledged, then initial_window \
                    (delay_growth_)";
                restart_after_syn_loss: bool = [true, true, false],
                    "loss of packet 0 makes the initial window 1 (bugfix_ss_, RFC 5681 section \
                    3.1)";
                linear_syn_timeouts: u32 = [0, 0, 4],
                    "timeouts of the SYN before backoff begins (Linux tcp_syn_linear_timeouts)";
                synack_retries: u32 = [0, 0, 5] within [0.0, 255.0],
                    "how often the receiver repeats its SYN-ACK by a timer, which begins at \
                    initial_rto and doubles, as long as no data arrive (Linux \
                    tcp_synack_retries)";
            }
            recovery: RecoveryConfig, "How losses are found and repaired." {
                dupack_threshold: u32 = [3, 3, 3] within [1.0, 1e6],
                    "duplicate ACKs that trigger fast retransmit (numdupacks_; DupThresh of RFC \
                    6675)";
                limited_transmit: bool = [true, true, true],
                    "new data on the first two duplicate ACKs (singledup_, RFC 3042)";
                fast_retransmit_first: bool = [true, true, true],
                    "fast retransmit works while only packet 0 is acknowledged (bugfix_ss_)";
                sack_rfc6675: bool = [false, true, true],
                    "SACK recovery as RFC 6675 (pipe, rescue); false: as ns-2's Sack1";
                prr: bool = [false, false, true],
                    "SACK recovery, and with rack newreno's, reduces cwnd by proportional rate \
                    reduction (RFC 9937), with rack also after ECE; false: at once";
                rack: bool = [false, false, true],
                    "SACK recovery detects losses by time, lost retransmissions too (RACK, RFC \
                    8985), and newreno counts duplicate ACKs as packets delivered (Linux \
                    `tcp_add_reno_sack`); false: by counting SACKed packets, and RFC 6582";
                tlp: bool = [false, false, true],
                    "with rack: a tail loss probe after two round trips without an ACK, well \
                    before the RTO (RFC 8985 section 7)";
                undo: bool = [false, false, true],
                    "a reduction is undone when an ACK shows that nothing was lost: by timestamps \
                    (RFC 3522), F-RTO without them or with rack (RFC 5682), or dsack (RFC 3708); \
                    RFC 4015";
                dsack: bool = [false, false, true],
                    "the receiver of SACK reports packets that arrive twice (RFC 2883)";
                stop_keeps_last_packet: bool = [false, true, true],
                    "after `stop` the last packet sent is still sent again where a timeout asks \
                    for it (ns-2's `$ftp stop` ends the data before it)";
            }
            newreno: NewRenoConfig, "Variants of fast retransmit and fast recovery without SACK (RFC 6582)." {
                bug_fix: bool = [true, true, true],
                    "no second fast retransmit within one window (bugFix_, RFC 6582 section 4)";
                less_careful: bool = [false, false, false],
                    "NewReno's less careful variant (lessCareful_)";
                exit_fast_retransmit: bool = [true, true, true],
                    "no window inflation without a fast retransmit (exitFastRetrans_)";
                impatient: bool = [true, true, true],
                    "NewReno restarts its timer on the first partial ACK only \
                    (newreno_changes1_)";
                partial_window_deflation: bool = [true, true, true],
                    "a partial ACK deflates the window (partial_window_deflation_)";
                exit_recovery_fix: bool = [false, true, true],
                    "NewReno leaves recovery with min(ssthresh, outstanding packets) \
                    (exit_recovery_fix_)";
                recovery_burst: u32 = [2, 0, 0],
                    "packets NewReno sends per ACK in recovery; 0: no limit";
            }
            rto: RtoConfig, "RTT samples and the retransmission timer (RFC 6298)." {
                min_rto: Time = [Time::ns(200_000_000), Time::ns(1_000_000_000), Time::ns(200_000_000)],
                    "minimum RTO (minrto_)";
                max_rto: Time = [Time::ns(60_000_000_000), Time::ns(60_000_000_000), Time::ns(120_000_000_000)] within [1e-3, 1e5],
                    "maximum RTO (maxrto_)";
                initial_rto: Time = [Time::ns(3_000_000_000), Time::ns(1_000_000_000), Time::ns(1_000_000_000)] within [1e-3, 1e5],
                    "RTO before the first RTT sample (rtxcur_init_)";
                tick: Time = [Time::ns(10_000_000), Time::ns(0), Time::ns(0)],
                    "granularity of RTT samples (tcpTick_); 0: exact, RFC 6298 arithmetic";
                timestamps: bool = [false, true, true],
                    "RTT samples from timestamps on every ACK (timestamps_)";
                timestamps_reset_backoff: bool = [false, true, true],
                    "with timestamps every new ACK ends the backoff (ts_resetRTO_)";
                clamp_before_backoff: bool = [true, true, true],
                    "min_rto applies before backoff (rfc2988_)";
                min_rto_on_variation: bool = [false, false, true],
                    "min_rto is the minimum of the variance term that is added to srtt, not of \
                    the RTO (Linux)";
                timer_after_sample: bool = [true, true, true],
                    "an ACK updates the RTT estimate before it restarts the timer (timerfix_)";
            }
            ecn: EcnConfig, "Explicit congestion notification." {
                ecn: bool = [false, false, false],
                    "the sender negotiates ECN and sends ECT packets (ecn_; RFC 3168)";
                ecn_feedback: EcnFeedback = [EcnFeedback::Ece, EcnFeedback::Ece, EcnFeedback::Ece],
                    "how the receiver reports marks: ece (RFC 3168), exact-ece (each packet's \
                    own, RFC 8257; rules that need it have it in place of ece), accecn (RFC \
                    9768), or accecn-without-option";
                ect1: bool = [false, false, false],
                    "with ecn: packets are ECT(1), not ECT(0) (L4S, RFC 9331)";
            }
            receiver: ReceiverConfig, "When the receiver acknowledges, and what." {
                delayed_ack: bool = [false, false, true],
                    "delayed ACKs: acknowledge every second packet (TCPSink/DelAck)";
                delayed_ack_interval: Time = [Time::ns(100_000_000), Time::ns(100_000_000), Time::ns(40_000_000)],
                    "delayed-ACK timeout (interval_)";
                quick_acks: u32 = [0, 0, 16],
                    "ACKs that leave at once despite delayed_ack: at the start, and after a \
                    packet that arrives twice (Linux: 16)";
                receive_buffer: u32 = [0, 0, 0] within [0.0, 1_073_741_824.0],
                    "largest receive buffer, bytes: it grows with what the application reads in a \
                    round trip, and ACKs leave as Linux times them (tcp_rmem: 33554432 from Linux \
                    6.16 on, 6291456 before); 0: no buffer, and ACKs as the knobs below say";
                sack_slack: Time = [Time::ns(0), Time::ns(0), Time::ns(100_000)],
                    "with receive_buffer: slack of the timer that releases duplicate ACKs which \
                    SACK compression holds back (tcp_comp_sack_slack_ns)";
                immediate_ack_on_fill: bool = [true, true, true],
                    "a packet that fills a gap is acknowledged at once (RFC2581_immediate_ack_)";
                immediate_ack_on_syn: bool = [true, true, true],
                    "packet 0 is acknowledged at once (SYN_immediate_ack_)";
                immediate_ack_on_duplicate: bool = [false, true, true],
                    "a packet that arrives twice is acknowledged at once, the last one in order \
                    too (RFC 9293 section 3.10.7.4)";
                timestamp_echo_fix: bool = [true, true, true],
                    "the receiver echoes the timestamp of the packet that advanced RCV.NXT \
                    (ts_echo_bugfix_)";
                ack_division: u32 = [1, 1, 1] within [1.0, 1e3],
                    "a receiver that misbehaves: ACKs that it sends in place of each one, each of \
                    an equal part of the data (ACK division, Savage et al. 1999)";
                optimistic_acks: u32 = [0, 0, 0] within [0.0, 1e5],
                    "a receiver that misbehaves: packets that it acknowledges before they arrive; \
                    it hides losses (optimistic ACKs, Savage et al. 1999)";
            }
            quirks: Ns2Quirks, "What only ns-2 does." {
                ns2_arithmetic: bool = [true, false, false],
                    "rules compute in ns-2's order of operations";
                ns2_ecn: bool = [true, false, false],
                    "ECN as in ns-2 (TcpAgent::ecn, ect_): packet 0 is not ECT, and ECE on its \
                    ACK completes the negotiation; retransmissions are ECT; ECE reduces cwnd \
                    before an ACK can end recovery, covers a loss if it caused the last \
                    reduction, reduces again after a timeout, and stops growth until it ends; a \
                    second ECE in a row at a window of one packet backs off the RTO. false: RFC \
                    3168";
                cwr_on_retransmission: bool = [true, false, false],
                    "a retransmission can carry CWR (SetCWRonRetransmit_; RFC 3168 section 6.1.2: \
                    new data only)";
                halve_early_cuts: bool = [true, false, false],
                    "the connection's first reduction halves, and any in slow start, whatever the \
                    rule (TcpAgent::slowdown)";
                halve_after_timeout: bool = [true, false, false],
                    "ssthresh after a timeout is half the window, whatever the rule";
                halve_if_half: bool = [true, false, false],
                    "a rule whose decrease_num_ is exactly 0.5 halves the window, whatever its \
                    other parameters";
                slow_start_restart: bool = [true, false, false],
                    "a timeout that expires with all data acknowledged sets cwnd to 1 \
                    (slow_start_restart_)";
                forget_srtt: bool = [true, false, false],
                    "after four backoffs srtt is reset (TcpAgent::rtt_backoff)";
            }
        }
    };
}

macro_rules! define_config {
    ($($group:ident: $Group:ident, $about:literal {$(
        $name:ident: $type:ty = [$ns2_235:expr, $rfc:expr, $linux:expr]
            $(within [$least:expr, $most:expr])?, $meaning:literal;
    )*})*) => {
        $(
            #[doc = $about]
            ///
            /// The group of one profile in the settings of another:
            ///
            /// ```
            /// use cwndlab_tcp::{Profile, TcpConfig};
            #[doc = concat!("use cwndlab_tcp::", stringify!($Group), ";")]
            #[doc = concat!("let group: ", stringify!($Group), " =")]
            #[doc = concat!("    TcpConfig::profile(Profile::Linux).", stringify!($group), ";")]
            /// let rfc = TcpConfig::profile(Profile::Rfc);
            #[doc = concat!(
                "let mixed = TcpConfig { ", stringify!($group), ": group.clone(), ..rfc };"
            )]
            #[doc = concat!("assert_eq!(mixed.", stringify!($group), ", group);")]
            /// ```
            #[derive(Clone, Debug, PartialEq)]
            pub struct $Group {
                $(#[doc = $meaning] pub $name: $type,)*
            }
        )*

        /// The settings of a TCP endpoint.
        ///
        /// ```
        /// use cwndlab_tcp::{Profile, TcpConfig};
        /// let mut config = TcpConfig::profile(Profile::Rfc);
        /// assert_eq!(config.wire_size_of(1000), 1052); // 40 bytes of headers, 12 of timestamps
        /// config.rto.timestamps = false;
        /// assert_eq!(config.wire_size_of(1000), 1040);
        /// ```
        #[derive(Clone, Debug, PartialEq)]
        pub struct TcpConfig {
            $(#[doc = $about] pub $group: $Group,)*
        }

        impl TcpConfig {
            /// The defaults of a profile.
            pub fn profile(profile: Profile) -> Self {
                match profile {
                    Profile::Ns2_235 => Self { $($group: $Group { $($name: $ns2_235),* }),* },
                    Profile::Ns2_2009 => Self::ns2_on((2009, 6, 17)),
                    Profile::Ns2_2002 => Self::ns2_on((2002, 4, 13)),
                    Profile::Ns2_2001 => Self::ns2_on((2001, 6, 6)),
                    Profile::Ns2_2000 => Self::ns2_on((2000, 10, 16)),
                    Profile::Rfc => Self { $($group: $Group { $($name: $rfc),* }),* },
                    Profile::Linux => Self { $($group: $Group { $($name: $linux),* }),* },
                }
            }
        }
    };
}

for_each_knob!(define_config);

/// Settings that differ from others in some: `tcp_config!(rfc, ecn.ecn = true, limits.window =
/// 9.0)`.
///
/// ```
/// use cwndlab_tcp::{Profile, TcpConfig, tcp_config};
/// let rfc = TcpConfig::profile(Profile::Rfc);
/// let config = tcp_config!(rfc.clone(), ecn.ecn = true, limits.window = 9.0);
/// assert_eq!((config.ecn.ecn, config.limits.window), (true, 9.0));
/// assert_eq!(config.rto, rfc.rto);
/// ```
#[macro_export]
macro_rules! tcp_config {
    ($base:expr, $($group:ident.$name:ident = $value:expr),+ $(,)?) => {{
        let mut config: $crate::TcpConfig = $base;
        $(config.$group.$name = $value;)+
        config
    }};
}

impl TcpConfig {
    /// Bytes on the wire of packet `number`.
    pub fn wire_size(&self, number: i64) -> u32 {
        if number == 0 && self.handshake.syn {
            self.segment.syn_size
        } else {
            self.data_wire_size()
        }
    }

    /// Whether all packets of a sender are ECT, the SYN and retransmissions too: Linux, where the
    /// rule needs each packet's own mark, as DCTCP does (`tcp_ca_needs_ecn`).
    pub fn all_are_ect(&self) -> bool {
        self.ecn.ecn && self.recovery.rack && self.ecn.ecn_feedback == EcnFeedback::ExactEce
    }

    /// Bytes on the wire of a data packet.
    #[inline]
    pub(crate) fn data_wire_size(&self) -> u32 {
        self.wire_size_of(self.segment.packet_size)
    }

    /// Bytes on the wire of a data packet with this payload.
    #[inline]
    pub fn wire_size_of(&self, payload_bytes: u32) -> u32 {
        payload_bytes
            + self.segment.header_size
            + if self.rto.timestamps { self.segment.timestamp_size } else { 0 }
    }

    /// Packets of a transfer of `bytes`, SYN not counted, and the last one if it is short.
    pub fn segments_of(&self, bytes: u64) -> (u64, Option<ShortPacket>) {
        let size = u64::from(self.segment.packet_size.max(1));
        let (packets, rest) = (bytes.div_ceil(size), (bytes % size) as u32);
        let number = packets as i64 - 1 + i64::from(self.handshake.syn);
        (packets, (rest > 0).then_some(ShortPacket { number, payload_bytes: rest }))
    }

    /// Whether the receiver repeats a SYN-ACK by a timer.
    pub(crate) fn repeats_syn_ack(&self) -> bool {
        self.handshake.syn && self.handshake.synack_retries > 0
    }

    /// Whether what a host answers at an instant comes after all that the network does then. ns-2
    /// ranks events of an instant by when they were scheduled.
    pub fn answers_last(&self) -> bool {
        self.receiver.receive_buffer > 0
    }

    /// Whether the receiver has a timer: for delayed ACKs, or for the SYN-ACK.
    pub fn has_receiver_timer(&self) -> bool {
        self.receiver.delayed_ack || self.repeats_syn_ack()
    }

    /// Bytes that so many SACK blocks add to an ACK.
    #[inline]
    pub(crate) fn sack_size(&self, blocks: u32) -> u32 {
        let header = if blocks > 0 { self.segment.sack_header_size } else { 0 };
        header + blocks * self.segment.sack_block_size
    }

    /// Bytes on the wire of an ACK without SACK blocks.
    pub fn ack_wire_size(&self) -> u32 {
        self.segment.ack_size
            + if self.rto.timestamps { self.segment.ack_timestamp_size } else { 0 }
    }
}
