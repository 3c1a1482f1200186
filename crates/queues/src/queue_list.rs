//! Lists of queues, each linked through the queues themselves, so that a queue joins or leaves a
//! list in constant time.

use crate::fifo::NONE;

/// Neighbours of a queue in its list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Links {
    next: u32,
    previous: u32,
}

impl Default for Links {
    fn default() -> Self {
        Self { next: NONE, previous: NONE }
    }
}

/// A queue that may be in one list.
pub(crate) trait InList {
    fn links(&mut self) -> &mut Links;
}

/// A list of queues.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueList {
    pub(crate) head: u32,
    tail: u32,
}

impl QueueList {
    pub(crate) const EMPTY: Self = Self { head: NONE, tail: NONE };

    #[inline]
    pub(crate) fn push(&mut self, queues: &mut [impl InList], number: u32) {
        *queues[number as usize].links() = Links { next: NONE, previous: self.tail };
        if self.tail == NONE {
            self.head = number;
        } else {
            queues[self.tail as usize].links().next = number;
        }
        self.tail = number;
    }

    #[inline]
    pub(crate) fn remove(&mut self, queues: &mut [impl InList], number: u32) {
        let Links { previous, next } = *queues[number as usize].links();
        if previous == NONE {
            self.head = next;
        } else {
            queues[previous as usize].links().next = next;
        }
        if next == NONE {
            self.tail = previous;
        } else {
            queues[next as usize].links().previous = previous;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl InList for Links {
        fn links(&mut self) -> &mut Links {
            self
        }
    }

    #[test]
    fn a_queue_leaves_from_anywhere() {
        let mut queues = [Links::default(); 4];
        let mut list = QueueList::EMPTY;
        (0..4).for_each(|number| list.push(&mut queues, number));
        // The middle, the tail; then the head, each time, is what is left.
        list.remove(&mut queues, 1);
        list.remove(&mut queues, 3);
        list.push(&mut queues, 1);
        for expected in [0, 2, 1] {
            assert_eq!(list.head, expected);
            list.remove(&mut queues, expected);
        }
        assert_eq!((list.head, list.tail), (NONE, NONE));
    }
}
