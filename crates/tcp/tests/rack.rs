//! Exchanges of packets under RACK-TLP (RFC 8985), worked by hand. Notation as in `exchanges.rs`;
//! the round trip is 0.1 s. Timers are Linux's: they expire with the tick of a millisecond behind
//! their own, those of 63 ticks and more with the next multiple of eight (`rtt.rs`).

mod exchange;

use cwndlab_tcp::{Profile, Recovery, TcpConfig, tcp_config};
use exchange::{Exchange, rfc};

/// Profile RFC with RACK: the rule's cwnd in packets, and a minimum RTO of 1 s.
fn rack() -> TcpConfig {
    tcp_config!(rfc(), recovery.rack = true)
}

/// Profile `linux`; packets leave one by one.
fn linux() -> TcpConfig {
    tcp_config!(TcpConfig::profile(Profile::Linux), rto.timestamps = false, growth.tso = false)
}

/// Linux `tcp_init_transfer`: after two lost SYNs the window is one packet. The SYN leaves at 0,
/// 1.016 and 2.04 s: a second, rounded up to the timer wheel's 64 ticks.
#[test]
fn two_lost_syns_leave_a_window_of_one_packet() {
    let start = || Exchange::start(Recovery::Sack, None, linux(), &[0]);
    start().expires(1.016, &[0]).at(2.1).syn_ack(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    start().expires(1.016, &[0]).expires(2.04, &[0]).at(2.1).syn_ack(&[1]);
}

#[test]
fn three_reports_find_a_loss_at_once() {
    // Section 6.2 step 4: without reordering and with three packets SACKed the reordering window is
    // zero. In flight before the loss: 8 less the SACKed packets; each SACK releases new data.
    let mut tcp = Exchange::eight_packets(Recovery::Sack, None, rack());
    tcp.at(0.2)
        .sack(0, &[(2, 3)], &[9])
        .sack(0, &[(2, 4)], &[10])
        .sack(0, &[(2, 5)], &[])
        .window(4.0, 4.0);
    // Six packets are in flight at the reduction (5 to 10), above cwnd = 4: without PRR the
    // retransmission waits for three of them.
    tcp.sack(0, &[(2, 6)], &[]).sack(0, &[(2, 7)], &[]).sack(0, &[(2, 8)], &[1]).sack(
        0,
        &[(2, 9)],
        &[11],
    );
}

#[test]
fn linux_repairs_one_loss() {
    let mut tcp = Exchange::eight_packets(Recovery::Sack, None, linux());
    // As above, and by PRR the third SACK releases the retransmission: 6 in flight, ceil(1 x 4/8) =
    // 1.
    tcp.at(0.2)
        .sack(0, &[(2, 3)], &[9])
        .sack(0, &[(2, 4)], &[10])
        .sack(0, &[(2, 5)], &[1])
        .window(7.0, 4.0);
    tcp.sack(0, &[(2, 6)], &[])
        .sack(0, &[(2, 7)], &[11])
        .sack(0, &[(2, 8)], &[])
        .sack(0, &[(2, 9)], &[])
        .window(4.0, 4.0);
    // 9 and 10 left before the retransmission and arrive before it.
    tcp.at(0.3).sack(0, &[(2, 10)], &[12]).sack(0, &[(2, 11)], &[13]).window(4.0, 4.0);
    // Recovery ends, and this ACK already grows cwnd: it delivers one packet, 1 (the others were
    // SACKed): 4 + 1/4.
    tcp.at(0.301).ack(10, &[14]).window(4.25, 4.0);
    assert_eq!(tcp.sender.counters(0.301).timeouts, 0);
}

#[test]
fn two_reports_wait_for_a_quarter_of_the_round_trip() {
    // Ten packets, 1 is lost; 9 and 10 left at 0.15 s. With two SACKed packets 1 may only be
    // reordered, for min_rtt/4 = 25 ms (section 6.2 step 4). It was sent at 0.1, as were 2 and 3,
    // SACKed at 0.2: lost at 0.1 + 0.1 + 0.025, and Linux adds 2 ms.
    let mut tcp = Exchange::eight_packets(Recovery::Sack, None, linux());
    tcp.at(0.2).sack(0, &[(2, 3)], &[9]).sack(0, &[(2, 4)], &[10]);
    // The timer marks packet 1 lost and no other: 4 to 8 left after 3.
    tcp.expires(0.228, &[1]);
    assert_eq!(
        (tcp.sender.counters(0.227).timeouts, tcp.sender.counters(0.227).fast_retransmits),
        (0, 1)
    );
}

#[test]
fn a_late_packet_is_not_lost() {
    let mut tcp = Exchange::eight_packets(Recovery::Sack, None, linux());
    tcp.at(0.2).sack(0, &[(2, 3)], &[9]).sack(0, &[(2, 4)], &[10]);
    // Packet 1 arrives 20 ms late, below a SACKed packet: reordering was seen. Nothing was reduced
    // or retransmitted.
    tcp.at(0.22).ack(3, &[11]).window(8.125, 8.0);
    // From now on three SACKed packets mark nothing lost before the reordering window ends.
    tcp.at(0.225).sack(3, &[(5, 6)], &[12]).sack(3, &[(5, 7)], &[13]).sack(3, &[(5, 8)], &[14]);
    assert_eq!(tcp.sender.counters(0.3).retransmitted, 0);
    // Sent at 0.1; RACK.rtt is 0.125: lost at 0.1 + 0.125 + 0.025, and 2 ms.
    tcp.expires(0.253, &[4]);
}

#[test]
fn a_lost_retransmission_is_found_without_a_timeout() {
    let mut tcp = Exchange::eight_packets(Recovery::Sack, None, linux());
    tcp.at(0.2).sack(0, &[(2, 3)], &[9]).sack(0, &[(2, 4)], &[10]).sack(0, &[(2, 5)], &[1]);
    tcp.at(0.21).sack(0, &[(2, 6)], &[]).sack(0, &[(2, 7)], &[11]);
    tcp.at(0.22).sack(0, &[(2, 8)], &[]).sack(0, &[(2, 9)], &[]).at(0.3).sack(
        0,
        &[(2, 11)],
        &[12, 13],
    );
    // Packet 11 left after the retransmission of 1 and is SACKed, 1 is not: the retransmission is
    // lost (section 3.2). 12 and 13 remain in flight, so two packets may leave.
    tcp.at(0.31).sack(0, &[(2, 12)], &[1, 14]);
    let counters = tcp.sender.counters(0.31);
    assert_eq!((counters.retransmitted, counters.fast_retransmits, counters.timeouts), (2, 1, 0));
}

#[test]
fn silence_is_probed_with_new_data() {
    // Section 7.2: PTO = 2 x 0.1 s after the last ACK, and Linux's 2 ms. One packet of new data
    // leaves whatever the window.
    let mut tcp = Exchange::eight_packets(Recovery::Sack, None, linux());
    tcp.expires(0.304, &[9]).window(8.0, 8.0);
    // Then the RTO: srtt 0.1 + max(4 x 0.05, 0.2).
    // 300 ticks from 0.304 on, and the next multiple of eight.
    assert!((tcp.sender.deadline_s() - 0.608).abs() < 1e-9);
    // The probe arrived: 1 to 8 are lost at once. Nothing is in flight, so PRR releases one packet
    // per delivered packet, then two for a SafeACK, up to ssthresh = 4 (RFC 9937 section 6.2,
    // SSRB).
    tcp.at(0.402).sack(0, &[(9, 10)], &[1]).window(1.0, 4.0);
    tcp.at(0.502)
        .sack(1, &[(9, 10)], &[2, 3])
        .window(2.0, 4.0)
        .at(0.602)
        .sack(2, &[(9, 10)], &[4, 5])
        .window(3.0, 4.0);
    assert_eq!(tcp.sender.counters(0.602).timeouts, 0);
}

#[test]
fn the_tail_of_a_transfer_is_probed_with_its_last_packet() {
    let mut tcp = Exchange::eight_packets(Recovery::Sack, Some(8), linux());
    tcp.expires(0.304, &[8]);
    // Everything up to the probe is acknowledged, nothing beyond: whether it repaired a loss
    // (section 7.4.2) is unknown, and cwnd stays.
    tcp.at(0.402).ack(8, &[]);
    assert!(tcp.sender.is_finished() && tcp.sender.cwnd() > 8.0 && tcp.sender.ssthresh() == 8.0);
}

#[test]
fn a_probe_that_repairs_a_loss_costs_half_the_window() {
    let mut tcp = Exchange::eight_packets(Recovery::Sack, Some(8), linux());
    // 1 to 7 are acknowledged at 0.2, and 8 was lost. One packet is outstanding, whose ACK may be
    // delayed: PTO = 2 x 0.1 + 0.2 (Linux's minimum RTO). The RTO is earlier: srtt + max(4 rttvar,
    // 0.2) from the ACK, at 0.5.
    let before = {
        tcp.at(0.2).ack(7, &[]);
        tcp.sender.cwnd()
    };
    tcp.expires(0.504, &[8]);
    assert_eq!(tcp.sender.counters(0.5).timeouts, 0);
    // New data and an ACK beyond the probe: only one of the two copies was acknowledged, so the
    // first was lost.
    tcp.at(0.55).supply(2, &[9, 10]);
    tcp.at(0.6).ack(8, &[]);
    assert_eq!(tcp.sender.counters(0.6).fast_retransmits, 0);
    tcp.at(0.65).ack(10, &[]);
    assert_eq!(tcp.sender.counters(0.65).fast_retransmits, 1);
    assert!(
        tcp.sender.ssthresh() <= before && tcp.sender.ssthresh() >= (before / 2.0).trunc(),
        "{} of {before}",
        tcp.sender.ssthresh()
    );
}

/// Linux with timestamps. The ACK of a SACKed packet echoes the last packet in order (RFC 7323
/// section 4.3), here sent at 0.1.
fn stamped() -> TcpConfig {
    tcp_config!(linux(), rto.timestamps = true)
}

/// A probe that is SACKed shows that packets before it are lost (RFC 8985 section 7.4): their
/// recovery begins a round trip after the probe, without a timeout, whatever the timestamps say.
/// Before the probe 7 and 8 are outstanding: PTO = 2 x 0.1 s and Linux's 2 ms after the last ACK.
#[test]
fn the_last_two_packets_are_repaired_after_their_probe() {
    for config in [linux(), stamped()] {
        let mut tcp = Exchange::eight_packets(Recovery::Sack, Some(8), config);
        tcp.at(0.2).ack(6, &[]).expires(0.408, &[8]);
        tcp.at(0.508).echo(6, &[(8, 9)], 0.1, &[7]);
        let counters = tcp.sender.counters(0.508);
        assert_eq!((counters.fast_retransmits, counters.timeouts), (1, 0));
        tcp.at(0.608).echo(8, &[], 0.508, &[]);
        assert!(tcp.sender.is_finished());
        assert_eq!(tcp.sender.counters(0.602).retransmitted, 2);
    }
}

/// 3 to 8 are lost. Nothing but the probe was delivered, so PRR releases a packet for it, and two
/// for each ACK that advances (RFC 9937 section 6.2).
#[test]
fn the_tail_of_a_window_is_repaired_after_its_probe() {
    let mut tcp = Exchange::eight_packets(Recovery::Sack, Some(8), stamped());
    tcp.at(0.2).ack(2, &[]).expires(0.408, &[8]);
    tcp.at(0.508).echo(2, &[(8, 9)], 0.1, &[3]);
    tcp.at(0.608).echo(3, &[(8, 9)], 0.508, &[4, 5]);
    tcp.at(0.708).echo(4, &[(8, 9)], 0.608, &[6, 7]).echo(5, &[(8, 9)], 0.608, &[]);
    tcp.at(0.808).echo(8, &[], 0.708, &[]);
    let counters = tcp.sender.counters(0.802);
    assert!(tcp.sender.is_finished());
    assert_eq!((counters.fast_retransmits, counters.timeouts), (1, 0));
}

/// The probe itself is lost: the RTO, armed when it left, repairs the tail.
#[test]
fn a_lost_probe_leaves_the_tail_to_the_timeout() {
    let mut tcp = Exchange::eight_packets(Recovery::Sack, Some(8), stamped());
    tcp.at(0.2).ack(6, &[]).expires(0.408, &[8]).expires(0.712, &[7]);
    assert_eq!(tcp.sender.counters(0.702).timeouts, 1);
}

/// A cumulative ACK with an echo of before the retransmission tells that an original arrived: the
/// retransmission of 1, still on its way, does not show that 2 to 8 are lost (RFC 8985 section 6.2
/// step 2).
#[test]
fn an_original_that_arrives_late_is_not_its_retransmission() {
    let mut tcp = Exchange::eight_packets(
        Recovery::Sack,
        None,
        tcp_config!(stamped(), recovery.undo = false),
    );
    // The probe is new data and lost; the RTO retransmits 1.
    tcp.expires(0.304, &[9]).expires(0.608, &[1]);
    tcp.at(0.65).echo(1, &[], 0.1, &[2, 3]);
    assert_eq!(tcp.sender.counters(0.65).fast_retransmits, 0);
}

/// Linux `tcp_try_undo_partial`: packet 1 comes 20 ms after three later ones had it sent again, and
/// its ACK echoes 0.1. The reduction is undone, and the reordering remembered: the next late packet
/// waits min_rtt/4 = 25 ms, and 2 ms, before it counts as lost.
#[test]
fn a_spurious_retransmission_proves_reordering() {
    let mut tcp = Exchange::eight_packets(Recovery::Sack, None, stamped());
    tcp.at(0.2).echo(0, &[(2, 3)], 0.0, &[9]).echo(0, &[(2, 4)], 0.0, &[10]).echo(
        0,
        &[(2, 5)],
        0.0,
        &[1],
    );
    tcp.at(0.22).echo(4, &[], 0.1, &[11, 12]).window(8.125, 8.0);
    assert_eq!(tcp.sender.counters(0.22).undone_reductions, 1);
    tcp.at(0.225).echo(4, &[(6, 7)], 0.1, &[13]).echo(4, &[(6, 8)], 0.1, &[14]).echo(
        4,
        &[(6, 9)],
        0.1,
        &[15],
    );
    assert_eq!(tcp.sender.counters(0.225).retransmitted, 1);
    // Sent at 0.1; the last delivered packet took 0.125 s.
    tcp.expires(0.253, &[5]);
}

#[test]
fn a_timeout_loses_what_is_older_than_a_round_trip() {
    let mut tcp = Exchange::eight_packets(
        Recovery::Sack,
        None,
        tcp_config!(linux(), recovery.tlp = false, recovery.undo = false),
    );
    // No probe: RTO = 0.1 + max(4 x 0.05, 0.2) = 0.3 after the ACK. All eight are lost; one leaves.
    tcp.expires(0.408, &[1]).window(1.0, 4.0);
    // Backoff doubles it (RFC 6298 (5.5)); ssthresh holds when the same packet times out again (RFC
    // 5681 section 3.1).
    tcp.expires(1.016, &[1]).window(1.0, 4.0);
    // Slow start: one ACK releases two packets. Nothing that arrived is retransmitted.
    tcp.at(1.1).sack(1, &[(3, 4)], &[2, 4, 5]).window(3.0, 4.0);
}

/// RFC 5682 section 3.1: the ACK of the packet sent again lets new data leave. What was sent once
/// and arrives after all proves the timeout spurious; a SACK of the new data does not.
#[test]
fn after_a_timeout_new_data_go_first() {
    for (block, sent, undone) in [((3, 4), vec![], 1), ((9, 10), vec![2], 0)] {
        let config = tcp_config!(linux(), recovery.tlp = false);
        let mut tcp = Exchange::eight_packets(Recovery::Sack, None, config);
        tcp.expires(0.408, &[1]).window(1.0, 4.0);
        tcp.at(0.5).sack(1, &[], &[9, 10]).window(2.0, 4.0);
        tcp.at(0.51).sack(1, &[block], &sent);
        assert_eq!(tcp.sender.counters(0.51).undone_reductions, undone);
    }
}

#[test]
fn an_echo_is_answered_in_proportion_too() {
    // RFC 3168 section 6.1.2: once per window; cwnd approaches 4 from 8 as in recovery.
    let mut tcp =
        Exchange::eight_packets(Recovery::Sack, None, tcp_config!(linux(), ecn.ecn = true));
    tcp.at(0.2).marked(1, &[9]).window(8.0, 4.0).cwr(&[9]);
    tcp.marked(2, &[]).window(7.0, 4.0).marked(3, &[10]).window(7.0, 4.0);
    assert_eq!(tcp.sender.counters(0.2).ecn_reductions, 1);
    // The recovery point, and one packet more.
    tcp.at(0.3).ack(8, &[11, 12]).window(4.0, 4.0).ack(9, &[13]).window(4.25, 4.0);
}

#[test]
fn growth_counts_packets() {
    // RFC 3465 section 2.1, and the same in congestion avoidance: two packets acknowledged at once
    // add 1/8 and 1/8.125.
    let mut tcp = Exchange::eight_packets(Recovery::Sack, None, linux());
    tcp.at(0.2).ack(2, &[9, 10]).window(8.0 + 1.0 / 8.0 + 1.0 / 8.125, 8.0);
}

/// An application that supplies three packets per round trip does not use a window of eight, which
/// therefore stays (RFC 7661; Linux `tcp_is_cwnd_limited`).
#[test]
fn three_packets_at_a_time_leave_the_window_alone() {
    let config = tcp_config!(linux(), recovery.tlp = false);
    let mut tcp = Exchange::eight_packets(Recovery::Sack, Some(8), config);
    tcp.at(0.2).ack(8, &[]);
    tcp.at(0.3).supply(3, &[9, 10, 11]).at(0.4).ack(11, &[]);
    let cwnd = tcp.sender.cwnd();
    for round in 1..6 {
        let (first, now_s) = (9 + 3 * round, 0.3 + 0.1 * round as f64);
        tcp.at(now_s).supply(3, &[first, first + 1, first + 2]).at(now_s + 0.1).ack(first + 2, &[]);
    }
    assert_eq!(tcp.sender.cwnd(), cwnd);
}
