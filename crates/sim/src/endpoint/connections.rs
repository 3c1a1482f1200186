//! Connections of arriving flows: when they begin, and which responses they carry.
//!
//! All that a connection transmits is drawn when it arrives, so that the draws do not depend on the
//! order in which senders are processed.

use crate::endpoint::arrival_process::ArrivalProcess;
use crate::random::variable::RandomVariable;
use cwndlab_scenario::{ConnectionVector, ConnectionVectors};
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
    /// The same up to the arrival of the last packet of each period at the receiver, seconds.
    pub received_busy_s: f64,
    /// Number of periods in which its sender had data.
    pub busy_periods: u32,
}

impl Connections {
    /// The arrival after `now_s`, if it precedes the stop.
    #[inline]
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
    #[inline]
    pub fn next(
        &mut self,
        now_s: f64,
        packet_size: u32,
        largest: u32,
    ) -> (u64, Option<Box<Exchanges>>) {
        match self {
            Self::Drawn { size, exchanges, .. } => {
                let first = resized(size.next_packets(), packet_size, largest);
                let Some(laws) = exchanges.as_deref_mut() else { return (first, None) };
                let left = draw_others(laws, size, packet_size, largest);
                (first, Exchanges::new(left, false, now_s))
            }
            Self::Recorded { vectors, arrived, .. } => {
                let vector = &vectors.as_slice()[*arrived];
                *arrived += 1;
                recorded(vector, now_s, packet_size)
            }
        }
    }
}

impl Exchanges {
    /// The responses after the first of a connection that begins at `first_s`; none if none are
    /// left.
    #[cold]
    fn new(left: VecDeque<(f64, u64)>, is_concurrent: bool, first_s: f64) -> Option<Box<Self>> {
        let (busy_s, received_busy_s, busy_periods) = (0.0, 0.0, 1);
        (!left.is_empty()).then(|| {
            let new = Self { left, is_concurrent, first_s, busy_s, received_busy_s, busy_periods };
            Box::new(new)
        })
    }
}

/// Data packets of the first response of a recorded connection, and the others.
#[cold]
fn recorded(
    vector: &ConnectionVector,
    first_s: f64,
    packet_size: u32,
) -> (u64, Option<Box<Exchanges>>) {
    let packets = |bytes: u64| bytes.div_ceil(u64::from(packet_size));
    let mut responses = vector.responses.iter();
    let first = responses.next().map_or(1, |response| packets(response.1));
    let left = responses.map(|&(wait_s, bytes)| (wait_s, packets(bytes))).collect();
    (first, Exchanges::new(left, vector.is_concurrent, first_s))
}

/// Draws the think times and packets of the responses after the first.
#[cold]
fn draw_others(
    (count, think): &mut (RandomVariable, RandomVariable),
    size: &mut RandomVariable,
    packet_size: u32,
    largest: u32,
) -> VecDeque<(f64, u64)> {
    let count = count.next().round().clamp(1.0, MAX_EXCHANGES) as u64;
    let mut draw = || (think.next(), resized(size.next_packets(), packet_size, largest));
    (1..count).map(|_| draw()).collect()
}

/// As many packets of `packet_size` bytes as carry `packets` of `largest` bytes.
fn resized(packets: u64, packet_size: u32, largest: u32) -> u64 {
    if packet_size == largest {
        return packets;
    }
    packets.saturating_mul(u64::from(largest)).div_ceil(u64::from(packet_size))
}
