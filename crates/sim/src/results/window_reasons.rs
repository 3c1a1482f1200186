//! What keeps cwnd of one side larger than that of the other, in words.

use super::figure::{figure, significant};
use super::side::{Cuts, Side};

/// Part of a difference of logarithms of two windows from which on what makes it is told.
const DIFFERS: f64 = 0.1;
/// The same for a second reason.
const ALSO_DIFFERS: f64 = 0.4;
/// Sum of shares by which cwnd is cut that counts where it is cut by less.
const FEW_CUTS: f64 = 0.1;

/// What lowers cwnd. Losses, marks or both are the subject of the first.
const REDUCTIONS: [(&[&str], &str); 3] = [
    (&["loss", "ecn", "timeout", "undo"], "cut cwnd"),
    (&["rule"], "the rule itself lowers cwnd"),
    (&["idle"], "pauses lower cwnd"),
];

/// A reason why a window is larger than another.
#[derive(Clone, Debug)]
struct WindowReason {
    /// Its part of the logarithm of the ratio of both.
    by: f64,
    text: String,
    is_growth: bool,
}

impl WindowReason {
    fn other(by: f64, text: String) -> Self {
        Self { by, text, is_growth: false }
    }
}

/// Says what keeps cwnd larger on the side with this number, if anything does. A window is large
/// that is cut less, grows faster, or is lowered less by its rule.
pub(super) fn window_reasons(sides: [Side<'_>; 2], large: usize) -> String {
    let mut reasons = cut_less(sides, large);
    // Of one rule, a window that is cut less may grow by more for being larger (MIMD, CUBIC).
    let is_by_cuts = has_one_rule(sides) && reasons.iter().any(|reason| reason.by > DIFFERS);
    reasons.extend(grows_faster(sides, large));
    reasons.extend(started_further(sides, large));
    reasons.retain(|reason| reason.by > DIFFERS);
    reasons.sort_by(|a, b| {
        let is_last = |reason: &WindowReason| is_by_cuts && reason.is_growth;
        is_last(a).cmp(&is_last(b)).then(b.by.total_cmp(&a.by))
    });
    let told = reasons.iter().take(2).enumerate();
    let told = told.filter(|(place, reason)| *place == 0 || reason.by > ALSO_DIFFERS);
    told.map(|(_, reason)| format!("; {}", reason.text)).collect()
}

fn has_one_rule(sides: [Side<'_>; 2]) -> bool {
    let mut rules = sides.iter().flat_map(|side| side.accounts).map(|account| &account.rule);
    let first = rules.next();
    rules.all(|rule| Some(rule) == first)
}

/// By how much each kind of reduction makes the larger window larger.
///
/// While a window of W packets neither rises nor falls on average, its growth g per second is what
/// n cuts a second by a share s take, g = n s W. So the logarithm of the ratio of two windows is
/// that of their growths less that of their sums of shares, which is divided among kinds of
/// reductions as the difference of the sums is.
fn cut_less(sides: [Side<'_>; 2], large: usize) -> Vec<WindowReason> {
    let cuts = REDUCTIONS.map(|(causes, _)| sides.map(|side| side.cuts(causes)));
    let sum = |side: usize| cuts.iter().map(|pair| pair[side].sum()).sum::<f64>().max(FEW_CUTS);
    let (most, least) = (sum(1 - large), sum(large));
    // 1 / S is the limit for equal sums S.
    let by_sum = if most == least { 1.0 / least } else { libm::log(most / least) / (most - least) };
    let reason = |((causes, verb), pair): (&(&[&str], &str), [Cuts; 2])| {
        let by = by_sum * (pair[1 - large].sum() - pair[large].sum());
        let times = times(pair);
        let text = if causes.contains(&"loss") {
            format!("{} {verb} {times}", losses_or_marks(sides))
        } else {
            format!("{verb} {times}")
        };
        WindowReason::other(by, text)
    };
    REDUCTIONS.iter().zip(cuts).map(reason).collect()
}

fn grows_faster(sides: [Side<'_>; 2], large: usize) -> Option<WindowReason> {
    let rates = sides.map(Side::growth_per_s);
    (rates[0].min(rates[1]) > 0.0).then(|| WindowReason {
        by: libm::log(rates[large] / rates[1 - large]),
        text: format!(
            "cwnd grows by {} packets a second against {}",
            figure(rates[0]),
            figure(rates[1])
        ),
        is_growth: true,
    })
}

/// Slow start raised the window further than all growth since. After timeouts it only gives back
/// what these took.
fn started_further(sides: [Side<'_>; 2], large: usize) -> Option<WindowReason> {
    let starts = sides.map(|side| side.packets("slow_start"));
    let is_first = [0, 1].into_iter().all(|side| {
        let taken = -sides[side].packets("timeout");
        taken <= 0.5 * starts[side]
    });
    let is_further = is_first && starts[large] > sides[large].packets("growth");
    is_further.then(|| {
        let by = libm::log((1.0 + starts[large]) / (1.0 + starts[1 - large]));
        let [first, second] = starts.map(figure);
        WindowReason::other(
            by,
            format!("slow start raises cwnd by {first} packets against {second}"),
        )
    })
}

/// What cuts cwnd of either side.
fn losses_or_marks(sides: [Side<'_>; 2]) -> &'static str {
    let times = |cause: &str| sides.iter().map(|side| side.times(cause)).sum::<u64>();
    match (times("loss") + times("timeout") > 0, times("ecn") > 0) {
        (true, true) => "losses and marks",
        (true, false) => "losses",
        (false, true) => "marks",
        (false, false) => "",
    }
}

/// How often each side reduces cwnd, and by which share on average.
fn times(sides: [Cuts; 2]) -> String {
    let [first, second] = sides.map(|Cuts { times, share }| {
        if times > 0.0 {
            format!("{} times by {} %", figure(times), significant(100.0 * share, 2))
        } else {
            "0 times".into()
        }
    });
    format!("{first} against {second}")
}

#[cfg(test)]
mod tests {
    use super::super::accounts::Account;
    use super::super::by_hand::account;
    use super::*;

    fn reasons(a: &Account, b: &Account, large: usize) -> String {
        let (first, second) = ([a], [b]);
        let sides = [Side { name: "a", accounts: &first }, Side { name: "b", accounts: &second }];
        window_reasons(sides, large)
    }

    fn flow(growth: f64) -> Account {
        account(&[("growth", 100.0, 20.0, 0.1)]).changed("growth", 1000, growth, 0.0)
    }

    /// Three times the growth is log 3 = 1.1, half of the cuts log 2 = 0.7.
    #[test]
    fn the_larger_factor_comes_first() {
        let a = flow(600.0).changed("loss", 10, -100.0, 20.0);
        let b = flow(200.0).changed("loss", 20, -200.0, 20.0);
        let other = Account { rule: "CUBIC".into(), ..a.clone() };
        let growth = "cwnd grows by 6 packets a second against 2";
        let cuts = "losses cut cwnd 10 times by 50 % against 20 times by 50 %";
        assert_eq!(reasons(&other, &b, 0), format!("; {growth}; {cuts}"));
        // Of one rule, growth may follow from the window.
        assert_eq!(reasons(&a, &b, 0), format!("; {cuts}; {growth}"));
    }

    #[test]
    fn nothing_is_told_that_favours_the_smaller_window() {
        let a = flow(200.0).changed("ecn", 20, -200.0, 20.0);
        let b = flow(200.0).changed("ecn", 10, -100.0, 20.0);
        assert_eq!(reasons(&a, &b, 0), "");
        assert_eq!(
            reasons(&a, &b, 1),
            "; marks cut cwnd 20 times by 50 % against 10 times by 50 %"
        );
    }

    #[test]
    fn a_slow_start_that_went_further() {
        let a = flow(200.0).changed("slow_start", 100, 999.0, 0.0);
        let b = flow(200.0).changed("slow_start", 10, 9.0, 0.0);
        assert_eq!(reasons(&a, &b, 0), "; slow start raises cwnd by 999 packets against 9");
        // One that timeouts took gives nothing.
        let again = a.changed("timeout", 10, -600.0, 100.0);
        assert!(!reasons(&again, &b, 0).contains("slow start"));
    }

    #[test]
    fn undone_cuts_do_not_count() {
        let a = flow(200.0).changed("loss", 10, -100.0, 20.0).changed("undo", 10, 100.0, 20.0);
        let b = flow(200.0).changed("loss", 10, -100.0, 20.0);
        assert_eq!(reasons(&a, &b, 0), "; losses cut cwnd 0 times against 10 times by 50 %");
    }
}
