"""Means of a sweep over the axis of one's choice, with a line per level of another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from cwndlab.message import unknown_value
from cwndlab.plots.drawing import figure_legend, name, ordered, points, whiskers
from cwndlab.plots.figure_style import FigureStyleError
from cwndlab.plots.style import look, panels, styled

if TYPE_CHECKING:
    from cwndlab.plots.subjects import Swept

DECADE = 10.0
"""Ratio of the last value to the first above which the x axis is logarithmic."""


class Over(NamedTuple):
    """What a figure has on x, as lines, as panels and on y.

    Parameters
    ----------
    x : str
        An axis.
    hue, panel : str, optional
        The axes of lines and of panels.
    y : tuple of str
        Metrics, a row of panels each; without any, the first metric.
    """

    x: str
    hue: str | None = None
    panel: str | None = None
    y: tuple[str, ...] = ()

    def check(self, axes: Sequence[str], metrics: Sequence[str], several: Iterable[str]) -> None:
        """Refuse what the sweep does not have.

        Parameters
        ----------
        axes, metrics : sequence of str
            Those of the sweep.
        several : iterable of str
            The axes with more than one level: each needs its place in the figure.

        Raises
        ------
        FigureStyleError
            For the first name that is not known, and for an axis without a place.

        Examples
        --------
        >>> Over("bufer").check(["buffer", "rule"], ["goodput"], [])
        Traceback (most recent call last):
        ...
        cwndlab.plots.figure_style.FigureStyleError: x: "bufer" is not known: expected buffer or \
rule (did you mean buffer?)
        """
        for key, value in (("x", self.x), ("hue", self.hue), ("panel", self.panel)):
            if value is not None and value not in axes:
                raise FigureStyleError(key, unknown_value(value, axes))
        for value in self.y:
            if value not in metrics:
                raise FigureStyleError("y", unknown_value(value, metrics))
        for axis in several:
            if axis not in (self.x, self.hue, self.panel):
                key = "hue" if self.hue is None else "panel"
                raise FigureStyleError(
                    key, f"axis `{axis}` has several levels: expected as `x`, `hue` or `panel`"
                )


@styled
def over_axes(findings: Swept, over: Over) -> Figure:
    """Draw means with their 95 % confidence intervals; a mean of one replicate has none.

    Parameters
    ----------
    findings : Swept
        Its `summary`, its axes and its sweep's measures are read.
    over : Over
        What is on x, as lines, as panels and on y.

    Raises
    ------
    FigureStyleError
        If the sweep has no such axis or metric.
    """
    summary, measures = findings.summary, {each.key: each for each in findings.sweep.measures}
    several = [axis for axis in findings.axes if summary[axis].n_unique() > 1]
    over.check(findings.axes, list(measures), several)
    rows = [measures[key] for key in over.y or list(measures)[:1]]
    lines = ordered(_levels(summary, over.hue))
    columns = _levels(summary, over.panel)
    places = _levels(summary, over.x)
    numbers, unit = _numbers(places)
    figure, axes = panels(
        len(rows), len(columns), sharex=True, sharey="row",
        width=max(6.0, 1.0 + 3.2 * len(columns)), height=3.0,
    )  # fmt: skip
    for index, axis in enumerate(axes):
        measure, column = rows[index // len(columns)], columns[index % len(columns)]
        chosen = summary.filter(metric=measure.key)
        if over.panel is not None:
            chosen = chosen.filter(pl.col(over.panel) == column)
            axis.set_title(f"{name(over.panel)} {name(column)}" if index < len(columns) else "")
        for number, line in enumerate(lines):
            own = chosen if over.hue is None else chosen.filter(pl.col(over.hue) == line)
            by_place = {row[over.x]: row for row in own.to_dicts() if row["mean"] is not None}
            found = [by_place.get(place, {}) for place in places]
            style = look(number)
            axis.errorbar(
                range(len(places)) if numbers is None else numbers,
                np.array([row.get("mean", np.nan) for row in found]) * measure.scale,
                yerr=whiskers(found, measure.scale), color=style.color, marker=style.marker,
                markersize=4.5, capsize=2.5, linewidth=1.2,
                linestyle="" if numbers is None else style.linestyle,
                label=name(line) if line else "",
            )  # fmt: skip
        if numbers is None:
            axis.set_xticks(range(len(places)), [name(place) for place in places])
        else:
            if min(numbers) > 0 and max(numbers) > DECADE * min(numbers):
                axis.set_xscale("log")
            axis.set_xticks(numbers, [f"{number:g}" for number in numbers], minor=False)
            axis.set_xticks([], minor=True)
        if index % len(columns) == 0:
            axis.set_ylabel(measure.title)
        if index // len(columns) == len(rows) - 1:
            axis.set_xlabel(name(over.x) + (f" [{unit}]" if unit else ""))
    title = f"{findings.sweep.name}: means (whiskers: 95 % confidence interval)"
    figure.suptitle(title, x=0.01, ha="left", fontsize=points(10.5))
    if len(lines) > 1:
        figure_legend(figure, *axes[0].get_legend_handles_labels(), handlelength=3)
    return figure


def _levels(summary: pl.DataFrame, axis: str | None) -> list[str]:
    return [""] if axis is None else summary[axis].unique(maintain_order=True).to_list()


def _numbers(levels: Sequence[str]) -> tuple[list[float] | None, str]:
    """Read levels as numbers of one unit; None where they are not."""
    found = [re.fullmatch(r"([0-9.]+(?:e[-+]?[0-9]+)?) ?([a-zA-Z%/]*)", one) for one in levels]
    parts = [each.groups() for each in found if each is not None]
    units = {unit for _, unit in parts}
    if len(parts) < len(levels) or len(units) != 1:
        return None, ""
    return [float(number) for number, _ in parts], units.pop()
