//! A run in virtual time: one thread has both namespaces, the emulator and all sockets. Computing
//! takes no time there, so it does at each instant what is due, and then waits for the next.

use super::congestion_controls::CongestionControls;
use super::namespace::{self, End, NetworkNamespace};
use super::plan::Plan;
use super::play::{Measurements, row_every_s};
use super::ring::Ring;
use super::{sink, source};
use crate::events::{Event, Failure, send};
use crate::run_control::shuffled;
use cwndlab_emulator::{Emulator, Health, Lateness, Received, Side, Tun, set_ce};
use cwndlab_scenario::Scenario;
use cwndlab_sim::TraceHash;
use rustix::time::{ClockId, clock_gettime};

/// Reports of progress in a run.
const REPORTS: f64 = 100.0;

/// Plays a scenario in virtual time.
pub fn play(
    scenario: &Scenario,
    plan: &Plan,
    algorithms: &CongestionControls,
) -> Result<Measurements, Failure> {
    let order = shuffled(plan.flows.len(), scenario.seed);
    let window = scenario.window().map(|time| time.seconds());
    let source_device = namespace::enter(End::Source, plan)?;
    let row_every_s = row_every_s(scenario);
    let mut sources = source::Sources::new(plan, &algorithms.names, window, row_every_s, &order)?;
    let source_namespace = NetworkNamespace::current()?;
    let sink_device = namespace::enter(End::Sink, plan)?;
    let mut sinks = sink::Sinks::new(plan)?;
    let largest = plan.mtu as usize + 64;
    let networks = [End::Source.network(), End::Sink.network()];
    let failed = |error| Failure::broken("TUN device", error);
    let mut ring =
        Ring::new([source_device, sink_device], sources.descriptor(), largest).map_err(failed)?;
    let mut emulator = Emulator::new(scenario, largest);
    let (mut health, hash) = drive(
        &mut Parts {
            emulator: &mut emulator,
            ring: &mut ring,
            sources: &mut sources,
            sinks: &mut sinks,
            networks,
        },
        scenario.duration.seconds(),
    )
    .map_err(failed)?;
    emulator.finish(scenario.duration.seconds());
    health.refused_packets += ring.refused();
    let losses_of =
        |end| namespace::losses(end).map_err(|error| Failure::broken("counters", error));
    let sink_losses = losses_of(End::Sink)?;
    source_namespace.enter()?;
    let losses = [losses_of(End::Source)?, sink_losses];
    let (watched, rows) = sources.finish();
    Ok(Measurements { emulator, health, watched, rows, losses, trace_hash: Some(hash) })
}

struct Parts<'a, 'b> {
    emulator: &'a mut Emulator,
    ring: &'a mut Ring,
    sources: &'a mut source::Sources<'b>,
    sinks: &'a mut sink::Sinks<'b>,
    networks: [[u8; 2]; 2],
}

/// Moves packets and serves sockets until `end_s`. The clock is read when a packet has ended the
/// wait; after a deadline it is the deadline's time.
fn drive(parts: &mut Parts<'_, '_>, end_s: f64) -> std::io::Result<(Health, TraceHash)> {
    let Parts { emulator, ring, sources, sinks, networks } = parts;
    let (mut health, mut lateness) = (Health::default(), Lateness::default());
    let mut hash = TraceHash::default();
    let begin_ns = monotonic_ns();
    let (mut now, mut report_s) = (0.0, 0.0);
    while now < end_s {
        if report_s <= now {
            send(&Event::Progress { time_s: now, packets: health.released_packets });
            report_s = now + end_s / REPORTS;
        }
        let sources_s = sources.advance(now);
        // Until nothing more happens at this instant.
        loop {
            let mut delivered = false;
            while let Some(ready) = emulator.next_due(now) {
                delivered = true;
                let packet = &mut emulator.buffer(ready.token)[..ready.length];
                if ready.mark {
                    set_ce(packet);
                }
                let end = usize::from(!ready.back);
                hash_packet(&mut hash, ready.due_s, 2 + end as u64, packet);
                if end == 1 {
                    sinks.arrives(flow_of(packet));
                }
                let packet = packet.into();
                emulator.free_buffer(ready.token);
                ring.write(end, packet)?;
                lateness.add(now - ready.due_s);
                health.released_packets += 1;
            }
            if delivered {
                ring.submit()?;
            }
            sinks.serve(now)?;
            if ring.is_ready()? {
                sources.wait(0.0)?;
            }
            let mut received = false;
            while let Some(packet) = ring.next() {
                received = true;
                let Some(token) = emulator.allocate_buffer() else {
                    health.refused_packets += 1;
                    continue;
                };
                let length = ring.take(packet, emulator.buffer(token))?;
                let side = Side::BOTH[packet.end];
                let bytes = &emulator.buffer(token)[..length];
                hash_packet(&mut hash, now, packet.end as u64, bytes);
                match Tun::received(*networks, side, bytes) {
                    Received::Packet(length, meta) => {
                        let known = emulator.inject(now, token, length, side == Side::Sink, meta);
                        health.strange_packets += u64::from(!known);
                    }
                    other => {
                        emulator.free_buffer(token);
                        health.strange_packets += u64::from(other == Received::UnknownFlow);
                        health.broken_packets += u64::from(other == Received::BadChecksum);
                    }
                }
            }
            if !delivered && !received {
                break;
            }
        }
        let next_s = emulator.next_due_s().min(sources_s).min(sinks.next_s()).min(end_s).max(now);
        let deadline_ns = begin_ns + (next_s * 1e9).ceil() as u64;
        now = if ring.wait(deadline_ns)? {
            next_s
        } else {
            ((monotonic_ns() - begin_ns) as f64 / 1e9).clamp(now, end_s)
        };
    }
    health.note(&lateness);
    Ok((health, hash))
}

/// The flow of a packet to the sink: the last two bytes of its destination address, from 1.
fn flow_of(packet: &[u8]) -> usize {
    usize::from(u16::from_be_bytes([packet[18], packet[19]])) - 1
}

/// Adds a packet, its time in nanoseconds and what happened to it.
fn hash_packet(hash: &mut TraceHash, at_s: f64, what: u64, packet: &[u8]) {
    hash.add((at_s * 1e9).round() as u64);
    hash.add(what << 32 | packet.len() as u64);
    for word in packet.chunks(8) {
        let mut bytes = [0; 8];
        bytes[..word.len()].copy_from_slice(word);
        hash.add(u64::from_le_bytes(bytes));
    }
}

fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
