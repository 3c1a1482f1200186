//! Translation of a scenario to QUIC transfers: supported settings, notes on settings without
//! effect, errors for unsupported settings.

use crate::events::Failure;
use crate::unsupported::{EndpointKind, unsupported, written};
use cwndlab_quic::{HEADER_BYTES, RuleFactory, Transfer};
use cwndlab_scenario::{KnobOverrides, ProfileName, Sampling, Scenario};
use cwndlab_sim::ExternalFlow;
use cwndlab_units::message::{invalid, one_of};
use std::path::Path;

/// Endpoint knobs that QUIC runs support.
const HONOURED: [&str; 5] = ["packet_size", "window", "initial_ssthresh", "initial_window", "ecn"];
/// Endpoint knobs that have no effect on QUIC, and why.
const WITHOUT_EFFECT: [(&str, &str); 4] = [
    ("timestamps", "QUIC needs none: every acknowledgement gives an RTT sample"),
    (
        "delayed_ack",
        "quinn acknowledges every second packet, and windows grow by acknowledged packets",
    ),
    ("min_rto", "QUIC sends probes instead of waiting for an RTO (RFC 9002 section 6.2)"),
    ("pacing", "quinn always paces packets, at 1.25 windows per RTT"),
];
/// Supported datagram sizes, bytes: at least the minimum of RFC 9000 section 14.
const DATAGRAMS: std::ops::RangeInclusive<u32> = 1200..=65_000;
/// Maximum number of flows, which have two sockets each.
const MOST_FLOWS: usize = 200;
/// Windows and thresholds from this value on mean no limit.
const UNLIMITED_PACKETS: f64 = 1e8;
/// Shortest and longest interval between samples of windows, seconds.
const SAMPLING_S: [f64; 2] = [5e-3, 10e-3];

/// Settings of a run.
#[derive(Debug)]
pub struct TransferPlan {
    /// Flows in the network.
    pub plays: Vec<ExternalFlow>,
    /// Transfers by flow number.
    pub transfers: Vec<Transfer>,
    /// Whether each flow uses ECN.
    pub ecn: Vec<bool>,
    /// Datagram size, bytes.
    pub datagram_bytes: u16,
    /// Time between samples, seconds.
    pub sampling_s: f64,
    /// Buffer of each socket and each sender, bytes: several times what the network holds.
    pub buffer_bytes: usize,
    /// Differences from the scenario.
    pub notes: Vec<String>,
}

pub const ENDPOINTS: EndpointKind = EndpointKind {
    owner: "quinn's",
    profiles: &[ProfileName::Rfc, ProfileName::Linux],
    packet_trace_advice: Some("leave it out, and use qlog"),
    shortest: "5ms",
};

impl TransferPlan {
    /// Translates a checked scenario; `plays` are its flows in the network, `largest_bps` is the
    /// rate of the fastest link, `qlog` the folder for qlog files.
    pub fn new(
        scenario: &Scenario,
        plays: &[ExternalFlow],
        largest_bps: f64,
        qlog: Option<&Path>,
    ) -> Result<Self, Failure> {
        let mut notes = Vec::new();
        ENDPOINTS.check(scenario)?;
        if let [name, ..] = scenario.linux.names().as_slice() {
            return unsupported(&format!("linux.{name}"), "QUIC's endpoints are not the kernel's");
        }
        listed_drops(scenario)?;
        knobs("tcp", &scenario.tcp, &mut notes)?;
        let mut factories = Vec::new();
        for (i, flow) in scenario.flows.iter().enumerate() {
            knobs(&format!("flows[{i}].tcp"), &flow.tcp, &mut notes)?;
            factories.push(
                RuleFactory::new(flow.rule.0.clone())
                    .map_err(|error| Failure::refused(format!("flows[{i}].rule: {error}")))?,
            );
        }
        if plays.is_empty() || plays.len() > MOST_FLOWS {
            let expected = format!("1 to {MOST_FLOWS} flows over QUIC");
            return Err(Failure::refused(invalid("flows", plays.len(), expected)));
        }
        let datagram_bytes = datagram_bytes(plays, &mut notes)?;
        let transfers = plays.iter().enumerate().map(|(number, play)| {
            let name = qlog.map(|folder| folder.join(format!("{number:03}.sqlog")));
            transfer(play, scenario, factories[play.group].clone(), datagram_bytes, name)
        });
        let transfers = transfers.collect();
        let rtts = || plays.iter().map(|play| play.base_rtt_s);
        let wanted_s = match scenario.trace.cwnd {
            Some(Sampling::Every(every)) => every.seconds(),
            _ => SAMPLING_S[1],
        };
        let bdp_bytes = largest_bps / 8.0 * rtts().fold(0.0, f64::max);
        Ok(Self {
            ecn: plays.iter().map(|play| play.config.ecn.ecn).collect(),
            plays: plays.to_vec(),
            transfers,
            datagram_bytes,
            sampling_s: wanted_s
                .min(rtts().fold(f64::INFINITY, f64::min) / 4.0)
                .clamp(SAMPLING_S[0], SAMPLING_S[1]),
            buffer_bytes: (16.0 * bdp_bytes).clamp(8e6, 2.5e8) as usize,
            notes,
        })
    }
}

/// Refuses drops by number: each transmission over QUIC has a number of its own, which is encrypted
/// (RFC 9000 section 12.3).
fn listed_drops(scenario: &Scenario) -> Result<(), Failure> {
    let dumbbell = scenario.dumbbell.iter().map(|link| ("dumbbell".into(), &link.drop));
    let links = scenario.links.iter().enumerate();
    let links = links.map(|(i, link)| (format!("links[{i}]"), &link.drop));
    match dumbbell.chain(links).find(|(_, listed)| !listed.is_empty()) {
        Some((key, _)) => unsupported(
            &format!("{key}.drop"),
            "QUIC gives each transmission a number of its own: list packets as they arrive, by \
             loss = [{ kind = \"list\", ... }]",
        ),
        None => Ok(()),
    }
}

/// Refuses knobs that the scenario sets and quinn does not support; notes those without effect.
fn knobs(key: &str, knobs: &KnobOverrides, notes: &mut Vec<String>) -> Result<(), Failure> {
    for name in written(key, knobs)? {
        if let Some((_, why)) = WITHOUT_EFFECT.iter().find(|knob| knob.0 == name) {
            notes.push(format!("{key}.{name} has no effect: {why}"));
        } else if !HONOURED.contains(&name.as_str()) {
            return unsupported(
                &format!("{key}.{name}"),
                &format!(
                    "has no effect on quinn: expected only {} in a live run",
                    one_of(&HONOURED)
                ),
            );
        }
    }
    Ok(())
}

/// The datagram size that gives packets of the simulated size, if QUIC allows it.
fn datagram_bytes(plays: &[ExternalFlow], notes: &mut Vec<String>) -> Result<u16, Failure> {
    let size = |play: &ExternalFlow| play.config.wire_size(1);
    let wire = size(&plays[0]);
    if plays.iter().any(|play| size(play) != wire) {
        return unsupported("tcp.packet_size", "must be the same for all flows over QUIC");
    }
    let wanted = wire.saturating_sub(u32::from(HEADER_BYTES));
    if wanted > *DATAGRAMS.end() {
        let most = DATAGRAMS.end() + u32::from(HEADER_BYTES);
        let value = format!("a packet of {wire} bytes");
        let expected = format!("at most {most} bytes");
        return Err(Failure::refused(invalid("tcp.packet_size", value, expected)));
    }
    let bytes = wanted.max(*DATAGRAMS.start());
    if bytes != wanted {
        let least = bytes + u32::from(HEADER_BYTES);
        notes.push(format!(
            "packets have {least} bytes on the wire instead of {wire}: QUIC has none smaller (RFC \
             9000 section 14)"
        ));
    }
    Ok(bytes as u16)
}

fn transfer(
    play: &ExternalFlow,
    scenario: &Scenario,
    factory: RuleFactory,
    datagram_bytes: u16,
    qlog: Option<std::path::PathBuf>,
) -> Transfer {
    let limited = |packets: f64| (packets < UNLIMITED_PACKETS).then_some(packets);
    let factory = factory.initial_window_packets(play.config.limits.initial_window);
    let factory = match limited(play.config.limits.initial_ssthresh) {
        Some(packets) => factory.initial_ssthresh_packets(packets),
        None => factory,
    };
    Transfer {
        factory,
        start_s: play.start_s,
        stop_s: play.stop_s,
        bytes: scenario.flows[play.group].transfer_bytes(&play.config),
        window_bytes: limited(play.config.limits.window)
            .map(|packets| (packets * f64::from(datagram_bytes)).min(1e9) as u32),
        qlog,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwndlab_sim::NetworkPath;

    fn plan(more: &str, flow: &str) -> Result<TransferPlan, String> {
        let profile = if more.contains("profile") { "" } else { "profile = \"rfc\"\n" };
        let text = format!(
            "duration = \"10s\"\n{profile}{more}\n[dumbbell]\nrate = \"10Mbit\"\ndelay = \"10ms\"\n\
             [[flows]]\nrule = \"kernel:reno\"\n{flow}\n"
        );
        let scenario = Scenario::from_toml(&text).unwrap();
        TransferPlan::new(&scenario, NetworkPath::new(&scenario).flows(), 1e7, None)
            .map_err(|failure| failure.message)
    }

    #[test]
    fn packets_have_the_size_of_simulated_packets_if_quic_allows_it() {
        // 1448 + 40 + 12 = 1500 bytes on the wire, of which IPv4 and UDP take 28.
        let full = plan("tcp = { packet_size = 1448, ecn = true }", "").unwrap();
        assert_eq!((full.datagram_bytes, full.ecn[0], full.notes.len()), (1472, true, 0));
        let small = plan("", "").unwrap();
        assert_eq!(small.datagram_bytes, 1200);
        assert!(
            small.notes[0].starts_with("packets have 1228 bytes on the wire instead of 1052"),
            "{:?}",
            small.notes
        );
    }

    #[test]
    fn settings_without_effect_are_noted() {
        let found = plan(
            "tcp = { pacing = true, timestamps = false, packet_size = 1460 }",
            "tcp = { min_rto = \"1s\" }",
        )
        .unwrap();
        assert_eq!(found.notes.len(), 3, "{:?}", found.notes);
        assert_eq!(found.datagram_bytes, 1472);
    }

    #[test]
    fn unsupported_settings_are_refused_by_name() {
        for (more, flow, expected) in [
            ("profile = \"ns2-2.35\"", "", "profile: "),
            ("trace = { cwnd = \"all\" }", "", "trace.cwnd: "),
            ("tcp = { dupack_threshold = 4 }", "", "tcp.dupack_threshold: "),
            ("", "tcp = { limited_transmit = false }", "flows[0].tcp.limited_transmit: "),
            (
                "",
                "[[flows]]\nname = \"b\"\nrule = \"BBR1\"",
                "flows[1].rule: rule \"BBR1\" sets the pacing rate",
            ),
            ("", "count = 300", "flows: 300 is not valid"),
            (
                "",
                "[[flows]]\nname = \"b\"\nrule = \"CUBIC\"\ntcp = { packet_size = 1400 }",
                "tcp.packet_size: must be the same",
            ),
        ] {
            let message = plan(more, flow).unwrap_err();
            assert!(message.starts_with(expected), "{expected} / {message}");
        }
    }
}
