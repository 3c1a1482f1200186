//! ACKs of the receiver, from the examples of RFC 2018 and the rules of RFC 5681 section 4.2.

use cwndlab_tcp::{EcnEcho, NEVER, Profile, ReceivedData, Receiver, TcpConfig, tcp_config};

fn config() -> TcpConfig {
    TcpConfig::profile(Profile::Rfc)
}

/// Cumulative ACK and SACK blocks in response to a packet; none if the ACK is delayed.
fn answer(
    receiver: &mut Receiver,
    now_s: f64,
    number: i64,
    config: &TcpConfig,
) -> Option<(i64, Vec<(i64, i64)>)> {
    let ack = receiver.on_data(now_s, ReceivedData::new(number, now_s), config).1?;
    Some((
        ack.ack,
        receiver.sack_blocks().map(|blocks| blocks.as_slice().to_vec()).unwrap_or_default(),
    ))
}

#[test]
fn rfc_2018_section_8_case_2() {
    // The first of eight segments is lost, the others arrive: one block that grows.
    let (mut receiver, config) = (Receiver::new(true), config());
    assert_eq!(answer(&mut receiver, 0.0, 0, &config), Some((0, vec![])));
    for number in 2..9 {
        assert_eq!(answer(&mut receiver, 0.1, number, &config), Some((0, vec![(2, number + 1)])));
    }
}

#[test]
fn rfc_2018_section_8_case_3() {
    // The second, fourth, sixth and eighth segments are lost (packets 1, 3, 5, 7); then the fourth
    // arrives, then the second.
    let (mut receiver, config) = (Receiver::new(true), config());
    for (number, ack, blocks) in [
        (0, 0, vec![]),
        (2, 0, vec![(2, 3)]),
        (4, 0, vec![(4, 5), (2, 3)]),
        (6, 0, vec![(6, 7), (4, 5), (2, 3)]),
        (3, 0, vec![(2, 5), (6, 7)]),
        (1, 4, vec![(6, 7)]),
    ] {
        assert_eq!(
            answer(&mut receiver, 0.0, number, &config),
            Some((ack, blocks)),
            "after packet {number}"
        );
    }
}

#[test]
fn every_second_packet_is_acknowledged_or_the_timer_does_it() {
    let (mut receiver, config) =
        (Receiver::new(true), tcp_config!(config(), receiver.delayed_ack = true));
    // The SYN is acknowledged at once.
    assert_eq!(answer(&mut receiver, 0.0, 0, &config), Some((0, vec![])));
    assert_eq!(answer(&mut receiver, 0.1, 1, &config), None);
    assert!((receiver.deadline_s() - 0.2).abs() < 1e-12, "100 ms");
    assert_eq!(answer(&mut receiver, 0.15, 2, &config), Some((2, vec![])));
    assert_eq!(receiver.deadline_s(), NEVER);
    assert_eq!(answer(&mut receiver, 0.2, 3, &config), None);
    assert_eq!(receiver.on_timer(&config).map(|ack| ack.ack), Some(3));
    assert_eq!(receiver.deadline_s(), NEVER);
    assert!(receiver.on_timer(&config).is_none());
}

#[test]
fn gaps_are_reported_at_once() {
    // RFC 5681 section 4.2: out of order, and filling a gap in whole or in part.
    let (mut receiver, config) =
        (Receiver::new(true), tcp_config!(config(), receiver.delayed_ack = true));
    assert_eq!(answer(&mut receiver, 0.0, 0, &config), Some((0, vec![])));
    assert_eq!(answer(&mut receiver, 0.1, 2, &config), Some((0, vec![(2, 3)])));
    assert_eq!(answer(&mut receiver, 0.1, 4, &config), Some((0, vec![(4, 5), (2, 3)])));
    assert_eq!(answer(&mut receiver, 0.1, 1, &config), Some((2, vec![(4, 5)])));
    assert_eq!(answer(&mut receiver, 0.1, 3, &config), Some((4, vec![])));
    // In order again: the next ACK is delayed.
    assert_eq!(answer(&mut receiver, 0.1, 5, &config), None);
    // A duplicate packet is acknowledged at once and changes nothing.
    assert_eq!(answer(&mut receiver, 0.1, 2, &config), Some((5, vec![])));
}

/// RFC 9293 section 3.10.7.4: a segment below RCV.NXT is not acceptable and is answered by an ACK,
/// with a DSACK (RFC 2883 section 4). ns-2's DelAckSink delays the answer to the last packet in
/// order.
#[test]
fn a_packet_that_arrives_twice_is_acknowledged_at_once() {
    let linux = tcp_config!(TcpConfig::profile(Profile::Linux), receiver.quick_acks = 0);
    let rfc = tcp_config!(config(), receiver.delayed_ack = true, recovery.dsack = true);
    for config in [linux, rfc] {
        let mut receiver = Receiver::new(true);
        let answers = [0, 1, 2, 2, 3, 3].map(|number| answer(&mut receiver, 0.1, number, &config));
        let expected = [
            Some((0, vec![])),
            None,
            Some((2, vec![])),
            Some((2, vec![(2, 3)])),
            None,
            // The ACK that is held leaves with the answer.
            Some((3, vec![(3, 4)])),
        ];
        assert_eq!(answers, expected);
        assert_eq!(receiver.deadline_s(), NEVER);
    }
    let config = tcp_config!(TcpConfig::profile(Profile::Ns2_235), receiver.delayed_ack = true);
    let mut receiver = Receiver::new(true);
    let answers = [0, 1, 2, 2].map(|number| answer(&mut receiver, 0.1, number, &config));
    assert_eq!(answers, [Some((0, vec![])), None, Some((2, vec![])), None]);
}

/// Linux acknowledges 16 data packets at once at the start, beside six by which its window grows
/// then, and 16 after a packet that arrives twice (`TCP_MAX_QUICKACKS`).
#[test]
fn quick_acks_at_the_start_and_after_a_duplicate() {
    let config =
        tcp_config!(TcpConfig::profile(Profile::Linux), receiver.receive_buffer = 33_554_432);
    let mut receiver = Receiver::new(true);
    let mut answers = |numbers: std::ops::RangeInclusive<i64>| -> Vec<bool> {
        numbers.map(|number| answer(&mut receiver, 0.1, number, &config).is_some()).collect()
    };
    assert_eq!(answers(0..=22), [true; 23]);
    assert_eq!(answers(23..=28), [false, true, false, true, false, true]);
    assert_eq!(answers(20..=20), [true]);
    assert_eq!(answers(29..=44), [true; 16]);
    assert_eq!(answers(45..=48), [false, true, false, true]);
}

/// Linux: the SYN-ACK is repeated after 1, 2, 4, 8 and 16 s (`tcp_synack_retries` 5), until data
/// arrive.
#[test]
fn a_syn_ack_is_repeated_until_data_arrive() {
    let config = TcpConfig::profile(Profile::Linux);
    let mut receiver = Receiver::new(true);
    assert_eq!(answer(&mut receiver, 0.5, 0, &config), Some((0, vec![])));
    for repeated_s in [1.5, 3.5, 7.5, 15.5, 31.5] {
        assert_eq!(receiver.deadline_s(), repeated_s);
        let ack = receiver.on_timer(&config).unwrap();
        assert_eq!((ack.ack, ack.sent_s, ack.echo_s), (0, 0.5, 0.5));
    }
    assert_eq!((receiver.deadline_s(), receiver.extra_acks()), (NEVER, 5));
    // Data stop the timer, and it never starts again.
    let mut receiver = Receiver::new(true);
    assert!(answer(&mut receiver, 0.5, 0, &config).is_some());
    assert!(answer(&mut receiver, 0.6, 1, &config).is_some());
    assert!(answer(&mut receiver, 0.7, 0, &config).is_some());
    assert_eq!(receiver.deadline_s(), NEVER);
}

/// Linux `tcp_check_req`: a repeated SYN is answered, and the timer starts again with the backoff
/// that it has. ns-2 has no timer.
#[test]
fn a_repeated_syn_restarts_the_timer_of_its_answer() {
    let config = TcpConfig::profile(Profile::Linux);
    let mut receiver = Receiver::new(true);
    assert!(answer(&mut receiver, 0.0, 0, &config).is_some());
    assert_eq!(answer(&mut receiver, 0.5, 0, &config), Some((0, vec![])));
    assert_eq!(receiver.deadline_s(), 1.5);
    assert!(receiver.on_timer(&config).is_some());
    assert_eq!(answer(&mut receiver, 2.0, 0, &config), Some((0, vec![])));
    assert_eq!(receiver.deadline_s(), 4.0);
    let mut receiver = Receiver::new(true);
    assert!(answer(&mut receiver, 0.0, 0, &TcpConfig::profile(Profile::Ns2_235)).is_some());
    assert_eq!(receiver.deadline_s(), NEVER);
}

#[test]
fn a_receiver_without_sack_reports_no_blocks() {
    let (mut receiver, config) = (Receiver::new(false), config());
    for (number, ack) in [(0, 0), (2, 0), (3, 0), (1, 3)] {
        assert_eq!(answer(&mut receiver, 0.0, number, &config), Some((ack, vec![])));
    }
}

#[test]
fn the_timestamp_echoed_is_that_of_the_packet_that_advanced_the_window() {
    // RFC 7323 section 4.3, case B: beyond a gap the last packet in order is echoed; case C: the
    // one that fills it.
    let (mut receiver, config) = (Receiver::new(true), config());
    let mut echo = |now_s: f64, number: i64| {
        receiver.on_data(now_s, ReceivedData::new(number, now_s), &config).1.map(|ack| ack.echo_s)
    };
    assert_eq!(echo(1.0, 0), Some(1.0));
    assert_eq!(echo(3.0, 2), Some(1.0));
    assert_eq!(echo(5.0, 4), Some(1.0));
    assert_eq!(echo(6.0, 1), Some(6.0));
}

/// Processes a packet with or without CE and CWR; returns ECE of its ACK, none if the ACK is
/// delayed.
fn echo(
    receiver: &mut Receiver,
    number: i64,
    (ce, cwr): (bool, bool),
    config: &TcpConfig,
) -> Option<bool> {
    receiver
        .on_data(0.0, ReceivedData { ce, cwr, ..ReceivedData::new(number, 0.0) }, config)
        .1
        .map(|ack| ack.echo == EcnEcho::ECE)
}

const PLAIN: (bool, bool) = (false, false);
const CE: (bool, bool) = (true, false);
const CWR: (bool, bool) = (false, true);

#[test]
fn a_mark_is_echoed_until_the_window_was_cut() {
    // RFC 3168 section 6.1.3, on packets in order, duplicates, and beyond a gap alike.
    let (mut receiver, config) = (Receiver::new(true), tcp_config!(config(), ecn.ecn = true));
    let packets = [
        (0, PLAIN),
        (1, PLAIN),
        (2, CE),
        (3, PLAIN),
        (5, PLAIN),
        (5, PLAIN),
        (4, PLAIN),
        (6, PLAIN),
        (7, CWR),
        (8, PLAIN),
    ];
    let echoes = packets.map(|(number, marks)| echo(&mut receiver, number, marks, &config));
    assert_eq!(echoes, [false, false, true, true, true, true, true, true, false, false].map(Some));
    // A packet with both CWR and CE: the mark belongs to another window.
    assert_eq!(
        [9, 10].map(|number| echo(
            &mut receiver,
            number,
            if number == 9 { (true, true) } else { PLAIN },
            &config
        )),
        [Some(true); 2]
    );
    // A mark beyond a gap is echoed at once.
    assert_eq!(
        [(11, CWR), (13, CE), (12, PLAIN)].map(|(number, marks)| echo(
            &mut receiver,
            number,
            marks,
            &config
        )),
        [false, true, true].map(Some)
    );
}

#[test]
fn a_delayed_acknowledgement_echoes_marks_on_either_packet() {
    // RFC 3168 section 6.1.3, ns-2 `TcpSink::ack`: a marked packet's ACK is delayed like any other,
    // and a later CWR does not clear its mark.
    for profile in [Profile::Ns2_235, Profile::Rfc] {
        let (mut receiver, config) = (
            Receiver::new(false),
            tcp_config!(
                TcpConfig::profile(profile),
                ecn.ecn = true,
                receiver.delayed_ack = true,
                quirks.ns2_ecn = false
            ),
        );
        let packets =
            [(0, PLAIN), (1, CE), (2, PLAIN), (3, PLAIN), (4, CWR), (5, CE), (6, CWR), (7, CWR)];
        let echoes = packets.map(|(number, marks)| echo(&mut receiver, number, marks, &config));
        assert_eq!(
            echoes,
            [Some(false), None, Some(true), None, Some(false), None, Some(true), None]
        );
        assert_eq!(receiver.on_timer(&config).map(|ack| ack.echo), Some(EcnEcho::NONE));
    }
}

#[test]
fn ns2_agrees_on_ecn_by_an_echo() {
    // The ACK of packet 0 carries ECE, whenever packet 0 arrives, and also if it is delayed
    // together with that of packet 1.
    let config = tcp_config!(TcpConfig::profile(Profile::Ns2_235), ecn.ecn = true);
    let mut receiver = Receiver::new(false);
    assert_eq!(
        [0, 1, 0, 2].map(|number| echo(&mut receiver, number, PLAIN, &config)),
        [true, false, true, false].map(Some)
    );
    let delayed =
        tcp_config!(config, receiver.delayed_ack = true, receiver.immediate_ack_on_syn = false);
    let mut receiver = Receiver::new(false);
    assert_eq!(
        [0, 1, 2, 3].map(|number| echo(&mut receiver, number, PLAIN, &delayed)),
        [None, Some(true), None, Some(false)]
    );
}
