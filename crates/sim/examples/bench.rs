//! Runs a scenario file without Python and says what that cost: `cargo run --release --example
//! bench -- FILE.toml`.
//!
//! Prints one line of JSON: seconds to build the network, to run it and to collect its results, the
//! packets and finite flows that it moved, and the largest resident memory of the process up to the
//! end of the run and up to the end of the results (Linux; elsewhere `null`). `bench/` measures
//! memory and counts instructions with it.

#![allow(
    clippy::disallowed_methods,
    reason = "a program reads files and the clock, the library does not"
)]

use cwndlab_scenario::Scenario;
use cwndlab_sim::{Simulation, Status};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: bench FILE.toml")?;
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let scenario = Scenario::from_toml(&text)?;
    drop(text);

    let begin = Instant::now();
    let mut simulation = Simulation::new(&scenario);
    let build_s = begin.elapsed().as_secs_f64();
    let begin = Instant::now();
    loop {
        match simulation.advance(1 << 20) {
            Status::Running => {}
            Status::Done => break,
            Status::OutOfMemory | Status::InvalidWindow | Status::StackFailure => {
                return Err(simulation.error().into());
            }
        }
    }
    let run_s = begin.elapsed().as_secs_f64();
    let run_peak_bytes = peak_bytes();
    let begin = Instant::now();
    let result = simulation.result();
    let results_s = begin.elapsed().as_secs_f64();
    let measured = serde_json::json!({
        "build_s": build_s,
        "run_s": run_s,
        "results_s": results_s,
        "flows": result.flows.len(),
        "sent": result.flows.iter().map(|flow| flow.total_sent_packets).sum::<u64>(),
        "dropped": result.flows.iter().map(|flow| flow.total_dropped_packets).sum::<u64>(),
        "delivered": result.delivered_packets,
        "arrived": result.arrivals.iter().map(|group| group.arrived_flows).sum::<u64>(),
        "trace_hash": result.trace_hash,
        "run_peak_bytes": run_peak_bytes,
        "peak_bytes": peak_bytes(),
    });
    println!("{measured}");
    Ok(())
}

/// Largest resident memory so far.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
