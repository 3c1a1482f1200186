use super::*;
use crate::RuleFactory;
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

const MTU: u16 = 1200;

fn window_of(rule: &str, cwnd: f64, ssthresh: f64) -> (Window, Instant) {
    let spec: cwndlab_rules::RuleSpec = rule.parse().unwrap();
    let settings = Settings { initial_window: cwnd, initial_ssthresh: ssthresh };
    let begin = Instant::now();
    (Window::new(spec.build(cwndlab_rules::Arithmetic::Plain), settings, begin, MTU), begin)
}

fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

fn acked(now: Instant, sent: Instant) -> Sample {
    Sample { now, sent, bytes: MTU.into(), srtt: ms(50), min_rtt: ms(50) }
}

/// Fills the window at `now`.
fn fill(window: &mut Window, now: Instant) {
    while window.in_flight + 1.0 <= window.cwnd {
        window.on_sent(now, MTU.into());
    }
}

/// A frame that acknowledges packets of a window that was full.
fn frame(window: &mut Window, samples: &[Sample]) {
    fill(window, samples[0].sent);
    samples.iter().for_each(|sample| window.on_ack(*sample));
    let left = window.in_flight - samples.len() as f64;
    window.on_end_acks((left.max(0.0) * f64::from(MTU)) as u64);
}

#[test]
fn windows_after_a_cut_are_the_rules() {
    // By hand: 0.5 w; 0.875 w; w - b w^l = 100 - 0.5 * 10 (SQRT); w - b = 100 - 1 (IIAD, l = 0);
    // 0.5 w (MR-AIMD's b); the formula's 100 - 100/4; H-TCP 0.5 w without a history of rates; CUBIC
    // 0.7 w (RFC 9438 section 4.6).
    for (rule, expected) in [
        ("AIMD(1, 0.5)", 50.0),
        ("GAIMD(0.31, 0.875)", 87.5),
        ("SQRT(1, 0.5)", 95.0),
        ("IIAD(1, 1)", 99.0),
        ("MRAIMD(1, 0.1, 0.1, 0.5)", 50.0),
        ("Rule(inc=\"1/w\", dec=\"w - w/4\")", 75.0),
        ("HTCP", 50.0),
        ("CUBIC", 70.0),
        ("kernel:reno", 50.0),
    ] {
        let (mut window, begin) = window_of(rule, 100.0, 100.0);
        let cut = window.on_congestion(begin + ms(60), begin + ms(5), Cause::Loss, 1200).unwrap();
        assert_eq!((cut.before, cut.after, cut.in_slow_start), (100.0, expected, false), "{rule}");
        assert_eq!((window.cwnd(), window.ssthresh()), (expected, Some(expected)), "{rule}");
        // A window of n packets holds n packets: quinn sends at n - 1 in flight and not at n.
        let packets = expected.floor() as u64;
        assert!(
            window.bytes() > packets * 1200 && window.bytes() <= (packets + 1) * 1200,
            "{rule}"
        );
    }
}

#[test]
fn one_cut_a_round_trip() {
    let (mut window, begin) = window_of("AIMD(1, 0.5)", 100.0, 10.0);
    assert_eq!(
        window.on_congestion(begin + ms(60), begin + ms(5), Cause::Loss, 1200).unwrap().after,
        50.0
    );
    // Packets sent before the cut cause neither another cut nor growth (RFC 9002 section 7.3.2).
    assert!(window.on_congestion(begin + ms(61), begin + ms(60), Cause::Loss, 1200).is_none());
    assert!(window.on_congestion(begin + ms(61), begin + ms(60), Cause::Mark, 0).is_none());
    frame(&mut window, &[acked(begin + ms(62), begin + ms(59))]);
    assert_eq!(window.cwnd(), 50.0);
    // Packets sent after the cut cause both.
    frame(&mut window, &[acked(begin + ms(120), begin + ms(61))]);
    assert_eq!(window.cwnd(), 50.0 + 1.0 / 50.0);
    assert!(window.on_congestion(begin + ms(130), begin + ms(70), Cause::Mark, 0).is_some());
    assert_eq!(window.cwnd(), 25.01);
}

#[test]
fn slow_start_adds_a_packet_for_a_packet_and_ends_at_the_threshold() {
    let (mut window, begin) = window_of("GAIMD(0.31, 0.875)", 4.0, 6.0);
    // A frame of three packets: two reach ssthresh, the third adds 0.31/6.
    frame(&mut window, &[acked(begin + ms(60), begin + ms(1)); 3]);
    assert!((window.cwnd() - 6.051_666_666_666_667).abs() < 1e-12);
    // Two halves of a packet count as a packet; an app-limited sender does not grow the window (RFC
    // 9002 section 7.8).
    let half = Sample { bytes: 600, ..acked(begin + ms(62), begin + ms(4)) };
    let before = window.cwnd();
    frame(&mut window, &[half]);
    assert_eq!(window.cwnd(), before);
    frame(&mut window, &[half]);
    assert!((window.cwnd() - before - 0.31 / before).abs() < 1e-12);
    // All is acknowledged. One packet is no full window, and not half of one.
    let after = window.cwnd();
    window.on_end_acks(0);
    for number in 1..20 {
        window.on_sent(begin + ms(60 + number), MTU.into());
        window.on_ack(acked(begin + ms(61 + number), begin + ms(60 + number)));
        window.on_end_acks(0);
    }
    assert_eq!(window.cwnd(), after);
}

/// A rule that adds a packet per ACK and records it.
#[derive(Clone, Debug, Default)]
struct Greedy(Arc<Mutex<Vec<Ack>>>, Arc<Mutex<Vec<f64>>>);

impl WindowRule for Greedy {
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        self.0.lock().unwrap().push(*ack);
        cwnd + 1.0
    }

    fn decrease(&mut self, cwnd: f64, _: Congestion) -> f64 {
        cwnd / 2.0
    }

    fn restart_from_idle(&mut self, cwnd: f64, now_s: f64) -> f64 {
        self.1.lock().unwrap().push(now_s);
        cwnd
    }
}

/// Ten packets fill a window of ten. A frame of four leaves six in flight; after it the application
/// sends one packet in every 50 ms, and the window stays.
#[test]
fn a_frame_is_one_event_and_a_window_that_is_not_used_does_not_grow() {
    let (greedy, begin) = (Greedy::default(), Instant::now());
    let settings = Settings { initial_window: 10.0, initial_ssthresh: 10.0 };
    let mut window = Window::new(Rule::custom(greedy.clone()), settings, begin, MTU);
    frame(&mut window, &[acked(begin + ms(50), begin); 4]);
    assert_eq!(window.cwnd(), 11.0);
    window.on_end_acks(0);
    for number in 1..4_u64 {
        window.on_sent(begin + ms(50 + 50 * number), MTU.into());
        window.on_ack(acked(begin + ms(100 + 50 * number), begin + ms(50 + 50 * number)));
        window.on_end_acks(0);
    }
    assert_eq!(window.cwnd(), 11.0);
    let heard = greedy.0.lock().unwrap();
    let events: Vec<_> = heard
        .iter()
        .map(|ack| (ack.acked_packets, ack.growth_packets, ack.in_flight_packets, ack.cwnd_limited))
        .collect();
    assert_eq!(events[0], (4, 4, 6, true));
    assert!(events[1..].iter().all(|event| *event == (1, 0, 0, false)), "{events:?}");
    // Each of the three packets ends an idle period.
    let idle: Vec<f64> = greedy.1.lock().unwrap().clone();
    assert_eq!(idle, [0.1, 0.15, 0.2]);
}

#[test]
fn persistent_congestion_leaves_two_packets_and_the_rules_threshold() {
    let (mut window, begin) = window_of("GAIMD(0.31, 0.875)", 80.0, 20.0);
    let cut = window
        .on_congestion(begin + ms(900), begin + ms(500), Cause::PersistentCongestion, 12_000)
        .unwrap();
    assert_eq!((cut.before, cut.after, window.ssthresh()), (80.0, 2.0, Some(70.0)));
    // The same outage causes no further cut. Packets sent afterwards grow the window by slow start.
    assert!(window.on_congestion(begin + ms(901), begin + ms(600), Cause::Loss, 1200).is_none());
    frame(&mut window, &[acked(begin + ms(999), begin + ms(950))]);
    assert_eq!((window.cwnd(), window.ssthresh()), (3.0, Some(70.0)));
    // In a recovery that a loss began, only the window falls: the threshold was cut by the loss.
    let (mut window, begin) = window_of("AIMD(1, 0.5)", 80.0, 20.0);
    window.on_congestion(begin + ms(100), begin + ms(50), Cause::Loss, 1200);
    window.on_congestion(begin + ms(900), begin + ms(90), Cause::PersistentCongestion, 1200);
    assert_eq!((window.cwnd(), window.ssthresh()), (2.0, Some(40.0)));
}

#[test]
fn the_rule_decides_the_response_to_marks() {
    // A mark only lowers MR-AIMD's a' from 1 to 0.1 (Psaras 2009, section 3).
    let (mut window, begin) = window_of("MRAIMD(1, 1, 0.1, 0.5)", 10.0, 10.0);
    assert!(window.on_congestion(begin + ms(60), begin + ms(5), Cause::Mark, 0).is_none());
    frame(&mut window, &[acked(begin + ms(61), begin + ms(6))]);
    // a = 1 + 0.1/10, w = 10 + a/10.
    assert!((window.cwnd() - 10.101).abs() < 1e-12, "{}", window.cwnd());
    // DCTCP halves at first (alpha is 1). In a recovery that a mark began, a loss cuts as well (RFC
    // 8257 section 3.5).
    let (mut window, begin) = window_of("DCTCP", 64.0, 10.0);
    window.on_ack(acked(begin + ms(50), begin + ms(1)));
    window.on_end_acks(0);
    assert_eq!(
        window.on_congestion(begin + ms(50), begin + ms(1), Cause::Mark, 0).unwrap().after,
        32.0
    );
    assert_eq!(
        window.on_congestion(begin + ms(51), begin + ms(2), Cause::Loss, 1200).unwrap().after,
        16.0
    );
    assert!(window.on_congestion(begin + ms(52), begin + ms(3), Cause::Loss, 1200).is_none());
}

#[test]
fn dctcp_counts_the_packets_of_acknowledgements_that_report_marks() {
    let (mut window, begin) = window_of("DCTCP(0.5)", 40.0, 10.0);
    // A round trip of ten frames of two packets; the last two frames report marks: 4 of 20 packets.
    frame(&mut window, &[acked(begin + ms(50), begin)]);
    window.grow();
    let frames = |window: &mut Window, from: u64, count: u64, marked: bool| {
        for i in from..from + count {
            let (now, sent) = (begin + ms(60 + i), begin + ms(1 + i));
            frame(window, &[acked(now, sent); 2]);
            if marked {
                window.on_congestion(now, sent, Cause::Mark, 0);
            }
        }
    };
    frames(&mut window, 0, 8, false);
    assert!(window.cwnd() > 40.0);
    frames(&mut window, 8, 2, true);
    // The start of the next round trip ends the count.
    frame(&mut window, &[acked(begin + ms(140), begin + ms(80))]);
    window.grow();
    let Rule::Dctcp(rule) = window.rule() else { panic!("another rule") };
    // The first acknowledgement ended a round trip without marks: alpha fell from 1 to 1/2. Then 4
    // of 21 packets were marked: with g = 1/2, alpha = 1/2 * 1/2 + 1/2 * 4/21.
    assert!((rule.alpha() - (0.25 + 2.0 / 21.0)).abs() < 1e-12, "{}", rule.alpha());
}

#[test]
fn a_change_of_the_mtu_keeps_the_window_in_bytes() {
    let (mut window, _) = window_of("AIMD(1, 0.5)", 30.0, 60.0);
    window.set_mtu(1500);
    assert_eq!((window.cwnd(), window.ssthresh(), window.bytes()), (24.0, Some(48.0), 36_001));
    window.set_mtu(0);
    assert!(window.cwnd() <= MAX_CWND);
}

#[test]
fn rules_that_set_a_pacing_rate_or_have_no_implementation_are_refused() {
    for (rule, expected) in [
        ("BBR3", "sets the pacing rate"),
        ("kernel:bbr", "sets the pacing rate"),
        ("mine:Rule", "has no implementation"),
        ("AIMD(", "AIMD("),
    ] {
        let message = rule.parse::<RuleFactory>().unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}

/// A rule that returns NaN and infinity.
#[derive(Clone, Debug)]
struct Invalid;

impl WindowRule for Invalid {
    fn increase(&mut self, _: f64, _: &Ack) -> f64 {
        f64::NAN
    }

    fn decrease(&mut self, _: f64, _: Congestion) -> f64 {
        f64::INFINITY
    }
}

#[test]
fn invalid_windows_leave_the_window_unchanged() {
    let begin = Instant::now();
    let settings = Settings { initial_window: 10.0, initial_ssthresh: 5.0 };
    let mut window = Window::new(Rule::custom(Invalid), settings, begin, MTU);
    frame(&mut window, &[acked(begin + ms(50), begin)]);
    assert_eq!(window.cwnd(), 10.0);
    assert_eq!(window.fault().unwrap(), "returned an invalid congestion window");
    window.on_congestion(begin + ms(60), begin + ms(10), Cause::Loss, 1);
    assert_eq!(window.cwnd(), MAX_CWND);
}

#[derive(Clone, Debug)]
enum Event {
    Sent(u64),
    Ack { bytes: u64, sent_ago_ms: u64 },
    EndAcks(u64),
    Congestion { sent_ago_ms: u64, cause: u8, bytes: u64 },
    Mtu(u16),
}

fn event() -> impl Strategy<Value = Event> {
    let bytes = prop_oneof![Just(1200u64), 0u64..3000, Just(u64::MAX)];
    let ack = (bytes.clone(), 0u64..400)
        .prop_map(|(bytes, sent_ago_ms)| Event::Ack { bytes, sent_ago_ms });
    let congestion = (0u64..400, 0u8..3, any::<u64>())
        .prop_map(|(sent_ago_ms, cause, bytes)| Event::Congestion { sent_ago_ms, cause, bytes });
    prop_oneof![
        12 => ack,
        12 => bytes.prop_map(Event::Sent),
        6 => any::<u64>().prop_map(Event::EndAcks),
        3 => congestion,
        1 => any::<u16>().prop_map(Event::Mtu),
    ]
}

/// The example rule of every family that QUIC supports.
fn rules() -> Vec<RuleFactory> {
    let written = cwndlab_rules::FAMILIES.iter().map(|family| family.example);
    written.filter_map(|example| example.parse().ok()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn windows_stay_valid(
        events in prop::collection::vec((event(), 0u64..60), 1..120),
        initial in prop_oneof![Just(10.0), any::<f64>()]
    ) {
        let known = rules();
        prop_assert!(known.len() > 20, "{}", known.len());
        for factory in known {
            let begin = Instant::now() + ms(1000);
            let settings =
                Settings { initial_window: initial, initial_ssthresh: f64::INFINITY };
            let rule = factory.rule().build(cwndlab_rules::Arithmetic::Plain);
            let mut window = Window::new(rule, settings, begin, MTU);
            let mut now = begin;
            for (event, later_ms) in &events {
                now += ms(*later_ms);
                match *event {
                    Event::Sent(bytes) => window.on_sent(now, bytes),
                    Event::Ack { bytes, sent_ago_ms } => {
                        let (srtt, min_rtt) = (ms(sent_ago_ms + 1), ms(1));
                        let sent = now - ms(sent_ago_ms);
                        window.on_ack(Sample { now, sent, bytes, srtt, min_rtt });
                    }
                    Event::EndAcks(in_flight) => window.on_end_acks(in_flight),
                    Event::Congestion { sent_ago_ms, cause, bytes } => {
                        let causes = [Cause::Loss, Cause::Mark, Cause::PersistentCongestion];
                        let cause = causes[usize::from(cause)];
                        let (before, sent) = (window.cwnd(), now - ms(sent_ago_ms));
                        if let Some(cut) = window.on_congestion(now, sent, cause, bytes) {
                            prop_assert_eq!(cut.after, window.cwnd(), "{}", factory.rule());
                            let is_known = cut.before == before || cause != Cause::Mark;
                            prop_assert!(is_known, "{}", factory.rule());
                        }
                    }
                    Event::Mtu(mtu) => window.set_mtu(mtu),
                }
                let (rule, cwnd) = (factory.rule(), window.cwnd());
                prop_assert!((MIN_CWND..=MAX_CWND).contains(&cwnd), "{rule}: {cwnd}");
                let is_valid = window.ssthresh().is_none_or(|ssthresh| ssthresh >= MIN_CWND);
                prop_assert!(window.bytes() >= 1 && is_valid);
            }
        }
    }
}
