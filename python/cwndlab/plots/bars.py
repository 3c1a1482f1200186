"""Rules side by side: the mean of each metric per environment, with its confidence interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from cwndlab.arguments import listed
from cwndlab.metrics import BY_KEY, Metric
from cwndlab.plots.drawing import (
    figure_legend,
    know,
    label_of,
    legend_title,
    name,
    ordered,
    title_of,
    whiskers,
)
from cwndlab.plots.style import look, panels, styled

if TYPE_CHECKING:
    from cwndlab.plots.subjects import Measured

SHOWN = ("goodput", "fairness_spread", "loss_rate", "mean_queueing_delay_s")


@styled
def comparison_bars(
    comparison: Measured,
    *,
    setting: tuple[str, str] | None = None,
    metrics: str | Sequence[str] = (),
) -> Figure:
    """Draw bars per environment and rule, whiskers for the 95 % confidence interval.

    If all values are close together and far from zero, points on their own scale replace the bars.

    Parameters
    ----------
    comparison : Comparison
        The runs.
    setting : (recovery, queue), optional
        By default every setting gets a column.
    metrics : str or sequence of str
        One row of panels each; by default the first four of `SHOWN` that the summary has, else of
        the summary.
    """
    summary = comparison.summary
    has = summary["metric"].unique(maintain_order=True).to_list()
    metrics = listed(metrics) or [key for key in SHOWN if key in has] or has[: len(SHOWN)]
    know(comparison.levels, comparison.measures)
    settings = summary.select("recovery", "queue").unique(maintain_order=True).rows()
    if setting is not None:
        settings = [setting]
    environments = summary["env"].unique(maintain_order=True).to_list()
    rules = ordered(summary["rule"].unique(maintain_order=True))
    figure, axes = panels(
        len(metrics),
        len(settings),
        sharey="row",
        width=max(7.5, 0.4 * len(environments) * len(rules) * len(settings)),
        height=2.1,
    )
    for row, key in enumerate(metrics):
        for column, (recovery, queue) in enumerate(settings):
            chosen = summary.filter(recovery=recovery, queue=queue, metric=key)
            panel = axes[row * len(settings) + column]
            _draw(panel, chosen, BY_KEY[key], environments, rules)
            where = f" ({name(recovery)}, {name(queue)})" if len(settings) > 1 else ""
            label, better = label_of(BY_KEY[key]), BY_KEY[key].better
            panel.set_title(f"{label[0].upper()}{label[1:]}{where}{': ' * bool(better)}{better}")
    figure_legend(
        figure,
        [_sample(index) for index in range(len(rules))],
        [name(rule) for rule in rules],
        handler_map={tuple: HandlerTuple(ndivide=None)},
        handlelength=3.5,
        title=legend_title("rule"),
    )
    axes[-1].set_xlabel("environment; whiskers: 95 % confidence interval")
    return figure


def _sample(index: int) -> tuple[Patch, Line2D]:
    style = look(index)
    bar = Patch(facecolor=style.color, hatch=style.hatch, edgecolor="white")
    return bar, Line2D([], [], color=style.color, marker=style.marker, linestyle="")


def _draw(
    axes: Axes, summary: pl.DataFrame, metric: Metric, environments: list[str], rules: list[str]
) -> None:
    """Draw one panel: bars, or points if bars from zero would all look alike."""
    found = {(row["rule"], row["env"]): row for row in summary.to_dicts()}
    cells = [[found.get((rule, place)) or {} for place in environments] for rule in rules]
    means = metric.scale * np.array(
        [[math.nan if row.get("mean") is None else row["mean"] for row in of] for of in cells]
    )
    lengths = [whiskers(of, metric.scale) for of in cells]
    step = 0.8 / len(rules)
    lowest = np.nanmin(means - np.array([below for below, _ in lengths]), initial=np.inf)
    zoomed = bool(lowest > 0.5 * np.nanmax(means, initial=0.0))
    for index in range(len(rules)):
        places = np.arange(len(environments)) + (index - (len(rules) - 1) / 2) * step
        style = look(index)
        if not zoomed:
            axes.bar(
                places,
                means[index],
                step * 0.92,
                color=style.color,
                hatch=style.hatch,
                edgecolor="white",
            )
        axes.errorbar(
            places,
            means[index],
            yerr=lengths[index],
            fmt=style.marker if zoomed else "none",
            color=style.color,
            ecolor=style.color if zoomed else "#111111",
            capsize=3,
            linewidth=1.2,
        )
    axes.set_xticks(range(len(environments)), [name(one) for one in environments])
    axes.grid(visible=False, axis="x")
    axes.set_ylabel(title_of(metric).replace(" [", "\n["))
    axes.set_xlim(-0.5, len(environments) - 0.5)
    if not zoomed:
        axes.set_ylim(bottom=0)
