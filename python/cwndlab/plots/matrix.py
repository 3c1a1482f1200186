"""Plots the matrix: a grid of rules and profiles for each check, with a mark for each verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from cwndlab.plots.drawing import name
from cwndlab.plots.style import panels, styled

if TYPE_CHECKING:
    from cwndlab.plots.subjects import Verdicts

COLORS = {"holds": "#C9D3DC", "excepted": "#5C7A94", "undecided": "#8A8A8A", "fails": "#C23B00"}
MARKERS = {"holds": ".", "excepted": "o", "undecided": "D", "fails": "X"}
SIZES = {"holds": 5, "excepted": 6, "undecided": 5, "fails": 8}
LONGEST = 28
"""Characters of a rule's name."""
LEFT_IN, BELOW_IN, ABOVE_IN = 2.7, 0.9, 0.6
PANEL_IN, ROW_IN = 1.25, 0.2


@styled
def verdicts(found: Verdicts) -> Figure:
    """Draw the worst verdict of each rule, profile and check; a shape and a colour for each.

    Parameters
    ----------
    found : Summary
        Answers of the matrix.
    """
    cells = found.cells()
    width = LEFT_IN + PANEL_IN * len(found.checks)
    height = BELOW_IN + ABOVE_IN + ROW_IN * len(found.rules)
    figure, axes = panels(1, len(found.checks), width=width, height=height, least=0.5, sharey=True)
    # Every panel as wide as every other, whatever its labels.
    figure.set_layout_engine("none")
    bottom, top = BELOW_IN / height, 1 - ABOVE_IN / height
    for number, axis in enumerate(axes):
        left = (LEFT_IN + PANEL_IN * number) / width
        axis.set_position((left, bottom, 0.88 * PANEL_IN / width, top - bottom))
    for axis, check in zip(axes, found.checks, strict=True):
        for verdict in MARKERS:
            at = [
                (x, y)
                for y, rule in enumerate(found.rules)
                for x, profile in enumerate(found.profiles)
                if cells[rule, profile, check].verdict == verdict
            ]
            axis.plot([x for x, _ in at], [y for _, y in at], clip_on=False, **_mark(verdict))
        axis.set_title(check, loc="left")
        axis.set_xticks(range(len(found.profiles)), found.profiles, rotation=90)
        axis.set_xlim(-0.7, len(found.profiles) - 0.3)
        axis.grid(visible=False)
        axis.tick_params(length=0)
    axes[0].set_yticks(range(len(found.rules)), [_label(rule) for rule in found.rules])
    axes[0].set_ylim(len(found.rules) - 0.4, -0.6)
    marks = [Line2D([], [], label=verdict, **_mark(verdict)) for verdict in reversed(MARKERS)]
    figure.legend(handles=marks, loc="upper right", ncols=len(marks), borderaxespad=0.1)
    return figure


def _label(rule: str) -> str:
    """Return a rule's name, of a long formula what stands before it."""
    return name(rule) if len(rule) <= LONGEST else f"{name(rule)[: LONGEST - 1]}…"


def _mark(verdict: str) -> dict[str, Any]:
    """Return shape and colour of a verdict; an exception is open."""
    is_open = verdict == "excepted"
    return {
        "marker": MARKERS[verdict],
        "color": COLORS[verdict],
        "markersize": SIZES[verdict],
        "markerfacecolor": "white" if is_open else COLORS[verdict],
        "markeredgewidth": 1.2 if is_open else 0,
        "linestyle": "none",
    }
