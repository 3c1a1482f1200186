//! The emulator without a clock: rates over a course, limits, marks, and that no packet and no buffer is lost.

use cwndlab_emulator::{Emulator, Meta, Ready, Segment};
use cwndlab_sim::scenario::Scenario;
use proptest::prelude::*;

fn emulator(dumbbell: &str) -> Emulator {
    let text = format!(
        "duration = \"100s\"\n[dumbbell]\ndelay = \"10ms\"\nback_rate = \"unlimited\"\n{dumbbell}\n[[flows]]\ncount = 2\nrule = \"AIMD(1, 0.5)\"\n"
    );
    Emulator::new(&Scenario::from_toml(&text).unwrap(), 2000)
}

fn data(flow: u32, number: u32, size_bytes: u16, capable: bool) -> Meta {
    let payload_bytes = u32::from(size_bytes) - 40;
    let segment =
        Segment { sequence: 1 + number * 10_000, payload_bytes, opens: false, acknowledges: None };
    Meta { flow, size_bytes, capable, marked: false, segment: Some(segment) }
}

/// A packet with its number in the first bytes.
fn send(emulator: &mut Emulator, now_s: f64, number: u32, meta: Meta) {
    let token = emulator.take().unwrap();
    emulator.buffer(token)[..4].copy_from_slice(&number.to_be_bytes());
    assert!(emulator.arrive(now_s, token, usize::from(meta.size_bytes), false, meta));
}

/// What has arrived by `now_s`: number, and the rest.
fn arrived(emulator: &mut Emulator, now_s: f64) -> Vec<(u32, Ready)> {
    let mut all = Vec::new();
    while let Some(ready) = emulator.release(now_s) {
        let number = u32::from_be_bytes(emulator.buffer(ready.token)[..4].try_into().unwrap());
        emulator.give_back(ready.token);
        all.push((number, ready));
    }
    all
}

#[test]
fn packets_leave_at_the_rate_of_the_course() {
    // 1250 bytes are 10 ms at 1 Mbit/s, 1 ms at 10 Mbit/s. The rate changes every 100 ms, low first: 10 packets, then 100, then 10, ...
    let mut emulator = emulator(
        "rate = { kind = \"square\", high = \"1Mbit\", low = \"10Mbit\", every = \"100ms\" }\nqueue = { kind = \"drop-tail\", limit = \"1000pkt\" }",
    );
    (0..220).for_each(|number| send(&mut emulator, 0.0, number, data(0, number, 1250, false)));
    let all = arrived(&mut emulator, 10.0);
    assert_eq!(
        all.iter().map(|(number, _)| *number).collect::<Vec<_>>(),
        (0..220).collect::<Vec<_>>()
    );
    let mut expected_s = 0.01;
    for (number, ready) in all {
        expected_s += if (number / 10) % 11 == 0 { 0.01 } else { 0.001 };
        assert!(
            (ready.due_s - expected_s).abs() < 1e-9,
            "{number}: {} instead of {expected_s}",
            ready.due_s
        );
    }
}

#[test]
fn nothing_is_early_and_the_next_moment_is_told() {
    let mut emulator =
        emulator("rate = \"1Mbit\"\nqueue = { kind = \"drop-tail\", limit = \"10pkt\" }");
    assert_eq!(emulator.next_due_s(), f64::INFINITY);
    send(&mut emulator, 0.5, 7, data(0, 0, 1250, false));
    assert!((emulator.next_due_s() - 0.52).abs() < 1e-12);
    assert!(arrived(&mut emulator, 0.519_999).is_empty());
    let all = arrived(&mut emulator, 0.520_001);
    assert_eq!((all[0].0, all[0].1.length, all[0].1.back, all[0].1.mark), (7, 1250, false, false));
}

#[test]
fn queues_hold_so_many_packets_or_bytes() {
    // One in service and so many waiting; packets of 500 bytes.
    for (limit, held) in [
        ("{ kind = \"drop-tail\", limit = \"10pkt\", count_in_service = false }", 11),
        ("{ kind = \"drop-tail\", limit = \"2500B\", count_in_service = false }", 6),
    ] {
        let mut emulator = emulator(&format!("rate = \"1Mbit\"\nqueue = {limit}"));
        (0..50).for_each(|number| send(&mut emulator, 1.0, number, data(1, number, 500, false)));
        assert_eq!(arrived(&mut emulator, 50.0).len(), held, "{limit}");
        let book = &emulator.books()[1];
        assert_eq!(
            (book.total.sent, book.total.arrived, book.total.dropped),
            (50, held as u64, 50 - held as u64)
        );
    }
}

#[test]
fn capable_packets_are_marked_and_others_lost() {
    // Four packets of 8 ms at first, then one every 8 ms: the queue is between the thresholds.
    let queue = r#"{ kind = "red", limit = "200pkt", min = "2pkt", max = "6pkt", weight = 1, max_p = 1, ecn = true, mark_p = 1 }"#;
    let mut emulator = emulator(&format!("rate = \"1Mbit\"\nqueue = {queue}"));
    for number in 0..200 {
        let now_s = 1.0 + 8e-3 * f64::from(number.max(4) - 4);
        send(&mut emulator, now_s, number, data(number % 2, number / 2, 1000, number % 2 == 0));
    }
    let all = arrived(&mut emulator, 50.0);
    let marks = all.iter().filter(|(_, ready)| ready.mark).count();
    assert!(marks > 0 && all.iter().all(|(number, ready)| !ready.mark || number % 2 == 0));
    let [capable, deaf] = [0, 1].map(|flow| emulator.books()[flow].total);
    // A loss shortens the queue and a mark does not: after few of them the queue is below the thresholds.
    assert!(capable.dropped == 0 && deaf.dropped > 0, "{deaf:?} {capable:?}");
    emulator.finish(100.0);
    assert_eq!(emulator.network_path().links()[0].marked_packets, marks as u64);
}

#[test]
fn a_flow_that_is_not_there_leaves_its_buffer() {
    let mut emulator = emulator("rate = \"1Mbit\"");
    let token = emulator.take().unwrap();
    assert!(!emulator.arrive(0.0, token, 100, false, data(2, 0, 100, false)));
    assert_eq!(emulator.take(), Some(token));
}

proptest! {
    #[test]
    fn every_packet_arrives_or_is_lost_and_every_buffer_comes_back(
        kind in prop::sample::select(vec!["drop-tail", "red", "pie", "codel", "fq-codel", "drr", "priority"]),
        gaps in prop::collection::vec((0.0f64..0.02, 100u16..1500, 0u32..2, any::<bool>()), 1..300),
    ) {
        let mut emulator = emulator(&format!("rate = \"2Mbit\"\nqueue = {{ kind = \"{kind}\", limit = \"12pkt\" }}\nloss = [{{ kind = \"bernoulli\", p = 0.05, after_queue = true }}]"));
        let (mut now_s, mut buffers, mut got) = (0.0, std::collections::HashSet::new(), Vec::new());
        let count = gaps.len() as u32;
        for (number, (gap_s, size_bytes, flow, capable)) in gaps.into_iter().enumerate() {
            now_s += gap_s;
            got.extend(arrived(&mut emulator, now_s).into_iter().map(|(number, _)| number));
            send(&mut emulator, now_s, number as u32, data(flow, number as u32, size_bytes, capable));
        }
        got.extend(arrived(&mut emulator, now_s + 50.0).into_iter().map(|(number, _)| number));
        let total = emulator.books().iter().fold((0, 0, 0), |sum, book| (sum.0 + book.total.sent, sum.1 + book.total.arrived, sum.2 + book.total.dropped));
        prop_assert_eq!((total.0, total.1), (u64::from(count), got.len() as u64));
        prop_assert_eq!(total.1 + total.2, total.0);
        got.sort_unstable();
        got.dedup();
        prop_assert_eq!(got.len() as u64, total.1);
        // No more buffers than packets were on their way at once, and each is free once.
        for _ in 0..count {
            prop_assert!(buffers.insert(emulator.take().unwrap()));
        }
    }
}
