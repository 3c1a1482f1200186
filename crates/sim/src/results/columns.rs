//! Columns of the tables of a result, in the order in which data frames have them.

/// Type of a column; every column may lack values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Text.
    Text,
    /// A 64-bit integer.
    Whole,
    /// A 64-bit float.
    Float,
}

/// A table: its name and its columns.
pub type Table = (&'static str, &'static [(&'static str, ColumnType)]);

use ColumnType::{Float, Text, Whole};

/// All tables of a result. The unit of a column is the last word of its name.
pub const TABLES: [Table; 4] = [
    (
        "flows",
        &[
            ("flow", Text),
            ("group", Text),
            ("rule", Text),
            ("recovery", Text),
            ("goodput_bps", Float),
            ("delivered_packets", Whole),
            ("sent_packets", Whole),
            ("retransmitted_packets", Whole),
            ("dropped_packets", Whole),
            ("timeouts", Whole),
            ("fast_retransmits", Whole),
            ("ecn_reductions", Whole),
            ("window_reductions", Whole),
            ("undone_reductions", Whole),
            ("loss_rate", Float),
            ("mean_rtt_s", Float),
            ("mean_rto_s", Float),
            ("mean_cwnd_packets", Float),
            ("rate_cov", Float),
            ("base_rtt_s", Float),
            ("finish_s", Float),
            ("total_sent_packets", Whole),
            ("total_delivered_packets", Whole),
            ("total_dropped_packets", Whole),
            ("in_flight_packets", Whole),
        ],
    ),
    (
        "links",
        &[
            ("link", Text),
            ("rate_bps", Float),
            ("delay_s", Float),
            ("queue", Text),
            ("limit_packets", Whole),
            ("arrived_packets", Whole),
            ("dropped_packets", Whole),
            ("marked_packets", Whole),
            ("departed_packets", Whole),
            ("utilization", Float),
            ("mean_queue_packets", Float),
            ("mean_queueing_delay_s", Float),
            ("p95_queueing_delay_s", Float),
            ("cross_bps", Float),
            ("available_bps", Float),
            ("left_bps", Float),
            ("total_arrived_packets", Whole),
            ("total_dropped_packets", Whole),
            ("total_departed_packets", Whole),
            ("queued_packets", Whole),
        ],
    ),
    (
        "cross",
        &[
            ("source", Text),
            ("offered_bps", Float),
            ("delivered_bps", Float),
            ("sent_packets", Whole),
            ("delivered_packets", Whole),
            ("dropped_packets", Whole),
        ],
    ),
    (
        "arrivals",
        &[
            ("group", Text),
            ("rule", Text),
            ("recovery", Text),
            ("arrived_flows", Whole),
            ("finished_flows", Whole),
            ("unfinished_flows", Whole),
            ("mean_fct_s", Float),
            ("p50_fct_s", Float),
            ("p95_fct_s", Float),
            ("p99_fct_s", Float),
            ("mean_slowdown", Float),
            ("goodput_bps", Float),
            ("delivered_bps", Float),
            ("sent_packets", Whole),
            ("retransmitted_packets", Whole),
            ("dropped_packets", Whole),
            ("delivered_packets", Whole),
            ("timeouts", Whole),
        ],
    ),
];
