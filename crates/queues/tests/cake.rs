//! CAKE by hand: shares of hosts and flows, the shaper and its overhead, drops of a full buffer,
//! and the set-associative hash.

mod support;

use cwndlab_queues::{
    Cake, CakeParameters, FlowHosts, FlowIsolation, Framing, Limit, QueueDisc, QueueItem,
};
use support::item;

fn parameters() -> CakeParameters {
    // An interval beyond all tests: COBALT drops nothing.
    CakeParameters { interval_s: 1e6, ..CakeParameters::new(Limit::Packets(100_000), 1000) }
}

/// Packets that each flow gets to send of so many, while all of them have standing queues.
fn shares<const N: usize>(parameters: &CakeParameters, sends: usize) -> [usize; N] {
    let mut queue = Cake::new(parameters);
    for number in 0..sends {
        for flow in 0..N as u32 {
            queue.enqueue(item(flow, 1000, 0.0, number), &mut |_| panic!("not full"));
        }
    }
    let mut counts = [0; N];
    for _ in 0..sends {
        counts[queue.dequeue(0.0, &mut |_| ()).expect("a standing queue").flow as usize] += 1;
    }
    counts
}

#[test]
fn a_host_with_eight_flows_gets_what_a_host_with_one_gets() {
    // Flows 0 to 7 come from host 0, flow 8 from host 1; all go to hosts of their own.
    let mut hosts = FlowHosts::default();
    hosts.insert(0..8, [Some(0), None]);
    hosts.insert(8..9, [Some(1), None]);
    let with = |isolation| {
        let parameters = CakeParameters { isolation, hosts: hosts.clone(), ..parameters() };
        shares::<9>(&parameters, 1440)
    };
    // A ninth each, where hosts do not matter: 160 packets.
    for isolation in [FlowIsolation::Flows, FlowIsolation::DualDestination] {
        assert!(with(isolation).iter().all(|&count| count.abs_diff(160) <= 1));
    }
    // A half for the second host, 720 packets, and 90 for each flow of the first.
    for isolation in [FlowIsolation::DualSource, FlowIsolation::TripleIsolate] {
        let counts = with(isolation);
        assert!(counts[8].abs_diff(720) <= 8, "{counts:?}");
        assert!(counts[..8].iter().all(|&count| count.abs_diff(90) <= 1), "{counts:?}");
    }
}

#[test]
fn triple_isolation_looks_at_the_side_with_more_flows() {
    // Flows 0 and 1 have one source, flows 2, 3 and 4 one destination, flow 5 neither: quanta of a
    // half, a third and a whole, which are 3 x 2, 2 x 3 and 6 of 18 sixths.
    let mut hosts = FlowHosts::default();
    hosts.insert(0..2, [Some(0), None]);
    hosts.insert(2..5, [None, Some(0)]);
    let counts = shares::<6>(&CakeParameters { hosts, ..parameters() }, 1800);
    for (count, expected) in counts.iter().zip([300, 300, 200, 200, 200, 600]) {
        assert!(count.abs_diff(expected) <= 6, "{counts:?}");
    }
}

#[test]
fn a_host_regains_its_share_when_its_other_flows_fall_silent() {
    let mut hosts = FlowHosts::default();
    hosts.insert(0..8, [Some(0), None]);
    let mut queue = Cake::new(&CakeParameters { hosts, ..parameters() });
    // Seven flows of the host send a packet each, flow 0 and flow 8 (another host) stand.
    for flow in (1..8).chain([0, 8].repeat(200)) {
        queue.enqueue(item(flow, 1000, 0.0, 0), &mut |_| panic!("not full"));
    }
    let flows: Vec<u32> = (0..407).map(|_| queue.dequeue(0.0, &mut |_| ()).unwrap().flow).collect();
    // Once the seven are gone, two hosts with a flow each take turns.
    let late = &flows[100..300];
    assert_eq!(late.iter().filter(|&&flow| flow == 0).count(), 100);
}

#[test]
fn the_shaper_counts_overhead_and_cells() {
    // 1000 bytes and 40 of overhead are 22 cells of 53 bytes, 1166 bytes: 9.328 ms at 1 Mbit/s.
    // 40 bytes and 40 are at least 100: 3 cells, 1.272 ms.
    let mut queue = Cake::new(&CakeParameters {
        bandwidth_bit_s: Some(1e6),
        overhead_bytes: 40,
        mpu_bytes: 100,
        framing: Framing::Atm,
        ..parameters()
    });
    let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
    queue.enqueue(item(0, 1000, 5.0, 0), &mut |_| ());
    queue.enqueue(item(0, 40, 5.0, 1), &mut |_| ());
    queue.enqueue(item(0, 40, 5.0, 2), &mut |_| ());
    assert!(queue.ready_s() == 5.0 && queue.dequeue(5.0, &mut |_| ()).is_some());
    assert!(near(queue.ready_s(), 5.009_328));
    assert!(queue.dequeue(5.009, &mut |_| ()).is_none());
    // The link takes the second one late: the third catches up.
    assert!(queue.dequeue(5.0095, &mut |_| ()).is_some());
    assert!(near(queue.ready_s(), 5.0106));
    assert!(queue.dequeue(5.0106, &mut |_| ()).is_some());
    // An idle time buys no burst.
    queue.enqueue(item(0, 1000, 6.0, 3), &mut |_| ());
    assert_eq!(queue.ready_s(), 6.0);
}

#[test]
fn a_full_buffer_drops_the_head_of_the_longest_queue() {
    let mut queue = Cake::new(&CakeParameters { limit: Limit::Packets(4), ..parameters() });
    let mut dropped = Vec::new();
    for (number, flow) in [0, 0, 0, 1, 1].into_iter().enumerate() {
        queue.enqueue(item(flow, 1000, 0.0, number), &mut |lost| dropped.push(lost.packet));
    }
    assert_eq!(dropped, [0]);
    assert_eq!((queue.packets(), queue.bytes()), (4, 4000));
}

#[test]
fn each_queue_has_its_own_cobalt() {
    // 5 ms and 100 ms. Flow 0 has stood for 0.2 s, flow 1 has just come.
    let mut queue = Cake::new(&CakeParameters::new(Limit::Packets(1000), 1000));
    for number in 0..10 {
        let ect = QueueItem { ecn: true, ..item(0, 1000, 0.0, number) };
        queue.enqueue(ect, &mut |_| panic!("not full"));
    }
    let next = |queue: &mut Cake<usize>, now_s| {
        let item = queue.dequeue(now_s, &mut |_| panic!("marked instead")).unwrap();
        (item.flow, item.marked)
    };
    // 50 ms are above the target, from when on the first mark is due an interval later: at 0.15.
    assert_eq!(next(&mut queue, 0.05), (0, false));
    assert_eq!(next(&mut queue, 0.16), (0, true));
    queue.enqueue(QueueItem { ecn: true, ..item(1, 1000, 0.2, 0) }, &mut |_| ());
    queue.enqueue(QueueItem { ecn: true, ..item(1, 1000, 0.2, 1) }, &mut |_| ());
    assert_eq!(next(&mut queue, 0.3), (1, false));
}

#[test]
fn flows_up_to_the_number_of_queues_seldom_share_one() {
    // 500 flows in 1024 queues. By a plain hash 500 - 1024 (1 - (1 - 1/1024)^500) = 104 of them
    // meet another one's queue; in sets of eight (mean 3.9 flows) a ninth flow of a set is rare:
    // about 4 sets of 128, by Poisson's distribution.
    let mut queue = Cake::new(&parameters());
    for flow in 0..500 {
        for number in 0..2 {
            queue.enqueue(item(flow, 1000, 0.0, number), &mut |_| panic!("not full"));
        }
    }
    // In the first round each queue sends one packet: flows that share one are missing.
    let mut sent = std::collections::BTreeSet::new();
    while sent.insert(queue.dequeue(0.0, &mut |_| ()).unwrap().flow) {}
    assert!(sent.len() >= 480, "{}", sent.len());
}
