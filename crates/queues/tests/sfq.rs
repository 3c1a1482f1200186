//! SFQ by hand: turns, drops from the longest queue at its tail or head, and the change of the
//! hash.

mod support;

use cwndlab_queues::{Limit, QueueDisc, QueueItem, Sfq, SfqParameters};
use support::item;

/// Enqueues packets of these flows, numbered from 0; returns the numbers of those that were
/// dropped.
fn fill(queue: &mut Sfq<usize>, flows: &[u32]) -> Vec<usize> {
    let mut dropped = Vec::new();
    for (number, &flow) in flows.iter().enumerate() {
        queue.enqueue(item(flow, 1000, 0.0, number), &mut |lost| dropped.push(lost.packet));
    }
    dropped
}

fn drain(queue: &mut Sfq<usize>, now_s: f64) -> Vec<QueueItem<usize>> {
    std::iter::from_fn(|| queue.dequeue(now_s, &mut |_| panic!("nothing is dropped"))).collect()
}

fn numbers(items: &[QueueItem<usize>]) -> Vec<usize> {
    items.iter().map(|item| item.packet).collect()
}

#[test]
fn queues_take_turns_of_a_quantum() {
    // Two packets of 1000 bytes use up 1500: the second makes a debt of 500, so that the next turn
    // has 1000, one packet; then 1500 again.
    let mut queue = Sfq::new(&SfqParameters::new(Limit::Packets(100), 1500));
    assert_eq!(fill(&mut queue, &[0, 0, 0, 0, 0, 1, 1, 1, 1, 1]), []);
    let flows: Vec<u32> = drain(&mut queue, 0.0).iter().map(|item| item.flow).collect();
    assert_eq!(flows, [0, 0, 1, 1, 0, 1, 0, 0, 1, 1]);
}

#[test]
fn the_longest_queue_drops_at_its_tail_or_at_its_head() {
    // Flow 0 has three of the four packets when that of flow 1 comes, and drops number 2 or 0.
    let parameters = SfqParameters::new(Limit::Packets(3), 1000);
    for (head_drop, lost, left) in [(false, 2, [0, 3, 1]), (true, 0, [1, 3, 2])] {
        let mut queue = Sfq::new(&SfqParameters { head_drop, ..parameters });
        assert_eq!(fill(&mut queue, &[0, 0, 0, 1]), [lost]);
        assert_eq!((queue.packets(), queue.bytes()), (3, 3000));
        assert_eq!(numbers(&drain(&mut queue, 0.0)), left);
    }
}

#[test]
fn a_queue_has_a_limit_of_its_own() {
    let parameters = SfqParameters {
        flow_limit: Limit::Packets(2),
        ..SfqParameters::new(Limit::Packets(100), 1000)
    };
    let mut tail = Sfq::new(&parameters);
    assert_eq!(fill(&mut tail, &[0, 0, 0, 1, 0]), [2, 4]);
    let mut head = Sfq::new(&SfqParameters { head_drop: true, ..parameters });
    assert_eq!(fill(&mut head, &[0, 0, 0, 1, 0]), [0, 1]);
    assert_eq!(numbers(&drain(&mut head, 0.0)), [2, 3, 4]);
}

#[test]
fn flows_that_share_a_queue_part_when_the_hash_changes() {
    // 5 flows in 2 buckets share them in some way; over 40 hashes a pair of flows shares one in
    // about a half.
    let parameters = SfqParameters {
        buckets: 2,
        perturb_s: Some(1.0),
        ..SfqParameters::new(Limit::Packets(100), 1000)
    };
    let mut queue = Sfq::new(&parameters);
    let mut apart = 0;
    for second in 0..40 {
        let now_s = f64::from(second) + 0.5;
        for (number, flow) in [0, 0, 1, 1].into_iter().enumerate() {
            queue.enqueue(item(flow, 1000, now_s, number), &mut |_| panic!("not full"));
        }
        // One queue sends in order of arrival, two take turns.
        match numbers(&drain(&mut queue, now_s))[..] {
            [0, 1, 2, 3] => {}
            [0, 2, 1, 3] => apart += 1,
            ref other => panic!("{other:?}"),
        }
    }
    // A binomial of 40 and 0.5 is within 20 +- 12 but for 1 in 10,000.
    assert!((8..=32).contains(&apart), "{apart}");
}

#[test]
fn packets_that_wait_move_in_order_when_the_hash_changes() {
    let parameters = SfqParameters {
        buckets: 7,
        perturb_s: Some(1.0),
        ..SfqParameters::new(Limit::Packets(1000), 1000)
    };
    let mut queue = Sfq::new(&parameters);
    let flows: Vec<u32> = (0..100).map(|number| number % 9).collect();
    assert_eq!(fill(&mut queue, &flows), []);
    let mut last = [None; 9];
    let mut sent = 0;
    // A packet each 0.3 s: the hash changes thirty times on the way.
    while let Some(item) = queue.dequeue(0.3 * f64::from(sent), &mut |_| panic!("not full")) {
        assert!(last[item.flow as usize] < Some(item.packet));
        last[item.flow as usize] = Some(item.packet);
        sent += 1;
    }
    assert_eq!(sent, 100);
}

#[test]
fn shares_are_equal_whatever_the_sizes_of_packets() {
    // Standing queues of flows whose packets have 100 to 1500 bytes: each gets a fifth of the
    // bytes.
    let mut queue = Sfq::new(&SfqParameters {
        flow_limit: Limit::Packets(100_000),
        ..SfqParameters::new(Limit::Packets(100_000), 1500)
    });
    let sizes = [100, 300, 700, 1000, 1500];
    for number in 0..15_000 {
        for (flow, &size_bytes) in sizes.iter().enumerate() {
            queue.enqueue(item(flow as u32, size_bytes, 0.0, number), &mut |_| panic!("not full"));
        }
    }
    let mut bytes = [0u64; 5];
    while bytes.iter().sum::<u64>() < 5_000_000 {
        let item = queue.dequeue(0.0, &mut |_| ()).expect("a standing queue");
        bytes[item.flow as usize] += u64::from(item.size_bytes);
    }
    // No two differ by more than a quantum and a packet (Shreedhar and Varghese 1995, theorem 1).
    let (least, most) = (bytes.iter().min().unwrap(), bytes.iter().max().unwrap());
    assert!(most - least <= 3000, "{bytes:?}");
}
