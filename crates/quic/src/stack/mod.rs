//! quinn in simulated time: connections of quinn-proto as endpoints of flows.

mod connection_ids;
mod controllers;
mod endpoint;
mod keys;
mod session;

pub use endpoint::NAME;

use connection_ids::SeededConnectionIds;
use controllers::{Controllers, Seen, SharedSeen};
use cwndlab_stack::{Connection, FlowSettings, Stack};
use endpoint::QuinnEndpoint;
use keys::PlainKey;
use quinn_proto::crypto::{ClientConfig as ClientCrypto, ServerConfig as ServerCrypto};
use quinn_proto::{
    ClientConfig, ConnectionId, Endpoint, EndpointConfig, ServerConfig, TimeSource,
    TransportConfig, VarInt,
};
use session::PlainHandshake;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

/// Largest datagram, bytes. A server of quinn-proto 0.11.19 sends nothing while a full datagram
/// does not fit into three times what has arrived (RFC 9000 section 8.1): with larger ones its
/// handshake never ends, with rustls as well.
const MOST_DATAGRAM_BYTES: u16 = 6_000;
/// The instant of time 0 lies this far ahead, so that durations can be subtracted from it on every
/// system.
const AHEAD: Duration = Duration::from_secs(86_400);
/// Bytes of the connection identifier that a client chooses for the server, as quinn's.
const INITIAL_ID_BYTES: usize = 20;

/// quinn as a transport stack of the simulator: `stack = "quinn"`.
///
/// ```
/// use cwndlab_quic::QuinnStack;
/// use cwndlab_scenario::Scenario;
/// use cwndlab_sim::{Options, Simulation};
/// use std::sync::Arc;
/// let scenario = Scenario::from_toml(r#"
///     duration = "10s"
///     [dumbbell]
///     rate = "10Mbit"
///     delay = "20ms"
///     [[flows]]
///     rule = "quinn:cubic"
///     stack = "quinn"
/// "#).unwrap();
/// let mut simulation =
///     Simulation::with_stacks(&scenario, Options::default(), &[Arc::new(QuinnStack::new())]);
/// assert!(simulation.run().unwrap().flows[0].goodput_bps > 8e6);
/// ```
pub struct QuinnStack {
    client: Arc<dyn ClientCrypto>,
    server: Arc<dyn ServerCrypto>,
}

impl Default for QuinnStack {
    fn default() -> Self {
        Self::new()
    }
}

impl QuinnStack {
    /// quinn with a handshake that has the messages of TLS in their sizes, without cryptography: a
    /// run is a function of its seed.
    pub fn new() -> Self {
        Self::with_crypto(Arc::new(PlainHandshake), Arc::new(PlainHandshake))
    }

    /// quinn with a handshake of the caller's, such as that of rustls, to the server
    /// [`NAME`](crate::SERVER_NAME).
    pub fn with_crypto(client: Arc<dyn ClientCrypto>, server: Arc<dyn ServerCrypto>) -> Self {
        Self { client, server }
    }
}

/// Time stands still: it only dates tokens.
struct NoTime;

impl TimeSource for NoTime {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}

/// The transport configuration of both ends: a fixed packet size, as in live runs.
fn transport(datagram_bytes: u16) -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport
        .initial_mtu(datagram_bytes)
        .min_mtu(datagram_bytes)
        .mtu_discovery_config(None)
        .enable_segmentation_offload(false)
        // An outage must not end the connection.
        .max_idle_timeout(None);
    transport
}

fn endpoint(
    settings: &FlowSettings,
    seed: [u8; 32],
    server: Option<ServerConfig>,
) -> Result<Endpoint, String> {
    let mut config = EndpointConfig::new(Arc::new(PlainKey));
    let most = config.get_max_udp_payload_size().max(u64::from(settings.datagram_bytes));
    config
        .rng_seed(Some(seed))
        .cid_generator(move || Box::new(SeededConnectionIds::new(&seed)))
        .max_udp_payload_size(most as u16)
        .map_err(|error| format!("tcp.packet_size: {error}"))?;
    Ok(Endpoint::new(Arc::new(config), server.map(Arc::new), false, None))
}

impl Stack for QuinnStack {
    fn name(&self) -> &str {
        "quinn"
    }

    fn connection(&self, settings: &FlowSettings) -> Result<Connection, String> {
        let FlowSettings { datagram_bytes, seeds: [seed, other_seed], .. } = *settings;
        if datagram_bytes > MOST_DATAGRAM_BYTES {
            return Err(format!(
                "tcp.packet_size: datagrams of {datagram_bytes} bytes are not valid: expected at \
                 most {MOST_DATAGRAM_BYTES}"
            ));
        }
        let cwnd_packets = settings.initial_window_packets;
        let seen: SharedSeen = Arc::new(Mutex::new(Seen { cwnd_packets, ..Seen::default() }));
        let controllers = Controllers::new(settings)?.factory(seen.clone());
        let mut of_client = transport(datagram_bytes);
        of_client
            .send_window(settings.send_buffer_bytes)
            .congestion_controller_factory(Arc::new(controllers));
        let mut client = ClientConfig::new(self.client.clone());
        client.transport_config(Arc::new(of_client)).initial_dst_cid_provider(Arc::new(
            move || ConnectionId::new(&seed[..INITIAL_ID_BYTES]),
        ));
        let mut of_server = transport(datagram_bytes);
        let window = settings.window_bytes.map_or(VarInt::MAX, VarInt::from_u32);
        of_server.stream_receive_window(window).receive_window(window);
        let mut server = ServerConfig::new(self.server.clone(), Arc::new(PlainKey));
        server.transport_config(Arc::new(of_server)).time_source(Arc::new(NoTime));
        let epoch = Instant::now() + AHEAD;
        let sender = endpoint(settings, seed, None)?;
        let receiver = endpoint(settings, other_seed, Some(server))?;
        let end =
            |endpoint, client, seen| Box::new(QuinnEndpoint::new(epoch, endpoint, client, seen));
        Ok(Connection {
            sender: end(sender, Some(client), seen),
            receiver: end(receiver, None, SharedSeen::default()),
        })
    }
}
