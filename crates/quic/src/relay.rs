//! The UDP relay: a backend of the emulator that forwards datagrams between endpoints through the
//! emulated network. Each endpoint has a socket on 127.0.0.1; the relay has one socket towards the
//! sources and one towards the sinks, so the source address of a datagram identifies its flow. The
//! relay needs no privileges: quinn-udp reads and sets ECN by control messages (IP_RECVTOS,
//! IP_TOS).

use cwndlab_emulator::{Backend, PacketMeta, Received, Side, TcpSegment};
use cwndlab_sim::Ecn;
use quinn_udp::{BATCH_SIZE, EcnCodepoint, RecvMeta, Transmit, UdpSocketState};
use rustix::fd::{AsFd, BorrowedFd};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::{self, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};

/// Bytes of the IPv4 and UDP headers, which count towards the size on the wire.
pub const HEADER_BYTES: u16 = 28;
/// Bytes before a datagram in a buffer: flow number and ECN codepoint.
const TAG_BYTES: usize = 5;
/// Largest size of a received datagram or batch, bytes.
const MAX_DATAGRAM_BYTES: usize = 65_535;
/// Readings of the kernel's table of sockets until each socket was seen in it.
const TABLE_READS: usize = 20;

/// The endpoints of a flow.
#[derive(Clone, Copy, Debug)]
pub struct RelayFlow {
    /// Address of the sender.
    pub source: SocketAddr,
    /// Address of the receiver.
    pub sink: SocketAddr,
    /// Whether the flow may use ECN. Otherwise the relay clears the ECN field, and the endpoints'
    /// ECN validation fails (RFC 9000 section 13.4.2).
    pub ecn: bool,
}

/// A socket of the relay.
struct RelaySocket {
    socket: UdpSocket,
    state: UdpSocketState,
    flows: HashMap<SocketAddr, u32>,
    buffers: Vec<Vec<u8>>,
    /// Received datagrams: buffer, begin, end, source address, codepoint.
    waiting: VecDeque<(usize, usize, usize, SocketAddr, Option<EcnCodepoint>)>,
}

/// A relay between the endpoints of flows. Datagrams from other addresses are strange.
pub struct Relay {
    ends: [RelaySocket; 2],
    flows: Vec<RelayFlow>,
    largest: usize,
    /// Bytes that each flow's source has sent, as sequence numbers: QUIC never reuses a packet
    /// number, so every byte counts as new.
    sent_bytes: Vec<u32>,
}

impl RelaySocket {
    fn new(socket: UdpSocket, addresses: impl Iterator<Item = SocketAddr>) -> io::Result<Self> {
        let state = UdpSocketState::new((&socket).into())?;
        let flows = addresses.zip(0..).collect();
        Ok(Self {
            socket,
            state,
            flows,
            buffers: vec![vec![0; MAX_DATAGRAM_BYTES]; BATCH_SIZE],
            waiting: VecDeque::new(),
        })
    }

    /// Reads up to a batch of datagrams.
    fn fill(&mut self) -> io::Result<()> {
        let mut slices: Vec<IoSliceMut<'_>> =
            self.buffers.iter_mut().map(|buffer| IoSliceMut::new(buffer)).collect();
        let mut metas = [RecvMeta::default(); BATCH_SIZE];
        let count = match self.state.recv((&self.socket).into(), &mut slices, &mut metas) {
            Ok(count) => count,
            // No datagram has arrived.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) =>
            {
                0
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset
                ) =>
            {
                0
            }
            Err(error) => return Err(error),
        };
        for (buffer, meta) in metas.iter().enumerate().take(count) {
            // With GRO several datagrams of one sender are in a buffer, a stride apart.
            let stride = meta.stride.max(1);
            for begin in (0..meta.len.max(1)).step_by(stride) {
                self.waiting.push_back((
                    buffer,
                    begin,
                    meta.len.min(begin + stride),
                    meta.addr,
                    meta.ecn,
                ));
            }
        }
        Ok(())
    }
}

impl Relay {
    /// Makes a relay for datagrams of at most `largest` bytes over sockets towards the sources and
    /// the sinks.
    pub fn new(
        towards_sources: UdpSocket,
        towards_sinks: UdpSocket,
        flows: Vec<RelayFlow>,
        largest: u16,
    ) -> io::Result<Self> {
        let sources = RelaySocket::new(towards_sources, flows.iter().map(|flow| flow.source))?;
        let sinks = RelaySocket::new(towards_sinks, flows.iter().map(|flow| flow.sink))?;
        Ok(Self {
            ends: [sources, sinks],
            sent_bytes: vec![0; flows.len()],
            flows,
            largest: usize::from(largest),
        })
    }

    /// The address that sources send to.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.ends[0].socket.local_addr()
    }

    /// The header fields of a datagram, and the tag to put before it.
    fn received(
        &mut self,
        side: Side,
        from: SocketAddr,
        ecn: Option<EcnCodepoint>,
        bytes: usize,
    ) -> Option<(PacketMeta, [u8; TAG_BYTES])> {
        let flow = *self.ends[index(side)].flows.get(&from)?;
        let ecn = ecn.filter(|_| self.flows[flow as usize].ecn);
        let sent = &mut self.sent_bytes[flow as usize];
        let segment = (side == Side::Source).then(|| {
            let sequence = *sent;
            *sent = sent.wrapping_add(bytes as u32);
            TcpSegment { sequence, payload_bytes: bytes as u32, syn: false, ack: None }
        });
        let size_bytes = HEADER_BYTES.saturating_add(bytes as u16);
        let [a, b, c, d] = flow.to_be_bytes();
        let tag = [a, b, c, d, ecn.map_or(0, |ecn| ecn as u8)];
        Some((
            PacketMeta {
                flow,
                size_bytes,
                ecn: Ecn::from_bits(ecn.map_or(0, |ecn| ecn as u8)),
                segment,
            },
            tag,
        ))
    }
}

fn index(side: Side) -> usize {
    match side {
        Side::Source => 0,
        Side::Sink => 1,
    }
}

impl Backend for Relay {
    fn descriptors(&self) -> [BorrowedFd<'_>; 2] {
        [self.ends[0].socket.as_fd(), self.ends[1].socket.as_fd()]
    }

    fn largest(&self) -> usize {
        self.largest + TAG_BYTES
    }

    fn receive(&mut self, side: Side, buffer: &mut [u8]) -> io::Result<Option<Received>> {
        let end = &mut self.ends[index(side)];
        if end.waiting.is_empty() {
            end.fill()?;
        }
        let Some((number, from, to, address, ecn)) = end.waiting.pop_front() else {
            return Ok(None);
        };
        let bytes = to - from;
        let Some(place) = buffer.get_mut(..TAG_BYTES + bytes).filter(|_| bytes <= self.largest)
        else {
            return Ok(Some(Received::UnknownFlow));
        };
        place[TAG_BYTES..].copy_from_slice(&end.buffers[number][from..to]);
        let Some((meta, tag)) = self.received(side, address, ecn, bytes) else {
            return Ok(Some(Received::UnknownFlow));
        };
        buffer[..TAG_BYTES].copy_from_slice(&tag);
        Ok(Some(Received::Packet(TAG_BYTES + bytes, meta)))
    }

    fn send(&mut self, side: Side, packet: &mut [u8], marked: bool) -> io::Result<bool> {
        let Some((&[a, b, c, d, ecn], contents)) = packet.split_first_chunk::<TAG_BYTES>() else {
            return Ok(false);
        };
        let flow = self.flows[u32::from_be_bytes([a, b, c, d]) as usize];
        let destination = match side {
            Side::Source => flow.source,
            Side::Sink => flow.sink,
        };
        let ecn = if marked { Some(EcnCodepoint::Ce) } else { EcnCodepoint::from_bits(ecn) };
        let end = &self.ends[index(side)];
        match end.state.try_send(
            (&end.socket).into(),
            &Transmit { destination, ecn, contents, segment_size: None, src_ip: None },
        ) {
            // The endpoint's socket is closed: the datagram counts as delivered.
            Ok(()) => Ok(true),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset
                ) =>
            {
                Ok(true)
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) =>
            {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

/// Binds a socket on 127.0.0.1 (port 0: any) and asks for buffers of `buffer_bytes`; returns the
/// socket and the size of its receive buffer.
pub fn socket(port: u16, buffer_bytes: usize) -> io::Result<(UdpSocket, usize)> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, port))?;
    let enlarged = socket2::SockRef::from(&socket);
    // Only root may exceed net.core.rmem_max.
    if rustix::net::sockopt::set_socket_recv_buffer_size_force(&socket, buffer_bytes).is_err() {
        enlarged.set_recv_buffer_size(buffer_bytes)?;
    }
    enlarged.set_send_buffer_size(buffer_bytes)?;
    socket.set_nonblocking(true)?;
    let allowed = enlarged.recv_buffer_size()?;
    Ok((socket, allowed))
}

/// Datagrams that the sockets of these ports on 127.0.0.1 have dropped because their buffers were
/// full, as counted by the kernel. The sockets must be open: one that was closed counts nothing.
pub fn drops(ports: &[u16]) -> io::Result<u64> {
    let mut drops = BTreeMap::new();
    for _ in 0..TABLE_READS {
        note_drops(&mut drops, &std::fs::read_to_string("/proc/net/udp")?, ports);
        if ports.iter().all(|port| drops.contains_key(port)) {
            break;
        }
    }
    Ok(drops.values().sum())
}

/// Notes the drops of these ports from a table of proc(5). While other sockets open and close, the
/// kernel can list a socket several times, or leave it out, because it finds its place again by
/// counting rows: a port counts once.
fn note_drops(drops: &mut BTreeMap<u16, u64>, table: &str, ports: &[u16]) {
    for (port, dropped) in table.lines().skip(1).filter_map(row) {
        if ports.contains(&port) {
            let largest = drops.entry(port).or_default();
            *largest = dropped.max(*largest);
        }
    }
}

/// Port and drops of a socket on 127.0.0.1 from a line of /proc/net/udp (proc(5)).
fn row(line: &str) -> Option<(u16, u64)> {
    let mut fields = line.split_whitespace();
    let (address, port) = fields.nth(1)?.split_once(':')?;
    let local =
        u32::from_str_radix(address, 16).ok()?.to_ne_bytes() == Ipv4Addr::LOCALHOST.octets();
    local.then_some((u16::from_str_radix(port, 16).ok()?, fields.last()?.parse().ok()?))
}

#[cfg(test)]
mod tests;
