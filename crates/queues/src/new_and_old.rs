//! The lists of new and of old queues (RFC 8290, section 4.2): new ones are served first.

use crate::fifo::NONE;
use crate::queue_list::{InList, QueueList};

/// The two lists.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewAndOld {
    new: QueueList,
    old: QueueList,
}

impl NewAndOld {
    pub(crate) const EMPTY: Self = Self { new: QueueList::EMPTY, old: QueueList::EMPTY };

    /// The queue whose turn it is, the head of the new list, else that of the old one; `NONE` if
    /// both are empty.
    #[inline]
    pub(crate) fn head(&self) -> u32 {
        if self.new.head == NONE { self.old.head } else { self.new.head }
    }

    /// A queue that becomes active joins the new list.
    #[inline]
    pub(crate) fn push_new(&mut self, queues: &mut [impl InList], number: u32) {
        self.new.push(queues, number);
    }

    /// A queue joins the old list.
    #[inline]
    pub(crate) fn push_old(&mut self, queues: &mut [impl InList], number: u32) {
        self.old.push(queues, number);
    }

    /// The head leaves its list, which is the new one if this returns true.
    #[inline]
    pub(crate) fn remove_head(&mut self, queues: &mut [impl InList]) -> bool {
        let is_new = self.new.head != NONE;
        let list = if is_new { &mut self.new } else { &mut self.old };
        list.remove(queues, list.head);
        is_new
    }

    /// The head, which has no credits left, moves to the end of the old list.
    #[inline]
    pub(crate) fn postpone_head(&mut self, queues: &mut [impl InList]) {
        let number = self.head();
        self.remove_head(queues);
        self.old.push(queues, number);
    }

    /// The head is empty: a new queue moves to the end of the old list, so that its flow gains
    /// nothing by pauses; an old one leaves. Returns whether it left.
    #[inline]
    pub(crate) fn retire_head(&mut self, queues: &mut [impl InList]) -> bool {
        let number = self.head();
        let is_new = self.remove_head(queues);
        if is_new {
            self.old.push(queues, number);
        }
        !is_new
    }
}
