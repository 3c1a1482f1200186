//! A run in virtual time: one thread has both namespaces, the emulator and all sockets. Computing
//! takes no time there, so it does at each instant what is due, and then waits for the next.

use super::congestion_controls::CongestionControls;
use super::namespace::{self, End, NetworkNamespace};
use super::packet_trace::PacketTrace;
use super::plan::{Plan, TIMESTAMP_BYTES};
use super::play::{Measurements, row_every_s};
use super::ring::Ring;
use super::socket::reseed_kernel;
use super::{sink, source};
use crate::events::{Event, Failure, send};
use crate::run_control::shuffled;
use cwndlab_emulator::{AckOptions, Emulator, Health, Lateness, Received, Side, Tun, set_ce};
use cwndlab_scenario::CheckedScenario;
use cwndlab_sim::{PacketEvent, TraceHash};
use rustix::thread::{ClockId, clock_nanosleep_absolute};
use rustix::time::{Timespec, clock_gettime};
use std::io;

/// Step of the kernel's clock, nanoseconds: reading it outside of interrupts takes a step
/// (`timer_read` of arch/um/kernel/time.c).
const CLOCK_NS: f64 = 256.0;
/// A wait ends that much before its time, which reading the clock then reaches to the step: timers
/// are up to this late, nanoseconds.
const LEAD_NS: u64 = 5 * CLOCK_NS as u64;
/// A deadline within this time may be past when a turn of the loop is done, seconds. Otherwise the
/// wait needs no reading of the clock, which is a system call.
const NEAR_S: f64 = 50e-6;
/// Readings of the clock between a packet of the kernel's timers and the one that tells of it.
const WAKE_NS: u64 = 3 * CLOCK_NS as u64;
/// Reports of progress in a run.
const REPORTS: f64 = 100.0;

/// Plays a scenario in virtual time.
pub fn play(
    scenario: &CheckedScenario,
    plan: &Plan,
    algorithms: &CongestionControls,
) -> Result<Measurements, Failure> {
    let order = shuffled(plan.flows.len(), scenario.seed);
    let window = scenario.window().map(|time| time.seconds());
    let source_device = namespace::enter(End::Source, plan)?;
    let row_every_s = row_every_s(scenario);
    let sources = source::Sources::new(plan, &algorithms.names, window, row_every_s, &order)?;
    let source_namespace = NetworkNamespace::current()?;
    let sink_device = namespace::enter(End::Sink, plan)?;
    let sinks = sink::Sinks::new(plan)?;
    let largest = plan.mtu as usize + 64;
    let networks = [End::Source.network(), End::Sink.network()];
    let failed = |error| Failure::broken("TUN device", error);
    let ring =
        Ring::new([source_device, sink_device], sources.descriptor(), largest).map_err(failed)?;
    let mut run = VirtualRun {
        emulator: Emulator::new(scenario, largest),
        ring,
        sources,
        sinks,
        networks,
        health: Health::default(),
        lateness: Lateness::default(),
        trace_hash: TraceHash::default(),
        packets: scenario.trace.packets.then(|| PacketTrace::new(payloads(plan))),
    };
    if run.packets.is_some() {
        run.emulator.record_drops();
    }
    let end_s = scenario.duration.seconds();
    run.play(end_s).map_err(failed)?;
    let VirtualRun {
        mut emulator, ring, sources, mut health, lateness, trace_hash, packets, ..
    } = run;
    emulator.finish(end_s);
    health.note(&lateness);
    health.refused_packets += ring.refused();
    let losses_of =
        |end| namespace::losses(end).map_err(|error| Failure::broken("counters", error));
    let sink_losses = losses_of(End::Sink)?;
    source_namespace.enter()?;
    let losses = [losses_of(End::Source)?, sink_losses];
    let (watched, rows) = sources.finish();
    Ok(Measurements {
        emulator,
        health,
        watched,
        rows,
        losses,
        trace_hash: Some(trace_hash),
        packets,
    })
}

/// What one thread drives, and what it has seen.
struct VirtualRun<'a> {
    emulator: Emulator,
    ring: Ring,
    sources: source::Sources<'a>,
    sinks: sink::Sinks<'a>,
    networks: [[u8; 2]; 2],
    health: Health,
    lateness: Lateness,
    trace_hash: TraceHash,
    packets: Option<PacketTrace>,
}

impl VirtualRun<'_> {
    /// Moves packets and serves sockets until `end_s`. The clock is read when a packet has ended
    /// the wait; after a deadline it is the deadline's time.
    fn play(&mut self, end_s: f64) -> io::Result<()> {
        let begin_ns = begin_afresh()?;
        let (mut now, mut report_s, mut sources_s) = (0.0, 0.0, 0.0);
        while now < end_s {
            if report_s <= now {
                send(&Event::Progress { time_s: now, packets: self.health.released_packets });
                report_s = now + end_s / REPORTS;
            }
            if sources_s <= now {
                sources_s = self.sources.advance(now);
                self.ring.submit()?;
            }
            while self.serve(now)? {}
            let next_s = self.emulator.next_due_s().min(sources_s).min(end_s).max(now);
            let next_ns = (next_s * 1e9 / CLOCK_NS - 1e-3).ceil() as u64 * CLOCK_NS as u64;
            let wakes_ns = (begin_ns + next_ns).saturating_sub(LEAD_NS);
            let mut clock_ns = if next_s - now < NEAR_S { monotonic_ns() } else { 0 };
            if clock_ns + LEAD_NS > wakes_ns || self.ring.wait(wakes_ns)? {
                while clock_ns < begin_ns + next_ns {
                    clock_ns = monotonic_ns();
                }
            } else {
                clock_ns = monotonic_ns() - WAKE_NS;
            }
            clock_ns -= begin_ns;
            now = (clock_ns as f64 / 1e9).max(now);
        }
        Ok(())
    }

    /// Does what is due now; whether a packet has moved, so that more may be.
    fn serve(&mut self, now: f64) -> io::Result<bool> {
        let delivered = self.deliver(now)?;
        if delivered {
            self.ring.submit()?;
        }
        self.sinks.serve()?;
        if self.ring.is_ready()? {
            self.sources.wait(0.0)?;
            self.ring.submit()?;
        }
        let received = self.receive(now)?;
        self.record_drops();
        Ok(delivered || received)
    }

    /// Writes all packets that are due to their devices; whether there were any.
    fn deliver(&mut self, now: f64) -> io::Result<bool> {
        let mut delivered = false;
        while let Some(due) = self.emulator.next_due(now) {
            delivered = true;
            let packet = &mut self.emulator.buffer(due.token)[..due.length];
            if due.mark {
                set_ce(packet);
            }
            let side = if due.back { Side::Source } else { Side::Sink };
            add_packet(&mut self.trace_hash, due.due_s, DELIVERED + side as u64, packet);
            if side == Side::Sink {
                self.sinks.arrives(due.flow as usize);
            }
            let packet: Box<[u8]> = (&*packet).into();
            self.emulator.free_buffer(due.token);
            if self.packets.is_some() {
                self.record_delivery(now, side, &packet)?;
            }
            self.ring.write(side as usize, packet)?;
            self.lateness.add(now - due.due_s);
            self.health.released_packets += 1;
        }
        Ok(delivered)
    }

    /// Records the packets that the network has dropped.
    fn record_drops(&mut self) {
        let Some(trace) = &mut self.packets else { return };
        for (at_s, meta) in self.emulator.take_drops() {
            trace.data(at_s, PacketEvent::Drop, &meta);
        }
    }

    /// Records a packet that is about to be delivered: of an ACK with the window before it, which
    /// those of the same instant have changed by then.
    fn record_delivery(&mut self, now: f64, side: Side, packet: &[u8]) -> io::Result<()> {
        let Received::Packet(_, meta) = Tun::received(self.networks, side.other(), packet) else {
            return Ok(());
        };
        let Some(trace) = &mut self.packets else { return Ok(()) };
        if side == Side::Sink {
            trace.data(now, PacketEvent::Receive, &meta);
            return Ok(());
        }
        self.ring.submit()?;
        let info = self.sources.info(meta.flow as usize);
        trace.ack(now, &meta, &AckOptions::of(packet), info.as_ref());
        Ok(())
    }

    /// Injects all packets that were read; whether there were any.
    fn receive(&mut self, now: f64) -> io::Result<bool> {
        let mut received = false;
        while let Some(packet) = self.ring.next() {
            received = true;
            let side = Side::BOTH[packet.end];
            let bytes = self.ring.bytes(packet);
            add_packet(&mut self.trace_hash, now, side as u64, bytes);
            match (Tun::received(self.networks, side, bytes), self.emulator.allocate_buffer()) {
                (Received::Packet(length, meta), Some(token)) => {
                    if let Some(trace) = self.packets.as_mut().filter(|_| side == Side::Source) {
                        trace.data(now, PacketEvent::Send, &meta);
                    }
                    self.emulator.buffer(token)[..length].copy_from_slice(bytes);
                    let back = side == Side::Sink;
                    let known = self.emulator.inject(now, token, length, back, meta);
                    self.health.strange_packets += u64::from(!known);
                }
                (Received::Packet(..), None) => self.health.refused_packets += 1,
                (other, token) => {
                    token.into_iter().for_each(|token| self.emulator.free_buffer(token));
                    self.health.strange_packets += u64::from(other == Received::UnknownFlow);
                    self.health.broken_packets += u64::from(other == Received::BadChecksum);
                }
            }
            self.ring.free(packet)?;
        }
        Ok(received)
    }
}

/// Bytes of a full packet of each flow, without headers and options.
fn payloads(plan: &Plan) -> impl Iterator<Item = u32> {
    let options = if plan.timestamps { TIMESTAMP_BYTES } else { 0 };
    plan.flows.iter().map(move |flow| flow.mss_bytes - options)
}

/// Marks a packet in the trace hash as delivered; one that was sent has its side alone.
const DELIVERED: u64 = 2;

/// Adds a packet to the trace hash: its time in nanoseconds, what happened to it, and its bytes.
fn add_packet(hash: &mut TraceHash, at_s: f64, what: u64, packet: &[u8]) {
    hash.add((at_s * 1e9).round() as u64);
    hash.add(what << 32 | packet.len() as u64);
    for word in packet.chunks(8) {
        let mut bytes = [0; 8];
        bytes[..word.len()].copy_from_slice(word);
        hash.add(u64::from_le_bytes(bytes));
    }
}

/// Begins at a whole second, with the kernel's random numbers drawn anew from its seed: ports,
/// sequence numbers and phases of timers are then the same however long the start took, and
/// whatever was drawn in it. Returns the time, nanoseconds.
fn begin_afresh() -> io::Result<u64> {
    let tv_sec = clock_gettime(ClockId::Monotonic).tv_sec + 1;
    clock_nanosleep_absolute(ClockId::Monotonic, &Timespec { tv_sec, tv_nsec: 0 })?;
    reseed_kernel()?;
    Ok(tv_sec as u64 * 1_000_000_000)
}

fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
