//! Configuration of quinn's endpoints: fixed packet size, certificate, congestion controller, qlog.

use super::shared::{Shared, lock};
use super::transfer::{RunOptions, Transfer};
use crate::Cut;
use crate::qlog::QlogWriter;
use quinn::{
    ClientConfig, Endpoint, EndpointConfig, ServerConfig, TokioRuntime, TransportConfig, VarInt,
};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use std::io::{self, Write};
use std::net::UdpSocket;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Host name in the certificate.
pub(super) const NAME: &str = "cwndlab.invalid";

/// Makes a self-signed certificate.
pub(super) fn certificate() -> io::Result<(CertificateDer<'static>, PrivatePkcs8KeyDer<'static>)> {
    let made = rcgen::generate_simple_self_signed([NAME.to_string()]).map_err(io::Error::other)?;
    Ok((made.cert.der().clone(), PrivatePkcs8KeyDer::from(made.signing_key.serialize_der())))
}

pub(super) fn endpoint(socket: UdpSocket, config: Option<ServerConfig>) -> io::Result<Endpoint> {
    Endpoint::new(EndpointConfig::default(), config, socket, Arc::new(TokioRuntime))
}

/// The transport configuration of both endpoints: fixed packet size, no segmentation offload.
fn transport(options: &RunOptions) -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport
        .initial_mtu(options.datagram_bytes)
        .min_mtu(options.datagram_bytes)
        .mtu_discovery_config(None)
        .enable_segmentation_offload(false)
        // An outage must not end the connection.
        .max_idle_timeout(None);
    transport
}

pub(super) fn server_config(
    transfer: &Transfer,
    options: &RunOptions,
    certificate: &CertificateDer<'static>,
    key: &PrivatePkcs8KeyDer<'static>,
) -> io::Result<ServerConfig> {
    let mut config =
        ServerConfig::with_single_cert(vec![certificate.clone()], key.clone_key().into())
            .map_err(io::Error::other)?;
    let mut transport = transport(options);
    let window = transfer.window_bytes.map_or(VarInt::MAX, VarInt::from_u32);
    transport.stream_receive_window(window).receive_window(window);
    config.transport_config(Arc::new(transport));
    Ok(config)
}

pub(super) fn client_config(
    transfer: &Transfer,
    options: &RunOptions,
    certificate: CertificateDer<'static>,
    shared: &Arc<Shared>,
) -> io::Result<ClientConfig> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate).map_err(io::Error::other)?;
    let mut config =
        ClientConfig::with_root_certificates(Arc::new(roots)).map_err(io::Error::other)?;
    let (begin, noted) = (options.begin, shared.clone());
    let on_cut = move |cut: &Cut| {
        lock(&noted.seen).cuts.push((cut.at.saturating_duration_since(begin).as_secs_f64(), *cut))
    };
    let mut transport = transport(options);
    transport
        .send_window(options.send_window_bytes)
        .congestion_controller_factory(Arc::new(transfer.factory.clone().on_cut(Arc::new(on_cut))));
    if let Some(path) = &transfer.qlog {
        let file = io::BufWriter::new(std::fs::File::create(path)?);
        let records: Box<dyn Write + Send + Sync> =
            Box::new(QlogWriter::new(file, since_1970_ms(options.begin)));
        let mut qlog = quinn::QlogConfig::default();
        qlog.writer(records)
            .title(Some(transfer.factory.rule().to_string()))
            .start_time(options.begin);
        transport.qlog_stream(qlog.into_stream());
    }
    config.transport_config(Arc::new(transport));
    Ok(config)
}

/// Converts an instant to milliseconds since 1970.
fn since_1970_ms(moment: Instant) -> f64 {
    let ahead = moment.saturating_duration_since(Instant::now());
    let behind = Instant::now().saturating_duration_since(moment);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    ((now + ahead).saturating_sub(behind)).as_secs_f64() * 1e3
}
