//! A scenario as flows of this kernel: what each socket and route is to be, and what of the scenario cannot be had.

use super::rules::initial_ssthresh;
use crate::events::Failure;
use crate::refusals::{Endpoints, refuse, written};
use cwndlab_sim::ExternalFlow;
use cwndlab_sim::scenario::{
    FlowSpec, KnobOverrides, ProfileName, RecoveryName, Sampling, Scenario,
};
use cwndlab_tcp::Knobs;

/// Knobs that Linux can be told; the others are its own business.
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
/// Payloads of a packet: what Linux takes as TCP_MAXSEG, and what fits an IPv4 packet.
const PAYLOADS: std::ops::RangeInclusive<u32> = 88..=65_000;
/// Flows that addresses are there for.
const MOST_FLOWS: usize = 2000;
/// Windows and thresholds from here on are none.
pub const UNLIMITED_PACKETS: f64 = 1e8;
/// Most often that windows are looked at.
const SHORTEST_SAMPLING_S: f64 = 1e-3;
/// How often otherwise, at the least.
const LONGEST_SAMPLING_S: f64 = 10e-3;

/// One flow.
#[derive(Clone, Debug)]
pub struct FlowPlan {
    /// Name.
    pub name: String,
    /// Entry of the scenario's flows.
    pub group: usize,
    /// When it starts, seconds; infinite for never.
    pub start_s: f64,
    /// When its application stops, seconds.
    pub stop_s: f64,
    /// Bytes to transfer; unlimited where absent.
    pub bytes: Option<u64>,
    /// TCP_MAXSEG: payload and the options that every packet carries.
    pub mss_bytes: u32,
    /// Receiver's window, bytes.
    pub window_bytes: Option<u32>,
    /// First window, packets.
    pub initial_window: u32,
    /// Whether it agrees on ECN.
    pub ecn: bool,
    /// Whether every packet is acknowledged at once.
    pub quick_ack: bool,
    /// Smallest time-out, milliseconds; the kernel's own where absent.
    pub min_rto_ms: Option<u32>,
    /// Whether packets leave spaced out.
    pub pacing: bool,
    /// Round trip of propagation delays, seconds.
    pub base_rtt_s: f64,
}

/// All of them, and what they have in common.
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
    /// Bytes that a socket may hold: several times what the network holds.
    pub buffer_bytes: u32,
    /// Bytes not yet sent that a socket should hold: what keeps it busy until its thread has its turn.
    pub unsent_bytes: u32,
}

const ENDPOINTS: Endpoints = Endpoints {
    whose: "Linux's",
    profiles: &[ProfileName::Rfc, ProfileName::Linux],
    packets: "leave it out",
    shortest: "1ms",
};

impl Plan {
    /// Reads a checked scenario; `plays` are its flows as the network has them, `largest_bps` the rate of its fastest link.
    pub fn new(
        scenario: &Scenario,
        plays: &[ExternalFlow],
        largest_bps: f64,
    ) -> Result<Self, Failure> {
        ENDPOINTS.whole(scenario)?;
        knobs("tcp", &scenario.tcp)?;
        for (i, flow) in scenario.flows.iter().enumerate() {
            one(scenario, i, flow)?;
        }
        if plays.is_empty() {
            return refuse("flows", "the list is empty: a live run needs at least one flow");
        }
        if plays.len() > MOST_FLOWS {
            return refuse(
                "flows",
                &format!("{} flows are too many for a live run: at most {MOST_FLOWS}", plays.len()),
            );
        }
        let flows: Vec<FlowPlan> =
            plays.iter().map(|play| flow_plan(play, &scenario.flows[play.group])).collect();
        let timestamps = plays[0].knobs.timestamps;
        if plays.iter().any(|play| play.knobs.timestamps != timestamps) {
            return refuse(
                "tcp.timestamps",
                "must be the same for all flows: it is one switch of a kernel",
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
            buffer_bytes: (16.0 * bdp_bytes).clamp(4e6, 1e9) as u32,
            // 5 ms at the fastest link's rate.
            unsent_bytes: (largest_bps / 8.0 * 5e-3).clamp(16e3, 4e6) as u32,
            flows,
        })
    }
}

fn one(scenario: &Scenario, index: usize, flow: &FlowSpec) -> Result<(), Failure> {
    let key = |name: &str| format!("flows[{index}].{name}");
    match flow.recovery {
        RecoveryName::Sack | RecoveryName::NewReno => {}
        other => {
            let name = format!("{other:?}").to_lowercase();
            return refuse(
                &key("recovery"),
                &format!("\"{name}\" is not in Linux: allowed are sack, newreno"),
            );
        }
    }
    if flow.recovery != scenario.flows[0].recovery {
        return refuse(
            &key("recovery"),
            "must be the same for all flows: it is one switch of a kernel",
        );
    }
    knobs(&key("tcp"), &flow.tcp)?;
    let all = scenario.knobs(&flow.tcp);
    if flow.rule.0.kernel_name().is_some() && initial_ssthresh(scenario, flow).is_some() {
        let message = "Linux's own rules begin without a threshold: only rules registered for the run can have one";
        return refuse(&key("tcp.initial_ssthresh"), message);
    }
    if !PAYLOADS.contains(&all.packet_size) {
        let (least, most) = PAYLOADS.into_inner();
        return refuse(
            &key("tcp.packet_size"),
            &format!("{} bytes are not possible: allowed are {least} to {most}", all.packet_size),
        );
    }
    Ok(())
}

/// Refuses knobs that are written and that Linux cannot be told.
fn knobs(key: &str, knobs: &KnobOverrides) -> Result<(), Failure> {
    match written(key, knobs)?.iter().find(|name| !HONOURED.contains(&name.as_str())) {
        Some(name) => refuse(
            &format!("{key}.{name}"),
            &format!("is Linux's own business in a live run; allowed: {}", HONOURED.join(", ")),
        ),
        None => Ok(()),
    }
}

fn flow_plan(play: &ExternalFlow, spec: &FlowSpec) -> FlowPlan {
    let Knobs { packet_size, window, initial_window, ecn, timestamps, delayed_ack, pacing, .. } =
        play.knobs;
    let limited = |packets: f64| (packets < UNLIMITED_PACKETS).then_some(packets);
    FlowPlan {
        name: play.identity.name(),
        group: play.group,
        start_s: play.start_s,
        stop_s: play.stop_s,
        bytes: spec.packets.map(|packets| packets * u64::from(packet_size)),
        mss_bytes: packet_size + if timestamps { TIMESTAMP_BYTES } else { 0 },
        window_bytes: limited(window)
            .map(|packets| (packets * f64::from(packet_size)).min(1e9) as u32),
        initial_window: initial_window.max(1.0) as u32,
        ecn,
        quick_ack: !delayed_ack,
        min_rto_ms: spec.tcp.min_rto.map(|time| (time.seconds() * 1e3).round().max(1.0) as u32),
        pacing,
        base_rtt_s: play.base_rtt_s,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwndlab_sim::NetworkPath;

    fn plan(more: &str, flow: &str) -> Result<Plan, String> {
        let text = format!(
            "duration = \"10s\"\n{more}\n[dumbbell]\nrate = \"10Mbit\"\ndelay = \"10ms\"\n[[flows]]\nrule = \"kernel:reno\"\n{flow}\n"
        );
        let scenario = Scenario::from_toml(&text).unwrap();
        Plan::new(&scenario, NetworkPath::new(&scenario).flows(), 1e7)
            .map_err(|failure| failure.message)
    }

    #[test]
    fn packets_have_the_size_that_simulated_ones_have() {
        // 1000 bytes of payload, 40 of headers, 12 of timestamps: Linux takes the options out of TCP_MAXSEG.
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
    fn what_cannot_be_had_is_refused_by_name() {
        for (more, flow, expected) in [
            ("profile = \"ns2-2.35\"", "", "profile: "),
            ("trace = { cwnd = \"all\" }", "", "trace.cwnd: "),
            ("trace = { packets = true }", "", "trace.packets: "),
            ("tcp = { dupack_threshold = 4 }", "", "tcp.dupack_threshold: "),
            ("", "tcp = { limited_transmit = false }", "flows[0].tcp.limited_transmit: "),
            ("", "recovery = \"tahoe\"", "flows[0].recovery: \"tahoe\""),
            ("", "tcp = { packet_size = 20 }", "flows[0].tcp.packet_size: 20 bytes"),
            ("", "tcp = { initial_ssthresh = 20 }", "flows[0].tcp.initial_ssthresh: "),
            ("", "responses = { size = 10, think = \"1s\" }", "flows[0].responses: "),
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
