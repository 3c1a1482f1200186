//! The threads of a run over QUIC, and what they measure.

use super::plan::TransferPlan;
use crate::events::{Event, Failure, send};
use crate::linux::socket::set_priority;
use crate::run_control::{join, seconds, shuffled, watch};
use cwndlab_emulator::{Emulator, Health, LoopOptions, drive};
use cwndlab_quic::{Endpoints, Relay, RelayFlow, Report, RunOptions, drops, socket};
use cwndlab_scenario::{CheckedScenario, Sampling, Scenario};
use nix::sys::resource::{UsageWho, getrusage};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Niceness of the threads, if privileges allow it.
const RELAY_NICENESS: i32 = -20;
const ENDPOINT_NICENESS: i32 = -10;
/// Time between the end of the setup and time 0 of the run.
const START_DELAY: Duration = Duration::from_millis(50);

/// The measurements of a run.
pub struct TransferMeasurements {
    pub emulator: Emulator,
    pub health: Health,
    pub report: Report,
    /// Datagrams that the relay's sockets dropped.
    pub relay_drops: u64,
    /// Size of the smallest receive buffer that the system granted, bytes.
    pub buffer_bytes: usize,
    /// CPU time of the process over the duration of the run and the number of processors.
    pub machine_share: Option<f64>,
}

/// Plays a scenario in real time.
pub fn play(
    scenario: &CheckedScenario,
    plan: &TransferPlan,
    port: u16,
) -> Result<TransferMeasurements, Failure> {
    let failed = |doing: &'static str| move |error: std::io::Error| Failure::broken(doing, error);
    let end_s = scenario.duration.seconds();
    let (outer, outer_bytes) =
        socket(port, plan.buffer_bytes).map_err(|error| match error.kind() {
            std::io::ErrorKind::AddrInUse => Failure::refused(format!(
                "port: {port} is in use on 127.0.0.1: choose another, or none for any free port"
            )),
            _ => Failure::broken("relay", error),
        })?;
    let (inner, inner_bytes) = socket(0, plan.buffer_bytes).map_err(failed("relay"))?;
    let endpoints =
        Endpoints::bind(plan.transfers.clone(), plan.buffer_bytes).map_err(failed("endpoints"))?;
    let addresses = endpoints.addresses().map_err(failed("endpoints"))?;
    let mut ports = Vec::new();
    for socket in [&outer, &inner] {
        ports.push(socket.local_addr().map_err(failed("relay"))?.port());
    }
    let buffer_bytes = endpoints.buffer_bytes.min(outer_bytes).min(inner_bytes);
    let flows = addresses
        .iter()
        .zip(&plan.ecn)
        .map(|(&[source, sink], &ecn)| RelayFlow { source, sink, ecn })
        .collect();
    let mut relay =
        Relay::new(outer, inner, flows, plan.datagram_bytes).map_err(failed("relay"))?;
    let address = relay.address().map_err(failed("relay"))?;
    let mut emulator = Emulator::new(scenario, cwndlab_emulator::Backend::largest(&relay));
    let order = shuffled(plan.transfers.len(), scenario.seed);
    let begin = Instant::now() + START_DELAY;
    let options = options(scenario, plan, begin);
    let released = AtomicU64::new(0);
    thread::scope(|scope| {
        let released = &released;
        let relaying = move || {
            set_priority(RELAY_NICENESS);
            thread::sleep(begin.saturating_duration_since(Instant::now()));
            let driven =
                drive(&mut emulator, &mut relay, LoopOptions::new(begin, end_s), |_, health| {
                    released.store(health.released_packets, Ordering::Relaxed);
                    true
                });
            let mut health = driven.unwrap_or_else(|error| exit_with("relay", error));
            emulator.finish(end_s);
            health.cpu_share = share_of(UsageWho::RUSAGE_THREAD, end_s);
            (emulator, health, drops(&ports).unwrap_or(0))
        };
        let transferring = move || {
            endpoints
                .run(address, options, &order)
                .unwrap_or_else(|error| exit_with("endpoints", error))
        };
        let emulation = named("relay")
            .spawn_scoped(scope, relaying)
            .unwrap_or_else(|error| exit_with("relay", error));
        let transfers = named("endpoints")
            .spawn_scoped(scope, transferring)
            .unwrap_or_else(|error| exit_with("endpoints", error));
        watch(begin, end_s, released, || transfers.is_finished() && emulation.is_finished());
        let (emulator, health, relay_drops) = join(emulation)?;
        let report = join(transfers)?;
        let cores = thread::available_parallelism().map_or(1, usize::from) as f64;
        let machine_share = share_of(UsageWho::RUSAGE_SELF, end_s).map(|share| share / cores);
        Ok(TransferMeasurements {
            emulator,
            health,
            report,
            relay_drops,
            buffer_bytes,
            machine_share,
        })
    })
}

/// A thread with a name, which the panic hook reports.
fn named(part: &str) -> thread::Builder {
    thread::Builder::new().name(part.into())
}

/// Exits the process after a part of the run has failed, because the others would wait until the
/// end of the run.
fn exit_with(part: &str, error: std::io::Error) -> ! {
    let Failure { message, code } = Failure::broken(part, error);
    send(&Event::Error { message: &message, code });
    std::process::exit(1)
}

fn options(scenario: &Scenario, plan: &TransferPlan, begin: Instant) -> RunOptions {
    RunOptions {
        begin,
        end_s: scenario.duration.seconds(),
        window: scenario.window().map(|time| time.seconds()),
        datagram_bytes: plan.datagram_bytes,
        send_window_bytes: plan.buffer_bytes as u64,
        sampling_s: plan.sampling_s,
        row_every_s: match scenario.trace.cwnd {
            Some(Sampling::Every(every)) => Some(every.seconds()),
            _ => None,
        },
        bin_s: scenario.trace.rate.map(|bin| bin.seconds()),
        on_thread_start: || set_priority(ENDPOINT_NICENESS),
    }
}

/// CPU time of a thread or the process so far, over the duration of the run.
fn share_of(whose: UsageWho, end_s: f64) -> Option<f64> {
    getrusage(whose)
        .ok()
        .map(|used| (seconds(used.user_time()) + seconds(used.system_time())) / end_s)
}
