//! Traffic that does not react: when its packets are sent, and what becomes of them.

use crate::event_scheduler::NO_EVENT;
use crate::link::MeasurementWindow;
use crate::packet::Flags;
use crate::random_variable::RandomVariable;
use crate::serializer::Serializer;
use crate::source_population::SourcePopulation;

/// A source. Its packets are as far apart as its rate takes to send one; the first is complete one such time after the start.
#[derive(Clone, Debug)]
pub struct CrossSource {
    /// When the next packet is complete.
    pub serializer: Serializer,
    /// When it sends at all.
    pub activity: Activity,
    /// Bytes on the wire.
    pub size_bytes: u16,
    /// Header of its packets.
    pub flags: Flags,
    /// Number of the next packet.
    pub next: i64,
    /// When the last packet was sent, seconds.
    pub last_s: f64,
    /// When it stops, at the latest just after the end of the run, seconds.
    pub stop_s: f64,
    /// Packets sent in the measuring window.
    pub sent: u64,
}

/// When a source sends.
#[derive(Clone, Debug)]
pub enum Activity {
    /// Always.
    AlwaysOn,
    /// In bursts: whole packets, at least one, as in ns-2 (`expoo.cc`, `pareto.cc`).
    OnOff { on: RandomVariable, off: RandomVariable, left: u64 },
    /// While more than `number` sources are wanted. `phase`, a share of its interval, keeps sources that begin together apart.
    VaryingPopulation {
        number: u64,
        sources: SourcePopulation,
        active: bool,
        until_s: f64,
        phase: f64,
    },
}

impl CrossSource {
    /// When it sends first, if it starts at `start_s`; [`NO_EVENT`] for never.
    pub fn first_s(&mut self, start_s: f64) -> f64 {
        if !matches!(self.activity, Activity::VaryingPopulation { .. }) {
            return self.after(start_s);
        }
        let (_, interval_s) = self.serializer.finish(start_s, u32::from(self.size_bytes));
        // Where many begin together their phases keep them apart: none waits for a whole interval.
        let next_time_s = self.activity.after(start_s, start_s, interval_s, self.stop_s);
        self.unless_stopped(next_time_s)
    }

    /// It sends a packet at `now_s`: when it sends the next.
    #[inline]
    pub fn send(&mut self, now_s: f64, window: &MeasurementWindow) -> f64 {
        self.next += 1;
        self.last_s = now_s;
        self.sent += u64::from(window.contains(now_s));
        self.after(now_s)
    }

    #[inline]
    fn after(&mut self, now_s: f64) -> f64 {
        let (end_s, interval_s) = self.serializer.finish(now_s, u32::from(self.size_bytes));
        let next_time_s = if matches!(self.activity, Activity::AlwaysOn) {
            end_s
        } else {
            self.activity.after(now_s, end_s, interval_s, self.stop_s)
        };
        self.unless_stopped(next_time_s)
    }

    #[inline]
    fn unless_stopped(&self, next_time_s: f64) -> f64 {
        if next_time_s < self.stop_s { next_time_s } else { NO_EVENT }
    }
}

impl Activity {
    /// When the packet that would be complete at `end_s` is sent, if the one before was, or the source starts, at `now_s`. What would be after
    /// `stop_s` need not be known.
    #[inline(never)]
    fn after(&mut self, now_s: f64, end_s: f64, interval_s: f64, stop_s: f64) -> f64 {
        match self {
            Self::AlwaysOn => end_s,
            Self::OnOff { left: left @ 1.., .. } => {
                *left -= 1;
                end_s
            }
            Self::OnOff { on, off, left } => {
                *left = ((on.next() / interval_s).round().max(1.0) as u64) - 1;
                end_s + off.next()
            }
            Self::VaryingPopulation { number, sources, active, until_s, phase } => {
                let mut at_s = if *active { end_s } else { *until_s };
                while at_s >= *until_s && *until_s < stop_s {
                    let (from_s, was_active) = (*until_s, *active);
                    let (count, next_until_s) = sources.next();
                    (*active, *until_s) = (count > *number, next_until_s);
                    at_s = match (*active, was_active) {
                        (false, _) => *until_s,
                        (true, false) => (from_s.max(now_s) + *phase * interval_s).max(end_s),
                        (true, true) => at_s,
                    };
                }
                if *active { at_s } else { NO_EVENT }
            }
        }
    }
}

/// Where cross traffic ends: what arrived and what did not, over the measuring window.
#[derive(Clone, Copy, Debug, Default)]
pub struct CrossSink {
    /// Packets that arrived.
    pub delivered: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Packets lost on the way.
    pub dropped: u64,
}

impl CrossSink {
    /// A packet arrives.
    pub fn deliver(&mut self, now_s: f64, size_bytes: u16, window: &MeasurementWindow) {
        if window.contains(now_s) {
            self.delivered += 1;
            self.delivered_bytes += u64::from(size_bytes);
        }
    }
}
