//! Ring buffer: a FIFO queue of small values on the fast path of every packet.
//!
//! Its capacity is a power of two, so that indexing is a mask, and all of it is inlined. With
//! `VecDeque`, which calls out of line and takes twice the instructions, a packet costs about a
//! tenth more.

use std::ops::Index;

/// Slots of a ring buffer with a value, at least.
const FEWEST_SLOTS: usize = 4;

/// A FIFO queue.
#[derive(Clone, Debug)]
pub struct RingBuffer<T> {
    slots: Vec<T>,
    first: usize,
    count: usize,
}

impl<T> Default for RingBuffer<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), first: 0, count: 0 }
    }
}

impl<T: Copy + Default> RingBuffer<T> {
    /// Number of values.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.count
    }

    #[inline(always)]
    fn slot(&self, index: usize) -> usize {
        self.first.wrapping_add(index) & self.slots.len().wrapping_sub(1)
    }

    /// Appends a value.
    #[inline(always)]
    pub fn push_back(&mut self, value: T) {
        if self.count == self.slots.len() {
            self.grow();
        }
        let slot = self.slot(self.count);
        self.slots[slot] = value;
        self.count += 1;
    }

    /// Doubles the capacity.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.slots.rotate_left(self.first);
        self.first = 0;
        let slots = (2 * self.slots.len()).max(FEWEST_SLOTS);
        self.slots.reserve_exact(slots - self.slots.len());
        self.slots.resize(slots, T::default());
    }

    /// Removes the first value.
    #[inline(always)]
    pub fn pop_front(&mut self) -> Option<T> {
        let value = *self.front()?;
        self.drop_front(1);
        Some(value)
    }

    /// Removes the first `count` values, which must exist.
    #[inline(always)]
    pub fn drop_front(&mut self, count: usize) {
        self.first = self.slot(count);
        self.count -= count;
    }

    /// The value at an index, if there are so many.
    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<&T> {
        if index < self.count { Some(&self.slots[self.slot(index)]) } else { None }
    }

    /// The first value.
    #[inline(always)]
    pub fn front(&self) -> Option<&T> {
        self.get(0)
    }

    /// All values in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator {
        (0..self.count).map(|index| &self.slots[self.slot(index)])
    }

    /// The slot in front of an index: for index 0 its old content; none in a ring buffer that was
    /// always empty.
    #[inline(always)]
    pub fn slot_before(&self, index: usize) -> Option<&T> {
        self.slots.get(self.slot(index.wrapping_sub(1)))
    }

    /// Length of the prefix that satisfies a condition.
    pub fn partition_point(&self, condition: impl Fn(&T) -> bool) -> usize {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            if condition(&self[middle]) { low = middle + 1 } else { high = middle }
        }
        low
    }
}

impl<T: Copy + Default> Index<usize> for RingBuffer<T> {
    type Output = T;

    fn index(&self, index: usize) -> &T {
        self.get(index).expect("an index is below the number of values")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn it_is_a_fifo_queue(steps in prop::collection::vec((0u8..4, 0usize..40), 0..300)) {
            let (mut ring, mut queue) = (RingBuffer::default(), VecDeque::new());
            for (number, (kind, place)) in steps.into_iter().enumerate() {
                match kind {
                    0 | 1 => {
                        ring.push_back(number);
                        queue.push_back(number);
                    }
                    2 => prop_assert_eq!(ring.pop_front(), queue.pop_front()),
                    _ => {
                        let count = place.min(queue.len());
                        ring.drop_front(count);
                        queue.drain(..count);
                    }
                }
                prop_assert!(ring.iter().eq(queue.iter()));
                prop_assert_eq!((ring.len(), ring.front()), (queue.len(), queue.front()));
                let mut sorted: Vec<usize> = queue.iter().copied().collect();
                sorted.sort_unstable();
                let mut in_order = RingBuffer::default();
                sorted.iter().for_each(|&value| in_order.push_back(value));
                let fewer = sorted.partition_point(|&value| value < place);
                prop_assert_eq!(in_order.partition_point(|&value| value < place), fewer);
                if fewer > 0 {
                    prop_assert_eq!(in_order.slot_before(fewer), sorted.get(fewer - 1));
                }
            }
        }
    }
}
