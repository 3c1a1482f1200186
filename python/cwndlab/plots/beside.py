"""Plots the same scenario simulated and live, side by side."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cwndlab.custom_rules import shown
from cwndlab.plots import timelines
from cwndlab.plots.drawing import as_float, name, points, room_in
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
    """Draw the shares of goodput and the delays of both runs, and below windows and queue of each.

    Parameters
    ----------
    simulated, live : Result
        Results of one scenario, each with the traces ``cwnd`` and ``queue``.
    """
    height = 3.2 if _is_narrow() else 2.4
    figure, axes = panels(3, 2, width=USUAL_IN, height=height, least=LEAST_IN)
    results = (simulated, live)
    _shares(axes[0], results)
    _delays(axes[1], results)
    for column, (result, title) in enumerate(zip(results, TITLES, strict=True)):
        timelines.windows(axes[2 + column], result)
        timelines.queue(axes[4 + column], result)
        for panel in (axes[2 + column], axes[4 + column]):
            panel.set_xlim(0, result.simulated_s)
            panel.set_xlabel("time [s]")
            what, _, note = panel.get_title("left").partition(" (")
            panel.set_title(f"{what}, {title}" + (f"\n({note}" if note else ""), loc="left")
    for row in (2, 4):
        top = max(axes[row].get_ylim()[1], axes[row + 1].get_ylim()[1])
        axes[row].set_ylim(0, top)
        axes[row + 1].set_ylim(0, top)
    # Both panels of a row have the same legend: right of both, or above the first.
    for row in (0, 2, 4):
        timelines.legend(axes[row if _is_narrow() else row + 1])
    words, color = _difference(results), REFERENCE
    if not live.fields.get("valid", True):
        words = textwrap.fill(
            "The live run is NOT valid: " + "; ".join(live.reasons), LINE, max_lines=2
        )
        color = WARNING
    figure.suptitle(words, color=color, fontsize=points(10.5), fontweight="bold", x=0.01, ha="left")
    return figure


def _difference(results: tuple[Result, Result]) -> str:
    """Say how far the live run is from the simulated one."""
    expected, found = map(shares, results)
    apart = max(abs(100 * (found.get(group, 0.0) - expected[group])) for group in expected)
    words = [f"{apart:.1f} points of the goodput"] if len(expected) > 1 else []
    delays = [timelines.bottleneck(result)["mean_queueing_delay_s"] for result in results]
    if all(delays):
        words.append(f"{abs(100 * (delays[1] / delays[0] - 1)):.1f} % of the mean queueing delay")
    return f"Live and simulated differ by {' and by '.join(words)}" if words else ""


def _is_narrow() -> bool:
    """Whether the panels of both runs are below each other."""
    return room_in(USUAL_IN) < 2 * LEAST_IN


def shares(result: Result) -> dict[str, float]:
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
    # The group above its rule, so that the bars have room.
    axes.set_yticks(places, [label.replace(": ", ":\n", 1) for label in labels])
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
    axes.grid(visible=False, axis="y")
