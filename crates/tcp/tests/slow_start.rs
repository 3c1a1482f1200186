//! Slow-start schemes with any rule, by hand: rounds of packets whose ACKs arrive together.

use cwndlab_rules::{Arithmetic, RuleSpec};
use cwndlab_tcp::{
    AckSegment, EcnEcho, Profile, Recovery, Sender, SlowStartScheme, TcpConfig, tcp_config,
};
use cwndlab_units::Time;

/// An unlimited flow with an initial window of ten packets.
struct Rounds {
    sender: Sender,
    config: TcpConfig,
    now_s: f64,
    next: i64,
}

impl Rounds {
    fn new(rule: &str, slow_start: SlowStartScheme, config: TcpConfig) -> Self {
        let config = tcp_config!(
            config,
            growth.slow_start = slow_start,
            limits.initial_window = 10.0,
            handshake.syn = false,
            handshake.delay_growth = false
        );
        let rule = rule.parse::<RuleSpec>().unwrap().build(Arithmetic::Plain);
        let mut sender = Sender::new(rule, Recovery::Sack, None, 0.0, &config);
        let mut next = 0;
        sender.start(0.0, &config, &mut |_| next += 1);
        Self { sender, config, now_s: 0.0, next }
    }

    /// All packets in flight are acknowledged, each by an ACK of its own; returns cwnd.
    fn round(&mut self, rtt_s: f64) -> f64 {
        let sent_s = self.now_s;
        self.now_s += rtt_s;
        let (first, end) = (self.sender.snd_una(), self.next);
        for ack in first..end {
            let segment =
                AckSegment { ack, sent_s, echo_s: sent_s, size_bytes: 40, echo: EcnEcho::NONE };
            let next = &mut self.next;
            self.sender.on_ack(self.now_s, segment, None, &self.config, &mut |_| *next += 1);
        }
        self.sender.cwnd()
    }
}

fn rfc() -> TcpConfig {
    tcp_config!(TcpConfig::profile(Profile::Rfc), rto.min_rto = Time::ns(200_000_000))
}

/// RFC 3742 section 2. At 80 packets 21 ACKs add a packet each, up to 101; K = int(101/50) = 2, so
/// the other 59 add half a packet.
#[test]
fn limited_slow_start_adds_at_most_fifty_packets_per_round_trip() {
    let mut flow = Rounds::new("AIMD(1, 0.5)", SlowStartScheme::Limited, rfc());
    for cwnd in [20.0, 40.0, 80.0, 130.5] {
        assert_eq!(flow.round(0.1), cwnd);
    }
    for _ in 0..20 {
        let before = flow.sender.cwnd();
        let growth = flow.round(0.1) - before;
        assert!((40.0..=50.5).contains(&growth), "{growth}");
    }
}

/// RFC 9406 section 4.2. The RTT rises from 100 to 120 ms in the second round, whose eighth ACK
/// begins conservative slow start: 20 + 7 + 13/4 = 30.25. Four more rounds grow by a quarter of a
/// packet for each packet; the next ACK ends slow start.
#[test]
fn hystart_plus_plus_grows_by_a_quarter_for_five_rounds() {
    for rule in ["AIMD(1, 0.5)", "HighSpeed", "CUBIC", r#"Rule(inc="rtt", dec="w/2")"#] {
        let mut flow = Rounds::new(rule, SlowStartScheme::HyStartPlusPlus, rfc());
        assert_eq!(flow.round(0.1), 20.0, "{rule}");
        let mut cwnd = 30.25;
        assert_eq!(flow.round(0.12), cwnd, "{rule}");
        for _ in 3..=6 {
            cwnd += cwnd.floor() / 4.0;
            assert_eq!(flow.round(0.12), cwnd, "{rule}");
            assert!(flow.sender.ssthresh() > 1e6, "{rule}");
        }
        flow.round(0.12);
        assert_eq!(flow.sender.ssthresh(), cwnd, "{rule}");
    }
}

/// The growth that the scheme leaves is the rule's: Vegas doubles in every other round.
#[test]
fn the_rule_decides_how_slow_start_grows() {
    let mut flow = Rounds::new("Vegas", SlowStartScheme::HyStartPlusPlus, rfc());
    let mut plain = Rounds::new("Vegas", SlowStartScheme::Standard, rfc());
    let windows: Vec<f64> = (0..4).map(|_| flow.round(0.1)).collect();
    assert_eq!(windows, (0..4).map(|_| plain.round(0.1)).collect::<Vec<_>>());
    assert!(windows.windows(2).any(|pair| pair[0] == pair[1]), "{windows:?}");
}

/// Eight packets at most count for an ACK (L of RFC 9406 section 4.2), where ACKs are counted by
/// packets and none is paced.
#[test]
fn an_ack_of_many_packets_counts_for_eight() {
    for (pacing, cwnd) in [(false, 18.0), (true, 20.0)] {
        let config = tcp_config!(rfc(), growth.grow_by_packets = true, growth.pacing = pacing);
        let mut flow = Rounds::new("AIMD(1, 0.5)", SlowStartScheme::HyStartPlusPlus, config);
        let ack =
            AckSegment { ack: 9, sent_s: 0.0, echo_s: 0.0, size_bytes: 40, echo: EcnEcho::NONE };
        flow.sender.on_ack(0.1, ack, None, &flow.config, &mut |_| {});
        assert_eq!(flow.sender.cwnd(), cwnd, "pacing {pacing}");
    }
}

/// Linux: the ninth RTT of a round whose minimum exceeds the least by more than an eighth ends slow
/// start at once. CUBIC has it there, Reno does not.
#[test]
fn linux_has_hystart_in_cubic() {
    let linux = tcp_config!(
        linux(),
        recovery.rack = false,
        recovery.prr = false,
        growth.grow_by_packets = false
    );
    for (rule, threshold) in [("CUBIC", Some(28.0)), ("AIMD(1, 0.5)", None)] {
        let mut flow = Rounds::new(rule, SlowStartScheme::Linux, linux.clone());
        assert_eq!(flow.round(0.1), 20.0, "{rule}");
        flow.round(0.12);
        let ssthresh = Some(flow.sender.ssthresh()).filter(|packets| *packets < 1e6);
        assert_eq!(ssthresh, threshold, "{rule}");
    }
}

fn linux() -> TcpConfig {
    tcp_config!(TcpConfig::profile(Profile::Linux), receiver.delayed_ack = false)
}
