//! DualPI2: two queues, one for scalable flows (L4S) and one for classic flows, whose marking and
//! dropping probabilities are coupled, so that flows of both kinds share the link's rate.
//!
//! Source: K. De Schepper, B. Briscoe and G. White, RFC 9332, section 2 and appendix A
//! (pseudo-code).
//!
//! * A packet with ECT(1) or CE joins the L queue, any other the C queue. A buffer of `limit` holds
//!   both.
//! * Every `update`, with the queueing delay `d` (the longer sojourn time of the two heads) and
//!   `d_old`, that of the previous update: `p' += alpha (d - target) + beta (d - d_old)`, within 0
//!   and 1. Then `p_C = p'^2` and `p_CL = k p'` with the coupling factor `k`.
//! * A packet leaving the C queue is dropped, or marked if it is ECT, with probability `p_C`.
//! * A packet leaving the L queue is marked with probability `max(p_L, p_CL)`: `p_L` rises from 0
//!   to 1 while its sojourn time rises from `threshold` to `threshold + range`; it is 0 if no other
//!   packet is in the L queue.
//! * Overload, `p_CL >= 1`: both queues drop ECT packets too with probability `p_C` (and the L queue
//!   marks the others), so that latency does not grow.
//! * Probabilities are without chance (`recur`): a queue adds them up, and acts when the sum exceeds
//!   1, which it then reduces by 1.
//! * The L queue is served first, but the C queue gets at least the share `classic_share` of the
//!   link while both have packets (weighted round robin, section 2.5.1).
//!
//! Parameters: [`DualPi2Parameters`].
//!
//! Departures from the RFC: sojourn times are those of the departing packet. Nothing is dropped or
//! marked for `p'` while at most two packets of the largest size are in the queues, the departing
//! one included (as in Linux, and RFC 8033 section 4.1). Updates that fall between two packets
//! are made up at the next packet, which nothing can observe. Linux draws random numbers instead of
//! summing up.

use crate::buffer_limit::Limit;
use crate::fifo::{Fifo, PacketPool};
use crate::queue_disc::{QueueDisc, QueueItem};

/// Parameters of a DualPI2 queue.
///
/// ```
/// use cwndlab_queues::{DualPi2Parameters, Limit};
/// let parameters = DualPi2Parameters::new(Limit::Packets(1000));
/// assert_eq!((parameters.target_s, parameters.coupling), (0.015, 2.0)); // RFC 9332, appendix A.1
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualPi2Parameters {
    /// Buffer limit of both queues together, without the packet in service.
    pub limit: Limit,
    /// Target queueing delay of the C queue, seconds.
    pub target_s: f64,
    /// Update interval, seconds (Tupdate).
    pub update_s: f64,
    /// Gain of the deviation from the target, 1/s.
    pub alpha: f64,
    /// Gain of the change in delay, 1/s.
    pub beta: f64,
    /// Coupling factor (k).
    pub coupling: f64,
    /// Sojourn time in the L queue above which packets are marked, seconds (minTh).
    pub threshold_s: f64,
    /// Rise of the sojourn time over which the share of marks reaches 1, seconds (range); 0 for a
    /// step.
    pub range_s: f64,
    /// Share of the link that the C queue gets at least while both queues have packets.
    pub classic_share: f64,
}

impl DualPi2Parameters {
    /// The RFC's values (appendix A.1): 15 ms, every 15 ms, gains for round trips up to 100 ms, a
    /// ramp from 0.8 to 1.2 ms, coupling factor 2, a sixteenth for the C queue.
    pub fn new(limit: Limit) -> Self {
        Self {
            limit,
            target_s: 0.015,
            update_s: 0.015,
            alpha: 0.15,
            beta: 3.0,
            coupling: 2.0,
            threshold_s: 0.0008,
            range_s: 0.0004,
            classic_share: 0.0625,
        }
    }
}

/// A FIFO and the sum of probabilities of its packets (`recur`, appendix A.1).
#[derive(Clone, Debug, Default)]
struct Branch {
    fifo: Fifo,
    sum: f64,
}

impl Branch {
    /// Whether this packet is one of the share `probability`.
    fn recur(&mut self, probability: f64) -> bool {
        self.sum += probability.min(1.0);
        let is_due = self.sum > 1.0;
        self.sum -= f64::from(u8::from(is_due));
        is_due
    }
}

/// What the AQM does with a departing packet.
enum Verdict {
    Send,
    Mark,
    Drop,
}

/// A DualPI2 queue.
///
/// ```
/// use cwndlab_queues::{DualPi2, DualPi2Parameters, Limit};
/// # use cwndlab_queues::{QueueDisc, QueueItem};
/// # let item = |flow, packet| QueueItem { size_bytes: 1000, flow, ecn: false, l4s: false,
/// #     marked: false, priority: 1, enqueued_s: 0.0, packet };
/// let mut queue = DualPi2::new(&DualPi2Parameters::new(Limit::Packets(100)));
/// queue.enqueue(item(0, "classic"), &mut |_| ());
/// queue.enqueue(QueueItem { ecn: true, l4s: true, ..item(1, "L4S") }, &mut |_| ());
/// // The L queue is served first.
/// assert_eq!(queue.dequeue(0.0, &mut |_| ()).unwrap().packet, "L4S");
/// assert_eq!(queue.probability(), 0.0);
/// ```
#[derive(Clone, Debug)]
pub struct DualPi2<P> {
    parameters: DualPi2Parameters,
    pool: PacketPool<P>,
    l4s: Branch,
    classic: Branch,
    /// Base probability `p'`.
    probability: f64,
    /// Queueing delay at the last update, seconds.
    delay_s: f64,
    /// Updates so far.
    updates: u64,
    /// Bytes that the C queue is owed while positive.
    credit_bytes: f64,
    /// Largest packet seen.
    max_packet_bytes: u32,
}

impl<P> DualPi2<P> {
    /// Queues that are empty from time 0; the first update is at `update_s`.
    pub fn new(parameters: &DualPi2Parameters) -> Self {
        Self {
            parameters: *parameters,
            pool: PacketPool::new(),
            l4s: Branch::default(),
            classic: Branch::default(),
            probability: 0.0,
            delay_s: 0.0,
            updates: 0,
            credit_bytes: 0.0,
            max_packet_bytes: 0,
        }
    }

    /// Base probability `p'`, as of the last packet.
    pub fn probability(&self) -> f64 {
        self.probability
    }

    /// Makes up for the updates until now (`dualpi2_update`, appendix A.1).
    #[inline]
    fn catch_up(&mut self, now_s: f64) {
        while (self.updates + 1) as f64 * self.parameters.update_s <= now_s {
            self.updates += 1;
            self.update(self.updates as f64 * self.parameters.update_s);
            if self.probability == 0.0 && self.packets() == 0 {
                // Nothing changes until a packet comes.
                self.updates = self.updates.max((now_s / self.parameters.update_s) as u64);
            }
        }
    }

    fn update(&mut self, at_s: f64) {
        let DualPi2Parameters { target_s, alpha, beta, .. } = self.parameters;
        let sojourn_s = |branch: &Branch| {
            self.pool.head_enqueued_s(&branch.fifo).map_or(0.0, |since_s| at_s - since_s)
        };
        let delay_s = sojourn_s(&self.l4s).max(sojourn_s(&self.classic));
        let step = alpha * (delay_s - target_s) + beta * (delay_s - self.delay_s);
        self.probability = (self.probability + step).clamp(0.0, 1.0);
        self.delay_s = delay_s;
    }

    /// Whether the L queue is next (section 2.5.1); counts the packet in the credit.
    fn l4s_is_next(&mut self) -> bool {
        let share = self.parameters.classic_share;
        let l4s_bytes = f64::from(self.pool.head_bytes(&self.l4s.fifo));
        let classic_bytes = f64::from(self.pool.head_bytes(&self.classic.fifo));
        if self.l4s.fifo.packets == 0 || self.classic.fifo.packets == 0 {
            return self.classic.fifo.packets == 0;
        }
        let is_next = self.credit_bytes <= 0.0;
        self.credit_bytes +=
            if is_next { share * l4s_bytes } else { (share - 1.0) * classic_bytes };
        is_next
    }

    fn of_l4s(&mut self, sojourn_s: f64, is_short: bool) -> Verdict {
        let DualPi2Parameters { coupling, threshold_s, range_s, .. } = self.parameters;
        let coupled = if is_short { 0.0 } else { coupling * self.probability };
        if coupled >= 1.0 && self.l4s.recur(self.probability * self.probability) {
            return Verdict::Drop;
        }
        let native = match sojourn_s - threshold_s {
            _ if self.l4s.fifo.packets == 0 => 0.0,
            above_s if above_s >= range_s => 1.0,
            above_s => (above_s / range_s).max(0.0),
        };
        if self.l4s.recur(native.max(coupled)) { Verdict::Mark } else { Verdict::Send }
    }

    fn of_classic(&mut self, is_ect: bool, is_short: bool) -> Verdict {
        if is_short || !self.classic.recur(self.probability * self.probability) {
            Verdict::Send
        } else if is_ect && self.parameters.coupling * self.probability < 1.0 {
            Verdict::Mark
        } else {
            Verdict::Drop
        }
    }
}

impl<P> QueueDisc<P> for DualPi2<P> {
    #[inline]
    fn enqueue(&mut self, item: QueueItem<P>, dropped: &mut impl FnMut(QueueItem<P>)) {
        self.catch_up(item.enqueued_s);
        if !self.parameters.limit.admits(self.packets(), self.bytes(), item.size_bytes) {
            return dropped(item);
        }
        self.max_packet_bytes = self.max_packet_bytes.max(item.size_bytes);
        if self.packets() == 0 {
            // A new busy period begins with the L queue (as in Linux).
            let share = self.parameters.classic_share;
            self.credit_bytes = (2.0 * share - 1.0) * f64::from(self.max_packet_bytes);
        }
        let branch = if item.l4s { &mut self.l4s } else { &mut self.classic };
        self.pool.push(&mut branch.fifo, item);
    }

    #[inline]
    fn dequeue(
        &mut self,
        now_s: f64,
        dropped: &mut impl FnMut(QueueItem<P>),
    ) -> Option<QueueItem<P>> {
        self.catch_up(now_s);
        loop {
            let is_short = self.bytes() <= 2 * u64::from(self.max_packet_bytes);
            let is_l4s = self.l4s_is_next();
            let branch = if is_l4s { &mut self.l4s } else { &mut self.classic };
            let item = self.pool.pop(&mut branch.fifo)?;
            let verdict = if is_l4s {
                self.of_l4s(now_s - item.enqueued_s, is_short)
            } else {
                self.of_classic(item.ecn, is_short)
            };
            match verdict {
                Verdict::Send => return Some(item),
                Verdict::Mark => return Some(QueueItem { marked: true, ..item }),
                Verdict::Drop => dropped(item),
            }
        }
    }

    #[inline]
    fn packets(&self) -> u64 {
        self.pool.packets()
    }

    #[inline]
    fn bytes(&self) -> u64 {
        self.pool.bytes()
    }
}
