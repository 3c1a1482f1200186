//! One end of a connection of quinn-proto.

use super::controllers::{Seen, SharedSeen};
use bytes::{Bytes, BytesMut};
use cwndlab_stack::{Ecn, Endpoint};
use quinn_proto::{
    ClientConfig, Connection, ConnectionEvent, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint,
    Event, StreamEvent, StreamId, Transmit, VarInt,
};
use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// Host name that the client asks for.
pub const NAME: &str = "cwndlab.invalid";
/// The payload: zeros.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// Address of the other end: it is never looked at.
fn peer() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 443))
}

/// One end of a connection of quinn-proto.
pub struct QuinnEndpoint {
    /// The instant of time 0.
    epoch: Instant,
    endpoint: quinn_proto::Endpoint,
    client: Option<ClientConfig>,
    connection: Option<(ConnectionHandle, Connection)>,
    /// Datagrams that the endpoint answers without a connection.
    answers: VecDeque<(Vec<u8>, Option<EcnCodepoint>)>,
    /// The stream of the data, once it is open.
    stream: Option<StreamId>,
    is_connected: bool,
    is_writable: bool,
    is_readable: bool,
    is_complete: bool,
    failure: Option<String>,
    seen: SharedSeen,
}

impl QuinnEndpoint {
    /// An end without a connection; `client`: of the end that connects.
    pub fn new(
        epoch: Instant,
        endpoint: quinn_proto::Endpoint,
        client: Option<ClientConfig>,
        seen: SharedSeen,
    ) -> Self {
        Self {
            epoch,
            endpoint,
            client,
            connection: None,
            answers: VecDeque::new(),
            stream: None,
            is_connected: false,
            is_writable: false,
            is_readable: false,
            is_complete: false,
            failure: None,
            seen,
        }
    }

    fn seen<T>(&self, get: impl FnOnce(&Seen) -> T) -> T {
        get(&self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn fail(&mut self, why: impl ToString) {
        self.failure.get_or_insert_with(|| why.to_string());
    }

    fn answer(&mut self, transmit: &Transmit, mut bytes: Vec<u8>) {
        bytes.truncate(transmit.size);
        self.answers.push_back((bytes, transmit.ecn));
    }

    /// Processes what endpoint and connection tell each other and the application.
    fn poll(&mut self) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(answer) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(answer);
            }
        }
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected => self.is_connected = true,
                Event::ConnectionLost { reason } => {
                    self.failure.get_or_insert_with(|| reason.to_string());
                }
                Event::Stream(StreamEvent::Opened { dir }) => {
                    self.stream = connection.streams().accept(dir).or(self.stream);
                    self.is_readable = true;
                }
                Event::Stream(StreamEvent::Readable { .. }) => self.is_readable = true,
                Event::Stream(StreamEvent::Writable { .. }) => self.is_writable = true,
                Event::Stream(StreamEvent::Finished { .. }) => self.is_complete = true,
                Event::Stream(StreamEvent::Stopped { .. } | StreamEvent::Available { .. })
                | Event::HandshakeDataReady
                | Event::DatagramReceived
                | Event::DatagramsUnblocked => {}
            }
        }
    }

    fn handle(&mut self, event: ConnectionEvent) {
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_event(event);
        }
    }
}

impl Endpoint for QuinnEndpoint {
    fn connect(&mut self, now: Duration) {
        let Some(config) = self.client.take() else { return };
        match self.endpoint.connect(self.epoch + now, config, peer(), NAME) {
            Ok(made) => self.connection = Some(made),
            Err(error) => self.fail(error),
        }
    }

    fn receive(&mut self, now: Duration, datagram: &[u8], ecn: Ecn) {
        let (now, mut buffer) = (self.epoch + now, Vec::new());
        let ecn = EcnCodepoint::from_bits(ecn as u8);
        let bytes = BytesMut::from(datagram);
        match self.endpoint.handle(now, peer(), None, ecn, bytes, &mut buffer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => self.handle(event),
            Some(DatagramEvent::Response(transmit)) => self.answer(&transmit, buffer),
            Some(DatagramEvent::NewConnection(incoming)) if self.connection.is_some() => {
                self.endpoint.ignore(incoming);
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                match self.endpoint.accept(incoming, now, &mut buffer, None) {
                    Ok(made) => self.connection = Some(made),
                    Err(error) => {
                        if let Some(transmit) = error.response {
                            self.answer(&transmit, buffer);
                        }
                        self.fail(error.cause);
                    }
                }
            }
            None => {}
        }
        self.poll();
    }

    fn on_timeout(&mut self, now: Duration) {
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(self.epoch + now);
        }
        self.poll();
    }

    fn next_timeout(&mut self) -> Option<Duration> {
        let at = self.connection.as_mut()?.1.poll_timeout()?;
        Some(at.saturating_duration_since(self.epoch))
    }

    fn transmit(&mut self, now: Duration, buffer: &mut Vec<u8>) -> Option<Ecn> {
        let of =
            |ecn: Option<EcnCodepoint>| ecn.map_or(Ecn::NotEct, |ecn| Ecn::from_bits(ecn as u8));
        if let Some((bytes, ecn)) = self.answers.pop_front() {
            buffer.extend(bytes);
            return Some(of(ecn));
        }
        let (_, connection) = self.connection.as_mut()?;
        let sent = connection.poll_transmit(self.epoch + now, 1, buffer);
        self.poll();
        sent.map(|transmit| of(transmit.ecn))
    }

    fn write(&mut self, bytes: u64) -> u64 {
        let Some((_, connection)) = self.connection.as_mut().filter(|_| self.is_connected) else {
            return 0;
        };
        if self.stream.is_none() {
            self.stream = connection.streams().open(Dir::Uni);
            self.is_writable = self.stream.is_some();
        }
        let Some(stream) = self.stream.filter(|_| self.is_writable) else { return 0 };
        let length = ZEROS.len().min(usize::try_from(bytes).unwrap_or(usize::MAX));
        let mut chunks = [Bytes::from_static(&ZEROS[..length])];
        match connection.send_stream(stream).write_chunks(&mut chunks) {
            Ok(written) => written.bytes as u64,
            Err(_) => {
                self.is_writable = false;
                0
            }
        }
    }

    fn finish(&mut self) {
        if let (Some((_, connection)), Some(stream)) = (&mut self.connection, self.stream)
            && let Err(error) = connection.send_stream(stream).finish()
        {
            self.fail(error);
        }
    }

    fn stop(&mut self) {
        if let (Some((_, connection)), Some(stream)) = (&mut self.connection, self.stream)
            && let Err(error) = connection.send_stream(stream).reset(VarInt::from_u32(0))
        {
            self.fail(error);
        }
    }

    fn read(&mut self) -> u64 {
        let Some((_, connection)) = self.connection.as_mut().filter(|_| self.is_readable) else {
            return 0;
        };
        self.is_readable = false;
        let Some(stream) = self.stream else { return 0 };
        let mut received = connection.recv_stream(stream);
        let Ok(mut chunks) = received.read(false) else { return 0 };
        let mut bytes = 0;
        while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
            bytes += chunk.bytes.len() as u64;
        }
        // The caller asks for datagrams after each event.
        let _ = chunks.finalize();
        bytes
    }

    fn cwnd_packets(&self) -> f64 {
        self.seen(|seen| seen.cwnd_packets)
    }

    fn ssthresh_packets(&self) -> Option<f64> {
        self.seen(|seen| seen.ssthresh_packets)
    }

    fn smoothed_rtt(&self) -> Option<Duration> {
        self.connection
            .as_ref()
            .filter(|_| self.is_connected)
            .map(|(_, connection)| connection.rtt())
    }

    fn lost_packets(&self) -> u64 {
        self.connection.as_ref().map_or(0, |(_, connection)| connection.stats().path.lost_packets)
    }

    fn reductions(&self) -> [u64; 3] {
        self.seen(|seen| seen.reductions)
    }

    fn is_complete(&self) -> bool {
        self.is_complete
    }

    fn failure(&self) -> Option<String> {
        self.failure.clone().or_else(|| {
            self.seen(|seen| seen.fault.as_ref().map(|fault| format!("its rule {fault}")))
        })
    }
}
