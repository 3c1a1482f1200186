//! Population of constant-rate sources that leaves the flows of a fairly shared link a given
//! available rate.
//!
//! With n flows and m sources on a link of rate C each gets C/(n + m); the flows together get n
//! C/(n + m) = B, so m = n (C - B)/B.

use crate::rate::piecewise::PiecewiseRate;
use cwndlab_scenario::MAX_SOURCES;
use std::sync::Arc;

/// Size of a population over time, which follows the available rate. Clones share the computed
/// sizes, since each source has one.
#[derive(Clone, Debug)]
pub struct SourcePopulation {
    /// Sizes, and the end of each, seconds.
    pieces: Arc<[(u64, f64)]>,
    next: usize,
}

impl SourcePopulation {
    /// Population beside `beside` flows on a link of `link_bps` that leaves them `available` until
    /// `end_s`.
    pub fn new(mut available: PiecewiseRate, link_bps: u64, beside: u64, end_s: f64) -> Self {
        let mut pieces: Vec<(u64, f64)> = Vec::new();
        while pieces.last().is_none_or(|&(_, until_s)| until_s < end_s) {
            let (available_bps, until_s) = available.next();
            let count = sources(available_bps, link_bps as f64, beside as f64);
            match pieces.last_mut().filter(|last| last.0 == count) {
                Some(last) => last.1 = until_s,
                None => pieces.push((count, until_s)),
            }
        }
        Self { pieces: pieces.into(), next: 0 }
    }

    /// Next size, and its end, seconds; zero after the end of the run.
    pub fn next(&mut self) -> (u64, f64) {
        self.next += 1;
        self.pieces.get(self.next - 1).copied().unwrap_or((0, f64::MAX))
    }

    /// Largest size.
    pub fn most(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.0).max().unwrap_or_default()
    }
}

/// n (C - B)/B rounded to the nearest integer, halves up, with B clamped to (0, C].
fn sources(available_bps: f64, link_bps: f64, beside: f64) -> u64 {
    let left_bps = available_bps.clamp(1.0, link_bps);
    (beside * (link_bps - left_bps) / left_bps).round().min(MAX_SOURCES) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream::RandomStream;

    #[test]
    fn ten_flows_get_half_a_link_beside_ten_sources() {
        // 10 (10 - B)/B for B = 10, 5, 4, 3, 1 Mbit/s: 0, 10, 15, 23.3, 90.
        assert_eq!(
            [10e6, 5e6, 4e6, 3e6, 1e6, 2e7].map(|bps| sources(bps, 10e6, 10.0)),
            [0, 10, 15, 23, 90, 0]
        );
        assert_eq!(sources(0.0, 10e6, 10.0), 1_000_000);
    }

    #[test]
    fn the_number_follows_the_waveform() {
        let square = serde_json::from_str(
            r#"{"kind": "square", "high": "5Mbit", "low": "2Mbit", "every": "1s"}"#,
        )
        .unwrap();
        let mut population = SourcePopulation::new(
            PiecewiseRate::new(&square, RandomStream::new(1, "x"), None),
            10_000_000,
            4,
            2.5,
        );
        assert_eq!(population.most(), 16);
        assert_eq!(
            [(); 4].map(|()| population.next()),
            [(4, 1.0), (16, 2.0), (4, 3.0), (0, f64::MAX)]
        );
    }
}
