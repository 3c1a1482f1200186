//! Equivalence tests: the arithmetic of the BPF programs, built for the host, against the rules of
//! cwndlab-rules on the same events. They may differ only by interpolation, by rounding to fixed
//! point, and because an acknowledgement of several packets is one step.

mod flow;

use cwndlab_kernel::CompiledRule;
use cwndlab_rules::{Ack, Arithmetic, Congestion, RuleSpec, WindowRule};
use flow::{Event, Flow, host};
use proptest::prelude::*;

/// Rules without memory, one or more of each family.
const TABLES: [&str; 14] = [
    "AIMD(1, 0.5)",
    "AIAD(1, 3)",
    "MIMD(1.125, 0.8)",
    "MIAD(1.1, 3)",
    "AIMAD(1, 1, 0.9)",
    "MAIMD(1, 1.1, 0.8)",
    "NewReno",
    "GAIMD(0.31, 0.875)",
    "SQRT(1, 0.5)",
    "IIAD(1, 1)",
    "Binomial(0.25, 0.75, 2, 0.4)",
    "HighSpeed",
    "Rule(inc=\"1 + log(w)/10\", dec=\"w - 0.5*w^0.7\")",
    "Rule(inc=\"1 - w/1000\", dec=\"0.9*w\")",
];

fn spec(text: &str) -> RuleSpec {
    text.parse().unwrap()
}

/// Events of a flow: runs of acknowledgements, cuts, timeouts, slow start, marks, starts of round
/// trips.
fn events() -> impl Strategy<Value = Vec<(Event, u32)>> {
    let event = prop_oneof![
        6 => (Just(Event::Ack), 1..400u32),
        2 => Just((Event::Cut, 1)),
        1 => Just((Event::Timeout, 1)),
        1 => (Just(Event::SlowStart), 1..30u32),
        1 => Just((Event::Mark, 1)),
        2 => Just((Event::Round, 1)),
    ];
    prop::collection::vec(event, 1..60)
}

/// Compares both windows after each event. After a cut both are at least two packets.
fn compare(
    text: &str,
    from: f64,
    events: &[(Event, u32)],
    tolerance: impl Fn(f64) -> f64,
) -> Result<(), TestCaseError> {
    let (spec, plan) = (spec(text), CompiledRule::new(&spec(text)).unwrap());
    let mut rule = spec.build(Arithmetic::Plain);
    let (mut cwnd, mut flow, host) = (from, Flow::new(&plan, from), host(&plan));
    for (index, &(event, times)) in events.iter().enumerate() {
        for _ in 0..times {
            let ack = Ack {
                acked_packets: 1,
                marked: event == Event::Mark,
                marked_packets: u64::from(event == Event::Mark),
                round_start: event == Event::Round,
                srtt_s: 0.1,
                ..Ack::default()
            };
            match event {
                Event::Ack => cwnd = rule.increase(cwnd, &ack),
                Event::Cut => cwnd = rule.decrease(cwnd, Congestion::FastRetransmit).max(2.0),
                Event::Timeout => cwnd = rule.decrease(cwnd, Congestion::Timeout).max(2.0),
                Event::SlowStart => {
                    rule.slow_start(cwnd, &ack);
                    cwnd += 1.0;
                }
                Event::Mark => _ = rule.on_mark(cwnd, &ack),
                // An acknowledgement signals the start of the round trip.
                Event::Round => cwnd = rule.increase(cwnd, &ack),
            }
            flow.happen(event, 1, 0.1, &host);
            if event == Event::Round {
                flow.happen(Event::Ack, 1, 0.1, &host);
            }
        }
        let (is, off) = (flow.cwnd(), (flow.cwnd() - cwnd).abs());
        prop_assert!(
            off <= tolerance(cwnd),
            "{text}, event {index} ({event:?} x {times}): {is} in the kernel, {cwnd} by the rule"
        );
        // Windows of 16383 packets and more lie beyond the tables.
        if cwnd > 16_000.0 {
            break;
        }
    }
    Ok(())
}

/// Tolerance for interpolation, summed over thousands of acknowledgements. The curvature is largest
/// at a few packets, where points are 1/64 packet apart (error of 1/w at one packet: 6e-5), and
/// windows soon grow beyond.
fn lines(cwnd: f64) -> f64 {
    1e-5 * cwnd + 1e-5
}

/// Tolerance for rounding, summed over a run. The divisor of growth has 20 fractional bits: an
/// error of 5e-7 of the growth at two packets, which is at most three packets here. Factors of cuts
/// have 20 bits or more.
fn units(cwnd: f64) -> f64 {
    1e-5 * cwnd + 1e-5
}

/// A window that an increase lowers keeps two packets, and one below two stays as it is.
#[test]
fn an_increase_below_zero_leaves_two_packets() {
    let text = "Rule(inc=\"0 - 3*w\", dec=\"w/2\")";
    let plan = CompiledRule::new(&spec(text)).unwrap();
    for (from, acked, to) in
        [(9.5, 1, 6.5), (9.5, 2, 3.5), (9.5, 3, 2.0), (2.25, 1, 2.0), (2.0, 1, 2.0), (1.5, 1, 1.5)]
    {
        let mut flow = Flow::new(&plan, from);
        flow.happen(Event::Ack, acked, 0.1, host(&plan));
        assert_eq!(flow.cwnd(), to, "{acked} packets acknowledged at {from}");
    }
}

/// Prints the accuracy of `CompiledRule` for docs/kernel.md: `cargo test -p cwndlab-kernel --test
/// host -- --nocapture interpolation`.
#[test]
fn interpolation_is_close_to_the_rule() {
    for (text, growth_share, cut_share) in [
        ("AIMD(1, 0.5)", 1e-4, 1e-9),
        ("AIAD(1, 3)", 1e-4, 1e-9),
        ("MIMD(1.125, 0.8)", 1e-9, 1e-9),
        ("SQRT(1, 0.5)", 2e-4, 1e-5),
        ("IIAD(1, 1)", 5e-4, 1e-9),
        // b(w) has a kink at 38 packets.
        ("HighSpeed", 1e-4, 1e-6),
        ("Rule(inc=\"10*rtt\", dec=\"w/(1 + rtt)\")", 2e-3, 1e-3),
        ("Rule(inc=\"2 - 20*qdelay\", dec=\"w/(1 + 9*qdelay)\")", 2e-3, 1e-3),
    ] {
        let accuracy = CompiledRule::new(&spec(text)).unwrap().accuracy;
        println!(
            "{text}: growth {:.1e} of itself, cuts {:.1e} of the window",
            accuracy.growth_share, accuracy.cut_share
        );
        assert!(accuracy.growth_share <= growth_share, "{text}: {accuracy:?}");
        assert!(accuracy.cut_share <= cut_share, "{text}: {accuracy:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 40,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn tables_follow_the_rule(
        index in 0..TABLES.len(), from in 2.0..4000.0f64, events in events()
    ) {
        compare(TABLES[index], from, &events, lines)?;
    }

    #[test]
    fn bimodal_follows_the_rule(
        from in 2.0..4000.0f64, scaled in any::<bool>(), events in events()
    ) {
        let text = if scaled {
            "Bimodal(1, 0.5, 0.125, compare=scaled, band=0.05)"
        } else {
            "Bimodal(2, 0.4, 0.25, weight=3)"
        };
        compare(text, from, &events, units)?;
    }

    #[test]
    fn mraimd_follows_the_rule(
        from in 2.0..4000.0f64, slow in any::<bool>(), events in events()
    ) {
        let text = if slow {
            "MRAIMD(1, 0.01, 0.005, 0.125, reset=0.5, calm=3)"
        } else {
            "MRAIMD(1, 0.5, 0.005, 0.5)"
        };
        compare(text, from, &events, units)?;
    }

    /// One event at any window and time of the surface: the error stays within that of the
    /// interpolation.
    #[test]
    fn surfaces_follow_the_rule(
        from in 2.0..16_000.0f64, rtt_us in 100..10_000_000u32, which in 0..3usize
    ) {
        let text = [
            "Rule(inc=\"10*rtt\", dec=\"w/(1 + rtt)\")",
            "Rule(inc=\"0.5 + 10*qdelay\", dec=\"w/(1 + qdelay)\")",
            // Falls to two packets, and by at most the window per packet.
            "Rule(inc=\"max(2 - 0.1*w*qdelay, -w)\", dec=\"w/2\")",
        ][which];
        let plan = CompiledRule::new(&spec(text)).unwrap();
        let mut rule = spec(text).build(Arithmetic::Plain);
        let (rtt_s, min_rtt_us) = (f64::from(rtt_us) * 1e-6, rtt_us / 3);
        let queueing_delay_s = rtt_s - f64::from(min_rtt_us) * 1e-6;
        let ack = Ack { acked_packets: 1, srtt_s: rtt_s, queueing_delay_s, ..Ack::default() };
        let grown = rule.increase(from, &ack);
        let cut = rule.decrease(from, Congestion::FastRetransmit).max(2.0);
        for (event, cwnd) in [(Event::Ack, grown), (Event::Cut, cut)] {
            let mut flow = Flow::new(&plan, from);
            flow.0.min_rtt_us = min_rtt_us;
            flow.happen(event, 1, rtt_s, host(&plan));
            // Steps of 1/16 octave: a chord is at most (1/16)^2 / 4 above its hyperbola, along
            // either axis.
            prop_assert!(
                (flow.cwnd() - cwnd).abs() <= 2e-3 * (cwnd - from).abs().max(cwnd * 0.5),
                "{event:?}: {} not {cwnd}",
                flow.cwnd()
            );
        }
    }
}
