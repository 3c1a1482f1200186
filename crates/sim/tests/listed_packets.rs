//! Whole runs in which a link drops or holds back listed packets. A packet of 1500 bytes takes 1 ms
//! on the link, which has a delay of 20 ms in each direction.

use cwndlab_scenario::Scenario;
use cwndlab_sim::results::RunResult;
use cwndlab_sim::{Ecn, ExternalPacket, Fate, NetworkPath, PacketEvent, PacketRow, Simulation};

/// A run of flow `a` of 200 packets beside an unlimited flow `b`; the rows of its packet trace in
/// order of time.
fn run(link: &str) -> (RunResult, Vec<PacketRow>) {
    let toml = format!(
        r#"
        duration = "4s"
        profile = "linux"
        trace = {{ packets = true }}
        [dumbbell]
        rate = "12Mbit"
        delay = "20ms"
        {link}
        [[flows]]
        name = "a"
        rule = "kernel:reno"
        packets = 200
        [[flows]]
        name = "b"
        rule = "kernel:reno"
        start = "3s"
        "#
    );
    let scenario = Scenario::from_toml(&toml).unwrap_or_else(|error| panic!("{error}\n{toml}"));
    let mut simulation = Simulation::new(&scenario);
    let result = simulation.run().unwrap();
    let mut rows = simulation.traces().recorder.unwrap().packets.clone();
    rows.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
    (result, rows)
}

/// Flow and number of packets with this event, in order of time.
fn numbers(rows: &[PacketRow], event: PacketEvent) -> Vec<(u32, i64)> {
    rows.iter().filter(|row| row.event == event).map(|row| (row.flow, row.number)).collect()
}

/// How often each of these packets of flow `a` was sent.
fn sent(rows: &[PacketRow], packets: [i64; 3]) -> [usize; 3] {
    let sent = numbers(rows, PacketEvent::Send);
    packets.map(|number| sent.iter().filter(|&&one| one == (0, number)).count())
}

/// Packet 50 is lost once, packet 60 three times, the second transmission of packet 70 never comes
/// into being, and nothing is lost of flow `b`.
#[test]
fn the_listed_transmissions_are_dropped_and_no_other() {
    let listed = r#"queue = { kind = "drop-tail", limit = "1000pkt" }
    drop = [
        { flow = "a", packet = 60, transmission = 2 },
        { flow = "a", packet = 60 },
        { flow = "a", packet = 50, transmission = 1 },
        { flow = "a", packet = 70, transmission = 2 },
        { flow = "a", packet = 60, transmission = 3 },
    ]"#;
    let (result, rows) = run(listed);
    let mut dropped = numbers(&rows, PacketEvent::Drop);
    dropped.sort_unstable();
    assert_eq!(dropped, [(0, 50), (0, 60), (0, 60), (0, 60)]);
    assert_eq!(sent(&rows, [50, 60, 70]), [2, 4, 1]);
    let (flow, link) = (&result.flows[0], &result.links[0]);
    assert_eq!((flow.total_dropped_packets, link.total_dropped_packets), (4, 4));
    assert_eq!(flow.total_sent_packets, flow.total_delivered_packets + 4);
    assert!(flow.finish_s.is_some());
    assert_eq!(run(listed).0.trace_hash, result.trace_hash);
}

/// The SYN is packet 0: its second transmission leaves after 1 s and what Linux's timers add.
#[test]
fn the_syn_is_packet_0() {
    let (_, rows) = run(r#"
        queue = { kind = "drop-tail", limit = "1000pkt" }
        drop = [{ flow = "a", packet = 0 }]
    "#);
    let syns: Vec<f64> = rows
        .iter()
        .filter(|row| (row.event, row.flow, row.number) == (PacketEvent::Send, 0, 0))
        .map(|row| row.time_s)
        .collect();
    assert_eq!(syns, [0.0, 1.016]);
    assert_eq!(numbers(&rows, PacketEvent::Drop), [(0, 0)]);
}

/// The last packet of ten that leave together, held for 3.5 ms, arrives behind three of the next
/// window, with the very delay that it would have had and the hold; all others arrive as before.
#[test]
fn a_held_packet_is_overtaken_and_no_other() {
    let arrivals = |link: &str| {
        let (result, rows) = run(link);
        assert_eq!(result.flows[0].total_dropped_packets, 0);
        let received = rows.iter().filter(|row| row.event == PacketEvent::Receive);
        received.map(|row| (row.number, row.time_s)).take(60).collect::<Vec<_>>()
    };
    for kind in ["drop-tail", "drr"] {
        let queue = format!("queue = {{ kind = \"{kind}\", limit = \"1000pkt\" }}\n");
        let plain = arrivals(&queue);
        assert!(plain.is_sorted_by_key(|arrival| arrival.0));
        let held =
            arrivals(&format!("{queue}drop = [{{ flow = \"a\", packet = 25, hold = \"3.5ms\" }}]"));
        let order: Vec<i64> = held.iter().map(|arrival| arrival.0).collect();
        assert_eq!(
            order[..30],
            [
                0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
                23, 24, 26, 27, 28, 25, 29
            ]
        );
        let at_s = |arrivals: &[(i64, f64)], number| {
            arrivals.iter().find(|arrival| arrival.0 == number).unwrap().1
        };
        for number in 0..30 {
            let late_s = at_s(&held, number) - at_s(&plain, number);
            let expected_s = if number == 25 { 0.0035 } else { 0.0 };
            assert!((late_s - expected_s).abs() < 1e-12, "{kind} {number}: {late_s} s late");
        }
    }
}

/// A packet that would be held is lost by the queue: the next transmission is not held in its
/// place.
#[test]
fn a_hold_ends_with_the_packet() {
    let (_, rows) = run(r#"
        queue = { kind = "drop-tail", limit = "8pkt" }
        drop = [{ flow = "a", packet = 10, hold = "1s" }, { flow = "b", packet = 10, hold = "1s" }]
    "#);
    let of_ten = |event| {
        let rows =
            rows.iter().filter(move |row| (row.event, row.flow, row.number) == (event, 0, 10));
        rows.map(|row| row.time_s).collect::<Vec<_>>()
    };
    let (sent_s, received_s) = (of_ten(PacketEvent::Send), of_ten(PacketEvent::Receive));
    assert_eq!(of_ten(PacketEvent::Drop), [sent_s[0]]);
    assert!((received_s[0] - sent_s[1]) < 0.1, "{sent_s:?} {received_s:?}");
}

/// Packets from outside are told apart by flow and number; what carries no data has none.
#[test]
fn packets_from_outside_have_numbers() {
    let scenario = Scenario::from_toml(
        r#"
        duration = "4s"
        [dumbbell]
        rate = "12Mbit"
        delay = "20ms"
        drop = [
            { flow = "a", packet = 1, transmission = 2 },
            { flow = "b", packet = 1, hold = "5ms" },
        ]
        [[flows]]
        name = "a"
        rule = "kernel:reno"
        [[flows]]
        name = "b"
        rule = "kernel:reno"
        "#,
    )
    .unwrap();
    let mut path = NetworkPath::new(&scenario);
    let mut outcomes = Vec::new();
    let sent = [
        (0, Some(1), false),
        (1, Some(1), false),
        (0, None, false),
        (0, Some(1), true),
        (0, Some(1), false),
    ];
    for (token, (flow, number, reverse)) in (0..).zip(sent) {
        let packet =
            ExternalPacket { token, flow, number, reverse, size_bytes: 1500, ecn: Ecn::NotEct };
        path.inject(0.0, packet, &mut |outcome| outcomes.push(outcome));
    }
    path.advance(1.0, &mut |outcome| outcomes.push(outcome));
    let mut fates: Vec<(u32, Fate, i64)> = outcomes
        .iter()
        .map(|outcome| (outcome.packet.token, outcome.fate, (outcome.at_s * 1e6).round() as i64))
        .collect();
    fates.sort_by_key(|fate| fate.0);
    assert_eq!(
        fates,
        [
            (0, Fate::Delivered, 21_000),
            (1, Fate::Delivered, 27_000),
            (2, Fate::Delivered, 23_000),
            (3, Fate::Delivered, 21_000),
            (4, Fate::Dropped, 0),
        ]
    );
    let numbers: Vec<Option<u64>> = outcomes.iter().map(|outcome| outcome.packet.number).collect();
    assert_eq!(numbers.iter().filter(|number| number.is_none()).count(), 1);
}

/// A drop that can never happen is an error: data of the flow must cross the link, and its ACKs
/// must not.
#[test]
fn the_flow_must_cross_the_link() {
    let message = |path: &str, back: &str| {
        let links = ["west", "east"].map(|name| {
            let drop = r#"drop = [{ flow = "a", packet = 1 }]"#;
            let drop = if name == "west" { drop } else { "" };
            format!("[[links]]\nname = \"{name}\"\nrate = \"1Mbit\"\ndelay = \"1ms\"\n{drop}\n")
        });
        let flow = |name: &str, path: &str, back: &str| {
            format!(
                "[[flows]]\nname = \"{name}\"\nrule = \"AIMD(1, 0.5)\"\npath = {path}\nback = {back}\n"
            )
        };
        let flows = [flow("a", path, back), flow("b", "[\"west\", \"east\"]", "[]")];
        let text = format!("duration = \"1s\"\n{}{}", links.concat(), flows.concat());
        Scenario::from_toml(&text).err().map(|error| error.to_string())
    };
    assert_eq!(message("[\"west\"]", "[\"east\"]"), None);
    assert_eq!(
        message("[\"east\"]", "[]").unwrap(),
        "links[0].drop[0].flow: the data of flow \"a\" do not cross this link"
    );
    assert_eq!(
        message("[\"west\", \"east\"]", "[\"west\"]").unwrap(),
        "links[0].drop[0].flow: the ACKs of flow \"a\" cross this link, too"
    );
}
