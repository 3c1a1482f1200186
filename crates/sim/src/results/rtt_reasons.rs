//! Where a difference of RTTs comes from, in words.

use super::cause::LIKE;
use super::explanation::RttParts;
use super::figure::figure;

impl RttParts {
    /// By how much a mean RTT is above that without queues, and why; empty where it hardly is.
    pub(super) fn above_base(&self) -> String {
        if self.difference < LIKE * self.sides[0] {
            return String::new();
        }
        let [mean, above] = [self.sides[0], self.difference].map(|value_s| figure(1e3 * value_s));
        let due = self.due_to(1.0);
        format!("; its RTT is {mean} ms, {above} above that of the empty path{due}")
    }

    /// By how much RTTs differ, and why; empty where they hardly do, or where times until an ACK
    /// differ in the other direction.
    pub(super) fn differ_like(&self, waits_s: [f64; 2]) -> String {
        let is_longer = self.difference > 0.0;
        let is_alike = self.difference.abs() < LIKE * self.sides[0].max(self.sides[1]);
        if is_alike || is_longer != (waits_s[0] > waits_s[1]) {
            return String::new();
        }
        let by = figure(1e3 * self.difference.abs());
        let which = if is_longer { "longer" } else { "shorter" };
        format!("; its RTT is {by} ms {which}{}", self.due_to(1f64.copysign(self.difference)))
    }

    /// The part that makes most of a difference in a direction, or the two that do.
    fn due_to(&self, sign: f64) -> String {
        let mut parts = [
            (sign * self.acks, "the way of ACKs"),
            (sign * self.queues, "queues"),
            (sign * self.propagation, "propagation"),
        ];
        parts.sort_by(|a, b| b.0.partial_cmp(&a.0).unwrap_or(std::cmp::Ordering::Equal));
        let [(most, first), (next_most, second), _] = parts;
        if next_most > 0.5 * most {
            format!(", due to {first} and {second}")
        } else {
            format!(", mainly due to {first}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rtt(sides: [f64; 2], propagation: f64, queues: f64) -> RttParts {
        let difference = sides[0] - sides[1];
        RttParts { sides, difference, propagation, queues, acks: difference - propagation - queues }
    }

    #[test]
    fn the_parts_that_make_most_of_it_are_named() {
        // 60 ms of 100 in queues; 40 of them on the way of ACKs are more than half of that.
        assert_eq!(
            rtt([0.2, 0.1], 0.0, 0.06).above_base(),
            "; its RTT is 200 ms, 100 above that of the empty path, due to queues and the way of ACKs"
        );
        assert_eq!(
            rtt([0.1, 0.2], -0.08, -0.02).differ_like([0.1, 0.2]),
            "; its RTT is 100 ms shorter, mainly due to propagation"
        );
    }

    #[test]
    fn a_small_difference_and_one_against_the_times_until_acks_are_not_told() {
        assert_eq!(rtt([0.105, 0.1], 0.0, 0.005).above_base(), "");
        assert_eq!(rtt([0.105, 0.1], 0.0, 0.005).differ_like([0.105, 0.1]), "");
        assert_eq!(rtt([0.2, 0.1], 0.1, 0.0).differ_like([0.1, 0.2]), "");
    }
}
