//! Exchanges of packets, worked by hand from the RFCs and from ns-2's published rules.
//!
//! Notation: packet 0 is the SYN; `ack(n)` acknowledges everything up to packet n; a SACK block
//! [left, right) reports packets beyond that. Each step lists the packets that the sender must send
//! in response.

mod exchange;

use cwndlab_rules::{Arithmetic, RuleSpec};
use cwndlab_tcp::{NEVER, Recovery, Sender, tcp_config};
use cwndlab_units::Time;
use exchange::{Exchange, ns2, rfc};

#[test]
fn slow_start_adds_a_packet_for_each_acknowledgement() {
    // RFC 5681 section 3.1: each ACK releases the packet it replaces and one more, until cwnd
    // reaches ssthresh = 6; there an ACK adds 1/6, so that an additional packet leaves once per
    // round trip only (RFC 5681 equation 3).
    let config = tcp_config!(rfc(), limits.initial_window = 4.0, limits.initial_ssthresh = 6.0);
    let rule: RuleSpec = "AIMD(1, 0.5)".parse().unwrap();
    let sender = Sender::new(rule.build(Arithmetic::Plain), Recovery::NewReno, None, 0.0, &config);
    let mut tcp = Exchange::of(sender, config);
    tcp.sender.start(0.0, &tcp.config, &mut |_| {});
    tcp.at(0.1).ack(0, &[1, 2, 3, 4]).at(0.2).ack(1, &[5, 6]).ack(2, &[7, 8]).window(6.0, 6.0);
    tcp.ack(3, &[9]).window(6.0 + 1.0 / 6.0, 6.0);
    tcp.at(0.3).ack(4, &[10]).ack(5, &[11]).ack(6, &[12]).ack(7, &[13]).ack(8, &[14]);
    // Six ACKs of 1/6 = 0.167, 0.162, 0.158, 0.154, 0.151, 0.147 make 0.94; the seventh
    // 0.144 takes the window past 7.
    tcp.ack(9, &[15, 16]);
}

#[test]
fn a_delayed_acknowledgement_counts_once() {
    // Without byte counting (RFC 5681 section 3.1) an ACK of two packets releases two packets and
    // grows cwnd once, by 1/8.
    let mut tcp = Exchange::eight_packets(Recovery::NewReno, None, rfc());
    tcp.at(0.2).ack(2, &[9, 10]).window(8.125, 8.0);
}

#[test]
fn newreno_repairs_one_loss() {
    let mut tcp = Exchange::eight_packets(Recovery::NewReno, None, rfc());
    // Packet 1 is lost. RFC 3042: one new packet on each of the first two duplicates.
    tcp.at(0.2).ack(0, &[9]).ack(0, &[10]).window(8.0, 8.0);
    // Third duplicate (RFC 5681 section 3.2): ssthresh = FlightSize/2 without what limited transmit
    // sent = 4, the window 4 + 3 reaches packet 7.
    tcp.ack(0, &[1]).window(4.0, 4.0);
    // Six more duplicates (packets 5 to 10) inflate it to 13: the fourth of them reaches packet 11.
    tcp.ack(0, &[]).ack(0, &[]).ack(0, &[]).ack(0, &[11]).ack(0, &[12]).ack(0, &[13]);
    // The retransmission fills the gap. RFC 6582 section 3.2, step 3, option 1: cwnd =
    // min(ssthresh, FlightSize + 1) = min(4, 3 + 1).
    tcp.at(0.3).ack(10, &[14]);
    assert_eq!(tcp.sender.cwnd() as i64, 4);
    assert_eq!(tcp.sender.counters(0.3).timeouts, 0);
}

#[test]
fn newreno_repairs_two_losses_by_a_partial_acknowledgement() {
    let mut tcp = Exchange::eight_packets(Recovery::NewReno, None, rfc());
    // Packets 1 and 3 are lost: duplicates come from 2, 4, 5, 6, 7, 8 and from 9 and 10.
    tcp.at(0.2)
        .ack(0, &[9])
        .ack(0, &[10])
        .ack(0, &[1])
        .ack(0, &[])
        .ack(0, &[])
        .ack(0, &[])
        .ack(0, &[11])
        .ack(0, &[12]);
    // Inflated to 12. The partial ACK of two packets deflates by two and adds one back:
    // 11 from packet 2 on reach packet 13. RFC 6582 section 4, impatient: it restarts the timer
    // (RTO is 1 s, RFC 6298 (2.4)).
    tcp.at(0.3).ack(2, &[3, 13]);
    assert!((tcp.sender.deadline_s() - 1.3).abs() < 1e-9);
    // 11, 12 and 13 are duplicates of 2, and inflate on.
    tcp.at(0.35).ack(2, &[14]);
    // Packet 3 completes the window up to the recovery point (recover = 10): four are in flight,
    // ssthresh is 4.
    tcp.at(0.4).ack(11, &[15]);
    assert_eq!(tcp.sender.cwnd() as i64, 4);
}

#[test]
fn impatient_newreno_restarts_its_timer_once() {
    // Packets 1, 3 and 5 are lost: three partial ACKs, but the timer stays where the
    // first one put it (RFC 6582 section 4).
    let mut tcp = Exchange::eight_packets(Recovery::NewReno, None, rfc());
    tcp.at(0.2).ack(0, &[9]).ack(0, &[10]).ack(0, &[1]);
    tcp.at(0.3).ack(2, &[3]);
    tcp.at(0.4).ack(4, &[5]);
    assert!((tcp.sender.deadline_s() - 1.3).abs() < 1e-9);
}

#[test]
fn reno_leaves_recovery_at_the_first_new_acknowledgement() {
    let mut tcp = Exchange::eight_packets(Recovery::Reno, None, rfc());
    tcp.at(0.2)
        .ack(0, &[9])
        .ack(0, &[10])
        .ack(0, &[1])
        .ack(0, &[])
        .ack(0, &[])
        .ack(0, &[])
        .ack(0, &[11])
        .ack(0, &[12]);
    // Packets 1 and 3 were lost. RFC 5681 section 3.2, step 6: cwnd = ssthresh = 4 from packet 2 on
    // reaches 6, and 12 was sent: nothing leaves.
    tcp.at(0.3).ack(2, &[]);
    assert_eq!((tcp.sender.cwnd() as i64, tcp.sender.ssthresh()), (4, 4.0));
    // Two duplicate ACKs (from 11 and 12) do not reach ssthresh: packet 3 waits for the timer.
    // Limited transmit: 13 - 2 > 4 + 2.
    tcp.ack(2, &[]).ack(2, &[]).expires(1.3, &[3]);
}

#[test]
fn tahoe_starts_again_from_one_packet() {
    let mut tcp = Exchange::eight_packets(Recovery::Tahoe, None, rfc());
    tcp.at(0.2).ack(0, &[9]).ack(0, &[10]).ack(0, &[1]).window(1.0, 4.0);
    // Slow start to ssthresh = 4; packets that arrived are skipped.
    tcp.at(0.3).ack(10, &[11, 12]).window(2.0, 4.0);
    tcp.at(0.4).ack(11, &[13, 14]).ack(12, &[15, 16]).window(4.0, 4.0);
    tcp.at(0.5).ack(13, &[17]).window(4.25, 4.0);
}

#[test]
fn ns2_sack_counts_packets_in_the_pipe() {
    // Packets 1 and 4 are lost. ns-2's Sack1: on the third duplicate pipe = 10 - 0 - 3 = 7, the
    // retransmission not counted, window 4.
    let mut tcp = Exchange::eight_packets(Recovery::Sack, None, ns2());
    tcp.at(0.2)
        .sack(0, &[(2, 3)], &[9])
        .sack(0, &[(2, 4)], &[10])
        .sack(0, &[(5, 6), (2, 4)], &[1])
        .window(4.0, 4.0);
    // Each ACK decrements pipe: 6, 5, 4; at 3 the next hole is retransmitted, at 3 again new data
    // leaves.
    tcp.sack(0, &[(5, 7), (2, 4)], &[]).sack(0, &[(5, 8), (2, 4)], &[]).sack(
        0,
        &[(5, 9), (2, 4)],
        &[],
    );
    tcp.sack(0, &[(5, 10), (2, 4)], &[4]).sack(0, &[(5, 11), (2, 4)], &[11]);
    // A partial ACK decrements pipe twice: 4 - 2 = 2, so two packets may leave.
    tcp.at(0.3).sack(3, &[(5, 11)], &[12, 13]);
    // The recovery point is acknowledged: recovery ends, and this ACK does not grow cwnd.
    tcp.at(0.4).ack(11, &[14, 15]).window(4.0, 4.0);
}

#[test]
fn rfc6675_sends_when_the_scoreboard_says_that_there_is_room() {
    let mut tcp = Exchange::eight_packets(Recovery::Sack, None, rfc());
    // Packet 1 is lost; at the third duplicate ACK 2, 3 and 4 are SACKed: 5 to 10 and the
    // retransmission are in flight: pipe = 7, cwnd = 4.
    tcp.at(0.2)
        .sack(0, &[(2, 3)], &[9])
        .sack(0, &[(2, 4)], &[10])
        .sack(0, &[(2, 5)], &[1])
        .window(4.0, 4.0);
    tcp.sack(0, &[(2, 6)], &[]).sack(0, &[(2, 7)], &[]).sack(0, &[(2, 8)], &[]).sack(
        0,
        &[(2, 9)],
        &[11],
    );
    tcp.sack(0, &[(2, 10)], &[12]).sack(0, &[(2, 11)], &[13]);
    tcp.at(0.3).ack(10, &[14]).window(4.0, 4.0);
}

#[test]
fn rfc6675_sends_lost_packets_before_new_ones() {
    let mut tcp = Exchange::eight_packets(Recovery::Sack, None, rfc());
    // 1, 2 and 3 are lost. SACKs of 4, 5 and 6 mark all three lost: 7 to 10 and the retransmission
    // of 1 are in flight: pipe = 5.
    tcp.at(0.2).sack(0, &[(4, 5)], &[9]).sack(0, &[(4, 6)], &[10]).sack(0, &[(4, 7)], &[1]);
    tcp.sack(0, &[(4, 8)], &[]).sack(0, &[(4, 9)], &[2]).sack(0, &[(4, 10)], &[3]).sack(
        0,
        &[(4, 11)],
        &[11],
    );
    // The partial ACK of 1 leaves 2, 3 and 11 in flight.
    tcp.at(0.3).sack(1, &[(4, 11)], &[12]);
}

/// Mathis and Mahdavi 1996, section 2.2: awnd = snd.nxt - snd.fack + retran_data bounds sending.
#[test]
fn fack_repairs_a_burst_at_the_first_duplicate() {
    for config in [rfc(), tcp_config!(rfc(), recovery.sack_rfc6675 = false)] {
        let mut tcp = Exchange::eight_packets(Recovery::Fack, None, config);
        // 1 to 5 are lost. snd.fack - snd.una = 7 - 1 > 3 begins recovery: cwnd 4. With 1
        // retransmitted awnd = 9 - 7 + 1 = 3, so 2 follows.
        tcp.at(0.2).sack(0, &[(6, 7)], &[1, 2]).window(4.0, 4.0);
        // 9 - 8 + 2 = 3; 9 - 9 + 3 = 3.
        tcp.sack(0, &[(6, 8)], &[3]).sack(0, &[(6, 9)], &[4]);
        // Each retransmission that arrives makes room for one packet: 5, then new data.
        tcp.at(0.3).sack(1, &[(6, 9)], &[5]).sack(2, &[(6, 9)], &[9]).sack(3, &[(6, 9)], &[10]);
        tcp.sack(4, &[(6, 9)], &[11]).window(4.0, 4.0).ack(8, &[12]);
        assert_eq!(tcp.sender.counters(0.3).fast_retransmits, 1);
    }
}

#[test]
fn fack_waits_for_three_duplicates_if_little_is_missing() {
    let mut tcp = Exchange::eight_packets(Recovery::Fack, None, rfc());
    // snd.fack - snd.una is 3 - 1, then 4 - 1: limited transmit. The third duplicate begins
    // recovery: awnd = 11 - 5 + 1 = 7 is above cwnd, 4.
    tcp.at(0.2).sack(0, &[(2, 3)], &[9]).sack(0, &[(2, 4)], &[10]).window(8.0, 8.0);
    tcp.sack(0, &[(2, 5)], &[1]).window(4.0, 4.0);
}

#[test]
fn rfc6675_rescues_the_tail_of_a_transfer_once() {
    // Eight packets in all; 1 and 8 are lost. No packet beyond 8 can reveal its loss, and there is
    // no new data.
    let mut tcp = Exchange::eight_packets(Recovery::Sack, Some(8), rfc());
    tcp.at(0.2).sack(0, &[(2, 3)], &[]).sack(0, &[(2, 4)], &[]).sack(0, &[(2, 5)], &[1]);
    // In flight: 6, 7, 8 and the retransmission, 4 in all, then 3: one may leave. RFC 6675 section
    // 4, NextSeg (4): the highest packet that is not SACKed.
    tcp.sack(0, &[(2, 6)], &[]).sack(0, &[(2, 7)], &[8]);
    // At most one rescue retransmission per recovery.
    tcp.sack(0, &[(2, 8)], &[]);
    tcp.at(0.3).ack(7, &[]).ack(8, &[]);
    assert!(tcp.sender.is_finished() && tcp.sender.deadline_s() == NEVER);
    assert_eq!(tcp.sender.counters(0.3).timeouts, 0);
}

#[test]
fn a_timeout_goes_back_and_backs_off() {
    let mut tcp = Exchange::eight_packets(Recovery::NewReno, None, rfc());
    // RTT 0.1 s: RTO = 0.1 + 4 x 0.05 = 0.3 s, at least 1 s (RFC 6298 (2.4)). Packets 1 to 8 are
    // all lost. ssthresh = 8/2, cwnd = 1 (RFC 5681 section 3.1); the timeout doubles to 2, then 4
    // s (RFC 6298 (5.5)).
    tcp.expires(1.1, &[1]).window(1.0, 4.0).expires(3.1, &[1]);
    // Go-back-N: slow start retransmits all that was not acknowledged. The first retransmission
    // gives no RTT sample (Karn): still 4 s.
    tcp.at(3.2).ack(1, &[2, 3]);
    assert!((tcp.sender.deadline_s() - 7.2).abs() < 1e-9);
    // 2 to 8 had arrived late after all: one ACK covers them; new data 9 to 11 is timed.
    tcp.at(3.3).ack(8, &[9, 10, 11]);
    assert!((tcp.sender.deadline_s() - 7.3).abs() < 1e-9);
    // New data was acknowledged: a sample, and the backoff is over. (Still below ssthresh of
    // 4: two packets.)
    tcp.at(3.4).ack(9, &[12, 13]);
    assert!((tcp.sender.deadline_s() - 4.4).abs() < 1e-9);
}

#[test]
fn the_threshold_holds_when_the_same_packet_times_out_again() {
    // RFC 5681 section 3.1: "the value of ssthresh is held constant" when the timer already
    // retransmitted the segment.
    let mut tcp = Exchange::eight_packets(Recovery::NewReno, None, rfc());
    tcp.expires(1.1, &[1])
        .window(1.0, 4.0)
        .expires(3.1, &[1])
        .window(1.0, 4.0)
        .expires(7.1, &[1])
        .window(1.0, 4.0);
}

#[test]
fn old_duplicate_acks_after_a_timeout_are_ignored() {
    // RFC 6582 section 3.2, steps 2 and 4 (ns-2 bugFix_): recover = 8 at the timeout, and
    // duplicates of 0 are not beyond it.
    for (recovery, config) in
        [(Recovery::NewReno, rfc()), (Recovery::Reno, ns2()), (Recovery::Tahoe, ns2())]
    {
        let config = tcp_config!(
            config,
            recovery.limited_transmit = false,
            recovery.fast_retransmit_first = false
        );
        let mut tcp = Exchange::eight_packets(recovery, None, config);
        let deadline_s = tcp.sender.deadline_s();
        tcp.expires(deadline_s, &[1]).ack(0, &[]).ack(0, &[]).ack(0, &[]).window(1.0, 4.0);
    }
}

#[test]
fn timestamps_give_a_sample_for_every_acknowledgement() {
    let config = tcp_config!(rfc(), rto.timestamps = true, rto.min_rto = Time::ns(0));
    let mut tcp = Exchange::eight_packets(Recovery::NewReno, None, config);
    // RFC 6298 (2.2): SRTT = 0.1, RTTVAR = 0.05, RTO = 0.3.
    assert!((tcp.sender.deadline_s() - 0.4).abs() < 1e-9);
    // (2.3), R = 0.2: RTTVAR = 3/4 x 0.05 + 1/4 x 0.1 = 0.0625, SRTT = 7/8 x 0.1 + 1/8 x 0.2 =
    // 0.1125, RTO = 0.1125 + 4 x 0.0625 = 0.3625.
    tcp.at(0.3).echo(1, &[], 0.1, &[9]);
    assert!((tcp.sender.srtt_s(&tcp.config) - 0.1125).abs() < 1e-12);
    assert!((tcp.sender.deadline_s() - 0.6625).abs() < 1e-9);
    // A retransmission is timed too (RFC 7323 section 4.1): its ACK ends the backoff.
    // R = 0.1: RTTVAR = 3/4 x 0.0625 + 1/4 x 0.0125 = 0.05, SRTT = 7/8 x 0.1125 + 0.0125 =
    // 0.1109375, RTO = 0.3109375.
    tcp.expires(0.6625, &[2]).at(0.7625).echo(2, &[], 0.6625, &[3, 4]);
    assert!((tcp.sender.deadline_s() - (0.7625 + 0.3109375)).abs() < 1e-9);
}

#[test]
fn a_transfer_ends_when_its_last_packet_is_acked() {
    // Three packets of data after the SYN.
    let config = tcp_config!(rfc(), limits.initial_window = 8.0, limits.initial_ssthresh = 8.0);
    let rule: RuleSpec = "AIMD(1, 0.5)".parse().unwrap();
    let mut tcp = Exchange::of(
        Sender::new(rule.build(Arithmetic::Plain), Recovery::Sack, Some(3), 0.0, &config),
        config,
    );
    tcp.sender.start(0.0, &tcp.config, &mut |_| {});
    tcp.at(0.1).ack(0, &[1, 2, 3]).at(0.2).ack(2, &[]);
    assert!(!tcp.sender.is_finished() && tcp.sender.deadline_s() < NEVER);
    tcp.ack(3, &[]);
    assert!(tcp.sender.is_finished() && tcp.sender.deadline_s() == NEVER);
}

#[test]
fn an_application_that_stops_still_repairs_what_it_sent() {
    let mut tcp = Exchange::eight_packets(Recovery::NewReno, None, rfc());
    tcp.sender.stop(0.15, &rfc());
    // No new data on duplicate ACKs; the lost packet is retransmitted, and its ACK completes the
    // transfer.
    tcp.at(0.2).ack(0, &[]).ack(0, &[]).ack(0, &[1]).at(0.3).ack(8, &[]);
    assert!(tcp.sender.is_finished() && tcp.sender.deadline_s() == NEVER);
}

#[test]
fn ftp_stop_of_ns2_takes_the_last_packet_from_the_data() {
    // Packets 1 to 8 are sent. ns-2's "advance 0" makes 7 the last one: it is repaired, 8 is not.
    let config = tcp_config!(rfc(), recovery.stop_keeps_last_packet = false);
    let mut tcp = Exchange::eight_packets(Recovery::NewReno, None, config.clone());
    tcp.sender.stop(0.15, &config);
    tcp.at(0.2).ack(6, &[]);
    let due_s = tcp.sender.deadline_s();
    tcp.expires(due_s, &[7]).at(due_s + 0.1).ack(7, &[]);
    // All data is acknowledged, yet the timer of packet 8 expires, again and again.
    for _ in 0..2 {
        assert!(tcp.sender.is_finished());
        let due_s = tcp.sender.deadline_s();
        tcp.expires(due_s, &[]);
    }
    assert_eq!(tcp.sender.counters(due_s).timeouts, 3);
}

#[test]
fn acknowledgements_of_what_was_never_sent_are_ignored() {
    // RFC 9293 section 3.10.7.4.
    let mut tcp = Exchange::eight_packets(Recovery::Sack, None, rfc());
    tcp.at(0.2).ack(9, &[]).ack(1_000_000, &[]).ack(8, &[9, 10, 11, 12, 13, 14, 15, 16]);
}

#[test]
fn prr_sends_one_packet_per_two_delivered() {
    // As above, with RFC 9937: ssthresh is 4, and cwnd approaches it from 8. Recovery starts with 6
    // in flight (5 to 10): its first ACK releases ceil(1 x 4/8) = 1 packet, the retransmission.
    let mut tcp =
        Exchange::eight_packets(Recovery::Sack, None, tcp_config!(rfc(), recovery.prr = true));
    tcp.at(0.2)
        .sack(0, &[(2, 3)], &[9])
        .sack(0, &[(2, 4)], &[10])
        .sack(0, &[(2, 5)], &[1])
        .window(7.0, 4.0);
    // Two delivered: ceil(2 x 4/8) = 1 was sent. Three: ceil(1.5) = 2, one more. Packets leave
    // steadily, not after half a round trip.
    tcp.sack(0, &[(2, 6)], &[]).window(6.0, 4.0).sack(0, &[(2, 7)], &[11]).window(6.0, 4.0);
    tcp.sack(0, &[(2, 8)], &[]).window(5.0, 4.0).sack(0, &[(2, 9)], &[]).window(4.0, 4.0);
    // At ssthresh, with 9, 10, 11 and the retransmission in flight: from now on one packet leaves
    // per packet delivered.
    tcp.sack(0, &[(2, 10)], &[12]).window(4.0, 4.0).sack(0, &[(2, 11)], &[13]).window(4.0, 4.0);
    // The recovery point is acknowledged: cwnd is ssthresh, and there is no burst.
    tcp.at(0.3).ack(10, &[14]).window(4.0, 4.0);
}

#[test]
fn duplicated_acks_keep_a_prr_window() {
    // Sack1 decrements pipe for every ACK in recovery, also for duplicated ones, and there is
    // nothing left to send: pipe falls below zero. PRR then starts from an empty network, not from
    // a negative count.
    let mut tcp =
        Exchange::eight_packets(Recovery::Sack, Some(8), tcp_config!(ns2(), recovery.prr = true));
    tcp.at(0.2).sack(0, &[(2, 3)], &[]).sack(0, &[(2, 4)], &[]).sack(0, &[(2, 5)], &[1]);
    for _ in 0..12 {
        tcp.sack(0, &[(2, 5)], &[]);
    }
    // One more packet was delivered, so one may leave as soon as there is data.
    tcp.sack(0, &[(2, 6)], &[]).window(1.0, 4.0).supply(20, &[9]);
}
