//! A link in front of each kind of discipline, as small as it can be, for the tests.
#![allow(dead_code, reason = "each test file uses its part")]

use cwndlab_queues::{Admission, ArrivingPacket, Backlog, Decision, DepartedPacket, QueueItem};
use std::collections::VecDeque;

/// A packet in a [`Link`]: when it arrived, its size and priority, and whether it was marked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Packet {
    pub size_bytes: u32,
    pub priority: u8,
    pub marked: bool,
    pub number: usize,
}

/// A first-in first-out link under an admission rule; the head of the queue is in service.
pub struct Link<A> {
    pub rule: A,
    pub rate_bit_s: f64,
    pub queue: VecDeque<Packet>,
    pub departed: Vec<Packet>,
    pub now_s: f64,
    arrivals: usize,
    service_began_s: f64,
    idle_since_s: f64,
}

impl<A: Admission> Link<A> {
    pub fn new(rule: A, rate_bit_s: f64) -> Self {
        Self {
            rule,
            rate_bit_s,
            queue: VecDeque::new(),
            departed: Vec::new(),
            now_s: 0.0,
            arrivals: 0,
            service_began_s: 0.0,
            idle_since_s: 0.0,
        }
    }

    pub fn backlog(&self) -> Backlog {
        Backlog {
            packets: self.queue.len() as u64,
            bytes: self.queue.iter().map(|packet| u64::from(packet.size_bytes)).sum(),
            in_service_bytes: self.queue.front().map_or(0, |packet| u64::from(packet.size_bytes)),
            in_service_priority: self.queue.front().map_or(0, |packet| packet.priority),
            idle_since_s: self.idle_since_s,
        }
    }

    /// Departures and deadlines up to this moment, in order of time.
    pub fn advance(&mut self, now_s: f64) {
        loop {
            let departs_s = self.queue.front().map_or(f64::INFINITY, |packet| {
                self.service_began_s + 8.0 * f64::from(packet.size_bytes) / self.rate_bit_s
            });
            let deadline_s = self.rule.next_update_s();
            if departs_s.min(deadline_s) > now_s {
                break;
            }
            if departs_s > deadline_s {
                self.rule.on_update(deadline_s, &self.backlog());
                continue;
            }
            let Some(packet) = self.queue.pop_front() else { break };
            let since_s = std::mem::replace(&mut self.service_began_s, departs_s);
            self.idle_since_s = departs_s;
            self.departed.push(packet);
            if self.rule.needs_departures() {
                let Packet { size_bytes, priority, .. } = packet;
                self.rule.on_departure(
                    &DepartedPacket {
                        tx_end_s: departs_s,
                        tx_start_s: since_s,
                        size_bytes,
                        priority,
                    },
                    &self.backlog(),
                );
            }
        }
        self.now_s = now_s;
    }

    /// An arrival at this moment.
    pub fn arrive(
        &mut self,
        now_s: f64,
        size_bytes: u32,
        ecn: bool,
        priority: u8,
        random: &mut impl FnMut() -> f64,
    ) -> Decision {
        self.advance(now_s);
        let arrival = ArrivingPacket { now_s, size_bytes, flow: 0, ecn, priority };
        let decision = self.rule.admit(&arrival, &self.backlog(), random);
        if decision != Decision::Drop {
            if self.queue.is_empty() {
                self.service_began_s = now_s;
            }
            self.queue.push_back(Packet {
                size_bytes,
                priority,
                marked: decision == Decision::Mark,
                number: self.arrivals,
            });
        }
        self.arrivals += 1;
        decision
    }
}

/// A packet for a queue that owns it, distinguished from others by a number.
pub fn item(flow: u32, size_bytes: u32, enqueued_s: f64, number: usize) -> QueueItem<usize> {
    QueueItem {
        size_bytes,
        flow,
        ecn: false,
        l4s: false,
        marked: false,
        priority: 1,
        enqueued_s,
        packet: number,
    }
}

/// Numbers uniform in [0, 1), the same every time (Knuth's multiplier for 64 bits).
pub fn random() -> impl FnMut() -> f64 {
    let mut state = 1u64;
    move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}
