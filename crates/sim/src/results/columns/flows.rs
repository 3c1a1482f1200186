//! Columns of listed flows.

use super::Column;

const RTT_PERCENTILES: &str = "percentiles of the times of `mean_rtt_s`, from a histogram as that \
    of the queueing delay of a link. null unless `trace.rtt` asks for them, and for live flows";

/// One row per flow.
pub const FLOWS: &[Column] = &[
    Column::text("flow", "name of the flow"),
    Column::text("group", "name of the entry of `[[flows]]` it comes from"),
    Column::text("rule", "the rule in canonical notation"),
    Column::text("recovery", "as it runs: `tahoe`, `reno`, `newreno`, `sack`, `fack`, or `rack` for SACK in profile linux"),
    Column::rate(
        "goodput_bps",
        "goodput",
        "`delivered_packets` x 8 x `packet_size` / T: payload only, no headers. T is the \
         measuring window for a finite transfer or a late start too",
    )
    .higher(),
    Column::packets(
        "delivered_packets",
        "delivered packets",
        "unique data packets that arrived at the receiver in the window. A packet counts when it \
         arrives for the first time, in order or not; the SYN and duplicates do not count",
    )
    .higher(),
    Column::packets(
        "acknowledged_packets",
        "acknowledged packets",
        "data packets that were acknowledged cumulatively in the window: what arrived in order, \
         where `delivered_packets` is what arrived. null for live flows",
    )
    .headed("acknow-\nledged")
    .higher(),
    Column::packets(
        "sent_packets",
        "sent packets",
        "data packets that left the sender: new ones, retransmissions, SYN",
    ),
    Column::packets(
        "retransmitted_packets",
        "retransmitted packets",
        "sent packets whose number was sent before, whether or not the retransmission was \
         necessary",
    )
    .headed("retrans-\nmitted")
    .lower(),
    Column::packets(
        "dropped_packets",
        "dropped packets",
        "packets of the flow lost on its forward path in the window, by the time of the drop, to a \
         queue or to a loss model. Lost ACKs do not count",
    )
    .lower(),
    Column::packets(
        "marked_packets",
        "marked packets",
        "data packets that arrived at the receiver in the window with a mark (CE), duplicates \
         included",
    )
    .headed("marked"),
    Column::count(
        "timeouts",
        "timeouts",
        "expiries of the retransmission timer with data outstanding, including those after \
         back-off and those of a lost SYN",
    )
    .lower(),
    Column::count(
        "fast_retransmits",
        "fast retransmits",
        "fast retransmits that reduced the window: at most one per recovery, also for `tahoe`",
    )
    .headed("fast\nretransmits"),
    Column::count(
        "ecn_reductions",
        "ECN reductions",
        "window reductions because of ECN echoes: at most one per window of data; not those that a \
         rule makes itself with an ACK (Prague)",
    )
    .headed("ECN\ncuts"),
    Column::count(
        "window_reductions",
        "window reductions",
        "`timeouts` + `fast_retransmits` + `ecn_reductions`",
    ),
    Column::count(
        "undone_reductions",
        "undone reductions",
        "reductions for losses that the sender undid because nothing was lost (`undo`); they \
         count in the fields above as well. null for live flows",
    ),
    Column::fraction("loss_rate", "loss rate", "`dropped_packets` / `sent_packets`")
        .headed("loss")
        .in_percent()
        .lower(),
    Column::time(
        "mean_rtt_s",
        "mean RTT",
        "mean over all ACKs that reach the sender in the window of (arrival of the ACK - sending \
         of the packet that triggered it). It includes duplicate ACKs, retransmitted packets (a \
         simulator knows which copy it was), the SYN, and the delay of a delayed ACK. It is not \
         the sender's srtt",
    )
    .headed("RTT")
    .lower(),
    Column::time("p50_rtt_s", "median RTT", RTT_PERCENTILES)
        .from_histogram()
        .headed("p50 RTT")
        .lower(),
    Column::time("p95_rtt_s", "p95 RTT", RTT_PERCENTILES).from_histogram().lower(),
    Column::time("p99_rtt_s", "p99 RTT", RTT_PERCENTILES).from_histogram().lower(),
    Column::time("p999_rtt_s", "p99.9 RTT", RTT_PERCENTILES).from_histogram().lower(),
    Column::time(
        "mean_rto_s",
        "mean RTO",
        "mean of the sender's retransmission timeout as it stands after each of its own RTT \
         samples, with floor, cap and back-off",
    ),
    Column::amount(
        "mean_cwnd_packets",
        "mean cwnd",
        "time average of cwnd, (1/T) integral of cwnd dt. It counts as 0 before the flow's start \
         and excludes the inflation by duplicate ACKs; where `cap_window` is false it can exceed \
         `window`",
    )
    .headed("window"),
    Column::ratio(
        "rate_cov",
        "coefficient of variation of the rate",
        "coefficient of variation (standard deviation, with division by the number of bins, over \
         mean) of the packets counted by `delivered_packets` in bins of `rate_bin`, over the \
         whole bins of the window. null with fewer than two bins",
    )
    .lower(),
    Column::time(
        "starved_s",
        "longest starvation",
        "longest time without a break in which the flow starved: whole bins of `shares.bin` in \
         which its goodput was below `shares.starved_below` times its fair share, the mean goodput \
         of the listed flows that were there for the whole bin. Whole run, from the flow's start to \
         its `finish_s`; starvation that lasts until the end may be longer. null unless \
         `trace.shares` asks for it, for flows whose traffic pauses by itself (`responses`, \
         `frames`, `page`, `video`), and for live flows",
    )
    .headed("starved")
    .in_seconds()
    .lower(),
    Column::time(
        "convergence_s",
        "convergence time",
        "time from the flow's start to the earliest bin from which on its goodput was within \
         `shares.band` times its fair share of that share in each bin for `shares.hold` (Dong et \
         al. 2015, section 4.2), at least 0. Bins, fair share and null as for `starved_s`; null \
         as well for a flow that did not converge",
    )
    .headed("converged\nafter")
    .in_seconds()
    .lower(),
    Column::time(
        "base_rtt_s",
        "base RTT",
        "sum of the propagation delays in both directions, own links included: no transmission, \
         no queue. Not measured",
    ),
    Column::time(
        "received_s",
        "completion at the receiver",
        "simulated time (not time since the start) at which the receiver had the last packet: of a \
         finite transfer, of a response unless another has begun, or of the data sent before the \
         flow stopped; null otherwise. What papers call the completion of a flow. null for live \
         flows",
    )
    .headed("received"),
    Column::time(
        "finish_s",
        "finish",
        "the same at the sender: when the ACK of that packet reached it, the way back and a \
         delayed ACK later (ns-2's measure)",
    ),
    Column::packets("total_sent_packets", "sent packets, whole run", "`sent_packets`, whole run"),
    Column::packets(
        "total_delivered_packets",
        "delivered packets, whole run",
        "data packets that arrived at the receiver, whole run, **duplicates and SYN included**",
    ),
    Column::packets(
        "total_dropped_packets",
        "dropped packets, whole run",
        "`dropped_packets`, whole run",
    ),
    Column::packets(
        "in_flight_packets",
        "packets in flight",
        "data packets in flight when the run ended",
    ),
];
