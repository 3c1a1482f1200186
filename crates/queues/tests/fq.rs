//! FQ by hand: credits of new flows, limits, pacing by the largest rate, and marks.

mod support;

use cwndlab_queues::{CeThreshold, Fq, FqParameters, Limit, QueueDisc, QueueItem};
use support::item;

fn parameters() -> FqParameters {
    FqParameters::new(Limit::Packets(1000), 1000)
}

fn fill(queue: &mut Fq<usize>, flow: u32, packets: usize, now_s: f64) -> usize {
    let mut dropped = 0;
    for number in 0..packets {
        queue.enqueue(item(flow, 1000, now_s, number), &mut |_| dropped += 1);
    }
    dropped
}

fn flow(queue: &mut Fq<usize>, now_s: f64) -> Option<u32> {
    queue.dequeue(now_s, &mut |_| panic!("drops at arrival only")).map(|item| item.flow)
}

#[test]
fn a_new_flow_sends_ten_packets_then_two_per_turn() {
    let mut queue = Fq::new(&parameters());
    fill(&mut queue, 0, 20, 0.0);
    // Flow 0 has used its initial ten, and two turns.
    assert!((0..14).all(|_| flow(&mut queue, 0.0) == Some(0)));
    fill(&mut queue, 1, 14, 0.0);
    let flows: Vec<u32> = std::iter::from_fn(|| flow(&mut queue, 0.0)).collect();
    // Without credits a flow gets a quantum and waits for its turn: flow 1 joins the old flows with
    // one, behind flow 0, which has none.
    let expected = [[1; 12].as_slice(), &[0, 0, 1, 1, 0, 0, 0, 0]].concat();
    assert_eq!(flows, expected);
}

#[test]
fn arriving_packets_are_dropped_at_both_limits() {
    let limits = FqParameters { flow_limit: Limit::Packets(3), ..parameters() };
    let mut queue = Fq::new(&FqParameters { limit: Limit::Packets(5), ..limits });
    assert_eq!(fill(&mut queue, 0, 4, 0.0), 1); // flow_limit
    assert_eq!(fill(&mut queue, 1, 3, 0.0), 1); // limit
    assert_eq!((queue.packets(), queue.bytes()), (5, 5000));
    // Of each flow the first packets are left.
    let mut last = [None; 2];
    while let Some(item) = queue.dequeue(0.0, &mut |_| ()) {
        last[item.flow as usize] = Some(item.packet);
    }
    assert_eq!(last, [Some(2), Some(1)]);
}

#[test]
fn a_flow_sends_no_faster_than_the_largest_rate() {
    // At 8 Mbit/s 1000 bytes take 1 ms.
    let mut queue = Fq::new(&FqParameters { max_rate_bit_s: Some(8e6), ..parameters() });
    fill(&mut queue, 0, 3, 0.0);
    assert_eq!(flow(&mut queue, 0.0), Some(0));
    assert_eq!((flow(&mut queue, 0.0), queue.ready_s(), queue.packets()), (None, 0.001, 2));
    // Another flow does not wait.
    fill(&mut queue, 1, 1, 0.0004);
    assert!(queue.ready_s() <= 0.0004);
    assert_eq!(flow(&mut queue, 0.0004), Some(1));
    assert_eq!((flow(&mut queue, 0.0009), queue.ready_s()), (None, 0.001));
    // A packet that leaves late delays the next: the rate is the largest, not the mean.
    assert_eq!(flow(&mut queue, 0.0015), Some(0));
    assert_eq!((flow(&mut queue, 0.002), queue.ready_s()), (None, 0.0025));
    assert_eq!(flow(&mut queue, 0.0025), Some(0));
    // A flow that comes back early waits too.
    assert_eq!((flow(&mut queue, 0.003), queue.ready_s()), (None, f64::INFINITY));
    fill(&mut queue, 0, 1, 0.0031);
    assert_eq!((flow(&mut queue, 0.0031), queue.ready_s()), (None, 0.0035));
}

#[test]
fn a_wait_above_the_threshold_is_marked_but_not_pacing() {
    let ce_threshold = Some(CeThreshold { sojourn_s: 0.002, only_l4s: false });
    let mut queue =
        Fq::new(&FqParameters { max_rate_bit_s: Some(8e5), ce_threshold, ..parameters() });
    let ect = |flow| QueueItem { ecn: true, ..item(flow, 1000, 0.0, 0) };
    for flow in [0, 0, 1, 2] {
        queue.enqueue(ect(flow), &mut |_| panic!("not full"));
    }
    queue.enqueue(item(3, 1000, 0.0, 0), &mut |_| panic!("not full"));
    let marks = [0.0, 0.001, 0.003, 0.003].map(|now_s| queue.dequeue(now_s, &mut |_| ()).unwrap());
    // Flow 2 waits for 3 ms; so does flow 3, which is not ECN-capable.
    let marks = marks.map(|item| (item.flow, item.marked));
    assert_eq!(marks, [(0, false), (1, false), (2, true), (3, false)]);
    // The second packet of flow 0 was held back for 10 ms, at 0.8 Mbit/s, and waits for 1 ms more.
    assert!(!queue.dequeue(0.011, &mut |_| ()).unwrap().marked);
}

#[test]
fn a_flow_is_forgotten_after_three_seconds() {
    let mut queue = Fq::new(&parameters());
    for number in 0..1000u32 {
        let now_s = f64::from(number);
        fill(&mut queue, number, 1, now_s);
        assert_eq!(flow(&mut queue, now_s), Some(number));
        assert_eq!(flow(&mut queue, now_s), None);
    }
    assert!(queue.flows_in_memory() <= 5, "{}", queue.flows_in_memory());
    // Within that time a flow keeps what it owes: it has used 9 of 10 packets, not one.
    let mut queue = Fq::new(&FqParameters { quantum_bytes: 1000, ..parameters() });
    fill(&mut queue, 0, 9, 0.0);
    while flow(&mut queue, 0.0).is_some() {}
    fill(&mut queue, 0, 3, 1.0);
    fill(&mut queue, 1, 1, 1.0);
    assert_eq!([(); 3].map(|()| flow(&mut queue, 1.0)), [Some(0), Some(1), Some(0)]);
}
