//! Queue disciplines. Time and randomness are passed in; a discipline knows no link and no flow beyond the packet's own fields.
//!
//! A discipline that decides at arrival over a first-in first-out queue is an *admission rule* ([`Admission`]): it says what happens to
//! an arriving packet given what waits. The link then computes the departure at once, which is what makes the engine fast. A discipline
//! that decides at departure owns its packets ([`Scheduling`]) and needs an event per departure. [`Discipline`] and [`Scheduler`] are
//! the closed sets of each kind.
//!
//! ```
//! use cwndlab_queues::{Admission, Arrival, Backlog, Decision, DropTail, Limit};
//! let mut queue = DropTail::new(Limit::Packets(2), true);
//! let packet = Arrival { now_s: 0.0, size_bytes: 1040, flow: 0, ecn: false, priority: 1 };
//! let mut random = || 0.5;
//! let backlog = |packets| Backlog { packets, bytes: 1040 * packets, in_service_bytes: 1040, ..Backlog::default() };
//! assert_eq!(queue.admit(&packet, &backlog(1), &mut random), Decision::Accept);
//! assert_eq!(queue.admit(&packet, &backlog(2), &mut random), Decision::Drop);
//! ```

mod codel;
mod drop_tail;
mod drr;
mod early;
mod fifo;
mod fq_codel;
mod longest;
mod pie;
mod priority;
mod red;
mod rio;
mod room;
mod slots;

pub use codel::{CoDel, CoDelParameters};
pub use drop_tail::{DropTail, Limit};
pub use drr::{Drr, DrrParameters};
pub use early::{EXACT_IDLE_STEPS, Weight};
pub use fq_codel::{FqCoDel, FqCoDelParameters};
pub use pie::{Pie, PieParameters};
pub use priority::{PRIORITY_CLASSES, Priority};
pub use red::{AdaptiveRed, Red, RedParameters};
pub use rio::{Rio, RioParameters};

/// An arriving packet, as far as a discipline may see it.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// When, seconds.
    pub now_s: f64,
    /// Size on the wire.
    pub size_bytes: u32,
    /// Which flow it belongs to; numbers need not be dense.
    pub flow: u32,
    /// Whether it may be marked instead of lost (ECN-capable transport, RFC 3168).
    pub ecn: bool,
    /// Priority, 0 (first) to 3; for RIO 0 is "in profile".
    pub priority: u8,
}

/// What is at the link when a packet arrives, departures at the same instant already gone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Backlog {
    /// Packets waiting, and the one in service.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes of the packet in service; 0 on an idle link.
    pub in_service_bytes: u64,
    /// Its priority.
    pub in_service_priority: u8,
    /// On an idle link, since when, seconds.
    pub idle_since_s: f64,
}

impl Backlog {
    /// Packets that wait: without the one in service.
    #[inline]
    pub fn waiting_packets(&self) -> u64 {
        self.packets.saturating_sub(1)
    }

    /// Their bytes.
    #[inline]
    pub fn waiting_bytes(&self) -> u64 {
        self.bytes - self.in_service_bytes
    }
}

/// What happens to an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It joins the queue.
    Accept,
    /// It joins the queue, marked "congestion experienced".
    Mark,
    /// It is lost.
    Drop,
}

/// A packet that has left the link.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// When its transmission ends, seconds.
    pub at_s: f64,
    /// When it began, seconds.
    pub since_s: f64,
    /// Size on the wire.
    pub size_bytes: u32,
    /// Priority.
    pub priority: u8,
}

/// A discipline that decides at arrival over a first-in first-out queue. `random` gives numbers uniform in [0, 1).
pub trait Admission {
    /// Decides about an arriving packet.
    fn admit(&mut self, packet: &Arrival, backlog: &Backlog, random: &mut impl FnMut() -> f64) -> Decision;

    /// How many packets of at most this size may be at the link while one more is accepted for certain, and nothing else changes.
    /// It lets the link put off counting what has departed until the count matters.
    fn sure_packets(&self, _largest_bytes: u32) -> u64 {
        0
    }

    /// A packet has left the link; `backlog` is what is there now. Told before the next arrival or deadline, in order of time.
    /// Called only where [`Admission::watches_departures`].
    fn departed(&mut self, _packet: &Departure, _backlog: &Backlog) {}

    /// When the discipline next wants to look at the queue by itself, seconds; infinite for never.
    fn next_deadline_s(&self) -> f64 {
        f64::INFINITY
    }

    /// That moment has come; everything that departed until then was told.
    fn on_deadline(&mut self, _now_s: f64, _backlog: &Backlog) {}

    /// Whether it wants to be told of departures.
    fn watches_departures(&self) -> bool {
        false
    }
}

/// A packet in a queue that owns it; `packet` is whatever the caller has to say about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Item<P> {
    /// Size on the wire.
    pub size_bytes: u32,
    /// Which flow it belongs to; numbers need not be dense.
    pub flow: u32,
    /// Whether it may be marked instead of lost.
    pub ecn: bool,
    /// Whether it was marked here.
    pub marked: bool,
    /// Priority, 0 (first) to 3.
    pub priority: u8,
    /// When it arrived, seconds.
    pub arrived_s: f64,
    /// The caller's.
    pub packet: P,
}

/// A discipline that owns its packets and decides, or may decide, at departure. The packet in service is no longer in it.
pub trait Scheduling<P> {
    /// A packet arrives; `lost` gets every packet that the queue loses on this occasion, the arriving one included.
    fn enqueue(&mut self, item: Item<P>, lost: &mut impl FnMut(Item<P>));

    /// The link is free: the next packet, or none if the queue is empty. `lost` gets those lost on the way.
    fn dequeue(&mut self, now_s: f64, lost: &mut impl FnMut(Item<P>)) -> Option<Item<P>>;

    /// Packets in the queue.
    fn packets(&self) -> u64;

    /// Their bytes.
    fn bytes(&self) -> u64;
}

/// The admission rules, closed so that the engine calls them without a virtual table.
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

/// The same call for whichever discipline it is.
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
    fn admit(&mut self, packet: &Arrival, backlog: &Backlog, random: &mut impl FnMut() -> f64) -> Decision {
        each!(self, queue => queue.admit(packet, backlog, random))
    }

    #[inline]
    fn sure_packets(&self, largest_bytes: u32) -> u64 {
        each!(self, queue => queue.sure_packets(largest_bytes))
    }

    #[inline]
    fn departed(&mut self, packet: &Departure, backlog: &Backlog) {
        each!(self, queue => queue.departed(packet, backlog));
    }

    #[inline]
    fn next_deadline_s(&self) -> f64 {
        each!(self, queue => queue.next_deadline_s())
    }

    #[inline]
    fn on_deadline(&mut self, now_s: f64, backlog: &Backlog) {
        each!(self, queue => queue.on_deadline(now_s, backlog));
    }

    #[inline]
    fn watches_departures(&self) -> bool {
        each!(self, queue => queue.watches_departures())
    }
}

/// The disciplines that own their packets, closed for the same reason.
#[derive(Clone, Debug)]
pub enum Scheduler<P> {
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

impl<P> Scheduling<P> for Scheduler<P> {
    #[inline(always)]
    fn enqueue(&mut self, item: Item<P>, lost: &mut impl FnMut(Item<P>)) {
        each_scheduler!(self, queue => queue.enqueue(item, lost));
    }

    #[inline(always)]
    fn dequeue(&mut self, now_s: f64, lost: &mut impl FnMut(Item<P>)) -> Option<Item<P>> {
        each_scheduler!(self, queue => queue.dequeue(now_s, lost))
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
