//! Time in which a flow was active.

/// Time within the window from a flow's start to its end, seconds; both may be infinite.
pub fn active_s([from_s, to_s]: [f64; 2], start_s: f64, end_s: f64) -> f64 {
    (end_s.min(to_s) - start_s.max(from_s)).max(0.0)
}

/// Goodput over the time in which a flow was active; none for a flow that was not.
pub fn active_goodput_bps(delivered_bits: f64, active_s: f64) -> Option<f64> {
    (active_s > 0.0).then(|| delivered_bits / active_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn early_late_and_absent_flows_by_hand() {
        let active = |start_s, end_s| active_s([10.0, 30.0], start_s, end_s);
        assert_eq!(active(0.0, f64::INFINITY), 20.0);
        assert_eq!((active(25.0, f64::INFINITY), active(12.0, 15.5)), (5.0, 3.5));
        assert_eq!((active(30.0, f64::INFINITY), active(0.0, 10.0)), (0.0, 0.0));
        assert_eq!(active(f64::INFINITY, f64::INFINITY), 0.0);
        assert_eq!((active_goodput_bps(3e6, 1.5), active_goodput_bps(0.0, 0.0)), (Some(2e6), None));
    }
}
