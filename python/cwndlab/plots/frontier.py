"""Plots a search for rules: the frontier among all rules that were tried, and known rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from cwndlab.plots.drawing import name
from cwndlab.plots.style import panels, styled

if TYPE_CHECKING:
    from cwndlab.plots.subjects import Frontier

FOUND, KNOWN = "#0072b2", "#b84e00"
PANELS = 3
"""Objectives that are drawn over the first one, at most."""


@styled
def frontier(found: Frontier) -> Figure:
    """Draw objectives over the first one, on the hidden conditions: mean and 95 % interval.

    Rules of the frontier have their numbers (`cwndlab design pick N`), references their names.

    Parameters
    ----------
    found : DesignResult
        The search.
    """
    first, *others = found.specification.aims
    others = others[:PANELS]
    figure, places = panels(1, len(others), width=4.6 * len(others), height=3.6)
    for axes, aim in zip(places, others, strict=True):
        for kind, color, marker, rules in (
            ("found", FOUND, "o", found.frontier), ("known", KNOWN, "s", found.references),
        ):  # fmt: skip
            for index, one in enumerate(rules):
                x, y = one.hidden[first.text], one.hidden[aim.text]
                if x.mean is None or y.mean is None:
                    continue
                point = (first.scale * x.mean, aim.scale * y.mean)
                axes.errorbar(
                    *point,
                    xerr=None if x.half_width is None else first.scale * x.half_width,
                    yerr=None if y.half_width is None else aim.scale * y.half_width,
                    fmt=marker, color=color, markersize=4.5, elinewidth=0.8,
                    label=f"{kind} rules" if index == 0 else None,
                )  # fmt: skip
                text = str(index + 1) if kind == "found" else name(one.rule)
                axes.annotate(text, point, xytext=(4, 3), textcoords="offset points", fontsize=8,
                              color=color)  # fmt: skip
        axes.set_xlabel(f"{first.title} ({'more' if first.more_is_better else 'less'} is better)")
        axes.set_ylabel(f"{aim.title} ({'more' if aim.more_is_better else 'less'} is better)")
    places[0].legend(loc="best", fontsize=8)
    return figure
