//! Columns of cross traffic, and of finite flows and responses.

use super::Column;

const FCT_PERCENTILES: &str = "percentiles of the times of `mean_fct_s`";
const RECEIVED_PERCENTILES: &str = "percentiles of the times of `mean_received_fct_s`";
const PAGE_PERCENTILES: &str = "percentiles of the times of `mean_page_load_s`";
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

/// One row per entry of `[[arrivals]]`, and per group of flows with `responses`, `frames`, `page`
/// or `video`.
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
        "mean of the flow completion time: from the start of a transfer (its SYN, or the request) \
         to the ACK of its last packet at the sender, without think times, as ns-2 measures it; of a \
         frame to the arrival of its last packet in order. Finished transfers only: a window that \
         ends close to the run's end favours short ones",
    )
    .lower(),
    Column::time("p50_fct_s", "median FCT", FCT_PERCENTILES).headed("p50 FCT").lower(),
    Column::time("p95_fct_s", "p95 FCT", FCT_PERCENTILES).lower(),
    Column::time("p99_fct_s", "p99 FCT", FCT_PERCENTILES).lower(),
    Column::time(
        "mean_received_fct_s",
        "mean FCT at the receiver",
        "as `mean_fct_s`, to the arrival of the last packet at the receiver, as papers measure it: \
         without the way back and a delayed ACK",
    )
    .headed("mean FCT,\nreceived")
    .lower(),
    Column::time("p50_received_fct_s", "median FCT at the receiver", RECEIVED_PERCENTILES)
        .headed("p50 FCT,\nreceived")
        .lower(),
    Column::time("p95_received_fct_s", "p95 FCT at the receiver", RECEIVED_PERCENTILES)
        .headed("p95 FCT,\nreceived")
        .lower(),
    Column::time("p99_received_fct_s", "p99 FCT at the receiver", RECEIVED_PERCENTILES)
        .headed("p99 FCT,\nreceived")
        .lower(),
    Column::ratio(
        "mean_slowdown",
        "mean slowdown",
        "mean of the completion time of `mean_fct_s` over the shortest that the path allows: for \
         each response a round trip of propagation delays, for a frame a single trip, and the \
         packets' bits over the rate of the slowest link (for a varying rate its largest value, for \
         a recording its mean). Handshake and slow start make it larger than 1 in an empty network \
         too",
    )
    .headed("mean\nslowdown")
    .lower(),
    Column::count("pages", "pages", "web pages that began in the window; null without `page`"),
    Column::count("loaded_pages", "loaded pages", "of these, those that loaded before the run ended")
        .headed("loaded"),
    Column::time(
        "mean_page_load_s",
        "mean page load time",
        "mean of the page load time: from the request of the first object (of the first page, \
         from the first SYN) to the arrival of the last packet of the last object at the receiver, \
         parse times included. What an object names is requested once its last ACK has reached the \
         sender. Loaded pages only",
    )
    .headed("mean\npage load")
    .lower(),
    Column::time("p50_page_load_s", "median page load time", PAGE_PERCENTILES)
        .headed("p50\npage load")
        .lower(),
    Column::time("p95_page_load_s", "p95 page load time", PAGE_PERCENTILES)
        .headed("p95\npage load")
        .lower(),
    Column::time(
        "startup_delay_s",
        "startup delay",
        "mean over the players that began to play of the time from the start of the flow to the \
         begin of playback, whole run; null without `video`",
    )
    .headed("startup")
    .lower(),
    Column::count(
        "rebufferings",
        "rebufferings",
        "times at which the buffer of a player ran empty and playback stood still, all players \
         together; not those before playback began",
    )
    .headed("rebuf-\nferings")
    .lower(),
    Column::time(
        "rebuffering_s",
        "rebuffering time",
        "time in which playback stood still after it had begun, in the window, all players together",
    )
    .lower(),
    Column::fraction(
        "rebuffering_share",
        "share of rebuffering",
        "`rebuffering_s` / the time from the begin of playback on, in the window, all players \
         together",
    )
    .headed("rebuf-\nfering")
    .in_percent()
    .lower(),
    Column::rate(
        "mean_bitrate_bps",
        "mean bitrate",
        "mean bitrate of the segments requested in the window",
    )
    .headed("bitrate")
    .higher(),
    Column::count(
        "bitrate_switches",
        "bitrate switches",
        "of these segments, those of another bitrate than the one before, all players together",
    )
    .headed("switches")
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
