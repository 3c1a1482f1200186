//! Rate samples and the context of ACKs for rules: delivery rates, round trips, consumed marks,
//! pacing, faults.

mod exchange;

use cwndlab_rules::{Ack, Arithmetic, Congestion, Needs, Rule, RuleSpec, SlowStart, WindowRule};
use cwndlab_tcp::{
    DataSegment, EcnEcho, EcnFeedback, ReceivedData, Receiver, Recovery, Sender, TcpConfig,
    tcp_config,
};
use exchange::{Exchange, rfc};
use std::sync::{Arc, Mutex};

/// A rule that keeps cwnd and records each [`Ack`]. Leaves slow start at the window `leave`, if
/// set.
#[derive(Clone, Debug, Default)]
struct Recorder {
    heard: Arc<Mutex<Vec<Ack>>>,
    leave: Option<f64>,
    recovery: bool,
}

impl Recorder {
    fn hear(&self, ack: &Ack) {
        self.heard.lock().unwrap().push(*ack);
    }
}

impl WindowRule for Recorder {
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

/// Packets 1 to 8 are in flight, sent at 0.1 s when the SYN was acknowledged, and cwnd is at
/// ssthresh, 8.
fn eight_packets(rule: Rule, config: TcpConfig, sends: &[i64]) -> Exchange {
    let config = tcp_config!(
        config,
        limits.initial_window = 8.0,
        limits.initial_ssthresh = 8.0,
        limits.window = 100.0
    );
    let mut tcp = Exchange::of(Sender::new(rule, Recovery::Sack, None, 0.0, &config), config);
    tcp.sender.start(0.0, &tcp.config, &mut |_| {});
    tcp.at(0.1).syn_ack(sends);
    tcp
}

fn rule(text: &str) -> Rule {
    text.parse::<RuleSpec>().unwrap().build(Arithmetic::Plain)
}

#[test]
fn delivery_rates_and_rounds_by_hand() {
    let recorder = Recorder::default();
    let mut tcp = eight_packets(Rule::custom(recorder.clone()), rfc(), &[1, 2, 3, 4, 5, 6, 7, 8]);
    for k in 1..=8 {
        tcp.at(0.19 + 0.01 * k as f64).echo(k, &[], 0.1, &[k + 8]);
    }
    tcp.at(0.3).echo(9, &[], 0.2, &[17]);
    let heard = recorder.heard.lock().unwrap().clone();
    let rates: Vec<f64> = heard.iter().map(|ack| ack.delivery_rate_packets_s).collect();
    // Packets 1 to 8 left at 0.1 s, when the ACK of the SYN arrived; the k-th ACK after it arrived
    // at 0.19 s + k 0.01 s. Packet 9 left at 0.2 s, when two packets were delivered; of the ten
    // delivered at 0.3 s eight arrived in that tenth of a second.
    for (k, rate) in [(1, 1.0 / 0.10), (2, 2.0 / 0.11), (8, 8.0 / 0.17), (9, 8.0 / 0.1)] {
        assert!((rates[k] - rate).abs() < 1e-6, "{k}: {rates:?}");
    }
    // A round trip ends when the packets in flight at its start are delivered: the SYN, packets 1
    // to 8, then 9 and later.
    let starts: Vec<u64> =
        heard.iter().filter(|ack| ack.round_start).map(|ack| ack.delivered_packets).collect();
    assert_eq!(starts, [1, 2, 10]);
}

/// Packets 1 to 8 are in flight; 1 is lost, and the later ones are SACKed one by one.
#[test]
fn a_rule_that_needs_recovery_sees_it() {
    let recorder = Recorder { recovery: true, ..Recorder::default() };
    let mut tcp = eight_packets(
        Rule::custom(recorder.clone()),
        tcp_config!(rfc(), recovery.limited_transmit = false),
        &[1, 2, 3, 4, 5, 6, 7, 8],
    );
    let heard = |field: fn(&Ack) -> u64| {
        recorder.heard.lock().unwrap().iter().map(field).collect::<Vec<u64>>()
    };
    tcp.at(0.20).receive(0, &[(2, 3)], 0.1, false, &[]);
    tcp.at(0.21).receive(0, &[(2, 4)], 0.1, false, &[]);
    // Third SACKed packet: 1 is lost and retransmitted; cwnd is 4, and 5 to 8 and the
    // retransmission are in flight.
    tcp.at(0.22).receive(0, &[(2, 5)], 0.1, false, &[1]);
    tcp.at(0.23).receive(0, &[(2, 6)], 0.1, false, &[]);
    tcp.at(0.24).receive(0, &[(2, 7)], 0.1, false, &[9]);
    tcp.at(0.32).receive(8, &[], 0.22, false, &[10, 11, 12]);
    // After the SYN: packets newly delivered per ACK. No SACK block reported 7 and 8; they are
    // acknowledged with 1.
    assert_eq!(heard(|ack| ack.acked_packets)[1..], [1, 1, 1, 1, 1, 3]);
    assert_eq!(heard(|ack| ack.lost_packets)[1..], [0, 0, 1, 1, 1, 1]);
    // Packets 2 to 6 left before any loss; the retransmission of 1 left after the loss, with 5 to 8
    // in flight.
    assert_eq!(heard(|ack| ack.lost_since_sent_packets)[1..], [0, 0, 1, 1, 1, 0]);
    assert_eq!(heard(|ack| ack.sent_in_flight_packets)[6..], [5]);
    // In flight: eight less the SACKed packets; without the lost packet from the third SACK on;
    // then with its retransmission.
    assert_eq!(heard(|ack| ack.in_flight_packets)[1..], [7, 6, 4, 4, 3, 1]);
    // No loss is known before the third SACK, and recovery is over at the end.
    assert_eq!(heard(|ack| u64::from(ack.in_recovery))[1..], [0, 0, 0, 1, 1, 0]);
    // Packets sent at 0.1 s arrive in the round trip that starts with the first of them, the
    // retransmission in the next.
    assert_eq!(heard(|ack| u64::from(ack.round_start))[1..], [1, 0, 0, 0, 0, 1]);
}

/// Packets 1 to 8 are in flight and 1 is lost. A receiver holds ACKs back: one reports 2 and 4, one
/// 5, 6 and 8 and again 2 and 4, one nothing new, one 3.
#[test]
fn an_ack_delivers_what_its_sack_blocks_newly_report() {
    let recorder = Recorder { recovery: true, ..Recorder::default() };
    let mut tcp = eight_packets(
        Rule::custom(recorder.clone()),
        tcp_config!(rfc(), recovery.rack = true),
        &[1, 2, 3, 4, 5, 6, 7, 8],
    );
    tcp.at(0.20).receive(0, &[(4, 5), (2, 3)], 0.1, false, &[9, 10]);
    tcp.at(0.21).receive(0, &[(8, 9), (4, 7), (2, 3)], 0.1, false, &[1, 3]);
    tcp.at(0.22).receive(0, &[(8, 9), (4, 7), (2, 3)], 0.1, false, &[]);
    tcp.at(0.23).receive(0, &[(2, 7), (8, 9)], 0.1, false, &[7]);
    tcp.at(0.33).receive(8, &[], 0.23, false, &[9, 10, 11, 12]);
    let heard = recorder.heard.lock().unwrap().clone();
    // The SYN is the first packet delivered; 1 and 7 are acknowledged at last.
    let delivered: Vec<u64> = heard.iter().map(|ack| ack.delivered_packets).collect();
    assert_eq!(delivered, [1, 3, 6, 7, 9]);
}

/// RACK keeps the window full until it finds the loss: the first two SACKs release 9 and 10. With
/// the third, three of ten packets are SACKed and 1 is lost: 6 are in flight, above cwnd = 4.
#[test]
fn rack_tells_what_is_in_flight_and_lost() {
    let recorder = Recorder { recovery: true, ..Recorder::default() };
    let config = tcp_config!(rfc(), recovery.rack = true);
    let mut tcp = eight_packets(Rule::custom(recorder.clone()), config, &[1, 2, 3, 4, 5, 6, 7, 8]);
    tcp.at(0.20).receive(0, &[(2, 3)], 0.1, false, &[9]);
    tcp.at(0.21).receive(0, &[(2, 4)], 0.1, false, &[10]);
    tcp.at(0.22).receive(0, &[(2, 5)], 0.1, false, &[]);
    let heard = recorder.heard.lock().unwrap();
    let reported: Vec<_> =
        heard[1..].iter().map(|ack| (ack.in_flight_packets, ack.lost_packets)).collect();
    assert_eq!(reported, [(7, 0), (7, 0), (6, 1)]);
}

/// Without SACK all that is outstanding counts as in flight: packet 9 leaves with 2 to 8 and itself
/// in flight, and its ACK finds 10 alone.
#[test]
fn without_sack_outstanding_packets_are_in_flight() {
    let recorder = Recorder { recovery: true, ..Recorder::default() };
    let config = tcp_config!(
        rfc(),
        limits.initial_window = 8.0,
        limits.initial_ssthresh = 8.0,
        limits.window = 100.0
    );
    let rule = Rule::custom(recorder.clone());
    let sender = Sender::new(rule, Recovery::NewReno, None, 0.0, &config);
    let mut tcp = Exchange::of(sender, config);
    tcp.sender.start(0.0, &tcp.config, &mut |_| {});
    tcp.at(0.1).syn_ack(&[1, 2, 3, 4, 5, 6, 7, 8]);
    tcp.at(0.2).echo(1, &[], 0.1, &[9]);
    tcp.at(0.21).echo(2, &[], 0.1, &[10]);
    tcp.at(0.3).echo(9, &[], 0.2, &[11, 12, 13, 14, 15, 16, 17]);
    let last = *recorder.heard.lock().unwrap().last().unwrap();
    assert_eq!((last.sent_in_flight_packets, last.in_flight_packets), (8, 1));
    // Four ACKs, each 0.1 s or 0.11 s after its packet.
    let counters = tcp.sender.counters(0.3);
    assert_eq!(counters.rtt_count, 4);
    assert!((counters.rtt_sum_s - 0.41).abs() < 1e-9);
}

/// A rule without `Needs::recovery` sees no ACKs in recovery.
#[test]
fn other_rules_do_not_see_recovery() {
    let recorder = Recorder::default();
    let mut tcp = eight_packets(
        Rule::custom(recorder.clone()),
        tcp_config!(rfc(), recovery.limited_transmit = false),
        &[1, 2, 3, 4, 5, 6, 7, 8],
    );
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
    assert_eq!(recorder.heard.lock().unwrap().len(), 1);
}

#[test]
fn a_rule_may_leave_slow_start() {
    let recorder = Recorder { leave: Some(6.0), ..Recorder::default() };
    let config = tcp_config!(
        rfc(),
        limits.initial_window = 4.0,
        limits.initial_ssthresh = 100.0,
        growth.grow_when_limited = false
    );
    let mut tcp = Exchange::of(
        Sender::new(Rule::custom(recorder), Recovery::NewReno, None, 0.0, &config),
        config,
    );
    tcp.sender.start(0.0, &tcp.config, &mut |_| {});
    // The window after the SYN is the initial window; ssthresh stays where the rule left slow
    // start.
    tcp.at(0.1).syn_ack(&[1, 2, 3, 4]).window(4.0, 6.0);
    tcp.at(0.2).ack(1, &[5, 6, 7]).window(6.0, 6.0);
}

#[test]
fn a_consumed_mark_leaves_cwnd_and_sets_cwr_once_per_window() {
    // The receiver latches ECE until CWR (RFC 3168 section 6.1.3): without CWR MR-AIMD would see
    // marks forever.
    let mut tcp = eight_packets(
        rule("MRAIMD"),
        tcp_config!(rfc(), ecn.ecn = true),
        &[1, 2, 3, 4, 5, 6, 7, 8],
    );
    tcp.at(0.2).marked(1, &[9]).cwr(&[9]).marked(2, &[10]).cwr(&[]).marked(3, &[11]).cwr(&[]);
    assert!(tcp.sender.cwnd() > 8.3 && tcp.sender.counters(0.2).ecn_reductions == 0);
    // Packets up to 8 were in flight when CWR was sent: ECE of 9 belongs to another window of data.
    for k in 4..=7 {
        tcp.ack(k, &[k + 8]);
    }
    // Eight ACKs add a little less than a packet; the ninth completes it.
    tcp.ack(8, &[16]).at(0.3).marked(9, &[17, 18]).cwr(&[17]);
}

#[test]
fn paced_packets_leave_one_by_one() {
    // Congestion avoidance: 1.2 cwnd/srtt = 1.2 x 8/0.1 s = 96 packets/s.
    let mut tcp =
        eight_packets(rule("AIMD(1, 0.5)"), tcp_config!(rfc(), growth.pacing = true), &[1]);
    let mut now_s = 0.1;
    for number in 2..=8 {
        now_s += 1.0 / 96.0;
        assert!((tcp.sender.pacing_deadline_s() - now_s).abs() < 1e-9);
        let mut sent = Vec::new();
        tcp.sender.on_pacing_timer(now_s + 1e-9, &tcp.config, &mut |segment: DataSegment| {
            sent.push(segment.number)
        });
        assert_eq!(sent, [number]);
        now_s += 1e-9;
    }
    // The window is full: pacing holds nothing back any more.
    let mut sent = 0;
    tcp.sender.on_pacing_timer(now_s + 1.0, &tcp.config, &mut |_| sent += 1);
    assert_eq!((sent, tcp.sender.pacing_deadline_s()), (0, f64::INFINITY));
}

#[test]
fn exact_marks_are_those_of_each_packet() {
    let echoes = |config: TcpConfig| {
        let mut receiver = Receiver::new(false);
        [false, true, false, true, true, false]
            .into_iter()
            .enumerate()
            .map(|(number, ce)| {
                let ack = receiver
                    .on_data(
                        0.1,
                        ReceivedData { ce, ..ReceivedData::new(number as i64, 0.0) },
                        &config,
                    )
                    .1;
                ack.unwrap().echo == EcnEcho::ECE
            })
            .collect::<Vec<bool>>()
    };
    assert_eq!(
        echoes(tcp_config!(rfc(), ecn.ecn_feedback = EcnFeedback::ExactEce)),
        [false, true, false, true, true, false]
    );
    assert_eq!(echoes(rfc()), [false, true, true, true, true, true]);
}

#[test]
fn a_formula_without_a_value_is_a_fault() {
    // The first ACK adds (log(0.5) + 9)/8 = 1.04 packets; at 9.04 log(8.5 - w) has no value.
    let mut tcp = eight_packets(
        rule(r#"Rule(inc="log(8.5 - w) + 9", dec="w/2")"#),
        rfc(),
        &[1, 2, 3, 4, 5, 6, 7, 8],
    );
    tcp.at(0.2).ack(1, &[9, 10]);
    assert!(!tcp.sender.is_faulty());
    tcp.ack(2, &[11]);
    assert!(tcp.sender.is_faulty(), "{}", tcp.sender.cwnd());
    assert!(tcp.sender.fault().unwrap().contains("inc"), "{:?}", tcp.sender.fault());
}

/// ACKs with ECE do not grow cwnd, but a rule that counts marks per round trip sees each of them.
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
        fn on_mark(&mut self, _: f64, ack: &Ack) -> cwndlab_rules::MarkResponse {
            self.0.lock().unwrap().push(ack.round_start);
            cwndlab_rules::MarkResponse::Reduce
        }
        fn needs(&self) -> Needs {
            Needs { rounds: true, exact_marks: true, ..Needs::default() }
        }
    }
    let marks = Marks::default();
    let mut tcp = eight_packets(
        Rule::custom(marks.clone()),
        tcp_config!(rfc(), ecn.ecn = true),
        &[1, 2, 3, 4, 5, 6, 7, 8],
    );
    for number in 1..=17 {
        tcp.at(0.1 + 0.1 * ((number + 7) / 8) as f64).marked(number, &[number + 8]);
    }
    let starts: Vec<usize> = marks
        .0
        .lock()
        .unwrap()
        .iter()
        .enumerate()
        .filter(|(_, starts)| **starts)
        .map(|(i, _)| i + 1)
        .collect();
    // Packets up to 8 were in flight at the first ACK, up to 16 at the ACK of 9: RFC 8257 section
    // 3.3, step 3.
    assert_eq!(starts, [1, 9, 17]);
}

/// The ACK that ends the repair after a timeout covers packets delivered long before: the rule sees
/// the one new packet.
#[test]
fn packets_delivered_before_are_not_acked_again() {
    let recorder = Recorder::default();
    let mut tcp = eight_packets(
        Rule::custom(recorder.clone()),
        tcp_config!(rfc(), recovery.limited_transmit = false),
        &[1, 2, 3, 4, 5, 6, 7, 8],
    );
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
    let acked: Vec<u64> =
        recorder.heard.lock().unwrap().iter().map(|ack| ack.acked_packets).collect();
    assert_eq!(acked[1..], [1]);
}

/// The ACK of the SYN tells of no data, and packets are application-limited until what was in
/// flight when the application ran out of data is delivered (draft-ietf-ccwg-bbr, section
/// "Detecting application-limited phases").
#[test]
fn application_limited_until_the_bubble_is_delivered() {
    let recorder = Recorder { recovery: true, ..Recorder::default() };
    let config = tcp_config!(
        rfc(),
        limits.initial_window = 8.0,
        limits.initial_ssthresh = 8.0,
        limits.window = 100.0,
        recovery.rack = true
    );
    let rule = Rule::custom(recorder.clone());
    let mut tcp = Exchange::of(Sender::new(rule, Recovery::Sack, Some(2), 0.0, &config), config);
    tcp.sender.start(0.0, &tcp.config, &mut |_| {});
    tcp.at(0.1).syn_ack(&[1, 2]);
    tcp.at(0.2).echo(1, &[], 0.1, &[]).echo(2, &[], 0.1, &[]);
    // Idle: 3 to 10 fill the window; 11 leaves with the first ACK, when the bubble is over.
    tcp.at(0.5).supply(9, &[3, 4, 5, 6, 7, 8, 9, 10]);
    tcp.at(0.6).echo(3, &[], 0.5, &[11]).echo(10, &[], 0.5, &[]);
    tcp.at(0.7).echo(11, &[], 0.6, &[]);
    let heard = recorder.heard.lock().unwrap().clone();
    assert_eq!(heard[0].delivery_rate_packets_s, 0.0);
    let limited: Vec<bool> = heard[1..].iter().map(|ack| ack.app_limited).collect();
    assert_eq!(limited, [false, false, true, true, false]);
}
