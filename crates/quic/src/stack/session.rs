//! A handshake without cryptography: the messages of TLS 1.3 in their order and sizes (RFC 8446
//! section 2), of which only the transport parameters have content.
//!
//! In simulated time nobody listens, and random bytes of the system would be the one thing that no
//! seed reaches. The sizes are those that rustls sends with the certificate of live runs;
//! tests/tls.rs holds a run with this handshake against one with rustls, packet for packet.

use super::keys::{plain_keys, plain_packet_keys};
use quinn_proto::crypto::{
    ClientConfig, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey, ServerConfig,
    Session, UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError};
use std::any::Any;
use std::sync::Arc;

/// Bytes of a message without transport parameters: ClientHello; ServerHello; the server's flight
/// from EncryptedExtensions to Finished; the client's Finished; two NewSessionTickets.
const CLIENT_HELLO_BYTES: usize = 189;
const SERVER_HELLO_BYTES: usize = 90;
const SERVER_FLIGHT_BYTES: usize = 446;
const CLIENT_FINISHED_BYTES: usize = 52;
const TICKETS_BYTES: usize = 178;
/// Bytes of the header of a message: its length, and that of the content in it.
const HEADER_BYTES: usize = 8;

/// Configuration of either end.
#[derive(Clone, Copy, Debug)]
pub struct PlainHandshake;

impl ClientConfig for PlainHandshake {
    fn start_session(
        self: Arc<Self>,
        _: u32,
        _: &str,
        parameters: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Box::new(PlainSession::new(Side::Client, parameters)))
    }
}

impl ServerConfig for PlainHandshake {
    fn initial_keys(&self, _: u32, _: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(plain_keys())
    }

    fn retry_tag(&self, _: u32, _: &ConnectionId, _: &[u8]) -> [u8; 16] {
        [0; 16]
    }

    fn start_session(
        self: Arc<Self>,
        _: u32,
        parameters: &TransportParameters,
    ) -> Box<dyn Session> {
        Box::new(PlainSession::new(Side::Server, parameters))
    }
}

/// The handshake as one end sees it.
struct PlainSession {
    side: Side,
    own: Vec<u8>,
    peers: Option<TransportParameters>,
    /// Bytes of a message that is not complete yet.
    incoming: Vec<u8>,
    /// Messages read and written so far.
    read: usize,
    written: usize,
    has_told: bool,
}

/// Messages that an end reads until its handshake is complete: ServerHello and flight; ClientHello
/// and Finished.
const MESSAGES: usize = 2;

impl PlainSession {
    fn new(side: Side, parameters: &TransportParameters) -> Self {
        let mut own = Vec::new();
        parameters.write(&mut own);
        Self { side, own, peers: None, incoming: Vec::new(), read: 0, written: 0, has_told: false }
    }

    /// Appends a message of so many bytes, without its content.
    fn put(buffer: &mut Vec<u8>, bytes: usize, content: &[u8]) {
        let (begin, length) = (buffer.len(), bytes + content.len());
        buffer.extend((length as u32).to_be_bytes());
        buffer.extend((content.len() as u32).to_be_bytes());
        buffer.extend(content);
        buffer.resize(begin + length, 0);
    }

    /// Takes a message if it is complete: its content.
    fn take(&mut self) -> Option<Vec<u8>> {
        let number = |at: usize| -> Option<usize> {
            let bytes = self.incoming.get(at..at + 4)?.try_into().ok()?;
            Some(u32::from_be_bytes(bytes) as usize)
        };
        let (length, content) = (number(0)?, number(4)?);
        if self.incoming.len() < length {
            return None;
        }
        let message: Vec<u8> = self.incoming.drain(..length).collect();
        message.get(HEADER_BYTES..HEADER_BYTES + content).map(<[u8]>::to_vec)
    }
}

impl Session for PlainSession {
    fn initial_keys(&self, _: &ConnectionId, _: Side) -> Keys {
        plain_keys()
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        None
    }

    fn is_handshaking(&self) -> bool {
        self.read < MESSAGES
    }

    fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, TransportError> {
        self.incoming.extend(bytes);
        while let Some(content) = self.take() {
            self.read += 1;
            if !content.is_empty() {
                self.peers = Some(TransportParameters::read(self.side, &mut content.as_slice())?);
            }
        }
        let tells = !self.has_told && self.peers.is_some();
        self.has_told |= tells;
        Ok(tells)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        Ok(self.peers)
    }

    fn write_handshake(&mut self, buffer: &mut Vec<u8>) -> Option<Keys> {
        let step = (self.side, self.read, self.written);
        let keys = match step {
            (Side::Client, 0, 0) => {
                Self::put(buffer, CLIENT_HELLO_BYTES, &self.own);
                None
            }
            (Side::Server, 1, 0) => {
                Self::put(buffer, SERVER_HELLO_BYTES, &[]);
                Some(plain_keys())
            }
            (Side::Server, 1, 1) => {
                Self::put(buffer, SERVER_FLIGHT_BYTES, &self.own);
                Some(plain_keys())
            }
            // The client answers ServerHello with nothing, but has keys.
            (Side::Client, 1.., 1) => Some(plain_keys()),
            (Side::Client, 2, 2) => {
                Self::put(buffer, CLIENT_FINISHED_BYTES, &[]);
                Some(plain_keys())
            }
            (Side::Server, 2, 2) => {
                Self::put(buffer, TICKETS_BYTES, &[]);
                None
            }
            _ => return None,
        };
        self.written += 1;
        keys
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(plain_packet_keys())
    }

    fn is_valid_retry(&self, _: &ConnectionId, _: &[u8], _: &[u8]) -> bool {
        false
    }

    fn export_keying_material(
        &self,
        _: &mut [u8],
        _: &[u8],
        _: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}
