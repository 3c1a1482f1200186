//! Tests of endpoints whose relay fails during a run: they end with the run and report when data
//! last arrived.
#![cfg(feature = "transfers")]

use cwndlab_emulator::{Emulator, LoopOptions, drive};
use cwndlab_quic::{Endpoints, Relay, RelayFlow, Report, RunOptions, Transfer, socket};
use cwndlab_scenario::Scenario;
use std::thread;
use std::time::{Duration, Instant};

const BUFFER_BYTES: usize = 1 << 22;
const DATAGRAM_BYTES: u16 = 1200;

/// The report of a run, the packets that its relay delivered, and the run's duration.
struct Outcome {
    report: Report,
    released_packets: u64,
    took: Duration,
}

/// Runs two flows for `end_s` seconds over a relay that closes its sockets after `relayed_packets`
/// packets.
fn run(end_s: f64, relayed_packets: u64) -> Outcome {
    let scenario = Scenario::from_toml(
        "duration = \"10s\"\n[dumbbell]\nrate = \"10Mbit\"\ndelay = \"10ms\"\n\
         [[flows]]\nname = \"flow\"\ncount = 2\nrule = \"AIMD(1, 0.5)\"\n",
    )
    .unwrap();
    let transfer = Transfer {
        factory: "AIMD(1, 0.5)".parse().unwrap(),
        start_s: 0.0,
        stop_s: f64::INFINITY,
        bytes: None,
        window_bytes: None,
        qlog: None,
    };
    let endpoints = Endpoints::bind(vec![transfer.clone(), transfer], BUFFER_BYTES).unwrap();
    let flows = endpoints
        .addresses()
        .unwrap()
        .into_iter()
        .map(|[source, sink]| RelayFlow { source, sink, ecn: false })
        .collect();
    let [outer, inner] = [(); 2].map(|()| socket(0, BUFFER_BYTES).unwrap().0);
    let mut relay = Relay::new(outer, inner, flows, DATAGRAM_BYTES).unwrap();
    let address = relay.address().unwrap();
    let begin = Instant::now();
    let options = RunOptions {
        begin,
        end_s,
        window: [0.0, end_s],
        datagram_bytes: DATAGRAM_BYTES,
        send_window_bytes: BUFFER_BYTES as u64,
        sampling_s: 0.01,
        row_every_s: None,
        bin_s: None,
        on_thread_start: || {},
    };
    let relaying = thread::spawn(move || {
        let mut emulator = Emulator::new(&scenario, cwndlab_emulator::Backend::largest(&relay));
        drive(&mut emulator, &mut relay, LoopOptions::new(begin, end_s), |_, health| {
            health.released_packets < relayed_packets
        })
        .unwrap()
    });
    let report = endpoints.run(address, options, &[0, 1]).unwrap();
    let released_packets = relaying.join().unwrap().released_packets;
    Outcome { report, released_packets, took: begin.elapsed() }
}

#[test]
fn endpoints_whose_relay_fails_end_with_the_run() {
    // 200 packets cross the network in about 0.2 s. On a busy machine a run may end before both
    // flows have received data.
    let has_data = |outcome: &Outcome| {
        outcome.released_packets >= 200
            && outcome.report.seen.iter().all(|seen| seen.total_bytes > 0)
    };
    let (end_s, outcome) = [1.0, 4.0, 16.0, 64.0, 256.0]
        .into_iter()
        .map(|end_s| (end_s, run(end_s, 200)))
        .find(|(_, outcome)| has_data(outcome))
        .unwrap();
    let Outcome { report, released_packets, took } = outcome;
    for seen in &report.seen {
        assert!(seen.has_connected && seen.last_s.is_some());
        // The endpoints' sockets are open, and QUIC continues to probe.
        assert_eq!(seen.failed, None);
    }
    let bytes: u64 = report.seen.iter().map(|seen| seen.total_bytes).sum();
    assert!(bytes <= released_packets * u64::from(DATAGRAM_BYTES), "{bytes}");
    assert!(took.as_secs_f64() >= end_s, "{took:?}");
}

#[test]
fn endpoints_without_a_relay_end_with_the_run() {
    let Outcome { report, released_packets, took } = run(0.5, 0);
    assert_eq!(released_packets, 0);
    assert!(
        report
            .seen
            .iter()
            .all(|seen| !seen.has_connected && seen.total_bytes == 0 && seen.last_s.is_none())
    );
    assert!(took.as_secs_f64() >= 0.5, "{took:?}");
}
