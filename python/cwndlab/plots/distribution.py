"""The distribution of a metric: cumulative, a line for each level of an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
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
)
from cwndlab.plots.over_axes import head, levels, where
from cwndlab.plots.style import FloatArray, Look, log_scale, look, panels, styled
from cwndlab.statistics import estimate

if TYPE_CHECKING:
    from cwndlab.plots.over import Over
    from cwndlab.plots.subjects import Measured

LEAST_OF_RUN = 5
"""Values of each run with which a line has an interval."""
MOST_PLACES = 80
"""Places at which an interval is computed."""
HUNDREDFOLD = 100.0
"""Ratio of the largest value to the smallest above which the x axis is logarithmic."""


@styled
def distribution(subject: Measured, over: Over) -> Figure:
    """Draw the share of values that are at most x, of all replicates together.

    Values that are missing count, so that the line of a completion time ends at the share of flows
    that completed. A mark is at the median. Where each run has five values or more, a band is the
    95 % confidence interval of the share, over replicates: flows of one run are not independent.

    Parameters
    ----------
    subject : Measured
        The runs.
    over : Over
        Its `cdf` is the metric.
    """
    assert over.cdf is not None
    metric, values = subject.distributions[over.cdf], subject.each(over.cdf)
    lines, columns = ordered(levels(subject, over.hue)), levels(subject, over.panel)
    figure, axes = panels(
        1, len(columns), sharex=True, sharey=True,
        width=max(6.0, 1.0 + 3.2 * len(columns)), height=3.2,
    )  # fmt: skip
    counts: set[int] = set()
    has_band = False
    for panel, column in zip(axes, columns, strict=True):
        chosen = where(values, over.panel, column)
        if over.panel is not None:
            panel.set_title(panel_title(over.panel, column))
        for number, line in enumerate(lines):
            own = where(chosen, over.hue, line)
            counts.add(own.height)
            label = name(line) if line else ""
            has_band |= _draw(panel, own, metric.scale, look(number), label)
        panel.set_xlabel(title_of(metric))
    axes[0].set_ylim(0, 1.02)
    known = values["value"].drop_nulls()
    low, high = as_float(known.min()), as_float(known.max())
    if "x" in over.log or (low > 0 and high > HUNDREDFOLD * low):
        for panel in axes:
            log_scale(panel, "x")
    what = "flows" if "flow" in values.columns else "transfers"
    what = what if {"flow", "start_s"} & set(values.columns) else "runs"
    least, most = min(counts), max(counts)
    many = f"{least}" if least == most else f"{least} to {most}"
    whose = what if what == "runs" else f"{what} of all replicates"
    axes[0].set_ylabel(f"share of {what}")
    band = "\nband: 95 % confidence interval over replicates" if has_band else ""
    head(figure, subject, f"cumulative distribution over {many} {whose}{band}")
    if len(lines) > 1:
        figure_legend(
            figure, *axes[0].get_legend_handles_labels(), handlelength=3,
            title=legend_title(over.hue),
        )  # fmt: skip
    return figure


def _draw(axes: Axes, values: pl.DataFrame, scale: float, style: Look, label: str) -> bool:
    """Draw a line, and its interval where there is one; return whether there is."""
    runs = [run for _, run in values.group_by("replicate", maintain_order=True)]
    x, y = _steps(values["value"], scale)
    has_band = len(runs) > 1 and all(run.height >= LEAST_OF_RUN for run in runs)
    if has_band:
        places = x[np.unique(np.linspace(0, len(x) - 1, MOST_PLACES).astype(int))]
        shares = [
            np.searchsorted(_steps(run["value"], scale)[0][1:], places, "right") / run.height
            for run in runs
        ]
        found = [estimate(column, bounds=(0.0, 1.0)) for column in np.transpose(shares).tolist()]
        low, high = ([each[at] or 0.0 for each in found] for at in (1, 2))
        axes.fill_between(
            places, low, high, step="post", color=style.color, alpha=0.18, linewidth=0
        )
    half = [int(np.searchsorted(y, 0.5))] if y[-1] >= 0.5 else []
    axes.step(
        x, y, where="post", color=style.color, linestyle=style.linestyle, linewidth=1.5,
        marker=style.marker, markersize=5, markevery=half, label=label,
    )  # fmt: skip
    return has_band


def _steps(values: pl.Series, scale: float) -> tuple[FloatArray, FloatArray]:
    """Return the sorted values, the first one twice, and the share of values up to each."""
    known = np.sort(values.drop_nulls().to_numpy()) * scale
    shares = np.arange(len(known) + 1) / max(len(values), 1)
    return np.concatenate([known[:1], known]) if len(known) else np.array([np.nan]), shares
