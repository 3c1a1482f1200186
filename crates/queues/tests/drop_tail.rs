//! Drop-tail as a queue: packets in, packets out, and what may never happen in between.

use cwndlab_queues::{Admission, ArrivingPacket, Backlog, Decision, DropTail, Limit};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::VecDeque;

/// A first-in first-out queue under an admission rule; the head is in service.
struct Queue {
    rule: DropTail,
    sizes: VecDeque<u32>,
}

impl Queue {
    fn backlog(&self) -> Backlog {
        Backlog {
            packets: self.sizes.len() as u64,
            bytes: self.sizes.iter().map(|&size| u64::from(size)).sum(),
            in_service_bytes: self.sizes.front().map_or(0, |&size| u64::from(size)),
            ..Backlog::default()
        }
    }

    fn arrive(&mut self, size_bytes: u32) -> bool {
        let arrival = ArrivingPacket { now_s: 0.0, size_bytes, flow: 0, ecn: false, priority: 1 };
        let accepted = self.rule.admit(&arrival, &self.backlog(), &mut || 0.5) == Decision::Accept;
        if accepted {
            self.sizes.push_back(size_bytes);
        }
        accepted
    }
}

/// How many of a burst of 1000-byte packets an idle queue takes.
fn burst(limit: Limit, count_in_service: bool) -> usize {
    let mut queue = Queue { rule: DropTail::new(limit, count_in_service), sizes: VecDeque::new() };
    (0..100).filter(|_| queue.arrive(1000)).count()
}

#[test]
fn bursts_by_hand() {
    // ns-2's limit_ 10 holds nine waiting packets and one in service; a queue beside the line card
    // holds ten waiting.
    assert_eq!(burst(Limit::Packets(10), true), 10);
    assert_eq!(burst(Limit::Packets(10), false), 11);
    assert_eq!(burst(Limit::Packets(1), true), 1);
    assert_eq!(burst(Limit::Packets(1), false), 2);
    // 5500 bytes hold five packets of 1000, and a sixth in service if that takes no room.
    assert_eq!(burst(Limit::Bytes(5500), true), 5);
    assert_eq!(burst(Limit::Bytes(5500), false), 6);
    // What is larger than the buffer passes an idle link all the same: it goes straight into
    // service.
    assert_eq!(burst(Limit::Bytes(500), true), 1);
    assert_eq!(burst(Limit::Bytes(500), false), 1);
}

/// An arrival of so many bytes, or a departure.
fn steps() -> impl Strategy<Value = Vec<Option<u32>>> {
    vec(prop_oneof![3 => (1u32..1600).prop_map(Some), 2 => Just(None)], 1..300)
}

fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![(1u64..40).prop_map(Limit::Packets), (1u64..40_000).prop_map(Limit::Bytes)]
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_buffer_is_never_exceeded_and_never_refuses_without_need(
        limit in limit(),
        count_in_service: bool,
        steps in steps(),
    ) {
        let rule = DropTail::new(limit, count_in_service);
        let mut queue = Queue { rule, sizes: VecDeque::new() };
        for step in steps {
            let Some(size) = step else {
                queue.sizes.pop_front();
                continue;
            };
            let was_idle = queue.sizes.is_empty();
            let before = queue.backlog();
            let accepted = queue.arrive(size);
            let after = queue.backlog();
            // The buffer holds all packets, or all but the one in service.
            let (packets, bytes) =
                if count_in_service { (0, 0) } else { (1, after.in_service_bytes) };
            if was_idle {
                prop_assert!(accepted, "an idle link takes any packet");
            } else if accepted {
                match limit {
                    Limit::Packets(most) => prop_assert!(after.packets - packets <= most),
                    Limit::Bytes(most) => prop_assert!(after.bytes - bytes <= most),
                }
            } else {
                match limit {
                    Limit::Packets(most) => prop_assert!(before.packets - packets == most),
                    Limit::Bytes(most) => {
                        prop_assert!(before.bytes - bytes + u64::from(size) > most)
                    }
                }
            }
        }
    }

    #[test]
    fn the_guaranteed_accept_backlog_holds(
        limit in limit(),
        count_in_service: bool,
        sizes in vec(1u32..1600, 0..60),
        gone in 0usize..60,
        size in 1u32..1600,
    ) {
        // The link asks with all packets that may still be there; some of them have left by then.
        let mut queue = Queue { rule: DropTail::new(limit, count_in_service), sizes: sizes.into() };
        let largest = queue.sizes.iter().copied().max().unwrap_or(size).max(size);
        let sure = (queue.sizes.len() as u64) < queue.rule.guaranteed_accept_backlog(largest);
        queue.sizes.drain(..gone.min(queue.sizes.len()));
        let accepted = queue.arrive(size);
        prop_assert!(accepted || !sure);
    }
}
