//! Undo of spurious reductions, by hand. Packets 1 to 8 are in flight, sent at 0.1 s, and cwnd is
//! 8; the round trip is 0.1 s. Notation as in `exchanges.rs`.

mod exchange;

use cwndlab_rules::{Ack, Congestion, Rule, WindowRule};
use cwndlab_tcp::{Profile, ReceivedData, Receiver, Recovery, Sender, TcpConfig, tcp_config};
use exchange::{Exchange, rfc};

fn eifel() -> TcpConfig {
    tcp_config!(rfc(), recovery.undo = true, rto.timestamps = true)
}

fn undone(tcp: &Exchange) -> u32 {
    tcp.sender.counters(9.0).undone_reductions
}

/// RFC 3522 section 3.2: packet 1 is late, three duplicate ACKs retransmit it, and the ACK that the
/// original triggers echoes 0.1 s, before the retransmission at 0.2 s. The window of 8 returns and
/// grows by 1/8; limited transmit had sent 9 and 10.
#[test]
fn reordering_is_recognised_by_timestamps() {
    for recovery in [Recovery::Reno, Recovery::NewReno] {
        let mut tcp = Exchange::eight_packets(recovery, None, eifel());
        tcp.at(0.2).ack(0, &[9]).ack(0, &[10]).ack(0, &[1]).window(4.0, 4.0);
        tcp.echo(4, &[], 0.1, &[11, 12]).window(8.125, 8.0);
        assert_eq!(undone(&tcp), 1, "{recovery:?}");
        // Duplicate ACKs for packets sent before show another loss: 5 is lost.
        tcp.at(0.21).ack(4, &[13]).ack(4, &[14]).ack(4, &[5]).window(4.0625, 4.0625);
        assert_eq!(undone(&tcp), 1);
    }
}

/// The same under SACK. Nothing is lost: the ACK of all eight ends recovery without a reduction.
#[test]
fn reordering_is_recognised_under_sack() {
    let mut tcp = Exchange::eight_packets(Recovery::Sack, None, eifel());
    tcp.at(0.2).sack(0, &[(2, 3)], &[9]).sack(0, &[(2, 4)], &[10]).sack(0, &[(2, 5)], &[1]);
    tcp.window(4.0, 4.0).echo(4, &[], 0.1, &[11, 12]).window(8.125, 8.0);
}

/// The ACK that the retransmission triggers echoes its time: the loss was real.
#[test]
fn a_real_loss_stays_reduced() {
    for config in [eifel(), tcp_config!(eifel(), recovery.dsack = true)] {
        let mut tcp = Exchange::eight_packets(Recovery::NewReno, None, config);
        tcp.at(0.2).ack(0, &[9]).ack(0, &[10]).ack(0, &[1]).window(4.0, 4.0);
        // All ten are acknowledged. RFC 6582 section 3.2 step 3: nothing is in flight, so slow
        // start from one packet, which this ACK makes two.
        tcp.at(0.3).echo(10, &[], 0.2, &[11, 12]).window(2.0, 4.0);
        assert_eq!(undone(&tcp), 0);
    }
}

/// Under RACK the packets that a spurious timeout marked lost are in flight again: 8, of which ACK
/// 1 takes one, and the retransmission. Without undo slow start from one packet would send 2 and 3
/// again.
#[test]
fn a_spurious_timeout_is_undone_under_rack() {
    let config = tcp_config!(eifel(), recovery.rack = true, recovery.tlp = false);
    let mut tcp = Exchange::eight_packets(Recovery::Sack, None, config);
    tcp.expires(1.144, &[1]).window(1.0, 4.0);
    tcp.at(1.15).echo(1, &[], 0.1, &[9]).window(8.125, 8.0);
    assert_eq!((undone(&tcp), tcp.sender.counters(1.2).timeouts), (1, 1));
}

/// RFC 5682 section 2.1, without timestamps: after the timeout the first ACK of new data releases
/// two new packets instead of retransmissions, and the second one shows that nothing was lost.
#[test]
fn f_rto_sends_new_data_and_waits_for_a_second_ack() {
    for recovery in Recovery::ALL.map(|(recovery, _)| recovery) {
        let config = tcp_config!(rfc(), recovery.undo = true);
        let mut tcp = Exchange::eight_packets(recovery, None, config);
        tcp.expires(1.1, &[1]).window(1.0, 4.0);
        tcp.at(1.15).ack(1, &[9, 10]).window(2.0, 4.0);
        // Eight packets beyond 2 are out already; then each ACK releases one.
        tcp.at(1.16).ack(2, &[]).window(8.125, 8.0).ack(3, &[11]);
        assert_eq!(undone(&tcp), 1, "{recovery:?}");
    }
}

/// A duplicate ACK instead: more was lost. Slow start goes on from two packets and sends packet 2
/// (under SACK 3 as well, since it ignores duplicate ACKs after a timeout).
#[test]
fn f_rto_goes_back_after_a_duplicate_ack() {
    for (recovery, sends) in
        [(Recovery::Tahoe, &[2, 3][..]), (Recovery::NewReno, &[2]), (Recovery::Sack, &[2, 3])]
    {
        let config = tcp_config!(rfc(), recovery.undo = true);
        let mut tcp = Exchange::eight_packets(recovery, None, config);
        tcp.expires(1.1, &[1]).at(1.15).ack(1, &[9, 10]);
        tcp.at(1.2).sack(1, &[(9, 10)], sends).window(2.0, 4.0);
        assert_eq!(undone(&tcp), 0, "{recovery:?}");
    }
}

/// RFC 5682 section 2.1 step 2: an ACK of all that was outstanding, or a lack of new data, leaves
/// the timeout as it is.
#[test]
fn f_rto_needs_new_data_and_data_outstanding() {
    let config = tcp_config!(rfc(), recovery.undo = true);
    let mut tcp = Exchange::eight_packets(Recovery::NewReno, None, config.clone());
    tcp.expires(1.1, &[1]).at(1.15).ack(8, &[9, 10]).window(2.0, 4.0).ack(9, &[11, 12]);
    assert_eq!(undone(&tcp), 0);
    // The last of eight packets is 8.
    let mut tcp = Exchange::eight_packets(Recovery::NewReno, Some(8), config);
    tcp.expires(1.1, &[1]).at(1.15).ack(1, &[2, 3]).ack(2, &[4, 5]);
    assert_eq!(undone(&tcp), 0);
}

/// RFC 3708, without timestamps: the retransmission of 1 is reported as received twice, after
/// recovery has ended. 8 packets are allowed again, of which 4 are in flight.
#[test]
fn a_dsack_for_every_retransmission_undoes() {
    let config = tcp_config!(rfc(), recovery.undo = true, recovery.dsack = true);
    let mut tcp = Exchange::eight_packets(Recovery::Sack, None, config);
    tcp.at(0.2).sack(0, &[(2, 3)], &[9]).sack(0, &[(2, 4)], &[10]).sack(0, &[(2, 5)], &[1]);
    tcp.at(0.25).ack(10, &[11, 12, 13, 14]).window(4.0, 4.0);
    tcp.at(0.3).sack(10, &[(1, 2)], &[15, 16, 17, 18]).window(8.0, 8.0);
    assert_eq!(undone(&tcp), 1);
    // A second report of the same packet tells nothing.
    tcp.at(0.36).sack(10, &[(1, 2)], &[]).window(8.0, 8.0);
    assert_eq!(undone(&tcp), 1);
}

/// Two packets were retransmitted, 1 and 3: one DSACK is not enough. Of the ten packets 2 and 4 to
/// 8 are SACKed when 3 is sent again, and the retransmission of 1, 9 and 10 are in flight.
#[test]
fn one_dsack_of_two_keeps_the_reduction() {
    let config = tcp_config!(rfc(), recovery.undo = true, recovery.dsack = true);
    let mut tcp = Exchange::eight_packets(Recovery::Sack, None, config);
    tcp.at(0.2)
        .sack(0, &[(2, 3)], &[9])
        .sack(0, &[(4, 5), (2, 3)], &[10])
        .sack(0, &[(4, 6), (2, 3)], &[1])
        .sack(0, &[(4, 7), (2, 3)], &[])
        .sack(0, &[(4, 8), (2, 3)], &[])
        .sack(0, &[(4, 9), (2, 3)], &[3])
        .window(4.0, 4.0);
    tcp.at(0.25).ack(8, &[11, 12]).sack(8, &[(1, 2)], &[]).window(4.0, 4.0);
    // 9 to 12 are in flight.
    tcp.sack(8, &[(3, 4)], &[13, 14, 15, 16]).window(8.0, 8.0);
    assert_eq!(undone(&tcp), 1);
}

/// Each decrease takes one packet more than the last.
#[derive(Clone, Debug, Default)]
struct Counting(u32);

impl WindowRule for Counting {
    fn increase(&mut self, cwnd: f64, _: &Ack) -> f64 {
        cwnd
    }

    fn decrease(&mut self, cwnd: f64, _: Congestion) -> f64 {
        self.0 += 1;
        cwnd - f64::from(self.0)
    }
}

/// The rule's state returns as well: the decrease after an undone one is the first again.
#[test]
fn the_state_of_the_rule_returns() {
    for (echo_s, second) in [(0.1, 7.0), (0.2, 5.0)] {
        let config = tcp_config!(
            eifel(),
            limits.initial_window = 8.0,
            limits.initial_ssthresh = 8.0,
            limits.window = 100.0,
            recovery.limited_transmit = false,
            newreno.exit_recovery_fix = false
        );
        let rule = Rule::custom(Counting::default());
        let sender = Sender::new(rule, Recovery::NewReno, None, 0.0, &config);
        let mut tcp = Exchange::of(sender, config);
        tcp.sender.start(0.0, &tcp.config, &mut |_| {});
        tcp.at(0.1).syn_ack(&[1, 2, 3, 4, 5, 6, 7, 8]);
        tcp.at(0.2).ack(0, &[]).ack(0, &[]).ack(0, &[1, 9, 10]);
        assert_eq!(tcp.sender.cwnd(), 7.0);
        // The window of 7 or 8, then that of 5 or 7 inflated by three duplicate ACKs.
        let (sends, last): (&[i64], &[i64]) = if echo_s == 0.1 {
            (&[11, 12, 13, 14, 15, 16, 17, 18], &[11, 19, 20])
        } else {
            (&[11, 12, 13, 14, 15, 16, 17], &[11, 18])
        };
        tcp.at(0.3).echo(10, &[], echo_s, sends);
        tcp.at(0.4).ack(10, &[]).ack(10, &[]).ack(10, last);
        assert_eq!(tcp.sender.cwnd(), second, "echo {echo_s}");
    }
}

/// RFC 2883 section 4.1: a packet that arrives twice is reported in the first block, before those
/// of RFC 2018; the next ACK has no report.
#[test]
fn the_receiver_reports_duplicates() {
    let config = tcp_config!(TcpConfig::profile(Profile::Rfc), recovery.dsack = true);
    let (mut receiver, plain) = (Receiver::new(true), config.ack_wire_size());
    for (number, ack, blocks) in [
        (0, 0, vec![]),
        (1, 1, vec![]),
        (1, 1, vec![(1, 2)]),
        (2, 2, vec![]),
        (4, 2, vec![(4, 5)]),
        (6, 2, vec![(6, 7), (4, 5)]),
        // Below the cumulative acknowledgement, and above it.
        (1, 2, vec![(1, 2), (6, 7), (4, 5)]),
        // A SYN is no data.
        (0, 2, vec![(6, 7), (4, 5)]),
        (4, 2, vec![(4, 5), (4, 5), (6, 7)]),
        (5, 2, vec![(4, 7)]),
        (3, 6, vec![]),
        (3, 6, vec![(3, 4)]),
        (7, 7, vec![]),
    ] {
        let answer = receiver.on_data(0.1, ReceivedData::new(number, 0.1), &config).1.unwrap();
        let reported = receiver.sack_blocks().map_or(vec![], |blocks| blocks.as_slice().to_vec());
        assert_eq!((answer.ack, &reported), (ack, &blocks), "after packet {number}");
        assert_eq!(answer.size_bytes, plain + 8 * blocks.len() as u32);
    }
}
