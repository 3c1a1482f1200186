//! F-RTO with SACK (RFC 5682 section 3): whether a timeout was spurious is seen from the packets
//! that arrive after it, before more than one is sent again.

/// Whether F-RTO runs, after a timeout.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Frto {
    is_running: bool,
}

/// What an ACK after a timeout shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AfterTimeout {
    /// It acknowledges new data.
    pub(crate) advanced: bool,
    /// It is a duplicate ACK, or reports packets by SACK.
    pub(crate) reports_hole: bool,
    /// It delivers a packet that was outstanding at the timeout and was sent once.
    pub(crate) delivers_original: bool,
    /// All that was outstanding at the timeout is acknowledged.
    pub(crate) is_repaired: bool,
    /// New data were sent since the timeout, and could be sent.
    pub(crate) sent_new: bool,
    pub(crate) has_new: bool,
}

/// What the sender does by F-RTO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// It repairs losses.
    Repair,
    /// It sends new data first, whose ACKs will tell.
    SendNew,
    /// It undoes the reduction: the timeout was spurious.
    Undo,
}

impl Frto {
    /// A timeout: F-RTO judges it if no repair was under way, or if the same packet times out again
    /// (RFC 5682 section 3.2, Linux `tcp_enter_loss`).
    pub(crate) fn on_timeout(&mut self, is_judged: bool) {
        self.is_running = is_judged;
    }

    /// An ACK arrives (Linux `tcp_process_loss`).
    pub(crate) fn on_ack(&mut self, ack: AfterTimeout) -> Step {
        if !self.is_running {
            return Step::Repair;
        }
        if ack.delivers_original {
            self.is_running = false;
            return Step::Undo;
        }
        if ack.sent_new {
            self.is_running = !ack.reports_hole;
        } else if ack.advanced && !ack.is_repaired {
            if ack.has_new {
                return Step::SendNew;
            }
            self.is_running = false;
        }
        Step::Repair
    }

    /// New data could not be sent after all.
    pub(crate) fn stop(&mut self) {
        self.is_running = false;
    }
}
