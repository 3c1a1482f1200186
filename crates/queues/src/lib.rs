//! Queue disciplines and AQM: drop-tail, RED, RIO, PIE, CoDel, FQ-CoDel, DRR and strict priority.
//!
//! Time and randomness are arguments; a discipline knows neither links nor flows beyond the fields
//! of a packet. A discipline that decides at enqueue over a FIFO implements [`Admission`]: it
//! accepts, marks or drops an arriving packet given the backlog, and the link computes the
//! departure at once, which makes the engine fast. A discipline that decides at dequeue implements
//! [`QueueDisc`]: it holds the packets and needs an event per departure. [`Discipline`] and
//! [`ScheduledQueue`] are the closed sets of each kind.
//!
//! ```
//! use cwndlab_queues::{Admission, ArrivingPacket, Backlog, Decision, DropTail, Limit};
//! let mut queue = DropTail::new(Limit::Packets(2), true);
//! let packet = ArrivingPacket { now_s: 0.0, size_bytes: 1040, flow: 0, ecn: false, priority: 1 };
//! let mut random = || 0.5;
//! let backlog = |packets| Backlog {
//!     packets,
//!     bytes: 1040 * packets,
//!     in_service_bytes: 1040,
//!     ..Backlog::default()
//! };
//! assert_eq!(queue.admit(&packet, &backlog(1), &mut random), Decision::Accept);
//! assert_eq!(queue.admit(&packet, &backlog(2), &mut random), Decision::Drop);
//! ```

mod buffer_limit;
mod codel;
mod drop_tail;
mod drr;
mod early_detection;
mod fifo;
mod flow_table;
mod fq_codel;
mod longest_queue;
mod pie;
mod priority;
mod red;
mod rio;

pub use codel::{CoDel, CoDelParameters};
pub use drop_tail::{DropTail, Limit};
pub use drr::{Drr, DrrParameters};
pub use early_detection::{EXACT_IDLE_STEPS, Weight};
pub use fq_codel::{FqCoDel, FqCoDelParameters};
pub use pie::{Pie, PieParameters};
pub use priority::{PRIORITY_CLASSES, Priority};
pub use red::{AdaptiveRed, Red, RedParameters};
pub use rio::{Rio, RioParameters};

/// An arriving packet, as a discipline sees it.
#[derive(Clone, Copy, Debug)]
pub struct ArrivingPacket {
    /// Arrival time, seconds.
    pub now_s: f64,
    /// Size on the wire.
    pub size_bytes: u32,
    /// Flow number; numbers need not be dense.
    pub flow: u32,
    /// Whether the packet is ECT and may be marked instead of dropped (RFC 3168).
    pub ecn: bool,
    /// Priority, 0 (first) to 3; for RIO 0 is "in profile".
    pub priority: u8,
}

/// Backlog of the link at an arrival, after departures at the same time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Backlog {
    /// Packets waiting and in service.
    pub packets: u64,
    /// Bytes waiting and in service.
    pub bytes: u64,
    /// Bytes of the packet in service; 0 on an idle link.
    pub in_service_bytes: u64,
    /// Priority of the packet in service.
    pub in_service_priority: u8,
    /// Start of the idle time on an idle link, seconds.
    pub idle_since_s: f64,
}

impl Backlog {
    /// Packets waiting, without the one in service.
    #[inline]
    pub fn waiting_packets(&self) -> u64 {
        self.packets.saturating_sub(1)
    }

    /// Bytes waiting, without the packet in service.
    #[inline]
    pub fn waiting_bytes(&self) -> u64 {
        self.bytes - self.in_service_bytes
    }
}

/// Decision about an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Enqueue.
    Accept,
    /// Enqueue with the CE codepoint.
    Mark,
    /// Drop.
    Drop,
}

/// A packet that left the link.
#[derive(Clone, Copy, Debug)]
pub struct DepartedPacket {
    /// End of its transmission, seconds.
    pub tx_end_s: f64,
    /// Start of its transmission, seconds.
    pub tx_start_s: f64,
    /// Size on the wire.
    pub size_bytes: u32,
    /// Priority.
    pub priority: u8,
}

/// A discipline that decides at enqueue over a FIFO. `random` returns numbers uniform in [0, 1).
pub trait Admission {
    /// Decides about an arriving packet.
    fn admit(
        &mut self,
        packet: &ArrivingPacket,
        backlog: &Backlog,
        random: &mut impl FnMut() -> f64,
    ) -> Decision;

    /// Backlog, in packets of at most `largest_bytes`, up to which one more packet is accepted for
    /// certain and no state changes. The link uses it to defer counting departures.
    fn guaranteed_accept_backlog(&self, _largest_bytes: u32) -> u64 {
        0
    }

    /// Reports a departure; `backlog` is what remains. Called before the next arrival or update, in
    /// order of time, only where [`Admission::needs_departures`].
    fn on_departure(&mut self, _packet: &DepartedPacket, _backlog: &Backlog) {}

    /// Time of the next periodic update, seconds; infinite for none.
    fn next_update_s(&self) -> f64 {
        f64::INFINITY
    }

    /// Periodic update; all earlier departures were reported.
    fn on_update(&mut self, _now_s: f64, _backlog: &Backlog) {}

    /// Whether the discipline needs departures reported.
    fn needs_departures(&self) -> bool {
        false
    }
}

/// A packet in a [`QueueDisc`]; `packet` is the caller's payload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueItem<P> {
    /// Size on the wire.
    pub size_bytes: u32,
    /// Flow number; numbers need not be dense.
    pub flow: u32,
    /// Whether the packet is ECT and may be marked instead of dropped.
    pub ecn: bool,
    /// Whether this queue marked the packet.
    pub marked: bool,
    /// Priority, 0 (first) to 3.
    pub priority: u8,
    /// Time of enqueue, seconds.
    pub enqueued_s: f64,
    /// The caller's payload.
    pub packet: P,
}

/// A discipline that holds its packets and may decide at dequeue. The packet in service is no
/// longer in the queue.
pub trait QueueDisc<P> {
    /// Enqueues a packet; `dropped` receives each packet that this drops, the arriving one
    /// included.
    fn enqueue(&mut self, item: QueueItem<P>, dropped: &mut impl FnMut(QueueItem<P>));

    /// Dequeues the next packet, none if the queue is empty; `dropped` receives each packet that
    /// this drops.
    fn dequeue(
        &mut self,
        now_s: f64,
        dropped: &mut impl FnMut(QueueItem<P>),
    ) -> Option<QueueItem<P>>;

    /// Packets in the queue.
    fn packets(&self) -> u64;

    /// Bytes in the queue.
    fn bytes(&self) -> u64;
}

/// The disciplines that decide at enqueue, closed so that the engine needs no virtual table.
#[derive(Clone, Debug)]
pub enum Discipline {
    /// Drop-tail.
    DropTail(DropTail),
    /// Random early detection.
    Red(Red),
    /// RED with in and out.
    Rio(Rio),
    /// PIE.
    Pie(Pie),
}

/// Makes the same call on any discipline.
macro_rules! each {
    ($self:expr, $queue:ident => $call:expr) => {
        match $self {
            Self::DropTail($queue) => $call,
            Self::Red($queue) => $call,
            Self::Rio($queue) => $call,
            Self::Pie($queue) => $call,
        }
    };
}

impl Admission for Discipline {
    #[inline]
    fn admit(
        &mut self,
        packet: &ArrivingPacket,
        backlog: &Backlog,
        random: &mut impl FnMut() -> f64,
    ) -> Decision {
        each!(self, queue => queue.admit(packet, backlog, random))
    }

    #[inline]
    fn guaranteed_accept_backlog(&self, largest_bytes: u32) -> u64 {
        each!(self, queue => queue.guaranteed_accept_backlog(largest_bytes))
    }

    #[inline]
    fn on_departure(&mut self, packet: &DepartedPacket, backlog: &Backlog) {
        each!(self, queue => queue.on_departure(packet, backlog));
    }

    #[inline]
    fn next_update_s(&self) -> f64 {
        each!(self, queue => queue.next_update_s())
    }

    #[inline]
    fn on_update(&mut self, now_s: f64, backlog: &Backlog) {
        each!(self, queue => queue.on_update(now_s, backlog));
    }

    #[inline]
    fn needs_departures(&self) -> bool {
        each!(self, queue => queue.needs_departures())
    }
}

/// The disciplines that decide at dequeue, closed for the same reason.
#[derive(Clone, Debug)]
pub enum ScheduledQueue<P> {
    /// Deficit round robin.
    Drr(Drr<P>),
    /// Strict priority.
    Priority(Priority<P>),
    /// CoDel.
    CoDel(CoDel<P>),
    /// FQ-CoDel.
    FqCoDel(FqCoDel<P>),
}

macro_rules! each_scheduler {
    ($self:expr, $queue:ident => $call:expr) => {
        match $self {
            Self::Drr($queue) => $call,
            Self::Priority($queue) => $call,
            Self::CoDel($queue) => $call,
            Self::FqCoDel($queue) => $call,
        }
    };
}

impl<P> QueueDisc<P> for ScheduledQueue<P> {
    #[inline(always)]
    fn enqueue(&mut self, item: QueueItem<P>, dropped: &mut impl FnMut(QueueItem<P>)) {
        each_scheduler!(self, queue => queue.enqueue(item, dropped));
    }

    #[inline(always)]
    fn dequeue(
        &mut self,
        now_s: f64,
        dropped: &mut impl FnMut(QueueItem<P>),
    ) -> Option<QueueItem<P>> {
        each_scheduler!(self, queue => queue.dequeue(now_s, dropped))
    }

    #[inline]
    fn packets(&self) -> u64 {
        each_scheduler!(self, queue => queue.packets())
    }

    #[inline]
    fn bytes(&self) -> u64 {
        each_scheduler!(self, queue => queue.bytes())
    }
}
