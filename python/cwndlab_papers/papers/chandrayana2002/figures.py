"""Plots of chandrayana2002's experiments, one function each, from what was measured."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cwndlab.plots import look, panels, styled
from cwndlab.statistics import Estimate, estimate
from cwndlab_papers import Data, Experiment
from cwndlab_papers.curves import error_bars
from cwndlab_papers.papers.chandrayana2002 import quantities, tables
from cwndlab_papers.papers.chandrayana2002.measures import METHODS

REFERENCE = "#222222"
TITLES = {
    "quirk": "beta = 0.5, as ns-2 does it (halves)",
    "exact": "beta = 0.5, exactly",
    "one": "beta = 1 for k > 0",
}
LABELS = {
    "goodput": "throughput / link",
    "rtt_weighted_jain_index": "Jain's index, RTT-weighted",
    "loss_per_flow": "loss rate of a flow [%]",
    "timeout_share": "timeouts / window reductions",
    "ratio": "throughput of TCP / binomial",
    "loss_share": "TCP's share of losses",
    "timeouts_share": "TCP's share of timeouts",
}
SCALES = {"loss_per_flow": 100.0}
FULL = ("goodput",)
"""Metrics that are drawn from 0 on."""
METHOD_LABELS = {"absolute": "absolute values", "rescaled": "R/S", "periodogram": "periodogram"}


@styled
def against_k(data: Data, experiment: Experiment) -> Figure:
    """Draw a metric against k, a line for each number of flows, a panel for each variant."""
    metric = experiment.arguments["metric"]
    where = tables.places(data, experiment)
    figure, axes = panels(1, len(where), width=11.5, height=3.6, sharey=True)
    for panel, (plan, setting) in zip(axes, where, strict=True):
        board = data.boards[plan]
        k = quantities.exponents(data.means(plan))
        for index, case in enumerate(board.cases):
            values = board.values[metric][board.settings.index(setting), index] * SCALES.get(
                metric, 1.0
            )
            _line(panel, k, [estimate(row) for row in values], index, f"{case} flows")
        panel.set_title(TITLES[setting])
        _label_k(panel)
    axes[0].set_ylabel(LABELS[metric])
    if metric in FULL:
        # A zoom into the last percent would show an order where there is none.
        axes[0].set_ylim(0, 1.05)
        lowest = min(
            float(np.nanmin(data.boards[plan].values[metric].mean(axis=-1))) for plan, _ in where
        )
        figure.suptitle(f"At least {lowest:.3f} of the link with every k and load",
                        x=0.01, ha="left", fontsize=10.5, fontweight="bold")  # fmt: skip
    axes[-1].legend(fontsize=8.5, loc="lower left")
    return figure


@styled
def hurst(data: Data, experiment: Experiment) -> Figure:
    """Draw each method's Hurst parameter against k, a row per method, and a line per load.

    Their mean is no estimate where they differ more than it varies.
    """
    where = tables.places(data, experiment)
    figure, axes = panels(len(METHODS), len(where), width=11.5, height=2.3, sharex=True,
                          sharey=True)  # fmt: skip
    for column, (plan, setting) in enumerate(where):
        board = data.boards[plan]
        k, at = quantities.exponents(data.means(plan)), board.settings.index(setting)
        for row, method in enumerate(METHODS):
            panel = axes[row * len(where) + column]
            for index, case in enumerate(experiment.arguments["cases"]):
                values = board.values[f"hurst-{method}"][at, board.cases.index(case)]
                _line(panel, k, [estimate(one) for one in values], index, f"{case} flows")
            panel.axhline(0.5, color=REFERENCE, linewidth=0.8, linestyle=":")
            if column == 0:
                panel.set_ylabel(f"Hurst parameter,\n{METHOD_LABELS[method]}")
        axes[column].set_title(TITLES[setting])
        _label_k(axes[(len(METHODS) - 1) * len(where) + column])
    axes[0].set_ylim(-0.1, 1)
    axes[-1].legend(fontsize=8, ncols=2)
    return figure


@styled
def mixed(data: Data, experiment: Experiment) -> Figure:
    """Draw a ratio or TCP's share over k: a line per number of flows, a panel per variant."""
    what = experiment.arguments["what"]
    where = tables.places(data, experiment)
    figure, axes = panels(1, len(where), width=11.5, height=3.8, sharey=True)
    for panel, (plan, setting) in zip(axes, where, strict=True):
        for index, case in enumerate(data.boards[plan].cases):
            k, found = tables.by_k(data, tables.claim_about(plan, setting, what, [case]), what)
            _line(panel, k, found, index, f"{case} flows")
        panel.axhline(1.0 if what == "ratio" else 0.5, color=REFERENCE, linewidth=1)
        panel.set_title(TITLES[setting])
        _label_k(panel)
    axes[0].set_ylabel(LABELS[what])
    axes[0].set_ylim(0, 2 if what == "ratio" else 1)
    axes[-1].legend(fontsize=8.5, ncols=2)
    return figure


@styled
def robust(data: Data, _experiment: Experiment) -> Figure:
    """Draw AIMD's relative lead over the best other k in each network, a panel per metric."""
    shown = (
        ("robust", "goodput", "throughput"), ("robust", "rtt_weighted_jain_index", "fairness"),
        ("robust", "timeout_share", "share of timeouts"), ("robust", "loss_per_flow", "loss rate"),
        ("robust", "flows.flow.mean_rtt_s", "RTT"),
        ("short", "arrivals.short.mean_fct_s", "completion"),
    )  # fmt: skip
    figure, axes = panels(1, len(shown), width=13, height=4.2)
    style = look(0)
    for panel, (plan, metric, title) in zip(axes, shown, strict=True):
        cases = data.boards[plan].cases
        claim = tables.claim_about(plan, "", metric)
        found = [
            data.estimate(
                lambda chosen, at=at, claim=claim: float(
                    quantities.relative_leads(chosen, claim)[at]
                ),
                [plan],
            )
            for at in range(len(cases))
        ]
        heights = [np.nan if one.mean is None else 100 * one.mean for one in found]
        panel.errorbar(heights, range(len(cases)),
                       xerr=[100 * (one.half_width or 0.0) for one in found],
                       fmt=style.marker, color=style.color, capsize=2, markersize=4)  # fmt: skip
        panel.axvline(0, color=REFERENCE, linewidth=1)
        panel.set_ylim(len(cases) - 0.5, -0.5)
        panel.set_yticks(
            range(len(cases)), cases if panel is axes[0] or plan == "short" else [""] * len(cases)
        )
        far = max([5.0, *(1.2 * abs(height) for height in heights if np.isfinite(height))])
        panel.set_xlim(-far, far)
        panel.set_title(title)
        panel.set_xlabel("AIMD's lead [%]")
    figure.suptitle("Right of the line AIMD is better than other k = 0.25 to 1; ns-2's halving",
                    x=0.01, ha="left", fontsize=10)  # fmt: skip
    return figure


def _line(panel: Axes, k: np.ndarray, found: Sequence[Estimate], index: int, label: str) -> None:
    style = look(index)
    means, widths = error_bars(found)
    panel.errorbar(
        k, means, yerr=widths, color=style.color,
        linestyle=style.linestyle,
        marker=style.marker, markersize=4, elinewidth=0.8, capsize=1.5, label=label,
    )  # fmt: skip


def _label_k(panel: Axes) -> None:
    panel.set_xlim(-0.04, 1.04)
    panel.set_xlabel("k (0: AIMD, 1: IIAD)")
