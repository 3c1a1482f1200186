//! Start and stop times of the flows of a group that joins and leaves in batches.

use cwndlab_scenario::{FlowSpec, Leave};
use cwndlab_tcp::NEVER;

/// Start and stop of each flow of a group, seconds; none for a flow that would stop before it
/// starts. `drawn_s` is the start without `join`, `end_s` the end of the run.
pub fn flow_schedule(
    spec: &FlowSpec,
    end_s: f64,
    drawn_s: impl Fn(u64) -> f64,
) -> Vec<Option<(f64, f64)>> {
    let joined_s =
        |i: u64| spec.join.map_or(0.0, |join| (i / join.batch) as f64 * join.every.seconds());
    let own_stop_s = spec.stop.map_or(NEVER, |stop| stop.seconds());
    let starts: Vec<f64> = (0..spec.count).map(|i| drawn_s(i) + joined_s(i)).collect();
    let mut stops = vec![own_stop_s; starts.len()];
    if let Some(leave) = spec.leave {
        leave_in_batches(&starts, &mut stops, leave, end_s);
    }
    starts
        .into_iter()
        .zip(stops)
        .map(|(start_s, stop_s)| (start_s < stop_s).then_some((start_s, stop_s)))
        .collect()
}

/// The last to join leave first. A flow that has not joined cannot leave.
fn leave_in_batches(starts: &[f64], stops: &mut [f64], leave: Leave, end_s: f64) {
    let mut joining: Vec<usize> = (0..starts.len()).collect();
    joining.sort_by(|&a, &b| starts[b].total_cmp(&starts[a]).then(b.cmp(&a)));
    let (mut present, mut round) = (Vec::new(), 1u64);
    loop {
        if present.is_empty() {
            // No flow leaves until one is present.
            let Some(&next) = joining.last() else { return };
            round = round.max((starts[next] / leave.every.seconds()) as u64);
        }
        let now_s = round as f64 * leave.every.seconds();
        if now_s > end_s {
            return;
        }
        while let Some(i) = joining.pop_if(|&mut i| starts[i] < now_s) {
            present.push(i);
        }
        let count = match (leave.share, leave.batch) {
            (Some(share), _) => ((share * present.len() as f64).round() as usize).max(1),
            (None, batch) => batch.unwrap_or(1) as usize,
        };
        for i in present.drain(present.len().saturating_sub(count)..) {
            stops[i] = stops[i].min(now_s);
        }
        round += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Start and stop of each flow, in a run of 1000 s.
    fn times(json: &str) -> Vec<(f64, f64)> {
        let spec: FlowSpec = serde_json::from_str(json).unwrap();
        flow_schedule(&spec, 1000.0, |_| spec.start.span().low.seconds())
            .into_iter()
            .map(|flow| flow.unwrap_or((NEVER, NEVER)))
            .collect()
    }

    #[test]
    fn half_of_eight_leave_every_15_seconds_until_none_is_left() {
        let flows = times(
            r#"{"rule": "AIMD(1, 0.5)", "count": 8, "leave": {"share": 0.5, "every": "15s"}}"#,
        );
        let stops: Vec<f64> = flows.iter().map(|flow| flow.1).collect();
        assert_eq!(stops, [60.0, 45.0, 30.0, 30.0, 15.0, 15.0, 15.0, 15.0]);
    }

    #[test]
    fn thirty_join_every_15_seconds() {
        let flows = times(
            r#"{"rule": "AIMD(1, 0.5)", "count": 120, "join": {"batch": 30, "every": "15s"}}"#,
        );
        let starts = [0, 29, 30, 60, 119].map(|i| flows[i]);
        assert_eq!(
            starts,
            [(0.0, NEVER), (0.0, NEVER), (15.0, NEVER), (30.0, NEVER), (45.0, NEVER)]
        );
    }

    #[test]
    fn flows_that_have_not_joined_cannot_leave() {
        // Two join at 0, two at 10 s; one leaves at 6, 12, 18, 24 s: the last to join first.
        let flows = times(
            r#"{"rule": "AIMD(1, 0.5)", "count": 4, "join": {"batch": 2, "every": "10s"},
                "leave": {"batch": 1, "every": "6s"}}"#,
        );
        assert_eq!(flows, [(0.0, 24.0), (0.0, 6.0), (10.0, 18.0), (10.0, 12.0)]);
    }

    #[test]
    fn starts_that_are_drawn_count_as_they_are() {
        let spec: FlowSpec = serde_json::from_str(
            r#"{"rule": "AIMD(1, 0.5)", "count": 3, "start": ["0s", "9s"],
                "leave": {"batch": 3, "every": "5s"}}"#,
        )
        .unwrap();
        let flows = flow_schedule(&spec, 1000.0, |i| [7.0, 1.0, 4.0][i as usize]);
        assert_eq!(flows, [Some((7.0, 10.0)), Some((1.0, 5.0)), Some((4.0, 5.0))]);
    }

    #[test]
    fn flows_that_would_join_after_the_stop_never_start() {
        let flows = times(
            r#"{"rule": "AIMD(1, 0.5)", "count": 3, "join": {"batch": 1, "every": "4s"},
                "stop": "5s"}"#,
        );
        assert_eq!(flows, [(0.0, 5.0), (4.0, 5.0), (NEVER, NEVER)]);
    }

    #[test]
    fn frequent_leaves_with_rare_joins_are_fast() {
        // 2,000,000 flows one by one; and a nanosecond between departures while nobody is there for
        // 100 s.
        let many = times(
            r#"{"rule": "AIMD(1, 0.5)", "count": 2000000, "leave": {"batch": 1, "every": "1us"}}"#,
        );
        assert_eq!((many[1_999_999].1, many[1_500_000].1), (1e-6, 0.5));
        let rare = times(
            r#"{"rule": "AIMD(1, 0.5)", "count": 2, "join": {"batch": 1, "every": "100s"},
                "leave": {"batch": 1, "every": "1us"}}"#,
        );
        assert!((rare[1].1 - 100.0).abs() < 3e-6 && rare[1].0 < rare[1].1, "{rare:?}");
    }
}
