//! DualPI2: probabilities, ramp, scheduler and overload by hand.

mod support;

use cwndlab_queues::{DualPi2, DualPi2Parameters, Limit, QueueDisc, QueueItem};
use support::item;

/// `p'` grows by the delay at each update, every 0.1 s; L4S packets are not marked for their own
/// delay.
fn integrating() -> DualPi2Parameters {
    DualPi2Parameters {
        target_s: 0.0,
        update_s: 0.1,
        alpha: 1.0,
        beta: 0.0,
        threshold_s: 1e3,
        ..DualPi2Parameters::new(Limit::Packets(10_000))
    }
}

/// A queue with this number of classic and of L4S packets, which arrived at time 0.
fn filled(parameters: DualPi2Parameters, classic: usize, l4s: usize) -> DualPi2<usize> {
    let mut queue = DualPi2::new(&parameters);
    for number in 0..classic {
        queue.enqueue(item(0, 1000, 0.0, number), &mut |_| panic!("there is room"));
    }
    for number in 0..l4s {
        let packet = QueueItem { ecn: true, l4s: true, ..item(1, 1000, 0.0, number) };
        queue.enqueue(packet, &mut |_| panic!("there is room"));
    }
    queue
}

/// Flow, number and mark of the next packets, and the numbers of those that were dropped.
fn take(queue: &mut DualPi2<usize>, now_s: f64, count: usize) -> (Vec<(u32, bool)>, Vec<usize>) {
    let (mut sent, mut lost) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let packet = queue.dequeue(now_s, &mut |packet| lost.push(packet.packet));
        sent.extend(packet.map(|packet| (packet.flow, packet.marked)));
    }
    (sent, lost)
}

#[test]
fn classic_packets_are_dropped_with_the_square() {
    // Updates at 0.1 and 0.2 with a head that is 0.1 and 0.2 old: p' = 0.3, p_C = 0.09. The sum
    // exceeds 1 at packet 12 (1.08), then at 23 (0.08 + 0.99), 34 (0.07 + 0.99), 45.
    let mut queue = filled(integrating(), 1000, 0);
    let (_, lost) = take(&mut queue, 0.25, 40);
    assert!((queue.probability() - 0.3).abs() < 1e-12);
    assert_eq!(lost, [11, 22, 33]);
}

#[test]
fn l4s_packets_are_marked_with_the_multiple() {
    // p_CL = 2.1 x 0.3: sums 0.63, 1.26, 0.89, 1.52, 1.15, 0.78, 1.41, 1.04: a mark where they
    // exceed 1.
    let parameters = DualPi2Parameters { coupling: 2.1, ..integrating() };
    let mut queue = filled(parameters, 0, 1000);
    let (sent, lost) = take(&mut queue, 0.25, 8);
    let marks: Vec<bool> = sent.iter().map(|(_, marked)| *marked).collect();
    assert_eq!(marks, [false, true, false, true, true, false, true, true]);
    assert!(lost.is_empty());
}

#[test]
fn the_controller_follows_delay_and_its_change() {
    // alpha = 0.5, beta = 2, target 0.05, updates at 0.1, 0.2, 0.3 with delays 0.1, 0.2, 0.3:
    // 0.025 + 0.2 = 0.225; + 0.075 + 0.2 = 0.5; + 0.125 + 0.2 = 0.825.
    let parameters = DualPi2Parameters { target_s: 0.05, alpha: 0.5, beta: 2.0, ..integrating() };
    let mut queue = filled(parameters, 1000, 0);
    for (now_s, expected) in [(0.15, 0.225), (0.25, 0.5), (0.35, 0.825)] {
        take(&mut queue, now_s, 1);
        assert!((queue.probability() - expected).abs() < 1e-12, "{}", queue.probability());
    }
    // An empty queue has no delay: 0.825 - 0.025 - 2 x 0.3 at 0.4, then 0.025 less each time.
    while queue.packets() > 0 {
        take(&mut queue, 0.35, 1);
    }
    take(&mut queue, 0.45, 1);
    assert!((queue.probability() - 0.2).abs() < 1e-12, "{}", queue.probability());
    take(&mut queue, 0.65, 1);
    assert!((queue.probability() - 0.15).abs() < 1e-12, "{}", queue.probability());
    take(&mut queue, 1000.0, 1);
    assert_eq!(queue.probability(), 0.0);
}

#[test]
fn l4s_packets_are_marked_by_their_own_delay() {
    let marks = |range_s, now_s| {
        let parameters =
            DualPi2Parameters { threshold_s: 0.0008, range_s, alpha: 0.0, ..integrating() };
        let (sent, _) = take(&mut filled(parameters, 0, 1000), now_s, 100);
        sent.iter().filter(|(_, marked)| *marked).count()
    };
    // Half way up the ramp from 0.8 to 1.2 ms; the sum must exceed 1, which costs the first mark.
    assert_eq!([0.0008, 0.001, 0.0012].map(|now_s| marks(0.0004, now_s)), [0, 49, 99]);
    // A step.
    assert_eq!([0.000_79, 0.000_81].map(|now_s| marks(0.0, now_s)), [0, 99]);
}

#[test]
fn a_single_l4s_packet_is_not_marked_for_its_delay() {
    let parameters = DualPi2Parameters { threshold_s: 0.0, alpha: 0.0, ..integrating() };
    for waiting in [1, 2] {
        let mut queue = filled(parameters, 0, waiting);
        queue.dequeue(5.0, &mut |_| ());
        let second = queue.dequeue(5.0, &mut |_| ());
        assert!(second.is_none_or(|packet| !packet.marked));
    }
}

#[test]
fn classic_packets_get_their_share() {
    let parameters = DualPi2Parameters { alpha: 0.0, ..integrating() };
    // Credit of the C queue: (2/16 - 1) x 1000 bytes, each L4S packet adds 1000/16; 15 L4S packets
    // after the first bring it above 0, and a classic one takes 15000/16.
    let (sent, _) = take(&mut filled(parameters, 100, 1000), 0.05, 160);
    let classic: Vec<usize> = (0..160).filter(|i| sent[*i].0 == 0).collect();
    assert_eq!(classic, [15, 31, 47, 63, 79, 95, 111, 127, 143, 159]);
    // Alone, a queue has the link.
    let (sent, _) = take(&mut filled(parameters, 100, 0), 0.05, 100);
    assert_eq!(sent.len(), 100);
}

#[test]
fn overload_drops_packets_of_both_queues() {
    // p' = 0.6 after updates at 0.1, 0.2, 0.3: p_C = 0.36, p_CL = 1.2.
    let mut queue = filled(integrating(), 0, 1000);
    let (sent, lost) = take(&mut queue, 0.35, 100);
    assert!((queue.probability() - 0.6).abs() < 1e-12);
    // Of the packets that leave the queue 36 % are lost, and the others all marked but for the
    // first, at which the sum does not exceed 1 yet.
    let share = lost.len() as f64 / (sent.len() + lost.len()) as f64;
    assert!((share - 0.36).abs() < 0.02, "{share}");
    assert!(sent.iter().filter(|(_, marked)| !marked).count() <= 1, "{sent:?}");
    // ECT does not help a classic packet.
    let mut queue = DualPi2::new(&integrating());
    for number in 0..1000 {
        let packet = QueueItem { ecn: true, ..item(0, 1000, 0.0, number) };
        queue.enqueue(packet, &mut |_| panic!("there is room"));
    }
    let (sent, lost) = take(&mut queue, 0.35, 100);
    assert!(sent.iter().all(|(_, marked)| !marked) && lost.len() >= 50, "{lost:?}");
}

#[test]
fn both_queues_share_a_buffer_and_short_queues_lose_nothing() {
    let parameters = DualPi2Parameters { limit: Limit::Packets(5), ..integrating() };
    let mut queue = filled(parameters, 2, 3);
    let mut lost = Vec::new();
    queue.enqueue(item(0, 1000, 0.0, 9), &mut |packet| lost.push(packet.packet));
    assert_eq!(lost, [9]);
    // p' = 1 after a second: of five packets the first makes the sum 1, two exceed it, and the last
    // two are too few.
    let (sent, lost) = take(&mut filled(parameters, 5, 0), 1.05, 5);
    assert_eq!((sent.len(), lost), (3, vec![1, 2]));
}
