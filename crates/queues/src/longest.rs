//! Which of many queues is the longest.
//!
//! A heap in which a queue's entry may say more than there is: a queue that shrinks leaves its entry as it is, one that grows raises it
//! only if it says too little. Entries at the top are corrected when the longest is asked for. So a packet that comes and goes costs
//! nothing here, and a correction costs O(log n) once for all the shrinking before it.

use crate::fifo::NONE;

/// How long a queue is: by bytes, of equally long ones the one with the smaller label first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Length {
    pub(crate) bytes: u64,
    pub(crate) label: u64,
}

impl Length {
    #[inline]
    fn before(self, other: Self) -> bool {
        self.bytes > other.bytes || (self.bytes == other.bytes && self.label < other.label)
    }
}

/// The index over the queues.
#[derive(Clone, Debug, Default)]
pub(crate) struct Longest {
    /// At least each queue's length, longest first.
    heap: Vec<(Length, u32)>,
    /// Where in the heap each queue is.
    place: Vec<u32>,
}

impl Longest {
    /// A queue has grown to this length.
    #[inline(always)]
    pub(crate) fn grown(&mut self, queue: u32, length: Length) {
        let claimed = self.place.get(queue as usize).and_then(|&place| self.heap.get(place as usize));
        if claimed.is_none_or(|claimed| length.before(claimed.0)) {
            self.raise(queue, length);
        }
    }

    /// Its entry says too little, or it has none.
    #[inline(never)]
    fn raise(&mut self, queue: u32, length: Length) {
        if queue as usize >= self.place.len() {
            self.place.resize(queue as usize + 1, NONE);
        }
        let place = self.place[queue as usize];
        if place == NONE {
            self.heap.push((length, queue));
            self.rise(self.heap.len() - 1);
        } else {
            self.heap[place as usize].0 = length;
            self.rise(place as usize);
        }
    }

    /// The longest queue, given each queue's true length; none if all are empty.
    pub(crate) fn top(&mut self, length: impl Fn(u32) -> Length) -> Option<u32> {
        while let Some(&(claimed, queue)) = self.heap.first() {
            let actual = length(queue);
            if actual.bytes == 0 {
                self.place[queue as usize] = NONE;
                self.heap.swap_remove(0);
                if !self.heap.is_empty() {
                    self.sink(0);
                }
            } else if actual == claimed {
                return Some(queue);
            } else {
                self.heap[0].0 = actual;
                self.sink(0);
            }
        }
        None
    }

    fn rise(&mut self, mut at: usize) {
        let entry = self.heap[at];
        while at > 0 {
            let parent = (at - 1) / 2;
            if !entry.0.before(self.heap[parent].0) {
                break;
            }
            self.put(at, self.heap[parent]);
            at = parent;
        }
        self.put(at, entry);
    }

    fn sink(&mut self, mut at: usize) {
        let entry = self.heap[at];
        loop {
            let left = 2 * at + 1;
            let Some(mut child) = self.heap.get(left).map(|_| left) else { break };
            if self.heap.get(left + 1).is_some_and(|right| right.0.before(self.heap[left].0)) {
                child = left + 1;
            }
            if !self.heap[child].0.before(entry.0) {
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
        self.place[entry.1 as usize] = at as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::{Length, Longest};

    #[test]
    fn the_longest_of_changing_queues() {
        // Queues grow and shrink at random; labels only rise, as they do where a queue goes to the end of the round.
        let mut longest = Longest::default();
        let mut lengths: Vec<Length> = (0..40).map(|label| Length { bytes: 0, label }).collect();
        let mut state = 1u32;
        for step in 0..50_000u64 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let queue = (state >> 16) as usize % lengths.len();
            match (state >> 8) % 4 {
                0 => lengths[queue].bytes = lengths[queue].bytes.saturating_sub(1000),
                1 => lengths[queue].label = 40 + step,
                2 => {
                    lengths[queue].bytes += 1000;
                    longest.grown(queue as u32, lengths[queue]);
                }
                _ => {
                    let most = lengths.iter().map(|length| length.bytes).max().filter(|&bytes| bytes > 0);
                    let expected = most.and_then(|most| {
                        let longest = (0..lengths.len()).filter(|&queue| lengths[queue].bytes == most);
                        longest.min_by_key(|&queue| lengths[queue].label)
                    });
                    assert_eq!(longest.top(|queue| lengths[queue as usize]), expected.map(|queue| queue as u32));
                }
            }
        }
    }
}
