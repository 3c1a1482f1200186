"""Plots residual bandwidth over time, one small panel per environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from cwndlab.plots.drawing import name, ordered, points, room_in
from cwndlab.plots.style import REFERENCE, look, panels, styled

if TYPE_CHECKING:
    from cwndlab.results import Result

COLUMNS, LEAST_IN = 5, 2.1
"""Most panels beside each other, and the width of one, inches."""
TEST_FLOWS = "flow"


@styled
def available_bandwidths(results: Mapping[str, Result], *, group: str = TEST_FLOWS) -> Figure:
    """Draw the residual bandwidth per flow of each run.

    It is nominal, or measured if finite flows are the cross traffic.

    Parameters
    ----------
    results : mapping
        Title to a result with the trace ``rate``.
    group : str
        The flows among which the bandwidth is divided.
    """
    columns = min(COLUMNS, len(results))
    columns = max(1, min(columns, int(room_in(1.2 + LEAST_IN * columns) // LEAST_IN)))
    rows = -(-len(results) // columns)
    figure, axes = panels(
        rows, columns, sharex=True, width=1.2 + LEAST_IN * columns, height=1.75, least=0.0
    )
    for title, panel in zip(ordered(results), axes, strict=False):
        result = results[title]
        measured = result.arrivals.height > 0
        times, rates = _left(result) if measured else _asked(result)
        flows = max(1, result.flows.filter(group=group).height)
        style = look(1) if measured else look(0)
        rates = rates / flows / 1e6
        panel.step(
            [*times, result.simulated_s],
            [*rates, rates[-1]],
            where="post",
            color=style.color,
            linewidth=1.1,
        )
        panel.axhline(float(np.mean(rates)), color=REFERENCE, linestyle=":", linewidth=0.9)
        panel.set_title(name(title) + (" (measured)" if measured else ""))
        panel.set_xlim(0, result.simulated_s)
        panel.set_ylim(0, 1.12 * max(rates.max(), 1e-9))
    for panel in axes[len(results) :]:
        panel.set_axis_off()
    for panel in axes[max(0, len(results) - columns) : len(results)]:
        panel.set_xlabel("time [s]")
        panel.tick_params(labelbottom=True)
    figure.supylabel("residual bandwidth per flow [Mbit/s]", fontsize=points(10))
    figure.suptitle(
        "Residual bandwidth per flow; dotted: its mean", x=0.01, ha="left", fontsize=points(10.5)
    )
    return figure


def _asked(result: Result) -> tuple[np.ndarray, np.ndarray]:
    frame = result.traces["available"].filter(pl.col("link") == "bottleneck")
    return frame["time_s"].to_numpy(), frame["available_bps"].to_numpy()


def _left(result: Result) -> tuple[np.ndarray, np.ndarray]:
    """Rate of the bottleneck less what finite flows carried, in the same bins."""
    times, rates = _asked(result)
    carried = result.traces["cross"].group_by("time_s").agg(pl.col("carried_bps").sum())
    taken = (
        pl.DataFrame({"time_s": times})
        .join(carried, on="time_s", how="left")["carried_bps"]
        .fill_null(0.0)
    )
    return times, rates - taken.to_numpy()
