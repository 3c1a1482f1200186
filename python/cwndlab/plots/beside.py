"""Plots the same scenario simulated and live, side by side."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cwndlab.custom_rules import shown
from cwndlab.plots import timelines
from cwndlab.plots.drawing import name, points, room_in
from cwndlab.plots.style import REFERENCE, look, panels, styled

if TYPE_CHECKING:
    from cwndlab.results import Result

TITLES = ("simulated", "live")
WARNING = "#B00020"
USUAL_IN, LEAST_IN = 11.0, 3.2
"""Width of the figure, and least width of a panel, inches."""
LINE = 120
"""Length of a warning that fits the figure's width, characters."""


@styled
def beside(simulated: Result, live: Result) -> Figure:
    """Draw windows and queue of both runs over time, and the shares of goodput below them.

    Parameters
    ----------
    simulated, live : Result
        Results of one scenario, each with the traces ``cwnd`` and ``queue``.
    """
    is_narrow = _is_narrow()
    height = 3.2 if is_narrow else 2.5
    figure, axes = panels(3, 2, width=USUAL_IN, height=height, least=LEAST_IN)
    results = (simulated, live)
    for column, (result, title) in enumerate(zip(results, TITLES, strict=True)):
        timelines.windows(axes[column], result)
        timelines.queue(axes[2 + column], result)
        for panel in (axes[column], axes[2 + column]):
            panel.set_xlim(0, result.simulated_s)
            panel.set_xlabel("time [s]")
            what, _, note = panel.get_title("left").partition(" (")
            panel.set_title(f"{what}, {title}" + (f"\n({note}" if note else ""), loc="left")
    for row in (0, 2):
        top = max(axes[row].get_ylim()[1], axes[row + 1].get_ylim()[1])
        axes[row].set_ylim(0, top)
        axes[row + 1].set_ylim(0, top)
    # Both panels of a row have the same legend: it is to the right of both, or above both.
    for row in (0, 2):
        timelines.legend(axes[row if is_narrow else row + 1])
    _shares(axes[4], results)
    _delays(axes[5], results)
    if not live.fields.get("valid", True):
        words = textwrap.fill(
            "The live run is NOT valid: " + "; ".join(live.reasons), LINE, max_lines=2
        )
        figure.suptitle(words, color=WARNING, fontsize=points(10))
    return figure


def _is_narrow() -> bool:
    """Whether the panels of both runs are below each other."""
    return room_in(USUAL_IN) < 2 * LEAST_IN


def shares(result: Result) -> dict[str, float]:
    """Share of the goodput of each group of flows, 0 to 1.

    Labels have the number of flows.
    """
    total = result.flows["goodput_bps"].sum()
    found = {}
    for (group,), frame in result.flows.group_by("group", maintain_order=True):
        count = f"{frame.height} x " if frame.height > 1 else ""
        found[name(group, f"{count}{shown(frame['rule'][0])}")] = (
            frame["goodput_bps"].sum() / total if total else 0.0
        )
    return found


def _shares(axes: Axes, results: tuple[Result, Result]) -> None:
    found = [shares(result) for result in results]
    labels = list(found[0])
    places = np.arange(len(labels))
    for index, (values, title) in enumerate(zip(found, TITLES, strict=True)):
        heights = [100 * values[label] for label in labels]
        bars = axes.barh(places + 0.38 * (index - 0.5), heights, 0.34, color=look(index).color,
                         label=title,
                         hatch=look(index).hatch)  # fmt: skip
        axes.bar_label(bars, fmt="%.1f %%", padding=3, fontsize=points(8))
    is_narrow = _is_narrow()
    # The group above its rule, so that the bars have room.
    axes.set_yticks(
        places, [label.replace(": ", ":\n", 1) if is_narrow else label for label in labels]
    )
    axes.invert_yaxis()
    axes.set_xlim(0, 118)
    axes.set_xticks(range(0, 101, 25))
    axes.set_xlabel("share of the goodput [%]")
    axes.set_title("Shares")
    axes.grid(visible=False, axis="y")


def _delays(axes: Axes, results: tuple[Result, Result]) -> None:
    links = [timelines.bottleneck(result) for result in results]
    names = ("mean", "95 % below")
    places = np.arange(len(names))
    for index, (link, title) in enumerate(zip(links, TITLES, strict=True)):
        values = [link["mean_queueing_delay_s"], link["p95_queueing_delay_s"]]
        heights = [1e3 * (value or 0.0) for value in values]
        bars = axes.barh(places + 0.38 * (index - 0.5), heights, 0.34, color=look(index).color,
                         label=title,
                         hatch=look(index).hatch)  # fmt: skip
        axes.bar_label(bars, fmt="%.1f ms", padding=3, fontsize=points(8))
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.25 * max(axes.get_xlim()[1], 1e-3))
    axes.axvline(0, color=REFERENCE, linewidth=0.8)
    axes.set_xlabel(f"time in the queue of {links[0]['link']} [ms]")
    axes.set_title("Queueing delay")
    timelines.legend(axes)
    axes.grid(visible=False, axis="y")
