//! The counts that are kept agree with a count of all packets, whatever the network does.

use super::*;

/// Small deterministic generator.
fn random(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*state >> 33) % below
}

impl Rack {
    /// Packets reported, lost, sent again and under way, and due, counted one by one.
    fn recount(&self) -> [i64; 4] {
        let count = |is: &dyn Fn(i64, u8) -> bool| {
            (self.first..).zip(&self.flights).filter(|(number, flight)| is(*number, flight.marks)).count() as i64
        };
        [
            count(&|number, _| self.reported.contains(number)),
            count(&|_, marks| marks & LOST != 0),
            count(&|_, marks| marks & RESENT != 0),
            count(&|_, marks| marks & (LOST | RESENT) == LOST),
        ]
    }
}

#[test]
fn counts_agree_with_the_packets() {
    let mut state = 11;
    for round in 0..300 {
        let (mut rack, mut highest_sent, mut now_s) = (Rack::new(), -1, 0.0);
        let mut delivered = 0;
        for step in 0..200 {
            now_s += random(&mut state, 10) as f64 * 1e-3;
            match random(&mut state, 8) {
                0..=2 => {
                    highest_sent += 1;
                    rack.on_sent(now_s, highest_sent);
                }
                3 => {
                    if let Some(number) = rack.next_due() {
                        assert!(!rack.is_reported(number), "round {round}, step {step}");
                        rack.on_sent(now_s, number);
                    }
                }
                4 if highest_sent >= rack.first && !rack.is_reported(highest_sent) => rack.on_sent(now_s, highest_sent),
                5 => rack.on_timeout(now_s),
                _ => {
                    let ack = rack.first - 1 + random(&mut state, 3) as i64;
                    let left = rack.first + random(&mut state, 30) as i64;
                    let block = (left, left + random(&mut state, 4) as i64);
                    delivered += rack.on_ack(now_s, ack.min(highest_sent), highest_sent, &[block]);
                    rack.inspect(now_s, 3, 0.05);
                }
            }
            let [sacked, lost, resent, due] = rack.recount();
            assert_eq!([rack.sacked, rack.lost, rack.resent, rack.due], [sacked, lost, resent, due], "round {round}, step {step}");
            // Each packet is delivered once: those acknowledged cumulatively, and those reported beyond.
            assert_eq!(delivered, rack.first + sacked, "round {round}, step {step}");
            assert_eq!(rack.first + rack.flights.len() as i64, highest_sent + 1);
        }
    }
}

#[test]
fn another_flow_finds_nothing_of_the_last() {
    let mut rack = Box::new(Rack::new());
    (0..100).for_each(|number| rack.on_sent(0.1, number));
    rack.on_ack(0.2, 3, 99, &[(50, 90)]);
    rack.inspect(0.2, 3, 0.1);
    rack.next_due().into_iter().for_each(|number| rack.on_sent(0.2, number));
    let (renewed, new) = (rack.renew(), Rack::new());
    assert_eq!(format!("{:?}", renewed.recount()), format!("{:?}", new.recount()));
    assert_eq!((renewed.in_flight(), renewed.found, renewed.first, renewed.sent), (0, 0, 0, 0));
    assert!(!renewed.is_reported(60) && renewed.copies.is_empty());
}
