"""DCTCP on a queue that marks at K: its sawtooth as section 3.3 of Alizadeh et al. (2010) has it.

N synchronised flows, a window of W* = (C x RTT + K) / N packets at which the queue reaches K. The
queue rises to K + N (equation 10) and falls by sqrt(N (C x RTT + K) / 2) (equation 8).
"""

from __future__ import annotations

import math

import polars as pl
import pytest

import cwndlab
from conftest import ROOT

BDP = 10e9 * 100e-6 / (8 * 1500)
"""C x RTT of the example, packets of 1500 bytes."""


def _extremes(flows: int, threshold: int) -> tuple[float, float, float]:
    """Mean highest and lowest queue of the teeth, packets, and utilisation.

    A tooth lies between two rises of the queue through K. The model has an ACK per packet.
    """
    scenario = cwndlab.Scenario.load(ROOT / "examples" / "dctcp.toml").patch(
        {
            "dumbbell.queue.threshold": f"{threshold}pkt",
            "flows.dctcp.count": flows,
            "tcp.delayed_ack": False,
        }
    )
    result = cwndlab.run(scenario)
    queue = result.traces["queue"].filter(
        pl.col("link").cast(pl.String) == "bottleneck", pl.col("time_s") >= 10e-3
    )
    # Packets come in bursts of a window's growth: a fall below K - N ends an excursion.
    below, above = pl.col("queue_packets") < threshold - flows, pl.col("queue_packets") > threshold
    side = pl.when(above).then(1).when(below).then(0).forward_fill().fill_null(0)
    teeth = (
        queue.with_columns(side=side)
        .with_columns(tooth=(pl.col("side").diff() == 1).cum_sum())
        .group_by("tooth")
        .agg(highest=pl.col("queue_packets").max(), lowest=pl.col("queue_packets").min())
        .sort("tooth")[1:-1]
    )
    assert len(teeth) >= 10
    return teeth["highest"].mean(), teeth["lowest"].mean(), result.links["utilization"][0]


@pytest.mark.parametrize(("flows", "threshold"), [(2, 40), (2, 80), (4, 40)])
def test_the_queue_of_dctcp_oscillates_about_the_threshold(flows, threshold):
    highest, lowest, utilization = _extremes(flows, threshold)
    # Windows of whole packets: each flow may hold one more or less than the model's, at either end
    # of a tooth; so the fall, a difference of the two, may be off by twice as much.
    assert highest == pytest.approx(threshold + flows, abs=flows)
    fall = math.sqrt(flows * (BDP + threshold) / 2)
    assert highest - lowest == pytest.approx(fall, abs=2 * flows)
    assert utilization > 0.999
