//! A small transport stack beside TCP in the simulator: a window that grows by a packet in
//! each round trip and is halved by a loss, numbers that are never used twice, an ACK for each
//! datagram.
//!
//!     cargo run --example my_stack

use cwndlab_scenario::Scenario;
use cwndlab_sim::{Options, Simulation};
use cwndlab_stack::{Connection, Ecn, Endpoint, FlowSettings, Stack};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

/// A datagram later by so many numbers was acknowledged: this one is lost.
const REORDERING: u64 = 3;
const TIMEOUT: Duration = Duration::from_secs(1);
/// Bytes that the sender takes from the application ahead of what it may send.
const BUFFER: u64 = 1 << 16;

#[derive(Default)]
struct Sender {
    payload: u64,
    cwnd: f64,
    /// Ranges of data to send: offset and length.
    queue: VecDeque<(u64, u64)>,
    written: u64,
    is_finished: bool,
    /// When each datagram in flight was sent, and its range.
    in_flight: BTreeMap<u64, (Duration, u64, u64)>,
    next_number: u64,
    /// Losses of numbers below this one have halved the window already.
    recovered: u64,
    srtt: Option<Duration>,
    reductions: [u64; 3],
}

impl Sender {
    fn lose(&mut self, below: u64, factor: f64, cause: usize) {
        let kept = self.in_flight.split_off(&below);
        let lost = std::mem::replace(&mut self.in_flight, kept);
        let Some((&last, _)) = lost.last_key_value() else { return };
        self.queue.extend(lost.values().map(|&(_, offset, length)| (offset, length)));
        if last >= self.recovered {
            self.cwnd = (self.cwnd * factor).max(1.0);
            self.recovered = self.next_number;
            self.reductions[cause] += 1;
        }
    }
}

impl Endpoint for Sender {
    fn receive(&mut self, now: Duration, datagram: &[u8], _: Ecn) {
        let number = u64::from_be_bytes(datagram.try_into().unwrap_or_default());
        let Some((sent, ..)) = self.in_flight.remove(&number) else { return };
        self.srtt = Some(self.srtt.map_or(now - sent, |srtt| (srtt * 7 + (now - sent)) / 8));
        self.cwnd += 1.0 / self.cwnd;
        self.lose(number.saturating_sub(REORDERING - 1), 0.5, 0);
    }

    fn on_timeout(&mut self, _: Duration) {
        self.lose(u64::MAX, 0.0, 2);
    }

    fn next_timeout(&mut self) -> Option<Duration> {
        self.in_flight.first_key_value().map(|(_, &(sent, ..))| sent + TIMEOUT)
    }

    fn transmit(&mut self, now: Duration, buffer: &mut Vec<u8>) -> Option<Ecn> {
        if self.in_flight.len() as f64 + 1.0 > self.cwnd {
            return None;
        }
        let (offset, length) = self.queue.pop_front()?;
        let now_sent = length.min(self.payload);
        if now_sent < length {
            self.queue.push_front((offset + now_sent, length - now_sent));
        }
        self.in_flight.insert(self.next_number, (now, offset, now_sent));
        buffer.extend(self.next_number.to_be_bytes());
        buffer.extend(offset.to_be_bytes());
        buffer.resize(16 + now_sent as usize, 0);
        self.next_number += 1;
        Some(Ecn::NotEct)
    }

    fn write(&mut self, bytes: u64) -> u64 {
        let waiting: u64 = self.queue.iter().map(|range| range.1).sum();
        let taken = bytes.min(BUFFER.saturating_sub(waiting));
        if taken > 0 {
            self.queue.push_back((self.written, taken));
            self.written += taken;
        }
        taken
    }

    fn finish(&mut self) {
        self.is_finished = true;
    }

    fn stop(&mut self) {
        self.queue.clear();
    }

    fn cwnd_packets(&self) -> f64 {
        self.cwnd
    }

    fn smoothed_rtt(&self) -> Option<Duration> {
        self.srtt
    }

    fn reductions(&self) -> [u64; 3] {
        self.reductions
    }

    fn is_complete(&self) -> bool {
        self.is_finished && self.queue.is_empty() && self.in_flight.is_empty()
    }
}

#[derive(Default)]
struct Receiver {
    acks: VecDeque<[u8; 8]>,
    /// Offsets of the ranges that have arrived. Ranges that are sent again are the same ones.
    arrived: BTreeSet<[u8; 8]>,
    unread: u64,
}

impl Endpoint for Receiver {
    fn receive(&mut self, _: Duration, datagram: &[u8], _: Ecn) {
        let Some((number, rest)) = datagram.split_first_chunk::<8>() else { return };
        let Some((offset, payload)) = rest.split_first_chunk::<8>() else { return };
        self.acks.push_back(*number);
        if self.arrived.insert(*offset) {
            self.unread += payload.len() as u64;
        }
    }

    fn transmit(&mut self, _: Duration, buffer: &mut Vec<u8>) -> Option<Ecn> {
        buffer.extend(self.acks.pop_front()?);
        Some(Ecn::NotEct)
    }

    fn read(&mut self) -> u64 {
        std::mem::take(&mut self.unread)
    }
}

struct MyStack;

impl Stack for MyStack {
    fn name(&self) -> &str {
        "mine"
    }

    fn connection(&self, settings: &FlowSettings) -> Result<Connection, String> {
        let payload = u64::from(settings.datagram_bytes) - 16;
        let cwnd = settings.initial_window_packets;
        Ok(Connection {
            sender: Box::new(Sender { payload, cwnd, ..Sender::default() }),
            receiver: Box::<Receiver>::default(),
        })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let scenario = Scenario::from_toml(
        r#"
        duration = "120s"
        measure = ["20s", "120s"]
        host_jitter = "1ms"
        [dumbbell]
        rate = "10Mbit"
        delay = "20ms"
        [tcp]
        packet_size = 1448
        [[flows]]
        name = "tcp"
        rule = "NewReno"
        [[flows]]
        name = "mine"
        rule = "NewReno"
        stack = "mine"
        "#,
    )?;
    let stacks: [Arc<dyn Stack>; 1] = [Arc::new(MyStack)];
    let result = Simulation::with_stacks(&scenario, Options::default(), &stacks).run()?;
    for flow in &result.flows {
        let (name, mbit_s) = (flow.identity.name(), flow.goodput_bps / 1e6);
        println!("{name}: {mbit_s:.2} Mbit/s, {} reductions", flow.window_reductions);
    }
    println!("trace hash {}", result.trace_hash);
    Ok(())
}
