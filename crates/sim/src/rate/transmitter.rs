//! Transmitter: transmission times on a link or source, at a constant rate, a varying rate or
//! delivery opportunities.
//!
//! Rates are piecewise constant and known ahead (a waveform is a function of its seed), so a
//! departure is computed once, at arrival, even if the rate changes while the packet waits. A
//! packet in service continues at the new rate.

use crate::random::stream::RandomStream;
use crate::rate::opportunities::Opportunities;
use crate::rate::outages::Outages;
use crate::rate::piecewise::PiecewiseRate;
use crate::rate::token_bucket::TokenBucket;
use crate::rate::trace_driven::TraceDriven;
use cwndlab_scenario::{Shape, TokenBucketSpec, Waveform};

/// Transmits packets one after the other.
#[derive(Clone, Debug)]
pub enum Transmitter {
    /// A constant rate.
    Constant(ConstantRate),
    /// A rate that changes.
    Varying(Box<VaryingRate>),
    /// Delivery opportunities of a trace, a cellular link or grants.
    TraceDriven(Box<TraceDriven>),
    /// Any of these behind a shaper.
    Shaped(Box<Shaped>),
}

/// A shaper: a packet that starts waits until the token bucket holds its size.
#[derive(Clone, Debug)]
pub struct Shaped {
    bucket: TokenBucket,
    transmitter: Transmitter,
}

/// A constant rate.
#[derive(Clone, Debug)]
pub struct ConstantRate {
    rate_bps: f64,
    /// The last size seen and its transmission time: most packets have one size.
    size_bytes: u32,
    transmission_s: f64,
}

impl ConstantRate {
    /// A rate in bit/s, not zero.
    pub fn new(rate_bps: u64) -> Self {
        Self { rate_bps: rate_bps as f64, size_bytes: 0, transmission_s: 0.0 }
    }

    /// Transmission time of a packet, seconds; in the order of operations of ns-2
    /// (LinkDelay::txtime).
    #[inline]
    pub fn transmission_s(&mut self, size_bytes: u32) -> f64 {
        if size_bytes != self.size_bytes {
            self.divide(size_bytes);
        }
        self.transmission_s
    }

    #[cold]
    #[inline(never)]
    fn divide(&mut self, size_bytes: u32) {
        (self.size_bytes, self.transmission_s) =
            (size_bytes, 8.0 * f64::from(size_bytes) / self.rate_bps);
    }
}

/// A rate that changes at known times.
#[derive(Clone, Debug)]
pub struct VaryingRate {
    rate: PiecewiseRate,
    /// Rate and end of the current piece.
    rate_bps: f64,
    until_s: f64,
    horizon_s: f64,
}

impl VaryingRate {
    fn new(mut rate: PiecewiseRate, horizon_s: f64) -> Self {
        let (rate_bps, until_s) = rate.next();
        Self { rate, rate_bps, until_s, horizon_s }
    }

    // Out of line, like all that few packets need: inlined, it costs the common path registers.
    #[cold]
    #[inline(never)]
    fn finish(&mut self, start_s: f64, size_bytes: u32) -> f64 {
        let mut now_s = start_s;
        let mut bits = 8.0 * f64::from(size_bytes);
        loop {
            while self.until_s <= now_s && self.until_s <= self.horizon_s {
                (self.rate_bps, self.until_s) = self.rate.next();
            }
            // Changes after the end of the run are ignored: the last rate continues.
            let is_last = self.until_s > self.horizon_s;
            let capacity =
                if is_last { f64::INFINITY } else { self.rate_bps * (self.until_s - now_s) };
            if bits <= capacity && self.rate_bps > 0.0 {
                return now_s + bits / self.rate_bps;
            }
            if is_last {
                return f64::MAX;
            }
            bits -= capacity;
            now_s = self.until_s;
        }
    }
}

impl Transmitter {
    /// Transmitter of a waveform with random draws from `stream`. With `link_rate_bps` the waveform
    /// is an available rate, and the transmitter takes the rest of the link.
    pub fn new(
        waveform: &Waveform,
        stream: RandomStream,
        horizon_s: f64,
        link_rate_bps: Option<u64>,
    ) -> Self {
        match waveform {
            Waveform::Constant(rate) | Waveform::Shape(Shape::Constant { rate }) => {
                let rate = link_rate_bps.map_or(rate.bps(), |link| link.saturating_sub(rate.bps()));
                if rate > 0 {
                    Self::Constant(ConstantRate::new(rate))
                } else {
                    Self::varying(PiecewiseRate::silent(), horizon_s)
                }
            }
            Waveform::Shape(_) if waveform.has_opportunities() && link_rate_bps.is_none() => {
                Self::at_opportunities(waveform, stream, horizon_s, Outages::default())
            }
            Waveform::Shape(_) => {
                Self::varying(PiecewiseRate::new(waveform, stream, link_rate_bps), horizon_s)
            }
        }
    }

    /// Transmitter of a link with outages; a packet in service continues after an outage.
    pub fn with_outages(
        waveform: &Waveform,
        stream: RandomStream,
        horizon_s: f64,
        outages: &Outages,
    ) -> Self {
        if outages.is_empty() {
            return Self::new(waveform, stream, horizon_s, None);
        }
        if waveform.has_opportunities() {
            return Self::at_opportunities(waveform, stream, horizon_s, outages.clone());
        }
        let rate = PiecewiseRate::new(waveform, stream, None).with_outages(outages.clone());
        Self::varying(rate, horizon_s)
    }

    fn at_opportunities(
        waveform: &Waveform,
        stream: RandomStream,
        horizon_s: f64,
        outages: Outages,
    ) -> Self {
        let opportunities = Opportunities::of(waveform, stream).expect("the waveform has them");
        Self::TraceDriven(Box::new(TraceDriven::new(opportunities, outages, horizon_s)))
    }

    /// This transmitter behind a token bucket: its rate is then the peak rate.
    pub fn shaped(self, shaper: &TokenBucketSpec) -> Self {
        let bucket = TokenBucket::new(shaper.rate, shaper.burst);
        Self::Shaped(Box::new(Shaped { bucket, transmitter: self }))
    }

    fn varying(rate: PiecewiseRate, horizon_s: f64) -> Self {
        Self::Varying(Box::new(VaryingRate::new(rate, horizon_s)))
    }

    /// End of the transmission of a packet that starts at `start_s`, and its arrival at the other
    /// end, `delay_s` later. Neither ever decreases.
    #[inline(always)]
    pub fn transmit(&mut self, start_s: f64, size_bytes: u32, delay_s: f64) -> (f64, f64) {
        if let Self::Constant(constant) = self {
            let transmission_s = constant.transmission_s(size_bytes);
            // In the order of operations of ns-2 (LinkDelay::recv).
            return (start_s + transmission_s, start_s + (transmission_s + delay_s));
        }
        self.transmit_varying(start_s, size_bytes, delay_s)
    }

    #[inline(never)]
    fn transmit_varying(&mut self, start_s: f64, size_bytes: u32, delay_s: f64) -> (f64, f64) {
        let (end_s, transmission_s) = self.finish(start_s, size_bytes);
        if let Self::TraceDriven(_) | Self::Shaped(_) = self {
            // Packets that share an opportunity depart together: computed from their starts,
            // rounding could make the later one arrive first.
            return (end_s, end_s + delay_s);
        }
        (end_s, start_s + (transmission_s + delay_s))
    }

    /// End of the transmission of a packet that starts at `start_s`, and its duration. Starts never
    /// decrease from call to call.
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
            Self::TraceDriven(recorded) => {
                let end_s = recorded.finish(start_s, size_bytes);
                (end_s, end_s - start_s)
            }
            Self::Shaped(shaped) => {
                let conforming_s = shaped.bucket.holds_at_s(start_s, size_bytes);
                shaped.bucket.tokens_bytes(conforming_s);
                shaped.bucket.take(size_bytes);
                let (end_s, _) = shaped.transmitter.finish(conforming_s, size_bytes);
                (end_s, end_s - start_s)
            }
        }
    }
}

/// How a link sends what its queue lets through.
#[derive(Debug)]
pub struct Line {
    /// Its rate.
    pub transmitter: Transmitter,
    /// Propagation delay, seconds.
    pub delay_s: f64,
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
        let mut transmitter = Transmitter::Constant(ConstantRate::new(1_500_000));
        let end = (0..3000).fold(0.0, |now, _| transmitter.finish(now, 1040).0);
        assert!((end - 16.64f64).abs() < 1e-9, "{end}");
    }

    #[test]
    fn a_packet_in_service_continues_at_the_new_rate() {
        // 8000 bits: 1 ms at 4 Mbit/s leaves 4000 bits, which take 4 ms at 1 Mbit/s.
        let points = Waveform::Shape(Shape::Points {
            points: vec![
                (Time::ns(0), Rate::bits_per_second(4_000_000)),
                (Time::ns(1_000_000), Rate::bits_per_second(1_000_000)),
            ],
            repeat: None,
        });
        let mut once = Transmitter::new(&points, RandomStream::new(1, "x"), 100.0, None);
        assert!((once.finish(0.0, 1000).0 - 0.005).abs() < 1e-12);
        // Alternating: 4000 bits, then 1000, then 3000 of the 4000 that fit: 2.75 ms.
        let square =
            waveform(r#"{"kind": "square", "high": "4Mbit", "low": "1Mbit", "every": "1ms"}"#);
        let mut again = Transmitter::new(&square, RandomStream::new(1, "x"), 100.0, None);
        assert!((again.finish(0.0, 1000).0 - 0.00275).abs() < 1e-12);
    }

    #[test]
    fn packets_that_wait_beyond_the_end_of_the_run_take_the_last_rate() {
        let square =
            waveform(r#"{"kind": "square", "high": "4Mbit", "low": "1Mbit", "every": "1ms"}"#);
        let mut transmitter = Transmitter::new(&square, RandomStream::new(1, "x"), 0.0015, None);
        // 4000 bits by 1 ms, then 1 Mbit/s forever, because the next change (2 ms) is past the end:
        // 8000 bits end at 5 ms, 8000 more at 13 ms.
        assert!((transmitter.finish(0.0, 1000).0 - 0.005).abs() < 1e-12);
        assert!((transmitter.finish(0.005, 1000).0 - 0.013).abs() < 1e-12);
    }

    #[test]
    fn a_shaper_sends_a_burst_at_the_peak_rate() {
        // 3000 bytes at once, then 1000 a second; a packet of 1000 bytes takes 1 ms on the link.
        let constant = waveform(r#""8Mbit""#);
        let shaper = serde_json::from_str(r#"{"rate": "8kbit", "burst": "3kB"}"#).unwrap();
        let mut link =
            Transmitter::new(&constant, RandomStream::new(1, "x"), 100.0, None).shaped(&shaper);
        let mut now_s = 0.0;
        let mut ends_s = [0.0; 5];
        for end_s in &mut ends_s {
            (now_s, _) = link.finish(now_s, 1000);
            *end_s = now_s;
        }
        // The fourth packet waits for the tokens of a second, counted from the first packet on.
        for (actual, expected) in ends_s.iter().zip([0.001, 0.002, 0.003, 1.001, 2.001]) {
            assert!((actual - expected).abs() < 1e-12, "{ends_s:?}");
        }
    }

    #[test]
    fn a_full_link_leaves_nothing() {
        let constant = waveform(r#""10Mbit""#);
        let mut none =
            Transmitter::new(&constant, RandomStream::new(1, "x"), 1.0, Some(10_000_000));
        assert!(none.finish(0.0, 1000).0 > 1.0);
    }

    #[test]
    fn an_outage_interrupts_the_packet_in_service() {
        let outages = crate::rate::outages::tests::outages(&[(3, 10), (12, 20)]);
        let mut link = Transmitter::with_outages(
            &waveform(r#""1Mbit""#),
            RandomStream::new(1, "x"),
            100.0,
            &outages,
        );
        // 8000 bits take 8 ms: 3 before the first outage, 2 between them, 3 after the second.
        assert!((link.finish(0.0, 1000).0 - 0.023).abs() < 1e-12);
        assert!((link.finish(0.023, 1000).0 - 0.031).abs() < 1e-12);
        // A packet that arrives while the link is down starts when the link is up.
        let mut late = Transmitter::with_outages(
            &waveform(r#""1Mbit""#),
            RandomStream::new(1, "x"),
            100.0,
            &outages,
        );
        assert!((late.finish(0.015, 1000).0 - 0.028).abs() < 1e-12);
    }
}
