//! An ACK is one event for the rule, however many packets it acknowledges, and growth counts only
//! while cwnd limits the flow.

mod exchange;

use cwndlab_rules::{Ack, Arithmetic, Congestion, Rule, RuleSpec, WindowRule};
use cwndlab_tcp::{Recovery, Sender, TcpConfig, tcp_config};
use exchange::{Exchange, rfc};
use std::sync::{Arc, Mutex};

/// A rule that adds a packet per ACK, whatever growth counts, and records each [`Ack`].
#[derive(Clone, Debug, Default)]
struct Greedy(Arc<Mutex<Vec<Ack>>>);

impl WindowRule for Greedy {
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        self.0.lock().unwrap().push(*ack);
        cwnd + 1.0
    }

    fn decrease(&mut self, cwnd: f64, _: Congestion) -> f64 {
        cwnd / 2.0
    }
}

fn by_packets() -> TcpConfig {
    tcp_config!(rfc(), growth.grow_by_packets = true)
}

fn rule(text: &str) -> Rule {
    text.parse::<RuleSpec>().unwrap().build(Arithmetic::Plain)
}

/// Packets 1 to 8 are in flight, and cwnd is at ssthresh, 8.
fn eight_packets(rule: Rule, packets: Option<u64>, config: TcpConfig) -> Exchange {
    let config = tcp_config!(
        config,
        limits.initial_window = 8.0,
        limits.initial_ssthresh = 8.0,
        limits.window = 100.0
    );
    let sender = Sender::new(rule, Recovery::Sack, packets, 0.0, &config);
    let mut tcp = Exchange::of(sender, config);
    tcp.begin(&[0]);
    let sends: Vec<i64> = (1..=packets.unwrap_or(8).min(8) as i64).collect();
    tcp.at(0.1).syn_ack(&sends);
    tcp
}

/// Eight packets in flight. An ACK of two leaves six, one of the last six of the window leaves the
/// four that followed; growth counts packets, or ACKs.
#[test]
fn an_ack_is_one_event_that_describes_one_instant() {
    for (config, counted) in [(by_packets(), [2, 6]), (rfc(), [1, 1])] {
        let greedy = Greedy::default();
        let mut tcp = eight_packets(Rule::custom(greedy.clone()), None, config);
        tcp.at(0.2).ack(2, &[9, 10, 11]).ack(8, &[12, 13, 14, 15, 16, 17, 18]);
        let heard = greedy.0.lock().unwrap();
        let events: Vec<_> = heard
            .iter()
            .map(|ack| (ack.acked_packets, ack.growth_packets, ack.in_flight_packets))
            .collect();
        assert_eq!(events, [(2, counted[0], 6), (6, counted[1], 3)]);
        assert!(heard.iter().all(|ack| ack.cwnd_limited && ack.ssthresh_packets == 8.0));
    }
}

/// 8 + 2/8 with an ACK of two packets at an empty queue, and at most 6 + 2 + 1: LEDBAT does not
/// mistake the rest of the ACK for a window that is not used.
#[test]
fn ledbat_grows_with_delayed_acks() {
    let mut tcp = eight_packets(rule("LEDBAT"), None, by_packets());
    tcp.at(0.2).ack(2, &[9, 10]).window(8.25, 2.0);
    // 8.25 + 2/8.25.
    tcp.ack(4, &[11, 12]).window(8.492_424_242_424_242, 2.0);
    // An ACK of six would add 0.71: 2 + 6 + 1 are allowed.
    tcp.ack(10, &[13, 14, 15, 16, 17, 18, 19]).window(9.0, 2.0);
}

/// A window grows as much by an ACK of eight packets as by eight ACKs of one, in congestion
/// avoidance and in slow start, and across ssthresh.
#[test]
fn delayed_acks_do_not_slow_growth() {
    for name in ["AIMD(1, 0.5)", "GAIMD(0.31, 0.875)", "SQRT(1, 0.5)", "HighSpeed", "Scalable"] {
        for ssthresh in [2.0, 8.0, 11.5, 1000.0] {
            let windows = [vec![8], vec![2, 4, 6, 8], (1..=8).collect()].map(|acks: Vec<i64>| {
                let config =
                    tcp_config!(by_packets(), limits.initial_window = 8.0, limits.window = 100.0);
                let config = tcp_config!(config, limits.initial_ssthresh = ssthresh);
                let sender = Sender::new(rule(name), Recovery::Sack, None, 0.0, &config);
                let mut tcp = Exchange::of(sender, config);
                tcp.begin(&[0]);
                tcp.at(0.1).syn_ack(&[1, 2, 3, 4, 5, 6, 7, 8]).at(0.2);
                acks.into_iter().for_each(|ack| tcp.ack_silently(ack));
                tcp.sender.cwnd()
            });
            assert!(windows[0] > 8.0, "{name}");
            let differ = windows.iter().any(|cwnd| (cwnd - windows[0]).abs() > 1e-9);
            assert!(!differ, "{name}, ssthresh {ssthresh}: {windows:?}");
        }
    }
    // Reno: three packets from 8 to ssthresh = 10.5 reach 11; five follow with 1/w each.
    let config = tcp_config!(
        by_packets(),
        limits.initial_window = 8.0,
        limits.initial_ssthresh = 10.5,
        limits.window = 100.0
    );
    let sender = Sender::new(rule("AIMD(1, 0.5)"), Recovery::Sack, None, 0.0, &config);
    let mut tcp = Exchange::of(sender, config);
    tcp.begin(&[0]);
    tcp.at(0.1).syn_ack(&[1, 2, 3, 4, 5, 6, 7, 8]).at(0.2).ack_silently(8);
    let by_hand = (0..5).fold(11.0, |cwnd: f64, _| cwnd + 1.0 / cwnd);
    tcp.window(by_hand, 10.5);
}

/// Three packets of a window of eight: the application limits the flow. The rule sees the ACKs, but
/// the window does not grow, whatever it returns.
#[test]
fn a_window_that_the_application_leaves_unused_does_not_grow() {
    let greedy = Greedy::default();
    let mut tcp = eight_packets(Rule::custom(greedy.clone()), Some(3), rfc());
    tcp.at(0.2).ack(1, &[]).ack(3, &[]).window(8.0, 8.0);
    // A full window of data: the flow is limited by cwnd from its first ACK on.
    tcp.at(0.3).supply(20, &[4, 5, 6, 7, 8, 9, 10, 11]);
    tcp.at(0.4).ack(4, &[12, 13]).window(9.0, 8.0);
    let heard = greedy.0.lock().unwrap();
    let limited: Vec<_> = heard.iter().map(|ack| (ack.cwnd_limited, ack.growth_packets)).collect();
    assert_eq!(limited, [(false, 0), (false, 0), (true, 1)]);
}

/// The receiver's window of six is as good a reason: in slow start cwnd grows to twice what was out
/// (RFC 7661, Linux `tcp_is_cwnd_limited`). In congestion avoidance six packets fill no window of seven;
/// those that were out then add less than one more.
#[test]
fn a_window_beyond_the_receivers_does_not_grow() {
    for (ssthresh, most) in [(100.0, 12.0), (4.0, 8.0)] {
        let config = tcp_config!(
            rfc(),
            limits.initial_window = 4.0,
            limits.initial_ssthresh = ssthresh,
            limits.window = 6.0,
            limits.cap_window = false
        );
        let sender = Sender::new(rule("AIMD(1, 0.5)"), Recovery::Sack, None, 0.0, &config);
        let mut tcp = Exchange::of(sender, config);
        tcp.begin(&[0]);
        tcp.at(0.1).syn_ack(&[1, 2, 3, 4]);
        for ack in 1..60 {
            tcp.at(0.1 + 0.05 * ack as f64).ack_silently(ack);
        }
        let cwnd = tcp.sender.cwnd();
        assert!(cwnd > 6.9 && cwnd <= most, "ssthresh {ssthresh}: {cwnd}");
    }
}
