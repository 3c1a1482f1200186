//! PIE: its steps by hand, and the delay and drop that it settles at.

mod support;

use cwndlab_queues::{
    Admission, ArrivingPacket, Backlog, Decision, DepartedPacket, Limit, Pie, PieParameters,
};
use support::Link;

/// 8 Mbit/s: a megabyte a second. No burst allowance.
fn parameters() -> PieParameters {
    PieParameters { burst_s: 0.0, ..PieParameters::new(Limit::Packets(1000), 8e6, 1000) }
}

/// So many packets of 1000 bytes waiting behind one in service: as many milliseconds of delay.
fn waiting(packets: u64) -> Backlog {
    Backlog {
        packets: packets + 1,
        bytes: 1000 * (packets + 1),
        in_service_bytes: 1000,
        ..Backlog::default()
    }
}

fn close(actual: f64, expected: f64) {
    assert!((actual - expected).abs() <= 1e-9 * expected.abs(), "{actual} is not {expected}");
}

fn meet(pie: &mut Pie, packets: u64, ecn: bool, drawn: f64) -> Decision {
    let arrival = ArrivingPacket { now_s: 1.0, size_bytes: 1000, flow: 0, ecn, priority: 1 };
    pie.admit(&arrival, &waiting(packets), &mut || drawn)
}

#[test]
fn steps_by_hand() {
    let mut pie = Pie::new(&parameters());
    let mut after = |packets| {
        pie.on_update(0.0, &waiting(packets));
        pie.probability()
    };
    // 40 ms from 0: (0.125 * 0.025 + 1.25 * 0.04) / 2048 = 0.053125 / 2048.
    close(after(40), 2.593_994_140_625e-5);
    // 40 ms again: 0.003125 / 128 = 2.44140625e-5, three times, and a fourth that passes 1e-4.
    close(after(40), 5.035_400_390_625e-5);
    after(40);
    after(40);
    close(after(40), 1.235_961_914_062_5e-4);
    // From there 0.003125 / 32 = 9.765625e-5; nine take it past 1e-3.
    close(after(40), 2.212_524_414_062_5e-4);
    for _ in 0..8 {
        after(40);
    }
    // 1.235961914e-4 + 9 * 9.765625e-5 = 1.002502441e-3; then 0.003125 / 8 = 3.90625e-4.
    close(after(40), 1.393_127_441_406_25e-3);
    // Down: to 20 ms, (0.125 * 0.005 - 1.25 * 0.02) / 8 = -0.003046875: it stops at 0.
    assert_eq!(after(20), 0.0);
}

#[test]
fn large_probabilities() {
    let mut pie = Pie::new(&parameters());
    // The delay goes up by 0.5 s each time: (0.125 * (d - 0.015) + 1.25 * 0.5) / 2048, ... until it
    // is past 0.1.
    let mut packets = 0;
    while pie.probability() < 0.1 {
        packets += 500;
        pie.on_update(0.0, &waiting(packets));
    }
    // The next would add more than 0.6 and adds 0.02 (section 5.5).
    let before = pie.probability();
    pie.on_update(0.0, &waiting(packets + 500));
    close(pie.probability(), before + 0.02);
    // With 0.2 or more it drops even at small delays, but never when at most two packets wait.
    while pie.probability() < 0.25 {
        packets += 500;
        pie.on_update(0.0, &waiting(packets));
    }
    assert_eq!(meet(&mut pie, 3, true, 0.2), Decision::Drop);
    assert_eq!(meet(&mut pie, 3, true, 0.9), Decision::Accept);
    assert_eq!(meet(&mut pie, 2, false, 0.0), Decision::Accept);
    assert_eq!(meet(&mut pie, 1000, true, 0.9), Decision::Drop, "a full buffer");
}

#[test]
fn an_idle_queue_forgets_by_a_fiftieth() {
    // Only the distance counts, from a target of 0: 40 ms give 0.04 / 2048; with none the
    // probability stands still.
    let mut pie = Pie::new(&PieParameters { target_s: 0.0, alpha: 1.0, beta: 0.0, ..parameters() });
    pie.on_update(0.0, &waiting(40));
    pie.on_update(0.0, &waiting(0));
    close(pie.probability(), 1.953_125e-5);
    // Two updates without delay: 0.98 of it, and 0.98 again.
    pie.on_update(0.0, &waiting(0));
    close(pie.probability(), 1.914_062_5e-5);
    pie.on_update(0.0, &waiting(0));
    close(pie.probability(), 1.875_781_25e-5);
}

#[test]
fn safeguards_and_marks() {
    let mut pie = Pie::new(&PieParameters { ecn: true, mark_p: 0.001, ..parameters() });
    pie.on_update(0.0, &waiting(40));
    // p is 2.6e-5.
    assert_eq!(meet(&mut pie, 40, true, 2.5e-5), Decision::Mark);
    assert_eq!(meet(&mut pie, 40, false, 2.5e-5), Decision::Drop);
    assert_eq!(meet(&mut pie, 40, true, 2.6e-5), Decision::Accept);
    // From mark_p on, dropped.
    while pie.probability() < 0.002 {
        pie.on_update(0.0, &waiting(40));
    }
    assert_eq!(meet(&mut pie, 40, true, 0.001_5), Decision::Drop);
    // The last update saw less than half the target, 7 ms, and p is below 0.2: nothing is dropped,
    // whatever waits now.
    let mut quiet = Pie::new(&PieParameters { alpha: 0.0, beta: 10.0, ..parameters() });
    quiet.on_update(0.0, &waiting(7));
    assert!(quiet.probability() > 0.0);
    assert_eq!(meet(&mut quiet, 40, false, 0.0), Decision::Accept);
    quiet.on_update(0.0, &waiting(8));
    assert_eq!(meet(&mut quiet, 40, false, 0.0), Decision::Drop);
}

#[test]
fn a_burst_passes() {
    // 150 ms are ten updates of 15 ms.
    let mut pie = Pie::new(&PieParameters { burst_s: 0.15, ..parameters() });
    for _ in 0..9 {
        pie.on_update(0.0, &waiting(100));
        assert!(pie.probability() > 0.0);
        assert_eq!(meet(&mut pie, 100, false, 0.0), Decision::Accept);
    }
    pie.on_update(0.0, &waiting(100));
    assert_eq!(meet(&mut pie, 100, false, 0.0), Decision::Drop);
    // Once p is 0 and two delays are below half the target there is room for another.
    while pie.probability() > 0.0 {
        pie.on_update(0.0, &waiting(0));
    }
    pie.on_update(0.0, &waiting(0));
    pie.on_update(0.0, &waiting(100));
    assert_eq!(meet(&mut pie, 100, false, 0.0), Decision::Accept);
}

#[test]
fn the_departure_rate_is_measured() {
    let mut pie = Pie::new(&parameters());
    assert_eq!(pie.departure_rate_bit_s(), 8e6);
    let mut now_s = 0.0;
    let mut depart = |pie: &mut Pie, packets: u64, packet_s: f64, behind: u64| {
        for _ in 0..packets {
            let since_s = now_s;
            now_s += packet_s;
            let backlog = Backlog {
                packets: behind,
                bytes: 1000 * behind,
                in_service_bytes: 1000,
                ..Backlog::default()
            };
            pie.on_departure(
                &DepartedPacket {
                    tx_end_s: now_s,
                    tx_start_s: since_s,
                    size_bytes: 1000,
                    priority: 1,
                },
                &backlog,
            );
        }
    };
    // With 16 packets behind there are not 2^14 bytes: nothing is measured.
    depart(&mut pie, 100, 0.002, 16);
    assert_eq!(pie.departure_rate_bit_s(), 8e6);
    // 17 packets at 4 Mbit/s are a measurement; 2^14 bytes take 32.768 ms.
    depart(&mut pie, 16, 0.002, 50);
    assert_eq!(pie.departure_rate_bit_s(), 8e6);
    depart(&mut pie, 1, 0.002, 50);
    close(pie.departure_rate_bit_s(), 4e6);
    // 17 more at 2 Mbit/s: 0.75 * 32.768 + 0.25 * 65.536 = 40.96 ms, which is 3.2 Mbit/s.
    depart(&mut pie, 17, 0.004, 50);
    close(pie.departure_rate_bit_s(), 3.2e6);
}

#[test]
fn it_settles_where_losses_match_the_load() {
    // 1250 packets a second arrive at a link for 1000, however many are dropped: a quarter too
    // many, so a fifth has to go; the delay is the target.
    let mut random = support::random();
    let mut link = Link::new(Pie::new(&PieParameters::new(Limit::Packets(1000), 8e6, 1000)), 8e6);
    let (mut lost, mut delay_s) = (0, 0.0);
    let (settled, end) = (50_000u32, 150_000u32);
    for number in 0..end {
        let decision = link.arrive(f64::from(number) / 1250.0 + 1e-7, 1000, false, 1, &mut random);
        if number >= settled {
            lost += u32::from(decision == Decision::Drop);
            delay_s += link.backlog().waiting_bytes() as f64 / 1e6;
        }
    }
    let (loss, delay_s) =
        (f64::from(lost) / f64::from(end - settled), delay_s / f64::from(end - settled));
    assert!((0.19..0.21).contains(&loss), "{loss}");
    assert!((0.013..0.017).contains(&delay_s), "{delay_s}");
    assert!((link.rule.departure_rate_bit_s() - 8e6).abs() < 1.0);
}
