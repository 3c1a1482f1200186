//! Columns of links.

use super::Column;

const DELAY_PERCENTILES: &str = "percentiles of the times of `mean_queueing_delay_s`, from a \
    histogram whose buckets are at most 1/32 of their value wide, interpolated within the bucket. \
    The interval of a mean over runs is at least a bucket wide";

/// One row per link and direction.
pub const LINKS: &[Column] = &[
    Column::text("link", "its name; `bottleneck` and `bottleneck-back` in a dumbbell"),
    Column::rate("rate_bps", "rate", "time average of the link's rate"),
    Column::time("delay_s", "propagation delay", "propagation delay"),
    Column::text("queue", "discipline"),
    Column::packets(
        "limit_packets",
        "limit of the buffer",
        "size of the buffer; the packet in service takes one of them where `count_in_service` is \
         true. null for a buffer without limit or in bytes",
    ),
    Column::packets(
        "arrived_packets",
        "arrived packets",
        "packets that arrived, dropped ones included",
    )
    .headed("arrived"),
    Column::packets(
        "dropped_packets",
        "dropped packets",
        "packets lost: by the queue, by a loss before the queue (at their arrival), or by a loss \
         after transmission (at the end of it)",
    )
    .headed("dropped")
    .lower(),
    Column::packets(
        "marked_packets",
        "marked packets",
        "packets that the queue or a `marks` loss marked with CE instead of dropping them",
    )
    .headed("marked"),
    Column::packets(
        "l4s_marked_packets",
        "marked L4S packets",
        "those of `marked_packets` that carried ECT(1): with `dualpi2` the marks of its L queue; the \
         rest of `marked_packets` are those of its C queue",
    )
    .headed("L4S marked"),
    Column::packets(
        "departed_packets",
        "departed packets",
        "packets that left with their last bit transmitted, less those lost after transmission",
    ),
    Column::fraction(
        "utilization",
        "utilization",
        "bits whose packets finished transmission in the window / (`rate_bps` x T): throughput \
         with headers, cross traffic and packets lost after transmission, over capacity",
    )
    .in_percent()
    .higher(),
    Column::amount(
        "mean_queue_packets",
        "mean queue",
        "time average of the number of packets waiting, **without the one in service**",
    )
    .lower(),
    Column::time(
        "mean_queueing_delay_s",
        "mean queueing delay",
        "mean time from arrival to the start of the packet's own transmission, which is not \
         included, over the packets that arrived in the window and were accepted. Packets whose \
         transmission never begins do not count: those that a queue drops later, those behind an \
         outage that outlasts the run, and, where the queue decides at departure, those still \
         waiting when the run ends",
    )
    .headed("mean delay")
    .lower(),
    Column::time("p50_queueing_delay_s", "median queueing delay", DELAY_PERCENTILES)
        .from_histogram()
        .headed("p50 delay")
        .lower(),
    Column::time("p95_queueing_delay_s", "p95 queueing delay", DELAY_PERCENTILES)
        .from_histogram()
        .headed("p95 delay")
        .lower(),
    Column::time("p99_queueing_delay_s", "p99 queueing delay", DELAY_PERCENTILES)
        .from_histogram()
        .headed("p99 delay")
        .lower(),
    Column::time("p999_queueing_delay_s", "p99.9 queueing delay", DELAY_PERCENTILES)
        .from_histogram()
        .headed("p99.9 delay")
        .lower(),
    Column::rate(
        "cross_bps",
        "cross traffic",
        "time average of the rate that cross traffic is asked to send over this link, headers \
         included: the offered, not the delivered rate",
    ),
    Column::rate(
        "available_bps",
        "nominal residual bandwidth",
        "the residual bandwidth intended for the flows: `rate_bps` - `cross_bps`; with \
         `source_rate`, the mean of the waveform `available`",
    )
    .headed("available")
    .unbounded(),
    Column::rate(
        "left_bps",
        "residual bandwidth",
        "the residual bandwidth that cross traffic and finite flows really left: `rate_bps` less \
         the bits of their packets that reached the end of their path in the window / T. It \
         exceeds `available_bps` where the queue dropped some of them",
    )
    .headed("residual")
    .unbounded(),
    Column::packets(
        "total_arrived_packets",
        "arrived packets, whole run",
        "`arrived_packets`, whole run",
    ),
    Column::packets(
        "total_dropped_packets",
        "dropped packets, whole run",
        "`dropped_packets`, whole run",
    ),
    Column::packets(
        "total_departed_packets",
        "departed packets, whole run",
        "`departed_packets`, whole run",
    ),
    Column::packets("queued_packets", "queued packets", "waiting or in service when the run ended"),
];
