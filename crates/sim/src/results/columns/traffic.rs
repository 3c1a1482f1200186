//! Columns of cross traffic, and of finite flows and responses.

use super::Column;

const FCT_PERCENTILES: &str = "percentiles of the times of `mean_fct_s`";
const SUMMED: &str = "as for a flow, summed";

/// One row per entry of `[[cross]]`.
pub const CROSS: &[Column] = &[
    Column::text("source", "name of the entry"),
    Column::rate(
        "offered_bps",
        "offered rate",
        "time average of the rate that its sources send, headers included",
    )
    .headed("offered"),
    Column::rate(
        "delivered_bps",
        "delivered rate",
        "bits of the delivered packets on the wire / T",
    )
    .headed("delivered"),
    Column::packets("sent_packets", "sent packets", "packets that left the sources").headed("sent"),
    Column::packets(
        "delivered_packets",
        "delivered packets",
        "packets that reached the end of their path",
    )
    .headed("delivered"),
    Column::packets(
        "dropped_packets",
        "dropped packets",
        "packets lost on the path. Cross traffic is not ECN-capable: a queue that marks drops its \
         packets",
    )
    .headed("dropped")
    .lower(),
];

/// One row per entry of `[[arrivals]]`, and per group of flows with `responses` or
/// `frames`.
pub const ARRIVALS: &[Column] = &[
    Column::text("group", "name of the entry"),
    Column::text("rule", "as for a flow"),
    Column::text("recovery", "as for a flow"),
    Column::count("arrived_flows", "arrived flows", "transfers that began in the window")
        .headed("arrived"),
    Column::count(
        "finished_flows",
        "finished flows",
        "of these, those that finished before the run ended",
    )
    .headed("finished"),
    Column::count("unfinished_flows", "unfinished flows", "of these, those that did not").lower(),
    Column::count(
        "late_flows",
        "late frames",
        "of `arrived_flows`, the frames that did not arrive within the `deadline` of `frames`; none \
         without a deadline",
    )
    .headed("late")
    .lower(),
    Column::ratio("late_share", "share of late frames", "`late_flows` / `arrived_flows`")
        .headed("late\nshare")
        .lower(),
    Column::time(
        "mean_fct_s",
        "mean FCT",
        "mean of the flow completion time: from the start of a transfer (its SYN, or the request) to \
         the ACK of its last packet at the sender, without think times; of a frame to the arrival \
         of its last packet in order. Finished transfers only: a window that ends close to the \
         run's end favours short ones",
    )
    .lower(),
    Column::time("p50_fct_s", "median FCT", FCT_PERCENTILES).headed("p50 FCT").lower(),
    Column::time("p95_fct_s", "p95 FCT", FCT_PERCENTILES).lower(),
    Column::time("p99_fct_s", "p99 FCT", FCT_PERCENTILES).lower(),
    Column::ratio(
        "mean_slowdown",
        "mean slowdown",
        "mean of the completion time over the shortest that the path allows: for each response a \
         round trip of propagation delays, for a frame a single trip, and the packets' bits over the rate of the slowest link (for a \
         varying rate its largest value, for a recording its mean). Handshake and slow start make \
         it larger than 1 in an empty network too",
    )
    .headed("mean\nslowdown")
    .lower(),
    Column::rate("goodput_bps", "goodput", "unique payload that arrived in the window x 8 / T")
        .higher(),
    Column::rate(
        "delivered_bps",
        "delivered rate",
        "bits on the wire that reached the end of the path / T, duplicates included",
    ),
    Column::packets("sent_packets", "sent packets", SUMMED),
    Column::packets("retransmitted_packets", "retransmitted packets", SUMMED).lower(),
    Column::packets("dropped_packets", "dropped packets", SUMMED).headed("dropped").lower(),
    Column::packets("delivered_packets", "delivered packets", SUMMED).higher(),
    Column::count("timeouts", "timeouts", SUMMED).lower(),
];
