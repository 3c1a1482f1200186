"""Columns of a result's tables and traces: names, whose last word is the unit, and types."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

PACKET_EVENTS = ("send", "receive", "ack", "drop", "timeout")
"""Meaning of the native module's event codes.

0 sent, 1 arrives at the sink, 2 its ACK arrives at the sender, ...
"""
TABLES = ("flows", "links", "cross", "arrivals")
"""Tables of every result, each a data frame."""

_TEXT = ("flow", "group", "rule", "recovery", "link", "queue", "source")
_FLOATS = (
    "loss_rate",
    "mean_rtt_s",
    "mean_rto_s",
    "mean_cwnd_packets",
    "rate_cov",
    "base_rtt_s",
    "finish_s",
    "utilization",
    "mean_queue_packets",
    "mean_slowdown",
)
_COLUMNS = {
    "flows": [
        "flow",
        "group",
        "rule",
        "recovery",
        "goodput_bps",
        "delivered_packets",
        "sent_packets",
        "retransmitted_packets",
        "dropped_packets",
        "timeouts",
        "fast_retransmits",
        "ecn_reductions",
        "window_reductions",
        "undone_reductions",
        "loss_rate",
        "mean_rtt_s",
        "mean_rto_s",
        "mean_cwnd_packets",
        "rate_cov",
        "base_rtt_s",
        "finish_s",
        "total_sent_packets",
        "total_delivered_packets",
        "total_dropped_packets",
        "in_flight_packets",
    ],
    "links": [
        "link",
        "rate_bps",
        "delay_s",
        "queue",
        "limit_packets",
        "arrived_packets",
        "dropped_packets",
        "marked_packets",
        "departed_packets",
        "utilization",
        "mean_queue_packets",
        "mean_queueing_delay_s",
        "p95_queueing_delay_s",
        "cross_bps",
        "available_bps",
        "left_bps",
        "total_arrived_packets",
        "total_dropped_packets",
        "total_departed_packets",
        "queued_packets",
    ],
    "cross": [
        "source",
        "offered_bps",
        "delivered_bps",
        "sent_packets",
        "delivered_packets",
        "dropped_packets",
    ],
    "arrivals": [
        "group",
        "rule",
        "recovery",
        "arrived_flows",
        "finished_flows",
        "unfinished_flows",
        "mean_fct_s",
        "p50_fct_s",
        "p95_fct_s",
        "p99_fct_s",
        "mean_slowdown",
        "goodput_bps",
        "delivered_bps",
        "sent_packets",
        "retransmitted_packets",
        "dropped_packets",
        "delivered_packets",
        "timeouts",
    ],
}


def _dtype(column: str) -> type[pl.DataType]:
    if column in _TEXT:
        return pl.String
    return pl.Float64 if column in _FLOATS or column.endswith(("_bps", "_s")) else pl.Int64


SCHEMAS = {
    table: {column: _dtype(column) for column in columns} for table, columns in _COLUMNS.items()
}
"""Columns and types of the frames.

They are equal for every run, even without flows or without values in a column.
"""


def frame_of(
    columns: Mapping[str, tuple[str, bytes]], names: Mapping[str, list[str]]
) -> pl.DataFrame:
    """Make a trace table from the native module's columns.

    Names replace indices.
    """
    series = []
    for column, (dtype, buffer) in columns.items():
        values = pl.Series(column, np.frombuffer(buffer, dtype=dtype))
        if column in names:
            labels = pl.Series(column, names[column], dtype=pl.Enum(names[column]))
            values = labels.gather(values)
        elif values.dtype.is_float():
            # NaN means unknown: null, as in JSON.
            values = values.fill_nan(None)
        elif column in ("retransmission", "marked"):
            values = values.cast(pl.Boolean)
        series.append(values)
    return pl.DataFrame(series)
