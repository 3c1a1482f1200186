//! Repetition of a SYN-ACK: a receiver that has a SYN and no data repeats its SYN-ACK by a timer
//! (RFC 9293 section 3.8.1; Linux `reqsk_timer_handler`), because nothing else tells it whether the
//! SYN-ACK arrived.

use crate::{NEVER, TcpConfig};

/// A SYN-ACK that may be lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SynAck {
    /// When it is repeated, seconds, or [`NEVER`].
    pub(crate) deadline_s: f64,
    /// When the timer was armed, seconds.
    pub(crate) armed_at_s: f64,
    /// When the SYN that it answers was sent, seconds.
    pub(crate) sent_s: f64,
    /// How often the timer expired.
    pub(crate) repetitions: u32,
}

impl SynAck {
    /// A SYN, sent at `sent_s`, is answered now.
    pub(crate) fn new(now_s: f64, sent_s: f64, config: &TcpConfig) -> Self {
        Self { deadline_s: NEVER, armed_at_s: 0.0, sent_s, repetitions: 0 }.armed(now_s, config)
    }

    /// The SYN arrives again and is answered again: the timer starts again, with its backoff.
    pub(crate) fn answer(&mut self, now_s: f64, sent_s: f64, config: &TcpConfig) {
        *self = Self { sent_s, ..*self }.armed(now_s, config);
    }

    /// The timer expires.
    pub(crate) fn repeat(&mut self, config: &TcpConfig) {
        self.repetitions += 1;
        *self = self.armed(self.deadline_s, config);
    }

    /// The same with a timer that starts now: the initial RTO, doubled by each expiry (RFC 6298
    /// section 5).
    fn armed(self, now_s: f64, config: &TcpConfig) -> Self {
        if self.repetitions >= config.handshake.synack_retries {
            return Self { deadline_s: NEVER, ..self };
        }
        let backoff = f64::from(1_u32 << self.repetitions.min(31));
        let timeout_s = config.rto.initial_rto.seconds() * backoff;
        let deadline_s = now_s + timeout_s.min(config.rto.max_rto.seconds());
        Self { deadline_s, armed_at_s: now_s, ..self }
    }
}
