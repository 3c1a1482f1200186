//! Receivers that misbehave, worked by hand from Savage et al. 1999.

mod exchange;

use cwndlab_tcp::{
    AckSegment, DataSegment, EcnEcho, ReceivedData, Receiver, Recovery, TcpConfig, tcp_config,
};
use exchange::{Exchange, rfc};

const NONE: [i64; 0] = [];

/// The ACKs in response to packet `number`, each the highest packet acknowledged as a whole and
/// whether a part of the next one is acknowledged, too.
fn acks(receiver: &mut Receiver, number: i64, config: &TcpConfig) -> Vec<(i64, bool)> {
    let Some(last) = receiver.on_data(0.0, ReceivedData::new(number, 0.0), config).1 else {
        return Vec::new();
    };
    assert!(receiver.sack_blocks().is_none() || config.receiver.optimistic_acks == 0);
    receiver.acks_of_parts(config).chain([(last.ack, false)]).collect()
}

#[test]
fn a_segment_is_acknowledged_in_three_parts() {
    let (mut receiver, config) =
        (Receiver::new(true), tcp_config!(rfc(), receiver.ack_division = 3));
    assert_eq!(acks(&mut receiver, 0, &config), [(0, false)]);
    assert_eq!(acks(&mut receiver, 1, &config), [(0, true), (0, true), (1, false)]);
    // Packet 2 is late: an ACK without new data is not divided. Then thirds of three packets.
    assert_eq!(acks(&mut receiver, 3, &config), [(1, false)]);
    assert_eq!(acks(&mut receiver, 4, &config), [(1, false)]);
    assert_eq!(acks(&mut receiver, 2, &config), [(2, false), (3, false), (4, false)]);
    assert_eq!(receiver.extra_acks(), 4);
}

#[test]
fn a_delayed_ack_is_divided_in_equal_parts_of_two_segments() {
    let config = tcp_config!(rfc(), receiver.ack_division = 4, receiver.delayed_ack = true);
    let mut receiver = Receiver::new(true);
    acks(&mut receiver, 0, &config);
    assert_eq!(acks(&mut receiver, 1, &config), []);
    // Half a packet each.
    assert_eq!(acks(&mut receiver, 2, &config), [(0, true), (1, false), (1, true), (2, false)]);
}

#[test]
fn the_lead_of_optimistic_acks_grows_with_what_arrives_and_losses_are_hidden() {
    let (mut receiver, config) =
        (Receiver::new(true), tcp_config!(rfc(), receiver.optimistic_acks = 3));
    for (number, ack) in [
        (0, 0),
        (1, 2),
        (2, 4),
        (3, 6),
        (4, 7),
        // Packet 5 is lost.
        (6, 9),
        (7, 10),
        // Sent again, or late: acknowledged without a lead.
        (7, 7),
        (5, 7),
        (8, 9),
        (9, 11),
        (10, 13),
        (11, 14),
    ] {
        assert_eq!(acks(&mut receiver, number, &config), [(ack, false)], "after packet {number}");
    }
}

/// The sender gets an ACK of all packets up to `ack` and a part of the next one.
fn part(tcp: &mut Exchange, ack: i64) -> Vec<i64> {
    let segment = AckSegment { ack, sent_s: 0.1, echo_s: 0.1, size_bytes: 40, echo: EcnEcho::NONE };
    let mut sent = Vec::new();
    tcp.sender.on_ack_of_part(0.2, segment, None, &tcp.config, &mut |segment: DataSegment| {
        sent.push(segment.number)
    });
    sent
}

#[test]
fn an_ack_of_a_part_counts_as_a_whole_one_where_growth_counts_acks() {
    // cwnd = ssthresh = 8, packets 1 to 8 in flight. Packet 1 is acknowledged in three parts: 8 +
    // 1/8 = 8.125, + 1/8.125 = 8.2481, + 1/8.2481 = 8.3693. RFC 5681 counts it as one: 8.125.
    for recovery in [Recovery::NewReno, Recovery::Sack] {
        let mut tcp = Exchange::eight_packets(recovery, None, rfc());
        assert_eq!([part(&mut tcp, 0), part(&mut tcp, 0)], [NONE, NONE]);
        tcp.at(0.2).ack(1, &[9]);
        assert!((tcp.sender.cwnd() - 8.36932).abs() < 1e-5, "{}", tcp.sender.cwnd());
        let counted = tcp_config!(rfc(), growth.grow_by_packets = true);
        let mut tcp = Exchange::eight_packets(recovery, None, counted);
        assert_eq!([part(&mut tcp, 0), part(&mut tcp, 0)], [NONE, NONE]);
        tcp.at(0.2).ack(1, &[9]).window(8.125, 8.0);
    }
}

#[test]
fn parts_in_slow_start_release_packets_at_once() {
    // Each part adds a packet to cwnd: four for the first packet acknowledged in four parts, and
    // one for the packet itself.
    let config = tcp_config!(rfc(), limits.initial_window = 2.0);
    let mut tcp = Exchange::start(Recovery::NewReno, None, config, &[0]);
    tcp.at(0.1).syn_ack(&[1, 2]);
    assert_eq!([part(&mut tcp, 0), part(&mut tcp, 0), part(&mut tcp, 0)], [[3], [4], [5]]);
    tcp.at(0.2).ack(1, &[6, 7]);
    assert_eq!(tcp.sender.cwnd(), 6.0);
    // A part of what is acknowledged already, and parts during recovery, do nothing.
    assert_eq!(part(&mut tcp, 0), NONE);
    tcp.ack(1, &[8]).ack(1, &[9]).ack(1, &[2]);
    let cwnd = tcp.sender.cwnd();
    assert_eq!((part(&mut tcp, 1), tcp.sender.cwnd()), (NONE.to_vec(), cwnd));
}
