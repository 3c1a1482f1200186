//! COBALT by hand: the schedule of drops on a standing queue and its decay, and BLUE.

mod support;

use cwndlab_queues::{Cobalt, CobaltParameters, Limit, QueueDisc, QueueItem};
use support::item;

fn queue(packets: u64) -> Cobalt<usize> {
    Cobalt::new(&CobaltParameters::new(Limit::Packets(packets)))
}

/// A packet that came at this time.
fn packet(enqueued_s: f64, ecn: bool) -> QueueItem<usize> {
    QueueItem { ecn, ..item(0, 1000, enqueued_s, 0) }
}

/// Times of departures, and for each when the packets came that leave the queue then: one that is
/// sent, after one that is dropped where there are two.
const DEPARTURES: [(f64, &[f64]); 20] = [
    // 1 ms: below target.
    (0.001, &[0.0]),
    // 10 ms: the first drop is due an interval later, at 0.11.
    (0.010, &[0.0]),
    (0.109, &[0.0]),
    // The second after 0.1/sqrt 2, at 0.18071; the third after 0.1/sqrt 3, at 0.23845.
    (0.111, &[0.0, 0.0]),
    (0.180, &[0.0]),
    (0.181, &[0.0, 0.0]),
    (0.238, &[0.0]),
    (0.239, &[0.0, 0.0]),
    // Count is 4, and the next drop due after 0.1/2, at 0.28845. But the delay is short again:
    // count falls to 3, and will again after 0.1/sqrt 3, at 0.34618.
    (0.300, &[0.299]),
    (0.340, &[0.339]),
    // Before that the delay returns. CoDel would wait for an interval: here it is 0.1/sqrt 3.
    (0.345, &[0.3]),
    (0.402, &[0.3]),
    (0.403, &[0.3, 0.3]),
    // Count is 4, due at 0.45274. Falls to 3, at 0.51047 to 2, at 0.58118 to 1, at 0.68118 to 0.
    (0.600, &[0.599]),
    (0.690, &[0.689]),
    // All is forgotten: an interval until the first drop.
    (0.700, &[0.6]),
    (0.799, &[0.6]),
    (0.801, &[0.6, 0.6]),
    // The next at 0.8 + 0.1/sqrt 2 = 0.87071.
    (0.870, &[0.6]),
    (0.871, &[0.6, 0.6]),
];

#[test]
fn drops_come_faster_on_a_standing_queue_and_slow_down_without_one() {
    let mut queue = queue(1000);
    for enqueued_s in DEPARTURES.iter().flat_map(|(_, packets)| packets.iter()) {
        queue.enqueue(packet(*enqueued_s, false), &mut |_| panic!("not full"));
    }
    // The last packet is never dropped.
    queue.enqueue(packet(0.871, false), &mut |_| panic!("not full"));
    for (now_s, packets) in DEPARTURES {
        let mut dropped = 0;
        assert!(queue.dequeue(now_s, &mut |_| dropped += 1).is_some());
        assert_eq!(dropped + 1, packets.len(), "at {now_s} s");
    }
    assert_eq!(queue.packets(), 1);
}

#[test]
fn ect_packets_are_marked_where_others_are_dropped() {
    let mut queue = queue(1000);
    // One packet leaves each time: a mark takes no other.
    for (_, packets) in DEPARTURES {
        queue.enqueue(packet(packets[0], true), &mut |_| panic!("not full"));
    }
    for (now_s, packets) in DEPARTURES {
        let sent = queue.dequeue(now_s, &mut |_| panic!("ECT")).unwrap();
        assert_eq!(sent.marked, packets.len() == 2, "at {now_s} s");
    }
}

#[test]
fn the_last_packet_is_sent() {
    let mut queue = queue(1000);
    (0..4).for_each(|_| queue.enqueue(packet(0.0, false), &mut |_| panic!("not full")));
    // A drop is due at the fourth.
    for (now_s, _) in &DEPARTURES[..4] {
        assert!(queue.dequeue(*now_s, &mut |_| panic!("the last one")).is_some());
    }
    assert_eq!(queue.packets(), 0);
}

/// Packets of a short queue that leave until BLUE drops one, up to `most`.
fn until_blue_drops(queue: &mut Cobalt<usize>, from_s: f64, most: u32) -> Option<u32> {
    (1..=most).find(|number| {
        let now_s = from_s + f64::from(*number) * 1e-4;
        // Two packets stay, so that the queue is not found empty; ECT does not help.
        while queue.packets() < 3 {
            queue.enqueue(packet(now_s - 1e-4, true), &mut |_| panic!("not full"));
        }
        let mut has_dropped = false;
        queue.dequeue(now_s, &mut |_| has_dropped = true);
        has_dropped
    })
}

/// A queue of three packets that overflowed at these times; the head was dropped each time.
fn overflowed(times_s: &[f64]) -> Cobalt<usize> {
    let mut queue = queue(3);
    (0..3).for_each(|_| queue.enqueue(packet(times_s[0], true), &mut |_| panic!("not full")));
    for &now_s in times_s {
        let mut dropped = Vec::new();
        queue.enqueue(QueueItem { packet: 7, ..packet(now_s, true) }, &mut |item| {
            dropped.push(item.packet);
        });
        assert_eq!(dropped.len(), 1);
        assert_eq!(queue.packets(), 3);
    }
    queue
}

#[test]
fn a_full_buffer_drops_its_head_and_raises_blue_at_most_once_in_target() {
    // 1/256: the sum exceeds 1 at the 257th packet. Twice within 5 ms is once; later it is twice,
    // 2/256: at the 129th. The packets that overflowed are counted, too.
    assert_eq!(until_blue_drops(&mut overflowed(&[1.0]), 1.0, 1000), Some(257));
    assert_eq!(until_blue_drops(&mut overflowed(&[1.0, 1.004]), 1.004, 1000), Some(257));
    assert_eq!(until_blue_drops(&mut overflowed(&[1.0, 1.006]), 1.006, 1000), Some(129));
}

#[test]
fn an_empty_queue_lowers_blue_at_most_once_in_target() {
    // 1/256 is 16/4096: gone when the queue was found empty 16 times, 6 ms apart.
    let idle = |times: u32| {
        let mut queue = overflowed(&[1.0]);
        for number in 1..=times {
            let now_s = 1.0 + 0.006 * f64::from(number);
            while queue.dequeue(now_s, &mut |_| panic!("BLUE's sum is below 1")).is_some() {}
            queue.enqueue(packet(now_s, true), &mut |_| panic!("not full"));
        }
        queue
    };
    assert_eq!(until_blue_drops(&mut idle(16), 2.0, 10_000), None);
    assert!(until_blue_drops(&mut idle(15), 2.0, 10_000).is_some_and(|packets| packets > 3000));
}
