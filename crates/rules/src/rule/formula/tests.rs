use super::*;
use crate::{Ack, AckFields, Congestion, RuleSpec, WindowRule};

fn at(text: &str, w: f64, rtt: f64) -> f64 {
    text.parse::<Formula>().unwrap().value(w, rtt, 0.0)
}

#[test]
fn values_by_hand() {
    for (text, value) in [
        ("0.31", 0.31),
        ("0.875*w", 14.0),
        ("1/w^0.5", 0.25),
        ("w - 0.5*w^0.5", 14.0),
        ("-2^2", -4.0),
        ("2^3^2", 512.0),
        ("2^-1", 0.5),
        ("-w^2", -256.0),
        ("10 - 4 - 3", 3.0),
        ("24/4/2", 3.0),
        ("24/(4/2)", 12.0),
        ("1 + 2*3", 7.0),
        ("(1 + 2)*3", 9.0),
        ("--2", 2.0),
        ("+w", 16.0),
        ("2 - -2", 4.0),
        ("min(w, 3, 5)", 3.0),
        ("max(w/2, 3, min(100, w*2))", 32.0),
        ("sqrt(w) + abs(-3)", 7.0),
        ("exp(log(w))/w", 1.0),
        ("rtt/0.1", 2.0),
        ("w*(w - w*(w - w*(rtt + 15.8)))/w", 16.0 - 16.0 * (16.0 - 16.0 * 16.0)),
        ("w/(w + w)", 0.5),
        ("1e3*.5", 500.0),
    ] {
        let got = at(text, 16.0, 0.2);
        assert!((got - value).abs() <= 1e-12 * value.abs(), "{text} = {got}, not {value}");
    }
}

#[test]
fn what_is_no_number_stays_so() {
    assert!(at("min(sqrt(0 - w), 1)", 16.0, 0.1).is_nan());
    assert!(at("max(1, log(0 - w))", 16.0, 0.1).is_nan());
    assert!(at("(0 - w)^0.5", 16.0, 0.1).is_nan());
}

#[test]
fn printed_as_short_as_it_can_be() {
    for (typed, printed) in [
        ("((w))", "w"),
        ("w-(0.5*w)", "w - 0.5*w"),
        ("w-(w-1)", "w - (w - 1)"),
        ("(w-1)-1", "w - 1 - 1"),
        ("(w^2)^3", "(w^2)^3"),
        ("w^(2^3)", "w^2^3"),
        ("(-w)^2", "(-w)^2"),
        ("-(w^2)", "-w^2"),
        ("2*(-w)", "2*-w"),
        ("w/(2*w)", "w/(2*w)"),
        ("max( 1 ,w )", "max(1, w)"),
        ("0.0000001*w", "1e-7*w"),
    ] {
        let formula: Formula = typed.parse().unwrap();
        assert_eq!(formula.to_string(), printed, "{typed}");
        assert_eq!(formula.to_string().parse::<Formula>().unwrap(), formula, "{typed}");
    }
}

#[test]
fn errors_point_at_the_character() {
    for (text, column, says) in [
        ("", 1, "expected a number, w, rtt, qdelay, a function or \"(\", the formula ends here"),
        ("  ", 3, "the formula ends here"),
        ("0.5*", 5, "the formula ends here"),
        ("0.5*v", 5, "\"v\" is not known: expected w (packets), rtt or qdelay (seconds)"),
        ("w W", 3, "expected an operator (+ - * / ^) or the end, found \"W\""),
        ("2w", 2, "expected an operator"),
        ("w * * 2", 5, "expected a number, w, rtt, qdelay, a function or \"(\", found \"*\""),
        ("(w + 1", 7, "expected an operator or \")\", the formula ends here"),
        ("w + 1)", 6, "expected an operator (+ - * / ^) or the end, found \")\""),
        ("sin(w)", 1, "function: \"sin\" is not known: expected min, max, sqrt, log, exp or abs"),
        ("1 + min(w)", 5, "min takes 2 or more arguments, got 1"),
        ("sqrt(w, 2)", 1, "sqrt takes 1 argument, got 2"),
        ("sqrt()", 6, "expected a number"),
        ("w + 1e999", 5, "a number too large"),
        ("w + 1 § 2", 7, "found \"§\""),
        ("ü*w + )", 7, "found \")\""),
        ("w ^ ^", 5, "found \"^\""),
        ("w, 1", 2, "found \",\""),
        ("w + 1/0", 5, "\"1/0\" is inf, whatever w is"),
        ("w + 2 * (1 /0)", 5, "\"2*(1/0)\" is inf, whatever w is"),
        ("1e", 3, "expected a number"),
        (".", 2, "expected a number"),
    ] {
        let error = text.parse::<Formula>().unwrap_err();
        assert!(error.message.contains(says), "{text}: {error}");
        assert_eq!(error.column, column, "{text}: {error}");
    }
}

#[test]
fn what_no_person_writes_is_refused() {
    let nested = "(".repeat(40) + "w" + &")".repeat(40);
    assert_eq!(nested.parse::<Formula>().unwrap_err().column, 33);
    assert!("w+".repeat(400).parse::<Formula>().unwrap_err().message.contains("longer than 500"));
    assert!(("-".repeat(499) + "w").parse::<Formula>().is_ok());
    let deep = "w*(w+".repeat(20) + "w" + &")".repeat(20);
    assert!(deep.parse::<Formula>().unwrap_err().message.contains("intermediate values"));
}

#[test]
fn a_rule_of_two_formulas() {
    let mut rule = FormulaRule::new("1/w^0.5".parse().unwrap(), "w - 0.5*w^0.5".parse().unwrap());
    // A round trip adds 1/4 packet at 16: 1/64 per ACK.
    assert_eq!(rule.increase(16.0, &Ack::default()), 16.015625);
    assert_eq!(rule.decrease(16.0, Congestion::Ecn), 14.0);
    assert_eq!(rule.fault(), None);
}

#[test]
fn the_round_trip_is_the_smoothed_one() {
    let mut rule = FormulaRule::new("rtt*w".parse().unwrap(), "w - 10*rtt".parse().unwrap());
    assert_eq!(rule.increase(10.0, &Ack { rtt_s: 0.5, srtt_s: 0.25, ..Ack::default() }), 10.25);
    assert_eq!(rule.decrease(10.0, Congestion::FastRetransmit), 7.5);
    rule.slow_start(10.0, &Ack { rtt_s: 0.5, ..Ack::default() });
    assert_eq!(rule.decrease(10.0, Congestion::FastRetransmit), 5.0);
}

#[test]
fn what_is_no_window_is_a_fault_that_stays() {
    let mut rule = FormulaRule::new("1/(w - 4)".parse().unwrap(), "log(w - 2)".parse().unwrap());
    assert!(rule.needs().faults);
    assert_eq!(rule.increase(4.0, &Ack { srtt_s: 0.1, ..Ack::default() }), 4.0);
    assert_eq!(rule.fault(), Some("inc = \"1/(w - 4)\" is inf at w = 4, rtt = 0.1, qdelay = 0"));
    assert_eq!(rule.decrease(1.0, Congestion::Timeout), 1.0);
    assert_eq!(rule.fault(), Some("inc = \"1/(w - 4)\" is inf at w = 4, rtt = 0.1, qdelay = 0"));
}

#[test]
fn a_window_that_an_increase_lowers_keeps_two_packets() {
    let mut rule = FormulaRule::new("1 - w".parse().unwrap(), "w/2".parse().unwrap());
    assert_eq!(rule.increase(10.0, &Ack::default()), 9.1);
    let mut rule = FormulaRule::new("0 - w*w".parse().unwrap(), "w/2".parse().unwrap());
    assert_eq!(rule.increase(10.0, &Ack::default()), 2.0);
    assert_eq!(rule.increase(1.5, &Ack::default()), 1.5);
    assert_eq!(rule.fault(), None);
}

#[test]
fn a_formula_reads_the_queueing_delay_of_the_last_ack() {
    let mut rule =
        FormulaRule::new("8*qdelay".parse().unwrap(), "w - 16*qdelay + rtt".parse().unwrap());
    assert_eq!(rule.needs().ack, AckFields::All);
    let ack = |srtt_s, queueing_delay_s| Ack { srtt_s, queueing_delay_s, ..Ack::default() };
    // Without a sample no packet is known to have waited.
    assert_eq!(rule.increase(16.0, &Ack::default()), 16.0);
    assert_eq!(rule.increase(16.0, &ack(0.5, 0.25)), 16.125);
    assert_eq!(rule.decrease(16.0, Congestion::FastRetransmit), 12.5);
    rule.slow_start(16.0, &ack(0.75, 0.25));
    assert_eq!(rule.decrease(16.0, Congestion::FastRetransmit), 12.75);
}

#[test]
fn a_rule_that_shrinks_only_where_packets_wait_is_valid() {
    let rule = |dec: &str| format!("Rule(inc=\"1\", dec=\"{dec}\")").parse::<RuleSpec>();
    assert!(rule("w*(1 - min(0.5, 10*qdelay))").is_ok());
    assert!(rule("w*(1 - min(0.5, max(0, qdelay - 0.06)))").is_ok());
    assert!(rule("w*(1 + min(0.5, 10*qdelay))").is_err());
}
