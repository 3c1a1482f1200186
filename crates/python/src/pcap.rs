//! Packet capture at the senders, as by tcpdump: a pcapng file with nanosecond timestamps, IPv4 and
//! TCP headers and SACK options. A packet number becomes a sequence number in units of
//! `packet_size` bytes. The capture has no payloads (the snap length covers the headers). The
//! 40-byte packet 0 becomes a SYN.

use crate::traces::in_order;
use cwndlab_scenario::Scenario;
use cwndlab_sim::results::Traces;
use cwndlab_sim::{PacketEvent, PacketRow};
use cwndlab_tcp::{Ecn, TcpConfig};
use etherparse::{IpEcn, IpNumber, Ipv4Header, TcpHeader, TcpOptionElement};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::{DataLink, PcapError};
use std::borrow::Cow;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Duration;

/// Initial sequence number of every flow.
const INITIAL: u32 = 0;
const SINK_PORT: u16 = 5001;
/// The window field has no meaning; it is scaled by the most that RFC 7323 allows.
const SYN_OPTIONS: [TcpOptionElement; 2] =
    [TcpOptionElement::SelectiveAcknowledgementPermitted, TcpOptionElement::WindowScale(14)];
/// tsresol: 10^-9 seconds.
const NANOSECONDS: u8 = 9;

struct Endpoint {
    config: TcpConfig,
    /// Bytes to transfer, if they are limited.
    bytes: Option<u64>,
    source: [u8; 4],
    sink: [u8; 4],
    port: u16,
    /// Timestamp of the last acknowledgement, which data packets echo.
    heard_ms: u32,
}

/// Writes the capture file.
pub fn write(
    path: &Path,
    traces: &Traces<'_>,
    scenario: &Scenario,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let Some(recorder) = traces.recorder else { return Ok(()) };
    let mut writer = PcapNgWriter::new(BufWriter::new(File::create(path)?)).map_err(cause)?;
    let mut interface = InterfaceDescriptionBlock::new(DataLink::RAW, 0);
    interface.options.push(InterfaceDescriptionOption::IfTsResol(NANOSECONDS));
    writer.write_pcapng_block(interface).map_err(cause)?;
    let mut endpoints = endpoints(scenario);
    for row in in_order(recorder) {
        let endpoint = &mut endpoints[row.flow as usize];
        let (headers, payload) = match row.event {
            PacketEvent::Send => data_headers(row, endpoint)?,
            PacketEvent::Ack => {
                endpoint.heard_ms = milliseconds(row.time_s);
                let sack = recorder
                    .sacks
                    .get((row.sack as usize).wrapping_sub(1))
                    .map_or(&[][..], |sack| sack.as_slice());
                (ack_headers(row, sack, endpoint)?, 0)
            }
            _ => continue,
        };
        let block = EnhancedPacketBlock {
            interface_id: 0,
            timestamp: Duration::from_nanos((row.time_s * 1e9).round() as u64),
            original_len: headers.len() as u32 + payload,
            data: Cow::Owned(headers),
            options: vec![],
        };
        writer.write_pcapng_block(block).map_err(cause)?;
    }
    // Dropped, the buffer would lose its last packets in silence where the disk is full.
    writer.into_inner().flush()?;
    Ok(())
}

/// The system's error where there is one: `pcap_file` says "Error reading bytes" of every one.
fn cause(error: PcapError) -> Box<dyn Error + Send + Sync> {
    match error {
        PcapError::IoError(error) => error.into(),
        error => error.into(),
    }
}

/// Every flow has its own addresses in 10.0.0.0/8.
fn endpoints(scenario: &Scenario) -> Vec<Endpoint> {
    let mut endpoints = Vec::new();
    for spec in &scenario.flows {
        let config = scenario.tcp_config(&spec.tcp);
        for _ in 0..spec.count {
            let flow = endpoints.len() as u32 + 1;
            let [_, a, b, c] = flow.to_be_bytes();
            let (source, sink) = ([10, a & 0x7f, b, c], [10, a | 0x80, b, c]);
            endpoints.push(Endpoint {
                bytes: spec.transfer_bytes(&config),
                config: config.clone(),
                source,
                sink,
                port: 40_000 + (flow % 20_000) as u16,
                heard_ms: 0,
            });
        }
    }
    endpoints
}

impl Endpoint {
    /// Sequence number of packet `number`: a SYN takes one, data packets take `packet_size` each.
    fn sequence(&self, number: i64) -> u32 {
        let config = &self.config;
        if number <= 0 && config.handshake.syn {
            return INITIAL;
        }
        let packets = if config.handshake.syn { number - 1 } else { number };
        let bytes = (packets as u64).wrapping_mul(config.segment.packet_size.into());
        let bytes = bytes.min(self.bytes.unwrap_or(u64::MAX));
        INITIAL.wrapping_add(config.handshake.syn.into()).wrapping_add(bytes as u32)
    }
}

fn data_headers(
    row: &PacketRow,
    endpoint: &Endpoint,
) -> Result<(Vec<u8>, u32), Box<dyn Error + Send + Sync>> {
    let syn = row.number == 0 && endpoint.config.handshake.syn;
    let mut tcp = TcpHeader::new(endpoint.port, SINK_PORT, endpoint.sequence(row.number), 65_535);
    let mut options = Vec::new();
    if syn {
        tcp.syn = true;
        options.extend(SYN_OPTIONS);
    } else {
        tcp.ack = true;
        tcp.acknowledgment_number = INITIAL + 1;
    }
    if endpoint.config.rto.timestamps {
        options.push(TcpOptionElement::Timestamp(milliseconds(row.time_s), endpoint.heard_ms));
    }
    let is_accecn = endpoint.config.ecn.ecn_feedback.is_accecn();
    match (endpoint.config.ecn.ecn, is_accecn) {
        (false, _) => {}
        // Negotiation: RFC 9768 section 3.1.1, RFC 3168 section 6.1.1.
        (true, true) if syn => set_ecn_bits(&mut tcp, 0b111),
        (true, false) if syn => set_ecn_bits(&mut tcp, 0b011),
        // The sender's own ACE field: ACKs are not ECT, so it stays at its first value.
        (true, true) => set_ecn_bits(&mut tcp, 5),
        (true, false) => tcp.cwr = row.cwr,
    }
    tcp.set_options(&options)?;
    let payload = if syn { 0 } else { row.size_bytes - endpoint.config.wire_size_of(0) };
    Ok((headers(endpoint.source, endpoint.sink, &tcp, payload, row.ecn)?, payload))
}

fn ack_headers(
    row: &PacketRow,
    sack: &[(i64, i64)],
    endpoint: &Endpoint,
) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
    let config = &endpoint.config;
    let syn = row.number == 0 && config.handshake.syn;
    let mut tcp = TcpHeader::new(SINK_PORT, endpoint.port, INITIAL + u32::from(!syn), 65_535);
    tcp.ack = true;
    tcp.syn = syn;
    tcp.acknowledgment_number = endpoint.sequence(row.number + 1);
    let mut options = Vec::new();
    if config.rto.timestamps {
        options
            .push(TcpOptionElement::Timestamp(milliseconds(row.time_s), milliseconds(row.echo_s)));
    }
    if let Some((&first, rest)) = sack.split_first() {
        let block = |block: (i64, i64)| (endpoint.sequence(block.0), endpoint.sequence(block.1));
        let mut more = [None; 3];
        rest.iter().zip(&mut more).for_each(|(&old, slot)| *slot = Some(block(old)));
        options.push(TcpOptionElement::SelectiveAcknowledgement(block(first), more));
    } else if syn {
        options.extend(SYN_OPTIONS);
    }
    set_ecn_bits(&mut tcp, row.echo.bits());
    // RFC 3168 section 6.1.1: the SYN/ACK agrees.
    tcp.ece |= syn && config.ecn.ecn && !config.ecn.ecn_feedback.is_accecn();
    tcp.set_options(&options)?;
    if let Some(ce_bytes) = row.echo.ce_bytes() {
        // RFC 9768 section 3.2.3: the counter of the codepoint that the flow does not use, which
        // stays at 1, and that of CE; 174 begins with ECT(1), 172 with ECT(0).
        let kind = if config.ecn.ect1 { 172 } else { 174 };
        let [_, high, middle, low] = ce_bytes.to_be_bytes();
        let rest = tcp.options.as_slice().to_vec();
        tcp.set_options_raw(&[&[kind, 8, 0, 0, 1, high, middle, low], &rest[..]].concat())?;
    }
    headers(endpoint.sink, endpoint.source, &tcp, 0, Ecn::NotEct)
}

/// Sets AE (once the nonce sum), CWR and ECE.
fn set_ecn_bits(tcp: &mut TcpHeader, bits: u8) {
    (tcp.ns, tcp.cwr, tcp.ece) = (bits & 4 != 0, bits & 2 != 0, bits & 1 != 0);
}

/// A timestamp of RFC 7323. Both ends use the simulation's clock at the place of the capture.
fn milliseconds(time_s: f64) -> u32 {
    (time_s * 1e3) as u32
}

fn headers(
    from: [u8; 4],
    to: [u8; 4],
    tcp: &TcpHeader,
    payload: u32,
    ecn: Ecn,
) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
    let mut tcp = tcp.clone();
    let length = tcp.header_len() + payload as usize;
    let mut ip = Ipv4Header::new(u16::try_from(length)?, 64, IpNumber::TCP, from, to)?;
    ip.ecn = IpEcn::try_new(ecn as u8)?;
    tcp.checksum = tcp.calc_checksum_ipv4(&ip, &vec![0; payload as usize])?;
    let mut bytes = Vec::with_capacity(80);
    ip.write(&mut bytes)?;
    tcp.write(&mut bytes)?;
    Ok(bytes)
}
