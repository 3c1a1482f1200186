//! Slab: stores values under keys and reuses the entries of removed values.
//!
//! The `slab` crate tags each entry as vacant or occupied; entries here are plain values that can
//! be prefetched.

use cwndlab_prefetch::prefetch;

/// Key of a stored value; never 0, which can stand for none.
pub type SlabKey = u32;

/// Entries, and the free ones among them.
#[derive(Clone, Debug)]
pub struct Slab<T> {
    entries: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), free: Vec::new() }
    }
}

impl<T: Copy> Slab<T> {
    /// Stores a value.
    #[inline]
    pub fn insert(&mut self, value: T) -> SlabKey {
        match self.free.pop() {
            Some(index) => {
                self.entries[index as usize] = value;
                index + 1
            }
            None => {
                self.entries.push(value);
                self.entries.len() as u32
            }
        }
    }

    /// Prefetches a value; key 0 stands for none.
    #[inline(always)]
    pub fn prefetch(&self, key: SlabKey) {
        self.entries.get((key as usize).wrapping_sub(1)).inspect(|value| prefetch(*value));
    }

    /// Removes a value.
    #[inline]
    pub fn remove(&mut self, key: SlabKey) -> T {
        self.free.push(key - 1);
        self.entries[key as usize - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_reused() {
        let mut slab = Slab::default();
        let keys = ['a', 'b', 'c'].map(|value| slab.insert(value));
        assert!(!keys.contains(&0));
        assert_eq!(slab.remove(keys[1]), 'b');
        assert_eq!(slab.insert('d'), keys[1]);
        assert_eq!([keys[2], keys[1], keys[0]].map(|key| slab.remove(key)), ['c', 'd', 'a']);
        assert_eq!(slab.entries.len(), 3);
    }
}
