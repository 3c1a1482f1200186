//! Traffic against what can be worked out by hand: arrivals, bursts, transfers, requests, flows
//! that come and go.

use cwndlab_scenario::{CheckedScenario, Scenario};
use cwndlab_sim::results::RunResult;
use cwndlab_sim::{PacketEvent, PacketRow, Simulation, Transfer};
use std::collections::BTreeMap;

/// Windows by hand are those of `rfc`, an ACK for each packet, unless a profile is named.
fn scenario(toml: &str) -> CheckedScenario {
    let profile = if toml.contains("profile") { "" } else { "profile = \"rfc\"\n" };
    let toml = format!("{profile}{toml}");
    Scenario::from_toml(&toml).unwrap_or_else(|error| panic!("{error}\n{toml}"))
}

fn run(toml: &str) -> RunResult {
    Simulation::new(&scenario(toml)).run().unwrap()
}

/// All transfers that are complete, in order of their begin.
fn transfers(toml: &str) -> Vec<Transfer> {
    let scenario = scenario(toml);
    let mut simulation = Simulation::new(&scenario);
    simulation.run().unwrap();
    let mut transfers = simulation.traces().transfers.unwrap().0.to_vec();
    transfers.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
    transfers
}

/// `found` is `expected` within this part of it.
fn assert_near(found: f64, expected: f64, part: f64) {
    assert!((found / expected - 1.0).abs() <= part, "{found} is not {expected} within {part}");
}

/// Flows of one packet of 1000 bytes that arrive every `gap_us` on average at a link that sends one
/// in a millisecond.
fn single_packets(queue: &str, gap_us: u32) -> RunResult {
    run(&format!(
        r#"
        duration = "400s"
        measure = ["10s", "400s"]
        [dumbbell]
        rate = "8Mbit"
        delay = "5ms"
        queue = {{ kind = "{queue}", limit = "100000pkt" }}
        back_rate = "unlimited"
        [tcp]
        syn = false
        timestamps = false
        packet_size = 960
        [[arrivals]]
        rule = "AIMD(1, 0.5)"
        gap = "{gap_us}us"
        size = 1
        "#
    ))
}

#[test]
fn waiting_times_agree_with_queueing_theory() {
    // M/D/1 (Pollaczek and Khinchine): mean wait rho s/(2 (1 - rho)), s = 1 ms: 0.5 ms at rho =
    // 1/2, 2 ms at 4/5; Little: rate x wait of them wait. 195,000 and 312,000 packets; waits go
    // together over some s/(1 - rho)^2, so that a standard error is about 2 %.
    for (gap_us, wait_s, waiting) in [(2000, 0.5e-3, 0.25), (1250, 2e-3, 1.6)] {
        let result = single_packets("drop-tail", gap_us);
        let link = &result.links[0];
        assert_near(link.mean_queueing_delay_s.unwrap(), wait_s, 0.08);
        assert_near(link.mean_queue_packets, waiting, 0.08);
        // A Poisson count of n has a standard deviation of sqrt(n).
        let expected = 390e6 / f64::from(gap_us);
        assert_near(result.arrivals[0].arrived_flows as f64, expected, 4.0 / expected.sqrt());
        // The SYN is left out: there and back 10 ms, its wait, 1 ms of transmission.
        let mean_fct_s = result.arrivals[0].mean_fct_s.unwrap();
        assert!(
            (mean_fct_s - 0.011 - link.mean_queueing_delay_s.unwrap()).abs() < 1e-5,
            "{mean_fct_s}"
        );
    }
}

#[test]
fn the_order_of_service_does_not_change_the_mean_wait() {
    // Of packets of one size, whatever the discipline serves first: it is never idle while one
    // waits.
    let fifo = single_packets("drop-tail", 1250).links.swap_remove(0);
    for queue in ["drr", "priority", "fq-codel"] {
        let link = single_packets(queue, 1250).links.swap_remove(0);
        assert_eq!(
            (link.arrived_packets, link.dropped_packets),
            (fifo.arrived_packets, 0),
            "{queue}"
        );
        assert_near(link.mean_queueing_delay_s.unwrap(), fifo.mean_queueing_delay_s.unwrap(), 1e-4);
        assert_near(link.mean_queue_packets, fifo.mean_queue_packets, 1e-6);
    }
}

fn source(keys: &str, duration_s: u32) -> RunResult {
    run(&format!(
        "duration = {duration_s}\n[dumbbell]\nrate = \"100Mbit\"\ndelay = \
         \"1ms\"\n[[cross]]\n{keys}"
    ))
}

#[test]
fn bursts_of_fixed_length_by_hand() {
    // 1000 bytes at 800 kbit/s: a packet every 10 ms, 50 in a burst of 0.5 s, then 0.5 s more to
    // the next: bursts end at 1 s, 2 s, ... (the first packet comes after a pause and an interval).
    // 50 packets a second; that of the very end does not count.
    let result = source("rate = \"800kbit\"\non = 0.5\noff = 0.5", 100);
    assert!((4998..=5000).contains(&result.cross[0].sent_packets), "{:?}", result.cross);
    assert_near(result.links[0].cross_bps, 400e3, 1e-3);
}

#[test]
fn random_bursts_have_their_mean_rate() {
    // On for 1 s, off for 3 s, both exponential: a quarter of 1 Mbit/s each. The share of time on
    // has variance 2 (1^2 3^2)/(4^3 T) (a renewal process): T = 2000 s of 10 sources 2 * 9/(64 *
    // 20000): 0.00375, 1.5 % of a quarter.
    let bursts = "rate = \"1Mbit\"\non = { kind = \"exponential\", mean = 1 }\noff = { kind = \
     \"exponential\", mean = 3 }";
    let result = source(&format!("{bursts}\ncount = 10\npacket_size = 250"), 2000);
    assert_near(result.cross[0].offered_bps, 2.5e6, 4.0 * 0.015);
}

/// How many of the transfers begin in each phase: 5 s at gaps of 30 ms, 5 s at gaps of 10 ms.
fn by_phase(regular: bool, rounds: u32) -> [usize; 2] {
    let starts = transfers(&format!(
        r#"
        duration = {duration}
        [dumbbell]
        rate = "1Gbit"
        delay = "1ms"
        [[arrivals]]
        rule = "AIMD(1, 0.5)"
        size = 1
        regular = {regular}
        phases = [{{ length = 5, gap = 0.03 }}, {{ length = 5, gap = 0.01 }}]
        stop = {stop}
        "#,
        stop = 10 * rounds,
        duration = 10 * rounds + 1
    ));
    let fast = starts.iter().filter(|transfer| transfer.start_s % 10.0 >= 5.0).count();
    [starts.len() - fast, fast]
}

#[test]
fn phases_change_the_rate_of_arrivals() {
    // Regular: 5/0.03 = 166.67 gaps pass in the first phase and 500 in the second; what is left of
    // a gap goes on at the other rate: 166 and 500.
    assert_eq!(by_phase(true, 1), [166, 500]);
    // 40 rounds: 6666.7 and 20,000, with standard deviations 81.6 and 141.4.
    let [slow, fast] = by_phase(false, 40);
    assert!(
        (slow as f64 - 6666.7).abs() < 4.0 * 81.6 && (fast as f64 - 20_000.0).abs() < 4.0 * 141.4,
        "{slow} {fast}"
    );
}

#[test]
fn arrivals_too_rare_for_the_run_take_no_time() {
    // A gap of a million seconds, passed a millisecond at a time: only until the end of the run.
    let rare =
        run("duration = 10\n[dumbbell]\nrate = \"1Mbit\"\ndelay = \"1ms\"\n[[arrivals]]\nrule = \
         \"AIMD(1, 0.5)\"\nsize = 1\nregular = true\nphases = [{ length = 0.001, gap = 1e6 }]\n");
    assert_eq!(rare.arrivals[0].arrived_flows, 0);
}

/// A link on which a packet of 1052 bytes takes 1 ms, and a SYN (40 bytes) 0.038023 ms; a round
/// trip of 100 ms.
const LINK: &str = "[dumbbell]\nrate = \"8.416Mbit\"\ndelay = \"50ms\"\nqueue = { kind = \
 \"drop-tail\", limit = \"unlimited\" }\nback_rate = \"unlimited\"\n";
const SYN_S: f64 = 40.0 * 8.0 / 8.416e6;

#[test]
fn completion_of_a_lone_transfer_round_by_round() {
    // 28 = 4 + 8 + 16 packets in slow start. The SYN is answered at S + 100 ms. From there on: 4
    // packets leave until 4 ms, the first is acknowledged at 101 ms; 8 leave until 109 ms, first
    // acknowledgement at 202 ms; 16 leave until 218 ms, the last is acknowledged at 318 ms.
    let toml = format!(
        "duration = 2\n{LINK}[[arrivals]]\nrule = \"AIMD(1, 0.5)\"\ngap = 1\nregular = true\nstop \
         = 1.5\nsize = 28\n[[flows]]\nname = \"one\"\nrule = \"AIMD(1, 0.5)\"\npackets = 28\n"
    );
    let only = transfers(&toml);
    assert_eq!((only.len(), only[0].start_s, only[0].packets), (1, 1.0, 28));
    assert!((only[0].fct_s - (SYN_S + 0.418)).abs() < 1e-9, "{}", only[0].fct_s);
    // The ACK of the last packet takes 50 ms.
    assert!((only[0].received_fct_s - (SYN_S + 0.368)).abs() < 1e-9);
    // Against a round trip and 28 ms of transmission.
    assert!((only[0].slowdown - (SYN_S + 0.418) / 0.128).abs() < 1e-8);
    // A listed flow of as many packets that starts at 0 takes as long.
    let flow = &run(&toml).flows[0];
    assert!((flow.finish_s.unwrap() - (SYN_S + 0.418)).abs() < 1e-9);
    assert!((flow.received_s.unwrap() - (SYN_S + 0.368)).abs() < 1e-9);
}

#[test]
fn requests_and_responses_by_hand() {
    // The first response comes with the SYN: S + 100 ms + 4 ms + 100 ms. Then 500 ms to think and
    // 104 ms for 4 packets at once: 604 ms a cycle. By 60.3 s (60.3 - 0.204)/0.604 = 99.5 more are
    // complete, and the hundredth more, begun at 60.5 s, has not begun.
    let toml = format!(
        "duration = 60.3\n{LINK}[[flows]]\nrule = \"AIMD(1, 0.5)\"\nresponses = {{ size = 4, \
         think = 0.5 }}\n"
    );
    let result = run(&toml);
    let group = &result.arrivals[0];
    assert_eq!((group.arrived_flows, group.finished_flows), (100, 100));
    assert!(
        (group.mean_fct_s.unwrap() - (SYN_S + 0.204 + 99.0 * 0.104) / 100.0).abs() < 1e-9,
        "{group:?}"
    );
    assert!((group.mean_fct_s.unwrap() - group.mean_received_fct_s.unwrap() - 0.05).abs() < 1e-9);
    assert!((group.p95_received_fct_s.unwrap() - 0.054).abs() < 1e-9, "{group:?}");
    assert_eq!(group.delivered_packets, 400);
    // 400 packets of 1052 bytes and a SYN of 40.
    assert_near(group.delivered_bps, (400.0 * 1052.0 + 40.0) * 8.0 / 60.3, 1e-12);
    let last = transfers(&toml).pop().unwrap();
    assert!((last.start_s - (SYN_S + 0.204 + 0.5 + 98.0 * 0.604)).abs() < 1e-6, "{last:?}");
}

#[test]
fn a_truncated_response_is_not_complete() {
    let result = run(&format!(
        "duration = 20\n{LINK}[[flows]]\nrule = \"AIMD(1, 0.5)\"\nstop = 5\nresponses = {{ size = \
         100000, think = 1 }}\n"
    ));
    let group = &result.arrivals[0];
    assert_eq!(
        (group.arrived_flows, group.finished_flows, group.unfinished_flows),
        (1, 0, 1),
        "{group:?}"
    );
}

/// The packets that the window of 4 lets go at once, then 4 more as ACKs arrive: the first ACK
/// comes `tx` after the round trip, and the last packet of the 8 leaves the link 4 `tx` later.
fn eight_packets_s(tx_s: f64) -> f64 {
    SYN_S + 0.1 + 0.1 + 5.0 * tx_s + 0.1
}

#[test]
fn connections_of_several_responses_by_hand() {
    // The first response comes with the SYN: S + 100 ms + 4 ms + 100 ms, the other two take 104 ms.
    let toml = |end: &str| {
        format!(
            "{end}\n{LINK}[[arrivals]]\nrule = \"AIMD(1, 0.5)\"\ngap = 1\nregular = true\nstop = \
             1.5\nsize = 4\nexchanges = 3\nthink = 0.5\n"
        )
    };
    let busy_s = SYN_S + 0.204 + 2.0 * 0.104;
    let [only] = transfers(&toml("duration = 4"))[..] else { panic!("one connection") };
    assert_eq!((only.start_s, only.packets), (1.0, 12));
    // Think times do not count.
    assert!((only.fct_s - busy_s).abs() < 1e-9, "{only:?}");
    assert!((only.received_fct_s - (busy_s - 3.0 * 0.05)).abs() < 1e-9, "{only:?}");
    assert!((only.slowdown - busy_s / (3.0 * 0.1 + 0.012)).abs() < 1e-8, "{only:?}");
    // At 1.5 s the user thinks for the first time, whether or not the run goes on. Sent are the SYN
    // and 4 packets.
    for end in ["duration = 1.5", "duration = 4\nmeasure = [0, 1.5]"] {
        let group = run(&toml(end)).arrivals.remove(0);
        assert_eq!((group.arrived_flows, group.sent_packets, group.delivered_packets), (1, 5, 4));
    }
    assert_eq!(run(&toml("duration = 1.5")).arrivals[0].unfinished_flows, 1);
}

#[test]
fn recorded_connections_by_hand() {
    let done = |vectors: &str| {
        let toml = format!(
            "duration = 9\nprofile = \"rfc\"\n{LINK}[[arrivals]]\nrule = \"AIMD(1, 0.5)\"\n\
             start = 1\nvectors = {{ file = \"x\" }}\n"
        );
        let files = BTreeMap::from([("x".to_string(), vectors.to_string())]);
        let scenario = Scenario::from_toml_with(&toml, &files).unwrap();
        let mut simulation = Simulation::new(&scenario);
        simulation.run().unwrap();
        let [only] = simulation.traces().transfers.unwrap().0[..] else { panic!("{vectors}") };
        only
    };
    // The server takes 1 s for the first response; user and server 50 ms for the second.
    let waits = "> 300\nt 1000000\n< 3500\nt 20000\n> 300\nt 30000\n< 4000\n";
    let sequential = done(&format!("SEQ 500000 2 1 1\nw 1 1\nr 1\nl 0 0\n{waits}"));
    assert_eq!((sequential.start_s, sequential.packets), (2.5, 8));
    assert!((sequential.fct_s - (SYN_S + 0.204 + 0.104)).abs() < 1e-9, "{sequential:?}");
    // Each side for itself: after 50 ms the second response waits behind the first, after 1 s it
    // does not.
    let concurrent =
        |wait: u32| done(&format!("CONC 500000 0 2 1 1\nc< 4000\nt> 5\nt< {wait}\nc< 4000\n"));
    assert_eq!((concurrent(50_000).start_s, concurrent(50_000).packets), (1.5, 8));
    assert!((concurrent(50_000).fct_s - eight_packets_s(0.001)).abs() < 1e-9);
    assert!((concurrent(50_000).slowdown - eight_packets_s(0.001) / 0.108).abs() < 1e-8);
    assert!((concurrent(1_000_000).fct_s - (SYN_S + 0.204 + 0.104)).abs() < 1e-9);
}

#[test]
fn arriving_flows_draw_their_packet_size() {
    // 4000 bytes in 4 packets of 1000 or 8 of 500 bytes, one flow a second.
    let toml = format!(
        "duration = 400.5\n{LINK}[[arrivals]]\nrule = \"AIMD(1, 0.5)\"\ngap = 1\nregular = true\n\
         size = 4\npacket_sizes = [{{ size = 500, share = 0.25 }}, {{ size = 1000, share = 0.75 \
         }}]\n"
    );
    let done = transfers(&toml);
    assert_eq!(done.len(), 400);
    let small_tx_s = 552.0 * 8.0 / 8.416e6;
    for flow in &done {
        let (fct_s, shortest_s) = match flow.packets {
            8 => (eight_packets_s(small_tx_s), 0.1 + 8.0 * small_tx_s),
            _ => (SYN_S + 0.204, 0.104),
        };
        assert!((flow.fct_s - fct_s).abs() < 1e-9, "{flow:?}");
        assert!((flow.slowdown - fct_s / shortest_s).abs() < 1e-8, "{flow:?}");
    }
    // A quarter of 400; standard deviation sqrt(400 x 0.25 x 0.75) = 8.7.
    let small = done.iter().filter(|flow| flow.packets == 8).count();
    assert!(small.abs_diff(100) < 35, "{small}");
    let group = run(&toml).arrivals.remove(0);
    assert_near(group.goodput_bps, 400.0 * 4000.0 * 8.0 / 400.5, 1e-12);
    assert_eq!(group.delivered_packets, 1600 + 4 * small as u64);
}

#[test]
fn frames_by_hand() {
    // The first frame comes with the SYN: it arrives after S + 100 ms + 4 ms + 50 ms. Each later one
    // has 4 packets at once: 54 ms. The hundredth begins at 49.5 s. Only the first takes longer than
    // 150 ms.
    let toml = format!(
        "duration = 49.9\n{LINK}[[flows]]\nrule = \"AIMD(1, 0.5)\"\nframes = {{ size = 4, every \
         = 0.5, deadline = \"150ms\" }}\n"
    );
    let group = run(&toml).arrivals.remove(0);
    assert_eq!((group.arrived_flows, group.finished_flows, group.late_flows), (100, 100, Some(1)));
    assert_eq!(group.late_share, Some(0.01));
    assert!(
        (group.mean_fct_s.unwrap() - (SYN_S + 0.154 + 99.0 * 0.054) / 100.0).abs() < 1e-9,
        "{group:?}"
    );
    // 50 ms and 4 packets are the shortest time for a frame.
    assert!((group.mean_slowdown.unwrap() - group.mean_fct_s.unwrap() / 0.054).abs() < 1e-9);
    let last = transfers(&toml).pop().unwrap();
    assert!((last.start_s - 49.5).abs() < 1e-9, "{last:?}");
    // Without a deadline none is late.
    let timeless = run(&toml.replace(", deadline = \"150ms\"", "")).arrivals.remove(0);
    assert_eq!((timeless.finished_flows, timeless.late_flows), (100, None));
}

#[test]
fn frames_that_the_link_cannot_carry_wait_for_those_before_them() {
    // A frame of 60 packets every 50 ms, of which the link sends 50: once it is always busy, each
    // frame takes 10 ms longer than the one before it.
    let toml = format!(
        "duration = 20\n{LINK}[[flows]]\nrule = \"AIMD(1, 0.5)\"\nframes = {{ size = 60, every = \
         \"50ms\", deadline = \"170ms\" }}\n"
    );
    let done = transfers(&toml);
    assert!(done.len() > 300, "{}", done.len());
    for pair in done[100..].windows(2) {
        assert!((pair[1].fct_s - pair[0].fct_s - 0.01).abs() < 1e-9, "{pair:?}");
    }
    // Of those that are not complete at 20 s, only those that began from 19.83 s on are not late.
    assert!(done.iter().all(|frame| frame.fct_s > 0.17));
    let group = run(&toml).arrivals.remove(0);
    assert_eq!((group.arrived_flows, group.late_flows), (400, Some(397)));
    assert_eq!(group.unfinished_flows, 400 - done.len() as u64);
    // The application stops while TCP may send 110 packets ahead of the ACKs: it has sent some 4700
    // by then, 78 frames, and sends no more.
    let stopped = toml.replace("frames", "stop = 4.99\nframes") + "[tcp]\nwindow = 110\n";
    let stopped = run(&stopped).arrivals.remove(0);
    assert_eq!(stopped.arrived_flows, 100);
    assert!((75..80).contains(&stopped.finished_flows), "{stopped:?}");
}

#[test]
fn an_encoder_follows_the_rate_of_its_rule() {
    let link = "duration = 9.99\n[dumbbell]\nrate = \"8Mbit\"\ndelay = \"50ms\"\nback_rate = \
                \"unlimited\"\n[tcp]\nsyn = false\ntimestamps = false\npacket_size = 960\ninitial_window = \
                10\n";
    let toml = |rate: u32, every: &str| {
        format!(
            "{link}[[flows]]\nrule = \"NADA(rmin={rate}, rmax={rate})\"\nframes = {{ every = \
             \"{every}\" }}\n"
        )
    };
    // 40 packets/s are 4 in 100 ms, which leave at once, 25, 50 and 75 ms later. The last one takes
    // 1 ms and 50 ms.
    let frames = transfers(&toml(40, "100ms"));
    assert_eq!(frames.len(), 99);
    for frame in &frames {
        assert_eq!(frame.packets, 4);
        assert!((frame.fct_s - 0.126).abs() < 1e-6, "{frame:?}");
    }
    // 20 packets/s are half a packet in 25 ms: the first frame has one, the encoder skips two, and
    // from then on every other one.
    let frames = transfers(&toml(20, "25ms"));
    assert!(frames.iter().all(|frame| frame.packets == 1));
    let starts_ms: Vec<_> = frames.iter().map(|frame| (frame.start_s * 1e3).round()).collect();
    assert_eq!(starts_ms[..4], [0.0, 75.0, 125.0, 175.0]);
    assert_eq!(starts_ms.len(), 199);
}

#[test]
fn short_flows_count_the_bits_that_they_send() {
    // 99 flows arrive until 9.9 s, each a SYN of 40 bytes and a packet of 1052.
    let result = run(&format!(
        "duration = 11\n{LINK}[[arrivals]]\nrule = \"AIMD(1, 0.5)\"\ngap = 0.1\nregular = \
         true\nsize = 1\nstop = 9.95\n"
    ));
    assert_eq!(result.arrivals[0].finished_flows, 99);
    assert_near(result.arrivals[0].delivered_bps, 99.0 * 1092.0 * 8.0 / 11.0, 1e-12);
    assert_near(result.links[0].left_bps, 8.416e6 - 99.0 * 1092.0 * 8.0 / 11.0, 1e-12);
}

#[test]
fn flows_join_and_leave_as_scheduled() {
    // A window of 4 packets and 100 ms (transmissions take 34 us): 320 kbit/s each. One joins at 0,
    // 10, 20 and 30 s; the last two leave at 50 s, the others at 100 s.
    let toml = r#"
        duration = "120s"
        trace = { rate = "10s" }
        [dumbbell]
        rate = "1Gbit"
        delay = "50ms"
        [[flows]]
        rule = "AIMD(1, 0.5)"
        count = 4
        join = { batch = 1, every = "10s" }
        leave = { batch = 2, every = "50s" }
        tcp = { window = 4 }
    "#;
    let scenario = scenario(toml);
    let mut simulation = Simulation::new(&scenario);
    let result = simulation.run().unwrap();
    let traces = simulation.traces();
    let rates = &traces.recorder.unwrap().rates;
    for (bin, present) in
        [1.0, 2.0, 3.0, 4.0, 4.0, 2.0, 2.0, 2.0, 2.0, 2.0, 0.0, 0.0].into_iter().enumerate()
    {
        let bits: u64 = rates.iter().filter_map(|flow| flow.get(bin)).sum();
        // Joining costs the 100 ms of the SYN (1 %), and leaving may happen anywhere in a round.
        assert!((bits as f64 / 3.2e6 - present).abs() < 0.03, "bin {bin}: {bits}");
    }
    assert!(
        result
            .flows
            .iter()
            .all(|flow| flow.mean_cwnd_packets.is_finite() && flow.in_flight_packets == 0)
    );
}

#[test]
fn flows_that_would_join_after_the_stop_never_start() {
    let result = run(&format!(
        "duration = 10\n{LINK}[[flows]]\nrule = \"AIMD(1, 0.5)\"\ncount = 2\njoin = {{ batch = 1, \
         every = 6 }}\nstop = 5\nresponses = {{ size = 10, think = 10 }}\n"
    ));
    let late = &result.flows[1];
    assert_eq!(
        (late.total_sent_packets, late.finish_s, late.mean_cwnd_packets),
        (0, None, 0.0),
        "{late:?}"
    );
    assert_eq!(result.arrivals[0].unfinished_flows, 0);
}

#[test]
fn a_listed_web_page_by_hand() {
    // The html comes with the SYN on the first connection, S + 204 ms. The style sheet follows there,
    // 102 ms. The script is requested 50 ms after the html and opens the second connection: S + 203
    // ms. The image waits for both, and takes 104 ms on the first connection: 2 S + 561 ms in all.
    // On open connections a page takes 104 + 50 + 103 + 104 = 361 ms, a cycle with the pause 861 ms.
    // The twelfth page begins at 2 S + 1.061 + 10 x 0.861 = 9.671 s; its image is not complete at
    // 10 s. The last packet of a page arrives 50 ms before its ACK: 50 ms less to load it.
    let toml = format!(
        r#"duration = 10
        {LINK}
        [[flows]]
        rule = "AIMD(1, 0.5)"
        count = 2
        [flows.page]
        think = 0.5
        objects = [
            {{ name = "html", size = 4 }},
            {{ name = "style", size = 2, after = ["html"] }},
            {{ name = "script", size = 3, after = ["html"], parse = "50ms" }},
            {{ name = "image", size = 4, after = ["script", "style"] }},
        ]
        "#
    );
    let group = run(&toml).arrivals.remove(0);
    assert_eq!((group.page.pages, group.page.loaded_pages), (Some(12), Some(11)));
    let first_s = 2.0 * SYN_S + 0.511;
    assert!(
        (group.page.mean_page_load_s.unwrap() - (first_s + 10.0 * 0.311) / 11.0).abs() < 1e-9,
        "{group:?}"
    );
    assert!((group.page.p50_page_load_s.unwrap() - 0.311).abs() < 1e-9, "{group:?}");
    assert!((group.page.p95_page_load_s.unwrap() - first_s).abs() < 1e-9, "{group:?}");
    // Objects are transfers: of 12 pages all but an image.
    assert_eq!((group.arrived_flows, group.finished_flows, group.unfinished_flows), (48, 47, 1));
    let objects = transfers(&toml);
    assert_eq!(objects[..4].iter().map(|object| object.packets).collect::<Vec<_>>(), [4, 2, 3, 4]);
    let starts_s = [0.0, SYN_S + 0.204, SYN_S + 0.254, 2.0 * SYN_S + 0.457];
    for (object, start_s) in objects.iter().zip(starts_s) {
        assert!((object.start_s - start_s).abs() < 1e-9, "{object:?} {start_s}");
    }
    // The browser is closed while the second page loads: neither that one nor another one ends.
    let closed = run(&toml.replace("count = 2", "count = 2\n        stop = 1.2"));
    let group = &closed.arrivals[0];
    assert_eq!((group.page.pages, group.page.loaded_pages), (Some(2), Some(1)));
    assert_eq!(closed.flows[1].delivered_packets, 3);
}

#[test]
fn more_connections_than_objects_stay_closed() {
    // Five embedded objects of one packet each on two connections, whatever else there is: while one
    // is requested on each, the others wait. html 204 ms + S; then 1 + 100 ms on the open connection,
    // S + 100 + 101 ms on the other; three more on the open one before that is through: 4 x 101 ms.
    let toml = |count: u32| {
        format!(
            "duration = 5\n{LINK}[[flows]]\nrule = \"AIMD(1, 0.5)\"\ncount = {count}\npage = {{ \
             main = 4, embedded = 5, size = 1, think = 100 }}\n"
        )
    };
    let result = run(&toml(2));
    let load_s = result.arrivals[0].page.mean_page_load_s.unwrap();
    // At 202 ms two objects of the open connection and the first of the other one (201 ms + S) are
    // complete: the fifth object takes the third turn of the other one or of the open one.
    // Its last ACK takes 50 ms.
    assert!((SYN_S + 0.154 + 0.302..SYN_S + 0.154 + 0.305).contains(&load_s), "{load_s}");
    // With six connections all five are requested at once: one on the open connection, four on those
    // that open.
    let result = run(&toml(9));
    let opened = result.flows.iter().filter(|flow| flow.sent_packets > 0).count();
    assert_eq!(opened, 5);
    let load_s = result.arrivals[0].page.mean_page_load_s.unwrap();
    assert!((SYN_S + 0.154 + 0.201..SYN_S + 0.154 + 0.207).contains(&load_s), "{load_s}");
}

#[test]
fn a_video_of_more_than_the_link_carries_by_hand() {
    // Segments of 2000 packets, a second of 16 Mbit/s. Of the first one slow start has sent 124
    // packets when the link is busy for good, 505 ms after the answer to the SYN: the last packet is
    // acknowledged S + 100 + 505 + 1876 + 100 = S + 2581 ms after the start. Every later one takes
    // 2000 + 100 ms, so that playback stands still for 1.1 s after each second.
    let toml = |measure: &str| {
        format!(
            "duration = 20\n{measure}\n{LINK}[[flows]]\nrule = \"AIMD(1, 0.5)\"\nvideo = {{ \
             bitrates = [\"16Mbit\"], segment = 1 }}\n"
        )
    };
    let group = run(&toml("")).arrivals.remove(0);
    let first_s = SYN_S + 2.581;
    assert!((group.video.startup_delay_s.unwrap() - first_s).abs() < 1e-9, "{group:?}");
    // The ninth segment is complete at 19.381 s, and its second not over at 20 s.
    assert_eq!((group.arrived_flows, group.finished_flows), (10, 9));
    assert_eq!((group.video.rebufferings, group.video.bitrate_switches), (Some(8), Some(0)));
    assert!((group.video.rebuffering_s.unwrap() - 8.8).abs() < 1e-8, "{group:?}");
    assert_near(group.video.rebuffering_share.unwrap(), 8.8 / (20.0 - first_s), 1e-9);
    assert_eq!(group.video.mean_bitrate_bps, Some(16e6));
    // From 10 s on: the rest of the pause that ends at S + 10.981 s, and four more.
    let group = run(&toml("measure = [10, 20]")).arrivals.remove(0);
    assert_eq!(group.video.rebufferings, Some(4));
    assert!((group.video.rebuffering_s.unwrap() - (SYN_S + 0.981 + 4.4)).abs() < 1e-8);
}

#[test]
fn a_video_that_the_link_can_carry_fills_its_buffer_and_then_waits() {
    // From 6 s of buffer on, a segment of 1 s is requested each second: in 60 s those that were
    // played since the start, less than a second after 0, and the 6 s of the buffer.
    let video = |bitrates: &str| {
        let toml = format!(
            "duration = 60\n{LINK}[[flows]]\nrule = \"AIMD(1, 0.5)\"\nvideo = {{ bitrates = \
             [{bitrates}], segment = 1, buffer = 6, reservoir = 2, cushion = 2 }}\n"
        );
        run(&toml).arrivals.remove(0)
    };
    let only = video("\"1Mbit\"");
    assert_eq!((only.arrived_flows, only.video.rebufferings), (65, Some(0)));
    assert_eq!(only.video.mean_bitrate_bps, Some(1e6));
    // With a buffer of 4 s and more the highest bitrate is requested, and up to 2 s the lowest: one
    // switch up in between, or two.
    let both = video("\"1Mbit\", \"1.5Mbit\", \"2Mbit\"");
    assert!((1..=2).contains(&both.video.bitrate_switches.unwrap()), "{both:?}");
    assert!((1.85e6..2e6).contains(&both.video.mean_bitrate_bps.unwrap()), "{both:?}");
}

#[test]
fn starvation_and_convergence_by_hand() {
    // Windows of 10 and 2 packets on a link that carries both: a sixth of the sum, a third of the fair
    // share, for the second, which is there for whole bins from 4 s on. The first stops at 20 s, and
    // the second then has all there is.
    let flow = |name: &str, keys: &str, window: u32| {
        format!(
            "[[flows]]\nname = \"{name}\"\nrule = \"AIMD(1, 0.5)\"\n{keys}\ntcp = {{ window = \
             {window} }}\n"
        )
    };
    let toml = |below: f64, shares: bool| {
        let flows = [
            flow("large", "stop = 20", 10),
            flow("small", "start = 3.5", 2),
            flow("web", "responses = { size = 1, think = 1 }", 2),
        ];
        format!(
            "duration = 30\nshares = {{ hold = 4, starved_below = {below} }}\ntrace = {{ shares = \
             {shares} }}\n{LINK}{}",
            flows.concat()
        )
    };
    let times = |toml: &str| {
        let flows = run(toml).flows;
        flows.iter().map(|flow| (flow.starved_s, flow.convergence_s)).collect::<Vec<_>>()
    };
    let found = times(&toml(0.4, true));
    assert_eq!(found, [(Some(0.0), Some(0.0)), (Some(16.0), Some(16.5)), (None, None)]);
    assert_eq!(times(&toml(0.3, true))[1], (Some(0.0), Some(16.5)));
    assert_eq!(times(&toml(0.4, false)), [(None, None); 3]);
}

/// What flows have in common in the tests of groups.
const FLOW: &str = "rule = \"AIMD(1, 0.5)\"\naccess_rate = \"10Mbit\"\n";

#[test]
fn a_group_with_a_value_for_each_flow_is_as_flows_one_by_one() {
    let network = "duration = \"20s\"\nseed = 3\nprofile = \"ns2-2.35\"\n\
                   [dumbbell]\nrate = \"3Mbit\"\ndelay = \"10ms\"\n";
    let flows = [("0.5s", "7ms", 0.001), ("0s", "1ms", 0.0), ("2s", "30ms", 0.004)];
    let single = flows.iter().enumerate().map(|(i, (start, delay, phase))| {
        format!(
            "[[flows]]\nname = \"f{i}\"\n{FLOW}start = \"{start}\"\naccess_delay = \"{delay}\"\n\
             tcp = {{ timer_phase = {phase} }}\n"
        )
    });
    let group = format!(
        "[[flows]]\nname = \"f\"\ncount = 3\n{FLOW}\
         start = {{ each = [\"0.5s\", \"0s\", \"2s\"] }}\n\
         access_delay = {{ each = [\"7ms\", \"1ms\", \"30ms\"] }}\n\
         tcp = {{ timer_phase = {{ each = [0.001, 0.0, 0.004] }} }}\n"
    );
    let one_by_one = run(&(network.to_owned() + &single.collect::<String>()));
    let together = run(&(network.to_owned() + &group));
    assert_eq!(together.trace_hash, one_by_one.trace_hash);
    let base_rtts_ms = together.flows.iter().map(|flow| (flow.base_rtt_s * 1e3).round());
    assert_eq!(base_rtts_ms.collect::<Vec<_>>(), [34.0, 22.0, 80.0]);
}

#[test]
fn a_list_of_another_length_than_the_group_is_refused() {
    let network = "duration = \"1s\"\n[dumbbell]\nrate = \"3Mbit\"\ndelay = \"10ms\"\n";
    for (entry, expected) in [
        (
            "[[flows]]\nrule = \"AIMD(1, 0.5)\"\ncount = 3\nstart = { each = [\"0s\", \"1s\"] }",
            "flows[0].start.each: a list of 2 is not valid: expected 3, one for each of the flows",
        ),
        (
            "[[cross]]\nrate = \"1Mbit\"\ncount = 2\naccess_delay = { each = [\"1ms\"] }",
            "cross[0].access_delay.each: a list of 1 is not valid: expected 2, one for each of \
             the sources",
        ),
        (
            "[tcp]\ntimer_phase = { each = [0.0] }\n[[flows]]\nrule = \"AIMD(1, 0.5)\"",
            "tcp.timer_phase: must be one value: only an entry of [[flows]] has one for each flow",
        ),
        (
            "[[cross]]\nrate = \"2Mbit\"\naccess_rate = \"1Mbit\"",
            "cross[0].access_rate: 1Mbit is not valid: expected at least the largest rate of the \
             source, 2Mbit",
        ),
        (
            "[[cross]]\navailable = \"2Mbit\"\naccess_rate = \"2Mbit\"",
            "cross[0].access_rate: `access_rate` must not be given when `available` is",
        ),
        (
            "[[cross]]\nrate = \"10Gbit\"\npacket_size = \"20B\"\naccess_delay = \"9s\"",
            "cross[0].access_delay: 9s is not valid: expected a delay that 1e7 packets of all \
             sources fill at most",
        ),
        (
            "[[cross]]\navailable = \"2Mbit\"\nfirst_at_start = true",
            "cross[0].first_at_start: `first_at_start` needs a `rate` that is no trace, cellular \
             or grants, without `on`",
        ),
        (
            "[[flows]]\nrule = \"AIMD(1, 0.5)\"\ncount = 2\n\
             tcp = { timer_phase = { each = [0.1, -1.0] } }",
            "flows[0].tcp.timer_phase.each[1]: -1 is not valid: expected 0 to 1000",
        ),
    ] {
        let error = Scenario::from_toml(&format!("{network}{entry}\n")).unwrap_err().to_string();
        assert_eq!(error, expected);
    }
}

#[test]
fn a_source_behind_an_access_link_sends_its_first_packet_at_its_start() {
    // 1000 bytes take 8 ms at 1 Mbit/s, 2 ms on the access link and 1 ms on the bottleneck.
    let delivered = |cross: &str, until: &str| {
        let result = run(&format!(
            "duration = \"{until}\"\n[dumbbell]\nrate = \"8Mbit\"\ndelay = \"10ms\"\n\
             [[cross]]\nrate = \"1Mbit\"\nstart = \"0.1s\"\n{cross}\n"
        ));
        (result.cross[0].sent_packets, result.cross[0].delivered_packets)
    };
    // At 119 ms the first packet of an interval later has arrived, at 111 ms that of the start.
    assert_eq!((delivered("", "118.9ms"), delivered("", "119.1ms")), ((2, 0), (2, 1)));
    let at_start = "first_at_start = true";
    assert_eq!((delivered(at_start, "110.9ms"), delivered(at_start, "111.1ms")), ((2, 0), (2, 1)));
    let link = "first_at_start = true\naccess_rate = \"4Mbit\"\naccess_delay = \"3ms\"";
    assert_eq!((delivered(link, "115.9ms"), delivered(link, "116.1ms")), ((2, 0), (3, 1)));
}

#[test]
fn packets_that_a_queue_drops_later_have_the_time_of_the_drop() {
    // CoDel drops at departures, and longest-queue-drop drops a packet that waits.
    for queue in ["codel", "drr"] {
        let scenario = scenario(&format!(
            "duration = \"10s\"\n[dumbbell]\nrate = \"2Mbit\"\ndelay = \"20ms\"\n\
             queue = {{ kind = \"{queue}\", limit = \"20pkt\" }}\n\
             [trace]\npackets = true\n[[flows]]\nrule = \"AIMD(1, 0.5)\"\ncount = 2\n"
        ));
        let mut simulation = Simulation::new(&scenario);
        simulation.run().unwrap();
        let mut packets = simulation.traces().recorder.unwrap().packets.clone();
        packets.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
        let (mut later, mut drops) = (0, 0);
        let is_drop = |(_, row): &(usize, &PacketRow)| row.event == PacketEvent::Drop;
        for (at, row) in packets.iter().enumerate().filter(is_drop) {
            let sent = packets[..at].iter().rev().find(|sent| {
                let of = (row.flow, row.number);
                sent.event == PacketEvent::Send && (sent.flow, sent.number) == of
            });
            drops += 1;
            // From the source to the queue it takes no time.
            later += u32::from(row.time_s > sent.unwrap().time_s);
        }
        assert!(drops > 10 && later > drops / 2, "{queue}: {later} of {drops}");
    }
}

#[test]
fn marks_of_flows_add_up_to_those_of_the_link() {
    let result = run("duration = \"30s\"\n[dumbbell]\nrate = \"5Mbit\"\ndelay = \"20ms\"\n\
                      queue = { kind = \"red\", limit = \"60pkt\", ecn = true }\n[tcp]\necn = true\n\
                      [[flows]]\nrule = \"AIMD(1, 0.5)\"\ncount = 3\npackets = 4000\n\
                      [[flows]]\nname = \"deaf\"\nrule = \"AIMD(1, 0.5)\"\npackets = 1000\n\
                      tcp = { ecn = false }\n");
    let marked: Vec<u64> = result.flows.iter().map(|flow| flow.marked_packets).collect();
    assert!(result.flows.iter().all(|flow| flow.finish_s.is_some()));
    assert_eq!(marked.iter().sum::<u64>(), result.links[0].marked_packets);
    assert!(marked[..3].iter().all(|&marked| marked > 5) && marked[3] == 0, "{marked:?}");
}

#[test]
fn what_a_source_leaves_of_a_link_is_as_late_as_its_access_link() {
    // On from 1 s to 3 s, and at the link half a second later.
    let scenario = scenario(
        "duration = \"4s\"\nmeasure = [\"0s\", \"4s\"]\n[trace]\nrate = \"1s\"\n\
         [dumbbell]\nrate = \"8Mbit\"\ndelay = \"10ms\"\n\
         [[cross]]\nrate = \"4Mbit\"\nstart = \"1s\"\nstop = \"3s\"\naccess_delay = \"500ms\"\n",
    );
    let mut simulation = Simulation::new(&scenario);
    let result = simulation.run().unwrap();
    assert_eq!(simulation.traces().available[0], [8e6, 6e6, 4e6, 6e6]);
    assert_eq!(result.links[0].available_bps, 6e6);
    assert_near(result.cross[0].delivered_bps, 2e6, 0.01);
}
