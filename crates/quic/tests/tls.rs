//! The handshake without cryptography against that of rustls.

use cwndlab_quic::{QuinnStack, SERVER_NAME};
use cwndlab_scenario::Scenario;
use cwndlab_sim::results::RunResult;
use cwndlab_sim::{Options, Simulation};
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use rustls::pki_types::PrivatePkcs8KeyDer;
use std::sync::Arc;

/// quinn with rustls, and a certificate of the kind that live runs make.
fn with_rustls() -> QuinnStack {
    let made = rcgen::generate_simple_self_signed([SERVER_NAME.to_string()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let client = rustls::ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let server = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key.into())
        .unwrap();
    QuinnStack::with_crypto(
        Arc::new(QuicClientConfig::try_from(client).unwrap()),
        Arc::new(QuicServerConfig::try_from(server).unwrap()),
    )
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
        let (plain, tls) = (run(QuinnStack::new(), seed), run(with_rustls(), seed));
        println!("{:?}", plain.flows[0]);
        assert_eq!(plain.trace_hash, tls.trace_hash, "seed {seed}");
        assert!(plain.flows[0].goodput_bps > 1e6);
    }
}
