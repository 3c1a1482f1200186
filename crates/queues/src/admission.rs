//! Disciplines that decide at enqueue over a FIFO: what they see, and what they answer.

/// An arriving packet, as a discipline sees it.
#[derive(Clone, Copy, Debug)]
pub struct ArrivingPacket {
    /// Arrival time, seconds.
    pub now_s: f64,
    /// Size on the wire.
    pub size_bytes: u32,
    /// Flow number; numbers need not be dense.
    pub flow: u32,
    /// Whether the packet is ECT and may be marked instead of dropped (RFC 3168).
    pub ecn: bool,
    /// Priority, 0 (first) to 3; for RIO 0 is "in profile".
    pub priority: u8,
}

/// Backlog of the link at an arrival, after departures at the same time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Backlog {
    /// Packets waiting and in service.
    pub packets: u64,
    /// Bytes waiting and in service.
    pub bytes: u64,
    /// Bytes of the packet in service; 0 on an idle link.
    pub in_service_bytes: u64,
    /// Priority of the packet in service.
    pub in_service_priority: u8,
    /// Start of the idle time on an idle link, seconds.
    pub idle_since_s: f64,
}

impl Backlog {
    /// Packets waiting, without the one in service.
    #[inline]
    pub fn waiting_packets(&self) -> u64 {
        self.packets.saturating_sub(1)
    }

    /// Bytes waiting, without the packet in service.
    #[inline]
    pub fn waiting_bytes(&self) -> u64 {
        self.bytes - self.in_service_bytes
    }
}

/// Decision about an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Enqueue.
    Accept,
    /// Enqueue with the CE codepoint.
    Mark,
    /// Drop.
    Drop,
}

/// A packet that left the link.
#[derive(Clone, Copy, Debug)]
pub struct DepartedPacket {
    /// End of its transmission, seconds.
    pub tx_end_s: f64,
    /// Start of its transmission, seconds.
    pub tx_start_s: f64,
    /// Size on the wire.
    pub size_bytes: u32,
    /// Priority.
    pub priority: u8,
}

/// A discipline that decides at enqueue over a FIFO. `random` returns numbers uniform in [0, 1).
pub trait Admission {
    /// Decides about an arriving packet.
    fn admit(
        &mut self,
        packet: &ArrivingPacket,
        backlog: &Backlog,
        random: &mut impl FnMut() -> f64,
    ) -> Decision;

    /// Backlog, in packets of at most `largest_bytes`, up to which one more packet is accepted for
    /// certain and no state changes. The link uses it to defer counting departures.
    fn guaranteed_accept_backlog(&self, _largest_bytes: u32) -> u64 {
        0
    }

    /// Reports a departure; `backlog` is what remains. Called before the next arrival or update, in
    /// order of time, only where [`Admission::needs_departures`].
    fn on_departure(&mut self, _packet: &DepartedPacket, _backlog: &Backlog) {}

    /// Time of the next periodic update, seconds; infinite for none.
    fn next_update_s(&self) -> f64 {
        f64::INFINITY
    }

    /// Periodic update; all earlier departures were reported.
    fn on_update(&mut self, _now_s: f64, _backlog: &Backlog) {}

    /// Whether the discipline needs departures reported.
    fn needs_departures(&self) -> bool {
        false
    }
}
