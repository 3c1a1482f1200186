//! What the receiver answers, from the examples of RFC 2018 and the rules of RFC 5681 section 4.2.

use cwndlab_tcp::{Knobs, NEVER, Profile, Receiver};

fn knobs() -> Knobs {
    Knobs::profile(Profile::Rfc)
}

/// Cumulative acknowledgement and SACK blocks in answer to a packet; none if the answer is delayed.
fn answer(receiver: &mut Receiver, now_s: f64, number: i64, knobs: &Knobs) -> Option<(i64, Vec<(i64, i64)>)> {
    let ack = receiver.on_data(now_s, number, now_s, false, false, knobs).1?;
    Some((ack.ack, receiver.blocks().map(|blocks| blocks.as_slice().to_vec()).unwrap_or_default()))
}

#[test]
fn rfc_2018_section_8_case_2() {
    // The first of eight segments is lost, the others arrive: one block that grows.
    let (mut receiver, knobs) = (Receiver::new(true), knobs());
    assert_eq!(answer(&mut receiver, 0.0, 0, &knobs), Some((0, vec![])));
    for number in 2..9 {
        assert_eq!(answer(&mut receiver, 0.1, number, &knobs), Some((0, vec![(2, number + 1)])));
    }
}

#[test]
fn rfc_2018_section_8_case_3() {
    // The second, fourth, sixth and eighth segments are lost (packets 1, 3, 5, 7); then the fourth arrives, then the second.
    let (mut receiver, knobs) = (Receiver::new(true), knobs());
    for (number, ack, blocks) in [
        (0, 0, vec![]),
        (2, 0, vec![(2, 3)]),
        (4, 0, vec![(4, 5), (2, 3)]),
        (6, 0, vec![(6, 7), (4, 5), (2, 3)]),
        (3, 0, vec![(2, 5), (6, 7)]),
        (1, 4, vec![(6, 7)]),
    ] {
        assert_eq!(answer(&mut receiver, 0.0, number, &knobs), Some((ack, blocks)), "after packet {number}");
    }
}

#[test]
fn every_second_packet_is_acknowledged_or_the_timer_does_it() {
    let (mut receiver, knobs) = (Receiver::new(true), Knobs { delayed_ack: true, ..knobs() });
    // The SYN is answered at once.
    assert_eq!(answer(&mut receiver, 0.0, 0, &knobs), Some((0, vec![])));
    assert_eq!(answer(&mut receiver, 0.1, 1, &knobs), None);
    assert!((receiver.deadline_s() - 0.2).abs() < 1e-12, "100 ms");
    assert_eq!(answer(&mut receiver, 0.15, 2, &knobs), Some((2, vec![])));
    assert_eq!(receiver.deadline_s(), NEVER);
    assert_eq!(answer(&mut receiver, 0.2, 3, &knobs), None);
    assert_eq!(receiver.on_timer(&knobs).map(|ack| ack.ack), Some(3));
    assert_eq!(receiver.deadline_s(), NEVER);
    assert!(receiver.on_timer(&knobs).is_none());
}

#[test]
fn gaps_are_reported_at_once() {
    // RFC 5681 section 4.2: out of order, and filling a gap in whole or in part.
    let (mut receiver, knobs) = (Receiver::new(true), Knobs { delayed_ack: true, ..knobs() });
    assert_eq!(answer(&mut receiver, 0.0, 0, &knobs), Some((0, vec![])));
    assert_eq!(answer(&mut receiver, 0.1, 2, &knobs), Some((0, vec![(2, 3)])));
    assert_eq!(answer(&mut receiver, 0.1, 4, &knobs), Some((0, vec![(4, 5), (2, 3)])));
    assert_eq!(answer(&mut receiver, 0.1, 1, &knobs), Some((2, vec![(4, 5)])));
    assert_eq!(answer(&mut receiver, 0.1, 3, &knobs), Some((4, vec![])));
    // In order again: the next one waits.
    assert_eq!(answer(&mut receiver, 0.1, 5, &knobs), None);
    // A packet that comes twice is answered at once and changes nothing.
    assert_eq!(answer(&mut receiver, 0.1, 2, &knobs), Some((5, vec![])));
}

#[test]
fn a_receiver_without_sack_reports_no_blocks() {
    let (mut receiver, knobs) = (Receiver::new(false), knobs());
    for (number, ack) in [(0, 0), (2, 0), (3, 0), (1, 3)] {
        assert_eq!(answer(&mut receiver, 0.0, number, &knobs), Some((ack, vec![])));
    }
}

#[test]
fn the_timestamp_echoed_is_that_of_the_packet_that_advanced_the_window() {
    // RFC 7323 section 4.3, case B: beyond a gap the last one in order is echoed; case C: the one that fills it.
    let (mut receiver, knobs) = (Receiver::new(true), knobs());
    let mut echo = |now_s: f64, number: i64| receiver.on_data(now_s, number, now_s, false, false, &knobs).1.map(|ack| ack.echo_s);
    assert_eq!(echo(1.0, 0), Some(1.0));
    assert_eq!(echo(3.0, 2), Some(1.0));
    assert_eq!(echo(5.0, 4), Some(1.0));
    assert_eq!(echo(6.0, 1), Some(6.0));
}
