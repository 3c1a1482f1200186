//! Translation of a scenario to Linux TCP: options of sockets and routes, and errors for
//! unsupported settings.

use super::clock::Clock;
use crate::events::Failure;
use crate::unsupported::{EndpointKind, unsupported, written};
use cwndlab_scenario::{
    FlowSpec, KnobOverrides, LinuxSettings, ProfileName, RecoveryName, Sampling, Scenario,
};
use cwndlab_sim::ExternalFlow;
use cwndlab_tcp::TcpConfig;
use cwndlab_units::message::{invalid, one_of};

/// Endpoint knobs that a live run supports; Linux has no setting for the others.
const HONOURED: [&str; 9] = [
    "packet_size",
    "window",
    "initial_ssthresh",
    "initial_window",
    "ecn",
    "timestamps",
    "delayed_ack",
    "min_rto",
    "pacing",
];
/// Bytes of the headers of IPv4 and TCP without options.
pub const HEADER_BYTES: u32 = 40;
/// Bytes of TCP's timestamps, padding included (RFC 7323, appendix A).
pub const TIMESTAMP_BYTES: u32 = 12;
/// Supported payloads, bytes: from the least TCP_MAXSEG of Linux to what fits an IPv4 packet.
const PAYLOADS: std::ops::RangeInclusive<u32> = 88..=65_000;
/// Largest receive buffer where the scenario's profile has none, bytes (Linux `tcp_rmem`).
const LINUX_RECEIVE_BUFFER_BYTES: u32 = 33_554_432;
/// Maximum number of flows.
const MOST_FLOWS: usize = 2000;
/// The largest window of TCP, bytes (RFC 7323 section 2.3): windows and thresholds from there on
/// limit nothing.
const LARGEST_WINDOW_BYTES: f64 = (1u64 << 30) as f64;
/// Shortest interval between samples of windows, seconds.
const SHORTEST_SAMPLING_S: f64 = 1e-3;
/// Longest interval between samples of windows, seconds.
const LONGEST_SAMPLING_S: f64 = 10e-3;

/// Settings of a flow.
#[derive(Clone, Debug)]
pub struct FlowPlan {
    /// Name.
    pub name: String,
    /// Index of the entry in the scenario's flows.
    pub group: usize,
    /// Start, seconds; infinite for never.
    pub start_s: f64,
    /// When the application stops sending, seconds.
    pub stop_s: f64,
    /// Bytes to transfer; none for unlimited.
    pub bytes: Option<u64>,
    /// TCP_MAXSEG: payload plus the options of every packet.
    pub mss_bytes: u32,
    /// Receive window, bytes.
    pub window_bytes: Option<u32>,
    /// Initial window, packets.
    pub initial_window: u32,
    /// Whether the flow negotiates ECN.
    pub ecn: bool,
    /// Whether both ends run the kernel's DCTCP, which the receiver must know of.
    pub dctcp: bool,
    /// Whether the receiver acknowledges every packet at once (no delayed ACKs).
    pub quick_ack: bool,
    /// Minimum RTO, milliseconds; none for the kernel's.
    pub min_rto_ms: Option<u32>,
    /// Whether the sender paces packets.
    pub pacing: bool,
    /// RTT of the propagation delays, seconds.
    pub base_rtt_s: f64,
}

/// Settings of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Flows by number.
    pub flows: Vec<FlowPlan>,
    /// Whether connections use SACK.
    pub sack: bool,
    /// Whether they use timestamps.
    pub timestamps: bool,
    /// Bytes of the largest packet.
    pub mtu: u32,
    /// Time between samples, seconds.
    pub sampling_s: f64,
    /// Send buffer, bytes: several times what the network holds.
    pub send_buffer_bytes: u32,
    /// Largest receive buffer, bytes.
    pub receive_buffer_bytes: u32,
    /// Settings by the kernel's own names, which override the others.
    pub settings: LinuxSettings,
    /// TCP_NOTSENT_LOWAT: unsent bytes that keep a socket busy until its thread runs again.
    pub unsent_bytes: u32,
}

/// What the kernel's endpoints support. In virtual time packets can be recorded.
fn endpoints(clock: Clock) -> EndpointKind {
    EndpointKind {
        owner: "Linux's",
        profiles: &[ProfileName::Rfc, ProfileName::Linux],
        packet_trace_advice: match clock {
            Clock::Real => Some("leave it out, or run in virtual time (`--virtual`)"),
            Clock::Virtual => None,
        },
        shortest: "1ms",
    }
}

/// Refuses what a live run does not do, before its network is built: flows that arrive, for
/// example, need a simulator.
pub fn check(scenario: &Scenario, clock: Clock) -> Result<(), Failure> {
    endpoints(clock).check(scenario)
}

impl Plan {
    /// Translates a checked scenario; `plays` are its flows in the network, `largest_bps` is the
    /// rate of the fastest link.
    pub fn new(
        scenario: &Scenario,
        plays: &[ExternalFlow],
        largest_bps: f64,
        clock: Clock,
    ) -> Result<Self, Failure> {
        check(scenario, clock)?;
        knobs("tcp", &scenario.tcp)?;
        for (i, flow) in scenario.flows.iter().enumerate() {
            one(scenario, i, flow)?;
        }
        if plays.is_empty() {
            return unsupported("flows", "a live run needs at least one flow");
        }
        if plays.len() > MOST_FLOWS {
            let expected = format!("at most {MOST_FLOWS} flows in a live run");
            return Err(Failure::refused(invalid("flows", plays.len(), expected)));
        }
        let flows: Vec<FlowPlan> =
            plays.iter().map(|play| flow_plan(play, &scenario.flows[play.group])).collect();
        let timestamps = plays[0].config.rto.timestamps;
        if plays.iter().any(|play| play.config.rto.timestamps != timestamps) {
            return unsupported(
                "tcp.timestamps",
                "must be the same for all flows: the kernel has one setting",
            );
        }
        let sack = scenario.flows[0].recovery == RecoveryName::Sack;
        let largest = flows.iter().map(|flow| flow.mss_bytes + HEADER_BYTES).max().unwrap_or(1500);
        let rtt_s = flows.iter().map(|flow| flow.base_rtt_s).fold(f64::INFINITY, f64::min);
        let wanted_s = match scenario.trace.cwnd {
            Some(Sampling::Every(every)) => every.seconds(),
            _ => LONGEST_SAMPLING_S,
        };
        let bdp_bytes =
            largest_bps / 8.0 * flows.iter().map(|flow| flow.base_rtt_s).fold(0.0, f64::max);
        Ok(Self {
            sack,
            timestamps,
            mtu: largest.max(1500),
            sampling_s: wanted_s.min(rtt_s / 4.0).clamp(SHORTEST_SAMPLING_S, LONGEST_SAMPLING_S),
            send_buffer_bytes: (64.0 * bdp_bytes).clamp(16e6, 1e9) as u32,
            receive_buffer_bytes: plays
                .iter()
                .map(|play| play.config.receiver.receive_buffer)
                .max()
                .filter(|&bytes| bytes > 0)
                .unwrap_or(LINUX_RECEIVE_BUFFER_BYTES),
            settings: scenario.linux.clone(),
            unsent_bytes: match clock {
                // 5 ms at the fastest link's rate: the thread may be late.
                Clock::Real => (largest_bps / 8.0 * 5e-3).clamp(16e3, 4e6) as u32,
                Clock::Virtual => 16_000,
            },
            flows,
        })
    }
}

fn one(scenario: &Scenario, index: usize, flow: &FlowSpec) -> Result<(), Failure> {
    let key = |name: &str| format!("flows[{index}].{name}");
    match flow.recovery {
        RecoveryName::Sack | RecoveryName::NewReno => {}
        other => {
            let name = format!("\"{other:?}\"").to_lowercase();
            return Err(Failure::refused(invalid(
                key("recovery"),
                name,
                "sack or newreno, which Linux has",
            )));
        }
    }
    if flow.recovery != scenario.flows[0].recovery {
        return unsupported(
            &key("recovery"),
            "must be the same for all flows: the kernel has one setting",
        );
    }
    knobs(&key("tcp"), &flow.tcp)?;
    let all = scenario.tcp_config(&flow.tcp);
    if flow.rule.0.kernel_name().is_some() && initial_ssthresh(scenario, flow).is_some() {
        let message = "Linux's congestion controls begin without a threshold: only rules that are \
                       registered for the run can have one";
        return unsupported(&key("tcp.initial_ssthresh"), message);
    }
    if !PAYLOADS.contains(&all.segment.packet_size) {
        let (least, most) = PAYLOADS.into_inner();
        let expected = format!("{least} to {most} bytes in a live run");
        let message = invalid(key("tcp.packet_size"), all.segment.packet_size, expected);
        return Err(Failure::refused(message));
    }
    Ok(())
}

/// Refuses knobs that the scenario sets and Linux does not support.
fn knobs(key: &str, knobs: &KnobOverrides) -> Result<(), Failure> {
    match written(key, knobs)?.iter().find(|name| !HONOURED.contains(&name.as_str())) {
        Some(name) => unsupported(
            &format!("{key}.{name}"),
            &format!("has no effect on Linux: expected only {} in a live run", one_of(&HONOURED)),
        ),
        None => Ok(()),
    }
}

/// The initial slow-start threshold of a flow, packets, if the scenario sets it.
pub fn initial_ssthresh(scenario: &Scenario, flow: &FlowSpec) -> Option<u32> {
    let config = scenario.tcp_config(&flow.tcp);
    limited(config.limits.initial_ssthresh, config.segment.packet_size)
        .map(|packets| packets.max(2.0) as u32)
}

/// A window or threshold that limits; none for one that no window of TCP reaches.
fn limited(packets: f64, packet_size: u32) -> Option<f64> {
    (packets * f64::from(packet_size) < LARGEST_WINDOW_BYTES).then_some(packets)
}

fn flow_plan(play: &ExternalFlow, spec: &FlowSpec) -> FlowPlan {
    let TcpConfig { segment, limits, growth, rto, ecn, receiver, .. } = &play.config;
    let packet_size = segment.packet_size;
    FlowPlan {
        name: play.identity.name(),
        group: play.group,
        start_s: play.start_s,
        stop_s: play.stop_s,
        bytes: spec.transfer_bytes(&play.config),
        mss_bytes: packet_size + if rto.timestamps { TIMESTAMP_BYTES } else { 0 },
        window_bytes: limited(limits.window, packet_size)
            .map(|packets| (packets * f64::from(packet_size)) as u32),
        initial_window: limits.initial_window.max(1.0) as u32,
        ecn: ecn.ecn,
        dctcp: spec.rule.0.kernel_name() == Some("dctcp"),
        quick_ack: !receiver.delayed_ack,
        min_rto_ms: spec.tcp.min_rto.map(|time| (time.seconds() * 1e3).round().max(1.0) as u32),
        pacing: growth.pacing,
        base_rtt_s: play.base_rtt_s,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwndlab_sim::NetworkPath;

    fn plan(more: &str, flow: &str) -> Result<Plan, String> {
        let profile = if more.contains("profile") { "" } else { "profile = \"rfc\"\n" };
        let text = format!(
            "duration = \"10s\"\n{profile}{more}\n[dumbbell]\nrate = \"10Mbit\"\ndelay = \"10ms\"\n\
             [[flows]]\nrule = \"kernel:reno\"\n{flow}\n"
        );
        let scenario = Scenario::from_toml(&text).unwrap();
        Plan::new(&scenario, NetworkPath::new(&scenario).flows(), 1e7, Clock::Real)
            .map_err(|failure| failure.message)
    }

    #[test]
    fn packets_have_the_size_of_simulated_packets() {
        // 1000 bytes of payload, 40 of headers, 12 of timestamps: Linux subtracts the options from
        // TCP_MAXSEG.
        let with = plan("", "").unwrap();
        assert_eq!(
            (with.flows[0].mss_bytes, with.timestamps, with.sack, with.mtu),
            (1012, true, true, 1500)
        );
        let without =
            plan("[tcp]\ntimestamps = false\npacket_size = 1460", "recovery = \"newreno\"")
                .unwrap();
        assert_eq!(
            (without.flows[0].mss_bytes, without.timestamps, without.sack, without.mtu),
            (1460, false, false, 1500)
        );
        assert_eq!(plan("[tcp]\npacket_size = 8948", "").unwrap().mtu, 9000);
    }

    #[test]
    fn unsupported_settings_are_refused_by_name() {
        for (more, flow, expected) in [
            ("profile = \"ns2-2.35\"", "", "profile: "),
            ("trace = { cwnd = \"all\" }", "", "trace.cwnd: "),
            ("trace = { packets = true }", "", "trace.packets: "),
            ("tcp = { dupack_threshold = 4 }", "", "tcp.dupack_threshold: "),
            ("", "tcp = { limited_transmit = false }", "flows[0].tcp.limited_transmit: "),
            ("", "recovery = \"tahoe\"", "flows[0].recovery: \"tahoe\""),
            ("", "tcp = { packet_size = 20 }", "flows[0].tcp.packet_size: 20 is not valid"),
            ("", "tcp = { initial_ssthresh = 20 }", "flows[0].tcp.initial_ssthresh: "),
            ("", "responses = { size = 10, think = \"1s\" }", "flows[0].responses: "),
            ("", "frames = { size = 10, every = \"33ms\" }", "flows[0].frames: "),
            ("", "reader = { buffer = 10 }", "flows[0].reader: "),
            ("", "page = { objects = [{ name = \"a\", size = 1 }], think = 1 }", "flows[0].page: "),
            ("", "video = { bitrates = [\"1Mbit\"] }", "flows[0].video: "),
            (
                "arrivals = [{ name = \"a\", rule = \"AIMD(1, 0.5)\", gap = \"1s\", size = 10 }]",
                "",
                "arrivals: ",
            ),
            (
                "",
                "[[flows]]\nname = \"b\"\nrule = \"kernel:reno\"\nrecovery = \"newreno\"",
                "flows[1].recovery: ",
            ),
        ] {
            let message = plan(more, flow).unwrap_err();
            assert!(message.starts_with(expected), "{expected} / {message}");
        }
    }
}
