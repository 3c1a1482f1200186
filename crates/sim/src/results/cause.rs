//! What a difference of goodputs is due to, in order.

use super::explanation::{Explanation, PhasePart};
use super::side::Side;
use serde::Serialize;
use std::cmp::Ordering;

/// What differs between two sides in a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Factor {
    /// How long it lasts.
    Time,
    /// How many packets are outstanding.
    Window,
    /// For how long each is.
    Delay,
    /// Both, where one takes back much of the other.
    Rate,
}

/// One cause of a difference of goodputs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GoodputCause {
    /// The phase. Of time, which counts for all phases together, the one that takes most from the
    /// side that loses by it.
    pub phase: String,
    /// What differs in it.
    pub factor: Factor,
    /// Its part of the difference, bit/s.
    pub bps: f64,
}

/// Ratio of two opposite parts from which on they are told together.
const CANCELS: f64 = 0.1;
/// Share by which two times differ up to which they count as alike.
pub(super) const LIKE: f64 = 0.1;

/// The first of the greatest.
pub(super) fn greatest<T: Copy>(
    items: impl IntoIterator<Item = T>,
    value: impl Fn(T) -> f64,
) -> Option<T> {
    items.into_iter().reduce(|most, item| if value(item) > value(most) { item } else { most })
}

impl GoodputCause {
    /// All causes. Those in the direction of the difference come first, the largest first.
    pub(super) fn all(sides: [Side<'_>; 2], parts: &Explanation) -> Vec<Self> {
        let phases = &parts.goodput_bps.phases;
        let mut causes: Vec<Self> = Self::of_time(phases).into_iter().collect();
        for part in phases {
            causes.extend(Self::of_rate(part, has_like_delays(sides, parts, &part.phase)));
        }
        let sign = 1f64.copysign(parts.goodput_bps.difference);
        causes
            .sort_by(|a, b| (sign * b.bps).partial_cmp(&(sign * a.bps)).unwrap_or(Ordering::Equal));
        causes
    }

    /// Time of all phases. What costs a side its time is a phase that it has more of, and is slow
    /// in. Where there is none, the other side has more of a phase that it is fast in.
    fn of_time(phases: &[PhasePart]) -> Option<Self> {
        let by_time: f64 = phases.iter().map(|part| part.by_time).sum();
        let gains = 1f64.copysign(by_time);
        let cost = |part: &PhasePart| gains * part.by_time;
        // Growth takes the time that no other phase does.
        let others: Vec<&PhasePart> = phases.iter().filter(|part| part.phase != "growth").collect();
        let slow = others.iter().copied().filter(|part| {
            gains * (part.time[0] - part.time[1]) < 0.0 && cost(part) > CANCELS * by_time.abs()
        });
        let most = greatest(slow, cost).or_else(|| greatest(others.iter().copied(), cost))?;
        Some(Self { phase: most.phase.clone(), factor: Factor::Time, bps: by_time })
    }

    /// Window and delay of a phase, each or together. Flows that use one queue in turn see delays
    /// that differ a little: no cause by itself.
    fn of_rate(part: &PhasePart, has_like_delays: bool) -> Vec<Self> {
        let of = |factor, bps| Self { phase: part.phase.clone(), factor, bps };
        let (window, delay) = (part.by_window, part.by_delay);
        let small = window.abs().min(delay.abs());
        let large = window.abs().max(delay.abs());
        let is_opposite = window.min(delay) < 0.0 && window.max(delay) > 0.0;
        if small / large.max(1e-9) > CANCELS && (is_opposite || has_like_delays) {
            vec![of(Factor::Rate, window + delay)]
        } else {
            vec![of(Factor::Window, window), of(Factor::Delay, delay)]
        }
    }
}

/// Whether packets of both sides are outstanding for nearly as long, over like paths.
fn has_like_delays(sides: [Side<'_>; 2], parts: &Explanation, phase: &str) -> bool {
    let Some(rtt) = parts.rtt_s.as_ref().filter(|_| !sides[1].is_capacity()) else { return false };
    let [first_s, second_s] = sides.map(|side| side.outstanding(phase).wait_s);
    let is_like = (first_s - second_s).abs() < LIKE * first_s.max(second_s);
    is_like && rtt.propagation.abs() < 0.1 * LIKE * rtt.sides[0].max(rtt.sides[1])
}

#[cfg(test)]
mod tests {
    use super::super::accounts::Account;
    use super::super::by_hand::account;
    use super::super::explanation::explain;
    use super::*;

    fn causes(a: &Account, b: &Account) -> Vec<(String, Factor, f64)> {
        let (first, second) = ([a], [b]);
        let sides = [Side { name: "a", accounts: &first }, Side { name: "b", accounts: &second }];
        let found = GoodputCause::all(sides, &explain(&[a], &[b]));
        found.into_iter().map(|cause| (cause.phase, cause.factor, cause.bps)).collect()
    }

    /// Past slow start 40 against 20 packets, 1.6 Mbit/s of 80 s; on the receiver's window 10
    /// against 20 of 20 s.
    #[test]
    fn causes_in_the_direction_of_the_difference_come_first() {
        let a = account(&[("growth", 80.0, 40.0, 0.1), ("receiver", 20.0, 10.0, 0.1)]);
        let b = account(&[("growth", 80.0, 20.0, 0.1), ("receiver", 20.0, 20.0, 0.1)]);
        for (found, sign) in [(causes(&a, &b), 1.0), (causes(&b, &a), -1.0)] {
            let (phase, factor, bps) = found.first().unwrap();
            assert_eq!((phase.as_str(), *factor), ("growth", Factor::Window));
            assert!((sign * bps - 1.28e6).abs() < 1.0, "{bps}");
            let (phase, factor, bps) = found.last().unwrap();
            assert_eq!((phase.as_str(), *factor), ("receiver", Factor::Window));
            assert!((sign * bps + 0.16e6).abs() < 1.0, "{bps}");
        }
    }

    /// 22 packets each 98 ms against 20 each 100 ms on one path: the delays differ by 2 %.
    #[test]
    fn delays_that_are_alike_are_told_with_the_window() {
        let a = account(&[("growth", 100.0, 22.0, 0.098)]);
        let b = account(&[("growth", 100.0, 20.0, 0.1)]);
        let (phase, factor, _) = causes(&a, &b).remove(0);
        assert_eq!((phase.as_str(), factor), ("growth", Factor::Rate));
        let far = Account { base_rtt_s: 0.2, ..b };
        assert_eq!(causes(&a, &far).remove(0).1, Factor::Window);
    }
}
