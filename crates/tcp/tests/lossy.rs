//! Transfers over a path that loses, delays and reorders packets complete, and every packet is
//! delivered once.

use cwndlab_rules::{Arithmetic, RuleSpec};
use cwndlab_tcp::{
    AckSegment, DataSegment, NEVER, Profile, ReceivedData, Receiver, Recovery, SackBlocks, Sender,
    TcpConfig, tcp_config,
};
use std::collections::BTreeMap;

/// A small deterministic generator.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

/// Next arrival: data at the receiver, or an ACK at the sender.
enum Arrival {
    Data(DataSegment, f64),
    Ack(AckSegment, Option<SackBlocks>),
}

/// A path of 50 ms each way that loses one packet in `loss` and delays one in `late` by up to 40
/// ms.
struct Path {
    draw: Draw,
    loss: u64,
    late: u64,
    /// By (time in ns, serial number).
    arrivals: BTreeMap<(u64, u64), Arrival>,
    serial: u64,
}

impl Path {
    fn send(&mut self, now_s: f64, arrival: Arrival) {
        if self.draw.below(self.loss) == 0 {
            return;
        }
        let late_ms = if self.draw.below(self.late) == 0 { self.draw.below(40) } else { 0 };
        self.serial += 1;
        self.arrivals
            .insert((((now_s + 0.05) * 1e9) as u64 + late_ms * 1_000_000, self.serial), arrival);
    }
}

/// Runs a transfer of `packets`; returns its sender, its end, and how many new packets the receiver
/// got.
fn transfer(
    config: &TcpConfig,
    packets: u64,
    seed: u64,
    loss: u64,
    late: u64,
) -> (Sender, f64, u64) {
    let rule: RuleSpec = "AIMD(1, 0.5)".parse().unwrap();
    let mut sender =
        Sender::new(rule.build(Arithmetic::Plain), Recovery::Sack, Some(packets), 0.0, config);
    let mut receiver = Receiver::new(true);
    let mut path = Path { draw: Draw(seed), loss, late, arrivals: BTreeMap::new(), serial: 0 };
    let (mut now_s, mut new) = (0.0, 0);
    sender.start(0.0, config, &mut |segment| path.send(0.0, Arrival::Data(segment, 0.0)));
    for _ in 0..100_000 {
        if sender.is_finished() {
            return (sender, now_s, new);
        }
        let arrival_s = path.arrivals.keys().next().map_or(NEVER, |(ns, _)| *ns as f64 * 1e-9);
        let next_s = arrival_s.min(sender.deadline_s()).min(receiver.deadline_s());
        assert!(next_s < NEVER, "nothing moves any more: {sender:?}");
        now_s = next_s.max(now_s);
        if arrival_s <= now_s {
            match path.arrivals.pop_first().unwrap().1 {
                Arrival::Data(segment, sent_s) => {
                    let (is_new, ack) = receiver.on_data(
                        now_s,
                        ReceivedData {
                            cwr: segment.cwr,
                            ..ReceivedData::new(segment.number, sent_s)
                        },
                        config,
                    );
                    new += u64::from(is_new);
                    let blocks = receiver.sack_blocks().copied();
                    ack.into_iter().for_each(|ack| path.send(now_s, Arrival::Ack(ack, blocks)));
                }
                Arrival::Ack(ack, blocks) => {
                    sender.on_ack(now_s, ack, blocks.as_ref(), config, &mut |segment| {
                        path.send(now_s, Arrival::Data(segment, now_s))
                    });
                }
            }
        } else if receiver.deadline_s() <= now_s {
            let ack = receiver.on_timer(config);
            let blocks = receiver.sack_blocks().copied();
            ack.into_iter().for_each(|ack| path.send(now_s, Arrival::Ack(ack, blocks)));
        } else {
            sender.on_retransmission_timer(now_s, config, &mut |segment| {
                path.send(now_s, Arrival::Data(segment, now_s))
            });
        }
        assert!(sender.cwnd() >= 1.0 && sender.cwnd().is_finite(), "{sender:?}");
    }
    panic!("the transfer does not end: {sender:?}");
}

#[test]
fn transfers_end_and_deliver_each_packet_once() {
    let mut draw = Draw(3);
    for seed in 0..400 {
        let flip = |draw: &mut Draw| draw.below(4) != 0;
        let config = tcp_config!(
            TcpConfig::profile(Profile::Linux),
            recovery.rack = flip(&mut draw),
            recovery.prr = flip(&mut draw),
            recovery.tlp = flip(&mut draw),
            growth.grow_by_packets = flip(&mut draw),
            receiver.delayed_ack = flip(&mut draw),
            rto.timestamps = flip(&mut draw),
            limits.window = 2.0 + draw.below(60) as f64
        );
        let packets = 1 + draw.below(400);
        let (loss, late) = (3 + draw.below(30), 2 + draw.below(30));
        let (sender, _, new) = transfer(&config, packets, seed, loss, late);
        // The SYN is a packet.
        assert_eq!(new, packets + 1, "seed {seed}");
        assert!(sender.counters(0.0).sent > packets);
    }
}

#[test]
fn what_linux_does_spares_timeouts() {
    // A path that loses one packet in twelve, data and ACKs, and reorders nothing. RFC 6675 leaves
    // lost retransmissions and lost tails to the RTO, RACK-TLP repairs most of them. Both runs draw
    // the same losses.
    let linux = tcp_config!(TcpConfig::profile(Profile::Linux), limits.window = 40.0);
    let plain = tcp_config!(
        linux.clone(),
        recovery.rack = false,
        recovery.tlp = false,
        recovery.prr = false
    );
    let run = |config: &TcpConfig| {
        (0..100u64)
            .map(|seed| transfer(config, 200, seed, 12, u64::MAX))
            .fold((0, 0.0), |sum, (sender, end_s, _)| {
                (sum.0 + sender.counters(0.0).timeouts, sum.1 + end_s)
            })
    };
    let ((with, with_s), (without, without_s)) = (run(&linux), run(&plain));
    println!(
        "{with} timeouts, {with_s:.0} s with RACK-TLP and PRR; {without}, {without_s:.0} s without"
    );
    assert!(
        2 * with < without && with_s < without_s,
        "{with} timeouts, {with_s} s; {without}, {without_s} s without"
    );
}
