"""Why one side did better than another: parts of the difference, and the phases of each."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cwndlab.plots.drawing import figure_legend, name, points
from cwndlab.plots.style import REFERENCE, FloatArray, Look, look, panels, styled

if TYPE_CHECKING:
    from cwndlab.plots.subjects import Explained

MOST_BARS = 6
LEAST_SHARE = 0.01
"""Parts below this share of the largest are not drawn."""
FACTORS = {"by_window_bps": "window", "by_delay_bps": "delay"}
ORDER = ("growth", "slow_start", "receiver", "application", "recovery", "timeout", "absent")
"""Phases from the bottom up."""
WORDS = {
    "growth": "past slow start", "slow_start": "slow start", "receiver": "receiver's window",
    "application": "application",
    "recovery": "recovery", "timeout": "timeout", "absent": "absent",
}  # fmt: skip
ABSENT = Look("#DDDDDD", "-", "", "//")
HEAD = 84
"""Characters of a line of the headline."""


@styled
def explained(explanation: Explained) -> Figure:
    """Draw the parts of a difference of goodputs, and the phases of both sides over time.

    Parameters
    ----------
    explanation : Explanation
        Only its `names`, `accounts`, `headline` and `goodput` are read.
    """
    explanation = explanation.labelled({side: name(side) for side in explanation.names})
    sides = [accounts for accounts in explanation.accounts if accounts]
    figure, axes = panels(1 + len(sides), width=7.5, height=2.0)
    _parts(axes[0], explanation)
    figure.suptitle(
        textwrap.fill(explanation.headline, HEAD), x=0.01, ha="left", fontsize=points(10.5),
        fontweight="bold",
    )  # fmt: skip
    drawn: dict[str, Any] = {}
    for index, accounts in enumerate(sides):
        drawn.update(_phases(axes[1 + index], accounts))
        axes[1 + index].set_title(f"Phases of {explanation.names[index]}")
    axes[-1].set_xlabel("time [s]")
    shown = [phase for phase in ORDER if phase in drawn]
    figure_legend(figure, [drawn[phase] for phase in shown], [WORDS[phase] for phase in shown])
    return figure


def _parts(axes: Axes, explanation: Explained) -> None:
    """Draw the largest parts as bars to the side that they favour."""
    rows = [row for row in explanation.goodput.to_dicts() if row["first_time"] is not None]
    if explanation.is_of_capacity:
        found = [(WORDS[row["part"]], row["difference_bps"] / 1e6) for row in rows]
    else:
        found = [
            (f"{WORDS[row['part']]}: {factor}", row[key] / 1e6)
            for row in rows
            for key, factor in FACTORS.items()
        ]
        found.append(("time in phases", sum(row["by_time_bps"] for row in rows) / 1e6))
    found.sort(key=lambda part: -abs(part[1]))
    least = LEAST_SHARE * max(abs(part[1]) for part in found)
    kept = [part for part in found[:MOST_BARS] if abs(part[1]) > least]
    rest = sum(part[1] for part in found) - sum(part[1] for part in kept)
    if abs(rest) > least:
        kept.append(("all else", rest))
    labels, values = [part[0] for part in kept], [part[1] for part in kept]
    for place, value in enumerate(values):
        # Greys: below, colours are phases.
        color, hatch = ("#444444", "") if value >= 0 else ("#999999", "///")
        axes.barh(place, value, height=0.7, color=color, hatch=hatch, edgecolor="white")
    axes.axvline(0.0, color=REFERENCE, linewidth=0.9)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(max(len(labels), 3) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    first, second = explanation.names
    towards = f"for {second} \N{LEFTWARDS ARROW}   \N{RIGHTWARDS ARROW} for {first}"
    axes.set_xlabel(f"part of the difference of goodputs [Mbit/s]   {towards}")


def _phases(axes: Axes, accounts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Stack the time that the flows of a side spend in each phase, over the window."""
    bins: FloatArray = np.mean(
        [np.array(account["bins_s"], dtype=float) for account in accounts], 0
    )
    width_s = accounts[0]["window_s"] / len(bins)
    bins = np.column_stack([bins, np.maximum(width_s - bins.sum(axis=1), 0.0)])
    edges = accounts[0]["from_s"] + width_s * np.arange(len(bins) + 1)
    names = [row["phase"] for row in accounts[0]["phases"]]
    beneath: FloatArray = np.zeros(len(bins))
    drawn: dict[str, Any] = {}
    for phase in ORDER:
        share = 100 * bins[:, names.index(phase)] / width_s
        if share.max(initial=0.0) < 0.5:
            continue
        style = ABSENT if phase == "absent" else look(ORDER.index(phase))
        drawn[phase] = axes.stairs(
            beneath + share, edges, baseline=beneath, fill=True, color=style.color,
            hatch=style.hatch, edgecolor="white", linewidth=0.0,
        )  # fmt: skip
        beneath = beneath + share
    axes.set_ylim(0, 100)
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylabel("share of time [%]")
    return drawn
