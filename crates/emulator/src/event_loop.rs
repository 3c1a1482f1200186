//! The real-time event loop that moves packets between a backend and the emulator.

use crate::{Backend, Emulator, Health, Lateness, Received, Side};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::time::{Duration, Instant};

/// Packets read from one side before the loop serves the other side and due packets.
const BATCH: usize = 64;

/// Options of the event loop.
#[derive(Clone, Copy, Debug)]
pub struct LoopOptions {
    /// The wall-clock time of time 0 of the run.
    pub begin: Instant,
    /// The end of the run, seconds.
    pub end_s: f64,
    /// How long before a packet is due the loop spins instead of sleeping: a sleep ends late.
    pub spin: Duration,
}

impl LoopOptions {
    /// A loop from `begin` for `end_s` seconds.
    pub fn new(begin: Instant, end_s: f64) -> Self {
        Self { begin, end_s, spin: Duration::from_micros(60) }
    }
}

/// Moves packets until the run ends or `keep_running` returns false. The loop passes it the time in
/// seconds and the health so far, and never sleeps beyond the end of the run.
pub fn drive(
    emulator: &mut Emulator,
    backend: &mut impl Backend,
    options: LoopOptions,
    mut keep_running: impl FnMut(f64, &Health) -> bool,
) -> io::Result<Health> {
    let now_s = || options.begin.elapsed().as_secs_f64();
    let (mut health, mut lateness) = (Health::default(), Lateness::default());
    loop {
        let now = now_s();
        if now >= options.end_s || !keep_running(now, &health) {
            break;
        }
        let mut moved = false;
        while let Some(ready) = emulator.next_due(now) {
            moved = true;
            let side = if ready.back { Side::Source } else { Side::Sink };
            let taken = backend.send(
                side,
                &mut emulator.buffer(ready.token)[..ready.length],
                ready.mark,
            )?;
            emulator.free_buffer(ready.token);
            lateness.add(now_s() - ready.due_s);
            health.released_packets += u64::from(taken);
            health.refused_packets += u64::from(!taken);
        }
        for side in Side::BOTH {
            moved |= receive(emulator, backend, side, &mut health, &now_s)?;
        }
        if !moved {
            let wait_s = emulator.next_due_s().min(options.end_s) - now_s();
            wait(backend, wait_s - options.spin.as_secs_f64())?;
        }
    }
    health.note(&lateness);
    Ok(health)
}

/// Reads a batch of packets from one side; returns whether there was one.
fn receive(
    emulator: &mut Emulator,
    backend: &mut impl Backend,
    side: Side,
    health: &mut Health,
    now_s: &impl Fn() -> f64,
) -> io::Result<bool> {
    for count in 0..BATCH {
        let Some(token) = emulator.allocate_buffer() else {
            health.refused_packets += 1;
            return Ok(count > 0);
        };
        match backend.receive(side, emulator.buffer(token))? {
            None => {
                emulator.free_buffer(token);
                return Ok(count > 0);
            }
            Some(Received::Packet(length, meta)) => {
                let known = emulator.inject(now_s(), token, length, side == Side::Sink, meta);
                health.strange_packets += u64::from(!known);
            }
            Some(other) => {
                emulator.free_buffer(token);
                health.strange_packets += u64::from(other == Received::UnknownFlow);
                health.broken_packets += u64::from(other == Received::BadChecksum);
            }
        }
    }
    Ok(true)
}

/// Sleeps until a packet arrives, for at most `wait_s` seconds; returns at once if that is not
/// positive.
fn wait(backend: &impl Backend, wait_s: f64) -> io::Result<()> {
    if wait_s <= 0.0 {
        std::hint::spin_loop();
        return Ok(());
    }
    // At most a second, so that `keep_running` is called at least once a second.
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
