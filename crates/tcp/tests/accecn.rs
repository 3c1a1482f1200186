//! AccECN (RFC 9768), by worked arithmetic: what the receiver counts and reports, and how the
//! sender responds.

mod exchange;

use cwndlab_rules::{Arithmetic, RuleSpec, WindowRule};
use cwndlab_tcp::{
    AckSegment, DataSegment, Ecn, EcnEcho, EcnFeedback, ReceivedData, Receiver, Recovery, Sender,
    TcpConfig, tcp_config,
};
use exchange::{Exchange, rfc};

fn accecn() -> TcpConfig {
    tcp_config!(rfc(), ecn.ecn = true, ecn.ecn_feedback = EcnFeedback::AccEcn)
}

/// ACK of a packet with or without CE: number, ACE field and option; none if it is delayed.
fn answer(
    receiver: &mut Receiver,
    number: i64,
    ce: bool,
    config: &TcpConfig,
) -> Option<(i64, u8, Option<u32>)> {
    let ack =
        receiver.on_data(0.1, ReceivedData { ce, ..ReceivedData::new(number, 0.1) }, config).1?;
    assert!(ack.echo.is_ace());
    Some((ack.ack, ack.echo.bits(), ack.echo.ce_bytes()))
}

#[test]
fn the_receiver_counts_packets_and_bytes_with_ce() {
    let (mut receiver, config) = (Receiver::new(true), accecn());
    // Section 3.1.1, table 2: 0b010 on the SYN/ACK says that the SYN was not ECT. Counters begin at
    // 5 (section 3.2.1).
    assert_eq!(answer(&mut receiver, 0, false, &config), Some((0, 0b010, None)));
    assert_eq!(answer(&mut receiver, 1, false, &config), Some((1, 5, Some(0))));
    assert_eq!(answer(&mut receiver, 2, true, &config), Some((2, 6, Some(1000))));
    // The counter stays: nothing ends a report, as CWR does in RFC 3168.
    assert_eq!(answer(&mut receiver, 3, false, &config), Some((3, 6, Some(1000))));
    assert_eq!(answer(&mut receiver, 4, true, &config), Some((4, 7, Some(2000))));
    // Three bits: 8 is 0. Packets beyond a gap and duplicates count, too.
    assert_eq!(answer(&mut receiver, 6, true, &config), Some((4, 0, Some(3000))));
    assert_eq!(answer(&mut receiver, 6, true, &config), Some((4, 1, Some(4000))));
    let config = tcp_config!(config, ecn.ecn_feedback = EcnFeedback::AccEcnWithoutOption);
    assert_eq!(answer(&mut receiver, 5, true, &config), Some((6, 2, None)));
}

#[test]
fn marks_are_acknowledged_without_delay() {
    // Section 3.2.2.5.1: an ACK at once for the first CE after a packet without, and for every
    // second packet with CE.
    let config = tcp_config!(accecn(), receiver.delayed_ack = true, receiver.quick_acks = 0);
    let mut receiver = Receiver::new(true);
    let marks = [false, false, false, true, true, true, false, true];
    let acks: Vec<bool> = (0..)
        .zip(marks)
        .map(|(number, ce)| answer(&mut receiver, number, ce, &config).is_some())
        .collect();
    // 0 is the SYN. 1 and 2 share an ACK. 3 is the first with CE; 4 waits, 5 is the second since.
    // 6 waits, and 7 is a first one again.
    assert_eq!(acks, [true, false, true, true, false, true, false, true]);
}

/// A sender with cwnd at ssthresh, 8, and an ACK of packets up to `ack` with this ACE field.
struct Marks(Exchange);

impl Marks {
    fn new(config: TcpConfig) -> Self {
        let config = tcp_config!(
            config,
            limits.initial_window = 8.0,
            limits.initial_ssthresh = 8.0,
            limits.window = 100.0
        );
        let mut tcp = Exchange::start(Recovery::Sack, None, config, &[0]);
        tcp.ect(false);
        tcp.at(0.1).feedback(0, 0b010, None, &[1, 2, 3, 4, 5, 6, 7, 8]).ect(true).window(8.0, 8.0);
        Self(tcp)
    }
}

#[test]
fn cwnd_is_reduced_once_per_window_and_grows_on_other_acks() {
    let Marks(mut tcp) = Marks::new(accecn());
    // Two of the first three packets are marked: AIMD(1, 0.5) halves once.
    tcp.at(0.2).feedback(1, 6, Some(1000), &[]).window(4.0, 4.0).cwr(&[]);
    tcp.feedback(2, 6, None, &[]).window(4.25, 4.0);
    // The next mark is of the same window: neither a reduction nor growth.
    tcp.feedback(3, 7, Some(2000), &[]).window(4.25, 4.0);
    assert_eq!(tcp.sender.counters(0.2).ecn_reductions, 1);
    // Beyond packet 8, the last one sent at the reduction, a mark halves again; no packet ever
    // carries CWR, which is part of the ACE field now.
    tcp.feedback(8, 7, None, &[9, 10, 11, 12]).cwr(&[]);
    let cwnd = 4.25 + 1.0 / 4.25;
    tcp.window(cwnd, 4.0).at(0.3).feedback(9, 0, Some(3000), &[]).window(cwnd / 2.0, cwnd / 2.0);
    assert_eq!(tcp.sender.counters(0.3).ecn_reductions, 2);
}

#[test]
fn the_counter_makes_up_for_lost_acks() {
    // The ACKs of 1 to 4 were lost, and with them the reports of marks on 2 and 3.
    let Marks(mut tcp) = Marks::new(accecn());
    tcp.at(0.2).feedback(5, 7, None, &[9]).window(4.0, 4.0);
    assert_eq!(tcp.sender.counters(0.2).ecn_reductions, 1);
}

#[test]
fn an_old_ack_reports_nothing() {
    let Marks(mut tcp) = Marks::new(accecn());
    tcp.at(0.2).feedback(2, 6, Some(1000), &[]).window(4.0, 4.0);
    // The ACK of packet 1 arrives late: its 5 is not an increment of 7.
    tcp.feedback(1, 5, None, &[]).window(4.0, 4.0);
    tcp.feedback(8, 6, None, &[9, 10, 11, 12]).window(4.25, 4.0);
    assert_eq!(tcp.sender.counters(0.2).ecn_reductions, 1);
}

#[test]
fn two_lost_syns_end_ecn() {
    // Section 3.1.4.1: the first retransmission of the SYN still asks for AccECN, the second for no
    // ECN at all.
    for (lost, ect) in [(1, true), (2, false)] {
        let mut tcp = Exchange::start(Recovery::Sack, None, accecn(), &[0]);
        let mut now_s = 0.0;
        for backoff in 0..lost {
            now_s += f64::from(1 << backoff);
            tcp.expires(now_s, &[0]).ect(false);
        }
        tcp.at(now_s + 0.1).feedback(0, 0b010, None, &[1]).ect(ect);
    }
}

#[test]
fn packets_are_ect1_on_request() {
    let config = tcp_config!(accecn(), ecn.ect1 = true);
    let rule: RuleSpec = "AIMD(1, 0.5)".parse().unwrap();
    let mut sender = Sender::new(rule.build(Arithmetic::Plain), Recovery::Sack, None, 0.0, &config);
    let mut sent: Vec<DataSegment> = Vec::new();
    sender.start(0.0, &config, &mut |segment| sent.push(segment));
    let syn_ack =
        AckSegment { ack: 0, sent_s: 0.0, echo_s: 0.0, size_bytes: 40, echo: EcnEcho::ace(0b010) };
    sender.on_ack(0.1, syn_ack, None, &config, &mut |segment| sent.push(segment));
    let fields: Vec<Ecn> = sent.iter().map(|segment| segment.ecn).collect();
    assert_eq!(fields, [Ecn::NotEct, Ecn::Ect1, Ecn::Ect1, Ecn::Ect1, Ecn::Ect1]);
}

/// DCTCP with ACKs of two packets each. Packets 3 and 8 of the window 3 to 10 are marked: by RFC
/// 8257 section 3.3 alpha becomes 15/16 alpha + 1/16 * 2/8. Exact ECE would mark four of the eight.
#[test]
fn dctcp_counts_marked_packets_that_share_an_ack() {
    let config = tcp_config!(
        accecn(),
        limits.initial_window = 8.0,
        limits.initial_ssthresh = 8.0,
        limits.window = 100.0
    );
    let rule: RuleSpec = "DCTCP".parse().unwrap();
    let sender = Sender::new(rule.build(Arithmetic::Plain), Recovery::Sack, None, 0.0, &config);
    let mut tcp = Exchange::of(sender, config);
    tcp.begin(&[0]).at(0.1).feedback(0, 0b010, None, &[1, 2, 3, 4, 5, 6, 7, 8]);
    let alpha = |tcp: &Exchange| {
        let mut alpha = f64::NAN;
        tcp.sender.rule().state(&mut |_, value| alpha = value);
        alpha
    };
    // Windows of packet 0 and of packets 1 and 2 end without a mark.
    tcp.at(0.2).feedback(2, 5, None, &[9, 10]);
    let before = alpha(&tcp);
    assert!((before - 225.0 / 256.0).abs() < 1e-12, "{before}");
    tcp.feedback(4, 6, Some(1000), &[]).feedback(6, 6, None, &[]);
    tcp.feedback(8, 7, Some(2000), &[11, 12]);
    assert_eq!(alpha(&tcp), before);
    tcp.at(0.3).feedback(10, 7, None, &[13, 14]);
    let after = 15.0 / 16.0 * before + 1.0 / 16.0 * 2.0 / 8.0;
    assert!((alpha(&tcp) - after).abs() < 1e-12, "{} {after}", alpha(&tcp));
}
