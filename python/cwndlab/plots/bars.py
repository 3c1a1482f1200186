"""Rules side by side: the mean of each metric per environment, with its confidence interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cwndlab.metrics import BY_KEY, Metric
from cwndlab.plots.style import look, panels, styled

if TYPE_CHECKING:
    from cwndlab.comparison import Comparison

SHOWN = ("goodput", "fairness_spread", "loss_rate", "mean_queueing_delay_s")


@styled
def comparison_bars(
    comparison: Comparison, *, setting: tuple[str, str] | None = None, metrics: tuple[str, ...] = SHOWN
) -> Figure:
    """Draw bars per environment and rule, whiskers for the 95 % confidence interval.

    Parameters
    ----------
    comparison : Comparison
        Only its `summary` is read.
    setting : (recovery, queue), optional
        By default every setting gets a column.
    metrics : tuple of str
        One row of panels each.
    """
    summary = comparison.summary
    settings = summary.select("recovery", "queue").unique(maintain_order=True).rows()
    if setting is not None:
        settings = [setting]
    environments = summary["env"].unique(maintain_order=True).to_list()
    rules = summary["rule"].unique(maintain_order=True).to_list()
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
            _bars(panel, chosen, BY_KEY[key], environments, rules)
            where = f" ({recovery}, {queue})" if len(settings) > 1 else ""
            better = "higher" if BY_KEY[key].more_is_better else "lower"
            panel.set_title(f"{BY_KEY[key].label}{where}: {better} is better".capitalize())
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(4, len(rules)))
    axes[-1].set_xlabel("environment; whiskers: 95 % confidence interval")
    return figure


def _bars(axes: Axes, summary: pl.DataFrame, metric: Metric, environments: list[str], rules: list[str]) -> None:
    width = 0.8 / len(rules)
    for index, rule in enumerate(rules):
        rows = {row["env"]: row for row in summary.filter(rule=rule).to_dicts()}
        means = _numbers(rows, environments, "mean") * metric.scale
        whiskers = np.nan_to_num(_numbers(rows, environments, "ci95") * metric.scale)
        places = np.arange(len(environments)) + (index - (len(rules) - 1) / 2) * width
        style = look(index)
        axes.bar(places, means, width * 0.92, color=style.color, hatch=style.hatch, label=rule, edgecolor="white")
        axes.errorbar(
            places,
            means,
            yerr=np.minimum(whiskers, np.inf),
            fmt="none",
            ecolor="#111111",
            capsize=2.5,
            linewidth=1,
        )
    axes.set_xticks(range(len(environments)), environments)
    axes.grid(visible=False, axis="x")
    axes.set_ylabel(metric.title.replace(" [", "\n["))
    axes.set_ylim(bottom=0)


def _numbers(rows: dict[str, dict], environments: list[str], key: str) -> np.ndarray:
    values = [rows.get(environment, {}).get(key) for environment in environments]
    return np.array([np.nan if value is None else value for value in values], dtype=float)
