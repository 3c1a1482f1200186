"""Plots of a sweep's means with intervals: over the last axis, or with cells as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cwndlab.plots.drawing import (
    figure_legend,
    know,
    legend_title,
    name,
    ordered,
    points,
    title_of,
    whiskers,
)
from cwndlab.plots.style import look, panels, styled
from cwndlab.quantities import bits_per_second, seconds

if TYPE_CHECKING:
    from cwndlab.plots.subjects import Swept

MOST_METRICS = 4
MOST_COLUMNS = 4
SPREAD = 0.3
"""Width over which series are spread at one value so that whiskers do not overlap, in steps."""
CHARACTER_IN = 0.065
"""Width of a character below the x axis, in inches: neighbouring values must not overlap."""


@styled
def sweep_points(findings: Swept) -> Figure:
    """Draw the mean of every metric with its 95 % confidence interval, if it has one.

    The compared axis gives the series, unless it is the only one: that is the x axis. Of several
    axes, the other one with the most values is the x axis, and the remaining ones give columns;
    with more than four columns, the x axis has every combination.

    Parameters
    ----------
    findings : Swept
        Its `summary` and its sweep's names are read.

    Raises
    ------
    ValueError
        If no mean has an interval.
    """
    summary, sweep = findings.summary.drop_nulls("ci95_low"), findings.sweep
    if summary.height == 0:
        raise ValueError(
            "the sweep has no confidence interval to plot: expected two `replicates` or more with "
            "different results"
        )
    know(findings.levels, sweep.measures)
    series_axis = _series(findings)
    others = [name for name in findings.axes if name != series_axis]
    sizes = {name: summary[name].n_unique() for name in others}
    ground = max(others, key=lambda name: (sizes[name], others.index(name)), default=None)
    rest = [name for name in others if name != ground and sizes[name] > 1]
    columns = summary.select(rest).unique(maintain_order=True).rows() if rest else [()]
    if len(columns) > MOST_COLUMNS:
        # Too many columns: the x axis has every combination.
        names = [*rest, *([ground] if ground else [])]
        joined = pl.concat_str([pl.col(name) for name in names], separator="\n")
        ground = f"from top to bottom: {', '.join(names)}"
        summary, rest, columns = summary.with_columns(joined.alias(ground)), [], [()]
    measures = sweep.measures[:MOST_METRICS]
    places = summary[ground].unique(maintain_order=True).to_list() if ground else [""]
    series = ordered(summary[series_axis].unique(maintain_order=True)) if series_axis else [""]
    longest = max(len(line) for place in places for line in name(place).split("\n"))
    step = max(0.32 * max(2, len(series)), CHARACTER_IN * (longest + 2))
    width = max(6.0, min(16.0, 2.0 + len(columns) * max(2.6, step * len(places))))
    # Title and legend take more than an inch, also with few rows.
    height = 2.1 + 1.2 / len(measures)
    figure, axes = panels(
        len(measures), len(columns), sharex=True, sharey="row", width=width, height=height
    )
    for row, measure in enumerate(measures):
        of_metric = summary.filter(metric=measure.key)
        for column, labels in enumerate(columns):
            panel = axes[row * len(columns) + column]
            chosen = of_metric.filter(**dict(zip(rest, labels, strict=True)))
            _draw(panel, chosen, ground, places, series_axis, series, measure.scale)
            if row == 0:
                panel.set_title(
                    ", ".join(
                        f"{_short(axis)} {name(label)}"
                        for axis, label in zip(rest, labels, strict=True)
                    )
                )
            if row == len(measures) - 1:
                panel.set_xlabel(name(ground) if ground else "")
        better = f"\n({measure.better})" if measure.better else ""
        axes[row * len(columns)].set_ylabel(f"{title_of(measure)}{better}", fontsize=points(9))
    figure.suptitle(_title(findings), x=0.01, ha="left", fontsize=points(10.5))
    handles, texts = axes[0].get_legend_handles_labels()
    if len(series) > 1:
        title = legend_title(series_axis)
        figure_legend(figure, handles, texts, handlelength=3, title=title)
    return figure


def _series(findings: Swept) -> str | None:
    """Column of the compared axis; the first one of zipped axes; None if there is no other."""
    compared = findings.sweep.compared
    if compared is None or len(findings.axes) == 1:
        return None
    return (
        compared
        if compared in findings.axes
        else next(iter(findings.sweep.columns(_first(findings, compared))))
    )


def _first(findings: Swept, axis: str) -> dict[str, str]:
    return {axis: findings.sweep.plan.axes[axis][0].label}


def _short(name: str) -> str:
    return name.rsplit(".", 1)[-1]


def _title(findings: Swept) -> str:
    summary = findings.summary
    drawn = summary.drop_nulls("ci95_low")["replicates"]
    replicates = (
        f"{drawn.min()}" if drawn.min() == drawn.max() else f"{drawn.min()} to {drawn.max()}"
    )
    left_out = summary["ci95_low"].null_count()
    more = f"; {left_out} means without one are left out" if left_out else ""
    return (
        f"{findings.sweep.name}: means over {replicates} replicates\n(whiskers: 95 % "
        f"confidence interval{more})"
    )


def _draw(
    axes: Axes, rows: pl.DataFrame, ground: str | None, places: list[str], series_axis: str | None,
    series: list[str],
    scale: float,
) -> None:  # fmt: skip
    is_ordered = ground is not None and all(_is_quantity(place) for place in places)
    for index, label in enumerate(series):
        own = rows.filter(pl.col(series_axis) == label) if series_axis else rows
        by_place = {row[ground] if ground else "": row for row in own.to_dicts()}
        found = [by_place.get(place) or {} for place in places]
        means = (
            np.array([np.nan if row.get("mean") is None else row["mean"] for row in found]) * scale
        )
        at = np.arange(len(places)) + SPREAD * (index - (len(series) - 1) / 2) / len(series)
        style = look(index)
        # Lines join quantities, where values in between are meaningful; names have no lines.
        axes.errorbar(
            at, means, yerr=whiskers(found, scale), color=style.color, marker=style.marker,
            markersize=4.5, capsize=2.5,
            linestyle=style.linestyle if is_ordered else "", linewidth=1.2, elinewidth=1.0,
            label=name(label) if label else "",
        )  # fmt: skip
    axes.set_xticks(range(len(places)), [name(place) for place in places], fontsize=points(8.5))
    axes.set_xlim(-0.6, len(places) - 0.4)
    axes.grid(visible=False, axis="x")


def _is_quantity(text: str) -> bool:
    """Whether a label is a number, with or without a unit."""
    number = text.rstrip("abcdefghijklmnopqrstuvwxyzGMKT%/ ")
    return (
        seconds(text) is not None
        or bits_per_second(text) is not None
        or (number != "" and number.replace(".", "", 1).isdigit())
    )
