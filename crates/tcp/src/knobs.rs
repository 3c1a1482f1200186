//! Every knob of an endpoint, with its value in each profile: one table, read by code, scenario files and docs.
//!
//! `ns2-2.35` holds the defaults that `ns` prints (Debian's package). `ns2-2000` holds those of the years of the papers, dated
//! by ns-2's own CHANGES and ns-default.tcl; docs/profiles.md says for each which source dates it, and which value is
//! not certain. `rfc` follows RFC 5681, 6298, 6582, 6675, 7323, 3042, 3168 and 3390. `linux` holds what
//! a Linux of today does by default, as far as it is modelled.

use cwndlab_units::Time;

/// Which set of defaults an endpoint starts from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// ns-2 2.35 as it is installed today.
    Ns2_235,
    /// ns-2 of 2000, as far as its records date the defaults.
    Ns2_2000,
    /// Today's RFCs.
    #[default]
    Rfc,
    /// What of today's Linux shapes windows, losses and acknowledgements.
    Linux,
}

impl Profile {
    /// Names in scenarios, in the order of the enum.
    pub const NAMES: [&'static str; 4] = ["ns2-2.35", "ns2-2000", "rfc", "linux"];
    /// All, in the order of the enum.
    pub const ALL: [Self; 4] = [Self::Ns2_235, Self::Ns2_2000, Self::Rfc, Self::Linux];

    /// Its name in scenarios.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// Hands the table of knobs to the macro named: `name: type = [ns2-2.35, ns2-2000, rfc, linux], "meaning";`.
#[macro_export]
macro_rules! for_each_knob {
    ($use:ident) => {
        $use! {
            packet_size: u32 = [1000, 1000, 1000, 1448], "payload of a data packet, bytes (packetSize_)";
            header_size: u32 = [40, 0, 40, 40], "bytes added to every data packet on the wire (tcpip_base_hdr_size_; 0 is useHeaders_ false)";
            syn_size: u32 = [40, 40, 40, 60], "bytes of the first packet where syn is true";
            ack_size: u32 = [40, 40, 40, 40], "bytes of an acknowledgement, without SACK blocks";
            sack_block_size: u32 = [8, 8, 8, 8], "bytes of a SACK block";
            timestamp_size: u32 = [10, 0, 12, 12], "bytes that timestamps add to a data packet (ts_option_size_; RFC 7323)";
            ack_timestamp_size: u32 = [0, 0, 12, 12], "bytes that timestamps add to an acknowledgement (ns-2: none)";
            max_sack_blocks: u32 = [3, 3, 3, 3], "SACK blocks in an acknowledgement, at most 3 (maxSackBlocks_)";
            window: f64 = [20.0, 20.0, 1e9, 1e9], "largest window, packets: the receiver's (window_)";
            initial_ssthresh: f64 = [1e9, 1e9, 1e9, 1e9], "first slow-start threshold, packets; never above window";
            initial_window: f64 = [2.0, 1.0, 4.0, 10.0], "first window, packets (windowInit_; RFC 3390 at 1000 bytes)";
            syn: bool = [true, false, true, true], "packet 0 is a SYN without data (syn_)";
            delay_growth: bool = [true, false, true, true], "one packet until the SYN is acknowledged, then initial_window (delay_growth_)";
            restart_after_syn_loss: bool = [true, false, true, false], "a lost first packet makes the first window 1 (bugfix_ss_, RFC 5681 section 3.1)";
            fast_retransmit_first: bool = [true, false, true, true], "fast retransmit works while only packet 0 was acknowledged (bugfix_ss_)";
            dupack_threshold: u32 = [3, 3, 3, 3], "duplicate acknowledgements that trigger fast retransmit (numdupacks_)";
            limited_transmit: bool = [true, false, true, true], "new data on the first two duplicate acknowledgements (singledup_, RFC 3042)";
            bug_fix: bool = [true, true, true, true], "no second fast retransmit within one window (bugFix_, RFC 6582 section 4)";
            less_careful: bool = [false, false, false, false], "NewReno's less careful variant (lessCareful_)";
            exit_fast_retransmit: bool = [true, false, true, true], "no window inflation without a fast retransmit (exitFastRetrans_)";
            impatient: bool = [true, false, true, true], "NewReno restarts its timer on the first partial acknowledgement only (newreno_changes1_)";
            partial_window_deflation: bool = [true, false, true, true], "a partial acknowledgement deflates the window (partial_window_deflation_)";
            exit_recovery_fix: bool = [false, false, true, true], "NewReno leaves recovery with min(ssthresh, outstanding) (exit_recovery_fix_)";
            recovery_burst: u32 = [2, 2, 0, 0], "packets NewReno sends per acknowledgement in recovery; 0: no limit";
            max_burst: u32 = [0, 0, 0, 0], "packets sent per acknowledgement; 0: no limit (maxburst_)";
            sack_rfc6675: bool = [false, false, true, true], "SACK recovery as RFC 6675 (pipe, rescue); false: as ns-2's Sack1";
            prr: bool = [false, false, false, true], "SACK recovery approaches ssthresh by proportional rate reduction (RFC 9937), with rack also after an echo; false: at once";
            rack: bool = [false, false, false, true], "SACK recovery finds losses by time, lost retransmissions too (RACK, RFC 8985); false: by counting reports";
            tlp: bool = [false, false, false, true], "with rack: a probe after two round trips of silence, long before the time-out (RFC 8985 section 7)";
            halve_first_cut: bool = [true, true, false, false], "the connection's first cut halves, whatever the rule (TcpAgent::slowdown)";
            halve_in_slow_start: bool = [true, true, false, false], "a cut in slow start halves, whatever the rule";
            halve_after_timeout: bool = [true, true, false, false], "ssthresh after a time-out is half the window, whatever the rule";
            hold_ssthresh: bool = [false, false, true, true], "ssthresh stays when the same packet times out again (RFC 5681 section 3.1)";
            halve_if_half: bool = [true, true, false, false], "a rule whose decrease_num_ is exactly 0.5 halves the window, whatever its other parameters";
            precise_reduction: bool = [true, false, true, false], "cuts work on the fractional window (precisionReduce_)";
            integer_ssthresh: bool = [true, true, false, true], "ssthresh is truncated to whole packets";
            ns2_arithmetic: bool = [true, true, false, false], "rules compute in ns-2's order";
            cwnd_floor: f64 = [-1e9, -1e9, 1.0, 1.0], "smallest window after a cut, packets; ns-2 has none: its windows can fall below zero";
            cap_window: bool = [false, false, true, false], "cwnd never grows past window (maxcwnd_)";
            grow_by_packets: bool = [false, false, false, true], "growth counts the packets that an acknowledgement covers; false: acknowledgements (RFC 5681 section 3.1; Linux)";
            grow_when_limited: bool = [false, false, true, true], "cwnd grows only when it is what limits the flow (control_increase_, RFC 7661)";
            slow_start_restart: bool = [true, true, false, false], "a time-out that passes with all data acknowledged sets the window to 1 (slow_start_restart_)";
            idle_restart: bool = [false, false, true, false], "without sending for a time-out the window restarts from initial_window at most (RFC 5681 section 4.1)";
            ecn: bool = [false, false, false, false], "marks instead of losses: the sender says it understands them (ecn_; RFC 3168)";
            ecn_handshake: bool = [true, true, false, false], "packet 0, a SYN or not, cannot be marked, and its acknowledgement carries an echo that agrees on ECN (ns-2 ect_)";
            ecn_on_retransmission: bool = [true, true, false, false], "packets sent again can be marked (RFC 3168 section 6.1.5: they cannot)";
            cwr_on_retransmission: bool = [true, true, false, false], "a packet sent again can carry the answer to an echo (SetCWRonRetransmit_; RFC 3168 section 6.1.2: new data only)";
            ecn_after_timeout: bool = [true, true, false, false], "the first echo after a time-out cuts again, whatever it acknowledges (TcpAgent::ecn)";
            ecn_covers_last_cut: bool = [true, true, false, false], "a loss belongs to the window of an echo if that made the last cut; false: if it was outstanding then (RFC 3168 section 6.1.2)";
            ecn_ends_recovery: bool = [false, false, true, true], "an acknowledgement beyond recovery ends it before its echo cuts; false: it cuts the inflated window, and Sack1 stays in recovery";
            ecn_backoff: bool = [true, true, false, false], "a second echo in a row at a window of one packet doubles the time-out (ns-2 ecn_backoff_)";
            grow_in_repair: bool = [false, false, true, true], "after a time-out an echo does not stop growth until all that was outstanding is acknowledged: new data only can answer it";
            pacing: bool = [false, false, false, false], "packets leave spaced out: twice the window a round trip in slow start, 1.2 times later; rules with a rate of their own pace in any case";
            exact_marks: bool = [false, false, false, false], "the receiver echoes each packet's own mark (RFC 8257 section 3.2); rules that need it have it in any case";
            tick: Time = [Time::ns(10_000_000), Time::ns(100_000_000), Time::ns(0), Time::ns(0)], "granularity of RTT samples (tcpTick_); 0: exact, RFC 6298 arithmetic";
            min_rto: Time = [Time::ns(200_000_000), Time::ns(0), Time::ns(1_000_000_000), Time::ns(200_000_000)], "smallest time-out (minrto_)";
            max_rto: Time = [Time::ns(60_000_000_000), Time::ns(64_000_000_000), Time::ns(60_000_000_000), Time::ns(120_000_000_000)], "largest time-out (maxrto_)";
            initial_rto: Time = [Time::ns(3_000_000_000), Time::ns(6_000_000_000), Time::ns(1_000_000_000), Time::ns(1_000_000_000)], "time-out before the first RTT sample (rtxcur_init_)";
            clamp_before_backoff: bool = [true, false, true, true], "min_rto applies before the back-off factor (rfc2988_)";
            min_rto_on_variation: bool = [false, false, false, true], "min_rto is the least that variation adds to the smoothed RTT, not the least time-out (Linux)";
            timer_after_sample: bool = [true, false, true, true], "an acknowledgement updates the RTT before it restarts the timer (timerfix_)";
            forget_srtt: bool = [true, true, false, false], "after four back-offs the smoothed RTT is forgotten (TcpAgent::rtt_backoff)";
            timestamps: bool = [false, false, true, true], "RTT samples from timestamps on every acknowledgement (timestamps_)";
            timestamps_reset_backoff: bool = [false, false, true, true], "with timestamps every new acknowledgement ends the back-off (ts_resetRTO_)";
            timestamp_echo_fix: bool = [true, false, true, true], "the receiver echoes the timestamp of the packet that advanced it (ts_echo_bugfix_)";
            delayed_ack: bool = [false, false, false, true], "acknowledge every second packet (TCPSink/DelAck)";
            delayed_ack_interval: Time = [Time::ns(100_000_000), Time::ns(100_000_000), Time::ns(100_000_000), Time::ns(40_000_000)], "longest delay of an acknowledgement (interval_)";
            quick_acks: u32 = [0, 0, 0, 16], "packets at the start that are acknowledged at once where others are delayed (Linux: 16)";
            immediate_ack_on_fill: bool = [true, true, true, true], "a packet that fills a gap is acknowledged at once (RFC2581_immediate_ack_)";
            immediate_ack_on_syn: bool = [true, false, true, true], "packet 0 is acknowledged at once (SYN_immediate_ack_)";
        }
    };
}

macro_rules! define_knobs {
    ($($name:ident: $type:ty = [$ns2_235:expr, $ns2_2000:expr, $rfc:expr, $linux:expr], $meaning:literal;)*) => {
        /// The settings of an endpoint.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Knobs {
            $(#[doc = $meaning] pub $name: $type,)*
        }

        impl Knobs {
            /// The defaults of a profile.
            pub fn profile(profile: Profile) -> Self {
                match profile {
                    Profile::Ns2_235 => Self { $($name: $ns2_235),* },
                    Profile::Ns2_2000 => Self { $($name: $ns2_2000),* },
                    Profile::Rfc => Self { $($name: $rfc),* },
                    Profile::Linux => Self { $($name: $linux),* },
                }
            }

            /// Name and meaning of every knob.
            pub const MEANINGS: &'static [(&'static str, &'static str)] = &[$((stringify!($name), $meaning)),*];
        }
    };
}

for_each_knob!(define_knobs);

impl Knobs {
    /// Bytes on the wire of data packet `number`.
    pub fn wire_size(&self, number: i64) -> u32 {
        if number == 0 && self.syn {
            self.syn_size
        } else {
            self.packet_size + self.header_size + if self.timestamps { self.timestamp_size } else { 0 }
        }
    }

    /// Bytes on the wire of an acknowledgement without SACK blocks.
    pub fn ack_wire_size(&self) -> u32 {
        self.ack_size + if self.timestamps { self.ack_timestamp_size } else { 0 }
    }
}
