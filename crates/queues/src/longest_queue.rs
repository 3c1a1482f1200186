//! Heap that finds the longest of many queues.
//!
//! A heap entry is an upper bound: a queue that shrinks leaves its entry, a queue that grows raises
//! it only where it is too low. [`LongestQueue::top`] corrects entries at the top. So enqueue and
//! dequeue usually cost nothing here, and one correction costs O(log n) for all the shrinking
//! before it.

use crate::fifo::NONE;

/// Length of a queue: by bytes or packets; among equals the smaller label is longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Length {
    pub(crate) size: u64,
    pub(crate) label: u64,
}

impl Length {
    #[inline]
    fn is_longer_than(self, other: Self) -> bool {
        self.size > other.size || (self.size == other.size && self.label < other.label)
    }
}

/// Heap over the queues.
#[derive(Clone, Debug, Default)]
pub(crate) struct LongestQueue {
    /// Upper bound of each queue's length, longest first.
    heap: Vec<(Length, u32)>,
    /// Heap position of each queue.
    position: Vec<u32>,
}

impl LongestQueue {
    /// Records that a queue grew to this length.
    #[inline(always)]
    pub(crate) fn on_growth(&mut self, queue: u32, length: Length) {
        let claimed = self
            .position
            .get(queue as usize)
            .and_then(|&position| self.heap.get(position as usize));
        if claimed.is_none_or(|claimed| length.is_longer_than(claimed.0)) {
            self.raise(queue, length);
        }
    }

    /// Raises or inserts the entry of a queue.
    #[inline(never)]
    fn raise(&mut self, queue: u32, length: Length) {
        if queue as usize >= self.position.len() {
            self.position.resize(queue as usize + 1, NONE);
        }
        let position = self.position[queue as usize];
        if position == NONE {
            self.heap.push((length, queue));
            self.sift_up(self.heap.len() - 1);
        } else {
            self.heap[position as usize].0 = length;
            self.sift_up(position as usize);
        }
    }

    /// The longest queue, given each queue's true length; none if all are empty.
    pub(crate) fn top(&mut self, length: impl Fn(u32) -> Length) -> Option<u32> {
        while let Some(&(claimed, queue)) = self.heap.first() {
            let actual = length(queue);
            if actual.size == 0 {
                self.position[queue as usize] = NONE;
                self.heap.swap_remove(0);
                if !self.heap.is_empty() {
                    self.sift_down(0);
                }
            } else if actual == claimed {
                return Some(queue);
            } else {
                self.heap[0].0 = actual;
                self.sift_down(0);
            }
        }
        None
    }

    fn sift_up(&mut self, mut at: usize) {
        let entry = self.heap[at];
        while at > 0 {
            let parent = (at - 1) / 2;
            if !entry.0.is_longer_than(self.heap[parent].0) {
                break;
            }
            self.put(at, self.heap[parent]);
            at = parent;
        }
        self.put(at, entry);
    }

    fn sift_down(&mut self, mut at: usize) {
        let entry = self.heap[at];
        loop {
            let left = 2 * at + 1;
            let Some(mut child) = self.heap.get(left).map(|_| left) else { break };
            if self
                .heap
                .get(left + 1)
                .is_some_and(|right| right.0.is_longer_than(self.heap[left].0))
            {
                child = left + 1;
            }
            if !self.heap[child].0.is_longer_than(entry.0) {
                break;
            }
            self.put(at, self.heap[child]);
            at = child;
        }
        self.put(at, entry);
    }

    #[inline]
    fn put(&mut self, at: usize, entry: (Length, u32)) {
        self.heap[at] = entry;
        self.position[entry.1 as usize] = at as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::{Length, LongestQueue};

    #[test]
    fn the_longest_of_changing_queues() {
        // Queues grow and shrink at random; labels only rise, as for a queue that moves to the end
        // of the round.
        let mut longest = LongestQueue::default();
        let mut lengths: Vec<Length> = (0..40).map(|label| Length { size: 0, label }).collect();
        let mut state = 1u32;
        for step in 0..50_000u64 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let queue = (state >> 16) as usize % lengths.len();
            match (state >> 8) % 4 {
                0 => lengths[queue].size = lengths[queue].size.saturating_sub(1000),
                1 => lengths[queue].label = 40 + step,
                2 => {
                    lengths[queue].size += 1000;
                    longest.on_growth(queue as u32, lengths[queue]);
                }
                _ => {
                    let most =
                        lengths.iter().map(|length| length.size).max().filter(|&size| size > 0);
                    let expected = most.and_then(|most| {
                        let longest =
                            (0..lengths.len()).filter(|&queue| lengths[queue].size == most);
                        longest.min_by_key(|&queue| lengths[queue].label)
                    });
                    assert_eq!(
                        longest.top(|queue| lengths[queue as usize]),
                        expected.map(|queue| queue as u32)
                    );
                }
            }
        }
    }
}
