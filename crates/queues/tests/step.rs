//! Step marking: which packet is the first to be marked, by hand, and agreement with drop-tail.

mod support;

use cwndlab_queues::{Admission, ArrivingPacket, Backlog, Decision, DropTail, Limit, Step};
use proptest::collection::vec;
use proptest::prelude::*;
use support::{Link, random};

/// 8 Mbit/s: a packet of 1000 bytes takes a millisecond.
fn link(limit: Limit, threshold: Limit) -> Link<Step> {
    Link::new(Step::new(limit, threshold), 8e6)
}

/// What becomes of a burst of packets of 1000 bytes at an idle link: `.` sent, `M` marked, `x`
/// dropped.
fn burst(limit: Limit, threshold: Limit, packets: usize, ecn: bool) -> String {
    let (mut link, mut random) = (link(limit, threshold), random());
    (0..packets)
        .map(|_| match link.arrive(0.0, 1000, ecn, 1, &mut random) {
            Decision::Accept => '.',
            Decision::Mark => 'M',
            Decision::Drop => 'x',
        })
        .collect()
}

#[test]
fn the_first_marked_packet_finds_the_threshold_waiting() {
    // One goes into service and three wait; the next would be the fourth.
    let (limit, threshold) = (Limit::Packets(6), Limit::Packets(3));
    assert_eq!(burst(limit, threshold, 9, true), "....MMMxx");
    // Packets that are not ECT are dropped there, so the queue stays at three.
    assert_eq!(burst(limit, threshold, 9, false), "....xxxxx");
}

#[test]
fn bytes_count_the_arriving_packet() {
    // 3000 bytes are three packets of 1000, and 3999 are no more; 4000 hold a fourth.
    let limit = Limit::Bytes(6000);
    assert_eq!(burst(limit, Limit::Bytes(3000), 9, true), "....MMMxx");
    assert_eq!(burst(limit, Limit::Bytes(3999), 9, true), "....MMMxx");
    assert_eq!(burst(limit, Limit::Bytes(4000), 9, true), ".....MMxx");
    // Behind 3000 waiting 500 more are at 3500, and the next 40 beyond.
    let (mut link, mut random) = (link(limit, Limit::Bytes(3500)), random());
    let sizes = [1000, 1000, 1000, 1000, 500, 40];
    let decisions = sizes.map(|size| link.arrive(0.0, size, true, 1, &mut random));
    assert_eq!(decisions[..5], [Decision::Accept; 5]);
    assert_eq!(decisions[5], Decision::Mark);
    // Units of limit and threshold may differ.
    assert_eq!(burst(Limit::Packets(5), Limit::Bytes(2000), 8, true), "...MMMxx");
}

#[test]
fn marks_begin_and_end_with_the_queue_at_once() {
    // Arrivals every half millisecond, a departure every millisecond: the queue grows by one in
    // two arrivals, and the first that finds two waiting is the sixth, at 2.5 ms: 0 to 2 ms took
    // the packets 0 and 1 away, of 5 before it 3 are there, one in service.
    let (mut link, mut random) = (link(Limit::Packets(100), Limit::Packets(2)), random());
    let mut arrive = |at_ms: f64| link.arrive(at_ms / 1e3, 1000, true, 1, &mut random);
    let growing: Vec<_> = (0..8).map(|half| arrive(f64::from(half) / 2.0)).collect();
    let marked: Vec<_> = growing.iter().map(|&decision| decision == Decision::Mark).collect();
    assert_eq!(marked, [false, false, false, false, false, true, true, true]);
    // Eight packets leave by 8 ms. At 6.5 ms one is in service and one waits: no mark any more,
    // and none is remembered.
    assert_eq!([arrive(6.5), arrive(6.5)], [Decision::Accept, Decision::Mark]);
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    /// Where it does not accept, a drop-tail queue of the threshold's size would have dropped; where
    /// that or the limit is sure to hold, it accepts.
    #[test]
    fn it_marks_what_a_buffer_of_the_threshold_would_drop(
        [limit, threshold] in [0, 1].map(|_| prop_oneof![
            (1u64..40).prop_map(Limit::Packets), (1u64..40_000).prop_map(Limit::Bytes)
        ]),
        waiting in vec(40u32..1600, 0..60),
        size_bytes in 40u32..1600,
        ecn: bool,
    ) {
        let backlog = Backlog {
            packets: waiting.len() as u64,
            bytes: waiting.iter().map(|&size| u64::from(size)).sum(),
            in_service_bytes: waiting.first().map_or(0, |&size| u64::from(size)),
            ..Backlog::default()
        };
        let packet = ArrivingPacket { now_s: 0.0, size_bytes, flow: 0, ecn, priority: 1 };
        let mut step = Step::new(limit, threshold);
        let holds = |size| {
            DropTail::new(size, false).admit(&packet, &backlog, &mut || 0.5) == Decision::Accept
        };
        let expected = match (holds(limit), holds(threshold)) {
            (true, true) => Decision::Accept,
            (true, false) if ecn => Decision::Mark,
            _ => Decision::Drop,
        };
        prop_assert_eq!(step.admit(&packet, &backlog, &mut || 0.5), expected);
        let largest = waiting.iter().copied().max().unwrap_or(0).max(size_bytes);
        let sure = backlog.packets < step.guaranteed_accept_backlog(largest);
        prop_assert!(!sure || expected == Decision::Accept);
    }
}
