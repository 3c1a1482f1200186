//! Connections of arriving flows: when they begin, and which responses they carry.
//!
//! All that a connection transmits is drawn when it arrives, so that the draws do not depend on the
//! order in which senders are processed.

use crate::endpoint::arrival_process::ArrivalProcess;
use crate::random::variable::RandomVariable;
use cwndlab_scenario::ConnectionVectors;
use std::collections::VecDeque;

/// Responses of a drawn connection at most.
const MAX_EXCHANGES: f64 = 1e6;

/// What the arriving flows of a group transmit, and when.
#[derive(Clone, Debug)]
pub enum Connections {
    /// Drawn.
    Drawn {
        /// Arrival process.
        process: ArrivalProcess,
        /// Data packets of a response.
        size: RandomVariable,
        /// Number of responses, and think time before each but the first, seconds; none for one
        /// response.
        exchanges: Option<Box<(RandomVariable, RandomVariable)>>,
    },
    /// Recorded.
    Recorded {
        /// Connections in order.
        vectors: ConnectionVectors,
        /// Those that have arrived.
        arrived: usize,
        /// What is added to their start times, seconds.
        offset_s: f64,
        /// End of the arrivals, seconds.
        stop_s: f64,
    },
}

/// What a connection transmits after its first response.
#[derive(Clone, Debug)]
pub struct Exchanges {
    /// Responses to come: time to wait before, seconds, and data packets.
    pub left: VecDeque<(f64, u64)>,
    /// Whether the wait counts from the start of the response before, and not from its end.
    pub is_concurrent: bool,
    /// When the connection began, seconds.
    pub first_s: f64,
    /// Time in which its sender had data, but for the period that lasts, seconds.
    pub busy_s: f64,
    /// Number of periods in which its sender had data.
    pub busy_periods: u32,
}

impl Connections {
    /// The arrival after `now_s`, if it precedes the stop.
    pub fn next_time_s(&mut self, now_s: f64) -> Option<f64> {
        match self {
            Self::Drawn { process, .. } => process.next_time_s(now_s),
            Self::Recorded { vectors, arrived, offset_s, stop_s } => {
                let next = vectors.as_slice().get(*arrived)?;
                Some(*offset_s + next.start_s).filter(|start_s| start_s < stop_s)
            }
        }
    }

    /// The connection that arrives at `now_s`: data packets of its first response, and the others,
    /// if any. `packet_size`: payload of its packets, bytes; `largest`: that of the packets in
    /// which sizes are drawn.
    pub fn next(&mut self, now_s: f64, packet_size: u32, largest: u32) -> (u64, Option<Exchanges>) {
        let (first, left, is_concurrent) = match self {
            Self::Drawn { size, exchanges, .. } => {
                let mut packets = || resized(size.next_packets(), packet_size, largest);
                let first = packets();
                let Some((count, think)) = exchanges.as_deref_mut() else { return (first, None) };
                let count = count.next().round().clamp(1.0, MAX_EXCHANGES) as u64;
                (first, (1..count).map(|_| (think.next(), packets())).collect(), false)
            }
            Self::Recorded { vectors, arrived, .. } => {
                let vector = &vectors.as_slice()[*arrived];
                *arrived += 1;
                let packets = |bytes: u64| bytes.div_ceil(u64::from(packet_size));
                let mut responses = vector.responses.iter();
                let first = responses.next().map_or(1, |response| packets(response.1));
                let left: VecDeque<_> =
                    responses.map(|&(wait_s, bytes)| (wait_s, packets(bytes))).collect();
                (first, left, vector.is_concurrent)
            }
        };
        let others =
            Exchanges { left, is_concurrent, first_s: now_s, busy_s: 0.0, busy_periods: 1 };
        (first, Some(others).filter(|exchanges| !exchanges.left.is_empty()))
    }
}

/// As many packets of `packet_size` bytes as carry `packets` of `largest` bytes.
fn resized(packets: u64, packet_size: u32, largest: u32) -> u64 {
    if packet_size == largest {
        return packets;
    }
    packets.saturating_mul(u64::from(largest)).div_ceil(u64::from(packet_size))
}
