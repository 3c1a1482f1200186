use super::*;

/// A path of 1000 packets/s and 100 ms, filled by 100 packets. One ACK per round trip acknowledges
/// a window.
struct Path {
    rule: Bbr1,
    cwnd: f64,
    now_s: f64,
    delivered: u64,
}

impl Path {
    fn round(&mut self, in_flight_packets: u64) {
        self.now_s += 0.1;
        let acked_packets = (self.cwnd as u64).min(100);
        self.delivered += acked_packets;
        let ack = Ack {
            now_s: self.now_s,
            acked_packets,
            delivered_packets: self.delivered,
            in_flight_packets,
            rtt_s: 0.1,
            srtt_s: 0.1,
            delivery_rate_packets_s: 10.0 * acked_packets as f64,
            round_start: true,
            ..Ack::default()
        };
        self.cwnd = self.rule.increase(self.cwnd, &ack);
    }
}

#[test]
fn startup_drain_and_probing_by_hand() {
    let mut path = Path { rule: Bbr1::default(), cwnd: 10.0, now_s: 0.0, delivered: 0 };
    path.round(20);
    // 10 packets in 100 ms: 100/s, paced at 2.885 times that; the window doubles.
    assert!((path.rule.pacing_rate_packets_s().unwrap() - 288.539).abs() < 1e-3);
    assert_eq!(path.cwnd, 20.0);
    (0..4).for_each(|_| path.round(100));
    assert_eq!(path.rule.mode, Mode::Startup);
    // 1000/s is the most there is: three round trips without a quarter more.
    (0..3).for_each(|_| path.round(280));
    assert_eq!(path.rule.mode, Mode::Drain);
    assert!((path.rule.pacing_rate_packets_s().unwrap() - 346.574).abs() < 1e-3);
    path.round(90);
    assert!(matches!(path.rule.mode, Mode::ProbeBandwidth { .. }));
    // Two bandwidth-delay products and three packets.
    path.round(100);
    assert_eq!(path.cwnd, 203.0);
    let mut repaired = path.rule.clone();
    // Recovery begins with the 100 in flight and one; two losses later what is in flight and
    // delivered leaves; then the window is back.
    assert_eq!(repaired.decrease(203.0, Congestion::FastRetransmit), 101.0);
    let ack = Ack {
        now_s: path.now_s + 0.01,
        rtt_s: 0.1,
        lost_packets: 2,
        acked_packets: 1,
        in_flight_packets: 97,
        in_recovery: true,
        ..Ack::default()
    };
    assert_eq!(repaired.increase(101.0, &ack), 99.0);
    assert_eq!(repaired.increase(99.0, &Ack { in_flight_packets: 99, ..ack }), 100.0);
    // A round trip later it grows by what is delivered.
    assert_eq!(repaired.increase(100.0, &Ack { round_start: true, ..ack }), 101.0);
    assert_eq!(repaired.increase(101.0, &Ack { in_recovery: false, ..ack }), 203.0);
    // Eight phases, in which the pacing gain is 5/4 once and 3/4 once.
    let mut gains: Vec<f64> = Vec::new();
    for _ in 0..16 {
        path.round(200);
        path.now_s += 0.01;
        gains.push(path.rule.pacing_rate_packets_s().unwrap() / 1000.0);
    }
    assert_eq!(gains.iter().filter(|&&gain| gain == 1.25).count(), 2);
    assert_eq!(gains.iter().filter(|&&gain| gain == 0.75).count(), 2);
}

#[test]
fn the_round_trip_is_probed_every_ten_seconds() {
    let mut path = Path { rule: Bbr1::default(), cwnd: 10.0, now_s: 0.0, delivered: 0 };
    (0..20).for_each(|_| path.round(100));
    path.rule.min_rtt.value_s = 0.09;
    path.rule.min_rtt.since_s = path.now_s;
    (0..105).for_each(|_| path.round(100));
    assert_eq!(path.cwnd, 4.0);
    // Drained; 200 ms and a round trip later the window is back.
    path.round(4);
    assert_eq!(path.cwnd, 4.0);
    (0..4).for_each(|_| path.round(4));
    assert!(path.cwnd >= 200.0, "{}", path.cwnd);
}

/// Twelve seconds without data: the minimum has expired, and the queue is empty. ProbeBW goes on at
/// the bandwidth of 1000/s, and no ProbeRTT follows; without the idle period one does.
#[test]
fn a_restart_from_idle_probes_no_round_trip() {
    let mut path = Path { rule: Bbr1::default(), cwnd: 10.0, now_s: 0.0, delivered: 0 };
    (0..20).for_each(|_| path.round(100));
    assert!(matches!(path.rule.mode, Mode::ProbeBandwidth { .. }));
    let (window, mut busy) = (path.cwnd, path.rule.clone());
    path.now_s += 12.0;
    assert_eq!(path.rule.restart_from_idle(window, path.now_s), window);
    assert_eq!(path.rule.pacing_rate_packets_s(), Some(1000.0));
    path.round(100);
    assert!(matches!(path.rule.mode, Mode::ProbeBandwidth { .. }));
    assert_eq!(path.cwnd, window);
    let late = Ack { now_s: path.now_s, rtt_s: 0.11, ..Ack::default() };
    busy.increase(window, &late);
    assert!(matches!(busy.mode, Mode::ProbeRtt { .. }));
    // ProbeRTT is over when its time has passed while nothing was sent.
    busy.increase(4.0, &Ack { now_s: path.now_s + 0.1, ..late });
    assert_eq!(busy.restart_from_idle(4.0, path.now_s + 0.2), 4.0);
    assert_eq!(busy.restart_from_idle(4.0, path.now_s + 5.0), window);
    assert!(matches!(busy.mode, Mode::ProbeBandwidth { .. }));
}
