//! Flows that join and leave as time goes on.

use crate::scenario::{FlowSpec, Leave};

/// When each flow of a group starts at the earliest, beyond the group's own start, and when it leaves, seconds.
pub fn schedule(spec: &FlowSpec) -> Vec<(f64, Option<f64>)> {
    let joined_s = |i: u64| spec.join.map_or(0.0, |join| (i / join.batch) as f64 * join.every.seconds());
    let own_stop_s = spec.stop.map(|stop| stop.seconds());
    let mut flows: Vec<(f64, Option<f64>)> = (0..spec.count).map(|i| (joined_s(i), own_stop_s)).collect();
    if let Some(leave) = spec.leave {
        let start_s = spec.start.low.seconds();
        leave_in_batches(&mut flows, start_s, leave);
    }
    flows
}

fn leave_in_batches(flows: &mut [(f64, Option<f64>)], start_s: f64, leave: Leave) {
    let mut gone = vec![false; flows.len()];
    let mut left = flows.len();
    let mut round = 1;
    while left > 0 {
        let now_s = round as f64 * leave.every.seconds();
        let present: Vec<usize> = (0..flows.len()).filter(|&i| !gone[i] && start_s + flows[i].0 < now_s).collect();
        let count = match (leave.share, leave.batch) {
            (Some(share), _) => ((share * present.len() as f64).round() as usize).max(1),
            (None, batch) => batch.unwrap_or(1) as usize,
        };
        for &i in present.iter().rev().take(count) {
            gone[i] = true;
            left -= 1;
            flows[i].1 = Some(flows[i].1.map_or(now_s, |stop_s| stop_s.min(now_s)));
        }
        round += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(json: &str) -> Vec<(f64, Option<f64>)> {
        schedule(&serde_json::from_str(json).unwrap())
    }

    #[test]
    fn half_of_eight_leave_every_15_seconds_until_none_is_left() {
        let flows = times(r#"{"rule": "AIMD(1, 0.5)", "count": 8, "leave": {"share": 0.5, "every": "15s"}}"#);
        let stops: Vec<f64> = flows.iter().map(|flow| flow.1.unwrap()).collect();
        assert_eq!(stops, [60.0, 45.0, 30.0, 30.0, 15.0, 15.0, 15.0, 15.0]);
    }

    #[test]
    fn thirty_join_every_15_seconds() {
        let flows = times(r#"{"rule": "AIMD(1, 0.5)", "count": 120, "join": {"batch": 30, "every": "15s"}}"#);
        assert_eq!([0, 29, 30, 60, 119].map(|i| flows[i]), [(0.0, None), (0.0, None), (15.0, None), (30.0, None), (45.0, None)]);
    }

    #[test]
    fn who_has_not_joined_cannot_leave() {
        // Two join at 0, two at 10 s; one leaves at 6, 12, 18, 24 s: the last to join first.
        let flows =
            times(r#"{"rule": "AIMD(1, 0.5)", "count": 4, "join": {"batch": 2, "every": "10s"}, "leave": {"batch": 1, "every": "6s"}}"#);
        assert_eq!(flows, [(0.0, Some(24.0)), (0.0, Some(6.0)), (10.0, Some(18.0)), (10.0, Some(12.0))]);
    }
}
