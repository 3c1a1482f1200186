//! FQ-CoDel: sparse flows first, fair shares, the fattest flow's drops, and what is remembered of a
//! flow.

mod support;

use cwndlab_queues::{FqCoDel, FqCoDelParameters, Limit, QueueDisc};
use support::item;

fn parameters() -> FqCoDelParameters {
    FqCoDelParameters::new(Limit::Packets(1000), 1514)
}

#[test]
fn a_sparse_flow_passes_standing_queues() {
    let mut queue = FqCoDel::new(&parameters());
    for number in 0..60 {
        queue.enqueue(item(number % 3, 1500, 0.0, 0), &mut |_| panic!("there is room"));
    }
    // Three flows have had their turn as new ones; from now on they are old.
    for _ in 0..10 {
        queue.dequeue(0.001, &mut |_| ());
    }
    for round in 0..5 {
        // A small packet every few: it is the next to leave each time, because its queue is new
        // again.
        queue.enqueue(item(99, 100, 0.002, 0), &mut |_| panic!("there is room"));
        let sent = queue.dequeue(0.002, &mut |_| ()).unwrap();
        assert_eq!(sent.flow, 99, "round {round}");
        for _ in 0..6 {
            assert_ne!(queue.dequeue(0.002, &mut |_| ()).unwrap().flow, 99);
        }
    }
}

#[test]
fn turns_by_hand() {
    // Quantum 1000. A new queue may send while it has credit: 600 and 600 end at -200, so it goes
    // to the old list with 800.
    let mut queue = FqCoDel::new(&FqCoDelParameters { quantum_bytes: 1000, ..parameters() });
    for (number, flow) in [0, 0, 0, 0, 1, 1].into_iter().enumerate() {
        queue.enqueue(item(flow, 600, 0.0, number), &mut |_| panic!("there is room"));
    }
    let mut sent = Vec::new();
    while let Some(packet) = queue.dequeue(0.0, &mut |_| ()) {
        sent.push(packet.packet);
        if sent.len() == 3 {
            // A third flow in the middle of the second's first turn comes after it: the new list is
            // in order of arrival.
            queue.enqueue(item(2, 600, 0.0, 6), &mut |_| panic!("there is room"));
        }
    }
    assert_eq!(sent, [0, 1, 4, 5, 6, 2, 3]);
}

#[test]
fn flows_share_bytes_whatever_their_packets() {
    let mut queue = FqCoDel::new(&parameters());
    let mut sent = [0u64; 2];
    for flow in [0, 1] {
        for _ in 0..40 {
            queue.enqueue(item(flow, [200, 1500][flow as usize], 0.0, 0), &mut |_| {
                panic!("there is room")
            });
        }
    }
    for _ in 0..20_000 {
        let packet = queue.dequeue(0.0, &mut |_| ()).unwrap();
        sent[packet.flow as usize] += u64::from(packet.size_bytes);
        queue.enqueue(packet, &mut |_| panic!("there is room"));
        assert!(sent[0].abs_diff(sent[1]) <= 2 * (1514 + 1500), "{sent:?}");
    }
}

#[test]
fn the_longest_flow_queue_drops_its_head() {
    let mut queue = FqCoDel::new(&FqCoDelParameters { limit: Limit::Packets(5), ..parameters() });
    let mut losses = Vec::new();
    for (number, (flow, size)) in
        [(0, 1500), (0, 1500), (1, 500), (1, 500), (1, 500), (2, 100)].into_iter().enumerate()
    {
        queue.enqueue(item(flow, size, 0.0, number), &mut |lost| losses.push(lost.packet));
    }
    // The sixth packet is one too many; flow 0 has 3000 bytes, more than flow 1 with more packets.
    assert_eq!(losses, [0]);
    assert_eq!((queue.packets(), queue.bytes()), (5, 3100));
}

#[test]
fn each_flow_is_controlled_by_itself() {
    // Flow 0 keeps a standing queue of 30 ms, flow 1 sends a packet now and then: only flow 0
    // drops.
    let mut queue = FqCoDel::new(&parameters());
    let mut losses = Vec::new();
    for millisecond in 0..600u32 {
        let now_s = f64::from(millisecond) / 1000.0;
        while queue.packets() < 30 {
            queue.enqueue(item(0, 1000, now_s - 0.03, 0), &mut |_| panic!("there is room"));
        }
        if millisecond % 10 == 0 {
            queue.enqueue(item(1, 1000, now_s, 0), &mut |_| panic!("there is room"));
        }
        queue.dequeue(now_s, &mut |lost| losses.push(lost.flow));
    }
    assert!(losses.len() > 5 && losses.iter().all(|&flow| flow == 0), "{losses:?}");
}

#[test]
fn a_flow_is_remembered_as_long_as_it_matters() {
    // A hundred thousand flows, one after the other, one packet each, 1 ms apart: in 17 intervals
    // of 100 ms there are 1700.
    let mut queue = FqCoDel::new(&parameters());
    for flow in 0..100_000u32 {
        let now_s = f64::from(flow) / 1000.0;
        queue.enqueue(item(flow.wrapping_mul(40_503), 1000, now_s, 0), &mut |_| {
            panic!("there is room")
        });
        assert!(queue.dequeue(now_s, &mut |_| ()).is_some());
        assert!(queue.dequeue(now_s, &mut |_| ()).is_none());
    }
    assert!((1600..=1710).contains(&queue.queues_in_memory()), "{}", queue.queues_in_memory());
    // With buckets there are never more queues than those.
    let mut shared = FqCoDel::new(&FqCoDelParameters { buckets: Some(64), ..parameters() });
    for flow in 0..1000u32 {
        shared.enqueue(item(flow, 1000, 0.0, 0), &mut |_| ());
    }
    assert_eq!(shared.queues_in_memory(), 64);
}
