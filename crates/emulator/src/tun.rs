//! The TUN backend: connects two TUN devices through the emulated network.

use crate::{Backend, Malformed, PacketMeta, Received, Side, parse_packet, set_ce};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use std::io;

/// The TUN devices of the sources and the sinks: non-blocking descriptors, opened with IFF_NO_PI.
/// Flow i uses the addresses `sources` + 1 + i and `sinks` + 1 + i; the last two bytes hold 1 + i.
pub struct Tun {
    source: OwnedFd,
    sink: OwnedFd,
    largest: usize,
    networks: [[u8; 2]; 2],
}

impl Tun {
    /// Makes the backend for packets of at most `largest` bytes; `networks` are the first two
    /// address bytes of sources and sinks.
    pub fn new(source: OwnedFd, sink: OwnedFd, largest: usize, networks: [[u8; 2]; 2]) -> Self {
        Self { source, sink, largest, networks }
    }

    fn end(&self, side: Side) -> BorrowedFd<'_> {
        match side {
            Side::Source => self.source.as_fd(),
            Side::Sink => self.sink.as_fd(),
        }
    }

    /// Classifies a packet from `side` and finds its flow; `networks` as of [`Tun::new`].
    pub fn received(networks: [[u8; 2]; 2], side: Side, packet: &[u8]) -> Received {
        let seen = match parse_packet(packet) {
            Ok(seen) => seen,
            Err(Malformed::HeaderChecksum | Malformed::TcpChecksum) => {
                return Received::BadChecksum;
            }
            Err(Malformed::NotIpv4 | Malformed::Tcp) => return Received::UnknownFlow,
        };
        let (near, far) = match side {
            Side::Source => (networks[0], networks[1]),
            Side::Sink => (networks[1], networks[0]),
        };
        let ([a, b, high, low], [c, d, far_high, far_low]) = (seen.source, seen.destination);
        let number = u32::from(u16::from_be_bytes([high, low]));
        if [a, b] != near || [c, d] != far || [high, low] != [far_high, far_low] || number == 0 {
            return Received::UnknownFlow;
        }
        Received::Packet(packet.len(), PacketMeta { flow: number - 1, ..seen.meta })
    }
}

impl Backend for Tun {
    fn descriptors(&self) -> [BorrowedFd<'_>; 2] {
        [self.source.as_fd(), self.sink.as_fd()]
    }

    fn largest(&self) -> usize {
        self.largest
    }

    fn receive(&mut self, side: Side, buffer: &mut [u8]) -> io::Result<Option<Received>> {
        match rustix::io::read(self.end(side), &mut *buffer) {
            Ok(length) => Ok(Some(Self::received(self.networks, side, &buffer[..length]))),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn send(&mut self, side: Side, packet: &mut [u8], marked: bool) -> io::Result<bool> {
        if marked {
            set_ce(packet);
        }
        match rustix::io::write(self.end(side), packet) {
            Ok(_) => Ok(true),
            Err(Errno::AGAIN | Errno::NOBUFS | Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
