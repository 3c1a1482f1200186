"""Plots the same scenario simulated, with several seeds, and live, side by side."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cwndlab.custom_rules import shown
from cwndlab.plots import timelines
from cwndlab.plots.drawing import as_float, name, points, room_in
from cwndlab.plots.style import REFERENCE, look, panels, styled
from cwndlab.statistics import Bounds, prediction

if TYPE_CHECKING:
    from cwndlab.plots.subjects import LiveRun, Run

TITLES = ("simulated: mean, 95 % of runs", "live")
WARNING = "#B00020"
USUAL_IN, LEAST_IN = 11.0, 3.2
"""Width of the figure, and least width of a panel, inches."""
LINE = 120
"""Length of a warning that fits the figure's width, characters."""


@styled
def beside(live: LiveRun) -> Figure:
    """Draw shares and delays of a live run and of simulated ones, and windows and queues.

    Parameters
    ----------
    live : LiveResult
        A live run with simulated ones; it and the first of them have the traces ``cwnd`` and
        ``queue``.
    """
    runs = live.simulated
    assert runs is not None, "the figure needs them"
    height = 3.2 if _is_narrow() else 2.4
    figure, axes = panels(3, 2, width=USUAL_IN, height=height, least=LEAST_IN)
    _shares(axes[0], live, runs)
    _delays(axes[1], live, runs)
    titles = (f"simulated, seed {runs[0].fields['seed']}", "live")
    for column, (result, title) in enumerate(zip((runs[0], live), titles, strict=True)):
        timelines.windows(axes[2 + column], result)
        timelines.queue(axes[4 + column], result)
        for panel in (axes[2 + column], axes[4 + column]):
            panel.set_xlim(0, result.simulated_s)
            panel.set_xlabel("time [s]")
            timelines.shade_unmeasured(
                panel, result, "not measured" if panel is axes[2 + column] else None
            )
            what, _, note = panel.get_title("left").partition(" (")
            note = note.replace(") (", ")\n(")
            panel.set_title(f"{what}, {title}" + (f"\n({note}" if note else ""), loc="left")
    for row in (2, 4):
        top = max(axes[row].get_ylim()[1], axes[row + 1].get_ylim()[1])
        axes[row].set_ylim(0, top)
        axes[row + 1].set_ylim(0, top)
    # Both panels of a row have the same legend: right of both, or above the first.
    for row in (0, 2, 4):
        timelines.legend(axes[row if _is_narrow() else row + 1])
    words, color = textwrap.fill(live.verdict, LINE), REFERENCE
    if not live.fields.get("valid", True):
        words = textwrap.fill(
            "The live run is NOT valid: " + "; ".join(live.reasons), LINE, max_lines=2
        )
        color = WARNING
    figure.suptitle(words, color=color, fontsize=points(10.5), fontweight="bold", x=0.01, ha="left")
    return figure


def _is_narrow() -> bool:
    """Whether the panels of both runs are below each other."""
    return room_in(USUAL_IN) < 2 * LEAST_IN


def shares(result: Run) -> dict[str, float]:
    """Share of the goodput of each group of flows, 0 to 1.

    Labels have the number of flows.
    """
    total = as_float(result.flows["goodput_bps"].sum())
    found: dict[str, float] = {}
    for (group,), frame in result.flows.group_by("group", maintain_order=True):
        count = f"{frame.height} x " if frame.height > 1 else ""
        goodput = as_float(frame["goodput_bps"].sum())
        rule = shown(frame["rule"][0])
        found[name(str(group), f"{count}{rule}")] = goodput / total if total else 0.0
    return found


def _shares(axes: Axes, live: Run, simulated: Sequence[Run]) -> None:
    own = shares(live)
    # By place: a rule may have another name in the simulation (kernel:cubic, CUBIC).
    others = [list(shares(run).values()) for run in simulated]
    # The group above its rule, so that the bars have room.
    labels = [label.replace(": ", ":\n", 1) for label in own]
    values = [(share, [run[place] for run in others]) for place, share in enumerate(own.values())]
    _bars(axes, labels, values, 100, "%", (0.0, 1.0))
    axes.set_xlim(0, 118)
    axes.set_xticks(range(0, 101, 25))
    axes.set_xlabel("share of the goodput [%]")
    axes.set_title("Shares")


def _delays(axes: Axes, live: Run, simulated: Sequence[Run]) -> None:
    links = [timelines.bottleneck(result) for result in (live, *simulated)]
    keys = ("mean_queueing_delay_s", "p95_queueing_delay_s")
    found = [[link[key] or 0.0 for link in links] for key in keys]
    values = [(own, others) for own, *others in found]
    _bars(axes, ["mean", "95 % below"], values, 1e3, "ms", (0.0, math.inf))
    axes.set_xlim(0, 1.25 * max(axes.get_xlim()[1], 1e-3))
    axes.axvline(0, color=REFERENCE, linewidth=0.8)
    axes.set_xlabel(f"time in the queue of {links[0]['link']} [ms]")
    axes.set_title("Queueing delay")


def _bars(
    axes: Axes, labels: Sequence[str], values: Sequence[tuple[float, list[float]]],
    scale: float, unit: str, bounds: Bounds,
) -> None:  # fmt: skip
    """Draw a live value below the mean of the simulated ones, with where 95 % of such runs lie."""
    places = np.arange(len(labels))
    means = [sum(others) / len(others) for _, others in values]
    spreads = [prediction(others, bounds=bounds) for _, others in values]
    errors = [
        (mean - low, high - mean)
        for mean, (low, high) in (
            (mean, spread or (mean, mean)) for mean, spread in zip(means, spreads, strict=True)
        )
    ]
    both = (means, [own for own, _ in values])
    for index, (heights, title) in enumerate(zip(both, TITLES, strict=True)):
        spread = [*map(list, zip(*errors, strict=True))] if index == 0 else None
        bars = axes.barh(
            places + 0.38 * (index - 0.5), [scale * height for height in heights], 0.34,
            color=look(index).color, label=title, hatch=look(index).hatch,
            xerr=None if spread is None else scale * np.array(spread),
            error_kw={"ecolor": REFERENCE, "elinewidth": 1.4, "capsize": 4},
        )  # fmt: skip
        axes.bar_label(bars, fmt=f"%.1f {unit}{'%' if unit == '%' else ''}", padding=3,
                       fontsize=points(8))  # fmt: skip
    axes.set_yticks(places, labels)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
