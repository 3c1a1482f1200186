//! Marks at the sender: what an echoed mark does (ns-2 `TcpAgent::ecn`, RFC 3168 section 6.1.2), and what packets carry for it.

use crate::window::{Cut, LastCut};
use crate::{Knobs, Sender, recovery};
use cwndlab_rules::{Congestion, WindowRule};

/// What a sender remembers about marks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ecn {
    /// The receiver has agreed to ECN: from now on echoes stop growth (ns-2 `ect_`).
    pub(crate) agreed: bool,
    /// The window was cut, and no packet has said so yet (ns-2 `cong_action_`).
    pub(crate) cwr_due: bool,
    /// An echo arrived at a window of one packet, and echoes have not stopped since (ns-2 `ecn_backoff_`).
    pub(crate) at_one_packet: bool,
}

impl Ecn {
    pub(crate) fn new(knobs: &Knobs) -> Self {
        Self { agreed: !knobs.ecn_handshake, cwr_due: false, at_one_packet: false }
    }
}

impl Sender {
    /// An acknowledgement carries the echo of a mark: cuts, once per window of data. Comes before anything else that the acknowledgement does.
    #[cold]
    #[inline(never)]
    pub(crate) fn on_echo(&mut self, ack: i64, knobs: &Knobs) {
        if self.rack.is_some() {
            return recovery::rack::on_echo(self, knobs);
        }
        let new_window = ack > self.recover;
        if new_window && knobs.ecn_ends_recovery {
            self.stop_reducing();
            self.in_recovery = false;
            self.dupwnd = 0;
        }
        if !(new_window || (knobs.ecn_after_timeout && self.last_cut == LastCut::Timeout)) {
            return;
        }
        self.recover = self.highest_sent;
        self.last_cut = LastCut::Ecn;
        let at_one_packet = self.cwnd <= 1.0;
        if at_one_packet && self.ecn.at_one_packet && knobs.ecn_backoff {
            self.rtt.back_off(knobs);
        }
        self.ecn.at_one_packet = at_one_packet;
        self.counters.ecn_reductions += 1;
        self.cut(Cut::ToTarget(Congestion::Ecn), knobs);
    }

    /// Whether the window may grow although the acknowledgement carries an echo: this once, if it is the answer to the first packet.
    #[cold]
    #[inline(never)]
    pub(crate) fn agree(&mut self) -> bool {
        !std::mem::replace(&mut self.ecn.agreed, true)
    }

    /// Whether what was outstanding at a time-out is still being repaired: echoes of older marks go on meanwhile, since the answer to them
    /// (CWR) rides on new data only (RFC 3168 sections 6.1.2 and 6.1.5). To stand still at one packet a round trip for a whole window would be
    /// the consequence; the window was cut for these marks as deep as it goes.
    pub(crate) fn is_repairing(&self, knobs: &Knobs) -> bool {
        knobs.grow_in_repair && self.last_cut == LastCut::Timeout && self.highest_ack < self.recover
    }

    /// Whether a loss found now was answered already, by a cut for an echo in the same window (RFC 3168 section 6.1.2).
    pub(crate) fn reduced_by_echo(&self, knobs: &Knobs) -> bool {
        self.last_cut == LastCut::Ecn && self.rule.mark_covers_loss() && (knobs.ecn_covers_last_cut || self.highest_ack < self.recover)
    }

    /// Whether packet `number` can be marked, and whether it tells the receiver of a cut (ns-2 `TcpAgent::output`, RFC 3168 section 6.1).
    pub(crate) fn ecn_flags(&mut self, number: i64, retransmission: bool, knobs: &Knobs) -> (bool, bool) {
        let first = number == 0 && (knobs.syn || knobs.ecn_handshake);
        let ect = !first && (!retransmission || knobs.ecn_on_retransmission);
        let cwr = self.ecn.cwr_due && (!retransmission || knobs.cwr_on_retransmission);
        self.ecn.cwr_due &= !cwr;
        (ect, cwr)
    }
}
