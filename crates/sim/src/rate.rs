//! Serialising at a rate that may change in time, in integer nanoseconds without drift.
//!
//! Rates are piecewise constant and known ahead (a waveform is a function of its seed), so a departure is computed once, at
//! arrival, even when the rate changes while the packet waits. The packet in service continues at the new rate.

use crate::random::Stream;
use crate::scenario::{Shape, Waveform};

const SECOND: u64 = 1_000_000_000;

/// Serialises packets one after the other.
#[derive(Clone, Debug)]
pub enum Serializer {
    /// Takes no time.
    Instant,
    /// One rate.
    Constant(Constant),
    /// A rate that changes.
    Varying(Box<Varying>),
}

/// One rate; what does not divide evenly is carried to the next packet.
#[derive(Clone, Debug)]
pub struct Constant {
    rate: u64,
    /// Carried remainder, in units of 1/rate nanoseconds.
    carried: u64,
    /// The last size seen, and its quotient and remainder: packets mostly have one size.
    size: u32,
    quotient: u64,
    remainder: u64,
}

impl Constant {
    fn new(rate: u64) -> Self {
        Self { rate, carried: 0, size: 0, quotient: 0, remainder: 0 }
    }

    #[inline]
    fn finish(&mut self, start_ns: u64, size_bytes: u32) -> u64 {
        if size_bytes != self.size {
            let work = u64::from(size_bytes) * 8 * SECOND;
            (self.size, self.quotient, self.remainder) = (size_bytes, work / self.rate, work % self.rate);
        }
        self.carried += self.remainder;
        let carry = self.carried >= self.rate;
        self.carried -= if carry { self.rate } else { 0 };
        start_ns + self.quotient + u64::from(carry)
    }
}

/// A rate that changes at known times.
#[derive(Clone, Debug)]
pub struct Varying {
    changes: Changes,
    /// Current piece: its rate, and when it ends.
    rate: u64,
    until_ns: u64,
    horizon_ns: u64,
    /// Bit-nanoseconds already spent on the next packet by rounding a departure up.
    carried: u128,
}

impl Varying {
    fn new(mut changes: Changes, horizon_ns: u64) -> Self {
        let (rate, until_ns) = changes.next();
        Self { changes, rate, until_ns, horizon_ns, carried: 0 }
    }

    /// Rate at `now_ns`, which never decreases from call to call.
    fn rate_at(&mut self, now_ns: u64) -> u64 {
        while self.until_ns <= now_ns {
            (self.rate, self.until_ns) = self.changes.next();
        }
        self.rate
    }

    fn finish(&mut self, start_ns: u64, size_bytes: u32) -> u64 {
        let mut now = start_ns;
        let mut work = u128::from(size_bytes) * 8 * u128::from(SECOND);
        work -= self.carried.min(work);
        loop {
            let rate = u128::from(self.rate_at(now));
            let capacity = rate * u128::from(self.until_ns - now);
            if work <= capacity && rate > 0 {
                let time = work.div_ceil(rate);
                self.carried = time * rate - work;
                return now + time as u64;
            }
            work -= capacity;
            now = self.until_ns;
            if now > self.horizon_ns {
                // Beyond the end of the run: it will not be seen.
                return u64::MAX / 4;
            }
        }
    }
}

impl Serializer {
    /// From a waveform whose draws come from `stream`; `ceiling` turns an available rate into what is left of a link.
    pub fn new(waveform: &Waveform, stream: Stream, horizon_ns: u64, left_of: Option<u64>) -> Self {
        match waveform {
            Waveform::Constant(rate) | Waveform::Shape(Shape::Constant { rate }) => {
                let rate = left_of.map_or(rate.bps(), |link| link.saturating_sub(rate.bps()));
                if rate > 0 { Self::Constant(Constant::new(rate)) } else { Self::Varying(Box::new(Varying::new(Changes::silent(), horizon_ns))) }
            }
            Waveform::Shape(shape) => Self::Varying(Box::new(Varying::new(Changes::new(shape.clone(), stream, left_of), horizon_ns))),
        }
    }

    /// At one rate.
    pub fn constant(rate_bps: u64) -> Self {
        Self::Constant(Constant::new(rate_bps.max(1)))
    }

    /// When a packet that starts at `start_ns` has left. Starts never decrease from call to call.
    #[inline]
    pub fn finish(&mut self, start_ns: u64, size_bytes: u32) -> u64 {
        match self {
            Self::Instant => start_ns,
            Self::Constant(constant) => constant.finish(start_ns, size_bytes),
            Self::Varying(varying) => varying.finish(start_ns, size_bytes),
        }
    }
}

/// Mean of a waveform over a window, bits per second, computed on its own copy of the draws.
pub fn mean_rate(waveform: &Waveform, stream: Stream, left_of: Option<u64>, from_ns: u64, to_ns: u64) -> f64 {
    let mut changes = match waveform {
        Waveform::Constant(rate) | Waveform::Shape(Shape::Constant { rate }) => {
            return left_of.map_or(rate.bps(), |link| link.saturating_sub(rate.bps())) as f64;
        }
        Waveform::Shape(shape) => Changes::new(shape.clone(), stream, left_of),
    };
    let (mut begin, mut area) = (0u64, 0.0);
    while begin < to_ns {
        let (rate, until) = changes.next();
        let overlap = until.min(to_ns).saturating_sub(begin.max(from_ns));
        area += rate as f64 * overlap as f64;
        begin = until;
    }
    area / (to_ns - from_ns) as f64
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

    /// Rate of the next piece and when it ends.
    fn next(&mut self) -> (u64, u64) {
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
        (self.left_of.map_or(rate, |link| link.saturating_sub(rate)), self.begin_ns)
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
        // 8320 bits at 1.5 Mbit/s take 5546666.67 ns: three packets take 16.64 ms exactly.
        let mut serializer = Serializer::constant(1_500_000);
        let end = (0..3000).fold(0, |now, _| serializer.finish(now, 1040));
        assert_eq!(end, 16_640_000_000);
    }

    #[test]
    fn a_packet_in_service_continues_at_the_new_rate() {
        // 8000 bits: 1 ms at 4 Mbit/s leaves 4000 bits, which take 4 ms at 1 Mbit/s.
        let square = waveform(r#"{"kind": "square", "high": "4Mbit", "low": "1Mbit", "every": "1ms"}"#);
        let points = Waveform::Shape(Shape::Points {
            points: vec![(Time::ns(0), Rate::bits_per_second(4_000_000)), (Time::ns(1_000_000), Rate::bits_per_second(1_000_000))],
            repeat: None,
        });
        let mut once = Serializer::new(&points, Stream::new(1, "x"), 1 << 40, None);
        assert_eq!(once.finish(0, 1000), 5_000_000);
        // Alternating: 4000 bits, then 1000, then 3000 of the 4000 that fit: 2.75 ms.
        let mut again = Serializer::new(&square, Stream::new(1, "x"), 1 << 40, None);
        assert_eq!(again.finish(0, 1000), 2_750_000);
    }

    #[test]
    fn what_a_link_has_left_is_its_rate_less_the_available_one() {
        let constant = waveform(r#""4Mbit""#);
        assert_eq!(mean_rate(&constant, Stream::new(1, "x"), Some(10_000_000), 0, SECOND), 6e6);
        let tooth = waveform(r#"{"kind": "saw-tooth", "low": "2Mbit", "high": "6Mbit", "period": "1s"}"#);
        assert!((mean_rate(&tooth, Stream::new(1, "x"), Some(10_000_000), 0, 3 * SECOND) - 6e6).abs() < 1.0);
    }

    #[test]
    fn a_full_link_leaves_nothing() {
        let constant = waveform(r#""10Mbit""#);
        let mut none = Serializer::new(&constant, Stream::new(1, "x"), SECOND, Some(10_000_000));
        assert!(none.finish(0, 1000) > SECOND);
    }
}
