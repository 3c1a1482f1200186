"""Plots known results: where each measured value lies in the band of what is expected."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cwndlab.plots.drawing import points
from cwndlab.plots.style import panels, styled

COLORS = {"holds": "#0B6DB8", "fails": "#B84E00", "undecided": "#777777"}
MARKERS = {"holds": "o", "fails": "X", "undecided": "D"}
FARTHEST = 100.0
"""Distances are drawn up to so many tolerances."""


@styled
def known_results(found: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw every fact: its measured value and interval, in tolerances from what is expected.

    Within the grey band, from -1 to 1, a value is as expected.

    Parameters
    ----------
    found : sequence of mapping
        ``fact`` (THEME/NAME), ``theme`` (a title), ``low`` and ``high`` (expected; infinite where
        there is no bound), ``mean``, ``ci95_low``, ``ci95_high`` (measured, or None), ``verdict``.
    """
    half = _split(found)
    columns = [found[:half], found[half:]] if half < len(found) else [found]
    longest = max(len(column) + 1.3 * len(_themes(column)) for column in columns)
    figure, axes = panels(
        1, len(columns), width=6.2 * len(columns), height=1.3 + 0.165 * longest, least=5.0
    )
    for place, column in zip(axes, columns, strict=True):
        _draw(place, column, longest)
    counts = {name: sum(row["verdict"] == name for row in found) for name in COLORS}
    handles = [
        axes[0].plot([], [], MARKERS[name], color=COLORS[name], markersize=5,
                     label=f"{name}: {counts[name]}")[0]
        for name in COLORS
    ]  # fmt: skip
    figure.legend(handles=handles, loc="upper right", ncols=3, handletextpad=0.2)
    figure.suptitle(
        f"{counts['holds']} of {len(found)} known results hold", x=0.01, ha="left",
        fontsize=points(11),
    )  # fmt: skip
    return figure


def _split(found: Sequence[Mapping[str, Any]]) -> int:
    """Return where the second column begins: at the theme nearest to the middle."""
    starts = [at for at in range(1, len(found)) if found[at]["theme"] != found[at - 1]["theme"]]
    if len(found) < 40 or not starts:
        return len(found)
    return min(starts, key=lambda at: abs(at - len(found) / 2))


def _themes(column: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(row["theme"] for row in column))


def _draw(axes: Axes, column: Sequence[Mapping[str, Any]], longest: float) -> None:
    axes.axvspan(-1, 1, color="#e6e6e6", zorder=0)
    axes.axvline(0, color="#bbbbbb", linewidth=0.8, zorder=1)
    ticks: list[float] = []
    names: list[str] = []
    height, before = 0.0, ""
    for row in column:
        if row["theme"] != before:
            before = row["theme"]
            axes.text(
                0.0, height + 0.35, f" {before}", transform=axes.get_yaxis_transform(),
                fontsize=points(8), fontweight="bold", va="center",
            )  # fmt: skip
            height += 1.3
        _mark(axes, row, height)
        ticks.append(height)
        names.append(row["fact"].partition("/")[2])
        height += 1
    axes.set_yticks(ticks, names, fontsize=points(7))
    axes.set_ylim(longest - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.set_xscale("symlog", linthresh=2.0)
    axes.set_xlim(-FARTHEST * 1.3, FARTHEST * 1.3)
    axes.set_xticks([-100, -10, -1, 0, 1, 10, 100], ["100", "10", "1", "0", "1", "10", "100"])
    axes.set_xlabel("tolerances below what is expected   |   above")


def _mark(axes: Axes, row: Mapping[str, Any], height: float) -> None:
    color, marker = COLORS[row["verdict"]], MARKERS[row["verdict"]]
    if row["mean"] is None:
        axes.plot([0], [height], "$-$", markersize=6, color=color, zorder=3)
        return
    low, high = row["low"], row["high"]
    at = _within(distance(row["mean"], low, high))
    axes.plot([at], [height], marker, markersize=4.5, color=color, zorder=3)
    if row["ci95_low"] is not None:
        ends = [_within(distance(row[key], low, high)) for key in ("ci95_low", "ci95_high")]
        axes.plot(ends, [height, height], "-", linewidth=1.2, color=color, zorder=3)


def _within(at: float) -> float:
    return max(-FARTHEST, min(FARTHEST, at))


def distance(value: float, low: float, high: float) -> float:
    """Return how far a value is from the middle of a band, in half-widths.

    A band with one bound ends there, and has the bound's half as its half-width; whatever lies
    farther within is in the middle. One without width has the half-width of a tenth of its value,
    or of 1.

    Examples
    --------
    >>> distance(44.0, 36.0, 44.0), distance(3.0, -math.inf, 2.0), distance(9.0, 2.0, math.inf)
    (1.0, 2.0, 0.0)
    >>> distance(10.0, 10.0, 10.0), distance(5.0, 10.0, 10.0)
    (0.0, -6.0)
    """
    if math.isinf(low):
        return max(0.0, 1 + (value - high) / (abs(high) / 2 or 1.0))
    if math.isinf(high):
        return min(0.0, -1 + (value - low) / (abs(low) / 2 or 1.0))
    middle, half = (low + high) / 2, (high - low) / 2
    if half == 0:
        off = (value - middle) / (abs(middle) / 10 or 1.0)
        return off + math.copysign(1, off) if off else 0.0
    return (value - middle) / half
