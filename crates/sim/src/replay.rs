//! A sender alone, driven by recorded ACKs at their times: what it sends tells how far it is from
//! the recorded sender, ACK by ACK, without the network's answer to every difference.

use crate::build::NetworkPlan;
use crate::echoed_times::EchoedTimes;
use cwndlab_rules::Arithmetic;
use cwndlab_scenario::CheckedScenario;
use cwndlab_tcp::{
    AckSegment, DataSegment, EcnEcho, Measured, Recovery, SackBlocks, Sender, TcpConfig,
};

/// An ACK as it was recorded.
#[derive(Clone, Debug)]
pub struct RecordedAck {
    /// When it reached the sender, seconds.
    pub time_s: f64,
    /// Cumulative acknowledgement number, packets.
    pub ack: i64,
    /// SACK blocks: first packet, and the one behind the last.
    pub sack: Vec<(i64, i64)>,
    /// ECE.
    pub ece: bool,
    /// Window that it offers, bytes.
    pub window_bytes: Option<u32>,
    /// What the recorded sender measured with it.
    pub measured: Measured,
}

/// What the sender did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReplayEvent {
    /// It sent a packet, for the first time or again.
    Sent {
        /// Seconds.
        time_s: f64,
        /// Packet number.
        number: i64,
        /// Whether it was sent before.
        retransmission: bool,
    },
    /// An ACK reached it, which found this state.
    Acked {
        /// Seconds.
        time_s: f64,
        /// Congestion window before it, packets.
        cwnd: f64,
        /// Slow-start threshold before it, packets.
        ssthresh: f64,
    },
}

/// What the sender did so far.
#[derive(Debug)]
struct Log {
    events: Vec<ReplayEvent>,
    times: EchoedTimes,
}

impl Log {
    fn sent(&mut self, time_s: f64, segment: DataSegment) {
        let DataSegment { number, retransmission, .. } = segment;
        self.events.push(ReplayEvent::Sent { time_s, number, retransmission });
        self.times.note_sent(number, time_s);
    }

    /// The ACK with what it echoes: timestamps of the first and the last packet that it reports for
    /// the first time.
    fn acked(&mut self, recorded: &RecordedAck, size_bytes: u32) -> AckSegment {
        let &RecordedAck { time_s, ack, ece, .. } = recorded;
        let (first, last) = self.times.of_ack(time_s, ack, &recorded.sack);
        AckSegment { ack, sent_s: last, echo_s: first, size_bytes, echo: EcnEcho::ece(ece) }
    }
}

/// Plays recorded ACKs to the first flow of entry `group` of a scenario. The flow has the rule, the
/// data and the settings of the scenario, and starts at `start_s`; timers expire until `until_s`.
/// Its random numbers are `draws`, as long as there are any. Returns what the sender did; no events
/// where there is no such entry.
pub fn replay(
    scenario: &CheckedScenario,
    group: usize,
    start_s: f64,
    acks: &[RecordedAck],
    until_s: f64,
    draws: &[u32],
) -> Vec<ReplayEvent> {
    let Some(spec) = scenario.flows.get(group) else { return Vec::new() };
    let config = NetworkPlan::new(scenario).tcp_config(spec);
    let arithmetic = if config.quirks.ns2_arithmetic { Arithmetic::Ns2 } else { Arithmetic::Plain };
    let (packets, short) = spec.segments(&config);
    let recovery = Recovery::from(spec.recovery);
    let mut rule = spec.rule.0.build(arithmetic);
    rule.give_draws(draws);
    let mut sender = Sender::new(rule, recovery, packets, 0.0, &config);
    sender.set_short_packet(short);
    let mut log = Log { events: Vec::new(), times: EchoedTimes::new() };
    sender.start(start_s, &config, &mut |segment| log.sent(start_s, segment));
    for ack in acks {
        let time_s = ack.time_s;
        run_timers(&mut sender, time_s, &config, &mut log);
        let (cwnd, ssthresh) = (sender.cwnd(), sender.ssthresh());
        log.events.push(ReplayEvent::Acked { time_s, cwnd, ssthresh });
        sender.note_measured(ack.measured);
        let segment = log.acked(ack, config.ack_wire_size());
        if let Some(bytes) = ack.window_bytes {
            sender.set_receiver_window(time_s, ack.ack, bytes, &config);
        }
        let mut sack = SackBlocks::default();
        ack.sack.iter().for_each(|&block| sack.push(block));
        let sack = (!sack.is_empty()).then_some(&sack);
        sender.on_ack(time_s, segment, sack, &config, &mut |segment| log.sent(time_s, segment));
    }
    run_timers(&mut sender, until_s, &config, &mut log);
    log.events
}

/// Lets timers expire that do so before `until_s`.
fn run_timers(sender: &mut Sender, until_s: f64, config: &TcpConfig, log: &mut Log) {
    loop {
        let timer_s = sender.deadline_s();
        let pacing_s = sender.pacing_deadline_s();
        let now_s = timer_s.min(pacing_s);
        if now_s >= until_s {
            return;
        }
        let mut out = |segment| log.sent(now_s, segment);
        if timer_s <= pacing_s {
            sender.on_retransmission_timer(now_s, config, &mut out);
        } else {
            sender.on_pacing_timer(now_s, config, &mut out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwndlab_scenario::Scenario;

    /// Ten packets leave after the handshake; each of their ACKs in slow start releases two.
    #[test]
    fn an_ack_in_slow_start_releases_two_packets() {
        let text = "duration = \"1s\"\ndumbbell = { rate = \"10Mbit\", delay = \"10ms\" }\n\
                    flows = [{ rule = \"AIMD(1, 0.5)\" }]";
        let scenario = Scenario::from_toml(text).unwrap();
        let ack = |time_s, ack| RecordedAck {
            time_s,
            ack,
            sack: Vec::new(),
            ece: false,
            window_bytes: None,
            measured: Measured::default(),
        };
        let events = replay(&scenario, 0, 0.0, &[ack(0.02, 0), ack(0.05, 1)], 0.05, &[]);
        let sent: Vec<i64> = events
            .iter()
            .filter_map(|event| match event {
                ReplayEvent::Sent { number, .. } => Some(*number),
                ReplayEvent::Acked { .. } => None,
            })
            .collect();
        assert_eq!(sent, (0..=12).collect::<Vec<_>>());
        let window = ReplayEvent::Acked { time_s: 0.05, cwnd: 10.0, ssthresh: 1e9 };
        assert!(events.contains(&window), "{events:?}");
    }
}
