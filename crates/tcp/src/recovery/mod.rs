//! Loss recovery: how losses are found and repaired. Each scheme is a file, with its state and its
//! loss detection; a variant of [`Recovery`] names it, and one of [`LossRecovery`] runs it.

mod dupack;
mod frto;
mod rack;
mod rack_tlp;
mod reno;
mod sack;
mod tahoe;
mod write_queue;

use crate::rate_meter::Measured;
use crate::tcb::{Flight, Tcb};
use crate::{AckSegment, CaState, Output, SackBlocks, TcpConfig, TcpInfo};
use cwndlab_prefetch::prefetch;
use rack_tlp::RackTlp;
use reno::FastRecovery;
use sack::Sack;

/// The recovery scheme of a sender, with its state.
#[derive(Clone, Debug)]
pub(crate) enum LossRecovery {
    Tahoe,
    Reno(FastRecovery),
    Sack(Sack),
    RackTlp(Box<RackTlp>),
}

impl LossRecovery {
    pub(crate) fn new(recovery: Recovery, config: &TcpConfig) -> Self {
        match recovery {
            Recovery::Tahoe => Self::Tahoe,
            Recovery::Reno => Self::Reno(FastRecovery::RENO),
            Recovery::NewReno | Recovery::Sack if config.recovery.rack => {
                Self::RackTlp(Box::new(RackTlp::new(recovery.uses_sack())))
            }
            Recovery::NewReno => Self::Reno(FastRecovery::NEWRENO),
            Recovery::Sack => Self::Sack(Sack::default()),
            Recovery::Fack => Self::Sack(Sack::fack()),
        }
    }

    /// Measures rates for a rule that asks for samples, where the scheme can.
    pub(crate) fn measure_rates(&mut self, tcb: &mut Tcb) {
        let measures = tcb.take_samples(matches!(self, Self::RackTlp(_)));
        if let Self::RackTlp(scheme) = self
            && measures
        {
            scheme.measure_rates();
        }
    }

    /// What another sender measures with the next ACK.
    pub(crate) fn note_measured(&mut self, measured: Measured) {
        if let Self::RackTlp(scheme) = self {
            scheme.note_measured(measured);
        }
    }

    /// Takes over the memory of another flow's loss detection.
    pub(crate) fn take_memory(&mut self, other: &mut Self) {
        match (self, other) {
            (Self::Sack(sack), Self::Sack(other)) => sack.take_memory(other),
            (Self::RackTlp(rack_tlp), Self::RackTlp(other)) => {
                std::mem::swap(&mut rack_tlp.rack, &mut other.rack);
                rack_tlp.rack.reset();
            }
            _ => {}
        }
    }

    /// Processes an ACK.
    pub(crate) fn on_ack(
        &mut self,
        tcb: &mut Tcb,
        now_s: f64,
        ack: AckSegment,
        sack: Option<&SackBlocks>,
        config: &TcpConfig,
        out: &mut impl Output,
    ) {
        match self {
            Self::Tahoe => tahoe::on_ack(tcb, now_s, ack, config, out),
            Self::Reno(scheme) => scheme.on_ack(tcb, now_s, ack, config, out),
            Self::Sack(scheme) => scheme.on_ack(tcb, now_s, ack, sack, config, out),
            Self::RackTlp(scheme) => scheme.on_ack(tcb, now_s, ack, sack, config, out),
        }
    }

    /// Responds to ECE, before anything else that the ACK does; RACK-TLP does later.
    pub(crate) fn on_ece(&mut self, tcb: &mut Tcb, ack: i64, config: &TcpConfig) {
        match self {
            Self::Tahoe | Self::Reno(_) => tcb.reduce_for_ece(ack, false, config),
            Self::Sack(_) => tcb.reduce_for_ece(ack, true, config),
            Self::RackTlp(_) => {}
        }
    }

    /// Handles expiry of the timer.
    pub(crate) fn on_timer(
        &mut self,
        tcb: &mut Tcb,
        now_s: f64,
        config: &TcpConfig,
        out: &mut impl Output,
    ) {
        if let Self::RackTlp(scheme) = self {
            return scheme.on_timer(tcb, now_s, config, out);
        }
        self.on_rto(tcb, now_s, config);
        self.send_pending_data(tcb, now_s, config, out);
    }

    /// Handles a retransmission timeout, up to sending.
    pub(crate) fn on_rto(&mut self, tcb: &mut Tcb, now_s: f64, config: &TcpConfig) {
        match self {
            Self::Tahoe => tcb.handle_rto(now_s, config),
            Self::Reno(_) => {
                (tcb.window_inflation, tcb.dupacks) = (0, 0);
                tcb.handle_rto(now_s, config);
            }
            Self::Sack(scheme) => scheme.on_rto(tcb, now_s, config),
            Self::RackTlp(scheme) => scheme.on_rto(tcb, now_s, config),
        }
    }

    /// The last reduction was undone: nothing is being repaired. `late_originals`: an ACK of a part
    /// of the window showed that packets came late which recovery had sent again.
    pub(crate) fn on_undo(&mut self, late_originals: bool) {
        match self {
            Self::Tahoe | Self::Reno(_) => {}
            Self::Sack(scheme) => scheme.on_undo(),
            Self::RackTlp(scheme) => scheme.on_undo(late_originals),
        }
    }

    /// Sends what the window, pacing and `max_burst` allow.
    pub(crate) fn send_pending_data(
        &mut self,
        tcb: &mut Tcb,
        now_s: f64,
        config: &TcpConfig,
        out: &mut impl Output,
    ) {
        match self {
            Self::Tahoe | Self::Reno(_) => {
                tcb.send_pending_data(now_s, config, config.limits.max_burst, out);
            }
            Self::Sack(scheme) => scheme.send_pending_data(tcb, now_s, config, out),
            Self::RackTlp(scheme) => scheme.send_pending_data(tcb, now_s, config, out),
        }
    }

    /// Sends after the application supplied data.
    pub(crate) fn send_supply(
        &mut self,
        tcb: &mut Tcb,
        now_s: f64,
        config: &TcpConfig,
        out: &mut impl Output,
    ) {
        match self {
            Self::Sack(scheme) => scheme.send_supply(tcb, now_s, config, out),
            _ => self.send_pending_data(tcb, now_s, config, out),
        }
    }

    /// Packets that an ACK newly reports as delivered. Without SACK each duplicate ACK reports one.
    pub(crate) fn newly_delivered(&self, tcb: &Tcb, ack: i64, sack: Option<&SackBlocks>) -> u64 {
        let advance = (ack - tcb.highest_ack).max(0) as u64;
        let sacked = match self {
            Self::Tahoe | Self::Reno(_) if advance == 0 => {
                return u64::from(ack == tcb.highest_ack && tcb.outstanding() > 0);
            }
            Self::Tahoe | Self::Reno(_) => {
                return advance.saturating_sub(tcb.dupacks.into()).max(1);
            }
            Self::RackTlp(scheme) if sack.is_none() && !scheme.rack.has_sacked() => return advance,
            Self::Sack(scheme) => scheme.memory().map(|board| board.sacked()),
            Self::RackTlp(scheme) => Some(scheme.rack.sacked()),
        };
        let is_new = |from: i64, to: i64| {
            let known = sacked.map_or(0, |set| set.count(from, to));
            ((to - from).max(0) as u64).saturating_sub(known)
        };
        let blocks = sack.map_or(&[][..], SackBlocks::as_slice);
        let skip = usize::from(sack.is_some_and(|blocks| blocks.duplicate(ack).is_some()));
        let above = ack.max(tcb.highest_ack) + 1;
        is_new(tcb.highest_ack + 1, ack + 1)
            + blocks[skip..]
                .iter()
                .map(|&(left, right)| is_new(left.max(above), right.min(tcb.highest_sent + 1)))
                .sum::<u64>()
    }

    /// Packets that an ACK newly reports as delivered, if the sender remembers what was: RFC 6675's
    /// scoreboard forgets at a timeout (section 5.1).
    pub(crate) fn newly_reported(
        &self,
        tcb: &Tcb,
        ack: i64,
        sack: Option<&SackBlocks>,
    ) -> Option<u64> {
        let reports = match self {
            Self::RackTlp(scheme) => scheme.has_sack,
            Self::Tahoe | Self::Reno(_) | Self::Sack(_) => false,
        };
        reports.then(|| self.newly_delivered(tcb, ack, sack))
    }

    /// From now on the application's data is what it has written.
    pub(crate) fn take_given_writes(&mut self) {
        if let Self::RackTlp(scheme) = self {
            scheme.take_given_writes();
        }
    }

    /// The application takes back all but `left` packets of its data.
    pub(crate) fn withdraw(&mut self, left: i64) {
        if let Self::RackTlp(scheme) = self {
            scheme.withdraw(left);
        }
    }

    /// Whether the device below refuses packets.
    pub(crate) fn refuse_packets(&mut self, refuses: bool) {
        if let Self::RackTlp(scheme) = self {
            scheme.refuse_packets(refuses);
        }
    }

    /// Whether an ACK of no new data is a window update or the answer to a window probe, not a
    /// duplicate ACK (RFC 5681 section 2): with SACK, if it reports no new packet (RFC 6675 section
    /// 2). RACK judges by itself.
    pub(crate) fn is_window_update(&self, tcb: &Tcb, ack: i64, sack: Option<&SackBlocks>) -> bool {
        match self {
            Self::Tahoe | Self::Reno(_) => true,
            Self::Sack(_) => self.newly_delivered(tcb, ack, sack) == 0,
            Self::RackTlp(_) => false,
        }
    }

    /// State for `tcp_info`.
    pub(crate) fn report(&self, tcb: &Tcb, info: &mut TcpInfo) {
        info.unacked = tcb.outstanding().max(0) as u32;
        match self {
            Self::Tahoe | Self::Reno(_) => info.sacked = tcb.dupacks,
            Self::Sack(scheme) => {
                let (first, end) = (tcb.highest_ack + 1, tcb.highest_sent + 1);
                let board = scheme.memory();
                info.sacked = board.map_or(0, |board| board.sacked().count(first, end) as u32);
            }
            Self::RackTlp(scheme) => return scheme.rack.report(info),
        }
        if info.ca_state == CaState::Open && info.sacked > 0 {
            info.ca_state = CaState::Disorder;
        }
    }

    /// Packets in flight and lost, for the rule.
    pub(crate) fn flight(&self, tcb: &Tcb, config: &TcpConfig) -> Flight {
        match self {
            Self::Tahoe | Self::Reno(_) => tcb.flight(),
            Self::Sack(scheme) => scheme.flight(tcb, config),
            Self::RackTlp(scheme) => scheme.flight(tcb),
        }
    }

    /// Packets that cwnd allows beyond those in flight, before `snd_nxt` is sent.
    #[inline]
    pub(crate) fn left_by_cwnd(&self, tcb: &Tcb, snd_nxt: i64) -> i64 {
        match self {
            Self::RackTlp(scheme) => tcb.congestion_window() - scheme.rack.in_flight(),
            _ => tcb.highest_ack + tcb.congestion_window() + 1 - snd_nxt,
        }
    }

    /// Whether the timer is armed for something else than the RTO.
    pub(crate) fn timer_is_rack_or_tlp(&self) -> bool {
        matches!(self, Self::RackTlp(scheme) if scheme.timer_is_rack_or_tlp())
    }

    /// Prefetches heap data before the next ACK arrives.
    #[inline]
    pub(crate) fn prefetch(&self) {
        if let Self::Sack(scheme) = self {
            scheme.memory().inspect(|board| prefetch(*board));
        }
    }
}

/// Loss recovery scheme of a sender.
///
/// ```
/// use cwndlab_tcp::{Profile, Recovery, TcpConfig};
/// assert_eq!(Recovery::NewReno.name(), "newreno");
/// assert!(Recovery::Sack.uses_sack() && !Recovery::NewReno.uses_sack());
/// // Under Linux SACK detects losses by time (RFC 8985).
/// assert_eq!(Recovery::Sack.name_under(&TcpConfig::profile(Profile::Linux)), "rack");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Recovery {
    /// Fast retransmit, then slow start from one packet (Jacobson 1988).
    Tahoe,
    /// Fast recovery with window inflation (RFC 2581).
    Reno,
    /// Reno that stays in recovery on partial ACKs (RFC 6582). Under Linux the same by duplicate
    /// ACKs in place of SACK.
    NewReno,
    /// Selective acknowledgments (RFC 2018, RFC 6675; ns-2 Sack1).
    Sack,
    /// Forward acknowledgment (Mathis and Mahdavi 1996): packets below the highest SACKed one are
    /// lost.
    Fack,
}

impl Recovery {
    /// All schemes with their names in scenarios, in the order of the variants.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Tahoe, "tahoe"),
        (Self::Reno, "reno"),
        (Self::NewReno, "newreno"),
        (Self::Sack, "sack"),
        (Self::Fack, "fack"),
    ];

    /// Name in scenarios.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// Name of what runs under these settings: SACK that detects losses by time is `rack`.
    pub fn name_under(self, config: &TcpConfig) -> &'static str {
        let is_rack = self == Self::Sack && config.recovery.rack;
        if is_rack { "rack" } else { self.name() }
    }

    /// Whether the receiver sends SACK blocks.
    pub fn uses_sack(self) -> bool {
        matches!(self, Self::Sack | Self::Fack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scheme_has_its_own_name() {
        for (recovery, name) in Recovery::ALL {
            assert_eq!(recovery.name(), name);
        }
    }
}
