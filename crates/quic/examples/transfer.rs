//! Transfers a megabyte over QUIC on the loopback interface, with a given window rule.
//!
//!     cargo run -p cwndlab-quic --example transfer -- "GAIMD(0.31, 0.875)"

use cwndlab_quic::{RuleController, RuleFactory};
use quinn::rustls::RootCertStore;
use quinn::{ClientConfig, Endpoint, ServerConfig, TransportConfig};
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let rule = std::env::args().nth(1).unwrap_or_else(|| "GAIMD(0.31, 0.875)".into());

    // These two lines set the congestion controller.
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(rule.parse::<RuleFactory>()?));

    let certified = rcgen::generate_simple_self_signed(["localhost".to_string()])?;
    let key = certified.signing_key.serialize_der().try_into()?;
    let server_config = ServerConfig::with_single_cert(vec![certified.cert.der().clone()], key)?;
    let server = Endpoint::server(server_config, SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    let address = server.local_addr()?;
    let sink = tokio::spawn(async move {
        let connection = server.accept().await?.await.ok()?;
        let read = connection.accept_uni().await.ok()?.read_to_end(2 << 20).await.ok()?;
        connection.close(0u8.into(), b"done");
        server.wait_idle().await;
        Some(read.len())
    });

    let mut roots = RootCertStore::empty();
    roots.add(certified.cert.der().clone())?;
    let mut client_config = ClientConfig::with_root_certificates(Arc::new(roots))?;
    client_config.transport_config(Arc::new(transport));
    let mut client = Endpoint::client(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    client.set_default_client_config(client_config);
    let connection = client.connect(address, "localhost")?.await?;
    let mut stream = connection.open_uni().await?;
    stream.write_all(&vec![0; 1 << 20]).await?;
    stream.finish()?;
    stream.stopped().await.ok();
    let state = connection
        .congestion_state()
        .into_any()
        .downcast::<RuleController>()
        .map_err(|_| "another controller")?;
    println!(
        "{rule}: {} bytes arrived; the window ends at {:.1} packets",
        sink.await?.ok_or("no transfer")?,
        state.cwnd_packets()
    );
    Ok(())
}
