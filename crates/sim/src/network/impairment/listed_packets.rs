//! Packets that a link drops or holds back by their number and transmission, so that a run in the
//! simulator and one in a kernel lose the same packets.

use std::collections::VecDeque;

/// What becomes of a listed transmission.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ListedFate {
    /// It is dropped.
    Dropped,
    /// It arrives at the other end so much later, seconds.
    Held(f64),
}

/// A transmission of a data packet, and what becomes of it.
#[derive(Clone, Copy, Debug)]
pub struct ListedTransmission {
    /// Flow.
    pub flow: u32,
    /// Packet number.
    pub number: i64,
    /// Which of its transmissions, from 1.
    pub transmission: u32,
    /// What becomes of it.
    pub fate: ListedFate,
}

/// A packet with listed transmissions.
#[derive(Clone, Debug)]
struct ListedPacket {
    flow: u32,
    number: i64,
    /// Transmissions that have arrived.
    arrived: u32,
    fates: Vec<(u32, ListedFate)>,
    /// For how long transmissions that are on the link will be held, in their order, seconds.
    holds_s: VecDeque<f64>,
}

/// The listed packets of a link.
#[derive(Clone, Debug)]
pub struct ListedPackets {
    /// Sorted by flow and number.
    packets: Vec<ListedPacket>,
}

impl ListedPackets {
    /// A list of transmissions in any order; of two that are equal the first one counts.
    pub fn new(mut listed: Vec<ListedTransmission>) -> Self {
        listed.sort_by_key(|one| (one.flow, one.number));
        let is_one = |a: &ListedTransmission, b: &ListedTransmission| {
            (a.flow, a.number) == (b.flow, b.number)
        };
        let packets = listed.chunk_by(is_one).map(|same| ListedPacket {
            flow: same[0].flow,
            number: same[0].number,
            arrived: 0,
            fates: same.iter().map(|one| (one.transmission, one.fate)).collect(),
            holds_s: VecDeque::new(),
        });
        Self { packets: packets.collect() }
    }

    fn packet(&mut self, flow: u32, number: i64) -> Option<&mut ListedPacket> {
        let found =
            self.packets.binary_search_by_key(&(flow, number), |one| (one.flow, one.number));
        self.packets.get_mut(found.ok()?)
    }

    /// A data packet arrives in front of the queue; what becomes of it, if it is listed. One that
    /// will be held is on the link until [`ListedPackets::release`].
    pub fn arrive(&mut self, flow: u32, number: i64) -> Option<ListedFate> {
        let packet = self.packet(flow, number)?;
        packet.arrived = packet.arrived.saturating_add(1);
        let fate = packet.fates.iter().find(|fate| fate.0 == packet.arrived)?.1;
        if let ListedFate::Held(hold_s) = fate {
            packet.holds_s.push_back(hold_s);
        }
        Some(fate)
    }

    /// A packet that will be held leaves the link, or was lost on it; returns for how long it is
    /// held, seconds.
    pub fn release(&mut self, flow: u32, number: i64) -> f64 {
        self.packet(flow, number).and_then(|packet| packet.holds_s.pop_front()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transmissions_are_counted_by_packet_and_flow() {
        let listed = |flow, number, transmission, fate| ListedTransmission {
            flow,
            number,
            transmission,
            fate,
        };
        let mut packets = ListedPackets::new(vec![
            listed(1, 7, 2, ListedFate::Dropped),
            listed(0, 9, 1, ListedFate::Held(0.5)),
            listed(1, 7, 1, ListedFate::Held(0.25)),
            listed(1, 7, 4, ListedFate::Held(0.125)),
        ]);
        assert_eq!([packets.arrive(0, 7), packets.arrive(1, 8), packets.arrive(1, -1)], [None; 3]);
        let seven: Vec<_> = (0..5).map(|_| packets.arrive(1, 7)).collect();
        let held = |hold_s| Some(ListedFate::Held(hold_s));
        assert_eq!(seven, [held(0.25), Some(ListedFate::Dropped), None, held(0.125), None]);
        assert_eq!(packets.arrive(0, 9), held(0.5));
        // Two transmissions of a packet may be on the link at once; they leave it in order.
        assert_eq!([packets.release(1, 7), packets.release(1, 7)], [0.25, 0.125]);
        assert_eq!([packets.release(0, 9), packets.release(0, 9)], [0.5, 0.0]);
    }
}
