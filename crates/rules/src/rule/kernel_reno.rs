//! Reno as the Linux kernel has it (`tcp_cong.c`): whole windows, and a counter of packets.
//!
//! ```text
//! per ACK:       counter <- counter + packets; each full window in it is a packet of growth
//! on congestion: w <- max(floor(w / 2), 2), counter <- 0
//! ```
//!
//! A window that was reached with packets to spare starts a new count (`tcp_cong_avoid_ai`), so
//! that a round trip without loss adds a packet, where 1/w per ACK adds slightly less.

use crate::family::no_check;
use crate::{Ack, AckFields, Congestion, FamilyOf, Needs, WindowRule};

/// Packets that count towards the next packet of growth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GrowthCounter(u64);

impl GrowthCounter {
    /// The window after `packets` more, where `per_packet` of them are a packet of growth.
    pub(crate) fn grow(&mut self, cwnd: f64, per_packet: u64, packets: u64) -> f64 {
        let (mut cwnd, per_packet) = (cwnd, per_packet.max(1));
        // What counted for a larger window is one packet now.
        if self.0 >= per_packet {
            self.0 = 0;
            cwnd += 1.0;
        }
        self.0 += packets;
        if self.0 >= per_packet {
            cwnd += (self.0 / per_packet) as f64;
            self.0 %= per_packet;
        }
        cwnd
    }

    pub(crate) fn reset(&mut self) {
        self.0 = 0;
    }
}

/// Reno of Linux.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelReno {
    counter: GrowthCounter,
}

impl WindowRule for KernelReno {
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        if ack.growth_packets == 0 {
            return cwnd;
        }
        self.counter.grow(cwnd, cwnd as u64, ack.growth_packets)
    }

    fn decrease(&mut self, cwnd: f64, _: Congestion) -> f64 {
        self.counter.reset();
        (cwnd / 2.0).floor().max(2.0)
    }

    fn needs(&self) -> Needs {
        Needs { ack: AckFields::None, ..Needs::default() }
    }
}

pub(crate) const FAMILY: FamilyOf<Box<KernelReno>> = FamilyOf {
    name: "reno",
    summary: "one packet per round trip, counted in whole packets; half on congestion",
    source: "Linux, net/ipv4/tcp_cong.c",
    example: "kernel:reno",
    deployed: true,
    parameters: &[],
    check: no_check,
    build: |_| Box::default(),
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Five ACKs of two packets at a window of 10 add one packet; at 11 the next eleven do.
    #[test]
    fn a_window_of_packets_adds_one() {
        let mut rule = KernelReno::default();
        let ack = Ack { growth_packets: 2, ..Ack::EMPTY };
        let mut cwnd = 10.0;
        let windows: Vec<f64> = (0..11)
            .map(|_| {
                cwnd = rule.increase(cwnd, &ack);
                cwnd
            })
            .collect();
        assert_eq!(windows, [10., 10., 10., 10., 11., 11., 11., 11., 11., 11., 12.]);
        assert_eq!(rule.decrease(13.0, Congestion::FastRetransmit), 6.0);
        assert_eq!(rule.decrease(3.0, Congestion::Timeout), 2.0);
    }
}
