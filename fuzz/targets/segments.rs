//! Fuzz target of TCP endpoints. In half of the runs the input drops, duplicates, reorders and
//! marks packets between a sender and a receiver, which must complete their transfer once the drops
//! end. In the other half the sender receives acknowledgements that no receiver would send.

#![no_main]

use cwndlab_rules::{Arithmetic, RuleSpec};
use cwndlab_tcp::{
    AckSegment, DataSegment, Ecn, EcnEcho, NEVER, Profile, Receiver, Recovery, SackBlocks, Sender,
    TcpConfig,
};
use libfuzzer_sys::fuzz_target;
use std::collections::VecDeque;

const RULES: [&str; 8] = [
    "AIMD(1, 0.5)",
    "AIMD(0.31, 0.875)",
    "AIAD(1, 3)",
    "MIMD(1.125, 0.8)",
    "MIAD(1.125, 3)",
    "Linear(1000000, 1000000, -1000000, 1)",
    "AIMD(0.000001, 0.000001)",
    "Linear(0, 1000000, 0, 0.999999)",
];

/// Reads numbers from the input; zeros after its end.
struct Input<'a>(std::slice::Iter<'a, u8>);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        self.0.next().copied().unwrap_or(0)
    }

    fn below(&mut self, n: i64) -> i64 {
        i64::from(u16::from_be_bytes([self.byte(), self.byte()])) % n.max(1)
    }

    fn any(&mut self) -> i64 {
        match self.byte() {
            0 => i64::MIN,
            1 => i64::MAX,
            2 => -1,
            n => i64::from(n) << (n % 48),
        }
    }

    fn seconds(&mut self) -> f64 {
        [0.0, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 3e-9][usize::from(self.byte() % 8)]
            * f64::from(self.byte() % 8)
    }

    fn is_empty(&self) -> bool {
        self.0.len() == 0
    }
}

fn config(input: &mut Input<'_>) -> TcpConfig {
    let profile = Profile::ALL[usize::from(input.byte() % 4)];
    let mut config = TcpConfig::profile(profile);
    let flags = u32::from_be_bytes([input.byte(), input.byte(), input.byte(), input.byte()]);
    let all = [
        &mut config.handshake.syn,
        &mut config.recovery.limited_transmit,
        &mut config.newreno.bug_fix,
        &mut config.newreno.less_careful,
        &mut config.newreno.exit_fast_retransmit,
        &mut config.newreno.impatient,
        &mut config.newreno.partial_window_deflation,
        &mut config.newreno.exit_recovery_fix,
        &mut config.recovery.sack_rfc6675,
        &mut config.rto.timestamps,
        &mut config.receiver.delayed_ack,
        &mut config.growth.grow_when_limited,
        &mut config.quirks.forget_srtt,
        &mut config.rto.timer_after_sample,
        &mut config.growth.precise_reduction,
        &mut config.quirks.slow_start_restart,
        &mut config.growth.idle_restart,
        &mut config.ecn.ecn,
        &mut config.quirks.ns2_ecn,
        &mut config.quirks.cwr_on_retransmission,
        &mut config.recovery.prr,
        &mut config.recovery.rack,
        &mut config.recovery.tlp,
        &mut config.growth.grow_by_packets,
        &mut config.rto.min_rto_on_variation,
    ];
    for (bit, flag) in all.into_iter().enumerate() {
        *flag ^= flags >> bit & 1 == 1;
    }
    config.limits.window = 1.0 + input.below(64) as f64;
    config.limits.initial_window = 1.0 + input.below(20) as f64;
    config.limits.initial_ssthresh = 1.0 + input.below(64) as f64;
    config.recovery.dupack_threshold = 1 + input.below(5) as u32;
    config.newreno.recovery_burst = input.below(4) as u32;
    config.limits.max_burst = input.below(4) as u32;
    config.segment.max_sack_blocks = input.below(4) as u32;
    config
}

/// A sender and what it has sent.
struct Host {
    sender: Sender,
    config: TcpConfig,
    now_s: f64,
    highest_sent: i64,
    sent: Vec<DataSegment>,
}

impl Host {
    fn take(&mut self, event: impl FnOnce(&mut Sender, f64, &TcpConfig, &mut Vec<DataSegment>)) {
        let before = self.sent.len();
        event(&mut self.sender, self.now_s, &self.config, &mut self.sent);
        self.check(before);
    }

    fn check(&mut self, before: usize) {
        let (sender, window) = (&self.sender, self.config.limits.window as i64);
        assert!(sender.cwnd().is_finite() && sender.ssthresh().is_finite(), "{sender:?}");
        // ECE at a window of one packet stops the sender until its timer expires.
        let floor = if self.config.ecn.ecn { 0.0 } else { 1.0 };
        assert!(sender.cwnd() >= self.config.limits.cwnd_floor.min(floor), "{sender:?}");
        let highest_ack = sender.snd_una() - 1;
        let sent = &self.sent[before..];
        assert!(sent.len() as i64 <= 2 * window + 2, "{} packets at once: {sender:?}", sent.len());
        for segment in sent {
            assert!(
                self.config.ecn.ecn || !(segment.ecn != Ecn::NotEct || segment.cwr),
                "{segment:?} without ECN: {sender:?}"
            );
            assert!(
                segment.number >= 0 && segment.number <= highest_ack + window,
                "{segment:?} is beyond the window: {sender:?}"
            );
            assert_eq!(
                segment.retransmission,
                segment.number <= self.highest_sent,
                "{segment:?}: {sender:?}"
            );
            self.highest_sent = self.highest_sent.max(segment.number);
        }
        assert!(
            highest_ack <= self.highest_sent,
            "data that was not sent is acknowledged: {sender:?}"
        );
        let waits = highest_ack < self.highest_sent && !sender.is_finished();
        assert!(
            !waits || sender.deadline_s() < NEVER,
            "no timer would retransmit lost data: {sender:?}"
        );
        assert!(!(sender.deadline_s() < self.now_s), "the timer is in the past: {sender:?}");
    }

    fn expire(&mut self) {
        self.now_s = self.sender.deadline_s();
        self.take(|sender, now_s, config, out| {
            sender.on_timeout(now_s, config, &mut |segment| out.push(segment))
        });
    }

    /// Advances the time; the timer expires if it is due.
    fn wait(&mut self, seconds: f64) {
        let until_s = self.now_s + seconds;
        for _ in 0..3 {
            if self.sender.deadline_s() <= until_s {
                self.expire();
            }
        }
        self.now_s = self.now_s.max(until_s.min(self.sender.deadline_s()));
    }
}

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data.iter());
    let config = config(&mut input);
    let recovery = Recovery::ALL[usize::from(input.byte() % 4)].0;
    let rule: RuleSpec = RULES[usize::from(input.byte()) % RULES.len()].parse().expect("a rule");
    let packets = 1 + input.below(300) as u64;
    let arithmetic = if config.quirks.ns2_arithmetic { Arithmetic::Ns2 } else { Arithmetic::Plain };
    let sender = Sender::new(rule.build(arithmetic), recovery, Some(packets), 0.0, &config);
    let mut host = Host { sender, config, now_s: 0.0, highest_sent: -1, sent: Vec::new() };
    host.take(|sender, now_s, config, out| {
        sender.start(now_s, config, &mut |segment| out.push(segment))
    });
    if input.byte() % 2 == 0 { network(host, input, recovery) } else { arbitrary_acks(host, input) }
});

/// Sends arbitrary acknowledgements with arbitrary SACK blocks.
fn arbitrary_acks(mut host: Host, mut input: Input<'_>) {
    let mut receiver = Receiver::new(true);
    while !input.is_empty() {
        let what = input.byte();
        let (low, high) = (host.sender.snd_una() - 1, host.highest_sent);
        let number = |input: &mut Input<'_>| {
            if what & 1 == 0 { low + input.below(high - low + 3) - 1 } else { input.any() }
        };
        match what >> 1 & 7 {
            0 => host.wait(input.seconds()),
            1 if host.sender.deadline_s() < NEVER => host.expire(),
            2 => {
                // The receiver's memory grows with the distance from a gap; windows bound it.
                let data = number(&mut input).clamp(0, 1 << 20);
                receiver.on_data(
                    host.now_s,
                    data,
                    host.now_s,
                    what & 16 != 0,
                    what & 32 != 0,
                    &host.config,
                );
                receiver.on_timer(&host.config);
            }
            _ => {
                let mut blocks = SackBlocks::default();
                for _ in 0..what >> 4 & 3 {
                    blocks.push((number(&mut input), number(&mut input)));
                }
                let ece = host.config.ecn.ecn && what & 64 != 0;
                let ack = AckSegment {
                    ack: number(&mut input),
                    sent_s: 0.0,
                    echo_s: host.now_s,
                    size_bytes: 40,
                    echo: EcnEcho::ece(ece),
                };
                let blocks = Some(&blocks).filter(|blocks| !blocks.is_empty());
                host.take(|sender, now_s, config, out| {
                    let out = &mut |segment| out.push(segment);
                    if what & 128 == 0 {
                        sender.on_ack(now_s, ack, blocks, config, out);
                    } else {
                        sender.on_ack_of_part(now_s, ack, blocks, config, out);
                    }
                });
            }
        }
        host.sent.clear();
    }
}

/// An acknowledgement with its SACK blocks.
type Answer = (AckSegment, Option<SackBlocks>);

/// A network in which the input delivers, drops, duplicates, reorders and marks packets; sometimes
/// the application supplies more.
fn network(mut host: Host, mut input: Input<'_>, recovery: Recovery) {
    let mut receiver = Receiver::new(recovery.uses_sack());
    let (mut data, mut answers) =
        (VecDeque::<(DataSegment, f64)>::new(), VecDeque::<Answer>::new());
    let (mut losing, mut more) = (true, 40);
    // Every step after the drops delivers a packet or expires a timer; 600 packets need far fewer
    // steps.
    for step in 0.. {
        assert!(step < 40_000, "the transfer does not end: {:?}", host.sender);
        data.extend(host.sent.drain(..).map(|segment| (segment, host.now_s)));
        losing &= !input.is_empty();
        let what = if losing { input.byte() } else { 0 };
        if losing && what & 8 != 0 {
            host.wait(input.seconds());
        }
        match what & 7 {
            1 => drop(data.pop_front()),
            2 => drop(answers.pop_front()),
            3 => data.extend(data.front().copied()),
            4 if data.len() > 1 => data.rotate_left(1),
            5 if answers.len() > 1 => answers.rotate_left(1),
            6 if losing && more > 0 => {
                more -= 1;
                let packets = u64::from(what >> 5);
                host.take(|sender, now_s, config, out| {
                    sender.supply(now_s, packets, config, &mut |segment| out.push(segment))
                });
            }
            _ => {}
        }
        let answer = if what & 16 == 0 { answers.pop_front() } else { None };
        if let Some((ack, blocks)) = answer {
            host.take(|sender, now_s, config, out| {
                sender.on_ack(now_s, ack, blocks.as_ref(), config, &mut |segment| out.push(segment))
            });
        } else if let Some((segment, sent_s)) = data.pop_front() {
            let ce = segment.ecn != Ecn::NotEct && what & 32 != 0;
            if let Some(ack) = receiver
                .on_data(host.now_s, segment.number, sent_s, ce, segment.cwr, &host.config)
                .1
            {
                answers.push_back((ack, receiver.sack_blocks().copied()));
            }
        } else if receiver.deadline_s() < NEVER {
            host.wait(receiver.deadline_s() - host.now_s);
            if let Some(ack) = receiver.on_timer(&host.config) {
                answers.push_back((ack, receiver.sack_blocks().copied()));
            }
        } else if host.sent.is_empty() && host.sender.deadline_s() < NEVER {
            host.expire();
        } else if !losing && host.sent.is_empty() {
            return assert!(
                host.sender.is_finished(),
                "no packet and no timer is pending: {:?}",
                host.sender
            );
        }
    }
}
