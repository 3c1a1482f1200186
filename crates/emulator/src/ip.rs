//! IPv4 and TCP headers: parsing and checksum verification, and setting CE.

use crate::{PacketMeta, TcpSegment};
use cwndlab_sim::Ecn;
use etherparse::{IpNumber, Ipv4HeaderSlice, TcpHeaderSlice, TcpOptionElement, TcpSlice};
use std::fmt;

/// The ECN bits in the second byte of an IPv4 header, which is also the CE codepoint (RFC 3168
/// section 5).
const ECN: u8 = 0b11;

/// A parsed packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParsedPacket {
    /// Source address.
    pub source: [u8; 4],
    /// Destination address.
    pub destination: [u8; 4],
    /// The other header fields; the caller sets the flow number.
    pub meta: PacketMeta,
}

/// Why a packet cannot be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// Not IPv4, or truncated.
    NotIpv4,
    /// The checksum of the IPv4 header is wrong.
    HeaderChecksum,
    /// A truncated TCP segment.
    Tcp,
    /// The checksum of the TCP segment is wrong.
    TcpChecksum,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotIpv4 => "not an IPv4 packet",
            Self::HeaderChecksum => "wrong checksum of the IPv4 header",
            Self::Tcp => "truncated TCP segment",
            Self::TcpChecksum => "wrong checksum of the TCP segment",
        })
    }
}

impl std::error::Error for Malformed {}

/// Parses a packet and verifies its checksums. Fragments and packets other than TCP have no
/// segment.
pub fn parse_packet(packet: &[u8]) -> Result<ParsedPacket, Malformed> {
    let header = Ipv4HeaderSlice::from_slice(packet).map_err(|_| Malformed::NotIpv4)?;
    let total = usize::from(header.total_len());
    let body = packet.get(header.slice().len()..total).ok_or(Malformed::NotIpv4)?;
    if !is_right(header.header_checksum(), header.to_header().calc_header_checksum()) {
        return Err(Malformed::HeaderChecksum);
    }
    let ecn = header.ecn().value();
    let is_whole = !header.more_fragments() && header.fragments_offset().value() == 0;
    let segment = if header.protocol() == IpNumber::TCP && is_whole {
        Some(segment(&header, body)?)
    } else {
        None
    };
    let meta =
        PacketMeta { flow: 0, size_bytes: header.total_len(), ecn: Ecn::from_bits(ecn), segment };
    Ok(ParsedPacket { source: header.source(), destination: header.destination(), meta })
}

/// Whether two checksums are equal. In one's complement 0xffff equals 0x0000 (RFC 1071), and Linux
/// writes a zero as 0xffff (CSUM_MANGLED_0).
fn is_right(found: u16, expected: u16) -> bool {
    found % u16::MAX == expected % u16::MAX
}

fn segment(header: &Ipv4HeaderSlice<'_>, body: &[u8]) -> Result<TcpSegment, Malformed> {
    let tcp = TcpSlice::from_slice(body).map_err(|_| Malformed::Tcp)?;
    let checksum = tcp
        .calc_checksum_ipv4(header.source(), header.destination())
        .map_err(|_| Malformed::Tcp)?;
    if !is_right(tcp.checksum(), checksum) {
        return Err(Malformed::TcpChecksum);
    }
    Ok(TcpSegment {
        sequence: tcp.sequence_number(),
        payload_bytes: tcp.payload().len() as u32,
        syn: tcp.syn(),
        ack: tcp.ack().then(|| tcp.acknowledgment_number()),
    })
}

/// What an ACK says besides its number.
#[derive(Clone, Debug, Default)]
pub struct AckOptions {
    /// ECE.
    pub ece: bool,
    /// SACK blocks, sequence numbers.
    pub sack: Vec<(u32, u32)>,
}

impl AckOptions {
    /// Those of a packet of IPv4.
    pub fn of(packet: &[u8]) -> Self {
        let header_bytes = packet.first().map_or(0, |first| usize::from(first & 15) * 4);
        let header = packet.get(header_bytes..).map(TcpHeaderSlice::from_slice);
        let Some(Ok(tcp)) = header else { return Self::default() };
        let mut sack = Vec::new();
        for option in tcp.options_iterator().flatten() {
            if let TcpOptionElement::SelectiveAcknowledgement(first, more) = option {
                sack.push(first);
                sack.extend(more.into_iter().flatten());
            }
        }
        Self { ece: tcp.ece(), sack }
    }
}

/// Sets CE in a packet and updates the header checksum (RFC 1624 section 3, equation 3). Returns
/// false and changes nothing if the packet is not IPv4 or not ECN-capable.
pub fn set_ce(packet: &mut [u8]) -> bool {
    let (Some(&version), Some(&service)) = (packet.first(), packet.get(1)) else { return false };
    if version >> 4 != 4 || packet.len() < 20 || service & ECN == 0 {
        return false;
    }
    let old = u16::from_be_bytes([version, service]);
    let new = old | u16::from(ECN);
    let checksum = u16::from_be_bytes([packet[10], packet[11]]);
    // Equation 3: HC' = ~(~HC + ~m + m'), in one's complement.
    let sum = u32::from(!checksum) + u32::from(!old) + u32::from(new);
    let sum = (sum & 0xffff) + (sum >> 16);
    let patched = !(((sum & 0xffff) + (sum >> 16)) as u16);
    packet[1] = service | ECN;
    packet[10..12].copy_from_slice(&patched.to_be_bytes());
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{IpEcn, PacketBuilder};
    use proptest::prelude::*;

    fn packet(ecn: u8, payload: &[u8]) -> Vec<u8> {
        let mut ip =
            etherparse::Ipv4Header::new(0, 64, IpNumber::TCP, [10, 64, 0, 1], [10, 65, 0, 1])
                .unwrap();
        ip.ecn = IpEcn::try_new(ecn).unwrap();
        let builder = PacketBuilder::ip(etherparse::IpHeaders::Ipv4(ip, Default::default()))
            .tcp(5000, 80, 12345, 1024)
            .ack(99);
        let mut bytes = Vec::new();
        builder.write(&mut bytes, payload).unwrap();
        bytes
    }

    #[test]
    fn the_checksum_of_rfc_1624_section_4_is_updated() {
        // Section 4: the new checksum is 0x0000, for which RFC 1141 gave 0xFFFF. The first word
        // grows by 2, from 0x4501 to 0x4503, so a checksum of 0x0002 becomes 0x0000.
        let mut header = [0u8; 20];
        (header[0], header[1], header[11]) = (0x45, 0x01, 0x02);
        assert!(set_ce(&mut header));
        assert_eq!((header[1], header[10], header[11]), (0x03, 0x00, 0x00));
    }

    #[test]
    fn a_marked_packet_has_valid_checksums() {
        for ecn in [1, 2, 3] {
            let mut bytes = packet(ecn, &[7; 1000]);
            assert!(parse_packet(&bytes).unwrap().meta.ecn != Ecn::Ce || ecn == 3);
            assert!(set_ce(&mut bytes));
            let seen = parse_packet(&bytes).unwrap();
            assert_eq!(seen.meta.ecn, Ecn::Ce);
        }
        let mut deaf = packet(0, &[7; 10]);
        let before = deaf.clone();
        assert!(!set_ce(&mut deaf));
        assert_eq!(deaf, before);
    }

    #[test]
    fn headers_are_parsed() {
        let seen = parse_packet(&packet(2, &[0; 1000])).unwrap();
        assert_eq!(
            (seen.source, seen.destination, seen.meta.size_bytes),
            ([10, 64, 0, 1], [10, 65, 0, 1], 1040)
        );
        let expected =
            TcpSegment { sequence: 12345, payload_bytes: 1000, syn: false, ack: Some(99) };
        assert_eq!(seen.meta.segment, Some(expected));
    }

    #[test]
    fn packets_with_wrong_checksums_are_refused() {
        let bytes = packet(2, &[1, 2, 3]);
        let flipped = |index: usize| {
            let mut bytes = bytes.clone();
            bytes[index] ^= 0x10;
            parse_packet(&bytes).unwrap_err()
        };
        assert_eq!(flipped(8), Malformed::HeaderChecksum);
        assert_eq!(flipped(41), Malformed::TcpChecksum);
        assert_eq!(flipped(0), Malformed::NotIpv4);
        assert_eq!(parse_packet(&bytes[..30]), Err(Malformed::NotIpv4));
    }

    #[test]
    fn both_zeros_of_a_checksum_are_valid() {
        // The search finds a payload for which the checksum of the segment is 0.
        let zero = (0..=u16::MAX)
            .map(|low| packet(2, &low.to_be_bytes()))
            .find(|bytes| bytes[36..38] == [0, 0])
            .unwrap();
        let mut mangled = zero.clone();
        mangled[36..38].copy_from_slice(&[0xff, 0xff]);
        assert_eq!(parse_packet(&mangled), parse_packet(&zero));
        mangled[37] = 0xfe;
        assert_eq!(parse_packet(&mangled), Err(Malformed::TcpChecksum));
    }

    proptest! {
        #[test]
        fn marks_keep_every_header_valid(
            service in 0u8..=255, id: u16, ttl: u8, source: [u8; 4], destination: [u8; 4]
        ) {
            let mut ip =
                etherparse::Ipv4Header::new(0, ttl, IpNumber::UDP, source, destination).unwrap();
            (ip.identification, ip.ecn) = (id, IpEcn::try_new(service & 3).unwrap());
            ip.header_checksum = ip.calc_header_checksum();
            let mut bytes = ip.to_bytes().to_vec();
            let marked = set_ce(&mut bytes);
            prop_assert_eq!(marked, service & 3 != 0);
            prop_assert_eq!(parse_packet(&bytes).unwrap().meta.ecn == Ecn::Ce, marked);
        }
    }
}
