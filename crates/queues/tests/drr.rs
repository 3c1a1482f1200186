//! Deficit round robin: what ns-2 does packet for packet, the paper's fair shares, and the longest
//! queue's drops.

mod support;

use cwndlab_queues::{Drr, DrrParameters, Limit, QueueDisc};
use support::item;

/// Replays ns-2's own trace: arrivals and departures as they came, every drop and every packet sent
/// as ns-2 had them.
fn against_ns2(text: &str, parameters: &DrrParameters) {
    let mut drr = Drr::new(parameters);
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let mut expected_losses = Vec::new();
    let mut losses = Vec::new();
    for line in &lines {
        let fields: Vec<&str> = line.split(' ').collect();
        let number: usize = fields[1].parse().unwrap();
        match fields[0] {
            "+" => {
                assert_eq!(losses, expected_losses, "before {line}");
                let packet =
                    item(fields[2].parse().unwrap(), fields[3].parse().unwrap(), 0.0, number);
                drr.enqueue(packet, &mut |lost| losses.push(lost.packet));
            }
            "-" => {
                let sent = drr.dequeue(0.0, &mut |_| panic!("DRR loses nothing at a departure"));
                assert_eq!(sent.map(|sent| sent.packet), Some(number), "at {line}");
            }
            _ => expected_losses.push(number),
        }
    }
    assert_eq!(losses, expected_losses);
    assert!(losses.len() > 30, "{} losses compare little", losses.len());
}

#[test]
fn packet_for_packet_as_ns2() {
    against_ns2(
        include_str!("ns2/drr-two-equal.txt"),
        &DrrParameters::new(Limit::Bytes(8000), 1000),
    );
    against_ns2(
        include_str!("ns2/drr-two-unequal.txt"),
        &DrrParameters::new(Limit::Bytes(9000), 500),
    );
    against_ns2(include_str!("ns2/drr-five.txt"), &DrrParameters::new(Limit::Bytes(12_000), 700));
}

#[test]
fn rounds_by_hand() {
    // After the example of the paper's figures 2 and 3: quantum 500; queue 0 holds 20, 750, 200;
    // queue 1 500, 500; queue 2 200, 600, 100.
    let mut drr = Drr::new(&DrrParameters::new(Limit::Packets(100), 500));
    for (flow, sizes) in [(0, vec![20, 750, 200]), (1, vec![500, 500]), (2, vec![200, 600, 100])] {
        for size in sizes {
            drr.enqueue(item(flow, size, 0.0, 0), &mut |_| panic!("there is room"));
        }
    }
    let mut sent = Vec::new();
    while let Some(packet) = drr.dequeue(0.0, &mut |_| ()) {
        sent.push((packet.flow, packet.size_bytes));
    }
    // Round 1: 20 (480 left, 750 has to wait); 500; 200 (300 left). Round 2: 980 sends 750 and 200;
    // 500; 800 sends 600 and 100.
    assert_eq!(
        sent,
        [(0, 20), (1, 500), (2, 200), (0, 750), (0, 200), (1, 500), (2, 600), (2, 100)]
    );
}

#[test]
fn overflow_that_empties_a_queue_does_not_end_its_turn() {
    let mut drr = Drr::new(&DrrParameters::new(Limit::Bytes(1200), 500));
    let mut losses = Vec::new();
    let mut enqueue = |drr: &mut Drr<usize>, flow, size| {
        drr.enqueue(item(flow, size, 0.0, 0), &mut |lost| {
            losses.push((lost.flow, lost.size_bytes))
        });
    };
    enqueue(&mut drr, 0, 300);
    enqueue(&mut drr, 0, 900);
    // Flow 0 has its turn, and 200 of the quantum left.
    assert_eq!(drr.dequeue(0.0, &mut |_| ()).map(|packet| packet.size_bytes), Some(300));
    enqueue(&mut drr, 1, 400);
    // Its 900 are dropped; 100 come back in its unfinished turn without a deficit.
    enqueue(&mut drr, 0, 100);
    enqueue(&mut drr, 2, 100);
    assert_eq!(losses, [(0, 900)]);
    let sent = std::iter::from_fn(|| drr.dequeue(0.0, &mut |_| ())).map(|packet| packet.flow);
    assert_eq!(sent.collect::<Vec<_>>(), [1, 2, 0]);
}

#[test]
fn flows_share_bytes_whatever_their_packets() {
    // Both always have something to send; one sends 100 bytes at a time, the other 1500.
    let mut drr = Drr::new(&DrrParameters::new(Limit::Packets(1000), 700));
    let mut sent = [0u64; 2];
    for flow in [0, 1] {
        for _ in 0..30 {
            drr.enqueue(item(flow, [100, 1500][flow as usize], 0.0, 0), &mut |_| {
                panic!("there is room")
            });
        }
    }
    for _ in 0..20_000 {
        let packet = drr.dequeue(0.0, &mut |_| ()).unwrap();
        sent[packet.flow as usize] += u64::from(packet.size_bytes);
        drr.enqueue(packet, &mut |_| panic!("there is room"));
        // The paper's fairness theorem: flows that always wait differ by at most a quantum and the
        // largest packets.
        assert!(sent[0].abs_diff(sent[1]) <= 700 + 2 * 1500, "{sent:?}");
    }
}

#[test]
fn the_longest_queue_drops_its_head() {
    let mut drr = Drr::new(&DrrParameters::new(Limit::Bytes(5000), 1000));
    let mut losses = Vec::new();
    // Flow 1 has the most packets, flow 0 the most bytes; 7 from 2^31 on is as good a number as
    // any.
    let arrivals =
        [(0, 1500), (0, 1500), (1, 100), (1, 100), (1, 100), (1, 100), (7 | 1 << 31, 1500)];
    for (number, (flow, size)) in arrivals.into_iter().enumerate() {
        drr.enqueue(item(flow, size, 0.0, number), &mut |lost| losses.push(lost.packet));
    }
    assert!(losses.is_empty());
    assert_eq!((drr.packets(), drr.bytes(), drr.active_queues()), (7, 4900, 3));
    // 5001 bytes: flow 0's 3000 are the most; its first packet goes, though the arriving one is
    // flow 1's.
    drr.enqueue(item(1, 101, 0.0, 7), &mut |lost| losses.push(lost.packet));
    assert_eq!(losses, [0]);
    // Now flow 0 and the large number have 1500 each; flow 0's turn comes first.
    drr.enqueue(item(1, 899, 0.0, 8), &mut |lost| losses.push(lost.packet));
    drr.enqueue(item(2, 1500, 0.0, 9), &mut |lost| losses.push(lost.packet));
    assert_eq!(losses, [0, 1]);
}

#[test]
fn a_flow_limit_drops_the_tail() {
    let mut drr = Drr::new(&DrrParameters {
        flow_limit: Some(Limit::Packets(2)),
        ..DrrParameters::new(Limit::Packets(5), 1000)
    });
    let mut losses = Vec::new();
    for (number, flow) in [0, 0, 0, 1, 2, 2, 3].into_iter().enumerate() {
        drr.enqueue(item(flow, 1000, 0.0, number), &mut |lost| losses.push(lost.packet));
    }
    // The third of flow 0 finds two. The last is the sixth in all, and the first of the longest
    // queues, flow 0's, drops its head.
    assert_eq!(losses, [2, 0]);
}

#[test]
fn buckets_are_shared_by_number() {
    let mut drr = Drr::new(&DrrParameters {
        buckets: Some(2),
        ..DrrParameters::new(Limit::Packets(100), 1000)
    });
    for flow in [0, 2, 4, 1] {
        drr.enqueue(item(flow, 1000, 0.0, 0), &mut |_| panic!("there is room"));
    }
    assert_eq!(drr.active_queues(), 2);
    let sent: Vec<u32> =
        std::iter::from_fn(|| drr.dequeue(0.0, &mut |_| ())).map(|sent| sent.flow).collect();
    assert_eq!(sent, [0, 1, 2, 4]);
}

#[test]
fn a_thousand_flows_in_overload() {
    // Three arrivals for each departure: everyone gets through alike, and no more queues exist than
    // flows that wait.
    let flows = 1500u32;
    let mut drr = Drr::new(&DrrParameters::new(Limit::Packets(3000), 1000));
    let mut sent = vec![0u32; flows as usize];
    let mut lost = 0u64;
    let mut random = support::random();
    for number in 0..600_000 {
        let flow = (random() * f64::from(flows)) as u32;
        drr.enqueue(item(1 << 31 | flow, 1000, 0.0, number), &mut |_| lost += 1);
        if number % 3 == 0 {
            let packet = drr.dequeue(0.0, &mut |_| ()).unwrap();
            sent[(packet.flow ^ 1 << 31) as usize] += 1;
        }
    }
    assert_eq!(
        lost + drr.packets() + sent.iter().map(|&sent| u64::from(sent)).sum::<u64>(),
        600_000
    );
    // 200,000 over 1500 is 133.3; a flow's turn comes once in at most 1500 departures.
    assert!(
        sent.iter().all(|sent| (120..=145).contains(sent)),
        "{:?}",
        (sent.iter().min(), sent.iter().max())
    );
}
