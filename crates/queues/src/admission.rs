//! Disciplines that decide at enqueue over a FIFO: what they see, and what they answer.

/// An arriving packet, as a discipline sees it.
///
/// ```
/// use cwndlab_queues::{Admission, ArrivingPacket, Backlog, Decision, Limit, Step};
/// let mut queue = Step::new(Limit::Packets(10), Limit::Packets(0));
/// let packet = ArrivingPacket { now_s: 0.0, size_bytes: 1000, flow: 0, ecn: true, priority: 1 };
/// let backlog =
///     Backlog { packets: 1, bytes: 1000, in_service_bytes: 1000, ..Backlog::default() };
/// // ECN decides whether a packet at the threshold is marked or dropped.
/// assert_eq!(queue.admit(&packet, &backlog, &mut || 0.5), Decision::Mark);
/// let packet = ArrivingPacket { ecn: false, ..packet };
/// assert_eq!(queue.admit(&packet, &backlog, &mut || 0.5), Decision::Drop);
/// ```
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
///
/// ```
/// use cwndlab_queues::Backlog;
/// let backlog =
///     Backlog { packets: 3, bytes: 2540, in_service_bytes: 1040, ..Backlog::default() };
/// assert_eq!((backlog.waiting_packets(), backlog.waiting_bytes()), (2, 1500));
/// assert_eq!(Backlog::default().waiting_packets(), 0); // an idle link
/// ```
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
///
/// ```
/// # use cwndlab_queues::{Admission, ArrivingPacket, Backlog, Decision, DropTail, Limit};
/// # let arriving = |ecn| ArrivingPacket { now_s: 1.0, size_bytes: 1000, flow: 0, ecn,
/// #     priority: 1 };
/// # let backlog = |packets| Backlog { packets, bytes: 1000 * packets,
/// #     in_service_bytes: 1000.min(1000 * packets), ..Backlog::default() };
/// let mut queue = DropTail::new(Limit::Packets(2), true);
/// let mut decide = |packets| queue.admit(&arriving(false), &backlog(packets), &mut || 0.5);
/// assert_eq!([0, 1, 2].map(&mut decide), [Decision::Accept, Decision::Accept, Decision::Drop]);
/// ```
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
///
/// ```
/// use cwndlab_queues::DepartedPacket;
/// # use cwndlab_queues::{Admission, Backlog, Limit, Pie, PieParameters};
/// # let mut pie = Pie::new(&PieParameters::new(Limit::Packets(100), 8e6, 1000));
/// assert!(pie.needs_departures());
/// let departed =
///     DepartedPacket { tx_start_s: 0.0, tx_end_s: 0.001, size_bytes: 1000, priority: 1 };
/// pie.on_departure(&departed, &Backlog::default());
/// ```
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
///
/// ```
/// use cwndlab_queues::{Admission, ArrivingPacket, Backlog, Decision};
/// /// Drops every second packet.
/// struct Second(bool);
/// impl Admission for Second {
///     fn admit(
///         &mut self,
///         _: &ArrivingPacket,
///         _: &Backlog,
///         _: &mut impl FnMut() -> f64,
///     ) -> Decision {
///         self.0 = !self.0;
///         if self.0 { Decision::Accept } else { Decision::Drop }
///     }
/// }
/// # let arriving = |ecn| ArrivingPacket { now_s: 1.0, size_bytes: 1000, flow: 0, ecn,
/// #     priority: 1 };
/// # let backlog = |packets| Backlog { packets, bytes: 1000 * packets,
/// #     in_service_bytes: 1000.min(1000 * packets), ..Backlog::default() };
/// let mut queue = Second(false);
/// let mut decide = |()| queue.admit(&arriving(false), &backlog(0), &mut || 0.5);
/// assert_eq!([(); 2].map(&mut decide), [Decision::Accept, Decision::Drop]);
/// ```
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
