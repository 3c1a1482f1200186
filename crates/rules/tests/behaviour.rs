//! What holds for every rule, whatever happens to it.

use cwndlab_rules::{
    Ack, Arithmetic, Congestion, FAMILIES, MarkResponse, Rule, RuleSpec, SlowStart, WindowRule,
};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Event {
    Acked { packets: u64, rtt_s: f64, marked: bool, app_limited: bool },
    Congestion(Congestion),
    Idle(f64),
}

const CAUSES: [Congestion; 3] = [Congestion::FastRetransmit, Congestion::Ecn, Congestion::Timeout];

fn event() -> impl Strategy<Value = Event> {
    let acked = (1..9u64, 0.001..0.5f64, prop::bool::weighted(0.05), prop::bool::weighted(0.05));
    prop_oneof![
        60 => acked.prop_map(|(packets, rtt_s, marked, app_limited)| {
            Event::Acked { packets, rtt_s, marked, app_limited }
        }),
        2 => prop::sample::select(CAUSES.to_vec()).prop_map(Event::Congestion),
        1 => (0.0..30.0f64).prop_map(Event::Idle),
    ]
}

/// Just enough of an endpoint: slow start, cuts with a floor of one packet, marks once per window.
struct Endpoint {
    rule: Rule,
    cwnd: f64,
    ssthresh: f64,
    ack: Ack,
    round_ends: u64,
    cut_until: u64,
}

impl Endpoint {
    fn new(rule: Rule) -> Self {
        let ack = Ack { min_rtt_s: f64::INFINITY, ..Ack::default() };
        Self { rule, cwnd: 4.0, ssthresh: f64::INFINITY, ack, round_ends: 0, cut_until: 0 }
    }

    fn acked(&mut self, packets: u64, rtt_s: f64, marked: bool, app_limited: bool) {
        let ack = &mut self.ack;
        ack.now_s += rtt_s / self.cwnd;
        ack.acked_packets = packets;
        ack.delivered_packets += packets;
        ack.in_flight_packets = (self.cwnd as u64).min(1 << 20);
        (ack.rtt_s, ack.srtt_s, ack.min_rtt_s) = (rtt_s, rtt_s, ack.min_rtt_s.min(rtt_s));
        ack.delivery_rate_packets_s = self.cwnd / rtt_s;
        (ack.marked, ack.app_limited, ack.cwnd_limited) = (marked, app_limited, !app_limited);
        ack.growth_packets = if app_limited { 0 } else { packets };
        ack.ssthresh_packets = self.ssthresh;
        ack.marked_packets = if marked { packets } else { 0 };
        ack.round_start = ack.delivered_packets > self.round_ends;
        if ack.round_start {
            self.round_ends = ack.delivered_packets + ack.in_flight_packets;
        }
        let ack = *ack;
        if marked && self.rule.on_mark(self.cwnd, &ack) == MarkResponse::Reduce {
            if ack.delivered_packets > self.cut_until {
                self.cut_until = ack.delivered_packets + ack.in_flight_packets;
                self.congestion(Congestion::Ecn);
            }
            return;
        }
        if self.cwnd < self.ssthresh {
            match self.rule.slow_start(self.cwnd, &ack) {
                SlowStart::Grow(cwnd) => self.cwnd = cwnd,
                SlowStart::Leave(cwnd) => (self.cwnd, self.ssthresh) = (cwnd, cwnd),
            }
        } else {
            self.cwnd = self.rule.increase(self.cwnd, &ack);
        }
    }

    fn idle(&mut self, seconds: f64) {
        self.ack.now_s += seconds;
        self.cwnd = self.rule.restart_from_idle(self.cwnd, self.ack.now_s);
    }

    fn congestion(&mut self, congestion: Congestion) {
        let target = self.rule.decrease(self.cwnd, congestion);
        assert!(target.is_finite(), "{congestion:?} at {}: {target}", self.cwnd);
        self.ssthresh = target.max(2.0);
        self.cwnd = if congestion == Congestion::Timeout { 1.0 } else { target.max(1.0) };
    }
}

fn build(text: &str) -> Rule {
    text.parse::<RuleSpec>().unwrap().build(Arithmetic::Plain)
}

proptest! {
    #[test]
    fn windows_stay_finite_and_positive(
        events in prop::collection::vec(event(), 1..400),
        family in 0..FAMILIES.len(),
    ) {
        let mut endpoint = Endpoint::new(build(FAMILIES[family].example));
        for event in events {
            match event {
                Event::Acked { packets, rtt_s, marked, app_limited } => {
                    endpoint.acked(packets, rtt_s, marked, app_limited)
                }
                Event::Congestion(congestion) => endpoint.congestion(congestion),
                Event::Idle(seconds) => endpoint.idle(seconds),
            }
            let rate = endpoint.rule.pacing_rate_packets_s();
            let (name, cwnd) = (FAMILIES[family].name, endpoint.cwnd);
            prop_assert!(cwnd.is_finite() && cwnd > 0.0, "{}: {}", name, cwnd);
            let is_valid = rate.is_none_or(|rate| rate.is_finite() && rate > 0.0);
            prop_assert!(is_valid, "{}: {:?}", name, rate);
            prop_assert_eq!(rate.is_some() && !endpoint.rule.needs().pacing, false);
            prop_assert_eq!(endpoint.rule.fault(), None);
        }
    }

    #[test]
    fn a_clone_behaves_alike(
        events in prop::collection::vec(event(), 1..200),
        family in 0..FAMILIES.len(),
    ) {
        let mut first = Endpoint::new(build(FAMILIES[family].example));
        let mut second: Option<Endpoint> = None;
        let half = events.len() / 2;
        for (index, event) in events.into_iter().enumerate() {
            if index == half {
                second = Some(Endpoint { rule: first.rule.clone(), ..first });
            }
            for endpoint in std::iter::once(&mut first).chain(second.as_mut()) {
                match event {
                    Event::Acked { packets, rtt_s, marked, app_limited } => {
                    endpoint.acked(packets, rtt_s, marked, app_limited)
                }
                    Event::Congestion(congestion) => endpoint.congestion(congestion),
                    Event::Idle(seconds) => endpoint.idle(seconds),
                }
            }
        }
        if let Some(second) = second {
            prop_assert_eq!(first.cwnd.to_bits(), second.cwnd.to_bits());
        }
    }

    /// The names say the same thing: section 2 of Chandrayana et al., RFC 5681.
    #[test]
    fn relatives_agree(w in 1.0..1e4f64) {
        for (one, other) in [
            ("NewReno", "AIMD(1, 0.5)"),
            ("IIAD(1, 0.5)", "Binomial(1, 0, 1, 0.5)"),
            ("SQRT(1, 0.5)", "Rule(inc=\"1/w^0.5\", dec=\"w - 0.5*w^0.5\")"),
            ("Binomial(0, 1, 1, 0.5)", "AIMD(1, 0.5)"),
            ("AIMD(0.31, 0.875)", "Rule(inc=\"0.31\", dec=\"0.875*w\")"),
            ("MRAIMD(1, 0, 0, 0.5)", "AIMD(1, 0.5)"),
        ] {
            let (mut one, mut other) = (build(one), build(other));
            for (a, b) in [
                (one.increase(w, &Ack::default()), other.increase(w, &Ack::default())),
                (one.decrease(w, CAUSES[0]), other.decrease(w, CAUSES[0])),
            ] {
                prop_assert!((a - b).abs() <= 1e-12 * w);
            }
        }
    }
}

#[test]
fn a_rule_stays_small() {
    // A sender holds one; what is larger is boxed.
    assert!(size_of::<Rule>() <= 48, "{}", size_of::<Rule>());
}
