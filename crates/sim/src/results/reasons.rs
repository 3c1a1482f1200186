//! Why one side got more goodput than another, in words.

use super::accounts::Account;
use super::cause::{Factor, GoodputCause, greatest};
use super::explanation::{Explanation, PhasePart, RttParts};
use super::figure::{figure, megabits, significant};
use super::side::Side;
use super::window_reasons::window_reasons;
use serde::Serialize;

/// How sentences name phases.
const PHASES: [(&str, &str); 7] = [
    ("timeout", "after a timeout, or waiting for it,"),
    ("recovery", "in recovery"),
    ("application", "limited by the application"),
    ("receiver", "limited by the receiver's window"),
    ("slow_start", "in slow start"),
    ("growth", "past slow start"),
    ("absent", "absent (not started, or done)"),
];
/// Phases in which something else than cwnd holds back a flow that is there.
const OTHERS_HOLD: [&str; 2] = ["application", "receiver"];
/// Share of a difference from which on what is at the edges of the window is told.
const MANY_EDGES: f64 = 0.1;
/// Share by which two goodputs differ below which they count as the same.
const SAME: f64 = 0.01;
/// Share of a link's capacity from which on it counts as full.
const FULL: f64 = 0.97;

/// The reasons for a difference of goodputs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reasons {
    /// The difference and its largest cause, in one sentence.
    pub headline: String,
    /// All causes. Those in the direction of the difference come first, the largest first.
    pub causes: Vec<Reason>,
}

/// A cause in words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reason {
    /// The cause.
    #[serde(flatten)]
    pub cause: GoodputCause,
    /// What it is; none against the capacity of a link.
    pub reason: Option<String>,
}

impl Reasons {
    /// The reasons for a difference between two sides, called by these names, that has these parts.
    /// A second side without accounts is the capacity of the first one's link, of which other
    /// traffic gets `others_bps`.
    ///
    /// ```
    /// use cwndlab_scenario::Scenario;
    /// use cwndlab_sim::{Simulation, results::{Reasons, explain}};
    /// let scenario = Scenario::from_toml(
    ///     r#"
    ///     duration = "10s"
    ///     trace = { account = true }
    ///     dumbbell = { rate = "100Mbit", delay = "40ms" }
    ///     [[flows]]
    ///     name = "a"
    ///     rule = "NewReno"
    ///     tcp = { window = 20 }
    ///     [[flows]]
    ///     name = "b"
    ///     rule = "NewReno"
    ///     tcp = { window = 10 }
    ///     "#,
    /// )
    /// .unwrap();
    /// let accounts = Simulation::new(&scenario).run().unwrap().accounts;
    /// let [a, b] = [[&accounts[0]], [&accounts[1]]];
    /// let reasons = Reasons::of(["a", "b"], [&a, &b], &explain(&a, &b), 0.0);
    /// let told = "a gets 1.42 Mbit/s more than b: 1.41 because more packets are outstanding";
    /// assert!(reasons.headline.starts_with(told));
    /// ```
    pub fn of(
        names: [&str; 2],
        accounts: [&[&Account]; 2],
        parts: &Explanation,
        others_bps: f64,
    ) -> Self {
        let [first, second] =
            [0, 1].map(|side| Side { name: names[side], accounts: accounts[side] });
        let difference = Difference { sides: [first, second], parts, others_bps };
        let causes = GoodputCause::all(difference.sides, parts);
        let headline = difference.headline(causes.first());
        let is_told = !second.is_capacity();
        let told = causes.into_iter().map(|cause| Reason {
            reason: if is_told { difference.reason(&cause) } else { None },
            cause,
        });
        Self { headline, causes: told.collect() }
    }
}

/// A difference of goodputs, of which sentences are made.
struct Difference<'a> {
    sides: [Side<'a>; 2],
    parts: &'a Explanation,
    others_bps: f64,
}

impl Difference<'_> {
    /// First less second, bit/s.
    fn bps(&self) -> f64 {
        self.parts.goodput_bps.difference
    }

    fn is_small(&self) -> bool {
        let [first, second] = self.parts.goodput_bps.sides;
        self.bps().abs() < SAME * first.max(second).max(1.0)
    }

    fn rtt(&self) -> Option<&RttParts> {
        self.parts.rtt_s.as_ref()
    }

    fn part(&self, phase: &str) -> Option<&PhasePart> {
        self.parts.goodput_bps.phases.iter().find(|part| part.phase == phase)
    }

    fn headline(&self, largest: Option<&GoodputCause>) -> String {
        let told = if self.is_small() { self.same() } else { self.apart(largest) };
        let edges_bps = self.parts.goodput_bps.edges.abs();
        if self.is_small() || edges_bps <= MANY_EDGES * self.bps().abs() {
            return told;
        }
        format!(
            "{told}; {} of the difference are packets at the edges of the measurement: measure for \
             longer",
            megabits(edges_bps)
        )
    }

    /// Of two goodputs that are the same, says so and what else differs.
    fn same(&self) -> String {
        let [first, second] = self.sides.map(Side::counted);
        if !self.sides[1].is_capacity() {
            return format!(
                "{first} and {second} get the same goodput within 1 %{}",
                self.beside()
            );
        }
        let is_alone = self.sides[0].accounts.len() == 1;
        let what = if is_alone { "the link's capacity" } else { "its part of the link" };
        let above = self.rtt().map(RttParts::above_base).unwrap_or_default();
        format!("{first} gets {what} within 1 %{above}")
    }

    /// Of two goodputs that differ, says by how much and why.
    fn apart(&self, largest: Option<&GoodputCause>) -> String {
        let [first, second] = self.sides.map(Side::counted);
        let more = if self.bps() >= 0.0 { "more" } else { "less" };
        let by = megabits(self.bps().abs());
        let head = format!("{first} gets {by} Mbit/s {more} than {second}");
        if self.sides[1].is_capacity() && self.bps() > 0.0 {
            return format!("{head}: a queue or a token bucket was full as the measurement began");
        }
        if self.sides[1].is_capacity() {
            return format!("{head}: {}", self.missing());
        }
        if let Some(full) = self.full() {
            return format!("{head}: {full}");
        }
        let Some((cause, reason)) = largest.and_then(|cause| Some((cause, self.reason(cause)?)))
        else {
            return head;
        };
        let part_bps = cause.bps.abs();
        let text = format!("{head}: {} because {reason}", megabits(part_bps));
        let back_bps = part_bps - self.bps().abs();
        if back_bps > 0.05 * self.bps().abs() {
            format!("{text}; other parts take back {}", megabits(back_bps))
        } else {
            text
        }
    }

    /// What else differs where goodput does not, and what holds back both.
    fn beside(&self) -> String {
        if let Some(held) = self.held_back() {
            return held;
        }
        let [first, second] = self.parts.loss_rate.sides.map(|rate| significant(100.0 * rate, 3));
        let losses = format!("loss {first} against {second} %");
        let Some(rtt) = self.rtt() else { return format!("; {losses}") };
        let [first, second] = rtt.sides.map(|rtt_s| significant(1e3 * rtt_s, 4));
        format!("; RTT {first} against {second} ms, {losses}")
    }

    /// What else than cwnd holds back both sides, or that they are there for other times.
    fn held_back(&self) -> Option<String> {
        let held = self.parts.goodput_bps.phases.iter().find(|part| {
            OTHERS_HOLD.contains(&part.phase.as_str()) && part.time[0].min(part.time[1]) > 0.5
        });
        if let Some(part) = held {
            let [first, second] = part.time.map(percent);
            let phase = named(&part.phase);
            return Some(format!(": both are {phase}, {first} and {second} % of the time"));
        }
        let [first_s, second_s] = self.sides.map(Side::present_s);
        ((first_s - second_s).abs() > SAME * first_s.max(second_s)).then(|| {
            let [first, second] = [first_s, second_s].map(|seconds| significant(seconds, 3));
            format!("; they are there for {first} and {second} s")
        })
    }

    /// In which phase most of the link's capacity is not used.
    fn missing(&self) -> String {
        let goodput = &self.parts.goodput_bps;
        let missing_bps = |part: &PhasePart| part.sides[1] - part.sides[0];
        let Some(lost) = greatest(&goodput.phases, missing_bps) else { return String::new() };
        let mut why = format!(
            "{} are missing while it is {} {} % of the time",
            megabits(missing_bps(lost)),
            named(&lost.phase),
            percent(lost.time[0])
        );
        let flows = self.sides[0].flows();
        let full = self.full_packets(&lost.phase);
        let outstanding = self.sides[0].outstanding(&lost.phase);
        let packets = figure(outstanding.packets);
        if lost.phase != "absent" && outstanding.packets < full {
            let full = figure(full);
            why += &format!(", with {packets} packets outstanding where the link takes {full}");
        } else if lost.phase == "growth" {
            why += &format!(", though {packets} packets are outstanding");
            if outstanding.wait_s.is_finite() {
                why += &format!(", each for {} ms", figure(1e3 * outstanding.wait_s));
            }
            why += &self.rtt().map(RttParts::above_base).unwrap_or_default();
        }
        let others = format!("other traffic gets {}", megabits(self.others_bps));
        if self.others_bps / flows > 0.5 * self.bps().abs() {
            format!("{others}; {why}")
        } else if self.others_bps > 0.01 * goodput.sides[1] {
            format!("{why}; {others}")
        } else {
            why
        }
    }

    /// How many packets of a flow fill its part of the link in a phase.
    fn full_packets(&self, phase: &str) -> f64 {
        let full: Vec<f64> = (self.sides[0].rows(phase))
            .filter(|(_, row)| row.did.seconds > 0.0)
            .map(|(account, row)| {
                row.capacity_bits / row.did.seconds / account.packet_bits * account.base_rtt_s
            })
            .collect();
        full.iter().sum::<f64>() / full.len().max(1) as f64 / self.sides[0].flows()
    }

    /// Of two single flows, that the one with less fills its slowest link, if the other one's is
    /// faster.
    fn full(&self) -> Option<String> {
        let goodput = self.parts.goodput_bps.sides;
        let less = usize::from(goodput[0] >= goodput[1]);
        let capacity_bps = |side: usize| match self.sides[side].accounts {
            [account] => Some(account.capacity_bps),
            _ => None,
        };
        let (own, other) = (capacity_bps(less)?, capacity_bps(1 - less)?);
        (goodput[less] > FULL * own && other > own).then(|| {
            format!("{} fills its slowest link, {} Mbit/s", self.sides[less].name, megabits(own))
        })
    }

    /// What a cause is; none of a phase that there is not.
    fn reason(&self, cause: &GoodputCause) -> Option<String> {
        let part = self.part(&cause.phase)?;
        Some(match cause.factor {
            Factor::Time => self.longer(part),
            Factor::Window => format!(
                "{} {}{}",
                self.more_outstanding(&part.phase),
                meanwhile(&part.phase),
                self.window_reasons(&part.phase)
            ),
            Factor::Delay => self.sooner(&part.phase),
            Factor::Rate => self.faster(part),
        })
    }

    /// Which side is in a phase for longer. It is the subject.
    fn longer(&self, part: &PhasePart) -> String {
        let [first, second] = self.sides.map(Side::called);
        let is_first = part.time[0] > part.time[1];
        let (who, other) = if is_first { (&first, &second) } else { (&second, &first) };
        let most = percent(part.time[0].max(part.time[1]));
        let least = part.time[0].min(part.time[1]);
        let by_time: f64 = self.parts.goodput_bps.phases.iter().map(|part| part.by_time).sum();
        let faster = if is_first == (by_time > 0.0) { "and faster then; " } else { "" };
        let rest = if 100.0 * least >= 0.05 {
            format!("{other} {} %", percent(least))
        } else {
            format!("{other} never")
        };
        format!("{who} is {} {most} % of the time, {faster}{rest}", named(&part.phase))
    }

    /// On which side packets are acknowledged sooner in a phase.
    fn sooner(&self, phase: &str) -> String {
        let waits_s = self.sides.map(|side| side.outstanding(phase).wait_s);
        let which = if waits_s[0] < waits_s[1] { "sooner" } else { "later" };
        let [first, second] = waits_s.map(|wait_s| {
            if wait_s.is_finite() { format!("{} ms", figure(1e3 * wait_s)) } else { "never".into() }
        });
        let rtts = self.rtts(waits_s);
        let meanwhile = meanwhile(phase);
        format!("its packets are acknowledged {which} {meanwhile} ({first} against {second}){rtts}")
    }

    /// Which side is faster in a phase, by window and delay together.
    fn faster(&self, part: &PhasePart) -> String {
        let bps = part.by_window + part.by_delay;
        let which = if bps > 0.0 { "faster" } else { "slower" };
        // What makes a window large says little where a longer delay takes most of it back.
        let is_by_window = bps * part.by_window > 0.0 && bps.abs() > 0.5 * part.by_window.abs();
        let is_by_delay = bps * part.by_delay > 0.0;
        let outstanding = self.sides.map(|side| side.outstanding(&part.phase));
        let [first, second] = outstanding.map(|one| figure(one.packets));
        let waits_s = outstanding.map(|one| one.wait_s);
        let [first_wait, second_wait] = waits_s.map(|wait_s| {
            let is_known = wait_s.is_finite();
            if is_known {
                format!("for {} ms", figure(1e3 * wait_s))
            } else {
                "without an ACK".into()
            }
        });
        let rtts = if is_by_delay { self.rtts(waits_s) } else { String::new() };
        let windows = if is_by_window { self.window_reasons(&part.phase) } else { String::new() };
        format!(
            "it is {which} {} ({first} packets outstanding {first_wait} against {second} \
             {second_wait}){rtts}{windows}",
            meanwhile(&part.phase)
        )
    }

    fn rtts(&self, waits_s: [f64; 2]) -> String {
        self.rtt().map(|rtt| rtt.differ_like(waits_s)).unwrap_or_default()
    }

    /// On which side more is outstanding in a phase: in bytes where packets differ.
    fn more_outstanding(&self, phase: &str) -> String {
        let packets = self.sides.map(|side| side.outstanding(phase).packets);
        let bytes = self.sides.map(Side::packet_bytes);
        if bytes[0] == bytes[1] {
            let which = if packets[0] > packets[1] { "more" } else { "fewer" };
            let [first, second] = packets.map(figure);
            return format!("{which} packets are outstanding ({first} against {second})");
        }
        let kilobytes = [0, 1].map(|side| 1e-3 * packets[side] * bytes[side]);
        let which = if kilobytes[0] > kilobytes[1] { "more" } else { "less" };
        let [first, second] = kilobytes.map(figure);
        let [first_size, second_size] = bytes.map(|size| significant(size, 4));
        format!(
            "{which} is outstanding ({first} against {second} kB, in packets of {first_size} \
             against {second_size} bytes)"
        )
    }

    /// What keeps cwnd larger on the side with more packets outstanding, if cwnd holds both.
    fn window_reasons(&self, phase: &str) -> String {
        if OTHERS_HOLD.contains(&phase) {
            return String::new();
        }
        let [first, second] = self.sides.map(|side| side.outstanding(phase).packets);
        window_reasons(self.sides, usize::from(first <= second))
    }
}

/// How a sentence names a phase.
fn named(phase: &str) -> &str {
    PHASES.iter().find(|(key, _)| *key == phase).map_or(phase, |(_, name)| name)
}

fn meanwhile(phase: &str) -> String {
    format!("while {}", named(phase).trim_end_matches(','))
}

fn percent(share: f64) -> String {
    significant(100.0 * share, 3)
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::account;
    use super::super::explanation::explain;
    use super::*;

    fn reasons(first: &[&Account], second: &[&Account], others_bps: f64) -> Reasons {
        let second_name = if second.is_empty() { "the link's capacity" } else { "b" };
        Reasons::of(["a", second_name], [first, second], &explain(first, second), others_bps)
    }

    fn headline(first: &Account, second: &Account) -> String {
        reasons(&[first], &[second], 0.0).headline
    }

    /// 20 packets each 80 ms are 250 a second, 2 Mbit/s; 10 packets are half of that.
    #[test]
    fn a_larger_window_of_the_receiver() {
        let [a, b] = [20.0, 10.0].map(|window| account(&[("receiver", 100.0, window, 0.08)]));
        assert_eq!(
            headline(&a, &b),
            "a gets 1 Mbit/s more than b: 1 because more packets are outstanding (20 against 10) \
             while limited by the receiver's window"
        );
        assert!(
            headline(&b, &a).starts_with("a gets 1 Mbit/s less than b: 1 because fewer packets")
        );
    }

    /// Of equal growth, cuts by a half twice and eight times.
    #[test]
    fn losses_that_cut_a_window_more_rarely() {
        let [a, b] = [(40.0, 2), (20.0, 8)].map(|(window, times)| {
            let lost = -0.5 * times as f64 * window;
            let flow = account(&[("growth", 100.0, window, 0.1)]);
            flow.changed("growth", 100, 40.0, 0.0).changed("loss", times, lost, window)
        });
        assert_eq!(
            headline(&a, &b),
            "a gets 1.6 Mbit/s more than b: 1.6 because more packets are outstanding (40 against \
             20) while past slow start; losses cut cwnd 2 times by 50 % against 8 times by 50 %"
        );
    }

    /// Both are equally fast, one for a quarter of the time.
    #[test]
    fn a_late_start() {
        let a = account(&[("growth", 100.0, 20.0, 0.1)]);
        let b = account(&[("growth", 25.0, 20.0, 0.1), ("absent", 75.0, 0.0, 1.0)]);
        assert_eq!(
            headline(&a, &b),
            "a gets 1.2 Mbit/s more than b: 1.2 because b is absent (not started, or done) 75 % of \
             the time, a never"
        );
    }

    #[test]
    fn packets_that_wait_for_less_time() {
        let [a, b] = [0.08, 0.1].map(|wait_s| account(&[("receiver", 100.0, 20.0, wait_s)]));
        let far = Account { base_rtt_s: 0.15, mean_rtt_s: Some(0.15), ..b };
        assert_eq!(
            headline(&a, &far),
            "a gets 0.4 Mbit/s more than b: 0.4 because its packets are acknowledged sooner while \
             limited by the receiver's window (80 ms against 100 ms); its RTT is 50 ms shorter, \
             mainly due to propagation"
        );
    }

    /// Nothing is acknowledged in the recovery of the second.
    #[test]
    fn packets_that_are_never_acknowledged() {
        let a = account(&[("recovery", 100.0, 20.0, 0.1)]);
        let b = account(&[("recovery", 100.0, 20.0, f64::INFINITY)]);
        assert_eq!(
            headline(&a, &b),
            "a gets 1.6 Mbit/s more than b: 1.6 because its packets are acknowledged sooner while in \
             recovery (100 ms against never)"
        );
    }

    /// 60 packets each 300 ms are 200 a second, 19 packets each 100 ms are 190.
    #[test]
    fn a_window_and_a_delay_that_cancel_are_told_together() {
        let a = account(&[("growth", 100.0, 60.0, 0.3)]);
        let b = account(&[("growth", 100.0, 19.0, 0.1)]);
        assert_eq!(
            headline(&a, &b),
            "a gets 0.08 Mbit/s more than b: 0.08 because it is faster while past slow start (60 \
             packets outstanding for 300 ms against 19 for 100 ms)"
        );
    }

    /// 1.6 of 2 Mbit/s: 20 packets where 2 Mbit/s and 100 ms take 25.
    #[test]
    fn what_a_link_misses() {
        let a = account(&[("growth", 100.0, 20.0, 0.1)]);
        let missing = "0.4 are missing while it is past slow start 100 % of the time, with 20 \
                       packets outstanding where the link takes 25";
        let head = "a gets 0.4 Mbit/s less than the link's capacity";
        assert_eq!(reasons(&[&a], &[], 0.0).headline, format!("{head}: {missing}"));
        assert_eq!(
            reasons(&[&a], &[], 3e5).headline,
            format!("{head}: other traffic gets 0.3; {missing}")
        );
        assert!(reasons(&[&a], &[], 0.0).causes.iter().all(|cause| cause.reason.is_none()));
    }

    #[test]
    fn equal_goodputs_and_what_differs_beside_them() {
        let a = account(&[("growth", 100.0, 25.0, 0.1)]);
        assert_eq!(
            headline(&a, &a),
            "a and b get the same goodput within 1 %; RTT 100 against 100 ms, loss 0 against 0 %"
        );
        assert_eq!(reasons(&[&a], &[], 0.0).headline, "a gets the link's capacity within 1 %");
        let held = account(&[("receiver", 60.0, 25.0, 0.1), ("growth", 40.0, 25.0, 0.1)]);
        assert_eq!(
            headline(&held, &held),
            "a and b get the same goodput within 1 %: both are limited by the receiver's window, 60 \
             and 60 % of the time"
        );
    }

    #[test]
    fn of_several_flows_the_mean_counts() {
        let [large, small] =
            [20.0, 10.0].map(|window| account(&[("receiver", 100.0, window, 0.1)]));
        let told = reasons(&[&large, &large], &[&small], 0.0).headline;
        assert!(told.starts_with("a flow of a (mean of 2) gets 0.8 Mbit/s more than b"), "{told}");
    }

    #[test]
    fn a_slow_link_that_is_full() {
        let a = account(&[("growth", 100.0, 40.0, 0.1)]);
        let b = account(&[("growth", 100.0, 25.0, 0.1)]);
        let wide = Account { capacity_bps: 4e6, ..a };
        assert_eq!(
            headline(&wide, &b),
            "a gets 1.2 Mbit/s more than b: b fills its slowest link, 2 Mbit/s"
        );
    }

    /// 20 of 100 Mbit that differ arrived at the edges.
    #[test]
    fn many_packets_at_the_edges() {
        let [a, b] = [20.0, 10.0].map(|window| account(&[("receiver", 100.0, window, 0.08)]));
        let late = Account { edge_bits: 2e7, goodput_bps: a.goodput_bps + 2e5, ..a };
        let told = headline(&late, &b);
        let advice = "; 0.2 of the difference are packets at the edges of the measurement: measure \
                      for longer";
        assert!(told.ends_with(advice), "{told}");
    }

    #[test]
    fn packets_of_two_sizes_are_compared_in_bytes() {
        let [a, b] = [20.0, 10.0].map(|window| account(&[("receiver", 100.0, window, 0.08)]));
        let half = Account { packet_bits: 4000.0, goodput_bps: 0.5 * a.goodput_bps, ..a };
        let big = Account { packet_bits: 12_000.0, goodput_bps: 1.5 * b.goodput_bps, ..b };
        assert!(headline(&half, &big).contains(
            "less is outstanding (10 against 15 kB, in packets of 500 against 1500 bytes)"
        ));
    }
}
