//! Applications that supply data in parts (RFC 5681 section 4.1), and what `ns` 2.35 does.
//!
//! Where a test says that ns prints its numbers: `Agent/TCP/Newreno` with the settings of
//! tests/ecn.rs, its data supplied by `advanceby`.

mod exchange;

use cwndlab_rules::{Arithmetic, RuleSpec};
use cwndlab_tcp::{NEVER, Recovery, Sender, ShortPacket, tcp_config};
use exchange::{Exchange, ns2, rfc};

#[test]
fn data_supplied_soon_finds_the_window_open() {
    // Eight packets, and four more 0.1 s after the last ACK. ns: 9 to 12 leave
    // together, with a window of 8.95059.
    let mut tcp = Exchange::eight_packets(Recovery::NewReno, Some(8), ns2());
    tcp.at(0.2);
    for ack in 1..=8 {
        tcp.ack(ack, &[]);
    }
    assert!(tcp.sender.is_finished() && tcp.sender.deadline_s() == NEVER);
    tcp.at(0.3).supply(4, &[9, 10, 11, 12]);
    assert!((tcp.sender.cwnd() - 8.95059).abs() < 1e-5);
    assert!(!tcp.sender.is_finished() && tcp.sender.deadline_s() < NEVER);
    tcp.at(0.4).ack(10, &[]).ack(12, &[]);
    assert!(tcp.sender.is_finished() && tcp.sender.deadline_s() == NEVER);
}

#[test]
fn in_ns2_the_timer_goes_on_while_there_is_no_data() {
    // The same, 1.8 s later: the timer has expired. ns: 9 leaves with cwnd = 1 and ssthresh = 8;
    // neither a timeout nor a backoff is counted.
    let mut tcp = Exchange::eight_packets(Recovery::NewReno, Some(8), ns2());
    tcp.at(0.2).ack(8, &[]).at(2.0).supply(8, &[9]).window(1.0, 8.0);
    tcp.at(2.1)
        .ack(9, &[10, 11])
        .at(2.2)
        .ack(10, &[12, 13])
        .ack(11, &[14, 15])
        .at(2.3)
        .ack(12, &[16])
        .window(5.0, 8.0);
    assert_eq!(tcp.sender.counters(2.3).timeouts, 0);
}

#[test]
fn rfc_5681_restarts_from_the_initial_window() {
    // Twelve packets, sent four and eight; the window is 8, and 9 after the last ACK.
    // RTO is 1 s.
    let config = tcp_config!(rfc(), limits.initial_window = 4.0);
    for (later_s, sends, window) in
        [(1.15, &[13, 14, 15, 16, 17, 18, 19, 20][..], 9.0), (1.25, &[13, 14, 15, 16], 4.0)]
    {
        let mut tcp = Exchange::start(Recovery::Sack, Some(12), config.clone(), &[0]);
        tcp.at(0.1)
            .ack(0, &[1, 2, 3, 4])
            .at(0.2)
            .ack(1, &[5, 6])
            .ack(2, &[7, 8])
            .ack(3, &[9, 10])
            .ack(4, &[11, 12]);
        // Nothing was sent since 0.2 s: section 4.1 counts from there.
        tcp.at(0.3).ack(12, &[]).window(9.0, 1e9).at(later_s).supply(8, sends).window(window, 1e9);
    }
}

#[test]
fn a_window_below_one_packet_waits_for_the_timer_even_without_data() {
    // windowInit_ 1, one packet, and it is marked: the window is 1/2. ns: data of 0.25 s leaves
    // when the timer expires at 0.4501 s, data of 0.55 s at once.
    for (supply_s, expires) in [(0.25, true), (0.55, false)] {
        let config =
            tcp_config!(ns2(), ecn.ecn = true, limits.initial_window = 1.0, limits.window = 100.0);
        let mut tcp = Exchange::start(Recovery::NewReno, Some(1), config, &[0]);
        tcp.at(0.10002).syn_ack(&[1]).at(0.2001).marked(1, &[]).window(0.5, 2.0).at(supply_s);
        if expires {
            tcp.supply(3, &[]).expires(0.4501, &[2]);
        } else {
            tcp.supply(3, &[2]);
        }
        tcp.window(1.0, 2.0).cwr(&[2]);
    }
}

#[test]
fn a_connection_can_open_before_there_is_data() {
    let mut tcp = Exchange::start(Recovery::Sack, Some(0), rfc(), &[0]);
    assert!(!tcp.sender.is_finished());
    tcp.at(0.1).ack(0, &[]);
    assert!(tcp.sender.is_finished() && tcp.sender.deadline_s() == NEVER);
    tcp.at(0.2).supply(5, &[1, 2, 3, 4]).at(0.3).ack(1, &[5]);
}

#[test]
fn without_a_syn_nothing_is_sent_before_there_is_data() {
    let mut tcp =
        Exchange::start(Recovery::Sack, Some(0), tcp_config!(rfc(), handshake.syn = false), &[]);
    assert!(tcp.sender.is_finished() && tcp.sender.deadline_s() == NEVER);
    tcp.at(5.0).supply(0, &[]).supply(3, &[0, 1, 2]).at(5.1).ack(2, &[]);
    assert!(tcp.sender.is_finished());
}

#[test]
fn data_supplied_while_packets_are_in_flight() {
    // Three packets more, but the window of 8 is full.
    let mut tcp = Exchange::eight_packets(Recovery::NewReno, Some(8), ns2());
    tcp.at(0.15).supply(3, &[]).at(0.2).ack(1, &[9]).ack(2, &[10]).ack(3, &[11]).ack(4, &[]);
}

#[test]
fn data_between_duplicate_acknowledgements() {
    // Eight packets; 7 is lost, and two more are supplied after the duplicate ACK that 8 causes.
    // Sack1 consults its scoreboard: without an earlier reduction the hole blocks new data (ns:
    // nothing leaves before the timeout). RFC 6675 sends it.
    for (config, sends) in [(ns2(), &[][..]), (rfc(), &[9, 10])] {
        let mut tcp = Exchange::eight_packets(Recovery::Sack, Some(8), config);
        tcp.at(0.2).ack(6, &[]).sack(6, &[(8, 9)], &[]).supply(2, sends);
    }
}

#[test]
fn the_last_packet_of_a_transfer_is_short() {
    // 2,500 bytes in packets of 1000: the third has 500, and 40 of headers. It is as short when it
    // is retransmitted.
    let (packets, short) = rfc().segments_of(2500);
    assert_eq!((packets, short), (3, Some(ShortPacket { number: 3, payload_bytes: 500 })));
    assert_eq!(rfc().segments_of(3000), (3, None));
    let rule: RuleSpec = "AIMD(1, 0.5)".parse().unwrap();
    let mut sender =
        Sender::new(rule.build(Arithmetic::Plain), Recovery::Sack, Some(packets), 0.0, &rfc());
    sender.set_short_packet(short);
    let mut tcp = Exchange::of(sender, rfc());
    tcp.begin(&[0]).sizes(&[40]).at(0.1).ack(0, &[1, 2, 3]).sizes(&[1040, 1040, 540]);
    tcp.at(0.2).ack(2, &[]).expires(1.2, &[3]).sizes(&[540]);
}
