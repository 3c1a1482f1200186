use super::*;

const MSS: u64 = 1448;

/// A path of one packet per millisecond and 40 ms, whose ACKs are of two packets each.
struct Path {
    rule: KernelBbr,
    cwnd: f64,
    ssthresh: f64,
    sample: RateSample,
}

impl Path {
    fn new() -> Self {
        let mut rule = KernelBbr::default();
        rule.give_draws(&[3]);
        let sample = RateSample {
            delivered: 1,
            srtt_us: 40_000,
            min_rtt_us: Some(40_000),
            packet_bytes: MSS,
            ..RateSample::default()
        };
        rule.on_connected(10.0, &sample);
        Self { rule, cwnd: 10.0, ssthresh: f64::INFINITY, sample }
    }

    /// An ACK of two packets after 2 ms, with `queue` packets more in flight than the path holds.
    fn ack(&mut self, queue: u64) {
        let sample = &mut self.sample;
        sample.now_us += 2000;
        sample.now_ms = sample.now_us / 1000;
        (sample.delivered, sample.newly_delivered) = (sample.delivered + 2, 2);
        sample.delivered_us = sample.now_us;
        (sample.prior_in_flight, sample.in_flight) = (42 + queue, 40 + queue);
        sample.rtt_us = Some(40_000 + 1000 * queue);
        let flight = (40 + queue).min(sample.delivered - 1);
        sample.rate = Some(Rate {
            prior_delivered: sample.delivered - flight,
            delivered: flight,
            interval_us: 1000 * flight,
        });
        sample.is_timed = true;
        let control = self.rule.on_sample(self.cwnd, sample);
        self.cwnd = control.cwnd;
        self.ssthresh = control.ssthresh.unwrap_or(self.ssthresh);
    }
}

/// Ten packets per 40 ms are 10 2^24 / 40,000 = 4194; times 1448 x 739/256 and 0.99 x 10^6 / 2^24
/// that is 1.034 MB/s. A burst of a millisecond is none of two packets.
#[test]
fn pacing_begins_with_the_initial_window() {
    let rule = Path::new().rule;
    assert_eq!(rule.pacing_rate(), Some(PacingRate { bytes_s: 1_034_467, least_burst: 2 }));
    assert_eq!(rule.burst_goal(), 2);
}

/// Three round trips at one bandwidth fill the pipe; Drain ends once 40 packets and three bursts
/// are in flight. The drawn number 3 means phase 5, of gain 1; phase 0 comes three RTTs later.
#[test]
fn startup_drain_and_the_cycle() {
    let mut path = Path::new();
    let mut phases = vec![("Startup", 739, 0)];
    for step in 0..300 {
        path.ack(if step < 150 { 20 } else { 0 });
        let state = (path.rule.phase(), path.rule.pacing_gain, path.rule.phase);
        if phases.last() != Some(&state) {
            phases.push(state);
        }
    }
    let cycle = [("ProbeBW", 256, 5), ("ProbeBW", 256, 6), ("ProbeBW", 256, 7)];
    assert_eq!(phases[..2], [("Startup", 739, 0), ("Drain", 88, 0)]);
    assert_eq!(phases[2..5], cycle);
    assert_eq!(phases[5], ("ProbeBW", 320, 0));
    // 16,777 units, 40,000 us: 39.999 packets, so 40, and 3 x 2 more.
    assert_eq!(path.ssthresh, 46.0);
    // Twice 40, an excess of 3 (two packets in 1.9999 ms, and one that rounding adds), three
    // bursts, an even number, and 2 more in phase 0.
    assert_eq!((path.rule.phase, path.cwnd), (0, 92.0));
}

/// A loss reduces the window to what is in flight and delivered, for a round trip; then it grows by
/// what is delivered. Afterwards it is what it was.
#[test]
fn recovery_conserves_packets_and_restores_the_window() {
    let mut path = Path::new();
    (0..200).for_each(|step| path.ack(if step < 150 { 20 } else { 0 }));
    let before = path.cwnd;
    assert_eq!(path.rule.decrease(before, Congestion::FastRetransmit), before);
    (path.sample.repair, path.sample.lost, path.sample.newly_lost) = (Repair::Recovery, 1, 1);
    path.ack(0);
    assert_eq!(path.cwnd, 42.0);
    path.sample.newly_lost = 0;
    path.ack(0);
    assert_eq!(path.cwnd, 42.0);
    (0..20).for_each(|_| path.ack(0));
    assert_eq!(path.cwnd, 46.0);
    path.sample.repair = Repair::None;
    path.ack(0);
    // Phase 0 has come meanwhile.
    assert_eq!((before, path.cwnd, path.rule.phase), (90.0, 92.0, 0));
}

/// Ten seconds without a lower RTT: four packets, until as few are in flight, and 200 ms and a
/// round trip longer.
#[test]
fn probe_rtt_lasts_200_ms_once_four_packets_are_in_flight() {
    let mut path = Path::new();
    (0..200).for_each(|step| path.ack(if step < 150 { 20 } else { 0 }));
    path.sample.now_us += 10_000_000;
    path.ack(5);
    assert_eq!((path.rule.phase(), path.cwnd), ("ProbeRTT", 4.0));
    let mut few = RateSample { in_flight: 4, newly_delivered: 1, ..path.sample };
    let mut lasted_ms = 0;
    while path.rule.phase() == "ProbeRTT" {
        (few.now_us, few.now_ms) = (few.now_us + 10_000, few.now_ms + 10);
        few.delivered += 1;
        few.rate =
            Some(Rate { prior_delivered: few.delivered - 4, delivered: 4, interval_us: 40_000 });
        path.cwnd = path.rule.on_sample(path.cwnd, &few).cwnd;
        lasted_ms += 10;
    }
    assert_eq!(lasted_ms, 220);
    assert!(path.cwnd > 80.0);
}

/// An endpoint that gives no samples: BBR fills a path of 40 packets per round trip all the same.
#[test]
fn acks_alone_are_enough() {
    let mut rule = KernelBbr::default();
    let mut cwnd = 10.0;
    for ack in 1..600u64 {
        let delivered_packets = ack;
        let seen = Ack {
            now_s: ack as f64 * 0.001,
            delivered_packets,
            acked_packets: 1,
            delivered_since_sent_packets: delivered_packets.min(40),
            delivery_rate_packets_s: 1000.0,
            in_flight_packets: 40,
            rtt_s: 0.04,
            srtt_s: 0.04,
            min_rtt_s: 0.04,
            ..Ack::EMPTY
        };
        cwnd = rule.increase(cwnd, &seen);
    }
    assert_eq!(rule.phase(), "ProbeBW");
    assert!((86.0..=90.0).contains(&cwnd), "{cwnd}");
    let pacing = rule.pacing_rate_packets_s().unwrap();
    assert!((700.0..1300.0).contains(&pacing), "{pacing}");
}
