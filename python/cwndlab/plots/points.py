"""Plots of many environments and settings: goodput per environment, and the scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from cwndlab.metrics import BY_KEY
from cwndlab.plots.drawing import (
    as_float,
    figure_legend,
    know,
    label_of,
    legend_title,
    name,
    ordered,
    points,
    title_of,
    whiskers,
)
from cwndlab.plots.style import REFERENCE, look, panels, styled

if TYPE_CHECKING:
    from cwndlab.plots.subjects import Measured, Scores

LEAST_IN = 1.6
"""Least width of a panel beside one that has the names of the environments, inches."""
SPREAD = 0.62
"""Height of the rules' markers within an environment's row."""


@styled
def goodput_points(comparison: Measured, *, metric: str = "goodput") -> Figure:
    """Draw a panel per setting: a row per environment, a marker per rule, whiskers for 95 % CIs.

    Parameters
    ----------
    comparison : Comparison
        The runs.
    metric : str
        The metric to draw.
    """
    summary = comparison.summary.filter(metric=metric)
    know(comparison.levels, comparison.measures)
    recoveries, queues = _levels(summary)
    environments = summary["env"].unique(maintain_order=True).to_list()
    rules = ordered(summary["rule"].unique(maintain_order=True))
    figure, axes = panels(
        len(recoveries),
        len(queues),
        sharex=True,
        sharey=True,
        least=LEAST_IN,
        width=1.5 + 2.9 * len(queues),
        # One inch for title, axis label and legend.
        height=0.8 + 0.3 * len(environments) + 1.0 / len(recoveries),
    )
    settings = [(recovery, queue) for recovery in recoveries for queue in queues]
    for (recovery, queue), panel in zip(settings, axes, strict=True):
        _rows(
            panel,
            summary.filter(recovery=recovery, queue=queue),
            environments,
            rules,
            BY_KEY[metric].scale,
        )
        panel.set_title(f"{name(recovery)} over {name(queue)}")
        if metric.startswith("goodput"):
            panel.axvline(1.0, color=REFERENCE, linestyle=":", linewidth=0.9, zorder=1)
    # The means set the limits: a wide interval would push all of them together.
    low, high = as_float(summary["mean"].min()), as_float(summary["mean"].max()) or 1.0
    edge = 0.06 * (high - low) or 0.1
    axes[0].set_xlim((low - edge) * BY_KEY[metric].scale, (high + edge) * BY_KEY[metric].scale)
    axes[0].set_ylim(len(environments) - 0.5, -0.5)
    axes[0].set_yticks(range(len(environments)), [name(one) for one in environments])
    for panel in axes[-len(queues) :]:
        panel.set_xlabel(title_of(BY_KEY[metric]))
    better = {True: "Further right is better; ", False: "Further left is better; ", None: ""}
    figure.suptitle(
        f"{better[BY_KEY[metric].more_is_better]}whiskers: 95 % confidence interval",
        x=0.01,
        ha="left",
        fontsize=points(10.5),
    )
    _legend(figure, rules)
    return figure


def _rows(
    axes: Axes, summary: pl.DataFrame, environments: list[str], rules: list[str], scale: float
) -> None:
    cells = {(row["rule"], row["env"]): row for row in summary.to_dicts()}
    for row in range(0, len(environments), 2):
        axes.axhspan(row - 0.5, row + 0.5, color="#f3f3f3", zorder=0)
    for index, rule in enumerate(rules):
        found = [cells.get((rule, name)) or {} for name in environments]
        means = (
            np.array([np.nan if row.get("mean") is None else row["mean"] for row in found]) * scale
        )
        places = np.arange(len(environments)) + (index - (len(rules) - 1) / 2) * SPREAD / len(rules)
        style = look(index)
        axes.errorbar(
            means,
            places,
            xerr=whiskers(found, scale),
            fmt=style.marker,
            color=style.color,
            markersize=4.5,
            linewidth=0.9,
            capsize=0,
        )
    axes.grid(visible=False, axis="y")


@styled
def score_points(comparison: Scores, *, metric: str = "goodput") -> Figure:
    """Draw C_a and D_a of a metric: settings as columns, one marker per rule; zero is best.

    Parameters
    ----------
    comparison : Comparison
        Only its `scores` are read.
    metric : str
        Whose scores.
    """
    scores = comparison.scores.filter(metric=metric)
    know(comparison.levels, comparison.measures)
    settings = scores.select("recovery", "queue").unique(maintain_order=True).rows()
    rules = ordered(scores["rule"].unique(maintain_order=True))
    figure, axes = panels(2, sharex=True, width=max(5.0, 2.0 + 1.0 * len(settings)), height=2.4)
    titles = (
        "C_a: distance from the best rule in the worst environment",
        "D_a: sum of the distances",
    )
    for panel, key, title in zip(axes, ("C_a", "D_a"), titles, strict=True):
        values = {
            (row["recovery"], row["queue"], row["rule"]): row[key] for row in scores.to_dicts()
        }
        step = 0.8 / len(rules)
        for index, rule in enumerate(rules):
            heights = [values.get((*setting, rule)) for setting in settings]
            heights = (
                np.array([np.nan if value is None else value for value in heights])
                * BY_KEY[metric].scale
            )
            places = np.arange(len(settings)) + (index - (len(rules) - 1) / 2) * step
            style = look(index)
            panel.vlines(places, 0, heights, color=style.color, linewidth=1.2)
            panel.plot(places, heights, style.marker, color=style.color, markersize=5.5)
        panel.set_title(f"{title} ({label_of(BY_KEY[metric])}; lower is better)")
        panel.set_ylabel(key)
        panel.margins(y=0.08)
        panel.set_ylim(bottom=0)
        panel.grid(visible=False, axis="x")
    axes[-1].set_xticks(
        range(len(settings)), [f"{name(recovery)}\n{name(queue)}" for recovery, queue in settings]
    )
    axes[-1].set_xlim(-0.5, len(settings) - 0.5)
    _legend(figure, rules)
    return figure


def _levels(summary: pl.DataFrame) -> tuple[list[str], list[str]]:
    recoveries, queues = (
        summary[axis].unique(maintain_order=True).to_list() for axis in ("recovery", "queue")
    )
    return recoveries, queues


def _legend(figure: Figure, rules: list[str]) -> None:
    samples = [
        Line2D([], [], color=look(index).color, marker=look(index).marker, linestyle="")
        for index in range(len(rules))
    ]
    figure_legend(
        figure, samples, [name(rule) for rule in rules], ncols=6, title=legend_title("rule")
    )
