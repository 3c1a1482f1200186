//! What travels: 40 bytes, so that a ring of packets stays in cache.

use cwndlab_tcp::SackBlocks;

/// A data packet or an acknowledgement on its way.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// When it arrives at its next stage, seconds.
    pub at_s: f64,
    /// When its transmission towards that stage began, seconds: what decides between simultaneous events, as in ns-2.
    pub since_s: f64,
    /// Packet number, or cumulative acknowledgement.
    pub number: i64,
    /// When the data packet was sent; an acknowledgement carries that of the packet it answers.
    pub sent_s: f64,
    /// Bytes on the wire.
    pub size_bytes: u16,
    /// Whether it was sent before.
    pub retransmission: bool,
    /// Where its SACK blocks and timestamp echo are kept, plus one; 0 for neither.
    pub options: u32,
}

/// What only some acknowledgements carry.
#[derive(Clone, Copy, Debug)]
pub struct AckOptions {
    /// SACK blocks.
    pub sack: SackBlocks,
    /// Timestamp echoed.
    pub echo_s: f64,
}

/// Options of acknowledgements on their way; most carry none.
#[derive(Debug, Default)]
pub struct OptionStore {
    slots: Vec<AckOptions>,
    free: Vec<u32>,
}

impl OptionStore {
    /// Keeps options; the ticket is never 0.
    pub fn put(&mut self, options: AckOptions) -> u32 {
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = options;
                slot + 1
            }
            None => {
                self.slots.push(options);
                self.slots.len() as u32
            }
        }
    }

    /// Gives them back.
    pub fn take(&mut self, ticket: u32) -> AckOptions {
        self.free.push(ticket - 1);
        self.slots[ticket as usize - 1]
    }
}
