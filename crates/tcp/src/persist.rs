//! The persist timer: while the receiver's window is shut, the sender asks for it (RFC 9293 section
//! 3.8.6.1, RFC 1122 section 4.2.2.17).

use crate::tcb::Tcb;
use crate::ticks::timer_expiry_s;
use crate::{DataSegment, Ecn, Output, TcpConfig};

/// State of the timer, which shares its deadline with the retransmission timer: nothing is
/// outstanding while it runs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Persist {
    is_running: bool,
    /// Probes in a row.
    probes: u32,
}

impl Tcb {
    /// Whether the receiver's window alone keeps data back.
    pub(crate) fn is_window_shut(&self) -> bool {
        self.snd_nxt < self.data_end && self.snd_nxt > self.highest_ack + i64::from(self.rwnd)
    }

    /// Whether the timer that is armed is the persist timer.
    pub(crate) fn persists(&self) -> bool {
        self.persist.is_running && self.outstanding() == 0
    }

    /// Arms the timer if the window is shut and nothing is outstanding: for an RTO, which doubles
    /// with each probe, from the answer to the last one on (Linux `tcp_ack_probe`).
    #[inline]
    pub(crate) fn keep_asking(&mut self, now_s: f64, config: &TcpConfig) {
        if self.rwnd == 0 && self.outstanding() == 0 && self.is_window_shut() {
            self.arm_persist_timer(now_s, config);
        }
    }

    #[cold]
    #[inline(never)]
    fn arm_persist_timer(&mut self, now_s: f64, config: &TcpConfig) {
        let base_s = self.rtt.rto_s().max(config.rto.min_rto.seconds());
        let factor = f64::from(1u32 << self.persist.probes.min(30));
        let seconds = (base_s * factor).min(config.rto.max_rto.seconds());
        let in_ticks = config.recovery.rack;
        let expiry_s = if in_ticks { timer_expiry_s(now_s, seconds) } else { now_s + seconds };
        self.timer.arm(now_s, expiry_s - now_s);
        self.persist.is_running = true;
    }

    /// Asks for the window: no data, and the number of the last packet acknowledged, so that the
    /// receiver answers (Linux `tcp_xmit_probe_skb`).
    #[cold]
    #[inline(never)]
    pub(crate) fn probe_window(&mut self, now_s: f64, config: &TcpConfig, out: &mut impl Output) {
        out.send(DataSegment {
            push: false,
            number: self.highest_ack,
            size_bytes: config.wire_size_of(0),
            retransmission: true,
            ecn: Ecn::NotEct,
            cwr: false,
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
        });
        self.counters.sent += 1;
        self.persist.probes += 1;
        self.arm_persist_timer(now_s, config);
    }

    /// The receiver's window changed: an open one ends the probes.
    pub(crate) fn stop_asking(&mut self) {
        if self.persist.is_running && !self.is_window_shut() {
            if self.outstanding() == 0 {
                self.timer.stop();
            }
            self.persist = Persist::default();
        }
    }
}
