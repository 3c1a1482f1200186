//! What rules are told, and what their answers do: delivery rates, rounds, marks that are noted, pacing, faults.

mod exchange;

use cwndlab_rules::{Ack, Arithmetic, Congestion, Needs, Rule, RuleSpec, SlowStart, WindowRule};
use cwndlab_tcp::{DataSegment, Knobs, Receiver, Recovery, Sender};
use exchange::{Exchange, rfc};
use std::sync::{Arc, Mutex};

/// Keeps its window, and a list of what it was told. Leaves slow start at the window given, if one is.
#[derive(Clone, Debug, Default)]
struct Listener {
    heard: Arc<Mutex<Vec<Ack>>>,
    leave: Option<f64>,
    recovery: bool,
}

impl Listener {
    fn hear(&self, ack: &Ack) {
        self.heard.lock().unwrap().push(*ack);
    }
}

impl WindowRule for Listener {
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        self.hear(ack);
        cwnd
    }

    fn decrease(&mut self, cwnd: f64, _: Congestion) -> f64 {
        cwnd / 2.0
    }

    fn slow_start(&mut self, cwnd: f64, ack: &Ack) -> SlowStart {
        self.hear(ack);
        self.leave.map_or(SlowStart::Grow(cwnd), SlowStart::Leave)
    }

    fn needs(&self) -> Needs {
        Needs { delivery_rate: true, rounds: true, recovery: self.recovery, ..Needs::default() }
    }
}

/// Eight packets are out, 1 to 8, sent at 0.1 s when the SYN was acknowledged, and the window is at its threshold, 8.
fn eight_packets(rule: Rule, knobs: Knobs, sends: &[i64]) -> Exchange {
    let knobs = Knobs { initial_window: 8.0, initial_ssthresh: 8.0, window: 100.0, ..knobs };
    let mut tcp = Exchange::of(Sender::new(rule, Recovery::Sack, None, 0.0, &knobs), knobs);
    tcp.sender.start(0.0, &tcp.knobs, &mut |_| {});
    tcp.at(0.1).syn_ack(sends);
    tcp
}

fn rule(text: &str) -> Rule {
    text.parse::<RuleSpec>().unwrap().build(Arithmetic::Plain)
}

#[test]
fn delivery_rates_and_rounds_by_hand() {
    let listener = Listener::default();
    let mut tcp = eight_packets(Rule::own(listener.clone()), rfc(), &[1, 2, 3, 4, 5, 6, 7, 8]);
    for k in 1..=8 {
        tcp.at(0.19 + 0.01 * k as f64).echo(k, &[], 0.1, &[k + 8]);
    }
    tcp.at(0.3).echo(9, &[], 0.2, &[17]);
    let heard = listener.heard.lock().unwrap().clone();
    let rates: Vec<f64> = heard.iter().map(|ack| ack.delivery_rate_packets_s).collect();
    // Packets 1 to 8 left at 0.1 s, when the SYN had arrived: the k-th arrival after it came 0.09 s + k 0.01 s later. Packet 9 left at 0.2 s,
    // when two packets had arrived; of the ten at 0.3 s eight came in that tenth of a second.
    for (k, rate) in [(1, 1.0 / 0.10), (2, 2.0 / 0.11), (8, 8.0 / 0.17), (9, 8.0 / 0.1)] {
        assert!((rates[k] - rate).abs() < 1e-6, "{k}: {rates:?}");
    }
    // A round is over when what was out at its begin is: the SYN, packets 1 to 8, then 9 and later.
    let starts: Vec<u64> = heard.iter().filter(|ack| ack.round_start).map(|ack| ack.delivered_packets).collect();
    assert_eq!(starts, [1, 2, 10]);
}

/// Packets 1 to 8 are out; 1 is lost, and what follows it is reported one by one.
#[test]
fn a_rule_that_asks_sees_recovery() {
    let listener = Listener { recovery: true, ..Listener::default() };
    let mut tcp = eight_packets(Rule::own(listener.clone()), Knobs { limited_transmit: false, ..rfc() }, &[1, 2, 3, 4, 5, 6, 7, 8]);
    let told = |field: fn(&Ack) -> u64| listener.heard.lock().unwrap().iter().map(field).collect::<Vec<u64>>();
    tcp.at(0.20).receive(0, &[(2, 3)], 0.1, false, &[]);
    tcp.at(0.21).receive(0, &[(2, 4)], 0.1, false, &[]);
    // The third report: 1 is lost and sent again; the window is 4, and 5 to 8 and that one are in the network.
    tcp.at(0.22).receive(0, &[(2, 5)], 0.1, false, &[1]);
    tcp.at(0.23).receive(0, &[(2, 6)], 0.1, false, &[]);
    tcp.at(0.24).receive(0, &[(2, 7)], 0.1, false, &[9]);
    tcp.at(0.32).receive(8, &[], 0.22, false, &[10, 11, 12]);
    // After the SYN: what was newly delivered, by each; 7 and 8 were reported by none, and are acknowledged with 1.
    assert_eq!(told(|ack| ack.acked_packets)[1..], [1, 1, 1, 1, 1, 3]);
    assert_eq!(told(|ack| ack.lost_packets)[1..], [0, 0, 1, 1, 1, 1]);
    // Packets 2 to 6 left when nothing was lost; the retransmission of 1 after the loss, beside 5 to 8.
    assert_eq!(told(|ack| ack.lost_since_sent_packets)[1..], [0, 0, 1, 1, 1, 0]);
    assert_eq!(told(|ack| ack.sent_in_flight_packets)[6..], [5]);
    // In the network: eight, less those reported; without the lost one from the third report on; then with its retransmission.
    assert_eq!(told(|ack| ack.in_flight_packets)[1..], [7, 6, 4, 4, 3, 1]);
    // Before the third report nothing is known to be lost, and at the end all is repaired.
    assert_eq!(told(|ack| u64::from(ack.in_recovery))[1..], [0, 0, 0, 1, 1, 0]);
    // What was sent at 0.1 s comes in the round trip that begins with the first of them, the retransmission in the next.
    assert_eq!(told(|ack| u64::from(ack.round_start))[1..], [1, 0, 0, 0, 0, 1]);
}

/// Rules that do not ask are left alone until new data is acknowledged.
#[test]
fn other_rules_do_not_see_recovery() {
    let listener = Listener::default();
    let mut tcp = eight_packets(Rule::own(listener.clone()), Knobs { limited_transmit: false, ..rfc() }, &[1, 2, 3, 4, 5, 6, 7, 8]);
    for reported in 3..=7 {
        tcp.at(0.2).receive(
            0,
            &[(2, reported)],
            0.1,
            false,
            if reported == 5 {
                &[1]
            } else if reported == 7 {
                &[9]
            } else {
                &[]
            },
        );
    }
    assert_eq!(listener.heard.lock().unwrap().len(), 1);
}

#[test]
fn a_rule_may_leave_slow_start() {
    let listener = Listener { leave: Some(6.0), ..Listener::default() };
    let knobs = Knobs { initial_window: 4.0, initial_ssthresh: 100.0, grow_when_limited: false, ..rfc() };
    let mut tcp = Exchange::of(Sender::new(Rule::own(listener), Recovery::NewReno, None, 0.0, &knobs), knobs);
    tcp.sender.start(0.0, &tcp.knobs, &mut |_| {});
    // The window after the SYN is the initial one; the threshold stays where the rule left slow start.
    tcp.at(0.1).syn_ack(&[1, 2, 3, 4]).window(4.0, 6.0);
    tcp.at(0.2).ack(1, &[5, 6, 7]).window(6.0, 6.0);
}

#[test]
fn a_mark_that_is_noted_leaves_the_window_and_is_answered_once_per_window() {
    // The receiver echoes until it hears CWR (RFC 3168 section 6.1.3): without an answer MR-AIMD would see marks for ever.
    let mut tcp = eight_packets(rule("MRAIMD"), Knobs { ecn: true, ..rfc() }, &[1, 2, 3, 4, 5, 6, 7, 8]);
    tcp.at(0.2).marked(1, &[9]).cwr(&[9]).marked(2, &[10]).cwr(&[]).marked(3, &[11]).cwr(&[]);
    assert!(tcp.sender.cwnd() > 8.3 && tcp.sender.counters(0.2).ecn_reductions == 0);
    // Up to 8 was out at the answer: the echo of 9 is another window's.
    for k in 4..=7 {
        tcp.ack(k, &[k + 8]);
    }
    // Eight acknowledgements add a little less than a packet, the ninth makes it whole.
    tcp.ack(8, &[16]).at(0.3).marked(9, &[17, 18]).cwr(&[17]);
}

#[test]
fn paced_packets_leave_one_by_one() {
    // In congestion avoidance, 1.2 windows a round trip: 1.2 x 8/0.1 s = 96 packets a second.
    let mut tcp = eight_packets(rule("AIMD(1, 0.5)"), Knobs { pacing: true, ..rfc() }, &[1]);
    let mut now_s = 0.1;
    for number in 2..=8 {
        now_s += 1.0 / 96.0;
        assert!((tcp.sender.pacing_deadline_s() - now_s).abs() < 1e-9);
        let mut sent = Vec::new();
        tcp.sender.on_pace(now_s + 1e-9, &tcp.knobs, &mut |segment: DataSegment| sent.push(segment.number));
        assert_eq!(sent, [number]);
        now_s += 1e-9;
    }
    // The window is full: the pace holds nothing back any more.
    let mut sent = 0;
    tcp.sender.on_pace(now_s + 1.0, &tcp.knobs, &mut |_| sent += 1);
    assert_eq!((sent, tcp.sender.pacing_deadline_s()), (0, f64::INFINITY));
}

#[test]
fn exact_marks_are_those_of_each_packet() {
    let echoes = |knobs: Knobs| {
        let mut receiver = Receiver::new(false);
        [false, true, false, true, true, false]
            .into_iter()
            .enumerate()
            .map(|(number, ce)| receiver.on_data(0.1, number as i64, 0.0, ce, false, &knobs).1.unwrap().ece)
            .collect::<Vec<bool>>()
    };
    assert_eq!(echoes(Knobs { exact_marks: true, ..rfc() }), [false, true, false, true, true, false]);
    assert_eq!(echoes(rfc()), [false, true, true, true, true, true]);
}

#[test]
fn a_formula_without_a_value_is_a_fault() {
    // The first acknowledgement adds (log(0.5) + 9)/8 = 1.04 packets; at 9.04 there is no log(8.5 - w).
    let mut tcp = eight_packets(rule(r#"Rule(inc="log(8.5 - w) + 9", dec="w/2")"#), rfc(), &[1, 2, 3, 4, 5, 6, 7, 8]);
    tcp.at(0.2).ack(1, &[9, 10]);
    assert!(!tcp.sender.is_faulty());
    tcp.ack(2, &[11]);
    assert!(tcp.sender.is_faulty(), "{}", tcp.sender.cwnd());
    assert!(tcp.sender.fault().unwrap().contains("inc"), "{:?}", tcp.sender.fault());
}

/// Marked acknowledgements do not grow the window, but time goes on: a rule that counts marks by the round trip hears of each.
#[test]
fn rounds_go_on_while_every_acknowledgement_is_marked() {
    #[derive(Clone, Debug, Default)]
    struct Marks(Arc<Mutex<Vec<bool>>>);
    impl WindowRule for Marks {
        fn increase(&mut self, cwnd: f64, _: &Ack) -> f64 {
            cwnd
        }
        fn decrease(&mut self, cwnd: f64, _: Congestion) -> f64 {
            cwnd
        }
        fn on_mark(&mut self, _: f64, ack: &Ack) -> cwndlab_rules::Mark {
            self.0.lock().unwrap().push(ack.round_start);
            cwndlab_rules::Mark::Congestion
        }
        fn needs(&self) -> Needs {
            Needs { rounds: true, exact_marks: true, ..Needs::default() }
        }
    }
    let marks = Marks::default();
    let mut tcp = eight_packets(Rule::own(marks.clone()), Knobs { ecn: true, ..rfc() }, &[1, 2, 3, 4, 5, 6, 7, 8]);
    for number in 1..=17 {
        tcp.at(0.1 + 0.1 * ((number + 7) / 8) as f64).marked(number, &[number + 8]);
    }
    let starts: Vec<usize> = marks.0.lock().unwrap().iter().enumerate().filter(|(_, starts)| **starts).map(|(i, _)| i + 1).collect();
    // Up to 8 was out when the first came, up to 16 when 9 came: RFC 8257 section 3.3, step 3.
    assert_eq!(starts, [1, 9, 17]);
}

/// The acknowledgement that ends a time-out's repair covers what had arrived long before: the rule hears of the one packet that is new.
#[test]
fn what_was_delivered_before_is_not_acknowledged_anew() {
    let listener = Listener::default();
    let mut tcp = eight_packets(Rule::own(listener.clone()), Knobs { limited_transmit: false, ..rfc() }, &[1, 2, 3, 4, 5, 6, 7, 8]);
    // 1 and its retransmission are lost; 2 to 8 arrive and are reported.
    for reported in 3..=9 {
        let sends: &[i64] = match reported {
            5 => &[1],
            7..=9 => &[reported + 2],
            _ => &[],
        };
        tcp.at(0.2).receive(0, &[(2, reported)], 0.1, false, sends);
    }
    let deadline_s = tcp.sender.deadline_s();
    tcp.expires(deadline_s, &[1]);
    tcp.at(deadline_s + 0.1).receive(8, &[], deadline_s, false, &[9]);
    let acked: Vec<u64> = listener.heard.lock().unwrap().iter().map(|ack| ack.acked_packets).collect();
    assert_eq!(acked[1..], [1]);
}
