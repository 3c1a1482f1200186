use super::*;

/// A path of 1000 packets/s and 100 ms that holds at most `limit` packets. One ACK a
/// round trip.
struct Path {
    rule: Bbr3,
    cwnd: f64,
    in_flight: f64,
    now_s: f64,
    delivered: u64,
    lost: u64,
    limit: f64,
}

impl Path {
    fn new(limit: f64) -> Self {
        Self {
            rule: Bbr3::default(),
            cwnd: 10.0,
            in_flight: 0.0,
            now_s: 0.0,
            delivered: 0,
            lost: 0,
            limit,
        }
    }

    fn round(&mut self) {
        self.now_s += 0.1;
        let paced = self.rule.pacing_rate_packets_s().unwrap_or(100.0) * 0.1;
        self.in_flight = self.cwnd.min(self.in_flight + paced).floor().max(self.in_flight);
        let lost = (self.in_flight - self.limit).max(0.0).floor();
        self.lost += lost as u64;
        self.in_flight -= lost;
        let (sent_in_flight, rtt_s) = (self.in_flight as u64, 0.001 * self.in_flight.max(100.0));
        let acked = self.in_flight.min(100.0);
        self.in_flight -= acked;
        self.delivered += acked as u64;
        let ack = Ack {
            now_s: self.now_s,
            acked_packets: acked as u64,
            delivered_packets: self.delivered,
            lost_packets: self.lost,
            in_flight_packets: self.in_flight as u64,
            sent_in_flight_packets: sent_in_flight,
            delivered_since_sent_packets: acked as u64,
            lost_since_sent_packets: lost as u64,
            in_recovery: lost > 0.0,
            rtt_s,
            srtt_s: rtt_s,
            delivery_rate_packets_s: 10.0 * acked,
            round_start: true,
            ..Ack::default()
        };
        self.cwnd = self.rule.increase(self.cwnd, &ack);
    }

    /// The modes of the next `rounds` round trips, without repetition.
    fn modes(&mut self, rounds: usize) -> Vec<Mode> {
        let mut modes = Vec::new();
        for _ in 0..rounds {
            self.round();
            modes.push(self.rule.mode);
        }
        modes.dedup_by_key(|mode| std::mem::discriminant(mode));
        modes
    }
}

#[test]
fn the_cycle_runs_down_cruise_refill_up() {
    let mut path = Path::new(f64::INFINITY);
    let modes = path.modes(60);
    // Where the pipe is drained on leaving Drain, Down is over at once.
    assert_eq!(
        modes[..6],
        [Mode::Startup, Mode::Drain, Mode::Cruise, Mode::Refill, Mode::Up, Mode::Down],
        "{modes:?}"
    );
    assert!((path.rule.bandwidth() - 1000.0).abs() < 1e-9);
    // An ACK acknowledges 100 packets at once, which cwnd allows on top.
    assert!(path.cwnd >= 100.0 && path.cwnd <= 2.25 * 130.0 + 100.0, "{}", path.cwnd);
}

#[test]
fn losses_above_two_percent_bound_what_is_in_flight() {
    let mut path = Path::new(130.0);
    path.modes(200);
    assert!(path.rule.bounds.inflight_long.is_finite());
    // Never far above what the path takes, and the bandwidth is used.
    let (mut largest, before): (f64, _) = (0.0, (path.lost, path.delivered));
    for _ in 0..400 {
        path.round();
        largest = largest.max(path.cwnd);
    }
    assert!(largest < 1.3 * 130.0, "{largest}");
    assert!((path.rule.max_bandwidth.value() - 1000.0).abs() < 1e-9);
    let (lost, delivered) = (path.lost - before.0, path.delivered - before.1);
    assert!(lost as f64 <= 0.02 * delivered as f64, "{lost} of {delivered}");
    assert!(delivered > 400 * 90, "{delivered}");
}

/// At 1000/s and 100 ms, 100 packets fill the path.
fn probing_up() -> Bbr3 {
    let mut path = Path::new(f64::INFINITY);
    while path.rule.mode != Mode::Up {
        path.round();
    }
    path.rule
}

fn found_lost(rule: &Bbr3, lost: u64, in_flight: u64) -> Ack {
    Ack {
        now_s: 100.0,
        acked_packets: 1,
        delivered_packets: rule.round_ends + 50,
        delivered_since_sent_packets: 100,
        in_flight_packets: in_flight,
        sent_in_flight_packets: in_flight,
        lost_packets: lost,
        lost_since_sent_packets: lost,
        ..Ack::default()
    }
}

#[test]
fn a_probe_goes_too_high_when_two_percent_are_lost() {
    let mut rule = probing_up();
    // 3 of 150 are 2 %, not more; 4 are. 149 and 3 came before the last of them: 149 + (0.02 x 149
    // - 3)/0.98 = 148.98.
    rule.learn_from_losses(250.0, &found_lost(&rule, 3, 150));
    assert_eq!((rule.mode, rule.bounds.inflight_long), (Mode::Up, f64::INFINITY));
    rule.learn_from_losses(250.0, &found_lost(&rule, 4, 150));
    assert_eq!(rule.mode, Mode::Down);
    assert!(
        (rule.bounds.inflight_long - 148.979_591_836_7).abs() < 1e-9,
        "{}",
        rule.bounds.inflight_long
    );
    // 15 % of it stay free: 148.98 - 22.35.
    assert!((rule.bounds.with_headroom() - 126.632_653_061_2).abs() < 1e-9);
    // Once in each probe.
    rule.learn_from_losses(250.0, &found_lost(&rule, 20, 50));
    assert!(rule.bounds.inflight_long > 148.0);
}

#[test]
fn never_below_seven_tenths_of_the_target() {
    let mut rule = probing_up();
    // Fifty in flight when ten were lost: 49 + (0.98 - 9)/0.98 = 40.8 is below 0.7 x 100.
    rule.learn_from_losses(250.0, &found_lost(&rule, 10, 50));
    assert!((rule.bounds.inflight_long - 70.0).abs() < 1e-9, "{}", rule.bounds.inflight_long);
}

#[test]
fn losses_elsewhere_slow_down_toward_what_is_delivered() {
    let mut bounds = Bounds::default();
    let round = |bounds: &mut Bounds, delivered_packets, rate, lost_packets| {
        let ack = Ack {
            delivered_packets,
            delivered_since_sent_packets: 80,
            delivery_rate_packets_s: rate,
            lost_packets,
            ..Ack::default()
        };
        bounds.lose_in_round();
        bounds.end_round(&ack, false, false, 1000.0, 200.0, None);
        bounds.advance(&ack);
    };
    // The latest round trip had 900/s and 80 packets: max(900, 0.7 x 1000), max(80, 0.7 x 200).
    round(&mut bounds, 1000, 900.0, 1);
    assert_eq!((bounds.bandwidth_short, bounds.inflight_short.round()), (900.0, 140.0));
    // 500/s after it: the largest of the round trip before counts too, so max(900, 0.7 x 900) and
    // max(80, 0.7 x 140 = 98); then 630 and 80.
    round(&mut bounds, 2000, 500.0, 2);
    assert_eq!((bounds.bandwidth_short, bounds.inflight_short.round()), (900.0, 98.0));
    round(&mut bounds, 3000, 500.0, 3);
    assert_eq!((bounds.bandwidth_short.round(), bounds.inflight_short), (630.0, 80.0));
}

#[test]
fn the_round_trip_is_probed_with_half_the_product() {
    let mut path = Path::new(f64::INFINITY);
    path.modes(40);
    (path.rule.min_rtt.0, path.rule.probed_rtt.0) = (0.09, 0.09);
    let least = (0..80)
        .map(|_| {
            path.round();
            path.cwnd
        })
        .fold(f64::INFINITY, f64::min);
    // 0.5 x 1000/s x 90 ms.
    assert_eq!(least, 45.0);
}

#[test]
fn a_loss_leaves_the_window_to_the_model() {
    assert_eq!(Bbr3::default().decrease(50.0, Congestion::FastRetransmit), 50.0);
    assert_eq!(Bbr3::default().on_mark(50.0, &Ack::default()), MarkResponse::Consumed);
}

#[test]
fn an_undo_restarts_the_probe_that_losses_ended() {
    let mut rule = probing_up();
    rule.bounds.inflight_long = 200.0;
    rule.decrease(250.0, Congestion::FastRetransmit);
    rule.learn_from_losses(250.0, &found_lost(&rule, 20, 150));
    assert_eq!((rule.mode, rule.bounds.inflight_long < 150.0), (Mode::Down, true));
    // Later losses of the same recovery leave alone what was saved.
    rule.learn_from_losses(250.0, &found_lost(&rule, 30, 150));
    rule.undo();
    assert_eq!((rule.mode, rule.bounds.inflight_long), (Mode::Refill, 200.0));
    // Only once.
    rule.mode = Mode::Cruise;
    rule.undo();
    assert_eq!(rule.mode, Mode::Cruise);
}

#[test]
fn an_undo_leaves_a_startup_that_ended_on_a_plateau() {
    let mut path = Path::new(f64::INFINITY);
    path.rule.decrease(10.0, Congestion::FastRetransmit);
    while path.rule.mode == Mode::Startup {
        path.round();
    }
    path.rule.undo();
    assert_eq!((path.rule.mode, path.rule.filled), (Mode::Drain, true));
}

#[test]
fn a_restart_from_idle_paces_at_the_bandwidth_and_needs_no_probe_rtt() {
    let mut path = Path::new(f64::INFINITY);
    while path.rule.mode != Mode::Up {
        path.round();
    }
    path.rule.restart_from_idle(path.cwnd, path.now_s + 6.0);
    assert!((path.rule.pacing_packets_s - 0.99 * 1000.0).abs() < 1e-9);
    path.now_s += 6.0;
    path.round();
    assert!(!matches!(path.rule.mode, Mode::ProbeRtt { .. }), "{:?}", path.rule.mode);
    // Without the restart the same pause ends in ProbeRTT.
    path.now_s += 6.0;
    path.round();
    assert!(matches!(path.rule.mode, Mode::ProbeRtt { .. }), "{:?}", path.rule.mode);
}
