//! Columns of traces.

use super::Column;
use crate::measure::trace::PacketEvent;

const FLOW: Column = Column::text("flow", "name of the flow");
const LINK: Column = Column::text("link", "name of the link");
const BIN: &str = "bins as in `rate`, recorded with it";

/// The trace `cwnd`.
pub const CWND: &[Column] = &[
    Column::time(
        "time_s",
        "time",
        "at an interval: 0, 1, 2, ... times the interval; with `\"all\"`: each event at the \
         sender (start, ACK, timeout, stop)",
    ),
    FLOW,
    Column::amount(
        "cwnd_packets",
        "cwnd",
        "the window without inflation, not truncated; at an interval, its value just before an \
         event of the same instant, with `\"all\"` its value after the event",
    ),
    Column::amount("ssthresh_packets", "ssthresh", "slow-start threshold; 1e9 stands for none"),
    Column::time("srtt_s", "smoothed RTT", "the sender's smoothed RTT; 0 before the first sample"),
    Column::time("rttvar_s", "RTT variation", "RTTVAR of RFC 6298; 0 before the first sample"),
    Column::count("backoff", "back-off", "factor of the RTO after timeouts: 1, 2, 4, ..."),
    Column::count("duplicate_acks", "duplicate ACKs", "duplicate ACKs in a row"),
    Column::packets(
        "acknowledged_packets",
        "acknowledged",
        "packets that are acknowledged cumulatively: its growth is the goodput by ACKs, where \
         `goodput_bps` is that by arrival",
    ),
];

/// The trace `rule`, without the state.
pub const RULE: &[Column] = &[
    Column::time(
        "time_s",
        "time",
        "at an interval as in `cwnd`, and at each change of phase, after the event that changed \
         it; with `\"all\"` each event at the sender",
    ),
    FLOW,
    Column::text(
        "phase",
        "of a rule that has phases (BBR: `Startup`, `Drain`, `ProbeBW_UP`, ...), else the \
         sender's: `slow start`, `congestion avoidance`, `recovery`, `loss` (repair after a \
         timeout)",
    ),
];

/// The trace `queue`.
pub const QUEUE: &[Column] = &[
    Column::time("time_s", "time", "multiples of the interval"),
    LINK,
    Column::packets(
        "queue_packets",
        "queue",
        "waiting **and in service** (unlike `mean_queue_packets`); a packet that leaves at that \
         instant has left, one that arrives has not arrived",
    ),
    Column::amount(
        "average_queue_packets",
        "average queue",
        "RED's and RIO's average queue, as of the last arrival (in mean packets where the queue \
         counts bytes); null for other queues",
    ),
    Column::fraction(
        "drop_probability",
        "drop probability",
        "with which the queue drops or marks a packet, as of the last packet or update: RED's \
         before drops are spaced, PIE's, DualPI2's p' (classic packets see its square, L4S packets \
         `coupling` times it); null for other queues",
    ),
];

/// The trace `rate`.
pub const RATE: &[Column] = &[
    Column::time("time_s", "time", "start of a bin of length `trace.rate`, from 0 on"),
    FLOW,
    Column::rate(
        "goodput_bps",
        "goodput",
        "payload of unique packets that arrived in the bin / length of the bin. Bins after a \
         flow's last packet are left out; for a bin that the end of the run truncates, the \
         divisor is its remaining length",
    ),
];

/// The trace `available`.
pub const AVAILABLE: &[Column] = &[
    Column::time("time_s", "time", BIN),
    LINK,
    Column::rate(
        "available_bps",
        "nominal residual bandwidth",
        "mean over the bin of the link's rate less the rate that cross traffic is asked to send",
    )
    .unbounded(),
];

/// The trace `cross`.
pub const CROSS: &[Column] = &[
    Column::time("time_s", "time", BIN),
    Column::text("source", "entries of `[[cross]]` and of `[[arrivals]]`"),
    Column::rate(
        "carried_bps",
        "carried rate",
        "bits of the source's packets that reached the end of their path in the bin / its length",
    ),
];

/// The trace `transfers`.
pub const TRANSFERS: &[Column] = &[
    Column::time("start_s", "start", "start of a finite flow or a response; rows in that order"),
    Column::text("group", "name of its entry"),
    Column::packets("packets", "packets", "its length"),
    Column::time("fct_s", "FCT", "completion time; transfers that did not finish have no row"),
    Column::time("received_fct_s", "FCT at the receiver", "as `mean_received_fct_s`"),
    Column::ratio("slowdown", "slowdown", "as `mean_slowdown`"),
];

/// The trace `packets`.
pub const PACKETS: &[Column] = &[
    Column::count("time_ns", "time", "`time_s`, rounded").in_unit("ns"),
    Column::time("time_s", "time", "time of the event; rows are in order of time"),
    Column::text(
        "event",
        "`send`: leaves the sender. `receive`: arrives at the receiver. `ack`: an ACK arrives at \
         the sender. `drop`: lost, at the time at which the queue dropped it or, to a loss \
         model, of its arrival at the link. \
         `timeout`: the timer expired, before the packets that are sent because of it",
    )
    .one_of(&PacketEvent::NAMES),
    FLOW,
    Column::count(
        "seq",
        "packet number",
        "packet number, from 0 (the SYN where there is one); for `ack` the highest packet \
         acknowledged; for `timeout` the first one not acknowledged",
    )
    .unbounded(),
    Column::count("size_bytes", "size", "on the wire; 0 for `timeout`").in_unit("bytes"),
    Column::amount("cwnd_packets", "cwnd", OF_SENDER),
    Column::amount("ssthresh_packets", "ssthresh", OF_SENDER),
    Column::truth("retransmission", "a packet of that number was sent before"),
    Column::truth(
        "marked",
        "data: a router marked it on its path (CE); ACK: it reports marks (ECE, or a new count in \
         the ACE field of AccECN)",
    ),
];

const OF_SENDER: &str = "the sender's: when a packet leaves, before an ACK is processed, after a \
    timeout is processed. null for `receive` and `drop`";
