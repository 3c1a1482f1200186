//! What is to happen on the links of a [`super::Passage`], and in which order.

use crate::streams::Waiting;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// What is to happen.
#[derive(Clone, Copy, Debug)]
pub(super) enum Act {
    /// A packet enters this stage of its route.
    Enter(Waiting),
    /// A link whose queue owns its packets is free.
    Serve(u32),
    /// A source of cross traffic has a packet ready.
    Emit(u32),
}

#[derive(Clone, Copy, Debug)]
struct Due {
    at_s: f64,
    /// As in the engine: at equal times what was set in motion first goes first, then what was put here first.
    since_s: f64,
    order: u64,
    act: Act,
}

impl Due {
    fn key(&self) -> (f64, f64, u64) {
        (self.at_s, self.since_s, self.order)
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b) = (self.key(), other.key());
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2))
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Due {}

/// What is due, in order of time.
#[derive(Default)]
pub(super) struct Agenda {
    due: BinaryHeap<Reverse<Due>>,
    order: u64,
}

impl Agenda {
    /// Notes an act for a time, and since when it is due then.
    pub(super) fn put(&mut self, at_s: f64, since_s: f64, act: Act) {
        self.order += 1;
        self.due.push(Reverse(Due { at_s, since_s, order: self.order, act }));
    }

    /// When the next one is due, seconds; infinite for never.
    pub(super) fn next_s(&self) -> f64 {
        self.due.peek().map_or(f64::INFINITY, |Reverse(due)| due.at_s)
    }

    /// Takes the next one, with its time, if it is due by `now_s`.
    pub(super) fn pop(&mut self, now_s: f64) -> Option<(f64, Act)> {
        if self.next_s() > now_s {
            return None;
        }
        self.due.pop().map(|Reverse(due)| (due.at_s, due.act))
    }

    /// Packets that are on their way.
    pub(super) fn packets(&self) -> usize {
        self.due.iter().filter(|Reverse(due)| matches!(due.act, Act::Enter(_))).count()
    }
}
