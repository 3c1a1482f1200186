//! Live runs with Linux TCP: two network namespaces with a TUN device each, and the emulator
//! between them.

mod congestion_controls;
mod namespace;
mod plan;
pub(crate) mod result;
mod routes;
mod sink;
pub(crate) mod socket;
mod source;

use crate::events::{Event, Failure, send};
use crate::request::Request;
use crate::result::Sample;
use congestion_controls::CongestionControls;
use cwndlab_emulator::{Emulator, Health, LoopOptions, Tun, drive};
use cwndlab_scenario::{Sampling, Scenario};
use cwndlab_sim::NetworkPath;
use namespace::{End, Losses};
use nix::sys::resource::{UsageWho, getrusage};
use plan::Plan;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// Interval between reports of progress.
const PROGRESS: Duration = Duration::from_millis(200);
/// Niceness of the threads: the emulator before the endpoints, both before other processes.
const EMULATOR_NICENESS: i32 = -20;
const ENDPOINT_NICENESS: i32 = -10;
/// Time between the end of the setup and time 0 of the run.
const START_DELAY: Duration = Duration::from_millis(20);
/// How long after the end of a run its threads may take before the process exits.
const END_TIMEOUT_S: f64 = 10.0;

/// The report of the source thread.
struct SourceReport {
    watched: Vec<source::FlowMeasurements>,
    rows: Vec<Sample>,
    losses: Losses,
}

/// Runs a scenario and sends its result.
pub fn run(request: Request) -> Result<(), Failure> {
    let Request { scenario, parent, .. } = request;
    end_with_parent(parent)?;
    if !nix::unistd::geteuid().is_root() {
        return Err(Failure::refused(
            "a live run needs root: it makes network namespaces and TUN devices (CAP_SYS_ADMIN, \
             CAP_NET_ADMIN)",
        ));
    }
    let emulator_plan = NetworkPath::new(&scenario);
    let plan = Plan::new(&scenario, emulator_plan.flows(), crate::result::fastest_bps(&scenario))?;
    let _lock = lock_live_runs()?;
    let algorithms = CongestionControls::new(&scenario)?;
    let begun = Instant::now();
    let run = play(&scenario, &plan, &algorithms)?;
    let reported = algorithms.report()?;
    let wall_s = begun.elapsed().as_secs_f64();
    let (run, traces) = result::json(&scenario, &plan, &run, &reported, wall_s);
    send(&Event::Result { run, traces });
    Ok(())
}

/// The measurements of a run.
pub struct Measurements {
    emulator: Emulator,
    health: Health,
    watched: Vec<source::FlowMeasurements>,
    rows: Vec<Sample>,
    losses: [Losses; 2],
}

fn play(
    scenario: &Scenario,
    plan: &Plan,
    algorithms: &CongestionControls,
) -> Result<Measurements, Failure> {
    let end_s = scenario.duration.seconds();
    let window = scenario.window().map(|time| time.seconds());
    let row_every_s = match scenario.trace.cwnd {
        Some(Sampling::Every(every)) => Some(every.seconds()),
        _ => None,
    };
    let order = shuffled(plan.flows.len(), scenario.seed);
    let released = AtomicU64::new(0);
    thread::scope(|scope| {
        let (source_device, source_start) = (sync_channel(1), sync_channel::<Instant>(1));
        let (sink_device, sink_start) = (sync_channel(1), sync_channel::<Instant>(1));
        let source = scope.spawn(move || {
            let ready = namespace::enter(End::Source, plan).and_then(|device| {
                let sources = source::Sources::new(plan, &algorithms.names, window, row_every_s)?;
                Ok((device, sources))
            });
            let Some((sources, begin)) = handshake(ready, &source_device.0, &source_start.1) else {
                return Ok(None);
            };
            let (watched, rows) = sources
                .play(begin, end_s, &order)
                .map_err(|error| Failure::broken("sources", error))?;
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
        Ok(Measurements { emulator, health, watched, rows, losses: [losses, sink_losses] })
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

pub(crate) fn join<T>(thread: ScopedJoinHandle<'_, T>) -> Result<T, Failure> {
    thread.join().map_err(|_| Failure::broken("run", "a thread failed, see above"))
}

/// Reports progress until all threads have ended. Exits the process, which removes namespaces and
/// devices, if they do not end in time.
pub(crate) fn watch(begin: Instant, end_s: f64, released: &AtomicU64, is_over: impl Fn() -> bool) {
    while !is_over() {
        thread::sleep(PROGRESS.min(Duration::from_secs_f64(end_s / 4.0)));
        let time_s = begin.elapsed().as_secs_f64();
        if time_s > end_s + END_TIMEOUT_S {
            send(&Event::Error {
                message: &format!(
                    "time limit: the run did not end {END_TIMEOUT_S} s after its {end_s} s were \
                     over"
                ),
            });
            std::process::exit(1);
        }
        send(&Event::Progress {
            time_s: time_s.min(end_s),
            packets: released.load(Ordering::Relaxed),
        });
    }
}

pub(crate) fn seconds(time: nix::sys::time::TimeVal) -> f64 {
    time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6
}

/// Flow numbers in an order drawn from the seed: of flows that start at the same time the first has
/// an advantage.
pub(crate) fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    for last in (1..count).rev() {
        order.swap(last, (random.next_u64() % (last as u64 + 1)) as usize);
    }
    order
}

/// Makes this process end when the process that requested the run ends.
pub(crate) fn end_with_parent(parent: Option<i32>) -> Result<(), Failure> {
    if let Some(parent) = parent {
        socket::die_with_parent();
        if nix::unistd::getppid().as_raw() != parent {
            return Err(Failure::broken("start", "the process that requested this run has ended"));
        }
    }
    Ok(())
}

/// Acquires the lock of live runs, of which one may run at a time: an abstract socket, which the
/// kernel releases with the process.
pub(crate) fn lock_live_runs() -> Result<UnixListener, Failure> {
    let address = SocketAddr::from_abstract_name("cwndlab-live")
        .map_err(|error| Failure::broken("start", error))?;
    UnixListener::bind_addr(&address).map_err(|error| match error.kind() {
        std::io::ErrorKind::AddrInUse => Failure::refused(
            "another live run is in progress on this machine: two runs would disturb each \
                 other, wait for its end",
        ),
        _ => Failure::broken("start", error),
    })
}

/// Sends the limits of a valid run.
pub fn limits() -> Result<(), Failure> {
    send(&Event::Answer { answer: result::limits() });
    Ok(())
}
