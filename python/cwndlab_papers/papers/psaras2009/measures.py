"""Measures from traces: the increase a of MR-AIMD, which no metric has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

SETTLED_S = 5.0
"""Start of the measurement, after slow start and the first losses, seconds."""


def increases(cwnd: pl.DataFrame) -> pl.DataFrame:
    """Work out the increase factor at each acknowledgement in congestion avoidance.

    Equation 1 adds ``a / cwnd`` to the window with an acknowledgement, so that a is the window
    before times its growth.

    Parameters
    ----------
    cwnd : DataFrame
        The trace ``cwnd`` of every event: ``time_s``, ``flow``, ``cwnd_packets``,
        ``ssthresh_packets``.

    Returns
    -------
    DataFrame
        ``time_s``, ``flow``, ``increase`` (packets per round trip), and ``lasted_s``, the time
        since the flow's event before.
    """
    before = pl.col("cwnd_packets").shift(1).over("flow")
    return (
        cwnd.with_columns(
            before.alias("before"),
            (pl.col("time_s") - pl.col("time_s").shift(1).over("flow")).alias("lasted_s"),
            pl.col("ssthresh_packets").shift(1).over("flow").alias("threshold"),
        )
        .filter(pl.col("cwnd_packets") > pl.col("before"), pl.col("before") >= pl.col("threshold"))
        .select("time_s", "flow",
                (pl.col("before") * (pl.col("cwnd_packets") - pl.col("before"))).alias("increase"),
                "lasted_s")
    )  # fmt: skip


def mean_increase(_run: Mapping[str, Any], traces: Mapping[str, pl.DataFrame]) -> dict[str, float]:
    """Mean increase in congestion avoidance over time and flows, packets per round trip."""
    found = increases(traces["cwnd"]).filter(pl.col("time_s") >= SETTLED_S)
    total_s = float(found["lasted_s"].sum())
    return {
        "increase": float((found["increase"] * found["lasted_s"]).sum()) / total_s
        if total_s
        else float("nan")
    }
