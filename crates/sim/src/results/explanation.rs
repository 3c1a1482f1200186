//! Why one side did better than another: the difference of their goodputs, RTTs and losses, split
//! into parts that add up to it.
//!
//! A side is one flow or several; of several, the mean flow. Its goodput is the sum over its phases
//! of the packets delivered in each, over the window, and packets delivered at its edges. In a
//! phase that takes a time t, packets are delivered at a rate r = W / R: W packets are outstanding
//! on average, each for R (Little's law). So what a phase contributes, t W / R, differs between two
//! sides because of time, of window and of delay. For the time that both sides have of a phase,
//! their rates are compared, by window and by delay: each factor's part is what its change makes of
//! the product while the other keeps its mean over both sides (the midpoint rule, exact for two
//! factors).
//!
//! What one side has more of a phase, the other has of another one. Where the application or the
//! receiver holds a side back, or it is absent, all that the other gets meanwhile is due to time.
//! While cwnd holds both, one of them may be in recovery and the other not, and get more because it
//! is the faster one in every phase: [`rate_parts`] divides that time.

use super::accounts::Account;
use serde::{Deserialize, Serialize};

/// The account of a difference, of the first side less the second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// Goodput, bit/s.
    pub goodput_bps: GoodputParts,
    /// Mean RTT, seconds; none for a side without a sample.
    pub rtt_s: Option<RttParts>,
    /// Fraction of the packets sent that were dropped, by the phase of the flow then.
    pub loss_rate: LossParts,
    /// Mean packets in queues on the way of data.
    pub queued_packets: [f64; 2],
}

/// A difference of goodputs, bit/s.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GoodputParts {
    /// Goodput of a mean flow of each side.
    pub sides: [f64; 2],
    /// First less second.
    pub difference: f64,
    /// By phase.
    pub phases: Vec<PhasePart>,
    /// Packets that arrived and of which the sender did not know, at the edges of the window.
    pub edges: f64,
}

/// What one phase contributes to a difference of goodputs, bit/s.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhasePart {
    /// The phase.
    pub phase: String,
    /// Fraction of the window that it takes, on each side.
    pub time: [f64; 2],
    /// Goodput that it contributed, on each side.
    pub sides: [f64; 2],
    /// What is left: the sum over phases says what a different division of the time makes.
    pub by_time: f64,
    /// More packets, or fewer, were outstanding meanwhile.
    pub by_window: f64,
    /// They were outstanding for longer, or shorter: in queues, or until a loss was repaired.
    pub by_delay: f64,
}

/// A difference of mean RTTs, seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RttParts {
    /// Mean RTT of each side.
    pub sides: [f64; 2],
    /// First less second.
    pub difference: f64,
    /// Propagation.
    pub propagation: f64,
    /// Queues and transmission on the way of data.
    pub queues: f64,
    /// The rest: the way of ACKs, delayed ACKs, packets without a sample.
    pub acks: f64,
}

/// A difference of loss rates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LossParts {
    /// Loss rate of each side.
    pub sides: [f64; 2],
    /// First less second.
    pub difference: f64,
    /// By the phase of the flow when packets were dropped.
    pub phases: Vec<(String, f64)>,
    /// Dropped before the first phase.
    pub others: f64,
}

/// Sums of one phase over the flows of a side.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    /// Mean fraction of the window.
    time: f64,
    /// Goodput, bit/s of a mean flow.
    bps: f64,
    /// Bits outstanding on average over the whole window.
    outstanding_bits: f64,
}

impl Sums {
    /// The same over a fraction of its time.
    fn scaled(self, factor: f64) -> Self {
        Self {
            time: self.time * factor,
            bps: self.bps * factor,
            outstanding_bits: self.outstanding_bits * factor,
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            time: self.time + other.time,
            bps: self.bps + other.bps,
            outstanding_bits: self.outstanding_bits + other.outstanding_bits,
        }
    }

    fn of(side: &[&Account], phase: usize) -> Self {
        let mut sums = Self::default();
        for account in side {
            let Some(row) = account.phases.get(phase) else { continue };
            let bits = account.packet_bits / account.window_s;
            sums.time += row.did.seconds / account.window_s;
            sums.bps += row.did.delivered_packets * bits;
            sums.outstanding_bits += row.did.outstanding_packet_s * bits;
        }
        let flows = side.len().max(1) as f64;
        Self {
            time: sums.time / flows,
            bps: sums.bps / flows,
            outstanding_bits: sums.outstanding_bits / flows,
        }
    }

    /// Bits outstanding in the phase, and the inverse of the time for which each was, 1/s.
    fn factors(&self) -> Option<(f64, f64)> {
        let is_known = self.time > 0.0 && self.outstanding_bits > 0.0;
        is_known.then(|| (self.outstanding_bits / self.time, self.bps / self.outstanding_bits))
    }
}

/// The change of a product of two factors, by its factors.
fn split([a, b]: [(f64, f64); 2]) -> (f64, f64) {
    ((a.0 - b.0) * (a.1 + b.1) / 2.0, (a.1 - b.1) * (a.0 + b.0) / 2.0)
}

/// A difference of two rates by window and by delay, over so much time.
fn by_factors(time: f64, sides: [Sums; 2]) -> (f64, f64) {
    let [Some(a), Some(b)] = sides.map(|sums| sums.factors()) else { return (0.0, 0.0) };
    let (window, delay) = split([a, b]);
    (time * window, time * delay)
}

/// Phases in which cwnd or what it depends on holds a flow back, and no one else.
const HELD: [&str; 4] = ["timeout", "recovery", "slow_start", "growth"];

/// By window and by delay: what each phase contributes. While cwnd holds both sides, one side may
/// have more of a phase, at a rate of m times its mean rate L while cwnd holds it, and the other
/// side has more of another one. With the sums U and V of the excess times m over the phases, the
/// difference is `L_a U - L_b V = (L_a - L_b) (U + V) / 2 + (U - V) (L_a + L_b) / 2`: that the mean
/// rates differ, by window and by delay, and that phases are fast or slow, which is left to time.
fn rate_parts(phases: &[(&str, [Sums; 2])]) -> Vec<(f64, f64)> {
    let is_held = |phase: &str| HELD.contains(&phase);
    let held = [0, 1].map(|side| {
        let rows = phases.iter().filter(|(phase, _)| is_held(phase));
        rows.fold(Sums::default(), |sum, (_, sides)| sum.plus(sides[side]))
    });
    let both = held[0].time.min(held[1].time);
    let part = |(phase, sides): &(&str, [Sums; 2])| {
        if !is_held(phase) || both == 0.0 {
            return by_factors(sides[0].time.min(sides[1].time), *sides);
        }
        // Their parts of the time in which cwnd holds both sides.
        let [a, b] = [0, 1].map(|side| sides[side].scaled(both / held[side].time));
        let common = a.time.min(b.time);
        let (window, delay) = by_factors(common, [a, b]);
        let excess = [(a, held[0]), (b, held[1])].map(|(own, mean)| {
            let rate = mean.bps / mean.time;
            if own.time > common && rate > 0.0 {
                (1.0 - common / own.time) * own.bps / rate
            } else {
                0.0
            }
        });
        let (more_window, more_delay) = by_factors((excess[0] + excess[1]) / 2.0, held);
        (window + more_window, delay + more_delay)
    };
    phases.iter().map(part).collect()
}

fn mean(side: &[&Account], value: impl Fn(&Account) -> f64) -> f64 {
    side.iter().map(|account| value(account)).sum::<f64>() / side.len().max(1) as f64
}

/// Mean over the flows of a side that have this value.
fn mean_of(side: &[&Account], value: impl Fn(&Account) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = side.iter().filter_map(|account| value(account)).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn goodput_parts(sides: [&[&Account]; 2]) -> GoodputParts {
    let goodput = sides.map(|side| mean(side, |account| account.goodput_bps));
    let names = sides[0].first().map_or(&[][..], |account| &account.phases);
    let sums: Vec<(&str, [Sums; 2])> = (names.iter().enumerate())
        .map(|(number, row)| (row.phase.as_str(), sides.map(|side| Sums::of(side, number))))
        .collect();
    let mean_bps = sums.iter().flat_map(|(_, sides)| sides).map(|side| side.bps).sum::<f64>() / 2.0;
    let phases =
        sums.iter().zip(rate_parts(&sums)).map(|(&(phase, [a, b]), (by_window, by_delay))| {
            // The times of each side add up to the window, so that this reference changes no sum.
            let reference = (a.time - b.time) * mean_bps;
            PhasePart {
                phase: phase.into(),
                time: [a.time, b.time],
                sides: [a.bps, b.bps],
                by_time: a.bps - b.bps - by_window - by_delay - reference,
                by_window,
                by_delay,
            }
        });
    let edges = sides.map(|side| mean(side, |account| account.edge_bits / account.window_s));
    GoodputParts {
        sides: goodput,
        difference: goodput[0] - goodput[1],
        phases: phases.collect(),
        edges: edges[0] - edges[1],
    }
}

fn rtt_parts(sides: [&[&Account]; 2]) -> Option<RttParts> {
    let of = |value: fn(&Account) -> Option<f64>| {
        let [a, b] = sides.map(|side| mean_of(side, value));
        a.zip(b).map(|(a, b)| [a, b])
    };
    let rtt = of(|account| account.mean_rtt_s)?;
    let [base_a, base_b] = sides.map(|side| mean(side, |account| account.base_rtt_s));
    let queues = of(|account| Some(account.mean_one_way_s? - account.forward_delay_s))?;
    let difference = rtt[0] - rtt[1];
    let (propagation, queues) = (base_a - base_b, queues[0] - queues[1]);
    let acks = difference - propagation - queues;
    Some(RttParts { sides: rtt, difference, propagation, queues, acks })
}

fn loss_parts(sides: [&[&Account]; 2]) -> LossParts {
    let sent = sides.map(|side| mean(side, |account| account.sent_packets as f64).max(1.0));
    let per_sent = |value: &dyn Fn(&Account) -> u64| {
        [0, 1].map(|side| mean(sides[side], |account| value(account) as f64) / sent[side])
    };
    let rates = per_sent(&|account| account.dropped_packets);
    let names = sides[0].first().map_or(&[][..], |account| &account.phases);
    let phases: Vec<(String, f64)> = (names.iter().enumerate())
        .map(|(number, row)| {
            let dropped = |account: &Account| {
                account.phases.get(number).map_or(0, |row| row.did.dropped_packets)
            };
            let [a, b] = per_sent(&dropped);
            (row.phase.clone(), a - b)
        })
        .collect();
    let difference = rates[0] - rates[1];
    let others = difference - phases.iter().map(|part| part.1).sum::<f64>();
    LossParts { sides: rates, difference, phases, others }
}

/// Explains the difference between two sides. A second one without flows is the capacity of the
/// links of the first: flows that keep these full.
///
/// ```
/// use cwndlab_scenario::Scenario;
/// use cwndlab_sim::{Simulation, results::explain};
/// let scenario = Scenario::from_toml(
///     r#"
///     duration = "20s"
///     trace = { account = true }
///     dumbbell = { rate = "10Mbit", delay = "20ms" }
///     [[flows]]
///     name = "a"
///     rule = "CUBIC"
///     [[flows]]
///     name = "b"
///     rule = "NewReno"
///     "#,
/// )
/// .unwrap();
/// let accounts = Simulation::new(&scenario).run().unwrap().accounts;
/// let why = explain(&[&accounts[0]], &[&accounts[1]]).goodput_bps;
/// let parts = |part: &cwndlab_sim::results::PhasePart| part.by_time + part.by_window + part.by_delay;
/// let sum: f64 = why.phases.iter().map(parts).sum::<f64>() + why.edges;
/// assert!((sum - why.difference).abs() < 1e-3);
/// ```
pub fn explain(first: &[&Account], second: &[&Account]) -> Explanation {
    if !second.is_empty() {
        return parts([first, second]);
    }
    let capacity: Vec<Account> =
        first.iter().map(|account| account.at_capacity(first.len())).collect();
    parts([first, &capacity.iter().collect::<Vec<_>>()])
}

fn parts(sides: [&[&Account]; 2]) -> Explanation {
    Explanation {
        goodput_bps: goodput_parts(sides),
        rtt_s: rtt_parts(sides),
        loss_rate: loss_parts(sides),
        queued_packets: sides.map(|side| mean(side, |account| account.queued_packets)),
    }
}
