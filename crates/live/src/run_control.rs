//! What every live run needs: the lock of live runs, reports of progress, an end in time.

use crate::events::{Event, Failure, send};
use crate::linux::socket;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// The highest priority of an autogroup.
const HIGHEST: i32 = -20;
/// Interval between reports of progress.
const PROGRESS: Duration = Duration::from_millis(200);
/// How long after the end of a run its threads may take before the process exits.
const END_TIMEOUT_S: f64 = 10.0;

/// The result of a thread.
pub fn join<T>(thread: ScopedJoinHandle<'_, T>) -> Result<T, Failure> {
    thread.join().map_err(|_| Failure::broken("run", "a thread failed, see above"))
}

/// Reports progress until all threads have ended. Exits the process, which removes namespaces and
/// devices, if they do not end in time.
pub fn watch(begin: Instant, end_s: f64, released: &AtomicU64, is_over: impl Fn() -> bool) {
    while !is_over() {
        thread::sleep(PROGRESS.min(Duration::from_secs_f64(end_s / 4.0)));
        let time_s = begin.elapsed().as_secs_f64();
        if time_s > end_s + END_TIMEOUT_S {
            send(&Event::Error {
                message: &format!(
                    "time limit: the run did not end {END_TIMEOUT_S} s after its {end_s} s were \
                     over"
                ),
                code: 1,
            });
            std::process::exit(1);
        }
        send(&Event::Progress {
            time_s: time_s.min(end_s),
            packets: released.load(Ordering::Relaxed),
        });
    }
}

/// A time of the system in seconds.
pub fn seconds(time: nix::sys::time::TimeVal) -> f64 {
    time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6
}

/// Flow numbers in an order drawn from the seed: of flows that start at the same time the first has
/// an advantage.
pub fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    for last in (1..count).rev() {
        order.swap(last, (random.next_u64() % (last as u64 + 1)) as usize);
    }
    order
}

/// The niceness of the autogroup of this process's session.
const AUTOGROUP: &str = "/proc/self/autogroup";

/// Moves this process into a session of its own and gives that the highest priority.
///
/// The kernel groups processes by session (sched(7), "The autogroup feature") and shares the
/// processors among the groups: the niceness of a thread counts within its group only. The group of
/// a new session ends with it, so that nothing is to be restored. A terminal's Ctrl-C reaches the
/// process that requested the run, which ends this one. Ignores missing privileges and kernels
/// without autogroups: lateness is measured in any case.
pub fn own_session() {
    // Fails for the leader of a process group, such as a command that a shell started: its group
    // may be that of other processes.
    if nix::unistd::setsid().is_ok() {
        let _ = std::fs::write(AUTOGROUP, HIGHEST.to_string());
    }
}

/// Makes this process get `signal` when the process that requested the run ends.
pub fn end_with_parent(parent: Option<i32>, signal: i32) -> Result<(), Failure> {
    if let Some(parent) = parent {
        socket::signal_with_parent(signal);
        if nix::unistd::getppid().as_raw() != parent {
            return Err(Failure::broken("start", "the process that requested this run has ended"));
        }
    }
    Ok(())
}

/// Acquires the lock of live runs, of which one may run at a time: an abstract socket, which the
/// kernel releases with the process.
pub fn lock_live_runs() -> Result<UnixListener, Failure> {
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
