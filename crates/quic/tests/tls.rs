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
    // A flow that starts later must not resume the connection of another.
    client.resumption = rustls::client::Resumption::disabled();
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

/// A scenario drawn by a seed: rate, delay, losses, reordering, marks, credit and transfers.
fn drawn(seed: u64) -> String {
    let mut state = seed;
    let mut one_of = |choices: &[&str]| {
        // Knuth's linear congruential generator (MMIX).
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        choices[(state >> 33) as usize % choices.len()].to_string()
    };
    let link = [
        format!("rate = \"{}\"", one_of(&["500kbit", "2Mbit", "5Mbit", "20Mbit"])),
        format!("delay = \"{}\"", one_of(&["1ms", "20ms", "150ms"])),
        one_of(&["", "loss = [{ kind = \"bernoulli\", p = 0.01 }]"]),
        one_of(&["", "jitter = { kind = \"uniform\", high = \"8ms\", reorder = true }"]),
        one_of(&["", "outages = [{ from = \"3s\", to = \"4500ms\", arrivals = \"lost\" }]"]),
        one_of(&[
            "",
            "queue = { kind = \"codel\", ecn = true }",
            "queue = { kind = \"drop-tail\", limit = \"20pkt\" }",
        ]),
    ];
    let flow = [
        format!("rule = \"{}\"", one_of(&["quinn:newreno", "quinn:cubic", "CUBIC", "AIAD(1, 3)"])),
        one_of(&["", "bytes = \"300kB\"", "stop = \"6s\""]),
        one_of(&["", "tcp = { ecn = true }", "tcp = { window = 12 }"]),
        one_of(&["", "count = 3\nstart = [\"0s\", \"2s\"]"]),
    ];
    format!(
        "duration = \"10s\"\nseed = {seed}\n[dumbbell]\n{}\n[[flows]]\nstack = \"quinn\"\n{}\n\
         [[flows]]\nname = \"beside\"\nrule = \"CUBIC\"\n",
        link.join("\n"),
        flow.join("\n")
    )
}

fn run(stack: QuinnStack, text: &str) -> RunResult {
    let scenario = Scenario::from_toml(text).unwrap();
    Simulation::with_stacks(&scenario, Options::default(), &[Arc::new(stack)]).run().unwrap()
}

#[test]
fn a_run_without_cryptography_is_that_with_rustls_packet_for_packet() {
    let mut datagrams = 0;
    for seed in 1..=60 {
        let text = drawn(seed);
        let (plain, tls) = (run(QuinnStack::new(), &text), run(tls(), &text));
        assert_eq!(plain.trace_hash, tls.trace_hash, "{text}");
        datagrams += plain.flows[0].total_sent_packets;
    }
    assert!(datagrams > 60 * 100, "{datagrams}");
}
