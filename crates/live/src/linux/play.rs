//! The threads of a run with Linux TCP, and what they measure.

use super::congestion_controls::CongestionControls;
use super::namespace::{self, End, Losses};
use super::packet_trace::PacketTrace;
use super::plan::Plan;
use super::{sink, socket, source};
use crate::events::Failure;
use crate::result::Sample;
use crate::run_control::{join, seconds, shuffled, watch};
use cwndlab_emulator::{Emulator, Health, LoopOptions, Tun, drive};
use cwndlab_scenario::{CheckedScenario, Sampling, Scenario};
use cwndlab_sim::TraceHash;
use nix::sys::resource::{UsageWho, getrusage};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Niceness of the threads: the emulator before the endpoints, both before other processes.
const EMULATOR_NICENESS: i32 = -20;
const ENDPOINT_NICENESS: i32 = -10;
/// Time between the end of the setup and time 0 of the run.
const START_DELAY: Duration = Duration::from_millis(20);
/// The report of the source thread.
struct SourceReport {
    watched: Vec<source::FlowMeasurements>,
    rows: Vec<Sample>,
    losses: Losses,
}

/// The measurements of a run.
pub struct Measurements {
    pub emulator: Emulator,
    pub health: Health,
    pub watched: Vec<source::FlowMeasurements>,
    pub rows: Vec<Sample>,
    pub losses: [Losses; 2],
    /// The hash of all packets; none in real time, where no two runs are equal.
    pub trace_hash: Option<TraceHash>,
    /// The packets, if the scenario asks for them, in virtual time.
    pub packets: Option<PacketTrace>,
}

/// Time between the rows of the trace of windows, seconds; none without it.
pub fn row_every_s(scenario: &Scenario) -> Option<f64> {
    match scenario.trace.cwnd {
        Some(Sampling::Every(every)) => Some(every.seconds()),
        _ => None,
    }
}

/// Plays a scenario in real time.
pub fn play(
    scenario: &CheckedScenario,
    plan: &Plan,
    algorithms: &CongestionControls,
) -> Result<Measurements, Failure> {
    let end_s = scenario.duration.seconds();
    let window = scenario.window().map(|time| time.seconds());
    let row_every_s = row_every_s(scenario);
    let order = shuffled(plan.flows.len(), scenario.seed);
    let released = AtomicU64::new(0);
    thread::scope(|scope| {
        let (source_device, source_start) = (sync_channel(1), sync_channel::<Instant>(1));
        let (sink_device, sink_start) = (sync_channel(1), sync_channel::<Instant>(1));
        let source = scope.spawn(move || {
            let ready = namespace::enter(End::Source, plan).and_then(|device| {
                let sources =
                    source::Sources::new(plan, &algorithms.names, window, row_every_s, &order)?;
                Ok((device, sources))
            });
            let Some((sources, begin)) = handshake(ready, &source_device.0, &source_start.1) else {
                return Ok(None);
            };
            let (watched, rows) =
                sources.play(begin, end_s).map_err(|error| Failure::broken("sources", error))?;
            let losses = namespace::losses(End::Source)
                .map_err(|error| Failure::broken("counters", error))?;
            Ok::<_, Failure>(Some(SourceReport { watched, rows, losses }))
        });
        let sink = scope.spawn(move || {
            let ready = namespace::enter(End::Sink, plan)
                .and_then(|device| Ok((device, sink::Sinks::new(plan)?)));
            let Some((sinks, begin)) = handshake(ready, &sink_device.0, &sink_start.1) else {
                return Ok(None);
            };
            sinks.play(begin, end_s).map_err(|error| Failure::broken("sinks", error))?;
            namespace::losses(End::Sink)
                .map(Some)
                .map_err(|error| Failure::broken("counters", error))
        });
        let devices = [device(&source_device.1)?, device(&sink_device.1)?];
        let mut emulator = Emulator::new(scenario, plan.mtu as usize + 64);
        let [from, to] = devices;
        let mut tun = Tun::new(
            from,
            to,
            plan.mtu as usize + 64,
            [End::Source.network(), End::Sink.network()],
        );
        let begin = Instant::now() + START_DELAY;
        for start in [source_start.0, sink_start.0] {
            start.send(begin).map_err(|_| Failure::broken("start", "a thread is gone"))?;
        }
        let counted = &released;
        let emulation = scope.spawn(move || {
            socket::set_priority(EMULATOR_NICENESS);
            thread::sleep(begin.saturating_duration_since(Instant::now()));
            let mut health =
                drive(&mut emulator, &mut tun, LoopOptions::new(begin, end_s), |_, health| {
                    counted.store(health.released_packets, Ordering::Relaxed);
                    true
                })
                .map_err(|error| Failure::broken("TUN device", error))?;
            emulator.finish(end_s);
            health.cpu_share = getrusage(UsageWho::RUSAGE_THREAD)
                .ok()
                .map(|used| (seconds(used.user_time()) + seconds(used.system_time())) / end_s);
            // The devices stay open until both ends have read their counters: packets into a closed
            // device count as drops.
            Ok::<_, Failure>((emulator, health, tun))
        });
        watch(begin, end_s, &released, || {
            source.is_finished() && sink.is_finished() && emulation.is_finished()
        });
        let (emulator, health, _devices) = join(emulation)??;
        let gone = || Failure::broken("start", "a thread ended before the run");
        let SourceReport { watched, rows, losses } = join(source)??.ok_or_else(gone)?;
        let sink_losses = join(sink)??.ok_or_else(gone)?;
        Ok(Measurements {
            emulator,
            health,
            watched,
            rows,
            losses: [losses, sink_losses],
            trace_hash: None,
            packets: None,
        })
    })
}

/// Reports that a namespace is ready, or why it is not, and waits for the start of the run.
fn handshake<T>(
    ready: Result<(OwnedFd, T), Failure>,
    report: &SyncSender<Result<OwnedFd, Failure>>,
    start: &Receiver<Instant>,
) -> Option<(T, Instant)> {
    socket::set_priority(ENDPOINT_NICENESS);
    match ready {
        Ok((device, rest)) => {
            report.send(Ok(device)).ok()?;
            start.recv().ok().map(|begin| (rest, begin))
        }
        Err(failure) => {
            // A closed channel means that another thread has failed already.
            let _ = report.send(Err(failure));
            None
        }
    }
}

fn device(reports: &Receiver<Result<OwnedFd, Failure>>) -> Result<OwnedFd, Failure> {
    reports
        .recv()
        .unwrap_or_else(|_| Err(Failure::broken("start", "a thread ended before the run")))
}
