"""What the program `cwndlab-live` sends at the end of a run, as data frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from cwndlab.columns import TABLES

_TRACES = {
    "cwnd": {"time_s": pl.Float64, "flow": pl.UInt32, "cwnd_packets": pl.Float64,
             "ssthresh_packets": pl.Float64,
             "srtt_s": pl.Float64},
    "packets": {"time_s": pl.Float64, "event": pl.String, "flow": pl.UInt32, "seq": pl.Int64,
                "size_bytes": pl.UInt32, "cwnd_packets": pl.Float64,
                "ssthresh_packets": pl.Float64, "retransmission": pl.Boolean,
                "marked": pl.Boolean, "sack": pl.List(pl.List(pl.Int64)),
                "receiver_window_bytes": pl.UInt32, "delivery_rate_bytes_s": pl.UInt64,
                "min_rtt_us": pl.UInt32},
    "queue": {"time_s": pl.Float64, "link": pl.UInt32, "queue_packets": pl.UInt32},
    "rate": {"time_s": pl.Float64, "flow": pl.UInt32, "goodput_bps": pl.Float64},
}  # fmt: skip
"""Columns of traces; names replace the numbers of flows and links."""


def fields(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return the run's own fields."""
    return {name: value for name, value in run.items() if name not in TABLES}


def traces(
    columns: Mapping[str, Mapping[str, list[Any]]], of: Mapping[str, pl.DataFrame]
) -> dict[str, pl.DataFrame]:
    """Return the traces, with the names of flows and links from the tables."""
    names = {"flow": of["flows"]["flow"].to_list(), "link": of["links"]["link"].to_list()}
    return {table: _trace(table, rows, names) for table, rows in columns.items()}


def _trace(
    table: str, columns: Mapping[str, list[Any]], names: Mapping[str, list[str]]
) -> pl.DataFrame:
    frame = pl.DataFrame(dict(columns), schema=_TRACES[table])
    for column in names.keys() & set(frame.columns):
        labels = pl.Series(column, names[column], dtype=pl.Enum(names[column]))
        frame = frame.with_columns(labels.gather(frame[column]).alias(column))
    return frame
