//! AccECN (RFC 9768): the receiver counts what arrives with CE. Each ACK carries the last three
//! bits of the packet counter (the ACE field) and, where there is room, the byte counter (the
//! AccECN option, on every ACK as by default in Linux). From both the sender infers how many
//! packets were marked.
//!
//! Left out: feedback of the handshake's ECN fields (a path that bleaches them is not detected),
//! and the counters of ECT(0) and ECT(1) bytes.

use crate::{AckSegment, EcnEcho, TcpConfig};

/// First value of the packet counters (section 3.2.1).
const INITIAL: u32 = 5;
/// Modulus of the byte counter (section 3.2.3).
const OPTION_MODULUS: u32 = 1 << 24;
/// Bytes of the option with two counters: kind, length, and three bytes for each.
const OPTION_SIZE: u32 = 8;
/// Bytes of options in a TCP header, at most.
const MAX_OPTIONS_SIZE: u32 = 40;
/// Packets with CE after which an ACK is sent at once (section 3.2.2.5.1, n).
const MAX_UNREPORTED: u32 = 2;

/// AE, CWR and ECE of a SYN/ACK whose SYN was not ECT (section 3.1.1, table 2).
const SYN_ACK: u32 = 0b010;

/// What a receiver counts.
#[derive(Clone, Debug)]
pub(crate) struct CeCounter {
    /// Packets and payload bytes with CE (r.cep, r.ceb).
    packets: u32,
    bytes: u32,
    /// Packets with CE since the last ACK.
    unreported: u32,
    last_was_ce: bool,
}

impl CeCounter {
    pub(crate) fn new() -> Self {
        Self { packets: INITIAL, bytes: 0, unreported: 0, last_was_ce: false }
    }

    /// Counts a packet. Returns whether an ACK must be sent at once: at the first CE after a packet
    /// without, and at every second (section 3.2.2.5.1).
    pub(crate) fn on_data(&mut self, ce: bool, payload_bytes: u32) -> bool {
        let is_first = ce && !self.last_was_ce;
        self.last_was_ce = ce;
        if ce {
            self.packets += 1;
            self.bytes = (self.bytes + payload_bytes) % OPTION_MODULUS;
            self.unreported += 1;
        }
        is_first || self.unreported >= MAX_UNREPORTED
    }

    /// The ACE field.
    pub(crate) fn echo(&self) -> EcnEcho {
        EcnEcho::ace(self.packets)
    }

    /// Completes an ACK: adds the option if there is room. The acknowledgement of a SYN reports how
    /// the SYN arrived instead.
    pub(crate) fn report(&mut self, ack: &mut AckSegment, sack_blocks: u32, config: &TcpConfig) {
        if ack.ack == 0 && config.handshake.syn {
            ack.echo = EcnEcho::ace(SYN_ACK);
            return;
        }
        self.unreported = 0;
        let timestamps = if config.rto.timestamps { 12 } else { 0 };
        // A SACK option of n blocks has 2 + 8 n bytes, padded to words (RFC 2018 section 3).
        let sack = if sack_blocks > 0 { 4 + 8 * sack_blocks } else { 0 };
        let has_room = timestamps + sack + OPTION_SIZE <= MAX_OPTIONS_SIZE;
        if config.ecn.ecn_feedback.has_option() && has_room {
            ack.echo = ack.echo.with_ce_bytes(self.bytes);
            ack.size_bytes += OPTION_SIZE;
        }
    }
}

/// What a sender knows of the receiver's counters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CeEstimate {
    /// Last ACE field (s.cep modulo 8), and bytes in the last option (s.ceb).
    echo: EcnEcho,
    bytes: u32,
    /// SYNs sent.
    pub(crate) syns: u32,
}

/// SYNs without an answer after which a sender gives up ECN (section 3.1.4.1).
pub(crate) const MAX_SYNS: u32 = 2;

impl CeEstimate {
    pub(crate) fn new() -> Self {
        Self { echo: EcnEcho::ace(INITIAL), bytes: 0, syns: 0 }
    }

    /// Whether feedback reports marks that are not counted yet.
    pub(crate) fn is_news(&self, echo: EcnEcho) -> bool {
        echo.bits() != self.echo.bits() || echo.ce_bytes().is_some_and(|bytes| bytes != self.bytes)
    }

    /// Feedback of an ACK that reports nothing new.
    pub(crate) fn echo(&self) -> EcnEcho {
        self.echo
    }

    /// Packets newly marked according to an ACK that delivers `delivered` packets (sections
    /// 3.2.2.5.2 and A.2). The option tells how often the field wrapped; without it the worst case
    /// counts.
    pub(crate) fn update(&mut self, ack: AckSegment, delivered: u64, payload_bytes: u32) -> u64 {
        let field = |echo: EcnEcho| u64::from(echo.bits());
        let least = field(ack.echo).wrapping_sub(field(self.echo)) % 8;
        self.echo = ack.echo;
        let bytes = ack.echo.ce_bytes().map(|bytes| {
            let before = std::mem::replace(&mut self.bytes, bytes);
            bytes.wrapping_sub(before) % OPTION_MODULUS
        });
        let wraps = match bytes {
            Some(bytes) => {
                let packets = u64::from(bytes.div_ceil(payload_bytes.max(1)));
                // The nearest number: a packet may be short.
                (packets.saturating_sub(least) + 4) / 8
            }
            None => delivered.saturating_sub(least) / 8,
        };
        least + 8 * wraps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;
    use crate::tcp_config;

    /// An ACK with this ACE field and option.
    fn ack(ace: u32, ce_bytes: Option<u32>) -> AckSegment {
        let header = EcnEcho::ace(ace);
        let echo = ce_bytes.map_or(header, |bytes| header.with_ce_bytes(bytes));
        AckSegment { ack: 9, sent_s: 0.0, echo_s: 0.0, size_bytes: 40, echo }
    }

    #[test]
    fn the_field_counts_modulo_eight() {
        let mut estimate = CeEstimate::new();
        // 5 at the start; 7, then 1 after a wrap: two packets each.
        assert_eq!(estimate.update(ack(5, None), 1, 1000), 0);
        assert_eq!(estimate.update(ack(7, None), 2, 1000), 2);
        assert_eq!(estimate.update(ack(9, None), 7, 1000), 2);
    }

    /// Section 3.2.2.5.2: an increment of 2 on an ACK of 10 packets or more may be one of 10.
    #[test]
    fn without_the_option_the_field_may_have_wrapped() {
        for (delivered, marked) in [(7, 2), (9, 2), (10, 10), (17, 10), (18, 18)] {
            let estimate = CeEstimate::new().update(ack(5 + 2, None), delivered, 1000);
            assert_eq!(estimate, marked, "{delivered} delivered");
        }
        // All 8 packets may be marked although the field did not change.
        assert_eq!(CeEstimate::new().update(ack(5, None), 8, 1000), 8);
    }

    #[test]
    fn the_option_tells_how_often_the_field_wrapped() {
        for (bytes, marked) in [(2_000, 2), (10_000, 10), (17_600, 18), (0, 2)] {
            let estimate = CeEstimate::new().update(ack(5 + 2, Some(bytes)), 30, 1000);
            assert_eq!(estimate, marked, "{bytes} bytes");
        }
        // The byte counter wraps, too: from 2^24 - 1000 to 1000 are two packets.
        let mut estimate = CeEstimate { bytes: (1 << 24) - 1000, ..CeEstimate::new() };
        assert_eq!(estimate.update(ack(5 + 2, Some(1000)), 30, 1000), 2);
    }

    #[test]
    fn three_sack_blocks_and_timestamps_leave_no_room_for_the_option() {
        let config = tcp_config!(rfc(), ecn.ecn_feedback = crate::EcnFeedback::AccEcn);
        for (timestamps, blocks, fits) in
            [(false, 0, true), (false, 3, true), (true, 2, true), (true, 3, false)]
        {
            let (mut counter, mut segment) = (CeCounter::new(), ack(0, None));
            counter.on_data(true, 1000);
            counter.report(
                &mut segment,
                blocks,
                &tcp_config!(config.clone(), rto.timestamps = timestamps),
            );
            assert_eq!(segment.echo.ce_bytes(), fits.then_some(1000), "{timestamps} {blocks}");
            assert_eq!(segment.size_bytes, if fits { 48 } else { 40 });
        }
    }

    fn rfc() -> TcpConfig {
        TcpConfig::profile(Profile::Rfc)
    }
}
