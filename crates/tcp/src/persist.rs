//! The persist timer: while the receiver's window is shut, the sender asks for it (RFC 9293 section
//! 3.8.6.1, RFC 1122 section 4.2.2.17).

use crate::TcpConfig;

/// State of the timer, which shares its deadline with the retransmission timer: nothing is
/// outstanding while it runs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Persist {
    pub(crate) is_running: bool,
    /// Probes in a row.
    pub(crate) probes: u32,
}

impl Persist {
    /// Time to the next probe, seconds: an RTO, which doubles with each (Linux `tcp_probe0_when`).
    pub(crate) fn timeout_s(&self, rto_s: f64, config: &TcpConfig) -> f64 {
        let factor = f64::from(1u32 << self.probes.min(30));
        let base_s = rto_s.max(config.rto.min_rto.seconds());
        (base_s * factor).min(config.rto.max_rto.seconds())
    }
}
