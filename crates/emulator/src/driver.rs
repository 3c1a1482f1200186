//! The loop that moves packets between a backend and the emulator, when they are due.

use crate::{Backend, Emulator, Health, Lateness, Received, Side};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::time::{Duration, Instant};

/// Packets taken from one side before the other, and what is due, have their turn.
const BATCH: usize = 64;

/// How the loop runs.
#[derive(Clone, Copy, Debug)]
pub struct Driving {
    /// When time 0 of the run is or was.
    pub begin: Instant,
    /// When the run ends, seconds.
    pub end_s: f64,
    /// How long before something is due the loop no longer sleeps but looks again and again: sleeping wakes up late.
    pub spin: Duration,
}

impl Driving {
    /// From `begin` for `end_s` seconds.
    pub fn new(begin: Instant, end_s: f64) -> Self {
        Self { begin, end_s, spin: Duration::from_micros(60) }
    }
}

/// Moves packets until the run ends, or `go_on` (told the time in seconds, and how it went so far) says no. Never waits beyond the end.
pub fn drive(
    emulator: &mut Emulator,
    backend: &mut impl Backend,
    driving: Driving,
    mut go_on: impl FnMut(f64, &Health) -> bool,
) -> io::Result<Health> {
    let now_s = || driving.begin.elapsed().as_secs_f64();
    let (mut health, mut lateness) = (Health::default(), Lateness::default());
    loop {
        let now = now_s();
        if now >= driving.end_s || !go_on(now, &health) {
            break;
        }
        let mut moved = false;
        while let Some(ready) = emulator.release(now) {
            moved = true;
            let side = if ready.back { Side::Source } else { Side::Sink };
            let taken = backend.send(
                side,
                &mut emulator.buffer(ready.token)[..ready.length],
                ready.mark,
            )?;
            emulator.give_back(ready.token);
            lateness.add(now_s() - ready.due_s);
            health.released_packets += u64::from(taken);
            health.refused_packets += u64::from(!taken);
        }
        for side in Side::BOTH {
            moved |= receive(emulator, backend, side, &mut health, &now_s)?;
        }
        if !moved {
            let wait_s = emulator.next_due_s().min(driving.end_s) - now_s();
            wait(backend, wait_s - driving.spin.as_secs_f64())?;
        }
    }
    health.lateness_p50_s = lateness.quantile_s(0.5);
    health.lateness_p99_s = lateness.quantile_s(0.99);
    health.lateness_max_s = lateness.quantile_s(1.0);
    health.lateness_histogram = lateness.buckets();
    Ok(health)
}

/// Takes a batch of packets from one side; whether there was one.
fn receive(
    emulator: &mut Emulator,
    backend: &mut impl Backend,
    side: Side,
    health: &mut Health,
    now_s: &impl Fn() -> f64,
) -> io::Result<bool> {
    for count in 0..BATCH {
        let Some(token) = emulator.take() else {
            health.refused_packets += 1;
            return Ok(count > 0);
        };
        match backend.receive(side, emulator.buffer(token))? {
            None => {
                emulator.give_back(token);
                return Ok(count > 0);
            }
            Some(Received::Packet(length, meta)) => {
                let known = emulator.arrive(now_s(), token, length, side == Side::Sink, meta);
                health.strange_packets += u64::from(!known);
            }
            Some(other) => {
                emulator.give_back(token);
                health.strange_packets += u64::from(other == Received::Strange);
                health.broken_packets += u64::from(other == Received::Broken);
            }
        }
    }
    Ok(true)
}

/// Sleeps until a packet comes, for at most `wait_s` seconds; not at all where that is nothing.
fn wait(backend: &impl Backend, wait_s: f64) -> io::Result<()> {
    if wait_s <= 0.0 {
        std::hint::spin_loop();
        return Ok(());
    }
    // A second at the most, so that whoever asks to stop is heard.
    let wait = Duration::from_secs_f64(wait_s.min(1.0));
    let timeout = Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: wait.subsec_nanos().into() };
    let [source, sink] = backend.descriptors();
    let mut descriptors = [
        PollFd::from_borrowed_fd(source, PollFlags::IN),
        PollFd::from_borrowed_fd(sink, PollFlags::IN),
    ];
    match poll(&mut descriptors, Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
