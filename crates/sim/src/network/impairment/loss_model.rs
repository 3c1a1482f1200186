//! Loss models of a link: Bernoulli, Gilbert-Elliott and listed losses or marks, apart from those
//! of its queue.

use crate::random::stream::RandomStream;
use cwndlab_scenario::LossSpec;
use cwndlab_units::Time;
use std::ops::Range;

/// A loss model and the flows that it applies to.
#[derive(Clone, Debug)]
pub struct LossModel {
    /// Flows that it applies to; all if none.
    pub flows: Option<Range<u32>>,
    /// When it applies, seconds.
    pub interval_s: Range<f64>,
    /// The loss process.
    pub kind: LossProcess,
}

/// Outcome for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LossOutcome {
    /// The packet passes.
    Pass,
    /// The packet is marked (CE) if it is ECN-capable.
    Mark,
    /// The packet is dropped.
    Drop,
}

/// A loss process.
#[derive(Clone, Debug)]
pub enum LossProcess {
    /// Independent losses of this probability, before the queue or after transmission.
    Bernoulli { p: f64, stream: RandomStream, after_queue: bool },
    /// Losses in bursts, before the queue or after transmission.
    GilbertElliott { chain: TwoStateChain, stream: RandomStream, after_queue: bool },
    /// Drops the packets of these arrival numbers, from 0.
    List(PacketList),
    /// Marks the packets of these arrival numbers, from 0.
    Marks(PacketList),
}

/// The two-state Markov chain of Gilbert (1960) and Elliott (1963), good at first. At each packet
/// the state changes or not; then the loss probability of the state applies. In the long run a
/// share to_bad/(to_bad + to_good) of packets meets the bad state, in runs of 1/to_good on average.
#[derive(Clone, Copy, Debug)]
pub struct TwoStateChain {
    /// Probability to leave each state, good and bad.
    leave: [f64; 2],
    /// Loss probability in each state.
    loss: [f64; 2],
    state: usize,
}

impl TwoStateChain {
    fn apply(&mut self, stream: &mut RandomStream) -> bool {
        // Always two draws per packet, so that streams stay aligned when a probability changes.
        let (change, loss) = (stream.uniform(), stream.uniform());
        if change < self.leave[self.state] {
            self.state = 1 - self.state;
        }
        loss < self.loss[self.state]
    }
}

/// Sorted arrival numbers, and the number of packets so far.
#[derive(Clone, Debug)]
pub struct PacketList {
    packets: Vec<u64>,
    seen: u64,
    next: usize,
}

impl PacketList {
    /// A list of arrival numbers in any order.
    pub fn new(packets: &[u64]) -> Self {
        let mut packets = packets.to_vec();
        packets.sort_unstable();
        packets.dedup();
        Self { packets, seen: 0, next: 0 }
    }

    /// Counts a packet; returns whether it is in the list.
    fn contains_next(&mut self) -> bool {
        let hit = self.packets.get(self.next) == Some(&self.seen);
        self.seen += 1;
        self.next += usize::from(hit);
        hit
    }
}

impl LossProcess {
    /// The loss process of a scenario, with random draws from `stream`.
    fn new(spec: &LossSpec, stream: RandomStream) -> Self {
        match spec {
            LossSpec::Bernoulli { p, after_queue, .. } => {
                Self::Bernoulli { p: *p, stream, after_queue: *after_queue }
            }
            LossSpec::GilbertElliott {
                to_bad, to_good, bad_loss, good_loss, after_queue, ..
            } => Self::GilbertElliott {
                chain: TwoStateChain {
                    leave: [*to_bad, *to_good],
                    loss: [*good_loss, *bad_loss],
                    state: 0,
                },
                stream,
                after_queue: *after_queue,
            },
            LossSpec::List { packets, .. } => Self::List(PacketList::new(packets)),
            LossSpec::Marks { packets, .. } => Self::Marks(PacketList::new(packets)),
        }
    }
}

impl LossModel {
    /// The loss model of a scenario for these flows, with random draws from `stream`.
    pub fn new(spec: &LossSpec, flows: Option<Range<u32>>, stream: RandomStream) -> Self {
        let (from, to) = spec.interval();
        let interval_s = from.seconds()..to.map_or(f64::INFINITY, Time::seconds);
        Self { flows, interval_s, kind: LossProcess::new(spec, stream) }
    }

    /// Outcome for the next packet of `flow`, before the queue or after transmission.
    pub fn apply(&mut self, now_s: f64, flow: u32, after: bool) -> LossOutcome {
        if !self.interval_s.contains(&now_s) {
            return LossOutcome::Pass;
        }
        if self.flows.as_ref().is_some_and(|flows| !flows.contains(&flow)) {
            return LossOutcome::Pass;
        }
        let (hit, outcome) = match &mut self.kind {
            LossProcess::Bernoulli { p, stream, after_queue } => {
                (*after_queue == after && stream.uniform() < *p, LossOutcome::Drop)
            }
            LossProcess::GilbertElliott { chain, stream, after_queue } => {
                (*after_queue == after && chain.apply(stream), LossOutcome::Drop)
            }
            LossProcess::List(numbers) => (!after && numbers.contains_next(), LossOutcome::Drop),
            LossProcess::Marks(numbers) => (!after && numbers.contains_next(), LossOutcome::Mark),
        };
        if hit { outcome } else { LossOutcome::Pass }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(json: &str, flows: Option<Range<u32>>) -> LossModel {
        LossModel::new(&serde_json::from_str(json).unwrap(), flows, RandomStream::new(5, "loss"))
    }

    fn lost(loss: &mut LossModel, after: bool, packets: usize) -> Vec<bool> {
        (0..packets).map(|_| loss.apply(0.0, 0, after) == LossOutcome::Drop).collect()
    }

    #[test]
    fn bursts_have_their_rate_and_length() {
        // A quarter of packets meets the bad state, in runs of 1/0.03 = 33.3 packets. 200,000
        // packets hold about 1,500 runs; run lengths are geometric, deviation 33, so the mean
        // length has a standard error of 33/sqrt(1500) = 0.85. The share: cycles of 133 packets
        // whose bad and good parts deviate by 33 and 99; the error of the ratio is 0.25 * 0.75 *
        // sqrt(2/1500) = 0.0068.
        let mut loss =
            loss(r#"{"kind": "gilbert-elliott", "to_bad": 0.01, "to_good": 0.03}"#, None);
        let is_lost = lost(&mut loss, false, 200_000);
        let count = is_lost.iter().filter(|&&hit| hit).count() as f64;
        let runs = is_lost.windows(2).filter(|pair| pair[0] && !pair[1]).count() as f64;
        assert!((count / 2e5 - 0.25).abs() < 4.0 * 0.0068, "{}", count / 2e5);
        assert!((count / runs - 33.3).abs() < 4.0 * 0.85, "{}", count / runs);
    }

    #[test]
    fn both_states_may_lose_some() {
        // Half of packets in each state: 0.5 * 0.8 + 0.5 * 0.1 = 0.45. With changes at 1 in 2
        // packets are independent: sqrt(0.25/1e5).
        let json = r#"{"kind": "gilbert-elliott", "to_bad": 0.5, "to_good": 0.5,
            "bad_loss": 0.8, "good_loss": 0.1}"#;
        let count =
            lost(&mut loss(json, None), false, 100_000).iter().filter(|&&hit| hit).count() as f64;
        assert!((count / 1e5 - 0.45).abs() < 4.0 * 0.00158, "{}", count / 1e5);
    }

    #[test]
    fn the_state_changes_before_the_loss_is_drawn() {
        let mut alternating =
            loss(r#"{"kind": "gilbert-elliott", "to_bad": 1, "to_good": 1}"#, None);
        assert_eq!(lost(&mut alternating, false, 4), [true, false, true, false]);
    }

    #[test]
    fn losses_begin_and_end() {
        let mut sure = loss(
            r#"{"kind": "gilbert-elliott", "to_bad": 1, "to_good": 1e-9,
                "from": "2s", "to": "3s"}"#,
            None,
        );
        let outcomes = [0.0, 1.999, 2.0, 2.999, 3.0].map(|now_s| sure.apply(now_s, 0, false));
        assert_eq!(
            outcomes.map(|outcome| outcome == LossOutcome::Drop),
            [false, false, true, true, false]
        );
    }

    #[test]
    fn before_the_queue_or_after_it() {
        let mut after = loss(
            r#"{"kind": "gilbert-elliott", "to_bad": 1, "to_good": 0, "after_queue": true}"#,
            None,
        );
        assert_eq!(lost(&mut after, false, 2), [false, false]);
        assert_eq!(lost(&mut after, true, 2), [true, true]);
    }

    #[test]
    fn lists_count_the_packets_that_they_apply_to() {
        let mut marks = loss(r#"{"kind": "marks", "packets": [2, 0, 2]}"#, Some(3..5));
        let seen: Vec<LossOutcome> =
            [3, 7, 4, 4, 4].map(|flow| marks.apply(0.0, flow, false)).into();
        assert_eq!(
            seen,
            [
                LossOutcome::Mark,
                LossOutcome::Pass,
                LossOutcome::Pass,
                LossOutcome::Mark,
                LossOutcome::Pass
            ]
        );
        assert_eq!(marks.apply(0.0, 3, true), LossOutcome::Pass);
        let mut list = loss(r#"{"kind": "list", "packets": [1]}"#, None);
        assert_eq!(lost(&mut list, false, 3), [false, true, false]);
    }
}
