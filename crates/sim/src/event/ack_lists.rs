//! ACKs that are on their way to senders with nothing left in between: each sender processes all of
//! its own at once.

use crate::packet::Packet;

/// No ACK.
const NONE: u32 = u32::MAX;

/// Place of an ACK.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AckPlace(u32);

impl AckPlace {
    /// No place.
    pub const NONE: Self = Self(NONE);
}

/// The ACKs of a flow.
#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
    /// Least time from an ACK to the entry of a packet that it releases into the first station,
    /// seconds.
    delay_s: f64,
}

/// The ACKs of all flows, in order for each.
#[derive(Debug)]
pub struct AckLists {
    lists: Vec<List>,
    acks: Vec<(Packet, u32)>,
    free: u32,
    /// Flows with ACKs.
    pub touched: Vec<u32>,
}

impl Default for AckLists {
    fn default() -> Self {
        Self { lists: Vec::new(), acks: Vec::new(), free: NONE, touched: Vec::new() }
    }
}

impl AckLists {
    /// Adds the next flow, whose packets take at least `delay_s` to their first station.
    pub fn add_flow(&mut self, delay_s: f64) {
        self.lists.push(List { first: NONE, last: NONE, delay_s });
    }

    /// Sets that delay of a flow, seconds.
    pub fn set_delay(&mut self, flow: u32, delay_s: f64) {
        self.lists[flow as usize].delay_s = delay_s;
    }

    /// Adds an ACK. Returns the delay of the flow if it is its first one.
    #[inline(always)]
    pub fn push(&mut self, flow: u32, ack: Packet) -> Option<f64> {
        if self.free == NONE {
            self.grow();
        }
        let place = self.free;
        let slot = &mut self.acks[place as usize];
        self.free = slot.1;
        slot.0 = ack;
        slot.1 = NONE;
        let list = &mut self.lists[flow as usize];
        let last = std::mem::replace(&mut list.last, place);
        if last != NONE {
            self.acks[last as usize].1 = place;
            return None;
        }
        list.first = place;
        self.touched.push(flow);
        Some(list.delay_s)
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.free = self.acks.len() as u32;
        self.acks.push((Packet::default(), NONE));
    }

    /// Place of the first ACK of a flow.
    #[inline(always)]
    pub fn first(&self, flow: u32) -> AckPlace {
        AckPlace(self.lists[flow as usize].first)
    }

    /// The ACK at a place; none behind the last one.
    #[inline(always)]
    pub fn get(&self, place: AckPlace) -> Option<&Packet> {
        self.acks.get(place.0 as usize).map(|ack| &ack.0)
    }

    /// The place behind that of an ACK.
    #[inline(always)]
    pub fn next(&self, place: AckPlace) -> AckPlace {
        AckPlace(self.acks[place.0 as usize].1)
    }

    /// Removes the ACKs of a flow before a place, from the first one on; `last` is the last of them.
    #[inline]
    pub fn remove_before(&mut self, flow: u32, place: AckPlace, last: AckPlace) {
        let list = &mut self.lists[flow as usize];
        let first = std::mem::replace(&mut list.first, place.0);
        if first == place.0 {
            return;
        }
        if place.0 == NONE {
            list.last = NONE;
        }
        self.acks[last.0 as usize].1 = self.free;
        self.free = first;
    }

    /// Prefetches the list of a flow.
    #[inline(always)]
    pub fn prefetch(&self, flow: u32) {
        self.lists.get(flow as usize).inspect(|list| cwndlab_prefetch::prefetch(*list));
    }
}
