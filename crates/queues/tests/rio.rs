//! RIO: two averages and two curves by hand, and protection of what is in profile.

mod support;

use cwndlab_queues::{
    Admission, ArrivingPacket, Backlog, Decision, DepartedPacket, Limit, Rio, RioParameters, Weight,
};
use support::Link;

/// 8 Mbit/s, packets of 1000 bytes. Weight 1 makes averages what waits.
fn parameters() -> RioParameters {
    RioParameters {
        min_packets: Some(2.0),
        max_packets: Some(6.0),
        in_min_packets: Some(4.0),
        in_max_packets: Some(8.0),
        max_p: 0.5,
        in_max_p: 0.5,
        weight: Weight::Fixed(1.0),
        gentle: false,
        wait: false,
        ..RioParameters::new(Limit::Packets(10), 8e6, 1000)
    }
}

/// A queue in which a burst of so many in-packets and then out-packets has arrived, none dropped:
/// numbers drawn are 1.
fn burst(parameters: &RioParameters, inside: usize, outside: usize) -> Link<Rio> {
    let mut link = Link::new(Rio::new(parameters), 8e6);
    for number in 0..inside + outside {
        link.arrive(0.0, 1000, true, u8::from(number >= inside), &mut || 1.0);
    }
    link
}

#[test]
fn averages_by_hand() {
    let mut rio = Rio::new(&RioParameters { weight: Weight::Fixed(0.5), ..parameters() });
    let mut at = |priority: u8, packets: u64, in_service_priority: u8| {
        let packet = ArrivingPacket { now_s: 1.0, size_bytes: 1000, flow: 0, ecn: false, priority };
        let backlog = Backlog {
            packets,
            bytes: 1000 * packets,
            in_service_bytes: 1000,
            in_service_priority,
            ..Backlog::default()
        };
        assert_ne!(rio.admit(&packet, &backlog, &mut || 1.0), Decision::Drop);
        (rio.average(), rio.in_average())
    };
    // In-packets that the queue has seen: none, one (in service), one waiting behind an out-packet.
    assert_eq!(at(0, 1, 1), (0.0, 0.0));
    // One in-packet waits: all 0.5 * 1; in 0.5 * 1.
    assert_eq!(at(0, 2, 1), (0.5, 0.5));
    // An out-packet samples only the average of all: 0.5 * 0.5 + 0.5 * 2.
    assert_eq!(at(1, 3, 1), (1.25, 0.5));
    // The out-packet in service has left and the first in-packet is in service: one in-packet waits
    // of two.
    assert_eq!(at(0, 3, 0), (1.625, 0.75));
    // Two have left: one in-packet in service, none waits. 0.5 * 1.625 + 0.5 * 1; 0.5 * 0.75.
    rio.on_departure(
        &DepartedPacket { tx_end_s: 1.0, tx_start_s: 1.0, size_bytes: 1000, priority: 0 },
        &Backlog::default(),
    );
    rio.on_departure(
        &DepartedPacket { tx_end_s: 1.0, tx_start_s: 1.0, size_bytes: 1000, priority: 0 },
        &Backlog::default(),
    );
    let packet = ArrivingPacket { now_s: 1.0, size_bytes: 1000, flow: 0, ecn: false, priority: 0 };
    let backlog = Backlog {
        packets: 2,
        bytes: 2000,
        in_service_bytes: 1000,
        in_service_priority: 0,
        ..Backlog::default()
    };
    rio.admit(&packet, &backlog, &mut || 1.0);
    assert_eq!((rio.average(), rio.in_average()), (1.3125, 0.375));
    // Idle for 2.5 ms, two packets: both decay, 0.25 on top of the sample's own half; an out-packet
    // takes no sample of in-packets.
    let packet =
        ArrivingPacket { now_s: 2.0025, size_bytes: 1000, flow: 0, ecn: false, priority: 1 };
    rio.admit(&packet, &Backlog { idle_since_s: 2.0, ..Backlog::default() }, &mut || 1.0);
    assert_eq!((rio.average(), rio.in_average()), (0.164_062_5, 0.093_75));
}

#[test]
fn packets_out_of_profile_suffer_first() {
    // One in service and three waiting, all out; the last of them met two, min, and was the first.
    // Now pb = 0.5 * (3 - 2)/4 = 0.125 and n = 2: 0.125/(1 - 0.25) = 1/6.
    let mut link = burst(&parameters(), 0, 4);
    assert_eq!(link.arrive(0.0, 1000, false, 1, &mut || 0.167), Decision::Accept);
    // Four wait: pb = 0.25, n = 3: 0.25/(1 - 0.75) = 1.
    assert_eq!(link.arrive(0.0, 1000, false, 1, &mut || 0.99), Decision::Drop);
    // No in-packet waits; it does not care.
    assert_eq!(link.arrive(0.0, 1000, false, 0, &mut || 0.0), Decision::Accept);
    // Six in all: no out-packet gets in, an in-packet does.
    assert_eq!(link.arrive(0.0, 1000, false, 0, &mut || 0.0), Decision::Accept);
    assert_eq!(link.arrive(0.0, 1000, true, 1, &mut || 0.99), Decision::Drop);
}

#[test]
fn packets_in_profile_have_their_own_curve() {
    // Six in-packets, five of them waiting: in_min 4, in_max 8; the sixth met 4 and was the first.
    // Now pb = 0.5 * 1/4, n = 2: 1/6.
    let all = RioParameters { min_packets: Some(100.0), max_packets: Some(200.0), ..parameters() };
    assert_eq!(burst(&all, 6, 0).arrive(0.0, 1000, false, 0, &mut || 0.167), Decision::Accept);
    assert_eq!(burst(&all, 6, 0).arrive(0.0, 1000, false, 0, &mut || 0.166), Decision::Drop);
    let marks = RioParameters { ecn: true, ..all };
    assert_eq!(burst(&marks, 6, 0).arrive(0.0, 1000, true, 0, &mut || 0.166), Decision::Mark);
    assert_eq!(burst(&marks, 6, 0).arrive(0.0, 1000, false, 0, &mut || 0.166), Decision::Drop);
    // Out-packets in front of them do not count.
    assert_eq!(burst(&marks, 5, 4).arrive(0.0, 1000, true, 0, &mut || 0.0), Decision::Accept);
    // A full buffer, one in service and ten waiting, takes nothing.
    let mut full = burst(&all, 1, 10);
    assert_eq!(
        (full.queue.len(), full.arrive(0.0, 1000, true, 0, &mut || 1.0)),
        (11, Decision::Drop)
    );
    assert_eq!(full.arrive(0.0, 1000, true, 1, &mut || 1.0), Decision::Drop);
}

#[test]
fn out_of_profile_as_drop_tail() {
    let drop_tail = RioParameters {
        out_drop_tail: true,
        in_min_packets: Some(100.0),
        in_max_packets: Some(200.0),
        ..parameters()
    };
    let mut link = burst(&drop_tail, 0, 30);
    // Ten wait and one is in service; no draw could drop one before.
    assert_eq!(link.queue.len(), 11);
    // In-packets get in as long as fewer than ten of them wait.
    for number in 0..12 {
        let expected = if number < 10 { Decision::Accept } else { Decision::Drop };
        assert_eq!(link.arrive(0.0, 1000, false, 0, &mut || 0.0), expected, "{number}");
    }
    assert_eq!(link.queue.len(), 21);
    // Out-packets only once all but nine have left: 12 ms later, one in service and nine waiting.
    link.advance(0.011_5);
    assert_eq!(
        link.arrive(0.011_5, 1000, false, 1, &mut || 0.0),
        Decision::Accept,
        "{}",
        link.queue.len()
    );
    assert_eq!(link.arrive(0.011_5, 1000, false, 1, &mut || 0.0), Decision::Drop);
}

#[test]
fn in_packets_packet_for_packet_as_ns2() {
    // Alone, because ns-2 leaves the average of all as it is when an out-packet arrives. The
    // numbers ns-2 draws are known.
    let parameters = RioParameters {
        min_packets: Some(5.0),
        max_packets: Some(15.0),
        in_min_packets: Some(3.0),
        in_max_packets: Some(9.0),
        in_max_p: 0.1,
        weight: Weight::Fixed(0.02),
        wait: true,
        limit: Limit::Packets(12),
        ..parameters()
    };
    let mut uniforms =
        include_str!("ns2/uniforms.txt").lines().map(|line| line.parse::<f64>().unwrap());
    let mut random = || uniforms.next().unwrap();
    let mut link = Link::new(Rio::new(&parameters), 8e6);
    let mut losses = 0;
    for line in include_str!("ns2/rio-in.txt").lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split(' ').collect();
        let [time, size, lost, average, in_average] = fields[..] else { panic!("{line}") };
        let decision =
            link.arrive(time.parse().unwrap(), size.parse().unwrap(), false, 0, &mut random);
        assert_eq!(decision == Decision::Drop, lost == "1", "{line}");
        losses += usize::from(decision == Decision::Drop);
        for (ours, theirs) in [(link.rule.average(), average), (link.rule.in_average(), in_average)]
        {
            let theirs: f64 = theirs.parse().unwrap();
            assert!((ours - theirs).abs() <= 6e-6 * theirs, "{ours}, {line}");
        }
    }
    assert!(losses > 30);
}

#[test]
fn what_is_in_profile_passes_an_overload_of_the_rest() {
    // 400 in-packets and 1000 out-packets a second at a link for 1000, automatic values: only
    // out-packets are dropped, 400 in 1000.
    let mut random = support::random();
    let mut link = Link::new(Rio::new(&RioParameters::new(Limit::Packets(100), 8e6, 1000)), 8e6);
    let (mut lost, mut arrived) = ([0u32; 2], [0u32; 2]);
    let mut draw = support::random();
    for number in 0..200_000u32 {
        let priority = u8::from(draw() > 400.0 / 1400.0);
        let decision = link.arrive(f64::from(number) / 1400.0, 1000, false, priority, &mut random);
        if number > 20_000 {
            arrived[usize::from(priority)] += 1;
            lost[usize::from(priority)] += u32::from(decision == Decision::Drop);
        }
    }
    assert_eq!(lost[0], 0);
    let loss = f64::from(lost[1]) / f64::from(arrived[1]);
    assert!((0.38..0.42).contains(&loss), "{loss}");
}
