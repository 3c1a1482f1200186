//! A sender without a network: the caller gives it an application's writes and ACKs at their times,
//! and is told what it sends.

use crate::echoed_times::EchoedTimes;
use cwndlab_rules::Arithmetic;
use cwndlab_scenario::CheckedScenario;
use cwndlab_tcp::{
    AckSegment, DataSegment, EcnEcho, Recovery, SackBlocks, Sender, TcpConfig, TcpInfo,
};

/// A sender and what it has sent.
///
/// ```
/// use cwndlab_scenario::Scenario;
/// use cwndlab_sim::{DrivenSender, DrivenAck};
/// let scenario = Scenario::from_toml(r#"
///     duration = "1s"
///     dumbbell = { rate = "10Mbit", delay = "10ms" }
///     flows = [{ rule = "kernel:cubic" }]
/// "#).unwrap();
/// let mut sender = DrivenSender::new(&scenario, 0).unwrap();
/// sender.start(0.0);
/// sender.ack(&DrivenAck { time_s: 0.1, ack: 0, ..DrivenAck::default() });
/// sender.write(0.1, 3);
/// let numbers: Vec<i64> = sender.take_sent().iter().map(|sent| sent.segment.number).collect();
/// assert_eq!(numbers, [0, 1, 2, 3]); // packet 0 is the SYN
/// assert_eq!(sender.tcp_info().unacked, 3);
/// ```
pub struct DrivenSender {
    sender: Sender,
    config: TcpConfig,
    sent: Vec<SentPacket>,
    times: EchoedTimes,
}

/// An ACK that reaches a driven sender.
#[derive(Clone, Debug, Default)]
pub struct DrivenAck {
    /// When, seconds.
    pub time_s: f64,
    /// The last packet that it acknowledges.
    pub ack: i64,
    /// SACK blocks: first packet, and the one behind the last.
    pub sack: Vec<(i64, i64)>,
    /// ECE.
    pub ece: bool,
    /// The receiver's window, whole packets, where it is known.
    pub window_packets: Option<u32>,
    /// When the packet was sent whose timestamp it echoes, seconds, where that is known.
    pub echo_s: Option<f64>,
}

/// A packet that a sender sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SentPacket {
    /// Seconds.
    pub time_s: f64,
    /// The packet. A probe of a window of zero has the number of the last packet acknowledged.
    pub segment: DataSegment,
}

impl DrivenSender {
    /// The sender of the first flow of entry `group` of a scenario, without the flow's data:
    /// [`DrivenSender::write`] gives them. None where there is no such entry.
    pub fn new(scenario: &CheckedScenario, group: usize) -> Option<Self> {
        let spec = scenario.flows.get(group)?;
        let config = scenario.tcp_config(&spec.tcp);
        let arithmetic =
            if config.quirks.ns2_arithmetic { Arithmetic::Ns2 } else { Arithmetic::Plain };
        let rule = spec.rule.0.build(arithmetic);
        let recovery = Recovery::from(spec.recovery);
        let mut sender = Sender::new(rule, recovery, Some(0), 0.0, &config);
        sender.take_given_writes();
        Some(Self { sender, config, sent: Vec::new(), times: EchoedTimes::new() })
    }

    /// Calls a handler of the sender, and keeps what it sends.
    fn run(
        &mut self,
        time_s: f64,
        handle: impl FnOnce(&mut Sender, &TcpConfig, &mut dyn FnMut(DataSegment)),
    ) {
        let Self { sender, config, sent, times } = self;
        handle(sender, config, &mut |segment: DataSegment| {
            sent.push(SentPacket { time_s, segment });
            times.note_sent(segment.number, time_s);
        });
    }

    /// Starts sending, with the SYN where there is one.
    pub fn start(&mut self, time_s: f64) {
        self.run(time_s, |sender, config, mut out| sender.start(time_s, config, &mut out));
    }

    /// When a timer expires next, seconds; infinite if none runs.
    pub fn deadline_s(&self) -> f64 {
        self.sender.deadline_s().min(self.sender.pacing_deadline_s())
    }

    /// Lets the timers expire that are due before `time_s`.
    pub fn advance(&mut self, time_s: f64) {
        loop {
            let now_s = self.deadline_s();
            if now_s >= time_s {
                break;
            }
            let is_pacing = self.sender.pacing_deadline_s() < self.sender.deadline_s();
            self.run(now_s, |sender, config, mut out| {
                if is_pacing {
                    sender.on_pacing_timer(now_s, config, &mut out);
                } else {
                    sender.on_retransmission_timer(now_s, config, &mut out);
                }
            });
        }
    }

    /// The device below paces bursts.
    pub fn pace_bursts(&mut self) {
        self.sender.pace_bursts();
    }

    /// Whether the device below refuses packets, so that retransmissions fail.
    pub fn refuse_packets(&mut self, refuses: bool) {
        self.sender.refuse_packets(refuses);
    }

    /// The application writes so many packets.
    pub fn write(&mut self, time_s: f64, packets: u64) {
        self.advance(time_s);
        self.run(time_s, |sender, config, mut out| {
            sender.supply(time_s, packets, config, &mut out)
        });
    }

    /// An ACK arrives.
    pub fn ack(&mut self, arrived: &DrivenAck) {
        let time_s = arrived.time_s;
        self.advance(time_s);
        if let Some(packets) = arrived.window_packets {
            let bytes = packets.saturating_mul(self.config.segment.packet_size);
            self.sender.set_receiver_window(time_s, arrived.ack, bytes, &self.config);
        }
        let ack = self.with_echo(arrived);
        let mut sack = SackBlocks::default();
        arrived.sack.iter().for_each(|&block| sack.push(block));
        let sack = (!sack.is_empty()).then_some(sack);
        self.run(time_s, |sender, config, mut out| {
            sender.on_ack(time_s, ack, sack.as_ref(), config, &mut out);
        });
    }

    /// The ACK with what it echoes: the timestamps of the first and the last packet that it reports
    /// for the first time, where they are not known.
    fn with_echo(&mut self, arrived: &DrivenAck) -> AckSegment {
        let &DrivenAck { time_s, ack, ece, .. } = arrived;
        let (first, last) = self.times.of_ack(time_s, ack, &arrived.sack);
        let (echo_s, size_bytes) = (arrived.echo_s.unwrap_or(first), self.config.ack_wire_size());
        AckSegment { ack, sent_s: last, echo_s, size_bytes, echo: EcnEcho::ece(ece) }
    }

    /// The sender.
    pub fn sender(&self) -> &Sender {
        &self.sender
    }

    /// State under the names of Linux's `struct tcp_info`.
    pub fn tcp_info(&self) -> TcpInfo {
        self.sender.tcp_info(&self.config)
    }

    /// What was sent since the last call.
    pub fn take_sent(&mut self) -> Vec<SentPacket> {
        std::mem::take(&mut self.sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwndlab_scenario::Scenario;
    use cwndlab_tcp::CaState;

    fn connected() -> DrivenSender {
        let text = "duration = \"1s\"\ndumbbell = { rate = \"10Mbit\", delay = \"10ms\" }\n\
                    flows = [{ rule = \"kernel:reno\" }]";
        let scenario = Scenario::from_toml(text).unwrap();
        let mut sender = DrivenSender::new(&scenario, 0).unwrap();
        sender.start(0.0);
        sender.ack(&DrivenAck { time_s: 0.1, ack: 0, ..DrivenAck::default() });
        sender
    }

    fn numbers(sender: &mut DrivenSender) -> Vec<i64> {
        sender.take_sent().iter().map(|sent| sent.segment.number).collect()
    }

    /// Nothing is sent without a write; two writes in a row leave as they are written.
    #[test]
    fn writes_are_sent_as_they_come() {
        let mut sender = connected();
        assert_eq!(numbers(&mut sender), [0]);
        sender.write(0.2, 2);
        sender.write(0.2, 1);
        assert_eq!(numbers(&mut sender), [1, 2, 3]);
    }

    /// A window of zero is probed after an RTO of 0.1 + 0.2 s, then after twice that; the probe has
    /// the number of the last packet acknowledged. An open window ends this.
    #[test]
    fn a_window_of_zero_is_probed() {
        let mut sender = connected();
        sender.write(0.1, 2);
        let shut =
            DrivenAck { time_s: 0.2, ack: 2, window_packets: Some(0), ..DrivenAck::default() };
        sender.ack(&shut);
        sender.take_sent();
        sender.write(0.2, 5);
        sender.advance(1.2);
        let probes = sender.take_sent();
        assert!(probes.iter().all(|probe| probe.segment.number == 2), "{probes:?}");
        let times_s: Vec<f64> = probes.iter().map(|probe| probe.time_s).collect();
        assert_eq!(times_s.len(), 2, "{times_s:?}");
        // Timers of so many ticks expire with the next multiple of 8, of 64 from 504 on.
        assert!((times_s[0] - 0.5).abs() < 0.01 && (times_s[1] - 1.1).abs() < 0.07);
        sender.ack(&DrivenAck { time_s: 1.2, window_packets: Some(50), ..shut });
        assert_eq!(numbers(&mut sender), [3, 4, 5, 6, 7]);
    }

    /// Packet 3 comes after packet 9: reordering by seven, so that the SACK of packet 3 counts as
    /// progress, and the ACK of all ten for the other eight (Linux `tcp_may_raise_cwnd`).
    #[test]
    fn sacks_grow_the_window_after_reordering() {
        let mut sender = connected();
        sender.write(0.1, 10);
        let sack = |sack: &[(i64, i64)]| DrivenAck {
            time_s: 0.2,
            ack: 0,
            sack: sack.to_vec(),
            ..DrivenAck::default()
        };
        sender.ack(&sack(&[(9, 10)]));
        assert_eq!(
            (sender.tcp_info().snd_cwnd, sender.tcp_info().ca_state),
            (10, CaState::Disorder)
        );
        sender.ack(&sack(&[(3, 4), (9, 10)]));
        assert_eq!((sender.tcp_info().snd_cwnd, sender.tcp_info().reordering), (11, 7));
        sender.ack(&DrivenAck { time_s: 0.2, ack: 10, ..DrivenAck::default() });
        assert_eq!(sender.tcp_info().snd_cwnd, 19);
    }

    /// RTO 0.3 s. After 0.7 s without data a window of 40 was halved twice, after 0.4 s once (Linux
    /// `tcp_cwnd_restart`).
    #[test]
    fn an_idle_window_is_halved_for_each_timeout() {
        for (idle_s, cwnd) in [(0.7, 10), (0.4, 20)] {
            let mut sender = connected();
            sender.write(0.1, 10);
            sender.ack(&DrivenAck { time_s: 0.2, ack: 10, ..DrivenAck::default() });
            sender.write(0.2, 20);
            sender.ack(&DrivenAck { time_s: 0.3, ack: 20, ..DrivenAck::default() });
            sender.ack(&DrivenAck { time_s: 0.3, ack: 30, ..DrivenAck::default() });
            let before = sender.tcp_info();
            assert_eq!((before.snd_cwnd, before.rto), (40, 300_000));
            sender.write(0.2 + idle_s, 1);
            let after = sender.tcp_info();
            assert_eq!((after.snd_cwnd, after.snd_ssthresh), (cwnd, 0x7fff_ffff));
        }
    }

    /// The device takes nothing: the packet that is lost waits, and is sent once it takes packets.
    #[test]
    fn a_refused_retransmission_is_made_later() {
        let mut sender = connected();
        sender.write(0.1, 5);
        sender.refuse_packets(true);
        let sack = vec![(2, 6)];
        sender.ack(&DrivenAck { time_s: 0.2, ack: 0, sack: sack.clone(), ..DrivenAck::default() });
        let info = sender.tcp_info();
        assert_eq!((info.ca_state, info.lost, info.retrans), (CaState::Recovery, 1, 0));
        assert_eq!(numbers(&mut sender), [0, 1, 2, 3, 4, 5]);
        sender.refuse_packets(false);
        sender.ack(&DrivenAck { time_s: 0.3, ack: 0, sack, ..DrivenAck::default() });
        assert_eq!((numbers(&mut sender), sender.tcp_info().retrans), (vec![1], 1));
    }

    /// Ten packets leave at once; then bursts of two at the pacing rate: 12 packets of 1448 bytes
    /// in half of 0.1 s are 347,520 bytes/s, at which two packets take 8.3 ms.
    #[test]
    fn a_device_paces_bursts() {
        let mut sender = connected();
        sender.pace_bursts();
        sender.write(0.1, 30);
        sender.ack(&DrivenAck { time_s: 0.2, ack: 2, ..DrivenAck::default() });
        sender.advance(0.25);
        let sent = sender.take_sent();
        let times_s: Vec<f64> = sent[11..].iter().map(|sent| sent.time_s).collect();
        assert_eq!(times_s[..2], [0.2, 0.2]);
        assert!((times_s[2] - 0.2042).abs() < 1e-4 && times_s[2] == times_s[3], "{times_s:?}");
    }
}
