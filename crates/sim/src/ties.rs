//! Several things due at one moment: the cold path of the event loop.
//!
//! As in ns-2, what was set in motion first comes first: a packet when its last transmission began, a timer when it was armed. It decides whose
//! packet enters a full queue; flows of equal delays meet like that all the time.

use crate::engine::Engine;
use crate::packet::Packet;
use crate::scheduler::{EMPTY, Scheduler};
use crate::streams::{Due, Pending};
use crate::timers::Kind;
use crate::trace::Trace;

/// The head of a stream that is due together with others.
#[derive(Debug)]
pub(crate) struct Tied {
    since_s: f64,
    pub(crate) flow: u32,
    /// Of which go it is: what those before it make due at once comes behind them.
    round: u64,
    stream: u32,
    /// Packets of one stream stay in order.
    order: u64,
    head: Option<Packet>,
}

impl<S: Scheduler, T: Trace> Engine<S, T> {
    /// Puts the head of a stream among what is due at this very moment.
    #[cold]
    pub(crate) fn tie(&mut self, stream: u32, head: Option<Packet>) {
        let Pending { flow, due, .. } = self.transit.streams.all[stream as usize];
        let (since_s, flow) = match (head, due) {
            (Some(packet), _) => (packet.since_s, flow),
            // The end of a transmission comes after an arrival that was set in motion at the same moment.
            (None, Due::Depart(link)) => (self.transit.links[link as usize].service().map_or(EMPTY, |owned| owned.since_s), u32::MAX),
            (None, Due::Batch(inbox)) => self.transit.inboxes[inbox as usize].first().unwrap_or((EMPTY, u32::MAX)),
            (None, _) => (EMPTY, u32::MAX),
        };
        self.ties += 1;
        let (order, round) = (self.ties, self.rounds);
        self.tied.push(Tied { since_s, flow, round, stream, order, head });
    }

    /// Several things are due at this very moment. As in ns-2, what was set in motion first comes first: a packet when its last transmission
    /// began, a timer when it was armed; it decides whose packet enters a full queue. (Flows of equal delays meet like that all the time.)
    /// One is handled at a time: it may make another that is due at once.
    #[cold]
    #[inline(never)]
    pub(crate) fn on_tied(&mut self) {
        let known = self.tied.len();
        while self.transit.streams.scheduler.first().0 == self.now_s {
            let stream = self.transit.streams.scheduler.first().1;
            let Pending { flow, due, .. } = self.transit.streams.all[stream as usize];
            let head = self.take(stream, flow, due);
            self.tie(stream, head);
        }
        if self.tied.len() > known {
            // Last is first, so that taking it costs nothing.
            let rest = |tied: &Tied| (tied.flow, tied.round, tied.stream, tied.order);
            self.tied.sort_by(|a, b| b.since_s.total_cmp(&a.since_s).then(rest(b).cmp(&rest(a))));
        }
        self.rounds += 1;
        if self.transit.timers.first_s() == self.now_s {
            self.collect_timers();
        }
        let first_s = self.tied.last().map_or(EMPTY, |first| first.since_s);
        if let Some((_, kind, flow)) = self.expiring.pop_if(|timer| timer.0 <= first_s) {
            self.expire(kind, flow);
        } else if let Some(Tied { stream, head, .. }) = self.tied.pop() {
            let Pending { flow, due, place, .. } = self.transit.streams.all[stream as usize];
            self.on_head(flow, due, place, head);
        }
    }

    /// Takes the timers that expire at this very moment, and orders them by when they were armed.
    fn collect_timers(&mut self) {
        while self.transit.timers.first_s() == self.now_s {
            if let Some((_, kind, flow)) = self.transit.timers.pop() {
                self.expiring.push((self.armed_at_s(kind, flow), kind, flow));
            }
        }
        self.expiring.sort_by(|a, b| b.0.total_cmp(&a.0).then((b.1, b.2).cmp(&(a.1, a.2))));
    }

    /// When a timer that expires now was armed, seconds. Starts, stops and the measuring window precede everything; so do entries whose
    /// deadline has moved, which only have to be made again.
    pub(crate) fn armed_at_s(&self, kind: Kind, flow: u32) -> f64 {
        let (deadline_s, armed_at_s) = match kind {
            Kind::DelayedAck => {
                let receiver = &self.transit.sinks[flow as usize].receiver;
                (receiver.deadline_s(), receiver.armed_at_s())
            }
            Kind::Retransmission => {
                let sender = &self.hosts[flow as usize].sender;
                (sender.deadline_s(), sender.armed_at_s())
            }
            Kind::Start | Kind::Pace | Kind::Arrive | Kind::Request | Kind::Measure | Kind::Stop => return 0.0,
        };
        if deadline_s == self.now_s { armed_at_s } else { 0.0 }
    }
}
