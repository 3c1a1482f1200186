//! Tests of the emulator core: variable rates, buffer limits, marks, conservation of packets and
//! buffers.

use cwndlab_emulator::{DuePacket, Emulator, PacketMeta, TcpSegment};
use cwndlab_scenario::Scenario;
use cwndlab_sim::Ecn;
use proptest::prelude::*;

fn emulator(dumbbell: &str) -> Emulator {
    let text = format!(
        "duration = \"100s\"\n[dumbbell]\ndelay = \"10ms\"\nback_rate = \"unlimited\"\n{dumbbell}\n\
         [[flows]]\ncount = 2\nrule = \"AIMD(1, 0.5)\"\n"
    );
    Emulator::new(&Scenario::from_toml(&text).unwrap(), 2000)
}

fn data(flow: u32, number: u32, size_bytes: u16, ecn: Ecn) -> PacketMeta {
    let payload_bytes = u32::from(size_bytes) - 40;
    let segment =
        TcpSegment { sequence: 1 + number * 10_000, payload_bytes, syn: false, ack: None };
    PacketMeta { flow, size_bytes, ecn, segment: Some(segment) }
}

/// Injects a packet with its number in the first bytes.
fn send(emulator: &mut Emulator, now_s: f64, number: u32, meta: PacketMeta) {
    let token = emulator.allocate_buffer().unwrap();
    emulator.buffer(token)[..4].copy_from_slice(&number.to_be_bytes());
    assert!(emulator.inject(now_s, token, usize::from(meta.size_bytes), false, meta));
}

/// The packets that are due by `now_s`, each with its number.
fn arrived(emulator: &mut Emulator, now_s: f64) -> Vec<(u32, DuePacket)> {
    let mut all = Vec::new();
    while let Some(ready) = emulator.next_due(now_s) {
        let number = u32::from_be_bytes(emulator.buffer(ready.token)[..4].try_into().unwrap());
        emulator.free_buffer(ready.token);
        all.push((number, ready));
    }
    all
}

#[test]
fn packets_leave_at_the_variable_rate() {
    // 1250 bytes take 10 ms at 1 Mbit/s and 1 ms at 10 Mbit/s. The rate changes every 100 ms, low
    // first: 10 packets, then 100, then 10, ...
    let mut emulator = emulator(
        "rate = { kind = \"square\", high = \"1Mbit\", low = \"10Mbit\", every = \"100ms\" }\n\
         queue = { kind = \"drop-tail\", limit = \"1000pkt\" }",
    );
    (0..220)
        .for_each(|number| send(&mut emulator, 0.0, number, data(0, number, 1250, Ecn::NotEct)));
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
fn no_packet_is_early_and_the_next_due_time_is_known() {
    let mut emulator =
        emulator("rate = \"1Mbit\"\nqueue = { kind = \"drop-tail\", limit = \"10pkt\" }");
    assert_eq!(emulator.next_due_s(), f64::INFINITY);
    send(&mut emulator, 0.5, 7, data(0, 0, 1250, Ecn::NotEct));
    assert!((emulator.next_due_s() - 0.52).abs() < 1e-12);
    assert!(arrived(&mut emulator, 0.519_999).is_empty());
    let all = arrived(&mut emulator, 0.520_001);
    assert_eq!((all[0].0, all[0].1.length, all[0].1.back, all[0].1.mark), (7, 1250, false, false));
}

#[test]
fn queues_hold_their_limit_in_packets_or_bytes() {
    // One packet of 500 bytes in service, and the limit waiting.
    for (limit, held) in [
        ("{ kind = \"drop-tail\", limit = \"10pkt\", count_in_service = false }", 11),
        ("{ kind = \"drop-tail\", limit = \"2500B\", count_in_service = false }", 6),
    ] {
        let mut emulator = emulator(&format!("rate = \"1Mbit\"\nqueue = {limit}"));
        (0..50)
            .for_each(|number| send(&mut emulator, 1.0, number, data(1, number, 500, Ecn::NotEct)));
        assert_eq!(arrived(&mut emulator, 50.0).len(), held, "{limit}");
        let counters = &emulator.flow_counters()[1];
        assert_eq!(
            (counters.total.sent, counters.total.arrived, counters.total.dropped),
            (50, held as u64, 50 - held as u64)
        );
    }
}

#[test]
fn ecn_capable_packets_are_marked_and_others_dropped() {
    // Four packets of 8 ms each at first, then one every 8 ms: the queue stays between the
    // thresholds.
    let queue = concat!(
        r#"{ kind = "red", limit = "200pkt", min = "2pkt", max = "6pkt", "#,
        r#"weight = 1, max_p = 1, ecn = true, mark_p = 1 }"#
    );
    let mut emulator = emulator(&format!("rate = \"1Mbit\"\nqueue = {queue}"));
    for number in 0..200 {
        let now_s = 1.0 + 8e-3 * f64::from(number.max(4) - 4);
        let ecn = if number % 2 == 0 { Ecn::Ect0 } else { Ecn::NotEct };
        send(&mut emulator, now_s, number, data(number % 2, number / 2, 1000, ecn));
    }
    let all = arrived(&mut emulator, 50.0);
    let marks = all.iter().filter(|(_, ready)| ready.mark).count();
    assert!(marks > 0 && all.iter().all(|(number, ready)| !ready.mark || number % 2 == 0));
    let [ecn_capable, not_ecn_capable] = [0, 1].map(|flow| emulator.flow_counters()[flow].total);
    // A drop shortens the queue and a mark does not: after few drops the queue is below the
    // thresholds.
    assert!(
        ecn_capable.dropped == 0 && not_ecn_capable.dropped > 0,
        "{not_ecn_capable:?} {ecn_capable:?}"
    );
    emulator.finish(100.0);
    assert_eq!(emulator.network_path().links()[0].marked_packets, marks as u64);
}

#[test]
fn the_packet_of_an_unknown_flow_frees_its_buffer() {
    let mut emulator = emulator("rate = \"1Mbit\"");
    let token = emulator.allocate_buffer().unwrap();
    assert!(!emulator.inject(0.0, token, 100, false, data(2, 0, 100, Ecn::NotEct)));
    assert_eq!(emulator.allocate_buffer(), Some(token));
}

proptest! {
    #[test]
    fn every_packet_is_delivered_or_dropped_and_every_buffer_is_freed(
        kind in prop::sample::select(
            vec!["drop-tail", "red", "pie", "step", "codel", "fq-codel", "drr", "priority"]
        ),
        gaps in prop::collection::vec(
            (0.0f64..0.02, 100u16..1500, 0u32..2, 0u8..3), 1..300
        ),
    ) {
        let mut emulator = emulator(&format!(
            "rate = \"2Mbit\"\nqueue = {{ kind = \"{kind}\", limit = \"12pkt\" }}\n\
             loss = [{{ kind = \"bernoulli\", p = 0.05, after_queue = true }}]"
        ));
        let (mut now_s, mut got) = (0.0, Vec::new());
        let mut buffers = std::collections::HashSet::new();
        let count = gaps.len() as u32;
        for (number, (gap_s, size_bytes, flow, ecn)) in gaps.into_iter().enumerate() {
            now_s += gap_s;
            got.extend(arrived(&mut emulator, now_s).into_iter().map(|(number, _)| number));
            let number = number as u32;
            send(&mut emulator, now_s, number, data(flow, number, size_bytes, Ecn::from_bits(ecn)));
        }
        got.extend(arrived(&mut emulator, now_s + 50.0).into_iter().map(|(number, _)| number));
        let totals = emulator.flow_counters().iter().map(|counters| counters.total);
        let total = totals.fold((0, 0, 0), |sum, flow| {
            (sum.0 + flow.sent, sum.1 + flow.arrived, sum.2 + flow.dropped)
        });
        prop_assert_eq!((total.0, total.1), (u64::from(count), got.len() as u64));
        prop_assert_eq!(total.1 + total.2, total.0);
        got.sort_unstable();
        got.dedup();
        prop_assert_eq!(got.len() as u64, total.1);
        // Each free buffer is handed out once.
        for _ in 0..count {
            prop_assert!(buffers.insert(emulator.allocate_buffer().unwrap()));
        }
    }
}
