//! Piecewise constant rate: yields the constant pieces of a waveform one after the other.

use crate::random::stream::RandomStream;
use crate::rate::opportunities::{Opportunities, TRACE_BYTES};
use crate::rate::outages::Outages;
use cwndlab_scenario::{Shape, TraceStart, Waveform};
use cwndlab_units::Rate;

/// Length of a piece without end, nanoseconds: a sum of several still fits.
const ENDLESS_NS: u64 = u64::MAX / 4;
/// Rate of one delivery opportunity per millisecond, bit/s.
const OPPORTUNITY_BPS: u64 = 8 * TRACE_BYTES * 1000;
const MILLISECOND_NS: u64 = 1_000_000;

/// Iterator over the pieces of a waveform.
#[derive(Clone, Debug)]
pub struct PiecewiseRate {
    shape: Option<Shape>,
    stream: RandomStream,
    link_rate_bps: Option<u64>,
    outages: Outages,
    /// Index and start of the next piece of the shape.
    index: u64,
    begin_ns: u64,
    /// Rate of the current piece, and the time up to which pieces were yielded; outages split them.
    rate_bps: f64,
    emitted_until_ns: u64,
    /// Current rate of a random walk.
    level: f64,
    /// Of a trace or a cellular link: its opportunities, and the time of the next one.
    opportunities: Option<Opportunities>,
    next_ns: Option<u64>,
    /// Of a log: its time at which the run starts.
    skipped_ns: u64,
}

impl PiecewiseRate {
    /// Pieces of a waveform with random draws from `stream`. With `link_rate_bps` the pieces are
    /// what the waveform leaves of a link of that rate.
    pub fn new(waveform: &Waveform, stream: RandomStream, link_rate_bps: Option<u64>) -> Self {
        let shape = match waveform {
            Waveform::Constant(rate) => Shape::Constant { rate: *rate },
            Waveform::Shape(shape) => shape.clone(),
        };
        let level = if let Shape::Walk { start, .. } = &shape { start.bps() as f64 } else { 0.0 };
        let mut opportunities = Opportunities::of(waveform, stream.clone());
        let next_ns = opportunities.as_mut().and_then(Opportunities::next).map(|(ns, _)| ns);
        let skipped_ns = skipped_ns(&shape, stream.clone());
        let drawn = Self { opportunities, next_ns, skipped_ns, ..Self::silent() };
        Self { shape: Some(shape), stream, link_rate_bps, level, ..drawn }
    }

    /// The same with a rate of zero during outages.
    pub fn with_outages(self, outages: Outages) -> Self {
        Self { outages, ..self }
    }

    /// The same rate for ever, bit/s.
    pub fn constant(rate_bps: u64) -> Self {
        let shape = Some(Shape::Constant { rate: Rate::bits_per_second(rate_bps) });
        Self { shape, ..Self::silent() }
    }

    /// A rate of zero forever.
    pub fn silent() -> Self {
        Self {
            shape: None,
            stream: RandomStream::new(0, ""),
            link_rate_bps: None,
            outages: Outages::default(),
            index: 0,
            begin_ns: 0,
            rate_bps: 0.0,
            emitted_until_ns: 0,
            level: 0.0,
            opportunities: None,
            next_ns: None,
            skipped_ns: 0,
        }
    }

    /// Rate of the next piece, bit/s, and its end, seconds. Boundaries are integer nanoseconds and
    /// do not drift.
    pub fn next(&mut self) -> (f64, f64) {
        if self.emitted_until_ns >= self.begin_ns {
            self.advance();
        }
        let (is_down, until_ns) = self.outages.at_ns(self.emitted_until_ns);
        self.emitted_until_ns = until_ns.min(self.begin_ns);
        (if is_down { 0.0 } else { self.rate_bps }, self.emitted_until_ns as f64 / 1e9)
    }

    /// Goes on to the next piece of the shape.
    fn advance(&mut self) {
        let (rate, length_ns) = match self.shape.take() {
            None => (0, ENDLESS_NS),
            Some(shape) => {
                let piece = self.piece(&shape);
                self.shape = Some(shape);
                piece
            }
        };
        self.index += 1;
        self.begin_ns = self.begin_ns.saturating_add(length_ns);
        self.rate_bps = self.link_rate_bps.map_or(rate, |link| link.saturating_sub(rate)) as f64;
    }

    /// Mean rate in each of `count` bins of `bin_s` seconds, for a source active from `begin_s` to
    /// `end_s`, as it is seen `delay_s` later.
    pub fn bins(
        mut self,
        bin_s: f64,
        count: usize,
        [begin_s, end_s]: [f64; 2],
        delay_s: f64,
    ) -> Vec<f64> {
        let mut bins = vec![0.0; count];
        let mut from_s = 0.0;
        while from_s < count as f64 * bin_s {
            let (rate_bps, until_s) = self.next();
            let until_s = until_s + delay_s;
            let (low, high) = (f64::max(from_s, begin_s + delay_s), until_s.min(end_s + delay_s));
            let (first, last) = ((low / bin_s) as usize, (high / bin_s) as usize);
            for (index, bin) in bins.iter_mut().enumerate().take(last.saturating_add(1)).skip(first)
            {
                let overlap = high.min((index + 1) as f64 * bin_s) - low.max(index as f64 * bin_s);
                *bin += rate_bps * overlap.max(0.0) / bin_s;
            }
            from_s = until_s;
        }
        bins
    }

    /// Mean rate from `from_s` to `to_s`, bit/s.
    pub fn mean_bps(self, from_s: f64, to_s: f64) -> f64 {
        self.bits([(from_s, to_s)])[0] / (to_s - from_s)
    }

    /// Bits from the start to the end of each interval, seconds. They are in order of time, and do
    /// not overlap.
    pub fn bits(mut self, intervals: impl IntoIterator<Item = (f64, f64)>) -> Vec<f64> {
        let (mut begin_s, mut rate_bps, mut until_s) = (0.0, 0.0, 0.0);
        let sum = |(from_s, to_s): (f64, f64)| {
            let mut bits = 0.0;
            loop {
                bits += rate_bps * (f64::min(until_s, to_s) - f64::max(begin_s, from_s)).max(0.0);
                if until_s >= to_s {
                    return bits;
                }
                begin_s = until_s;
                (rate_bps, until_s) = self.next();
            }
        };
        intervals.into_iter().map(sum).collect()
    }

    fn piece(&mut self, shape: &Shape) -> (u64, u64) {
        match shape {
            Shape::Constant { rate } => (rate.bps(), ENDLESS_NS),
            Shape::Square { high, low, every } => {
                (if self.index.is_multiple_of(2) { high } else { low }.bps(), every.nanoseconds())
            }
            Shape::SawTooth { low, high, period, step } => saw_tooth(
                low.bps(),
                high.bps(),
                period.nanoseconds(),
                step.map(|s| s.nanoseconds()),
                self.begin_ns,
            ),
            Shape::Walk { spread, every, min, max, .. } => {
                if self.index > 0 {
                    let spread = spread.bps() as f64;
                    self.level = (self.level + self.stream.between(-spread, spread))
                        .clamp(min.bps() as f64, max.bps() as f64);
                }
                (self.level.round() as u64, every.nanoseconds())
            }
            Shape::Uniform { low, high, every } => (
                self.stream.between(low.bps() as f64, high.bps() as f64).round() as u64,
                every.nanoseconds(),
            ),
            Shape::Trace { .. } | Shape::Cellular { .. } => self.opportunity_piece(),
            Shape::Grants { rate, .. } => (rate.bps(), ENDLESS_NS),
            Shape::Log(spec) => {
                spec.log().piece(self.begin_ns.saturating_add(self.skipped_ns), spec.end)
            }
            Shape::Points { points, repeat } => {
                let count = points.len() as u64;
                let place = (self.index % count) as usize;
                let rate = points[place].1.bps();
                let end = match (points.get(place + 1), repeat) {
                    (Some(next), _) => next.0.nanoseconds(),
                    (None, Some(repeat)) => repeat.nanoseconds(),
                    (None, None) => return (rate, ENDLESS_NS),
                };
                (rate, end - points[place].0.nanoseconds())
            }
        }
    }
}

impl PiecewiseRate {
    /// Of opportunities: the millisecond that begins now, if it has any, or the gap without.
    fn opportunity_piece(&mut self) -> (u64, u64) {
        let mut count = 0;
        while let Some(at_ns) = self.next_ns {
            if at_ns > self.begin_ns {
                let gap_ns = at_ns - self.begin_ns;
                let length_ns = if count > 0 { MILLISECOND_NS } else { gap_ns };
                return (count * OPPORTUNITY_BPS, length_ns);
            }
            count += 1;
            self.next_ns =
                self.opportunities.as_mut().and_then(Opportunities::next).map(|(ns, _)| ns);
        }
        (0, ENDLESS_NS)
    }
}

/// The time of a log at which a run starts, drawn from `stream` if at random.
fn skipped_ns(shape: &Shape, mut stream: RandomStream) -> u64 {
    let Shape::Log(spec) = shape else { return 0 };
    match spec.start {
        TraceStart::At(time) => time.nanoseconds(),
        TraceStart::Random => (stream.uniform() * spec.log().length_ns() as f64) as u64,
    }
}

/// Rate and length of the piece of a sawtooth that begins at `begin_ns`: the middle of each step
/// lies on the ramp.
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

    fn waveform(json: &str) -> Waveform {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn cross_traffic_takes_the_link_rate_minus_the_available_rate() {
        let constant = waveform(r#""4Mbit""#);
        assert_eq!(
            PiecewiseRate::new(&constant, RandomStream::new(1, "x"), Some(10_000_000))
                .mean_bps(0.0, 1.0),
            6e6
        );
        let tooth =
            waveform(r#"{"kind": "saw-tooth", "low": "2Mbit", "high": "6Mbit", "period": "1s"}"#);
        assert!(
            (PiecewiseRate::new(&tooth, RandomStream::new(1, "x"), Some(10_000_000))
                .mean_bps(0.0, 3.0)
                - 6e6)
                .abs()
                < 1.0
        );
    }

    #[test]
    fn bins_and_bits_of_a_square_wave_by_hand() {
        // 4 and 2 Mbit/s for a second each, on from 0.5 s to 2.5 s, in bins of 1 s: half of 4, all
        // of 2, half of 4.
        let square =
            waveform(r#"{"kind": "square", "high": "4Mbit", "low": "2Mbit", "every": "1s"}"#);
        let rate = || PiecewiseRate::new(&square, RandomStream::new(1, "x"), None);
        assert_eq!(rate().bins(1.0, 4, [0.5, 2.5], 0.0), [2e6, 2e6, 2e6, 0.0]);
        // Half a second later: all of 4, of 2.
        assert_eq!(rate().bins(1.0, 4, [0.5, 2.5], 0.5), [0.0, 3e6, 3e6, 0.0]);
        assert_eq!(rate().bits([(0.5, 1.5), (1.5, 1.5), (3.0, 4.0)]), [3e6, 0.0, 2e6]);
    }

    #[test]
    fn bins_of_a_trace_count_its_opportunities() {
        // At 0, 2, 2 and 5 ms, again from 5 ms on: 0 | 2 2 | | | 5 5 | | 7 7 | ... so in bins of 5
        // ms 3, 4, 4 opportunities of 12,000 bits.
        let file = cwndlab_scenario::DeliveryOpportunities::parse("0\n2\n2\n5\n").unwrap();
        let trace = Waveform::Shape(Shape::Trace {
            file: "x".into(),
            start: TraceStart::default(),
            opportunities: file,
        });
        let rate = || PiecewiseRate::new(&trace, RandomStream::new(1, "x"), None);
        let counts = |bins: Vec<f64>| {
            bins.iter().map(|bps| (bps * 0.005 / 12_000.0 * 1e6).round() / 1e6).collect::<Vec<_>>()
        };
        assert_eq!(counts(rate().bins(0.005, 3, [0.0, 1.0], 0.0)), [3.0, 4.0, 4.0]);
        assert!((rate().mean_bps(0.005, 5.0) - 9.6e6).abs() < 1e-3);
        assert_eq!(trace.first().bps(), 9_600_000);
        // A link that is down from 2 ms to 7 ms loses those at 2 and 5.
        let down = crate::rate::outages::tests::outages(&[(2, 7)]);
        assert_eq!(
            counts(rate().with_outages(down).bins(0.005, 3, [0.0, 1.0], 0.0)),
            [1.0, 2.0, 4.0]
        );
    }

    #[test]
    fn a_link_that_is_down_has_no_rate() {
        let square =
            waveform(r#"{"kind": "square", "high": "4Mbit", "low": "2Mbit", "every": "10ms"}"#);
        let mut rate = PiecewiseRate::new(&square, RandomStream::new(1, "x"), None)
            .with_outages(crate::rate::outages::tests::outages(&[(5, 25), (25, 30)]));
        let pieces: Vec<(f64, f64)> = (0..6).map(|_| rate.next()).collect();
        assert_eq!(
            pieces,
            [(4e6, 0.005), (0.0, 0.01), (0.0, 0.02), (0.0, 0.025), (0.0, 0.03), (2e6, 0.04)]
        );
    }
}
