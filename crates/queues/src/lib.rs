//! Queue disciplines. Time and randomness are passed in; a discipline knows no link and no flow beyond the packet's own fields.
//!
//! A discipline that decides at arrival over a first-in first-out queue is an *admission rule*: it says what happens to an
//! arriving packet given what waits. The link then computes the departure at once, which is what makes the engine
//! fast. Disciplines that decide at departure own their packets and need an event per departure; [`Discipline`] is the closed set
//! that tells the engine which is which.
//!
//! ```
//! use cwndlab_queues::{Admission, Backlog, Decision, DropTail, Limit, Arrival};
//! let mut queue = DropTail::new(Limit::Packets(2), true);
//! let packet = Arrival { now_s: 0.0, size_bytes: 1040, flow: 0 };
//! assert_eq!(queue.admit(&packet, &Backlog { packets: 1, bytes: 1040, in_service_bytes: 1040 }), Decision::Accept);
//! assert_eq!(queue.admit(&packet, &Backlog { packets: 2, bytes: 2080, in_service_bytes: 1040 }), Decision::Drop);
//! ```

mod drop_tail;

pub use drop_tail::{DropTail, Limit};

/// An arriving packet, as far as a discipline may see it.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// When, seconds.
    pub now_s: f64,
    /// Size on the wire.
    pub size_bytes: u32,
    /// Which flow it belongs to.
    pub flow: u32,
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
}

/// What happens to an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It joins the queue.
    Accept,
    /// It is lost.
    Drop,
}

/// A discipline that decides at arrival over a first-in first-out queue.
pub trait Admission {
    /// Decides about an arriving packet.
    fn admit(&mut self, packet: &Arrival, backlog: &Backlog) -> Decision;

    /// Whether a packet of this size is accepted, and nothing else changes, as long as no more than this is at the link.
    /// It lets the link put off counting what has departed until the count matters.
    fn surely_accepts(&self, _size_bytes: u32, _most: &Backlog) -> bool {
        false
    }
}

/// The disciplines, closed so that the engine calls them without a virtual table.
#[derive(Clone, Debug)]
pub enum Discipline {
    /// Drop-tail.
    DropTail(DropTail),
}

impl Admission for Discipline {
    #[inline]
    fn admit(&mut self, packet: &Arrival, backlog: &Backlog) -> Decision {
        match self {
            Self::DropTail(queue) => queue.admit(packet, backlog),
        }
    }

    #[inline]
    fn surely_accepts(&self, size_bytes: u32, most: &Backlog) -> bool {
        match self {
            Self::DropTail(queue) => queue.surely_accepts(size_bytes, most),
        }
    }
}
