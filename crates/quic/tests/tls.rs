//! The handshake without cryptography against that of rustls.

use cwndlab_quic::{QuinnStack, SERVER_NAME};
use cwndlab_scenario::Scenario;
use cwndlab_sim::results::RunResult;
use cwndlab_sim::{Options, Simulation};
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use rustls::pki_types::PrivatePkcs8KeyDer;
use std::sync::Arc;

/// Configurations with rustls. Signatures of Ed25519 have one size, unlike those of ECDSA.
fn with_rustls() -> (Arc<QuicClientConfig>, Arc<QuicServerConfig>) {
    let signing_key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
    let mut parameters = rcgen::CertificateParams::new([SERVER_NAME.to_string()]).unwrap();
    parameters.serial_number = Some(vec![1; 20].into());
    let certificate = parameters.self_signed(&signing_key).unwrap().der().clone();
    let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let mut client = rustls::ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut server = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key.into())
        .unwrap();
    // As quinn configures them.
    client.enable_early_data = true;
    server.max_early_data_size = u32::MAX;
    (
        Arc::new(QuicClientConfig::try_from(client).unwrap()),
        Arc::new(QuicServerConfig::try_from(server).unwrap()),
    )
}

fn tls() -> QuinnStack {
    let (client, server) = with_rustls();
    QuinnStack::with_crypto(client, server)
}

fn run(stack: QuinnStack, seed: u64) -> RunResult {
    let scenario = Scenario::from_toml(&format!(
        r#"
        duration = "20s"
        seed = {seed}
        [dumbbell]
        rate = "5Mbit"
        delay = "20ms"
        loss = [{{ kind = "bernoulli", p = 0.005 }}]
        [[flows]]
        rule = "quinn:cubic"
        stack = "quinn"
        count = 2
        "#
    ))
    .unwrap();
    Simulation::with_stacks(&scenario, Options::default(), &[Arc::new(stack)]).run().unwrap()
}

#[test]
fn a_run_without_cryptography_is_that_with_rustls_packet_for_packet() {
    for seed in 1..4 {
        let (plain, tls) = (run(QuinnStack::new(), seed), run(tls(), seed));
        println!("{:?}", plain.flows[0]);
        assert_eq!(plain.trace_hash, tls.trace_hash, "seed {seed}");
        assert!(plain.flows[0].goodput_bps > 1e6);
    }
}
