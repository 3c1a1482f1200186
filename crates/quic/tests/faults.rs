//! Endpoints whose relay dies in mid-run: they end when the run does, and say until when data came.
#![cfg(feature = "transfers")]

use cwndlab_emulator::{Driving, Emulator, drive};
use cwndlab_quic::{Endpoints, Playing, Relay, RelayFlow, Report, Transfer, socket};
use cwndlab_sim::scenario::Scenario;
use std::thread;
use std::time::{Duration, Instant};

const BUFFER_BYTES: usize = 1 << 22;
const END_S: f64 = 2.0;

/// Plays two flows through a relay that is gone, with its sockets, at `relay_until_s`; and says how long that took.
fn play(relay_until_s: f64) -> (Report, Duration) {
    let scenario = Scenario::from_toml(
        "duration = \"2s\"\n[dumbbell]\nrate = \"10Mbit\"\ndelay = \"10ms\"\n[[flows]]\nname = \"flow\"\ncount = 2\nrule = \"AIMD(1, 0.5)\"\n",
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
    let flows = endpoints.addresses().unwrap().into_iter().map(|[source, sink]| RelayFlow { source, sink, ecn: false }).collect();
    let [outer, inner] = [(); 2].map(|()| socket(0, BUFFER_BYTES).unwrap().0);
    let mut relay = Relay::new(outer, inner, flows, 1200).unwrap();
    let address = relay.address().unwrap();
    let begin = Instant::now();
    let playing = Playing {
        begin,
        end_s: END_S,
        window: [0.0, END_S],
        datagram_bytes: 1200,
        send_window_bytes: BUFFER_BYTES as u64,
        sampling_s: 0.01,
        row_every_s: None,
        bin_s: None,
        on_thread_start: || {},
    };
    let relaying = thread::spawn(move || {
        let mut emulator = Emulator::new(&scenario, cwndlab_emulator::Backend::largest(&relay));
        drive(&mut emulator, &mut relay, Driving::new(begin, END_S), |now, _| now < relay_until_s).unwrap();
    });
    let report = endpoints.play(address, playing, &[0, 1]).unwrap();
    relaying.join().unwrap();
    (report, begin.elapsed())
}

#[test]
fn endpoints_whose_relay_dies_end_with_the_run() {
    let (report, took) = play(1.0);
    for seen in &report.seen {
        assert!(seen.has_connected && seen.total_bytes > 0);
        // What the relay had handed over by then is read a moment later.
        assert!(seen.last_s.is_some_and(|last_s| last_s > 0.3 && last_s < 1.5), "{:?}", seen.last_s);
        // Their own sockets are as they were, and QUIC goes on probing.
        assert_eq!(seen.failed, None);
    }
    // Ending may take the endpoints a second.
    assert!((2.0..4.0).contains(&took.as_secs_f64()), "{took:?}");
}

#[test]
fn endpoints_that_never_had_a_relay_end_with_the_run() {
    let (report, took) = play(0.0);
    assert!(report.seen.iter().all(|seen| !seen.has_connected && seen.total_bytes == 0 && seen.last_s.is_none()));
    assert!((2.0..4.0).contains(&took.as_secs_f64()), "{took:?}");
}
