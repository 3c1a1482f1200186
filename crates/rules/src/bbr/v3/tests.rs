use super::*;

/// A path of 1000 packets/s and 100 ms that holds at most `limit` packets. One acknowledgement a round trip.
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
        Self { rule: Bbr3::default(), cwnd: 10.0, in_flight: 0.0, now_s: 0.0, delivered: 0, lost: 0, limit }
    }

    fn round(&mut self) {
        self.now_s += 0.1;
        let paced = self.rule.pacing_rate_packets_s().unwrap_or(100.0) * 0.1;
        self.in_flight = self.cwnd.min(self.in_flight + paced).floor().max(self.in_flight);
        let lost = (self.in_flight - self.limit).max(0.0).floor();
        self.lost += lost as u64;
        self.in_flight -= lost;
        let rtt_s = 0.001 * self.in_flight.max(100.0);
        let acked = self.in_flight.min(100.0);
        self.in_flight -= acked;
        self.delivered += acked as u64;
        let ack = Ack {
            now_s: self.now_s,
            acked_packets: acked as u64,
            delivered_packets: self.delivered,
            lost_packets: self.lost,
            in_flight_packets: self.in_flight as u64,
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
    assert_eq!(modes[..6], [Mode::Startup, Mode::Drain, Mode::Down, Mode::Cruise, Mode::Refill, Mode::Up], "{modes:?}");
    assert!((path.rule.bandwidth() - 1000.0).abs() < 1e-9);
    assert!(path.cwnd >= 100.0 && path.cwnd <= 2.25 * 130.0, "{}", path.cwnd);
}

#[test]
fn losses_above_two_percent_bound_what_is_in_flight() {
    let mut path = Path::new(130.0);
    path.modes(200);
    assert!(path.rule.inflight_long.is_finite());
    // Never far above what the path takes, and the bandwidth is used.
    let mut largest: f64 = 0.0;
    for _ in 0..200 {
        path.round();
        largest = largest.max(path.cwnd);
    }
    assert!(largest < 1.6 * 130.0, "{largest}");
    assert!((path.rule.max_bandwidth.value() - 1000.0).abs() < 1e-9);
}

#[test]
fn the_round_trip_is_probed_with_half_the_product() {
    let mut path = Path::new(f64::INFINITY);
    path.modes(40);
    path.rule.min_rtt.value_s = 0.09;
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
    assert_eq!(Bbr3::default().on_mark(50.0, &Ack::default()), Mark::Noted);
}
