//! Lists in chunks of one store: items are written and read sequentially, and the chunks of a list
//! that is over serve the next one.

/// No chunk.
const NONE: u32 = u32::MAX;

/// Part of the store by which it grows.
const GROWTH: usize = 4;

/// A list of chunks, and the items in its last one.
#[derive(Clone, Copy, Debug)]
pub struct List {
    first: u32,
    last: u32,
    count: u32,
}

impl List {
    /// No chunk, counted as full: the first item takes one.
    pub const EMPTY: Self = Self { first: NONE, last: NONE, count: u32::MAX };

    /// Whether it has no items.
    pub fn is_empty(self) -> bool {
        self.first == NONE
    }
}

/// The store of lists, with `N` items a chunk.
#[derive(Debug)]
pub struct Chunks<T, const N: usize> {
    /// Items, by place.
    pub items: Vec<T>,
    /// For each chunk the next one of the same list, or of the free ones.
    next: Vec<u32>,
    free: u32,
}

impl<T: Copy + Default, const N: usize> Default for Chunks<T, N> {
    fn default() -> Self {
        Self { items: Vec::new(), next: Vec::new(), free: NONE }
    }
}

impl<T: Copy + Default, const N: usize> Chunks<T, N> {
    /// Adds an item to a list if its last chunk has room; returns whether it has.
    #[inline(always)]
    pub fn push_within(&mut self, list: &mut List, item: T) -> bool {
        let has_room = (list.count as usize) < N;
        if has_room {
            self.items[list.last as usize * N + list.count as usize] = item;
            list.count += 1;
        }
        has_room
    }

    /// Adds an item to a list; returns its place.
    pub fn push(&mut self, list: &mut List, item: T) -> usize {
        if list.count as usize >= N {
            self.extend(list);
        }
        let place = list.last as usize * N + list.count as usize;
        self.items[place] = item;
        list.count += 1;
        place
    }

    /// Adds a chunk to a list.
    #[inline(never)]
    fn extend(&mut self, list: &mut List) {
        let chunk = if self.free == NONE { self.next.len() as u32 } else { self.free };
        match self.next.get_mut(chunk as usize) {
            Some(next) => self.free = std::mem::replace(next, NONE),
            None => {
                if self.items.len() + N > self.items.capacity() {
                    self.items.reserve_exact(N.max(self.items.len() / GROWTH));
                }
                self.items.resize(self.items.len() + N, T::default());
                self.next.push(NONE);
            }
        }
        if list.is_empty() {
            list.first = chunk;
        } else {
            self.next[list.last as usize] = chunk;
        }
        (list.last, list.count) = (chunk, 0);
    }

    /// A list is over.
    pub fn release(&mut self, list: List) {
        if !list.is_empty() {
            self.next[list.last as usize] = self.free;
            self.free = list.first;
        }
    }

    /// Places of the items of a list, chunk by chunk.
    #[inline(always)]
    pub fn places(&self, list: List) -> impl Iterator<Item = std::ops::Range<usize>> {
        let mut chunk = list.first;
        std::iter::from_fn(move || {
            let begin = chunk as usize * N;
            match chunk {
                NONE => None,
                last if last == list.last => {
                    chunk = NONE;
                    Some(begin..begin + list.count as usize)
                }
                _ => {
                    chunk = self.next[chunk as usize];
                    Some(begin..begin + N)
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn lists_keep_their_items(steps in prop::collection::vec((0usize..5, 0u8..20), 0..400)) {
            let mut chunks = Chunks::<usize, 3>::default();
            let (mut lists, mut expected) = ([List::EMPTY; 5], vec![Vec::new(); 5]);
            let mut most = 0;
            for (number, (list, kind)) in steps.into_iter().enumerate() {
                match kind {
                    0 => {
                        chunks.release(std::mem::replace(&mut lists[list], List::EMPTY));
                        expected[list].clear();
                    }
                    1 => if chunks.push_within(&mut lists[list], number) {
                        expected[list].push(number);
                    }
                    _ => {
                        let place = chunks.push(&mut lists[list], number);
                        prop_assert_eq!(chunks.items[place], number);
                        expected[list].push(number);
                    }
                }
                for (list, expected) in lists.iter().zip(&expected) {
                    let places = chunks.places(*list).flatten();
                    let items: Vec<_> = places.map(|place| chunks.items[place]).collect();
                    prop_assert_eq!(&items, expected);
                    prop_assert_eq!(list.is_empty(), expected.is_empty());
                }
                most = most.max(expected.iter().map(|list| list.len().div_ceil(3)).sum());
                prop_assert_eq!(chunks.items.len(), 3 * most);
            }
        }
    }
}
