//! Receivers and paths that misbehave (RFC 9743 section 7.6): ACK division, optimistic ACKs and ECN
//! mangling, and which senders they deceive.

use cwndlab_scenario::{CheckedScenario, Scenario};
use cwndlab_sim::results::RunResult;
use cwndlab_sim::{PacketEvent, Simulation};

/// One flow over a fast path of 100 ms.
fn one_flow(config: &str, link: &str, duration_s: u32) -> CheckedScenario {
    let toml = format!(
        r#"
        duration = {duration_s}
        profile = "rfc"
        [dumbbell]
        rate = "1Gbit"
        delay = "50ms"
        back_rate = "unlimited"
        {link}
        [[flows]]
        rule = "AIMD(1, 0.5)"
        tcp = {{ {config} }}
        [trace]
        packets = true
        "#
    );
    Scenario::from_toml(&toml).unwrap_or_else(|error| panic!("{error}\n{toml}"))
}

fn run(config: &str, link: &str, duration_s: u32) -> RunResult {
    Simulation::new(&one_flow(config, link, duration_s)).run().unwrap()
}

/// Data packets that arrive in each of the first six round trips.
fn per_round_trip(config: &str) -> [usize; 6] {
    let scenario = one_flow(&format!("initial_window = 1.0, {config}"), "", 1);
    let mut simulation = Simulation::new(&scenario);
    simulation.run().unwrap();
    let traces = simulation.traces();
    let rows = traces.recorder.unwrap().packets.iter();
    let mut counts = [0; 6];
    for row in rows.filter(|row| row.event == PacketEvent::Receive) {
        // What a round trip takes beyond 100 ms is less than 6 ms for 625 packets of 8.4 us.
        let round_trip = ((row.time_s - 0.05) / 0.1) as usize;
        counts.get_mut(round_trip).into_iter().for_each(|count| *count += 1);
    }
    counts
}

#[test]
fn ack_division_pays_where_acks_are_counted_and_nowhere_else() {
    // Savage et al. 1999, section 2.2: n ACKs for a segment multiply the window by 1 + n in each
    // round trip of slow start. The first round trip is that of the SYN.
    assert_eq!(per_round_trip("ack_division = 1"), [1, 1, 2, 4, 8, 16]);
    assert_eq!(per_round_trip("ack_division = 4"), [1, 1, 5, 25, 125, 625]);
    // RFC 3465: what is acknowledged counts, not the ACKs.
    let counted = "grow_by_packets = true, ";
    assert_eq!(per_round_trip(&format!("{counted} ack_division = 4")), [1, 1, 2, 4, 8, 16]);
}

#[test]
fn optimistic_acks_shorten_the_round_trip() {
    // 20 packets a round trip; with 10 acknowledged ahead of their arrival, 30.
    let delivered = |config: &str| {
        let result = run(&format!("window = 20.0, {config}"), "", 20);
        result.flows[0].total_delivered_packets as f64
    };
    let ratio = delivered("optimistic_acks = 10") / delivered("optimistic_acks = 0");
    // Slow start takes up to six of 200 round trips.
    assert!((1.45..1.51).contains(&ratio), "{ratio}");
}

#[test]
fn optimistic_acks_hide_losses() {
    let loss = r#"loss = [{ kind = "list", packets = [100, 200, 201] }]"#;
    let honest = &run("window = 20.0", loss, 20).flows[0];
    let hidden = &run("window = 20.0, optimistic_acks = 10", loss, 20).flows[0];
    assert!(honest.fast_retransmits == 2 && honest.retransmitted_packets >= 3);
    assert_eq!((hidden.fast_retransmits, hidden.retransmitted_packets, hidden.timeouts), (0, 0, 0));
    assert_eq!((honest.total_dropped_packets, hidden.total_dropped_packets), (3, 3));
}

#[test]
fn a_lead_beyond_the_window_is_built_up_again_after_a_timeout() {
    // 4 packets and 50 acknowledged ahead of their arrival: 54 a round trip. From 10 s to 11 s all
    // are lost; the sender's timer expires after 1 s and, as nothing arrives yet, after 2 s more.
    let outage = r#"outages = [{ from = "10s", to = "11s", arrivals = "lost" }]"#;
    let packets = |link: &str| {
        let flow = &run("window = 4.0, optimistic_acks = 50", link, 30).flows[0];
        (flow.timeouts, flow.delivered_packets as f64)
    };
    let (timeouts, undisturbed) = packets("");
    assert!(timeouts == 0 && (290.0 * 54.0..300.0 * 54.0).contains(&undisturbed), "{undisturbed}");
    let (timeouts, disturbed) = packets(outage);
    // At least 10 round trips are missing, and at most 50.
    let missing = (undisturbed - disturbed) / 54.0;
    assert!(timeouts > 0 && (10.0..50.0).contains(&missing), "{timeouts} {missing}");
}

#[test]
fn marks_that_a_path_erases_or_invents() {
    // Three marks, 300 packets apart. The window is 30 to 60 packets: each is answered.
    let run_with = |mangling: &str| {
        let link = format!(
            r#"loss = [{{ kind = "marks", packets = [100, 400, 700] }}]
            {mangling}"#
        );
        run("ecn = true, window = 60.0", &link, 20)
    };
    let path = |mangling: &str| {
        let result = run_with(mangling);
        let link = &result.links[0];
        (link.marked_packets, link.dropped_packets, result.flows[0].ecn_reductions)
    };
    assert_eq!(path(""), (3, 0, 3));
    // The link marks as before, and the receiver hears nothing of it.
    for mangling in ["bleach", "clear-ce"] {
        assert_eq!(path(&format!("ecn_mangling = \"{mangling}\"")), (3, 0, 0), "{mangling}");
    }
    // CE on all packets: a window of one packet, and with it one packet for each RTO of 1 s
    // (RFC 3168 section 6.1.2).
    let flow = &run_with(r#"ecn_mangling = "mark-all""#).flows[0];
    assert!((15..30).contains(&flow.ecn_reductions) && flow.delivered_packets < 60, "{flow:?}");
}

#[test]
fn an_aqm_behind_a_bleaching_link_drops_what_it_would_mark() {
    let outcome = |mangling: &str| {
        let toml = format!(
            r#"
            duration = 20
            profile = "rfc"
            [[links]]
            name = "first"
            rate = "100Mbit"
            delay = "5ms"
            {mangling}
            [[links]]
            name = "second"
            rate = "5Mbit"
            delay = "20ms"
            queue = {{ kind = "codel", limit = "1000pkt", ecn = true }}
            [[flows]]
            rule = "AIMD(1, 0.5)"
            path = ["first", "second"]
            tcp = {{ ecn = true, initial_ssthresh = 20.0 }}
            "#
        );
        let result = Simulation::new(&Scenario::from_toml(&toml).unwrap()).run().unwrap();
        let second = &result.links[1];
        (second.marked_packets, second.dropped_packets)
    };
    // Packets that were sent again are not ECT, and may be dropped beside marks.
    let (marked, dropped) = outcome("");
    let (marked_behind, dropped_behind) = outcome(r#"ecn_mangling = "bleach""#);
    assert!(marked > 10 && dropped <= 3, "{marked} {dropped}");
    assert!(marked_behind == 0 && dropped_behind > 10, "{marked_behind} {dropped_behind}");
}
