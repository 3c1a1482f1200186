//! Serialising at a rate that may change in time.
//!
//! Rates are piecewise constant and known ahead (a waveform is a function of its seed), so a departure is computed once, at
//! arrival, even when the rate changes while the packet waits. The packet in service continues at the new rate.

use crate::random::Stream;
use crate::scenario::{Shape, Waveform};

/// Serialises packets one after the other.
#[derive(Clone, Debug)]
pub enum Serializer {
    /// One rate.
    Constant(Constant),
    /// A rate that changes.
    Varying(Box<Varying>),
}

/// One rate.
#[derive(Clone, Debug)]
pub struct Constant {
    rate_bps: f64,
    /// The last size seen and how long it takes: packets mostly have one size.
    size_bytes: u32,
    transmission_s: f64,
}

impl Constant {
    /// At a rate in bits per second, not zero.
    pub fn new(rate_bps: u64) -> Self {
        Self { rate_bps: rate_bps as f64, size_bytes: 0, transmission_s: 0.0 }
    }

    /// How long a packet takes, seconds; in ns-2's order of operations (LinkDelay::txtime).
    #[inline]
    pub fn transmission_s(&mut self, size_bytes: u32) -> f64 {
        if size_bytes != self.size_bytes {
            self.divide(size_bytes);
        }
        self.transmission_s
    }

    #[cold]
    fn divide(&mut self, size_bytes: u32) {
        (self.size_bytes, self.transmission_s) = (size_bytes, 8.0 * f64::from(size_bytes) / self.rate_bps);
    }
}

/// A rate that changes at known times.
#[derive(Clone, Debug)]
pub struct Varying {
    changes: Changes,
    /// Current piece: its rate, and when it ends.
    rate_bps: f64,
    until_s: f64,
    horizon_s: f64,
}

impl Varying {
    fn new(mut changes: Changes, horizon_s: f64) -> Self {
        let (rate_bps, until_s) = changes.next();
        Self { changes, rate_bps, until_s, horizon_s }
    }

    // Out of line, like everything that is not met by every packet: inlined, it costs the common path its registers.
    #[cold]
    #[inline(never)]
    fn finish(&mut self, start_s: f64, size_bytes: u32) -> f64 {
        let mut now_s = start_s;
        let mut bits = 8.0 * f64::from(size_bytes);
        loop {
            while self.until_s <= now_s {
                (self.rate_bps, self.until_s) = self.changes.next();
            }
            let capacity = self.rate_bps * (self.until_s - now_s);
            if bits <= capacity && self.rate_bps > 0.0 {
                return now_s + bits / self.rate_bps;
            }
            bits -= capacity;
            now_s = self.until_s;
            if now_s > self.horizon_s {
                // Beyond the end of the run: it will not be seen.
                return f64::MAX;
            }
        }
    }
}

impl Serializer {
    /// From a waveform whose draws come from `stream`; `ceiling` turns an available rate into what is left of a link.
    pub fn new(waveform: &Waveform, stream: Stream, horizon_s: f64, left_of: Option<u64>) -> Self {
        match waveform {
            Waveform::Constant(rate) | Waveform::Shape(Shape::Constant { rate }) => {
                let rate = left_of.map_or(rate.bps(), |link| link.saturating_sub(rate.bps()));
                if rate > 0 { Self::Constant(Constant::new(rate)) } else { Self::Varying(Box::new(Varying::new(Changes::silent(), horizon_s))) }
            }
            Waveform::Shape(shape) => Self::Varying(Box::new(Varying::new(Changes::new(shape.clone(), stream, left_of), horizon_s))),
        }
    }

    /// When a packet that starts at `start_s` has left, and how long after `start_s` that is. Starts never decrease from call to call.
    #[inline]
    pub fn finish(&mut self, start_s: f64, size_bytes: u32) -> (f64, f64) {
        match self {
            Self::Constant(constant) => {
                let transmission_s = constant.transmission_s(size_bytes);
                (start_s + transmission_s, transmission_s)
            }
            Self::Varying(varying) => {
                let end_s = varying.finish(start_s, size_bytes);
                (end_s, end_s - start_s)
            }
        }
    }
}

/// Mean of a waveform over a window, bits per second, computed on its own copy of the draws.
pub fn mean_rate(waveform: &Waveform, stream: Stream, left_of: Option<u64>, from_s: f64, to_s: f64) -> f64 {
    let mut changes = match waveform {
        Waveform::Constant(rate) | Waveform::Shape(Shape::Constant { rate }) => {
            return left_of.map_or(rate.bps(), |link| link.saturating_sub(rate.bps())) as f64;
        }
        Waveform::Shape(shape) => Changes::new(shape.clone(), stream, left_of),
    };
    let (mut begin_s, mut bits) = (0.0, 0.0);
    while begin_s < to_s {
        let (rate_bps, until_s) = changes.next();
        bits += rate_bps * (until_s.min(to_s) - f64::max(begin_s, from_s)).max(0.0);
        begin_s = until_s;
    }
    bits / (to_s - from_s)
}

/// The pieces of a waveform, one after the other.
#[derive(Clone, Debug)]
struct Changes {
    shape: Option<Shape>,
    stream: Stream,
    left_of: Option<u64>,
    /// Index of the next piece, and where it begins.
    index: u64,
    begin_ns: u64,
    level: f64,
}

impl Changes {
    fn new(shape: Shape, stream: Stream, left_of: Option<u64>) -> Self {
        let level = if let Shape::Walk { start, .. } = &shape { start.bps() as f64 } else { 0.0 };
        Self { shape: Some(shape), stream, left_of, index: 0, begin_ns: 0, level }
    }

    /// A rate of zero for ever.
    fn silent() -> Self {
        Self { shape: None, stream: Stream::new(0, ""), left_of: None, index: 0, begin_ns: 0, level: 0.0 }
    }

    /// Rate of the next piece, and when it ends, seconds. Boundaries are whole nanoseconds, so that they do not drift.
    fn next(&mut self) -> (f64, f64) {
        let (rate, length) = match self.shape.take() {
            None => (0, u64::MAX / 4),
            Some(shape) => {
                let piece = self.piece(&shape);
                self.shape = Some(shape);
                piece
            }
        };
        self.index += 1;
        self.begin_ns = self.begin_ns.saturating_add(length);
        (self.left_of.map_or(rate, |link| link.saturating_sub(rate)) as f64, self.begin_ns as f64 / 1e9)
    }

    fn piece(&mut self, shape: &Shape) -> (u64, u64) {
        match shape {
            Shape::Constant { rate } => (rate.bps(), u64::MAX / 4),
            Shape::Square { high, low, every } => (if self.index.is_multiple_of(2) { high } else { low }.bps(), every.nanoseconds()),
            Shape::SawTooth { low, high, period, step } => saw_tooth(low.bps(), high.bps(), period.nanoseconds(), step.map(|s| s.nanoseconds()), self.begin_ns),
            Shape::Walk { spread, every, min, max, .. } => {
                if self.index > 0 {
                    let spread = spread.bps() as f64;
                    self.level = (self.level + self.stream.between(-spread, spread)).clamp(min.bps() as f64, max.bps() as f64);
                }
                (self.level.round() as u64, every.nanoseconds())
            }
            Shape::Uniform { low, high, every } => (self.stream.between(low.bps() as f64, high.bps() as f64).round() as u64, every.nanoseconds()),
            Shape::Points { points, repeat } => {
                let count = points.len() as u64;
                let place = (self.index % count) as usize;
                let rate = points[place].1.bps();
                let end = match (points.get(place + 1), repeat) {
                    (Some(next), _) => next.0.nanoseconds(),
                    (None, Some(repeat)) => repeat.nanoseconds(),
                    (None, None) => return (rate, u64::MAX / 4),
                };
                (rate, end - points[place].0.nanoseconds())
            }
        }
    }
}

/// Rate and length of the piece of a saw-tooth that begins at `begin_ns`: the middle of each step lies on the ramp.
fn saw_tooth(low: u64, high: u64, period: u64, step: Option<u64>, begin_ns: u64) -> (u64, u64) {
    let step = step.unwrap_or(period / 100).max(1);
    let place = begin_ns % period;
    let length = step.min(period - place);
    let middle = (place as f64 + length as f64 / 2.0) / period as f64;
    ((low as f64 + (high - low) as f64 * middle).round() as u64, length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwndlab_units::{Rate, Time};

    fn waveform(json: &str) -> Waveform {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_rate_that_does_not_divide_evenly_does_not_drift() {
        // 8320 bits at 1.5 Mbit/s take 5546666.67 ns: 3000 packets take 16.64 s.
        let mut serializer = Serializer::Constant(Constant::new(1_500_000));
        let end = (0..3000).fold(0.0, |now, _| serializer.finish(now, 1040).0);
        assert!((end - 16.64f64).abs() < 1e-9, "{end}");
    }

    #[test]
    fn a_packet_in_service_continues_at_the_new_rate() {
        // 8000 bits: 1 ms at 4 Mbit/s leaves 4000 bits, which take 4 ms at 1 Mbit/s.
        let points = Waveform::Shape(Shape::Points {
            points: vec![(Time::ns(0), Rate::bits_per_second(4_000_000)), (Time::ns(1_000_000), Rate::bits_per_second(1_000_000))],
            repeat: None,
        });
        let mut once = Serializer::new(&points, Stream::new(1, "x"), 100.0, None);
        assert!((once.finish(0.0, 1000).0 - 0.005).abs() < 1e-12);
        // Alternating: 4000 bits, then 1000, then 3000 of the 4000 that fit: 2.75 ms.
        let square = waveform(r#"{"kind": "square", "high": "4Mbit", "low": "1Mbit", "every": "1ms"}"#);
        let mut again = Serializer::new(&square, Stream::new(1, "x"), 100.0, None);
        assert!((again.finish(0.0, 1000).0 - 0.00275).abs() < 1e-12);
    }

    #[test]
    fn what_a_link_has_left_is_its_rate_less_the_available_one() {
        let constant = waveform(r#""4Mbit""#);
        assert_eq!(mean_rate(&constant, Stream::new(1, "x"), Some(10_000_000), 0.0, 1.0), 6e6);
        let tooth = waveform(r#"{"kind": "saw-tooth", "low": "2Mbit", "high": "6Mbit", "period": "1s"}"#);
        assert!((mean_rate(&tooth, Stream::new(1, "x"), Some(10_000_000), 0.0, 3.0) - 6e6).abs() < 1.0);
    }

    #[test]
    fn a_full_link_leaves_nothing() {
        let constant = waveform(r#""10Mbit""#);
        let mut none = Serializer::new(&constant, Stream::new(1, "x"), 1.0, Some(10_000_000));
        assert!(none.finish(0.0, 1000).0 > 1.0);
    }
}
