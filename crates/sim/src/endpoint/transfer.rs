//! Transfers: finite amounts of data, by arriving flows, by responses to requests, and by
//! media frames.

use crate::random::variable::RandomVariable;
use std::collections::VecDeque;

/// A completed transfer: an arriving flow, a response or a frame.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// Number of its group.
    pub group: u32,
    /// Start time, seconds.
    pub start_s: f64,
    /// Data packets.
    pub packets: u64,
    /// Flow completion time (FCT): until the last acknowledgement, seconds.
    pub fct_s: f64,
    /// FCT over its minimum: the base round trip plus the transmission time on the bottleneck.
    pub slowdown: f64,
}

/// A transfer in progress.
#[derive(Clone, Debug)]
pub struct ActiveTransfer {
    /// Number of its group among the groups with transfers.
    pub group: u32,
    /// Start time, seconds.
    pub start_s: f64,
    /// Its data packets.
    pub packets: u64,
    /// Base round trip time, seconds.
    pub base_rtt_s: f64,
    /// Transmission time of a data packet on the bottleneck, seconds.
    pub bottleneck_tx_s: f64,
    /// What follows it on the connection; none for an arriving flow.
    pub next: Option<NextTransfer>,
    /// Whether the application stopped during the transfer, which then never completes.
    pub is_truncated: bool,
}

/// What follows a transfer on the same connection.
#[derive(Clone, Debug)]
pub enum NextTransfer {
    /// A response, a think time after the last one is complete.
    Response {
        /// Its packets.
        size: RandomVariable,
        /// Think time, seconds.
        think: RandomVariable,
    },
    /// A media frame, whether or not those before it are complete.
    Frame {
        /// Its packets.
        size: RandomVariable,
        /// Interval, seconds.
        every_s: f64,
        /// Frames that are not acknowledged, in order.
        pending: VecDeque<Frame>,
    },
}

/// A media frame that is not acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// When the application put it out, seconds.
    pub start_s: f64,
    /// Its data packets.
    pub packets: u64,
    /// The packet behind its last one.
    pub end: i64,
}

impl ActiveTransfer {
    /// Whether it is one of media frames.
    pub fn is_frame(&self) -> bool {
        matches!(self.next, Some(NextTransfer::Frame { .. }))
    }

    /// Frames that are not acknowledged, in order; empty unless it is one of frames.
    pub fn pending_frames(&self) -> impl Iterator<Item = &Frame> {
        match &self.next {
            Some(NextTransfer::Frame { pending, .. }) => Some(pending),
            _ => None,
        }
        .into_iter()
        .flatten()
    }

    /// Takes the first frame if `snd_una` is behind it, and returns its record.
    pub fn take_completed_frame(&mut self, snd_una: i64, now_s: f64) -> Option<Transfer> {
        let Some(NextTransfer::Frame { pending, .. }) = &mut self.next else { return None };
        let frame = pending.pop_front_if(|frame| frame.end <= snd_una)?;
        Some(self.completed(frame.start_s, frame.packets, now_s))
    }

    /// The record of a part of it that completes at `now_s`.
    pub fn completed(&self, start_s: f64, packets: u64, now_s: f64) -> Transfer {
        let fct_s = now_s - start_s;
        let empty_s = self.base_rtt_s + packets as f64 * self.bottleneck_tx_s;
        Transfer { group: self.group, start_s, packets, fct_s, slowdown: fct_s / empty_s }
    }
}
