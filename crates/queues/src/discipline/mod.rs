//! All disciplines, a file each, and the two closed sets of them, by when they decide. Nothing else
//! in the crate names a discipline.

mod cake;
mod cobalt;
mod codel;
mod drop_tail;
mod drr;
mod dualpi2;
mod fq;
mod fq_codel;
mod pie;
mod priority;
mod red;
mod rio;
mod sfq;
mod step;

pub use cake::{Cake, CakeParameters, FlowIsolation, Framing};
pub use cobalt::{Cobalt, CobaltParameters};
pub use codel::{CeThreshold, CoDel, CoDelParameters};
pub use drop_tail::DropTail;
pub use drr::{Drr, DrrParameters};
pub use dualpi2::{DualPi2, DualPi2Parameters};
pub use fq::{Fq, FqParameters};
pub use fq_codel::{FqCoDel, FqCoDelParameters};
pub use pie::{Pie, PieParameters};
pub use priority::{PRIORITY_CLASSES, Priority};
pub use red::{AdaptiveRed, Red, RedParameters};
pub use rio::{Rio, RioParameters};
pub use sfq::{Sfq, SfqParameters};
pub use step::Step;

use crate::admission::{Admission, ArrivingPacket, Backlog, Decision, DepartedPacket};
use crate::queue_disc::{QueueDisc, QueueItem};

/// The disciplines that decide at enqueue, closed so that the engine needs no virtual table.
///
/// ```
/// use cwndlab_queues::{Admission, Discipline, DropTail, Limit, Red, RedParameters};
/// let tail = Discipline::DropTail(DropTail::new(Limit::Packets(50), true));
/// let red = Discipline::Red(Red::new(&RedParameters::new(Limit::Packets(50), 10e6, 1000)));
/// assert_eq!((tail.average_packets(), red.average_packets()), (None, Some(0.0)));
/// assert_eq!(tail.guaranteed_accept_backlog(1000), 50);
/// ```
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
    /// Step marking.
    Step(Step),
}

/// Makes the same call on any discipline.
macro_rules! each {
    ($self:expr, $queue:ident => $call:expr) => {
        match $self {
            Self::DropTail($queue) => $call,
            Self::Red($queue) => $call,
            Self::Rio($queue) => $call,
            Self::Pie($queue) => $call,
            Self::Step($queue) => $call,
        }
    };
}

impl Discipline {
    /// The average queue that it keeps, in packets, as of the last arrival.
    pub fn average_packets(&self) -> Option<f64> {
        match self {
            Self::Red(red) => Some(red.average_packets()),
            Self::Rio(rio) => Some(rio.average()),
            _ => None,
        }
    }

    /// The probability with which it drops or marks, as of the last arrival or update. RIO has one
    /// for each of its averages.
    pub fn probability(&self) -> Option<f64> {
        match self {
            Self::Red(red) => Some(red.probability()),
            Self::Pie(pie) => Some(pie.probability()),
            _ => None,
        }
    }
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
///
/// ```
/// use cwndlab_queues::{Limit, Priority, ScheduledQueue};
/// # use cwndlab_queues::{QueueDisc, QueueItem};
/// # let item = |flow, packet| QueueItem { size_bytes: 1000, flow, ecn: false, l4s: false,
/// #     marked: false, priority: 1, enqueued_s: 0.0, packet };
/// let mut queue = ScheduledQueue::Priority(Priority::new(Limit::Packets(50)));
/// queue.enqueue(item(0, ()), &mut |_| ());
/// assert_eq!((queue.packets(), queue.bytes(), queue.probability()), (1, 1000, None));
/// ```
#[derive(Clone, Debug)]
pub enum ScheduledQueue<P> {
    /// Deficit round robin.
    Drr(Drr<P>),
    /// Stochastic fairness queueing.
    Sfq(Sfq<P>),
    /// FQ.
    Fq(Fq<P>),
    /// CAKE.
    Cake(Cake<P>),
    /// Strict priority.
    Priority(Priority<P>),
    /// CoDel.
    CoDel(CoDel<P>),
    /// COBALT.
    Cobalt(Cobalt<P>),
    /// FQ-CoDel.
    FqCoDel(FqCoDel<P>),
    /// DualPI2.
    DualPi2(DualPi2<P>),
}

macro_rules! each_scheduler {
    ($self:expr, $queue:ident => $call:expr) => {
        match $self {
            Self::Drr($queue) => $call,
            Self::Sfq($queue) => $call,
            Self::Fq($queue) => $call,
            Self::Cake($queue) => $call,
            Self::Priority($queue) => $call,
            Self::CoDel($queue) => $call,
            Self::Cobalt($queue) => $call,
            Self::FqCoDel($queue) => $call,
            Self::DualPi2($queue) => $call,
        }
    };
}

impl<P> ScheduledQueue<P> {
    /// DualPI2's base probability `p'`, as of the last packet.
    pub fn probability(&self) -> Option<f64> {
        match self {
            Self::DualPi2(queue) => Some(queue.probability()),
            _ => None,
        }
    }
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

    #[inline(always)]
    fn ready_s(&self) -> f64 {
        each_scheduler!(self, queue => queue.ready_s())
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
