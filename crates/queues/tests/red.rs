//! RED: arithmetic by hand, and packet for packet what ns-2 does.

mod support;

use cwndlab_queues::{
    AdaptiveRed, Admission, ArrivingPacket, Backlog, Decision, Limit, Red, RedParameters, Weight,
};
use support::Link;

/// 8 Mbit/s and packets of 1000 bytes: a packet takes a millisecond.
fn parameters(limit: Limit, min: f64, max: f64, weight: f64) -> RedParameters {
    let weight = Weight::Fixed(weight);
    RedParameters {
        min_packets: Some(min),
        max_packets: Some(max),
        weight,
        ..RedParameters::new(limit, 8e6, 1000)
    }
}

/// A packet that finds so many waiting behind the one in service; a number drawn is this one.
fn meet(red: &mut Red, waiting: u64, ecn: bool, drawn: f64) -> Decision {
    let packet = ArrivingPacket { now_s: 1.0, size_bytes: 1000, flow: 0, ecn, priority: 1 };
    let backlog = Backlog {
        packets: waiting + 1,
        bytes: 1000 * (waiting + 1),
        in_service_bytes: 1000,
        ..Backlog::default()
    };
    red.admit(&packet, &backlog, &mut || drawn)
}

fn close(actual: f64, expected: f64) {
    assert!(
        (actual - expected).abs() <= 1e-12 * expected.abs().max(1.0),
        "{actual} is not {expected}"
    );
}

#[test]
fn the_average_by_hand() {
    let mut red = Red::new(&parameters(Limit::Packets(100), 50.0, 60.0, 0.25));
    // 0.75 * 0 + 0.25 * 4 = 1; 0.75 * 1 + 0.25 * 8 = 2.75; 0.75 * 2.75 + 0 = 2.0625.
    for (waiting, average) in [(4, 1.0), (8, 2.75), (0, 2.0625)] {
        meet(&mut red, waiting, false, 0.5);
        close(red.average(), average);
    }
    // Idle from 1 s to 1.0035 s at 1000 packets per second: three steps and the arrival's own,
    // 2.0625 * 0.75^4 = 0.652587890625.
    let packet =
        ArrivingPacket { now_s: 1.0035, size_bytes: 1000, flow: 0, ecn: false, priority: 1 };
    red.admit(&packet, &Backlog { idle_since_s: 1.0, ..Backlog::default() }, &mut || 0.5);
    close(red.average(), 0.652_587_890_625);
}

#[test]
fn a_long_idle_time_leaves_nothing() {
    let mut red = Red::new(&parameters(Limit::Packets(100), 50.0, 60.0, 0.002));
    for _ in 0..1000 {
        meet(&mut red, 40, false, 0.5);
    }
    assert!(red.average() > 30.0);
    // 10 s are 10,000 packets: 40 (1 - 0.998^1000) * 0.998^10001 = 34.6 * 2.0e-9.
    let packet = ArrivingPacket { now_s: 11.0, size_bytes: 1000, flow: 0, ecn: false, priority: 1 };
    red.admit(&packet, &Backlog { idle_since_s: 1.0, ..Backlog::default() }, &mut || 0.5);
    assert!((6.9e-8..7.1e-8).contains(&red.average()), "{}", red.average());
}

/// A RED queue whose average is this, with the packet that crosses `min` behind it.
fn standing_at(waiting: u64, parameters: RedParameters) -> Red {
    let mut red = Red::new(&parameters);
    assert_eq!(
        meet(&mut red, waiting, false, 0.0),
        Decision::Accept,
        "the first above min is spared"
    );
    close(red.average(), waiting as f64);
    red
}

/// How far from the last drop the next one comes, if a draw below ssthresh drops.
fn first_loss(red: &mut Red, waiting: u64, drawn: f64) -> usize {
    1 + (0..1000).take_while(|_| meet(red, waiting, false, drawn) == Decision::Accept).count()
}

#[test]
fn probabilities_by_hand() {
    // Weight 1 makes the average what waits. min 5, max 15, max_p 0.1: at 10, pb = 0.1 * 5/10 =
    // 0.05.
    let at_10 = || {
        standing_at(
            10,
            RedParameters { wait: false, ..parameters(Limit::Packets(100), 5.0, 15.0, 1.0) },
        )
    };
    // The packet that crossed counts as one. The n-th: 0.05 / (1 - 0.05 n); n = 2: 1/18 = 0.0556, n
    // = 3: 1/17 = 0.0588, ... n = 10: 0.1.
    assert_eq!(first_loss(&mut at_10(), 10, 0.0555), 1);
    assert_eq!(first_loss(&mut at_10(), 10, 0.0556), 2);
    assert_eq!(first_loss(&mut at_10(), 10, 0.0999), 9);
    // n = 19: 0.05 / (1 - 0.95) = 1, the 18th after the one that crossed.
    assert_eq!(first_loss(&mut at_10(), 10, 0.999_999), 18);
    // With wait: none before n pb = 1, n = 20: then 0.05 / (2 - 1) = 0.05, ... and n = 39: 0.05 /
    // (2 - 1.95) = 1.
    let waiting = || standing_at(10, parameters(Limit::Packets(100), 5.0, 15.0, 1.0));
    assert_eq!(first_loss(&mut waiting(), 10, 1e-9), 19);
    assert_eq!(first_loss(&mut waiting(), 10, 0.999_999), 38);
    // After a drop the count starts from 0: 20 further arrivals, not 19.
    let mut red = waiting();
    assert_eq!((first_loss(&mut red, 10, 1e-9), first_loss(&mut red, 10, 1e-9)), (19, 20));
}

#[test]
fn beyond_max() {
    // Not gentle: 15 and more drops all. Gentle at 22: (1 - 0.1)/15 * 22 + 2 * 0.1 - 1 = 0.52; the
    // second packet: 0.52/(1 - 1.04) is certain.
    let parameters =
        RedParameters { wait: false, ..parameters(Limit::Packets(100), 5.0, 15.0, 1.0) };
    let mut plain = standing_at(14, RedParameters { gentle: false, ..parameters });
    assert_eq!(meet(&mut plain, 15, true, 0.999), Decision::Drop);
    let mut gentle = standing_at(22, RedParameters { bytes: true, ..parameters });
    // In byte mode a packet of 1000 bytes counts as the same one: certain too.
    assert_eq!(meet(&mut gentle, 22, true, 0.999_999), Decision::Drop);
    // The first after that drop: n = 1, 0.52 / 0.48 is certain again; with wait, 0 below n pb = 1,
    // then n = 2: 0.52 / (2 - 1.04) = 0.5417.
    let mut waits = standing_at(22, RedParameters { wait: true, ..parameters });
    assert_eq!(meet(&mut waits, 22, false, 0.5418), Decision::Accept);
    let mut waits = standing_at(22, RedParameters { wait: true, ..parameters });
    assert_eq!(meet(&mut waits, 22, false, 0.5416), Decision::Drop);
    assert_eq!(meet(&mut waits, 30, false, 0.999), Decision::Drop, "from 2 max on, all");
}

#[test]
fn marks() {
    let ecn = RedParameters {
        ecn: true,
        wait: false,
        max_p: 0.5,
        ..parameters(Limit::Packets(12), 5.0, 15.0, 1.0)
    };
    // At 7: pb = 0.5 * 2/10 = 0.1. Those that can be marked are, the others are dropped.
    assert_eq!(meet(&mut standing_at(7, ecn), 7, true, 0.0), Decision::Mark);
    assert_eq!(meet(&mut standing_at(7, ecn), 7, false, 0.0), Decision::Drop);
    // From mark_p on they are dropped as well.
    let lost = RedParameters { mark_p: Some(0.0999), ..ecn };
    assert_eq!(meet(&mut standing_at(7, lost), 7, true, 0.0), Decision::Drop);
    let marked = RedParameters { mark_p: Some(0.1001), ..ecn };
    assert_eq!(meet(&mut standing_at(7, marked), 7, true, 0.0), Decision::Mark);
    // A full buffer drops what was to be marked.
    assert_eq!(meet(&mut standing_at(7, ecn), 12, true, 0.0), Decision::Drop);
}

#[test]
fn automatic_values() {
    // 80 Mbit/s and packets of 1000 bytes: 10,000 packets a second, 50 in the target delay of 5 ms.
    // min is 25, max 75.
    let mut red = Red::new(&RedParameters {
        weight: Weight::Fixed(1.0),
        ..RedParameters::new(Limit::Packets(1000), 80e6, 1000)
    });
    assert!((0..100).all(|_| meet(&mut red, 24, false, 0.0) == Decision::Accept));
    assert_eq!(meet(&mut red, 26, false, 0.0), Decision::Accept);
    assert!((0..2000).any(|_| meet(&mut red, 26, false, 0.0) == Decision::Drop));
    assert_eq!(meet(&mut red, 150, false, 0.99), Decision::Drop);
    // 1 - exp(-1/1000) = 1/1000 - 1/2e6 + 1/6e9 ...
    assert!((Weight::Automatic.value(1000.0) - 0.000_999_500_166_625).abs() < 1e-15);
    // A delay of 99 ms and a packet of 1 ms: R = 0.3 s, 1 - exp(-1/3000).
    assert!(
        (Weight::AutomaticWithDelay { delay_s: 0.099 }.value(1000.0) - 0.000_333_277_784).abs()
            < 1e-12
    );
    assert_eq!(
        Weight::AutomaticWithDelay { delay_s: 0.01 }.value(1000.0),
        Weight::Automatic.value(1000.0)
    );
    assert!((Weight::AutomaticFast.value(1000.0) - 0.009_950_166_250_8).abs() < 1e-12);
}

#[test]
fn adaptation_by_hand() {
    // Between 4 and 14 the target is 8 to 10. Below: 0.1 * 0.9 = 0.09, once in more than half a
    // second.
    let adaptive = RedParameters {
        adaptive: Some(AdaptiveRed::default()),
        ..parameters(Limit::Packets(100), 4.0, 14.0, 1.0)
    };
    let mut red = Red::new(&adaptive);
    let mut at = |now_s: f64, waiting: u64| {
        let packet = ArrivingPacket { now_s, size_bytes: 1000, flow: 0, ecn: false, priority: 1 };
        let backlog = Backlog {
            packets: waiting + 1,
            bytes: 1000 * (waiting + 1),
            in_service_bytes: 1000,
            ..Backlog::default()
        };
        red.admit(&packet, &backlog, &mut || 0.5);
        red.max_p()
    };
    close(at(0.5, 7), 0.1);
    close(at(0.6, 7), 0.09);
    close(at(1.0, 7), 0.09);
    close(at(1.2, 8), 0.09);
    close(at(1.3, 10), 0.09);
    // Above: by 0.01, or a quarter if that is less.
    close(at(1.4, 11), 0.1);
    let mut low = Red::new(&RedParameters { max_p: 0.02, ..adaptive });
    let packet = ArrivingPacket { now_s: 1.0, size_bytes: 1000, flow: 0, ecn: false, priority: 1 };
    low.admit(
        &packet,
        &Backlog { packets: 21, bytes: 21_000, in_service_bytes: 1000, ..Backlog::default() },
        &mut || 0.5,
    );
    close(low.max_p(), 0.025);
}

/// ns-2's run of a file under `tests/ns2`, against ours: each arrival's fate, the average and
/// `max_p`. Returns how many were dropped.
fn against_ns2(text: &str, parameters: &RedParameters) -> usize {
    let mut uniforms =
        include_str!("ns2/uniforms.txt").lines().map(|line| line.parse::<f64>().unwrap());
    let mut random = || uniforms.next().unwrap();
    let mut link = Link::new(Red::new(parameters), parameters.rate_bit_s);
    let mut losses = 0;
    for (number, line) in text.lines().filter(|line| !line.starts_with('#')).enumerate() {
        let fields: Vec<&str> = line.split(' ').collect();
        let [time, size, lost, average, max_p] = fields[..] else { panic!("{line}") };
        let decision =
            link.arrive(time.parse().unwrap(), size.parse().unwrap(), false, 1, &mut random);
        assert_eq!(decision == Decision::Drop, lost == "1", "arrival {number}: {line}");
        losses += usize::from(decision == Decision::Drop);
        // ns prints six digits.
        for (ours, theirs) in [(link.rule.average(), average), (link.rule.max_p(), max_p)] {
            let theirs: f64 = theirs.parse().unwrap();
            assert!((ours - theirs).abs() <= 6e-6 * theirs, "arrival {number}: {ours}, {line}");
        }
    }
    losses
}

#[test]
fn packet_for_packet_as_ns2() {
    let with = |limit, min, max, weight| parameters(Limit::Packets(limit), min, max, weight);
    let classic = RedParameters { gentle: false, ..with(40, 5.0, 15.0, 0.02) };
    let gentle = with(40, 3.0, 8.0, 0.02);
    let no_wait = RedParameters { wait: false, max_p: 1.0 / 20.0, ..with(25, 2.0, 12.0, 0.05) };
    let bytes =
        RedParameters { bytes: true, gentle: false, max_p: 1.0 / 5.0, ..with(20, 3.0, 9.0, 0.02) };
    let in_bytes = RedParameters {
        bytes: true,
        queue_in_bytes: true,
        max_p: 1.0 / 5.0,
        ..with(14, 3.0, 9.0, 0.02)
    };
    let mark_p = RedParameters { gentle: false, mark_p: Some(0.1), ..with(20, 3.0, 6.0, 0.05) };
    let adaptive = RedParameters {
        adaptive: Some(AdaptiveRed { interval_s: 0.05, ..AdaptiveRed::default() }),
        ..with(60, 4.0, 12.0, 0.05)
    };
    let automatic = RedParameters {
        weight: Weight::AutomaticWithDelay { delay_s: 0.01 },
        ..RedParameters::new(Limit::Packets(60), 8e5, 1000)
    };
    let files = [
        (include_str!("ns2/red-classic.txt"), classic),
        (include_str!("ns2/red-gentle.txt"), gentle),
        (include_str!("ns2/red-nowait.txt"), no_wait),
        (include_str!("ns2/red-bytes.txt"), bytes),
        (include_str!("ns2/red-inbytes.txt"), in_bytes),
        (include_str!("ns2/red-markp.txt"), mark_p),
        (include_str!("ns2/red-adaptive.txt"), adaptive),
        (include_str!("ns2/red-automatic.txt"), automatic),
    ];
    for (text, parameters) in files {
        let losses = against_ns2(text, &parameters);
        assert!(losses >= 8, "{losses} losses compare little: {parameters:?}");
    }
}
