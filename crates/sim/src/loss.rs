//! Packets that a link loses beside its queue's drops.

use crate::random::Stream;
use std::ops::Range;

/// Losses beside the queue's.
#[derive(Clone, Debug)]
pub struct Loss {
    /// Flows it concerns; all when absent.
    pub flows: Option<Range<u32>>,
    /// Which packets.
    pub kind: LossKind,
}

/// Which packets are lost.
#[derive(Clone, Debug)]
pub enum LossKind {
    /// Each with this probability, before the queue or after transmission.
    Bernoulli { p: f64, stream: Stream, after_queue: bool },
    /// These, by arrival number from 0; sorted.
    List { packets: Vec<u64>, seen: u64, next: usize },
}

impl Loss {
    /// Whether the next packet of `flow` is lost, before the queue or after transmission.
    pub fn strikes(&mut self, flow: u32, after: bool) -> bool {
        if self.flows.as_ref().is_some_and(|flows| !flows.contains(&flow)) {
            return false;
        }
        match &mut self.kind {
            LossKind::Bernoulli { p, stream, after_queue } => *after_queue == after && stream.uniform() < *p,
            LossKind::List { packets, seen, next } => {
                if after {
                    return false;
                }
                let hit = packets.get(*next) == Some(seen);
                *seen += 1;
                *next += usize::from(hit);
                hit
            }
        }
    }
}
