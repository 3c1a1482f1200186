"""One metric over another: a point per run, and the mean of each cell with both intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cwndlab.plots.drawing import (
    as_float,
    figure_legend,
    legend_title,
    name,
    ordered,
    panel_title,
    title_of,
    whiskers,
)
from cwndlab.plots.over_axes import entries, head, levels, where
from cwndlab.plots.style import Look, log_scale, look, panels, styled

if TYPE_CHECKING:
    from cwndlab.metrics import Metric
    from cwndlab.plots.over import Over
    from cwndlab.plots.subjects import Measured


@styled
def metric_points(subject: Measured, over: Over) -> Figure:
    """Draw runs as small points, means with the 95 % confidence intervals of both metrics.

    Lines join the means of an axis that is neither `hue` nor `panel`, from its first level, whose
    mark is open.

    Parameters
    ----------
    subject : Measured
        The runs.
    over : Over
        Its `x` is a metric.
    """
    measures = {each.key: each for each in subject.measures}
    across = measures[over.x]
    rows = [measures[key] for key in over.y or [key for key in measures if key != over.x][:1]]
    lines, columns = ordered(levels(subject, over.hue)), levels(subject, over.panel)
    free = next((axis for axis, found in subject.levels.items()
                 if len(found) > 1 and axis not in over.places), None)  # fmt: skip
    figure, axes = panels(
        len(rows), len(columns), sharex=True, sharey="row",
        width=max(6.0, 1.0 + 3.2 * len(columns)), height=3.4,
    )  # fmt: skip
    for index, panel in enumerate(axes):
        measure, column = rows[index // len(columns)], columns[index % len(columns)]
        means = where(_means(subject, across, measure), over.panel, column)
        runs = where(subject.runs, over.panel, column)
        if over.panel is not None and index < len(columns):
            panel.set_title(panel_title(over.panel, column))
        for number, line in enumerate(lines):
            style, own = look(number), where(means, over.hue, line)
            single = where(runs, over.hue, line)
            panel.scatter(
                single[across.key] * across.scale, single[measure.key] * measure.scale,
                s=9, color=style.color, marker=style.marker, alpha=0.3, linewidths=0,
            )  # fmt: skip
            label = name(line) if line else "simulated" if over.curves else ""
            _draw_means(panel, own, across, measure, style, label, free is not None)
        is_log = "x" in over.log
        _draw_curves(panel, over, runs[across.key] * across.scale, is_log)
        if is_log:
            log_scale(panel, "x")
        if "y" in over.log:
            log_scale(panel, "y")
        if index % len(columns) == 0:
            panel.set_ylabel(_with_better(measure).replace(" (", "\n("))
        if index // len(columns) == len(rows) - 1:
            panel.set_xlabel(_with_better(across))
    text = "runs (small) and means (whiskers: 95 % confidence interval)"
    if free is not None:
        first, last = (name(subject.levels[free][at]) for at in (0, -1))
        text += f"\nlines: {name(free)} from {first} (open) to {last}"
    head(figure, subject, text)
    if len(lines) + len(over.curves) > 1:
        figure_legend(
            figure, *entries(axes[0], over), handlelength=3,
            title=legend_title(over.hue),
        )  # fmt: skip
    return figure


def _draw_curves(axes: Axes, over: Over, values: pl.Series, is_log: bool) -> None:
    """Draw formulas from the least value of x to the largest."""
    known = values.drop_nulls()
    known = known.filter(known > 0) if is_log else known
    if known.len():
        low, high = as_float(known.min()), as_float(known.max())
        for number, curve in enumerate(over.curves):
            curve.draw(axes, low, high, is_log=is_log, number=number)


def _means(subject: Measured, across: Metric, measure: Metric) -> pl.DataFrame:
    """Return one row per cell, with the means and intervals of both metrics."""
    axes = list(subject.levels)
    x, y = (subject.summary.filter(metric=one.key).drop("metric") for one in (across, measure))
    return x.join(y, on=axes, suffix=".y", maintain_order="left").drop_nulls(["mean", "mean.y"])


def _draw_means(
    axes: Axes, means: pl.DataFrame, across: Metric, measure: Metric, style: Look, label: str,
    is_joined: bool,
) -> None:  # fmt: skip
    below = means.select(pl.col("^.*[.]y$").name.map(lambda column: column.removesuffix(".y")))
    axes.errorbar(
        means["mean"] * across.scale, means["mean.y"] * measure.scale,
        xerr=whiskers(means.to_dicts(), across.scale),
        yerr=whiskers(below.to_dicts(), measure.scale), color=style.color, marker=style.marker,
        markersize=6.5, capsize=2.5, linewidth=1.2, elinewidth=0.9,
        linestyle=style.linestyle if is_joined else "", label=label,
    )  # fmt: skip
    if is_joined and means.height:
        axes.plot(
            means["mean"][0] * across.scale, means["mean.y"][0] * measure.scale, style.marker,
            markersize=6.5, color=style.color, markerfacecolor="white", zorder=4,
        )  # fmt: skip


def _with_better(metric: Metric) -> str:
    return f"{title_of(metric)}{f' ({metric.better})' if metric.better else ''}"
