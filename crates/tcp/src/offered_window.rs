//! The window of a receiver whose application reads slowly, or whose buffer changes (RFC 9293
//! section 3.8.6). No offer is taken back: a smaller buffer, or none, shows once the data that were
//! allowed have arrived.

use crate::NEVER;
use std::sync::Arc;

/// The buffer of a receiver and how the application behind it reads. Times are those of the run,
/// seconds; each list begins at 0 and is in order.
///
/// ```
/// use cwndlab_tcp::ReaderPlan;
/// // A buffer of 20 packets; the application stops from 5 s to 7 s.
/// let plan = ReaderPlan {
///     buffer: vec![(0.0, 20)],
///     rate: vec![(0.0, 1000.0), (5.0, 0.0), (7.0, 1000.0)],
/// };
/// assert_eq!(plan.buffer_at(6.0), 20);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ReaderPlan {
    /// Packets that the buffer holds, from a time on.
    pub buffer: Vec<(f64, u32)>,
    /// Packets per second that the application reads, from a time on; empty: it reads at once.
    pub rate: Vec<(f64, f64)>,
}

impl ReaderPlan {
    /// The buffer at a time, packets.
    pub fn buffer_at(&self, now_s: f64) -> u32 {
        let passed = self.buffer.partition_point(|&(from_s, _)| from_s <= now_s);
        passed.checked_sub(1).map_or(0, |last| self.buffer[last].1)
    }

    /// When the application has read a packet that it begins to read at `from_s`, seconds.
    fn read_s(&self, from_s: f64) -> f64 {
        let passed = self.rate.partition_point(|&(step_s, _)| step_s <= from_s);
        let (mut from_s, mut packets) = (from_s, 1.0);
        for (index, &(_, rate)) in self.rate.iter().enumerate().skip(passed.saturating_sub(1)) {
            let until_s = self.rate.get(index + 1).map_or(NEVER, |next| next.0);
            if rate > 0.0 && from_s + packets / rate <= until_s {
                return from_s + packets / rate;
            }
            if until_s == NEVER {
                break;
            }
            packets -= rate * (until_s - from_s);
            from_s = until_s;
        }
        NEVER
    }
}

/// What the receiver offers.
#[derive(Clone, Debug)]
pub(crate) struct OfferedWindow {
    plan: Arc<ReaderPlan>,
    /// A packet has arrived: before that there is no one to send updates to.
    has_begun: bool,
    /// Packets that the buffer holds, and the next change of it.
    buffer: u32,
    next_change: usize,
    /// Next packet expected, next packet to be read, and when the application has read it, seconds.
    rcv_nxt: i64,
    read_nxt: i64,
    read_s: f64,
    /// Right edge of the window: the first packet beyond what ACKs offered.
    edge: i64,
    /// When a read began, or the buffer changed, last, seconds.
    changed_s: f64,
    /// The packet that arrived last, whose SACK block comes first.
    pub(crate) last: i64,
    /// Window updates: ACKs that no packet triggered.
    pub(crate) updates: u32,
}

impl OfferedWindow {
    /// Before the first packet of data, which has this number.
    pub(crate) fn new(plan: Arc<ReaderPlan>, first: i64) -> Self {
        Self {
            plan,
            has_begun: false,
            buffer: 0,
            next_change: 0,
            rcv_nxt: first,
            read_nxt: first,
            read_s: NEVER,
            edge: first,
            changed_s: 0.0,
            last: 0,
            updates: 0,
        }
    }

    /// A packet arrives, behind which `rcv_nxt` is expected.
    pub(crate) fn on_arrival(&mut self, now_s: f64, number: i64, rcv_nxt: i64) {
        self.advance(now_s);
        self.last = number;
        let was_idle = self.read_nxt == self.rcv_nxt;
        self.rcv_nxt = self.rcv_nxt.max(rcv_nxt);
        if self.plan.rate.is_empty() {
            self.read_nxt = self.rcv_nxt;
        } else if was_idle {
            self.begin_to_read(now_s);
        }
    }

    /// The application reads until `now_s`, and the buffer changes.
    pub(crate) fn advance(&mut self, now_s: f64) {
        self.has_begun = true;
        while self.read_s <= now_s {
            self.read_nxt += 1;
            self.begin_to_read(self.read_s);
        }
        while let Some(&(at_s, packets)) = self.plan.buffer.get(self.next_change)
            && at_s <= now_s
        {
            (self.buffer, self.changed_s) = (packets, at_s);
            self.next_change += 1;
        }
    }

    fn begin_to_read(&mut self, now_s: f64) {
        self.changed_s = now_s;
        self.read_s = if self.read_nxt < self.rcv_nxt { self.plan.read_s(now_s) } else { NEVER };
    }

    /// An ACK leaves, and offers what is free.
    pub(crate) fn offer(&mut self) {
        self.edge = self.edge.max(self.possible_edge());
    }

    fn possible_edge(&self) -> i64 {
        self.read_nxt + i64::from(self.buffer)
    }

    /// The window that the last ACK offered, packets.
    pub(crate) fn packets(&self) -> i64 {
        self.edge - self.rcv_nxt
    }

    /// Whether a window update is due: the window can open by two packets, or by half the buffer.
    /// RFC 9293 section 3.8.6.2.2 permits one from a single packet on; BSD waits for two.
    pub(crate) fn needs_update(&self) -> bool {
        let step = i64::from(self.buffer / 2).clamp(1, 2);
        self.possible_edge() >= self.edge + step
    }

    /// When the window may open further, seconds, or [`NEVER`].
    pub(crate) fn deadline_s(&self) -> f64 {
        if !self.has_begun {
            return NEVER;
        }
        let change_s = self.plan.buffer.get(self.next_change).map_or(NEVER, |change| change.0);
        self.read_s.min(change_s)
    }

    /// When this was settled, seconds.
    pub(crate) fn armed_at_s(&self) -> f64 {
        self.changed_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(buffer: &[(f64, u32)], rate: &[(f64, f64)]) -> OfferedWindow {
        let plan = ReaderPlan { buffer: buffer.to_vec(), rate: rate.to_vec() };
        OfferedWindow::new(Arc::new(plan), 0)
    }

    /// Ten packets arrive at once; one is read every 100 ms, and none from 250 ms to 1 s: the third
    /// has half of its time before and half behind.
    #[test]
    fn a_reader_that_pauses_opens_the_window_later() {
        let mut window = offered(&[(0.0, 10)], &[(0.0, 10.0), (0.25, 0.0), (1.0, 10.0)]);
        for number in 0..10 {
            window.on_arrival(0.0, number, number + 1);
            window.offer();
        }
        assert_eq!((window.packets(), window.deadline_s()), (0, 0.1));
        window.advance(0.1);
        assert!(!window.needs_update());
        window.advance(0.2);
        assert!(window.needs_update());
        window.offer();
        assert_eq!(window.packets(), 2);
        assert!((window.deadline_s() - 1.05).abs() < 1e-12);
    }

    /// A buffer that shrinks takes no offer back; one that grows opens the window.
    #[test]
    fn a_smaller_buffer_takes_no_offer_back() {
        let mut window = offered(&[(0.0, 8), (1.0, 0), (2.0, 4)], &[]);
        window.on_arrival(0.5, 0, 1);
        window.offer();
        assert_eq!(window.packets(), 8);
        window.on_arrival(1.5, 1, 2);
        window.offer();
        assert_eq!((window.packets(), window.deadline_s()), (7, 2.0));
        (2..9).for_each(|number| window.on_arrival(1.6, number, number + 1));
        window.offer();
        assert_eq!(window.packets(), 0);
        window.advance(2.0);
        assert!(window.needs_update());
        window.offer();
        assert_eq!((window.packets(), window.deadline_s()), (4, NEVER));
    }

    #[test]
    fn an_application_that_never_reads_has_no_deadline() {
        let mut window = offered(&[(0.0, 4)], &[(0.0, 0.0)]);
        window.on_arrival(0.5, 0, 1);
        assert_eq!(window.deadline_s(), NEVER);
    }
}
