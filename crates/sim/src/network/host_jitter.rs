//! Host jitter: senders need a random time to send each packet, and send in order.
//!
//! As exact as a simulator no host is, and exact times meet a drop-tail queue in a pattern that
//! decides who loses (S. Floyd and V. Jacobson, "On traffic phase effects in packet-switched
//! gateways", Internetworking: Research and Experience 3(3), 1992). Their remedy is a processing
//! time at the source, uniform from zero to the time that the bottleneck needs for a packet. In
//! ns-2 it is `overhead_`, which delays all packets that an ACK releases together.

use crate::id::FlowId;
use crate::random::stream::RandomStream;
use cwndlab_tcp::step_after_s;

/// Times at which packets leave their senders.
#[derive(Clone, Debug, Default)]
pub struct HostJitter {
    /// Step of the hosts' clocks, seconds; 0: they are exact.
    step_s: f64,
    high_s: f64,
    seed: u64,
    /// Stream and last departure of each flow.
    hosts: Vec<(RandomStream, f64)>,
}

impl HostJitter {
    /// Sets the longest time, in seconds (0 for none), before any flow is added.
    pub fn set(&mut self, high_s: f64, seed: u64) {
        (self.high_s, self.seed) = (high_s, seed);
    }

    /// Sets the step of the hosts' clocks, seconds; 0 for exact ones.
    pub fn set_step(&mut self, step_s: f64) {
        self.step_s = step_s;
    }

    /// Step of the hosts' clocks, seconds; 0: they are exact.
    pub fn step_s(&self) -> f64 {
        self.step_s
    }

    /// When a host notices what arrives at `at_s`, seconds: at the next step of its clock.
    #[inline]
    pub fn noticed_s(&self, at_s: f64) -> f64 {
        if self.step_s > 0.0 { step_after_s(at_s, self.step_s) } else { at_s }
    }

    /// Adds the host of the next flow; arriving flows have one for each slot, without a name.
    pub fn push(&mut self, name: &str) {
        if self.high_s > 0.0 {
            self.hosts.push((RandomStream::new(self.seed, &format!("host/{name}")), 0.0));
        }
    }

    /// When a packet leaves that a flow sends at `now_s`.
    #[inline(always)]
    pub fn departure_s(&mut self, flow: FlowId, now_s: f64) -> f64 {
        if self.high_s > 0.0 { self.late_s(flow, now_s) } else { now_s }
    }

    #[cold]
    #[inline(never)]
    fn late_s(&mut self, flow: FlowId, now_s: f64) -> f64 {
        while self.hosts.len() <= flow.index() {
            self.push(&format!("slot {}", self.hosts.len()));
        }
        let (stream, last_s) = &mut self.hosts[flow.index()];
        *last_s = last_s.max(now_s + stream.between(0.0, self.high_s));
        *last_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_late_by_a_uniform_time() {
        let mut hosts = HostJitter::default();
        hosts.set(1e-3, 5);
        hosts.push("flow");
        let late_s: Vec<f64> = (1..=100_000)
            .map(|i| {
                // Far enough apart that none waits for the one before.
                let now_s = f64::from(i) * 0.01;
                hosts.departure_s(FlowId::new(0), now_s) - now_s
            })
            .collect();
        // Mean 0.5 ms; deviation 1/sqrt(12) ms, so that the error of the mean is 0.00091 ms.
        let mean_ms = 1e3 * late_s.iter().sum::<f64>() / 1e5;
        assert!((mean_ms - 0.5).abs() < 4.0 * 0.00091, "{mean_ms}");
        assert!(late_s.iter().all(|late_s| (-1e-12..1.001e-3).contains(late_s)));
    }

    #[test]
    fn packets_of_a_host_stay_in_order() {
        let mut hosts = HostJitter::default();
        hosts.set(0.01, 5);
        let left: Vec<f64> =
            (0..1000).map(|i| hosts.departure_s(FlowId::new(3), f64::from(i) * 1e-4)).collect();
        assert!(left.is_sorted());
        // Each flow has draws of its own.
        assert_ne!(hosts.departure_s(FlowId::new(1), 1.0), hosts.departure_s(FlowId::new(2), 1.0));
    }

    #[test]
    fn without_jitter_packets_leave_at_once() {
        assert_eq!(HostJitter::default().departure_s(FlowId::new(7), 1.5), 1.5);
    }
}
