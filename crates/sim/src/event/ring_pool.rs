//! Pool of ring buffers in one store: the FIFO queues of packets of all flows.
//!
//! Each ring has a power of two of slots in the common store, so that indexing is a mask, as in
//! `RingBuffer`. Blocks that a ring outgrows are reused by others.

/// Number of block sizes, which are powers of two.
const CLASSES: usize = 32;

/// The common store.
#[derive(Debug)]
pub struct RingPool<T> {
    slots: Vec<T>,
    /// Starts of free blocks, by the logarithm of their size.
    free: [Vec<u32>; CLASSES],
}

/// A ring: its block and its extent.
#[derive(Clone, Copy, Debug)]
pub struct PooledRing {
    begin: u32,
    /// Number of slots minus one; the number of slots is a power of two or zero.
    mask: u32,
    first: u32,
    count: u32,
}

impl Default for PooledRing {
    fn default() -> Self {
        Self { begin: 0, mask: 0u32.wrapping_sub(1), first: 0, count: 0 }
    }
}

impl PooledRing {
    /// Whether the ring is empty.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    #[inline(always)]
    fn slot(&self, index: u32) -> usize {
        (self.begin + (self.first.wrapping_add(index) & self.mask)) as usize
    }

    #[inline(always)]
    fn slots(&self) -> u32 {
        self.mask.wrapping_add(1)
    }
}

impl<T> Default for RingPool<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: [const { Vec::new() }; CLASSES] }
    }
}

impl<T: Copy + Default> RingPool<T> {
    /// Appends a value.
    #[inline(always)]
    pub fn push_back(&mut self, ring: &mut PooledRing, value: T) {
        if ring.count == ring.slots() {
            self.grow(ring);
        }
        self.slots[ring.slot(ring.count)] = value;
        ring.count += 1;
    }

    /// Removes the first value.
    #[inline(always)]
    pub fn pop_front(&mut self, ring: &mut PooledRing) -> Option<T> {
        if ring.count == 0 {
            return None;
        }
        let value = self.slots[ring.slot(0)];
        ring.first = ring.first.wrapping_add(1);
        ring.count -= 1;
        Some(value)
    }

    /// The first value.
    #[inline(always)]
    pub fn front(&self, ring: &PooledRing) -> Option<&T> {
        if ring.count > 0 { Some(&self.slots[ring.slot(0)]) } else { None }
    }

    /// The last value.
    pub fn back(&self, ring: &PooledRing) -> Option<&T> {
        if ring.count > 0 { Some(&self.slots[ring.slot(ring.count - 1)]) } else { None }
    }

    /// Moves the last value behind the prefix that satisfies `precedes`, and returns the length of
    /// this prefix.
    pub fn move_last_behind(&mut self, ring: PooledRing, precedes: impl Fn(&T) -> bool) -> u32 {
        let last = ring.count - 1;
        let (mut low, mut high) = (0, last);
        while low < high {
            let middle = low + (high - low) / 2;
            if precedes(&self.slots[ring.slot(middle)]) { low = middle + 1 } else { high = middle }
        }
        let value = self.slots[ring.slot(last)];
        for place in (low + 1..ring.count).rev() {
            self.slots[ring.slot(place)] = self.slots[ring.slot(place - 1)];
        }
        self.slots[ring.slot(low)] = value;
        low
    }

    /// Doubles the slots. It does not take the value that needs one: what a call takes lies in
    /// memory, and every packet would be written there first.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, ring: &mut PooledRing) {
        let class = if ring.slots() == 0 { 0 } else { ring.slots().trailing_zeros() + 1 };
        let begin = self.free[class as usize].pop().unwrap_or_else(|| {
            self.slots.resize(self.slots.len() + (1 << class), T::default());
            self.slots.len() as u32 - (1 << class)
        });
        for index in 0..ring.count {
            self.slots[(begin + index) as usize] = self.slots[ring.slot(index)];
        }
        if ring.slots() > 0 {
            self.free[class as usize - 1].push(ring.begin);
        }
        *ring = PooledRing { begin, mask: (1 << class) - 1, first: 0, count: ring.count };
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
        fn they_are_queues(steps in prop::collection::vec((0u8..12, 0usize..3), 0..600)) {
            let mut pool = RingPool::default();
            let (mut all, mut queues) =
                ([PooledRing::default(); 3], [const { VecDeque::new() }; 3]);
            for (number, (kind, which)) in steps.into_iter().enumerate() {
                let (ring, queue) = (&mut all[which], &mut queues[which]);
                match kind {
                    0..6 => {
                        pool.push_back(ring, number);
                        queue.push_back(number);
                    }
                    6..11 => prop_assert_eq!(pool.pop_front(ring), queue.pop_front()),
                    _ => {
                        // A value that belongs in front of the second half.
                        let middle = queue.get(queue.len() / 2).copied().unwrap_or(number);
                        pool.push_back(ring, middle);
                        let index = pool.move_last_behind(*ring, |&earlier| earlier < middle);
                        prop_assert_eq!(
                            index as usize,
                            queue.partition_point(|&earlier| earlier < middle)
                        );
                        queue.insert(index as usize, middle);
                    }
                }
                for (ring, queue) in all.iter().zip(&queues) {
                    prop_assert_eq!(
                        (ring.is_empty(), pool.front(ring), pool.back(ring)),
                        (queue.is_empty(), queue.front(), queue.back())
                    );
                }
            }
            for (ring, queue) in all.iter_mut().zip(&mut queues) {
                while let Some(value) = queue.pop_front() {
                    prop_assert_eq!(pool.pop_front(ring), Some(value));
                }
                prop_assert!(ring.is_empty());
            }
        }
    }

    #[test]
    fn blocks_are_reused() {
        let mut pool = RingPool::default();
        let mut first = PooledRing::default();
        (0..100).for_each(|number| pool.push_back(&mut first, number));
        assert_eq!(pool.slots.len(), 1 + 2 + 4 + 8 + 16 + 32 + 64 + 128);
        let mut second = PooledRing::default();
        (0..60).for_each(|number| pool.push_back(&mut second, number));
        assert_eq!(pool.slots.len(), 255);
    }
}
