//! Many first-in first-out queues of small values that share one memory: packets on their way, of all flows.
//!
//! A lane has a power of two of slots in a common store, so that finding one is a mask, as in a `Ring`. What a lane outgrows serves others. With
//! many flows lanes also give back what they do not fill any more: flows that start on an empty path have a few hundred packets under way
//! for a moment and a few ever after, and memory for the most of each would be several times that for the most of all.

/// Sizes of blocks: powers of two up to this.
const CLASSES: usize = 32;

/// So many slots may lie free anyway.
const FEW: usize = 1 << 12;

/// The memory of lanes.
#[derive(Debug)]
pub struct Lanes<T> {
    slots: Vec<T>,
    /// Begins of blocks that no lane has, by the logarithm of their size.
    free: [Vec<u32>; CLASSES],
    /// Which sizes have any, as bits.
    available: u32,
    /// Slots in them.
    unused: usize,
    /// Whether lanes give back what they do not fill.
    gives_back: bool,
}

/// One queue: where it is in the store.
#[derive(Clone, Copy, Debug)]
pub struct Lane {
    begin: u32,
    /// One less than its slots, of which there is a power of two, or none.
    mask: u32,
    first: u32,
    count: u32,
    /// With fewer it gives back slots.
    least: u32,
}

impl Default for Lane {
    fn default() -> Self {
        Self { begin: 0, mask: 0u32.wrapping_sub(1), first: 0, count: 0, least: 0 }
    }
}

impl Lane {
    /// Whether there is nothing in it.
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

impl<T> Default for Lanes<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: [const { Vec::new() }; CLASSES], available: 0, unused: 0, gives_back: false }
    }
}

impl<T: Copy> Lanes<T> {
    /// From now on lanes give back what they do not need. It takes a little time, so it is for runs of many flows.
    pub fn give_back(&mut self) {
        self.gives_back = true;
    }

    /// Adds one behind all others.
    #[inline(always)]
    pub fn push_back(&mut self, lane: &mut Lane, value: T) {
        if lane.count == lane.slots() {
            self.grow(lane, value);
        }
        self.slots[lane.slot(lane.count)] = value;
        lane.count += 1;
    }

    /// Takes the first.
    #[inline(always)]
    pub fn pop_front(&mut self, lane: &mut Lane) -> Option<T> {
        if lane.count == 0 {
            return None;
        }
        let value = self.slots[lane.slot(0)];
        lane.first = lane.first.wrapping_add(1);
        lane.count -= 1;
        if lane.count < lane.least {
            self.shrink(lane);
        }
        Some(value)
    }

    /// The first.
    #[inline(always)]
    pub fn front(&self, lane: &Lane) -> Option<&T> {
        if lane.count > 0 { Some(&self.slots[lane.slot(0)]) } else { None }
    }

    /// The last.
    pub fn back(&self, lane: &Lane) -> Option<&T> {
        if lane.count > 0 { Some(&self.slots[lane.slot(lane.count - 1)]) } else { None }
    }

    /// Puts one behind those at the front that `precedes` holds for, and returns how many these are; it holds for none behind them.
    pub fn insert(&mut self, lane: &mut Lane, value: T, precedes: impl Fn(&T) -> bool) -> u32 {
        let (mut low, mut high) = (0, lane.count);
        while low < high {
            let middle = low + (high - low) / 2;
            if precedes(&self.slots[lane.slot(middle)]) { low = middle + 1 } else { high = middle }
        }
        self.push_back(lane, value);
        for place in (low + 1..lane.count).rev() {
            self.slots[lane.slot(place)] = self.slots[lane.slot(place - 1)];
        }
        self.slots[lane.slot(low)] = value;
        low
    }

    /// Whether so much lies free between lanes that it is worth moving them together: a lane of thousands fits into no gap that others leave.
    pub fn is_scattered(&self) -> bool {
        self.gives_back && self.unused > FEW && self.unused > self.slots.len() / 8
    }

    /// Moves all lanes together, each with no more slots than it needs. A gap of an eighth has come about since the last time, so what this costs
    /// is shared by as many packets.
    pub fn tidy<'a>(&mut self, lanes: impl Iterator<Item = &'a mut Lane>) {
        let mut held: Vec<&mut Lane> = lanes.filter(|lane| lane.slots() > 0).collect();
        held.sort_unstable_by_key(|lane| lane.begin);
        let mut end = 0;
        for lane in held {
            let (begin, count) = (lane.begin as usize, lane.count as usize);
            let slots = count.next_power_of_two();
            self.slots[begin..begin + lane.slots() as usize].rotate_left((lane.first & lane.mask) as usize);
            self.slots.copy_within(begin..begin + count, end);
            *lane = self.lane(end as u32, slots as u32, lane.count);
            end += slots;
        }
        self.slots.truncate(end);
        self.free.iter_mut().for_each(Vec::clear);
        (self.available, self.unused) = (0, 0);
    }

    fn lane(&self, begin: u32, slots: u32, count: u32) -> Lane {
        Lane { begin, mask: slots - 1, first: 0, count, least: if self.gives_back { slots.div_ceil(4) } else { 0 } }
    }

    /// Twice the slots; what is in them until they are written does not matter.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, lane: &mut Lane, value: T) {
        let class = if lane.slots() == 0 { 0 } else { lane.slots().trailing_zeros() + 1 };
        let begin = self.take(class, value);
        self.move_to(lane, begin, 1 << class);
    }

    /// Half the slots, or none.
    #[cold]
    #[inline(never)]
    fn shrink(&mut self, lane: &mut Lane) {
        match self.front(lane).copied() {
            None => {
                self.give(lane.begin, lane.slots());
                *lane = Lane::default();
            }
            Some(value) => {
                let class = lane.slots().trailing_zeros() - 1;
                let begin = self.take(class, value);
                self.move_to(lane, begin, 1 << class);
            }
        }
    }

    fn move_to(&mut self, lane: &mut Lane, begin: u32, slots: u32) {
        for index in 0..lane.count {
            self.slots[(begin + index) as usize] = self.slots[lane.slot(index)];
        }
        if lane.slots() > 0 {
            self.give(lane.begin, lane.slots());
        }
        *lane = self.lane(begin, slots, lane.count);
    }

    /// A block of a size: one that is free, the first part of a larger one, or a new one.
    fn take(&mut self, class: u32, value: T) -> u32 {
        let larger = self.available >> class;
        if larger == 0 {
            let begin = self.slots.len() as u32;
            self.slots.resize(self.slots.len() + (1 << class), value);
            return begin;
        }
        let found = class + larger.trailing_zeros();
        self.unused -= 1 << found;
        let block = self.free[found as usize].pop();
        if self.free[found as usize].is_empty() {
            self.available &= !(1 << found);
        }
        let begin = block.expect("a size that is available has a block");
        (class..found).for_each(|half| self.give(begin + (1 << half), 1 << half));
        begin
    }

    fn give(&mut self, begin: u32, slots: u32) {
        let class = slots.trailing_zeros();
        self.unused += slots as usize;
        self.free[class as usize].push(begin);
        self.available |= 1 << class;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn they_are_queues(gives_back in any::<bool>(), steps in prop::collection::vec((0u8..13, 0usize..3), 0..600)) {
            let mut lanes = Lanes::default();
            if gives_back {
                lanes.give_back();
            }
            let (mut all, mut queues) = ([Lane::default(); 3], [const { VecDeque::new() }; 3]);
            for (number, (kind, which)) in steps.into_iter().enumerate() {
                let (lane, queue) = (&mut all[which], &mut queues[which]);
                match kind {
                    0..6 => {
                        lanes.push_back(lane, number);
                        queue.push_back(number);
                    }
                    6..11 => prop_assert_eq!(lanes.pop_front(lane), queue.pop_front()),
                    11 => lanes.tidy(all.iter_mut()),
                    _ => {
                        // A value that belongs before the later half.
                        let middle = queue.get(queue.len() / 2).copied().unwrap_or(number);
                        let index = lanes.insert(lane, middle, |&earlier| earlier < middle);
                        prop_assert_eq!(index as usize, queue.partition_point(|&earlier| earlier < middle));
                        queue.insert(index as usize, middle);
                    }
                }
                for (lane, queue) in all.iter().zip(&queues) {
                    prop_assert_eq!((lane.is_empty(), lanes.front(lane), lanes.back(lane)), (queue.is_empty(), queue.front(), queue.back()));
                }
            }
            for (lane, queue) in all.iter_mut().zip(&mut queues) {
                while let Some(value) = queue.pop_front() {
                    prop_assert_eq!(lanes.pop_front(lane), Some(value));
                }
                prop_assert!(lane.is_empty());
            }
        }
    }

    #[test]
    fn what_a_lane_gives_back_serves_others() {
        let mut lanes = Lanes::default();
        lanes.give_back();
        let mut first = Lane::default();
        (0..1000).for_each(|number| lanes.push_back(&mut first, number));
        let most = lanes.slots.len();
        while lanes.pop_front(&mut first).is_some() {}
        // Nothing is left to the first, and what it had is enough for 500 lanes of two.
        assert_eq!(first.slots(), 0);
        let mut others = [Lane::default(); 500];
        for lane in &mut others {
            lanes.push_back(lane, 1);
            lanes.push_back(lane, 2);
        }
        assert_eq!(lanes.slots.len(), most);
        lanes.tidy(others.iter_mut());
        assert_eq!((lanes.slots.len(), lanes.unused), (1000, 0));
        assert!(others.iter_mut().all(|lane| lanes.pop_front(lane) == Some(1) && lanes.pop_front(lane) == Some(2)));
    }
}
