//! Two senders, with and without header prediction, stay equal in every field: through losses,
//! marks, reordering, lost and duplicated ACKs, timeouts, idle periods and a stop.

use super::*;
use crate::tcp_config;
use crate::{DataSegment, NEVER, Profile, ReceivedData, Receiver, Recovery, SackBlocks};
use cwndlab_rules::{Arithmetic, RuleSpec};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::VecDeque;

/// A step of an exchange.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// The next packet reaches the receiver; its ACK may be lost.
    Arrives {
        marked: bool,
        ack_lost: bool,
    },
    /// The next packet is lost, or overtaken by the one behind it.
    Lost,
    Late,
    /// The retransmission timer expires; the delayed-ACK timer expires.
    Expires,
    Delayed,
    /// The last ACK is duplicated.
    Again,
    /// The application supplies more data; it stops.
    Supplied(u64),
    Stops,
}

/// `marks`: weight of marked packets among about two hundred.
fn step(marks: u32) -> impl Strategy<Value = Step> {
    prop_oneof![
        200 => Just(Step::Arrives { marked: false, ack_lost: false }),
        marks => Just(Step::Arrives { marked: true, ack_lost: false }),
        3 => Just(Step::Arrives { marked: false, ack_lost: true }),
        3 => Just(Step::Lost),
        2 => Just(Step::Late),
        1 => Just(Step::Expires),
        2 => Just(Step::Delayed),
        2 => Just(Step::Again),
        4 => (0u64..20).prop_map(Step::Supplied),
        1 => Just(Step::Stops),
    ]
}

fn config() -> impl Strategy<Value = TcpConfig> {
    let flips = prop::array::uniform14(prop::bool::weighted(0.2));
    (prop::sample::select(&Profile::ALL[..]), flips, 0u32..8, 3u32..60).prop_map(
        |(profile, flips, burst, window)| {
            let mut config = TcpConfig::profile(profile);
            config.rto.timestamps ^= flips[0];
            config.rto.timestamps_reset_backoff ^= flips[1];
            config.growth.grow_when_limited ^= flips[2];
            config.limits.cap_window ^= flips[3];
            config.recovery.sack_rfc6675 ^= flips[4];
            config.receiver.delayed_ack ^= flips[5];
            config.handshake.delay_growth ^= flips[6];
            config.handshake.syn ^= flips[7];
            config.ecn.ecn ^= flips[8] ^ (window % 2 == 0);
            config.rto.timer_after_sample |= !flips[9];
            config.recovery.rack &= flips[10];
            config.growth.grow_by_packets &= flips[11];
            config.recovery.undo = flips[12];
            config.recovery.dsack = flips[13];
            config.limits.max_burst = if burst == 0 { 4 } else { 0 };
            config.limits.window = f64::from(window);
            config
        },
    )
}

/// Two senders, the packets in flight and the receiver.
struct Pair {
    fast: Sender,
    slow: Sender,
    config: TcpConfig,
    now_s: f64,
    way: VecDeque<(f64, i64, bool)>,
    receiver: Receiver,
    last: Option<(AckSegment, Option<SackBlocks>)>,
    predicted_acks: u32,
}

impl Pair {
    /// Applies an event to both senders and asserts that they send the same packets and stay equal.
    fn both(&mut self, event: impl Fn(&mut Sender, f64, &TcpConfig, &mut dyn FnMut(DataSegment))) {
        let (mut sent, mut sent_too) = (Vec::new(), Vec::new());
        event(&mut self.fast, self.now_s, &self.config, &mut |segment| sent.push(segment));
        event(&mut self.slow, self.now_s, &self.config, &mut |segment| sent_too.push(segment));
        assert_eq!(sent, sent_too);
        assert_eq!(format!("{:?}", self.fast.tcb), format!("{:?}", self.slow.tcb));
        assert_eq!(format!("{:?}", self.fast.recovery), format!("{:?}", self.slow.recovery));
        self.way.extend(sent.iter().map(|segment| (self.now_s, segment.number, segment.cwr)));
    }

    fn acknowledge(&mut self, ack: Option<AckSegment>, blocks: Option<SackBlocks>) {
        let Some(ack) = ack else { return };
        self.last = Some((ack, blocks));
        self.predicted_acks += u32::from(self.fast.is_predicted(ack));
        self.both(|sender, now_s, config, mut out| {
            sender.on_ack(now_s, ack, blocks.as_ref(), config, &mut out)
        });
    }

    fn take(&mut self, step: Step) {
        self.now_s += 0.004;
        match step {
            Step::Arrives { marked, ack_lost } => {
                let Some((sent_s, number, cwr)) = self.way.pop_front() else { return };
                self.now_s = self.now_s.max(sent_s + 0.05);
                let ce = marked && self.config.ecn.ecn;
                let data = ReceivedData { ce, cwr, ..ReceivedData::new(number, sent_s) };
                let (_, ack) = self.receiver.on_data(self.now_s, data, &self.config);
                let blocks = self.receiver.sack_blocks().copied();
                self.acknowledge(ack.filter(|_| !ack_lost), blocks);
            }
            Step::Lost => drop(self.way.pop_front()),
            Step::Late if self.way.len() > 1 => self.way.swap(0, 1),
            Step::Expires if self.fast.deadline_s() < NEVER => {
                self.now_s = self.now_s.max(self.fast.deadline_s());
                self.both(|sender, now_s, config, mut out| {
                    sender.on_retransmission_timer(now_s, config, &mut out)
                });
            }
            Step::Delayed if self.receiver.deadline_s() < NEVER => {
                self.now_s = self.now_s.max(self.receiver.deadline_s());
                let ack = self.receiver.on_timer(&self.config);
                let blocks = self.receiver.sack_blocks().copied();
                self.acknowledge(ack, blocks);
            }
            Step::Again => {
                if let Some((ack, blocks)) = self.last {
                    self.acknowledge(Some(ack), blocks);
                }
            }
            Step::Stops => self.both(|sender, now_s, config, _| sender.stop(now_s, config)),
            Step::Supplied(packets) => self.both(|sender, now_s, config, mut out| {
                sender.supply(now_s, packets, config, &mut out)
            }),
            Step::Late | Step::Expires | Step::Delayed => {}
        }
    }
}

/// The last two formulas read times; the last one has no valid value above a window of 12.
const RULES: [&str; 12] = [
    "AIMD(1, 0.5)",
    "AIMD(1, 0.5)",
    "GAIMD(0.31, 0.875)",
    "SQRT",
    "MIMD(1.125, 0.8)",
    "HighSpeed",
    "Scalable",
    "Hybla",
    "CUBIC",
    "Rule(inc=\"1 / w^0.5\", dec=\"w - 0.5 * w^0.5\")",
    "Rule(inc=\"2 - 10 * w * qdelay\", dec=\"w / 2\")",
    "Rule(inc=\"10 * rtt + log(12 - w)\", dec=\"w / 2\")",
];

fn pair(rule: &str, config: TcpConfig, packets: Option<u64>) -> Pair {
    let arithmetic = if config.quirks.ns2_arithmetic { Arithmetic::Ns2 } else { Arithmetic::Plain };
    let rule: RuleSpec = rule.parse().unwrap();
    let mut fast = Sender::new(rule.build(arithmetic), Recovery::Sack, packets, 0.0, &config);
    fast.count_limits();
    let mut slow = fast.clone();
    (slow.permits_prediction, slow.predicts) = (false, false);
    let mut pair = Pair {
        fast,
        slow,
        config,
        now_s: 0.0,
        way: VecDeque::new(),
        receiver: Receiver::new(true),
        last: None,
        predicted_acks: 0,
    };
    pair.both(|sender, now_s, config, mut out| sender.start(now_s, config, &mut out));
    pair
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1500,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]
    #[test]
    fn both_paths_reach_the_same_state(
        rule in prop::sample::select(&RULES[..]),
        config in config(),
        packets in prop::option::of(1u64..300),
        steps in prop::sample::select(&[3, 300][..])
            .prop_flat_map(|marks| prop::collection::vec(step(marks), 1..500)),
    ) {
        let mut pair = pair(rule, config, packets);
        for step in steps {
            pair.take(step);
        }
    }
}

#[test]
fn acks_of_a_long_flow_are_predicted() {
    for (profile, delayed_ack) in
        [(Profile::Ns2_235, false), (Profile::Rfc, false), (Profile::Rfc, true)]
    {
        let config = tcp_config!(
            TcpConfig::profile(profile),
            limits.window = 40.0,
            receiver.delayed_ack = delayed_ack
        );
        let mut pair = pair("AIMD(1, 0.5)", config, None);
        for count in 0..5000 {
            pair.take(if count % 500 == 499 {
                Step::Lost
            } else {
                Step::Arrives { marked: false, ack_lost: false }
            });
        }
        let acks = pair.fast.counters(pair.now_s).rtt_count;
        assert!(
            f64::from(pair.predicted_acks) > 0.85 * acks as f64,
            "{profile:?}: {} of {acks}",
            pair.predicted_acks
        );
    }
}
