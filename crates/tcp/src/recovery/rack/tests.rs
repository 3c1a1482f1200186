//! The counters of [`Rack`] equal a count over all packets, whatever the network does.

use super::*;

/// A small deterministic generator.
fn random(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*state >> 33) % below
}

impl Rack {
    /// Counts packets that are SACKed, lost, retransmitted and in flight, and waiting for
    /// retransmission, one by one.
    fn recount(&self) -> [i64; 4] {
        let count = |is: &dyn Fn(i64, u8) -> bool| {
            (self.snd_una..)
                .zip(&self.segments)
                .filter(|(number, segment)| is(*number, segment.flags))
                .count() as i64
        };
        [
            count(&|number, _| self.sacked.contains(number)),
            count(&|_, flags| flags & LOST != 0),
            count(&|_, flags| flags & RETRANS != 0),
            count(&|_, flags| flags & (LOST | RETRANS) == LOST),
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
                    if let Some(number) = rack.next_to_retransmit() {
                        assert!(!rack.is_sacked(number), "round {round}, step {step}");
                        rack.on_sent(now_s, number);
                    }
                }
                4 if highest_sent >= rack.snd_una && !rack.is_sacked(highest_sent) => {
                    rack.on_sent(now_s, highest_sent)
                }
                5 => rack.on_timeout(now_s, true),
                _ => {
                    let ack = rack.snd_una - 1 + random(&mut state, 3) as i64;
                    let left = rack.snd_una + random(&mut state, 30) as i64;
                    let block = (left, left + random(&mut state, 4) as i64);
                    delivered += rack
                        .on_ack(now_s, None, ack.min(highest_sent), highest_sent, &[block], |_| ())
                        .packets;
                    rack.detect_losses(now_s, false, 3, 0.05);
                }
            }
            let [sacked, lost, retransmitted, due] = rack.recount();
            assert_eq!(
                [rack.sacked_out, rack.lost_out, rack.retrans_out, rack.to_retransmit],
                [sacked, lost, retransmitted, due],
                "round {round}, step {step}"
            );
            // Each packet is delivered once: cumulatively acknowledged or SACKed.
            assert_eq!(delivered, rack.snd_una + sacked, "round {round}, step {step}");
            assert_eq!(rack.snd_una + rack.segments.len() as i64, highest_sent + 1);
        }
    }
}

#[test]
fn another_flow_finds_nothing_of_the_last() {
    let mut rack = Rack::new();
    (0..100).for_each(|number| rack.on_sent(0.1, number));
    rack.on_ack(0.2, None, 3, 99, &[(50, 90)], |_| ());
    rack.detect_losses(0.2, false, 3, 0.1);
    rack.next_to_retransmit().into_iter().for_each(|number| rack.on_sent(0.2, number));
    rack.reset();
    assert_eq!(format!("{:?}", rack.recount()), format!("{:?}", Rack::new().recount()));
    assert_eq!((rack.in_flight(), rack.lost_total, rack.snd_una, rack.sent_total), (0, 0, 0, 0));
    assert!(!rack.is_sacked(60) && rack.retransmissions.is_empty());
}

/// Ten packets with a round trip of 40 ms; 0 is missing, and 1 to 3 are SACKed.
fn with_a_hole() -> Rack {
    let mut rack = Rack::new();
    (0..10).for_each(|number| rack.on_sent(0.0, number));
    rack.on_ack(0.04, None, -1, 9, &[(1, 4)], |_| ());
    rack.note_rtt(0.04);
    rack
}

/// RFC 8985 section 6.2 step 4, with Linux's conditions (`tcp_dsack_seen`): the window of min_rtt/4
/// = 10 ms becomes 20 ms, once a round trip, but for no DSACK of a probe.
#[test]
fn a_dsack_widens_the_reordering_window_once_reordering_was_seen() {
    let mut rack = with_a_hole();
    rack.on_dsack(0, false, -1, 9);
    assert_eq!(rack.reo_wnd_us(true, 3, 1.0), 0);
    // The hole is filled by the original: reordering.
    rack.on_ack(0.04, None, 3, 9, &[], |_| ());
    assert_eq!(rack.reo_wnd_us(true, 3, 1.0), 10_000);
    rack.on_dsack(9, true, 3, 9);
    assert_eq!(rack.reo_wnd_us(true, 3, 1.0), 10_000);
    rack.on_dsack(2, false, 3, 9);
    rack.on_dsack(3, false, 3, 9);
    assert_eq!(rack.reo_wnd_us(true, 3, 1.0), 20_000);
}

/// Linux `tcp_sacktag_one`: a retransmitted packet that is SACKed and then reported twice, below
/// another SACKed one, came late.
#[test]
fn a_dsack_above_the_cumulative_acknowledgement_shows_reordering() {
    for (duplicate, is_late) in [(1, true), (2, false)] {
        let mut rack = Rack::new();
        (0..10).for_each(|number| rack.on_sent(0.0, number));
        rack.on_sent(0.02, 1);
        rack.on_ack(0.06, None, -1, 9, &[(1, 4)], |_| ());
        rack.on_dsack(duplicate, false, -1, 9);
        assert_eq!(rack.reord_seen > 0, is_late, "packet {duplicate}");
    }
}

/// Linux `tcp_check_sack_reordering`: packet 3 comes after packet 8, which six packets overtook.
/// The ACK of all ten finds that packet 0 came after 9.
#[test]
fn reordering_is_the_distance_to_the_highest_packet() {
    let mut rack = Rack::new();
    (0..10).for_each(|number| rack.on_sent(0.0, number));
    rack.on_ack(0.05, None, -1, 9, &[(8, 9)], |_| ());
    assert_eq!((rack.reordering, rack.reord_seen), (3, 0));
    rack.on_ack(0.05, None, -1, 9, &[(3, 4)], |_| ());
    assert_eq!((rack.reordering, rack.reord_seen, rack.is_reordered_far()), (6, 1, true));
    rack.on_ack(0.06, None, 9, 9, &[], |_| ());
    assert_eq!((rack.reordering, rack.reord_seen), (10, 2));
}

/// Two duplicate ACKs count as two packets delivered; of three packets acknowledged then, one is
/// news. Three duplicate ACKs say that the first packet is lost.
#[test]
fn duplicate_acks_stand_for_packets_without_sack() {
    let mut rack = Rack::new();
    (0..10).for_each(|number| rack.on_sent(0.0, number));
    assert_eq!((rack.count_dupack(), rack.count_dupack(), rack.in_flight()), (1, 1, 8));
    let acked = rack.on_ack(0.05, None, 2, 9, &[], |_| ()).packets;
    assert_eq!((acked, rack.remove_dupacks(acked), rack.in_flight()), (3, 1, 7));
    (0..3).for_each(|_| assert_eq!(rack.count_dupack(), 1));
    rack.mark_head_lost(false, false);
    assert_eq!((rack.next_to_retransmit(), rack.in_flight()), (Some(3), 3));
}

/// Of two packets one at least is missing: a second duplicate ACK is reordering.
#[test]
fn more_duplicate_acks_than_packets_are_reordering() {
    let mut rack = Rack::new();
    (0..2).for_each(|number| rack.on_sent(0.0, number));
    assert_eq!((rack.count_dupack(), rack.count_dupack()), (1, 0));
    assert_eq!((rack.reordering, rack.reord_seen), (2, 1));
}
