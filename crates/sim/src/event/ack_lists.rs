//! ACKs that are on their way to senders with nothing left in between: each sender processes all of
//! its own at once.

use crate::packet::Packet;
use cwndlab_prefetch::prefetch;

/// The ACKs of all flows, in order for each.
#[derive(Debug, Default)]
pub struct AckLists {
    lists: Vec<Vec<Packet>>,
    /// Memory of a list.
    spare: Vec<Packet>,
    /// Flows with ACKs.
    pub touched: Vec<u32>,
}

impl AckLists {
    /// Adds the next flow.
    pub fn add_flow(&mut self) {
        self.lists.push(Vec::new());
    }

    /// Adds an ACK.
    #[inline(always)]
    pub fn push(&mut self, flow: u32, ack: Packet) {
        let list = &mut self.lists[flow as usize];
        if list.is_empty() {
            self.touched.push(flow);
        }
        list.push(ack);
    }

    /// Takes the ACKs of a flow.
    #[inline]
    pub fn take(&mut self, flow: u32) -> Vec<Packet> {
        std::mem::replace(&mut self.lists[flow as usize], std::mem::take(&mut self.spare))
    }

    /// Gives the memory of a list back.
    #[inline]
    pub fn give_back(&mut self, flow: u32, mut acks: Vec<Packet>) {
        acks.clear();
        let list = &mut self.lists[flow as usize];
        if list.capacity() == 0 {
            *list = acks;
        } else {
            self.spare = acks;
        }
    }

    /// Prefetches the list of a flow.
    #[inline(always)]
    pub fn prefetch(&self, flow: u32) {
        self.lists.get(flow as usize).inspect(|list| prefetch(*list));
    }
}
