"""Plots the matrix: a grid of rules and profiles for each check, with a mark for each verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from cwndlab.plots.drawing import name
from cwndlab.plots.style import panels, styled

if TYPE_CHECKING:
    from cwndlab.matrix.summary import Summary

COLORS = {"holds": "#C9D3DC", "excepted": "#5C7A94", "undecided": "#8A8A8A", "fails": "#C23B00"}
MARKERS = {"holds": ".", "excepted": "o", "undecided": "D", "fails": "X"}
SIZES = {"holds": 5, "excepted": 6, "undecided": 5, "fails": 8}


@styled
def verdicts(found: Summary) -> Figure:
    """Draw the worst verdict of each rule, profile and check; a shape and a colour for each.

    Parameters
    ----------
    found : Summary
        Answers of the matrix.
    """
    cells = found.cells()
    figure, axes = panels(
        1, len(found.checks), width=1.9 + 1.3 * len(found.checks),
        height=1.9 + 0.2 * len(found.rules), least=0.5, sharey=True,
    )  # fmt: skip
    for axis, check in zip(axes, found.checks, strict=True):
        for verdict, marker in MARKERS.items():
            at = [
                (x, y)
                for y, rule in enumerate(found.rules)
                for x, profile in enumerate(found.profiles)
                if cells[rule, profile, check].verdict == verdict
            ]
            is_open = verdict == "excepted"
            axis.plot(
                [x for x, _ in at], [y for _, y in at], marker, color=COLORS[verdict],
                markersize=SIZES[verdict], linestyle="none", clip_on=False,
                markerfacecolor="white" if is_open else COLORS[verdict],
                markeredgewidth=1.2 if is_open else 0,
            )  # fmt: skip
        axis.set_title(check, loc="left")
        axis.set_xticks(range(len(found.profiles)), found.profiles, rotation=90)
        axis.set_xlim(-0.7, len(found.profiles) - 0.3)
        axis.grid(visible=False)
        axis.tick_params(length=0)
    axes[0].set_yticks(range(len(found.rules)), [name(rule) for rule in found.rules])
    axes[0].set_ylim(len(found.rules) - 0.4, -0.6)
    marks = [
        Line2D([], [], marker=MARKERS[verdict], color=COLORS[verdict], markersize=SIZES[verdict],
               linestyle="none", label=verdict, markeredgewidth=1.2 if verdict == "excepted" else 0,
               markerfacecolor="white" if verdict == "excepted" else COLORS[verdict])
        for verdict in reversed(MARKERS)
    ]  # fmt: skip
    figure.legend(handles=marks, loc="outside upper right", ncols=len(marks))
    return figure
