//! Transfers: finite amounts of data, by arriving flows, by responses to requests, by media frames,
//! by objects of web pages and by segments of videos.

use crate::endpoint::connections::Exchanges;
use crate::endpoint::video_player::VideoPlayer;
use crate::random::variable::RandomVariable;
use std::collections::VecDeque;

/// A completed transfer: an arriving flow, a response, a frame, an object or a segment.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// Number of its group.
    pub group: u32,
    /// Start time, seconds.
    pub start_s: f64,
    /// Data packets.
    pub packets: u64,
    /// Flow completion time (FCT), without think times: until the last acknowledgement, or the
    /// arrival of the frame, seconds.
    pub fct_s: f64,
    /// The same until the last packet arrives at the receiver, seconds.
    pub received_fct_s: f64,
    /// FCT over its minimum: the base round trip of each response, or the delay of the frame's
    /// path, plus the transmission time on the bottleneck.
    pub slowdown: f64,
}

/// A transfer in progress.
#[derive(Clone, Debug)]
pub struct ActiveTransfer {
    /// Number of its group among the groups with transfers.
    pub group: u32,
    /// When its sender began to have data without a break, seconds.
    pub start_s: f64,
    /// Its data packets; of a connection with several responses those of all so far.
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
        size: FrameSize,
        /// Interval, seconds.
        every_s: f64,
    },
    /// An object of a web page, when the browser of this number asks for one on this connection.
    Object {
        /// Number of the browser.
        browser: u32,
        /// Number of the connection among those of the browser.
        connection: u32,
    },
    /// A segment of a video, when its player asks for one.
    Segment(Box<VideoPlayer>),
    /// The other responses of an arriving flow.
    Exchanges(Box<Exchanges>),
}

/// How large a media frame is.
#[derive(Clone, Debug)]
pub enum FrameSize {
    /// Drawn.
    Drawn(RandomVariable),
    /// As the encoder rate of the rule says.
    Encoded {
        /// What that rate allowed so far less what the frames had, packets.
        left_packets: f64,
    },
}

impl FrameSize {
    /// Packets of the next frame, `every_s` after the one before. An encoder whose rate does not
    /// allow a packet yet skips the frame: 0.
    pub fn next_packets(&mut self, every_s: f64, rate_packets_s: Option<f64>) -> u64 {
        match self {
            Self::Drawn(size) => size.next_packets(),
            Self::Encoded { left_packets } => {
                *left_packets += rate_packets_s.unwrap_or(0.0) * every_s;
                let packets = left_packets.max(0.0).floor();
                *left_packets -= packets;
                packets as u64
            }
        }
    }
}

/// A media frame that the receiver does not have yet.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// When the application put it out, seconds.
    pub start_s: f64,
    /// Its data packets.
    pub packets: u64,
    /// The packet behind its last one.
    pub end: i64,
}

/// Frames on their way to a receiver, in order.
#[derive(Clone, Debug)]
pub struct PendingFrames {
    /// Number of their group among the groups with transfers.
    pub group: u32,
    /// Propagation delay of their path, seconds.
    pub base_delay_s: f64,
    /// Transmission time of a data packet on the bottleneck, seconds.
    pub bottleneck_tx_s: f64,
    /// Those that have not arrived.
    pub pending: VecDeque<Frame>,
}

impl PendingFrames {
    /// Takes the first frame if the receiver, which expects packet `rcv_nxt`, has all of it, and
    /// returns its record.
    pub fn take_arrived(&mut self, rcv_nxt: i64, now_s: f64) -> Option<Transfer> {
        let frame = self.pending.pop_front_if(|frame| frame.end <= rcv_nxt)?;
        let fct_s = now_s - frame.start_s;
        let empty_s = self.base_delay_s + frame.packets as f64 * self.bottleneck_tx_s;
        Some(Transfer {
            group: self.group,
            start_s: frame.start_s,
            packets: frame.packets,
            fct_s,
            received_fct_s: fct_s,
            slowdown: fct_s / empty_s,
        })
    }
}

impl ActiveTransfer {
    /// Whether it is one of media frames.
    pub fn is_frame(&self) -> bool {
        matches!(self.next, Some(NextTransfer::Frame { .. }))
    }

    /// Whether it is an object of a web page.
    pub fn is_object(&self) -> bool {
        matches!(self.next, Some(NextTransfer::Object { .. }))
    }

    /// Its record when its sender has nothing left to send at `now_s`; none while responses of the
    /// connection are to come. `received_s`: when its last packet arrived at the receiver.
    pub fn complete(&mut self, now_s: f64, received_s: f64) -> Option<Transfer> {
        let (mut first_s, mut fct_s, mut round_trips) = (self.start_s, now_s - self.start_s, 1.0);
        // A receiver that acknowledges packets before they arrive may have none of it.
        let mut received_fct_s = received_s.max(self.start_s) - self.start_s;
        if let Some(NextTransfer::Exchanges(exchanges)) = &mut self.next {
            exchanges.busy_s += fct_s;
            exchanges.received_busy_s += received_fct_s;
            if !exchanges.left.is_empty() {
                return None;
            }
            (first_s, fct_s) = (exchanges.first_s, exchanges.busy_s);
            received_fct_s = exchanges.received_busy_s;
            round_trips = f64::from(exchanges.busy_periods);
        }
        let empty_s = round_trips * self.base_rtt_s + self.packets as f64 * self.bottleneck_tx_s;
        let Self { group, packets, .. } = *self;
        let slowdown = fct_s / empty_s;
        Some(Transfer { group, start_s: first_s, packets, fct_s, received_fct_s, slowdown })
    }
}
