//! The persist timer: while the receiver's window is shut, the sender probes it (RFC 9293 section
//! 3.8.6.1, RFC 1122 section 4.2.2.17).

use crate::TcpConfig;
use crate::retransmission_timer::RetransmissionTimer;
use crate::ticks::timer_expiry_s;

/// State of the timer. Nothing is outstanding while it runs, so that its deadline is that of the
/// retransmission timer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Persist {
    is_running: bool,
    /// Window probes in a row.
    probes: u32,
}

impl Persist {
    pub(crate) fn is_running(self) -> bool {
        self.is_running
    }

    /// Arms the timer for an RTO, which doubles with each probe (Linux `tcp_probe0_when`).
    #[cold]
    #[inline(never)]
    pub(crate) fn arm(
        &mut self,
        timer: &mut RetransmissionTimer,
        now_s: f64,
        rto_s: f64,
        config: &TcpConfig,
    ) {
        let factor = f64::from(1u32 << self.probes.min(30));
        let base_s = rto_s.max(config.rto.min_rto.seconds());
        let seconds = (base_s * factor).min(config.rto.max_rto.seconds());
        let in_ticks = config.recovery.rack;
        let expiry_s = if in_ticks { timer_expiry_s(now_s, seconds) } else { now_s + seconds };
        timer.arm(now_s, expiry_s - now_s);
        self.is_running = true;
    }

    /// A window probe leaves.
    pub(crate) fn note_probe(&mut self) {
        self.probes += 1;
    }

    /// The window is open again: the next probe will be the first.
    pub(crate) fn stop(&mut self) {
        *self = Self::default();
    }
}
