//! QUIC transfers: the endpoints of all flows, a client that sends and a server that receives for
//! each.

mod config;
mod report;
mod shared;
mod transfer;

pub use report::{FlowReport, Report, WindowSample};
pub use transfer::{RunOptions, Transfer};

use crate::{RuleController, drops, socket};
use bytes::Bytes;
use config::{NAME, certificate, client_config, endpoint, server_config};
use quinn::{Connection, Endpoint, ReadError, VarInt};
use rustls::pki_types::CertificateDer;
use shared::{Shared, lock};
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::{sleep_until, timeout_at};

/// The payload: zeros.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];
/// How long the runtime may take to shut down.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// The endpoints of all flows with bound sockets, before the run.
pub struct Endpoints {
    transfers: Vec<Transfer>,
    clients: Vec<UdpSocket>,
    servers: Vec<UdpSocket>,
    /// Size of the smallest receive buffer that the system granted, bytes.
    pub buffer_bytes: usize,
}

impl Endpoints {
    /// Binds two sockets on 127.0.0.1 for each flow.
    pub fn bind(transfers: Vec<Transfer>, buffer_bytes: usize) -> io::Result<Self> {
        let mut least = usize::MAX;
        let mut all = || {
            let bound = transfers
                .iter()
                .map(|_| socket(0, buffer_bytes))
                .collect::<io::Result<Vec<_>>>()?;
            least = bound.iter().map(|bound| bound.1).fold(least, usize::min);
            Ok::<_, io::Error>(bound.into_iter().map(|bound| bound.0).collect())
        };
        let (clients, servers) = (all()?, all()?);
        Ok(Self { transfers, clients, servers, buffer_bytes: least })
    }

    /// Addresses of each flow's source and sink.
    pub fn addresses(&self) -> io::Result<Vec<[SocketAddr; 2]>> {
        self.clients
            .iter()
            .zip(&self.servers)
            .map(|(client, server)| Ok([client.local_addr()?, server.local_addr()?]))
            .collect()
    }

    /// Runs all flows to the end; sources send to `relay`. `order` decides between flows that start
    /// at the same time.
    pub fn run(
        self,
        relay: SocketAddr,
        options: RunOptions,
        order: &[usize],
    ) -> io::Result<Report> {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder
            .worker_threads(2)
            .thread_name("endpoints")
            .on_thread_start(options.on_thread_start)
            .enable_all()
            .build()?;
        let report = runtime.block_on(self.run_all(relay, options, order));
        runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
        report
    }

    async fn run_all(
        self,
        relay: SocketAddr,
        options: RunOptions,
        order: &[usize],
    ) -> io::Result<Report> {
        let addresses = self.addresses()?;
        let ports: Vec<u16> = addresses.iter().flatten().map(SocketAddr::port).collect();
        let (certificate, key) = certificate()?;
        let shared: Vec<Arc<Shared>> = self.transfers.iter().map(|_| Arc::default()).collect();
        let (mut clients, mut endpoints) = (Vec::new(), Vec::new());
        let sockets = self.clients.into_iter().zip(self.servers);
        for (((client, server), transfer), shared) in sockets.zip(self.transfers).zip(&shared) {
            let server =
                endpoint(server, Some(server_config(&transfer, &options, &certificate, &key)?))?;
            tokio::spawn(sink(server.clone(), options, shared.clone()));
            let client = endpoint(client, None)?;
            endpoints.push([client.clone(), server]);
            clients.push(Some((client, transfer)));
        }
        for &number in order {
            let Some((client, transfer)) = clients[number].take() else { continue };
            tokio::spawn(source(
                client,
                transfer,
                options,
                relay,
                certificate.clone(),
                shared[number].clone(),
            ));
        }
        let rows = sample(&options, &shared).await;
        // Before the sockets are closed.
        let dropped_datagrams = drops(&ports)?;
        // Before connections are closed: a source that still writes would report a failure.
        let mut seen: Vec<FlowReport> =
            shared.iter().map(|shared| std::mem::take(&mut *lock(&shared.seen))).collect();
        for (seen, (ends, addresses)) in seen.iter_mut().zip(endpoints.iter().zip(&addresses)) {
            seen.note_closed_sockets([0, 1].map(|end| is_closed(&ends[end], addresses[end])));
        }
        for shared in &shared {
            if let Some(connection) = lock(&shared.connection).take() {
                connection.close(VarInt::from_u32(0), b"end of the run");
            }
        }
        drop(endpoints);
        Ok(Report { seen, rows, dropped_datagrams })
    }
}

/// Whether a socket has lost its address because it was destroyed from outside (`ss -K`). quinn
/// does not report this: the kernel returns the error once, quinn treats send errors as losses, and
/// the next datagram leaves from another port.
fn is_closed(endpoint: &Endpoint, address: SocketAddr) -> bool {
    endpoint.local_addr().ok() != Some(address)
}

/// Runs the sender from the flow's start to its end or the end of the run.
async fn source(
    client: Endpoint,
    transfer: Transfer,
    options: RunOptions,
    relay: SocketAddr,
    certificate: CertificateDer<'static>,
    shared: Arc<Shared>,
) {
    if transfer.start_s >= options.end_s {
        return;
    }
    sleep_until(at(&options, transfer.start_s)).await;
    let until = at(&options, transfer.stop_s.min(options.end_s));
    let sent = async {
        let config = client_config(&transfer, &options, certificate, &shared)?;
        let connection =
            client.connect_with(config, relay, NAME).map_err(io::Error::other)?.await?;
        *lock(&shared.connection) = Some(connection.clone());
        lock(&shared.seen).has_connected = true;
        send(&connection, &transfer, until, &options, &shared).await
    };
    if let Ok(Err(error)) = timeout_at(at(&options, options.end_s), sent).await {
        let reason = lock(&shared.connection)
            .as_ref()
            .and_then(Connection::close_reason)
            .map(|reason| reason.to_string());
        lock(&shared.seen)
            .failed
            .get_or_insert(format!("its client: {}", reason.unwrap_or_else(|| error.to_string())));
    }
}

async fn send(
    connection: &Connection,
    transfer: &Transfer,
    until: tokio::time::Instant,
    options: &RunOptions,
    shared: &Shared,
) -> io::Result<()> {
    let mut stream = connection.open_uni().await?;
    let mut left = transfer.bytes.unwrap_or(u64::MAX);
    while left > 0 {
        let length = ZEROS.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        match timeout_at(until, stream.write_chunk(Bytes::from_static(&ZEROS[..length]))).await {
            Ok(written) => written?,
            Err(_) => {
                // Data in the stream's buffer is discarded, as by a simulated source.
                return stream.reset(VarInt::from_u32(0)).map_err(io::Error::other);
            }
        }
        left -= length as u64;
    }
    stream.finish().map_err(io::Error::other)?;
    stream.stopped().await.map_err(io::Error::other)?;
    lock(&shared.seen).finish_s = Some(now_s(options));
    Ok(())
}

/// Runs the receiver: reads data in any order and counts it.
async fn sink(server: Endpoint, options: RunOptions, shared: Arc<Shared>) {
    let bins = options.bin_s.map_or(0, |bin_s| (options.end_s / bin_s).ceil() as usize);
    lock(&shared.seen).bins = vec![0; bins];
    // The source reports a connection that is never established.
    if let Ok(Err(error)) =
        timeout_at(at(&options, options.end_s), take(&server, &options, &shared)).await
    {
        lock(&shared.seen).failed.get_or_insert(format!("its server: {error}"));
    }
}

async fn take(server: &Endpoint, options: &RunOptions, shared: &Shared) -> io::Result<()> {
    let incoming = server.accept().await.ok_or_else(|| {
        io::Error::other("its endpoint ended before a connection was established")
    })?;
    let connection = incoming.await?;
    let mut stream = connection.accept_uni().await?;
    loop {
        let chunk = match stream.read_chunk(usize::MAX, false).await {
            Ok(Some(chunk)) => chunk,
            // A source that stops resets its stream.
            Ok(None) | Err(ReadError::Reset(_)) => break,
            Err(ReadError::ConnectionLost(error)) => return Err(error.into()),
            Err(error) => return Err(error.into()),
        };
        let (now, bytes) = (now_s(options), chunk.bytes.len() as u64);
        let mut seen = lock(&shared.seen);
        seen.last_s = Some(now);
        seen.total_bytes += bytes;
        seen.measured_bytes +=
            if (options.window[0]..options.window[1]).contains(&now) { bytes } else { 0 };
        if let Some(bin) = options.bin_s.and_then(|bin_s| seen.bins.get_mut((now / bin_s) as usize))
        {
            *bin += bytes;
        }
    }
    connection.closed().await;
    Ok(())
}

/// Samples all flows until the end.
async fn sample(options: &RunOptions, shared: &[Arc<Shared>]) -> Vec<WindowSample> {
    let (mut rows, mut next_s, mut row_s, mut edges) = (Vec::new(), 0.0, 0.0, 0);
    while next_s < options.end_s {
        sleep_until(at(options, next_s)).await;
        let now = now_s(options);
        let keep = options.row_every_s.is_some() && row_s <= now;
        let is_edge = edges < 2 && options.window[edges] <= now;
        for (number, shared) in shared.iter().enumerate() {
            let inside = (options.window[0]..options.window[1]).contains(&now);
            lock(&shared.seen).samples += u64::from(inside);
            let Some(connection) = lock(&shared.connection).clone() else { continue };
            // quinn holds its lock while it calls `on_cut`, so no lock of ours may be held during a
            // call of quinn.
            let (path, state) = (
                connection.stats().path,
                controller(&connection).filter(|_| connection.close_reason().is_none()),
            );
            let mut seen = lock(&shared.seen);
            if let Some(state) = state {
                let cwnd = state.cwnd_packets();
                if inside {
                    seen.cwnd_sum += cwnd;
                    seen.rtt_sum_s += path.rtt.as_secs_f64();
                    seen.rtt_samples += 1;
                }
                if keep {
                    let (flow, srtt_s) = (number as u32, path.rtt.as_secs_f64());
                    rows.push(WindowSample {
                        time_s: now,
                        flow,
                        cwnd,
                        ssthresh: state.ssthresh_packets(),
                        srtt_s,
                    });
                }
                seen.fault = state.fault();
            }
            seen.min_rtt_s = Some(path.min_rtt.as_secs_f64());
            if is_edge {
                seen.lost_packets[edges] = path.lost_packets;
            } else if edges < 2 {
                seen.lost_packets[1] = path.lost_packets;
            }
        }
        edges += usize::from(is_edge);
        next_s = (next_s + options.sampling_s).max(now);
        while let Some(every_s) = options.row_every_s.filter(|_| row_s <= now) {
            row_s += every_s;
        }
    }
    sleep_until(at(options, options.end_s)).await;
    rows
}

fn controller(connection: &Connection) -> Option<Box<RuleController>> {
    connection.congestion_state().into_any().downcast().ok()
}

fn at(options: &RunOptions, time_s: f64) -> tokio::time::Instant {
    (options.begin + Duration::from_secs_f64(time_s.clamp(0.0, options.end_s))).into()
}

fn now_s(options: &RunOptions) -> f64 {
    Instant::now().saturating_duration_since(options.begin).as_secs_f64()
}
