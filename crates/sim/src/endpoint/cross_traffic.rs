//! Cross traffic: open-loop sources (CBR, on-off, varying population) and their sinks.

use crate::endpoint::source_population::SourcePopulation;
use crate::event::arrival_queue::NEVER;
use crate::measure::window::MeasurementWindow;
use crate::packet::Flags;
use crate::random::variable::RandomVariable;
use crate::rate::transmitter::Transmitter;

/// An open-loop source. Its packets are spaced by their transmission time at its rate.
#[derive(Clone, Debug)]
pub struct CrossSource {
    /// Spaces packets by the rate of the source.
    pub transmitter: Transmitter,
    /// When the source is on.
    pub activity: Activity,
    /// Packet size on the wire, bytes.
    pub size_bytes: u16,
    /// Header bits of its packets.
    pub flags: Flags,
    /// Number of the next packet.
    pub next: i64,
    /// Send time of the last packet, seconds.
    pub last_s: f64,
    /// Send time of the next packet, seconds.
    pub next_s: f64,
    /// Stop time, seconds; at the latest just after the end of the run.
    pub stop_s: f64,
    /// Packets sent in the measurement window.
    pub sent: u64,
}

/// On and off times of a source.
#[derive(Clone, Debug)]
pub enum Activity {
    /// Always on.
    AlwaysOn,
    /// On-off bursts of whole packets, at least one per burst, as in ns-2 (`expoo.cc`,
    /// `pareto.cc`). `left` counts the rest of the burst.
    OnOff { on: RandomVariable, off: RandomVariable, left: u64 },
    /// On while the population holds more than `number` sources. `phase`, a fraction of the packet
    /// interval, desynchronises sources that start together.
    VaryingPopulation {
        number: u64,
        sources: SourcePopulation,
        active: bool,
        until_s: f64,
        phase: f64,
    },
}

impl CrossSource {
    /// Time of the first packet of a source that starts at `start_s`; [`NEVER`] for never.
    pub fn first_s(&mut self, start_s: f64) -> f64 {
        if !matches!(self.activity, Activity::VaryingPopulation { .. }) {
            return self.after(start_s);
        }
        let (_, interval_s) = self.transmitter.finish(start_s, u32::from(self.size_bytes));
        // Phases separate sources that start together, so no source waits for a whole interval.
        let next_time_s = self.activity.after(start_s, start_s, interval_s, self.stop_s);
        self.unless_stopped(next_time_s)
    }

    /// Sends a packet at `now_s`; returns the time of the next one.
    #[inline]
    pub fn send(&mut self, now_s: f64, window: &MeasurementWindow) -> f64 {
        self.next += 1;
        self.last_s = now_s;
        self.sent += u64::from(window.contains(now_s));
        self.after(now_s)
    }

    #[inline]
    fn after(&mut self, now_s: f64) -> f64 {
        let (end_s, interval_s) = self.transmitter.finish(now_s, u32::from(self.size_bytes));
        let next_time_s = if matches!(self.activity, Activity::AlwaysOn) {
            end_s
        } else {
            self.activity.after(now_s, end_s, interval_s, self.stop_s)
        };
        self.unless_stopped(next_time_s)
    }

    /// The time of a packet; [`NEVER`] if the source has stopped by then.
    #[inline]
    pub fn unless_stopped(&self, next_time_s: f64) -> f64 {
        if next_time_s < self.stop_s { next_time_s } else { NEVER }
    }
}

impl Activity {
    /// Send time of the packet that would be complete at `end_s`, if the previous packet was sent,
    /// or the source started, at `now_s`. Times after `stop_s` need not be exact.
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
                if *active { at_s } else { NEVER }
            }
        }
    }
}

/// Sink of a cross traffic source: counters over the measurement window.
#[derive(Clone, Copy, Debug, Default)]
pub struct CrossSink {
    /// Packets delivered.
    pub delivered: u64,
    /// Bytes delivered.
    pub delivered_bytes: u64,
    /// Packets dropped.
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
