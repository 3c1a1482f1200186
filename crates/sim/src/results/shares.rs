//! Starvation and convergence of listed flows, from their goodput in bins.
//!
//! In each bin the fair share is the mean goodput of the flows that are there for all of it. The
//! definition of convergence is that of M. Dong et al., *PCC: Re-architecting Congestion Control for
//! Consistent High Performance*, NSDI 2015, section 4.2, with this share in place of the ideal
//! one.

use crate::measure::shares::ShareRecord;
use cwndlab_scenario::ShareSpec;

/// How long a flow starved, and took to converge.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowShares {
    /// Longest time in which it starved without a break, seconds.
    pub starved_s: Option<f64>,
    /// Time from its start to its convergence, seconds; none if it did not converge.
    pub convergence_s: Option<f64>,
}

/// Starvation and convergence of each flow. `ends_s`: when each flow ends, infinite for one that
/// does not, and none for a flow that does not count.
pub fn flow_shares(
    record: &ShareRecord,
    spec: &ShareSpec,
    run_end_s: f64,
    ends_s: &[Option<f64>],
) -> Vec<FlowShares> {
    let bin_s = record.bin_s();
    let held_bins = (spec.hold.seconds() / bin_s - 1e-9).ceil().max(1.0) as usize;
    // Whole bins in which each flow is there.
    let whole = |flow: usize| {
        let end_s = ends_s[flow].map_or(0.0, |end_s| end_s.min(run_end_s));
        let first = (record.start_s(flow) / bin_s - 1e-9).ceil();
        let last = (end_s / bin_s + 1e-9).floor();
        if first < last { first as usize..last as usize } else { 0..0 }
    };
    let present: Vec<_> = (0..ends_s.len()).map(whole).collect();
    let bins = present.iter().map(|range| range.end).max().unwrap_or(0);
    let mut sums = vec![(0u64, 0u64); bins];
    for (flow, range) in present.iter().enumerate() {
        for bin in range.clone() {
            sums[bin].0 += record.bits(flow, bin);
            sums[bin].1 += 1;
        }
    }
    let measure = |(flow, range): (usize, &std::ops::Range<usize>)| {
        if range.is_empty() {
            return FlowShares::default();
        }
        let (mut starved, mut longest, mut fair) = (0usize, 0usize, 0usize);
        let mut convergence_s = None;
        for bin in range.clone() {
            let (sum, count) = sums[bin];
            let share = sum as f64 / count as f64;
            let bits = record.bits(flow, bin) as f64;
            starved = if bits < spec.starved_below * share { starved + 1 } else { 0 };
            longest = longest.max(starved);
            let is_fair = sum > 0 && (bits - share).abs() <= spec.band * share;
            fair = if is_fair { fair + 1 } else { 0 };
            if fair == held_bins && convergence_s.is_none() {
                let begin_s = (bin + 1 - held_bins) as f64 * bin_s;
                convergence_s = Some((begin_s - record.start_s(flow)).max(0.0));
            }
        }
        FlowShares { starved_s: Some(longest as f64 * bin_s), convergence_s }
    };
    present.iter().enumerate().map(measure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwndlab_units::Time;

    const NEVER_S: f64 = f64::INFINITY;

    /// Bins of 2 s; a flow starves below a fifth, and has converged within a quarter for 4 s.
    fn spec() -> ShareSpec {
        let (bin, hold) = (Time::ns(2_000_000_000), Time::ns(4_000_000_000));
        ShareSpec { bin, hold, starved_below: 0.2, band: 0.25 }
    }

    /// Flows that start at these times with these bits in bins from 0 on.
    fn record(flows: &[(f64, &[u64])]) -> ShareRecord {
        let mut record = ShareRecord::new(2.0, flows.len());
        for (flow, (start_s, bins)) in flows.iter().enumerate() {
            record.note_start(*start_s, flow as u32);
            record.note_start(50.0, flow as u32);
            for (bin, &bits) in bins.iter().enumerate() {
                record.add(2.0 * bin as f64 + 1.0, flow as u32, bits);
            }
        }
        record
    }

    #[test]
    fn two_flows_by_hand() {
        // The second starts at 3 s and is there from 4 s on. Fair shares in bins 2 to 8 are 50 each;
        // it starves below 10: in bins 2 and 3, not in bin 4, in bin 5. From bin 6 on, 12 s, it is
        // within 12.5 of 50.
        let flows: &[(f64, &[u64])] = &[
            (0.0, &[90, 90, 95, 91, 90, 95, 60, 38, 70]),
            (3.0, &[0, 7, 5, 9, 10, 5, 40, 62, 30]),
        ];
        let shares = flow_shares(&record(flows), &spec(), 18.9, &[Some(NEVER_S); 2]);
        assert_eq!(shares[1], FlowShares { starved_s: Some(4.0), convergence_s: Some(9.0) });
        // The first has all of it in bins 0 and 1.
        assert_eq!(shares[0], FlowShares { starved_s: Some(0.0), convergence_s: Some(0.0) });
    }

    #[test]
    fn a_flow_that_leaves_and_one_that_does_not_count() {
        // The second leaves at 5 s: bins 0 and 1. The third carries responses. In bins 0 and 1 the
        // first is 60 off its share of 40, later it is alone.
        let flows: &[(f64, &[u64])] =
            &[(0.0, &[16, 16, 30, 0, 30, 30]), (0.0, &[64, 64, 64]), (0.0, &[999, 999, 999])];
        let ends_s = [Some(NEVER_S), Some(5.0), None];
        let shares = flow_shares(&record(flows), &spec(), 12.0, &ends_s);
        // Nothing arrives in bin 3: no share to starve of, nor to be fair about.
        assert_eq!(shares[0], FlowShares { starved_s: Some(0.0), convergence_s: Some(8.0) });
        assert_eq!(shares[1], FlowShares { starved_s: Some(0.0), convergence_s: None });
        assert_eq!(shares[2], FlowShares::default());
    }

    #[test]
    fn a_flow_that_never_starts_has_neither() {
        let record = ShareRecord::new(2.0, 1);
        assert_eq!(flow_shares(&record, &spec(), 9.0, &[Some(NEVER_S)])[0], FlowShares::default());
    }
}
