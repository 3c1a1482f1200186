//! A sender alone, driven by recorded ACKs at their times: what it sends tells how far it is from
//! the recorded sender, ACK by ACK, without the network's answer to every difference.

use crate::driven_sender::{DrivenSender, SentPacket};
use cwndlab_scenario::CheckedScenario;
use cwndlab_tcp::DataSegment;

/// An ACK as it was recorded.
#[derive(Clone, Debug, Default)]
pub struct RecordedAck {
    /// When it reached the sender, seconds.
    pub time_s: f64,
    /// Cumulative acknowledgement number, packets.
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

/// Plays recorded ACKs to the first flow of entry `group` of a scenario. The flow has the rule, the
/// data and the settings of the scenario, and starts at `start_s`. Returns what the sender did; no
/// events where there is no such entry.
pub fn replay(
    scenario: &CheckedScenario,
    group: usize,
    start_s: f64,
    acks: &[RecordedAck],
) -> Vec<ReplayEvent> {
    let Some(mut driven) = DrivenSender::new(scenario, group) else { return Vec::new() };
    let mut events = Vec::new();
    driven.start(start_s);
    for recorded in acks {
        let time_s = recorded.time_s;
        driven.advance(time_s);
        events.extend(driven.take_sent().into_iter().map(ReplayEvent::from));
        let (cwnd, ssthresh) = (driven.sender().cwnd(), driven.sender().ssthresh());
        events.push(ReplayEvent::Acked { time_s, cwnd, ssthresh });
        driven.ack(recorded);
        events.extend(driven.take_sent().into_iter().map(ReplayEvent::from));
    }
    events
}

impl From<SentPacket> for ReplayEvent {
    fn from(SentPacket { time_s, segment }: SentPacket) -> Self {
        let DataSegment { number, retransmission, .. } = segment;
        Self::Sent { time_s, number, retransmission }
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
        let ack = |time_s, ack| RecordedAck { time_s, ack, ..RecordedAck::default() };
        let events = replay(&scenario, 0, 0.0, &[ack(0.02, 0), ack(0.05, 1)]);
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
