//! Trace-driven link: a number of bytes may leave at each delivery opportunity, 1500 at those of a
//! mahimahi trace (Netravali et al. 2015).
//!
//! Small packets share an opportunity and large ones take several. Unused capacity is lost: an
//! opportunity at or before the arrival of a packet, and the rest of an opportunity when the queue
//! empties. Packets that share an opportunity leave a nanosecond apart, so that they stay in order
//! whatever events of other flows are due at this moment.

use crate::rate::opportunities::Opportunities;
use crate::rate::outages::Outages;

/// Time between packets that share an opportunity, seconds.
const SPACING_S: f64 = 1e-9;

/// Transmitter over delivery opportunities.
#[derive(Clone, Debug)]
pub struct TraceDriven {
    opportunities: Opportunities,
    outages: Outages,
    horizon_s: f64,
    /// Departure of the last packet, and the rest of its opportunity.
    last_s: f64,
    left_bytes: u64,
}

impl TraceDriven {
    /// Transmitter of these opportunities: those during an outage are lost, those after `horizon_s`
    /// ignored.
    pub fn new(opportunities: Opportunities, outages: Outages, horizon_s: f64) -> Self {
        Self { opportunities, outages, horizon_s, last_s: -1.0, left_bytes: 0 }
    }

    /// Departure time of a packet that has waited since `start_s`; `f64::MAX` if it is after the
    /// horizon. A packet that starts when its predecessor ends has been waiting.
    // Out of line, as `VaryingRate::finish` is.
    #[cold]
    #[inline(never)]
    pub fn finish(&mut self, start_s: f64, size_bytes: u32) -> f64 {
        let mut bytes = u64::from(size_bytes);
        if start_s > self.last_s {
            self.left_bytes = 0;
        } else {
            let shared = bytes.min(self.left_bytes);
            (bytes, self.left_bytes) = (bytes - shared, self.left_bytes - shared);
            if bytes == 0 {
                self.last_s += SPACING_S;
                return self.last_s;
            }
        }
        while self.last_s < f64::MAX {
            let (at_s, opportunity_bytes) = self.next_opportunity();
            if at_s > self.horizon_s {
                self.last_s = f64::MAX;
            } else if at_s > start_s || start_s <= self.last_s {
                let shared = bytes.min(opportunity_bytes);
                bytes -= shared;
                if bytes == 0 {
                    self.last_s = at_s.max(self.last_s + SPACING_S);
                    self.left_bytes = opportunity_bytes - shared;
                    break;
                }
            }
        }
        self.last_s
    }

    /// Takes the next opportunity at which the link is up: its time and bytes.
    fn next_opportunity(&mut self) -> (f64, u64) {
        while let Some((at_ns, bytes)) = self.opportunities.next() {
            let at_s = at_ns as f64 / 1e9;
            if at_s > self.horizon_s || !self.outages.is_down(at_s) {
                return (at_s, bytes);
            }
        }
        (f64::MAX, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream::RandomStream;
    use crate::rate::outages::tests::outages;
    use cwndlab_scenario::{DeliveryOpportunities, Shape, TraceStart, Waveform};

    fn opportunities(json: &str) -> Opportunities {
        let waveform = serde_json::from_str(json).unwrap();
        Opportunities::of(&waveform, RandomStream::new(1, "x")).unwrap()
    }

    fn trace(text: &str) -> Opportunities {
        let waveform = Waveform::Shape(Shape::Trace {
            file: "x".into(),
            start: TraceStart::default(),
            opportunities: DeliveryOpportunities::parse(text).unwrap(),
        });
        Opportunities::of(&waveform, RandomStream::new(1, "x")).unwrap()
    }

    /// Departure of a packet, to the microsecond.
    fn finish(link: &mut TraceDriven, start_s: f64, size_bytes: u32) -> f64 {
        let end_s = link.finish(start_s, size_bytes);
        if end_s < f64::MAX { (end_s * 1e6).round() / 1e6 } else { end_s }
    }

    fn link(text: &str) -> TraceDriven {
        TraceDriven::new(trace(text), Outages::default(), 1e3)
    }

    #[test]
    fn packets_leave_at_opportunities_and_the_trace_repeats() {
        let mut link = link("2\n5\n5\n10");
        let ends: Vec<f64> = (0..6).map(|_| finish(&mut link, 0.0, 1500)).collect();
        assert_eq!(ends, [0.002, 0.005, 0.005, 0.01, 0.012, 0.015]);
    }

    #[test]
    fn millisecond_0_of_a_repetition_is_the_last_of_the_one_before() {
        let mut link = link("0\n4");
        // At 0 the packet has only just arrived; at 4 ms there are two.
        let ends: Vec<f64> = (0..5).map(|_| finish(&mut link, 0.0, 1500)).collect();
        assert_eq!(ends, [0.004, 0.004, 0.008, 0.008, 0.012]);
    }

    #[test]
    fn small_packets_share_an_opportunity_and_large_ones_take_several() {
        // 600 + 600 + 300 of the third; its other 300, then 600 + 600.
        let mut small = link("1");
        let ends: Vec<f64> = (0..5).map(|_| finish(&mut small, 0.0, 600)).collect();
        assert_eq!(ends, [0.001, 0.001, 0.002, 0.002, 0.002]);
        // 2000 bytes: 1500 at 1 ms, 500 at 2 ms; the next takes the 1000 left there and 1000 of the
        // third.
        let mut large = link("1");
        assert_eq!([0.0, 0.002].map(|start_s| finish(&mut large, start_s, 2000)), [0.002, 0.003]);
    }

    #[test]
    fn unused_capacity_is_lost() {
        let mut link = link("1");
        assert_eq!(finish(&mut link, 0.0, 100), 0.001);
        // It arrives after the queue ran empty: the other 1400 bytes at 1 ms are gone.
        assert_eq!(finish(&mut link, 0.0011, 100), 0.002);
        // An opportunity at the moment of its arrival is gone too.
        assert_eq!(finish(&mut link, 0.005, 1500), 0.006);
    }

    #[test]
    fn no_opportunity_serves_more_than_it_carries() {
        // Whatever the sizes, n opportunities carry at most 1500 n bytes, and all of them while the
        // queue is never empty.
        let mut link = link("1\n1\n4\n7");
        let sizes: Vec<u32> = (0u32..200).map(|i| 40 + (i * 7919) % 2900).collect();
        let (mut now_s, mut sent) = (0.0, 0u64);
        for size in sizes {
            now_s = link.finish(now_s, size);
            sent += u64::from(size);
            // Four in each 7 ms: at 1, 1, 4 and 7.
            let ms = (now_s * 1e3).round() as u64;
            let passed = ms / 7 * 4 + [0, 2, 2, 2, 3, 3, 3][(ms % 7) as usize];
            let at_once = if matches!(ms % 7, 1) { 2 } else { 1 };
            assert!(
                sent <= 1500 * passed && sent > 1500 * (passed - at_once),
                "{sent} bytes by {ms} ms, {passed} opportunities"
            );
        }
    }

    #[test]
    fn opportunities_of_a_link_that_is_down_are_lost() {
        let mut link = TraceDriven::new(trace("1"), outages(&[(2, 5)]), 1e3);
        let ends: Vec<f64> = (0..3).map(|_| finish(&mut link, 0.0, 1500)).collect();
        assert_eq!(ends, [0.001, 0.005, 0.006]);
    }

    #[test]
    fn nothing_leaves_after_the_end_of_the_run() {
        let mut link = TraceDriven::new(trace("400"), Outages::default(), 1.0);
        let ends: Vec<f64> = (0..4).map(|_| finish(&mut link, 0.0, 1500)).collect();
        assert_eq!(ends, [0.4, 0.8, f64::MAX, f64::MAX]);
    }

    #[test]
    fn packets_leave_in_batches_at_grants() {
        // 3000 bytes every 10 ms. Five packets of 1000 bytes wait at first: three leave at the first
        // grant, two at the second. One that arrives at 20 ms exactly or later waits for the third,
        // and shares it with the next.
        let grants = r#"{"kind": "grants", "rate": "2.4Mbit", "every": "10ms"}"#;
        let mut link = TraceDriven::new(opportunities(grants), Outages::default(), 1e3);
        let ends: Vec<f64> = (0..5).map(|_| finish(&mut link, 0.0, 1000)).collect();
        assert_eq!(ends, [0.01, 0.01, 0.01, 0.02, 0.02]);
        assert_eq!([0.0201, 0.03].map(|start_s| finish(&mut link, start_s, 1000)), [0.03, 0.03]);
        // A packet of 4000 bytes takes a grant and a third of the next.
        assert_eq!([0.035, 0.05].map(|start_s| finish(&mut link, start_s, 4000)), [0.05, 0.06]);
    }

    #[test]
    fn packets_that_share_an_opportunity_stay_in_order() {
        // Ten of 100 bytes at 1 ms, the last 9 ns later.
        let mut link = link("1");
        let ends: Vec<f64> = (0..10).map(|_| link.finish(0.0, 100)).collect();
        assert!(ends.windows(2).all(|pair| pair[0] < pair[1]), "{ends:?}");
        assert!((ends[9] - 0.001_000_009).abs() < 1e-13, "{ends:?}");
    }
}
