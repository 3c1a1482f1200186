//! Which queue a flow has: a table by flow number for the flows that have one, however large and sparse the numbers.
//!
//! Open addressing with linear probing; a removed entry's followers move up, so the table needs no tombstones and is as large as the
//! most flows that ever had a queue at the same time. Nothing ever walks through it, so its order can show nowhere.

use crate::fifo::NONE;

/// Flow numbers to queue numbers.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    /// Flow and its queue; a power of two of them. No queue: a free place.
    table: Vec<(u32, u32)>,
    used: usize,
    /// Bits of the hash that are not used: 32 less the table's power of two.
    shift: u32,
}

impl Slots {
    pub(crate) fn new() -> Self {
        Self { table: vec![(0, NONE); 16], used: 0, shift: 28 }
    }

    /// Flows that have a queue.
    pub(crate) fn used(&self) -> usize {
        self.used
    }

    /// Consecutive numbers fall far from each other (multiplicative hashing by the golden ratio; Knuth, TAOCP 3, section 6.4).
    #[inline]
    fn home(&self, flow: u32) -> usize {
        (flow.wrapping_mul(0x9E37_79B9) >> self.shift) as usize
    }

    /// Where the flow is, or the free place where it would be.
    #[inline]
    fn place(&self, flow: u32) -> usize {
        let mask = self.table.len() - 1;
        let mut place = self.home(flow);
        while self.table[place].1 != NONE && self.table[place].0 != flow {
            place = (place + 1) & mask;
        }
        place
    }

    /// Its queue, if it has one.
    #[inline]
    pub(crate) fn find(&self, flow: u32) -> Option<u32> {
        let slot = self.table[self.place(flow)].1;
        (slot != NONE).then_some(slot)
    }

    /// Gives a flow that has none a queue.
    pub(crate) fn insert(&mut self, flow: u32, slot: u32) {
        if 2 * (self.used + 1) > self.table.len() {
            let larger = vec![(0, NONE); 2 * self.table.len()];
            let old = std::mem::replace(&mut self.table, larger);
            self.shift -= 1;
            for entry in old.into_iter().filter(|entry| entry.1 != NONE) {
                let place = self.place(entry.0);
                self.table[place] = entry;
            }
        }
        let place = self.place(flow);
        self.table[place] = (flow, slot);
        self.used += 1;
    }

    /// Takes it away.
    pub(crate) fn remove(&mut self, flow: u32) {
        let mask = self.table.len() - 1;
        let mut hole = self.place(flow);
        if self.table[hole].1 == NONE {
            return;
        }
        self.used -= 1;
        let mut next = (hole + 1) & mask;
        while self.table[next].1 != NONE {
            // An entry may move up to the hole unless its home lies behind the hole.
            let from_home = next.wrapping_sub(self.home(self.table[next].0)) & mask;
            let from_hole = next.wrapping_sub(hole) & mask;
            if from_home >= from_hole {
                self.table[hole] = self.table[next];
                hole = next;
            }
            next = (next + 1) & mask;
        }
        self.table[hole].1 = NONE;
    }
}

#[cfg(test)]
mod tests {
    use super::Slots;

    #[test]
    fn finds_what_is_there_and_nothing_else() {
        // Numbers that collide, numbers from 2^31 on, and removals in between, against a plain list.
        let mut slots = Slots::new();
        let mut there: Vec<(u32, u32)> = Vec::new();
        let mut state = 7u32;
        for step in 0..20_000u32 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let flow = [state >> 24, (state >> 24) | 1 << 31, (state >> 26) << 20][step as usize % 3];
            match there.iter().position(|entry| entry.0 == flow) {
                Some(at) => {
                    assert_eq!(slots.find(flow), Some(there[at].1));
                    slots.remove(flow);
                    there.swap_remove(at);
                }
                None => {
                    assert_eq!(slots.find(flow), None);
                    slots.insert(flow, step);
                    there.push((flow, step));
                }
            }
        }
        assert!(there.iter().all(|entry| slots.find(entry.0) == Some(entry.1)));
        assert_eq!(slots.used, there.len());
    }
}
