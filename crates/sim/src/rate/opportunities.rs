//! Delivery opportunities: moments at which a number of bytes may leave a link.
//!
//! They come from a mahimahi trace (Netravali et al. 2015), from the model of a cellular link, or
//! from grants at a fixed interval.

use crate::random::stream::RandomStream;
use crate::rate::cellular::CellularModel;
use cwndlab_scenario::{DeliveryOpportunities, Shape, TraceStart, Waveform};
use cwndlab_units::Time;

/// Bytes that may leave at an opportunity of a trace.
pub const TRACE_BYTES: u64 = 1500;
const MILLISECOND_NS: u64 = 1_000_000;
/// Bits in a byte, times nanoseconds in a second.
const BIT_NS_PER_BYTE_S: u128 = 8_000_000_000;

/// Delivery opportunities of a link, in order.
#[derive(Clone, Debug)]
pub enum Opportunities {
    /// Those of a trace.
    Recorded(RecordedTrace),
    /// Those of a model.
    Cellular(Box<CellularModel>),
    /// Grants at a fixed interval.
    Grants(Grants),
}

impl Opportunities {
    /// Opportunities of a waveform, drawn from `stream`; none if it is a rate.
    pub fn of(waveform: &Waveform, mut stream: RandomStream) -> Option<Self> {
        let Waveform::Shape(shape) = waveform else { return None };
        match shape {
            Shape::Trace { start, opportunities, .. } => {
                let length_ms = opportunities.length_ms();
                let start_ms = match start {
                    TraceStart::At(time) => time.nanoseconds() / MILLISECOND_NS,
                    TraceStart::Random => (stream.uniform() * length_ms as f64) as u64,
                };
                Some(Self::Recorded(RecordedTrace::new(opportunities, start_ms)))
            }
            Shape::Cellular { mean, noise, outage_share, outage_length } => {
                let noise = noise.map(|noise| noise.bps() as f64);
                Some(Self::Cellular(Box::new(CellularModel::new(
                    mean.bps() as f64,
                    noise,
                    *outage_share,
                    outage_length.seconds(),
                    stream,
                ))))
            }
            Shape::Grants { rate, every } => {
                let (rate_bps, every_ns) = (rate.bps(), every.nanoseconds());
                Some(Self::Grants(Grants { rate_bps, every_ns, number: 0 }))
            }
            _ => None,
        }
    }

    /// The next opportunity: its time, nanoseconds, and bytes. Times never decrease; none if there
    /// is none.
    pub fn next(&mut self) -> Option<(u64, u64)> {
        match self {
            Self::Recorded(trace) => {
                Some((trace.next_ms()?.saturating_mul(MILLISECOND_NS), TRACE_BYTES))
            }
            Self::Cellular(model) => {
                Some((model.next_ms().saturating_mul(MILLISECOND_NS), TRACE_BYTES))
            }
            Self::Grants(grants) => Some(grants.next()),
        }
    }
}

/// Opportunities of a trace, again from its start at its end: its last millisecond is millisecond 0
/// of the next repetition.
#[derive(Clone, Debug)]
pub struct RecordedTrace {
    opportunities: DeliveryOpportunities,
    next: usize,
    /// Milliseconds from the start of the current repetition to the start of the run, and of the
    /// repetitions since.
    skipped_ms: u64,
    round_ms: u64,
}

impl RecordedTrace {
    fn new(opportunities: &DeliveryOpportunities, start_ms: u64) -> Self {
        let next = opportunities.milliseconds().partition_point(|&ms| ms < start_ms);
        Self { opportunities: opportunities.clone(), next, skipped_ms: start_ms, round_ms: 0 }
    }

    fn next_ms(&mut self) -> Option<u64> {
        let ms = *self.opportunities.milliseconds().get(self.next)?;
        let at_ms = self.round_ms.saturating_add(ms) - self.skipped_ms;
        self.next += 1;
        if self.next == self.opportunities.milliseconds().len() {
            self.next = 0;
            self.round_ms = self.round_ms.saturating_add(self.opportunities.length_ms());
        }
        Some(at_ms)
    }
}

/// Grants: number n comes after n intervals and carries what the rate sends in the last of them,
/// in whole bytes; the rest of a byte goes to a later one.
#[derive(Clone, Debug)]
pub struct Grants {
    rate_bps: u64,
    every_ns: u64,
    number: u64,
}

impl Grants {
    fn next(&mut self) -> (u64, u64) {
        let before = self.bytes();
        self.number += 1;
        (self.number.saturating_mul(self.every_ns), (self.bytes() - before) as u64)
    }

    /// Bytes of all grants so far.
    fn bytes(&self) -> u128 {
        let elapsed_ns = u128::from(self.number) * u128::from(self.every_ns);
        u128::from(self.rate_bps) * elapsed_ns / BIT_NS_PER_BYTE_S
    }
}

/// Milliseconds of the opportunities of a bottleneck with this waveform up to `duration`, as a run
/// with `seed` draws them; none if the waveform is a rate.
pub fn opportunities_ms(waveform: &Waveform, seed: u64, duration: Time) -> Option<Vec<u64>> {
    let stream = RandomStream::new(seed, "link-rate/bottleneck");
    let mut opportunities = Opportunities::of(waveform, stream)?;
    let times = std::iter::from_fn(|| opportunities.next()).map(|(at_ns, _)| at_ns);
    Some(
        times
            .take_while(|&ns| ns <= duration.nanoseconds())
            .map(|ns| ns / MILLISECOND_NS)
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times_ms(waveform: &Waveform, seed: u64, count: usize) -> Vec<u64> {
        let mut all = Opportunities::of(waveform, RandomStream::new(seed, "x")).unwrap();
        (0..count).map(|_| all.next().unwrap().0 / MILLISECOND_NS).collect()
    }

    fn trace(start: &str) -> Waveform {
        let json = format!(r#"{{"kind": "trace", "file": "x", "start": {start}}}"#);
        let mut waveform = serde_json::from_str(&json).unwrap();
        if let Waveform::Shape(Shape::Trace { opportunities, .. }) = &mut waveform {
            *opportunities = DeliveryOpportunities::parse("0\n2\n5\n5\n10").unwrap();
        }
        waveform
    }

    #[test]
    fn a_trace_starts_anywhere_and_is_a_cycle() {
        assert_eq!(times_ms(&trace("0"), 1, 7), [0, 2, 5, 5, 10, 10, 12]);
        // From 4 ms on: 5, 5, 10 and 0 of the next repetition, 2, 5.
        assert_eq!(times_ms(&trace("\"4ms\""), 1, 7), [1, 1, 6, 6, 8, 11, 11]);
        // An opportunity at the start is at 0.
        assert_eq!(times_ms(&trace("\"5ms\""), 1, 4), [0, 0, 5, 5]);
    }

    #[test]
    fn a_random_start_is_uniform_over_the_trace() {
        // First opportunities from a start at 0, 1, ..., 9: after 0 1 0 2 1 0 4 3 2 1 ms, so each
        // of 0, 1 in 3 of 10, of 2 in 2, of 3, 4 in 1. Standard error of 2000: at most 0.0103.
        let mut counts = [0.0f64; 5];
        for seed in 0..2000 {
            counts[times_ms(&trace("\"random\""), seed, 1)[0] as usize] += 1.0 / 2000.0;
        }
        for (found, expected) in counts.iter().zip([0.3, 0.3, 0.2, 0.1, 0.1]) {
            assert!((found - expected).abs() < 0.041, "{counts:?}");
        }
        assert_eq!(times_ms(&trace("\"random\""), 7, 9), times_ms(&trace("\"random\""), 7, 9));
    }

    #[test]
    fn grants_carry_what_the_rate_sends_in_an_interval() {
        // 3 Mbit/s in 5 ms: 15,000 bits, 1875 bytes. 1 kbit/s in 5 ms: 0.625 bytes, so of eight
        // grants five carry a byte.
        let grants = |json: &str, count: usize| {
            let waveform: Waveform = serde_json::from_str(json).unwrap();
            let mut all = Opportunities::of(&waveform, RandomStream::new(1, "x")).unwrap();
            (0..count).map(|_| all.next().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(
            grants(r#"{"kind": "grants", "rate": "3Mbit", "every": "5ms"}"#, 2),
            [(5_000_000, 1875), (10_000_000, 1875)]
        );
        let slow = grants(r#"{"kind": "grants", "rate": "1kbit", "every": "5ms"}"#, 8);
        assert_eq!(slow.iter().map(|grant| grant.1).collect::<Vec<_>>(), [0, 1, 0, 1, 1, 0, 1, 1]);
    }
}
