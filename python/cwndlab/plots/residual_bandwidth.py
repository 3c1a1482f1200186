"""Plots residual bandwidth over time, one panel for each kind of waveform."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from cwndlab.plots.drawing import label_line, name, ordered, part_labels, points, room_in
from cwndlab.plots.style import FloatArray, look, panels, styled

if TYPE_CHECKING:
    from cwndlab.plots.subjects import Run

COLUMNS, LEAST_IN = 3, 3.0
"""Most panels beside each other, and the width of one, inches."""
TEST_FLOWS = "flow"
WIDE = 5.0
"""Ratio of the highest to the lowest mean from which the scale is logarithmic."""
KINDS = {
    "constant": "Constant",
    "square": "Square wave",
    "saw-tooth": "Saw-tooth",
    "walk": "Random walk",
    "uniform": "Independent random rates",
    "points": "Each rate drawn from the last",
}
MEASURED = "Beside short flows (measured)"


@styled
def available_bandwidths(results: Mapping[str, Run], *, group: str = TEST_FLOWS) -> Figure:
    """Draw the residual bandwidth per flow of each run, one panel for each kind of waveform.

    It is nominal, or measured if finite flows are the cross traffic.

    Parameters
    ----------
    results : mapping
        Title to a result with the trace ``rate``.
    group : str
        The flows among which the bandwidth is divided.
    """
    courses = {title: _per_flow(results[title], group) for title in ordered(results)}
    kinds: dict[str, list[str]] = {}
    for title in courses:
        kinds.setdefault(_kind(results[title]), []).append(title)
    columns = min(COLUMNS, len(kinds))
    columns = max(1, min(columns, int(room_in(0.8 + LEAST_IN * columns) // LEAST_IN)))
    rows = -(-len(kinds) // columns)
    figure, axes = panels(
        rows, columns, sharex=True, sharey=True, width=0.8 + LEAST_IN * columns, height=2.0,
        least=0.0,
    )  # fmt: skip
    means = [float(np.mean(rates)) for _, rates in courses.values()]
    is_wide = max(means) > WIDE * min(means) > 0
    highest = max(float(rates.max()) for _, rates in courses.values())
    lowest = min(float(rates[rates > 0].min(initial=highest)) for _, rates in courses.values())
    floor = max(0.7 * lowest, 1e-3 * highest) if is_wide else 0.0
    for (kind, titles), panel in zip(kinds.items(), axes, strict=False):
        for index, title in enumerate(titles):
            times, rates = courses[title]
            style = look(index)
            # Thinner ones in front: equal rates stay visible.
            panel.step(
                times, np.maximum(rates, floor), where="post", color=style.color,
                linewidth=2.2 if index == 0 and len(titles) > 1 else 1.2,
            )  # fmt: skip
            mean = float(np.mean(rates[:-1]))
            label_line(panel, 0, mean, name(title), style.color, is_outside=True)
        panel.set_title(kind)
    axes[0].set_xlim(0, max(result.simulated_s for result in results.values()))
    if is_wide:
        axes[0].set_yscale("log")
        axes[0].yaxis.set_major_formatter(FuncFormatter(_plain))
        axes[0].yaxis.set_minor_locator(NullLocator())
    axes[0].set_ylim(floor, (1.6 if is_wide else 1.12) * max(highest, 1e-9))
    for panel in axes[len(kinds) :]:
        panel.set_axis_off()
    for panel in axes[max(0, len(kinds) - columns) : len(kinds)]:
        panel.set_xlabel("time [s]")
        panel.tick_params(labelbottom=True)
    figure.supylabel("residual bandwidth per flow [Mbit/s]", fontsize=points(10))
    part_labels(figure)
    return figure


def _plain(value: float, _: int | None) -> str:
    return f"{value:g}"


def _kind(result: Run) -> str:
    """Say what the bandwidth does over time."""
    if result.arrivals.height > 0:
        return MEASURED
    sources: list[dict[str, Any]] = result.scenario.get("cross", [])
    kind = str(sources[0].get("available", {}).get("kind", "")) if sources else "constant"
    return KINDS.get(kind, kind)


def _per_flow(result: Run, group: str) -> tuple[FloatArray, FloatArray]:
    """Return times, and the rates from each on, in Mbit/s; the last rate lasts to the end."""
    times, rates = _left(result) if result.arrivals.height > 0 else _asked(result)
    flows = max(1, result.flows.filter(group=group).height)
    rates = rates / flows / 1e6
    return np.append(times, result.simulated_s), np.append(rates, rates[-1])


def _asked(result: Run) -> tuple[FloatArray, FloatArray]:
    frame = result.traces["available"].filter(pl.col("link") == "bottleneck")
    return frame["time_s"].to_numpy(), frame["available_bps"].to_numpy()


def _left(result: Run) -> tuple[FloatArray, FloatArray]:
    """Rate of the bottleneck less what finite flows carried, in the same bins."""
    times, rates = _asked(result)
    carried = result.traces["cross"].group_by("time_s").agg(pl.col("carried_bps").sum())
    taken = (
        pl.DataFrame({"time_s": times})
        .join(carried, on="time_s", how="left")["carried_bps"]
        .fill_null(0.0)
    )
    return times, rates - taken.to_numpy()
