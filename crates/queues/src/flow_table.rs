//! Flow table: maps flow numbers, however large and sparse, to queues.
//!
//! Open addressing with linear probing. Removal moves later entries up, so there are no tombstones,
//! and the table grows only with the number of simultaneous entries. Nothing iterates over it, so
//! its order is unobservable.

use crate::fifo::NONE;

/// Maps flow numbers to queue numbers.
#[derive(Clone, Debug)]
pub(crate) struct FlowTable {
    /// Flow and queue, a power of two of them; free where the queue is [`NONE`].
    table: Vec<(u32, u32)>,
    used: usize,
    /// Bits of the hash that are not used: 32 less the log2 of the table's size.
    shift: u32,
}

impl FlowTable {
    pub(crate) fn new() -> Self {
        Self { table: vec![(0, NONE); 16], used: 0, shift: 28 }
    }

    /// Number of flows in the table.
    pub(crate) fn used(&self) -> usize {
        self.used
    }

    /// Multiplicative hashing by the golden ratio (Knuth, TAOCP 3, section 6.4) spreads consecutive
    /// numbers.
    #[inline]
    fn home(&self, flow: u32) -> usize {
        (flow.wrapping_mul(0x9E37_79B9) >> self.shift) as usize
    }

    /// Index of the flow, or of the free entry where it belongs.
    #[inline]
    fn probe(&self, flow: u32) -> usize {
        let mask = self.table.len() - 1;
        let mut place = self.home(flow);
        while self.table[place].1 != NONE && self.table[place].0 != flow {
            place = (place + 1) & mask;
        }
        place
    }

    /// The queue of the flow, if it has one.
    #[inline]
    pub(crate) fn find(&self, flow: u32) -> Option<u32> {
        let slot = self.table[self.probe(flow)].1;
        (slot != NONE).then_some(slot)
    }

    /// Inserts a flow that has no queue.
    pub(crate) fn insert(&mut self, flow: u32, slot: u32) {
        if 2 * (self.used + 1) > self.table.len() {
            let larger = vec![(0, NONE); 2 * self.table.len()];
            let old = std::mem::replace(&mut self.table, larger);
            self.shift -= 1;
            for entry in old.into_iter().filter(|entry| entry.1 != NONE) {
                let place = self.probe(entry.0);
                self.table[place] = entry;
            }
        }
        let place = self.probe(flow);
        self.table[place] = (flow, slot);
        self.used += 1;
    }

    /// Removes a flow.
    pub(crate) fn remove(&mut self, flow: u32) {
        let mask = self.table.len() - 1;
        let mut hole = self.probe(flow);
        if self.table[hole].1 == NONE {
            return;
        }
        self.used -= 1;
        let mut next = (hole + 1) & mask;
        while self.table[next].1 != NONE {
            // An entry may move to the hole unless its home lies behind the hole.
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
    use super::FlowTable;

    #[test]
    fn finds_what_is_there_and_nothing_else() {
        // Colliding numbers, numbers from 2^31 on, and removals, against a plain list.
        let mut flow_table = FlowTable::new();
        let mut there: Vec<(u32, u32)> = Vec::new();
        let mut state = 7u32;
        for step in 0..20_000u32 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let flow =
                [state >> 24, (state >> 24) | 1 << 31, (state >> 26) << 20][step as usize % 3];
            match there.iter().position(|entry| entry.0 == flow) {
                Some(at) => {
                    assert_eq!(flow_table.find(flow), Some(there[at].1));
                    flow_table.remove(flow);
                    there.swap_remove(at);
                }
                None => {
                    assert_eq!(flow_table.find(flow), None);
                    flow_table.insert(flow, step);
                    there.push((flow, step));
                }
            }
        }
        assert!(there.iter().all(|entry| flow_table.find(entry.0) == Some(entry.1)));
        assert_eq!(flow_table.used, there.len());
    }
}
