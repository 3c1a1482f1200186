"""Plots of yang2000's simulated experiments, one function each.

The others are in `figures_theory`.
"""

from __future__ import annotations

import textwrap

import numpy as np
import polars as pl
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator, PercentFormatter, ScalarFormatter

from cwndlab import theory
from cwndlab.plots import look, panels, styled
from cwndlab.statistics import estimate
from cwndlab_papers import Data, Experiment
from cwndlab_papers.curves import error_bars
from cwndlab_papers.papers.yang2000 import quantities, tables
from cwndlab_papers.papers.yang2000.figures_theory import (
    error_integral,
    formula,
    friendly_curves,
    ratios,
    window_trace,
)
from cwndlab_papers.papers.yang2000.published import printed

__all__ = [
    "accuracy", "assumed", "beside", "courses", "each_flow", "error_integral", "formula",
    "friendliness",
    "friendly_curves", "ratios", "window_trace",
]  # fmt: skip
REFERENCE = "#222222"
FEW_LOSSES = 0.1
"""Loss rate up to which ratios of single flows are said to vary little."""
EDGE = 0.2
"""Loss rate up to which the formula is said to be accurate."""
PAPERS_LOADS = 70
"""ON/OFF sources that the paper has at most."""


@styled
def accuracy(data: Data, experiment: Experiment) -> Figure:
    """Draw predicted over actual rate against the loss rate, a point for each alpha and load."""
    means = data.means(experiment.plans[0])
    figure, (panel,) = panels(1, width=8, height=4)
    scale = Normalize(0.1, 1.0)
    is_papers = np.array([int(case) <= PAPERS_LOADS for case in means.cases])
    for at, rule in enumerate(means.rules):
        parsed = theory.parse_linear(rule)
        if parsed.bd != experiment.arguments["beta"]:
            continue
        color = colormaps["viridis"](scale(parsed.ai))
        loss, ratio = (means.values[name][0, :, at] for name in ("loss-gaimd", "ratio-gaimd"))
        panel.plot(loss, ratio, color=color, linewidth=0.7, alpha=0.7)
        panel.plot(loss[is_papers], ratio[is_papers], "o", color=color, markersize=5)
        panel.plot(
            loss[~is_papers],
            ratio[~is_papers],
            "o",
            color=color,
            markersize=5,
            markerfacecolor="white",
        )
    panel.axhline(1, color=REFERENCE, linewidth=1)
    panel.axvline(EDGE, color=REFERENCE, linewidth=0.9, linestyle=":")
    panel.annotate(
        "exact", (panel.get_xlim()[1], 1), xytext=(-4, 3), textcoords="offset points", ha="right"
    )
    panel.set_ylim(0, max(2.0, 1.05 * panel.get_ylim()[1]))
    panel.set_xlim(left=0)
    panel.xaxis.set_major_formatter(PercentFormatter(1))
    panel.set_xlabel("loss rate: window reductions / packets sent")
    panel.set_ylabel("predicted / actual rate")
    panel.set_title(
        "Above 1 the formula overestimates; hollow: more ON/OFF sources than the paper's 70"
    )
    figure.colorbar(ScalarMappable(scale, "viridis"), ax=panel, label="alpha")
    return figure


@styled
def each_flow(data: Data, experiment: Experiment) -> Figure:
    """Draw predicted over actual rate of each flow of one replicate over its loss rate."""
    board = data.boards[experiment.plans[0]]
    text = experiment.arguments["rule"]
    rule = board.rules.index(text)
    figure, axes = panels(1, len(board.settings), width=9.5, height=3.8, sharex=True, sharey=True)
    found = {
        (group, what): [
            np.concatenate(
                [board.series[f"{what}-{group}"][at, case, rule, 0]
                 for case in range(len(board.cases))]
            )
            for at in range(len(board.settings))
        ]
        for group in ("gaimd", "tcp")
        for what in ("losses", "ratios")
    }  # fmt: skip
    for at, (panel, setting) in enumerate(zip(axes, board.settings, strict=True)):
        panel.axvspan(0, FEW_LOSSES, color="#e4e4e4", linewidth=0, zorder=0)
        panel.axhline(1, color=REFERENCE, linewidth=1)
        panel.text(0.99, 1, "exact", transform=panel.get_yaxis_transform(), ha="right",
                   va="bottom", fontsize=8.5)  # fmt: skip
        for index, (group, label) in reversed([*enumerate({"gaimd": text, "tcp": "Reno"}.items())]):
            style = look(index)
            panel.plot(
                found[group, "losses"][at], found[group, "ratios"][at], style.marker,
                color=style.color, markersize=3.5, alpha=0.55, markeredgewidth=0,
            )  # fmt: skip
            panel.text(
                0.02, 0.93 - 0.08 * index, label, transform=panel.transAxes, color=style.color,
                weight="bold",
            )  # fmt: skip
        panel.set_title(setting)
        panel.set_xlabel("loss rate of the flow")
        panel.text(
            FEW_LOSSES, 0.02, " up to 10 % loss: grey", transform=panel.get_xaxis_transform(),
            fontsize=8.5, color="#555555",
        )  # fmt: skip
        panel.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes[0].set_xlim(left=0)
    axes[0].set_yscale("log")
    axes[0].set_yticks([1, 2, 5, 10], ["1", "2", "5", "10"])
    axes[0].yaxis.set_minor_locator(NullLocator())
    axes[0].set_ylabel("predicted / actual rate")
    losses, ratios = (np.concatenate(found["gaimd", what]) for what in ("losses", "ratios"))
    few, many = (
        "{:.1f} to {:.1f}".format(*np.nanpercentile(ratios[chosen], (10, 90)))
        for chosen in (losses <= FEW_LOSSES, losses > FEW_LOSSES)
    )
    figure.suptitle(
        f"Of 8 in 10 flows the formula predicts {few} times the rate up to 10 % loss, "
        f"{many} times above",
        x=0.01, ha="left", fontsize=10.5, fontweight="bold",
    )  # fmt: skip
    return figure


@styled
def friendliness(data: Data, experiment: Experiment) -> Figure:
    """Draw normalised rates over the number of flows, means and single flows, and the crossover."""
    setting = experiment.arguments["setting"]
    board = data.boards["friendliness"]
    at, rule = board.settings.index(setting), board.rules.index(quantities.PAIR)
    flows = np.array([int(case) for case in board.cases])
    figure, (panel,) = panels(1, width=8.5, height=4)
    for index, (group, label) in enumerate(
        (("gaimd", quantities.PAIR), ("tcp", f"TCP {setting.rsplit('/')[-1]}"))
    ):
        style = look(index)
        for case, number in enumerate(flows):
            single = board.series[f"rates-{group}"][at, case, rule, 0]
            place = np.full(len(single), number * (0.97 + 0.06 * index))
            panel.plot(place, single, ".", color=style.color, markersize=3, alpha=0.45)
        found = [estimate(board.values[group][at, case, rule]) for case in range(len(flows))]
        means, widths = error_bars(found)
        panel.errorbar(
            flows, means, yerr=widths,
            color=style.color,
            linestyle=style.linestyle, marker=style.marker, markersize=5, capsize=2, label=label,
        )  # fmt: skip
    _mark_crossover(panel, data, experiment, flows)
    panel.axhline(1, color=REFERENCE, linewidth=0.8)
    panel.set_xscale("log", base=2)
    panel.xaxis.set_major_formatter(ScalarFormatter())
    panel.set_xticks([2, 4, 8, 16, 24, 32, 48, 64, 96, 128])
    panel.set_xticks([], minor=True)
    highest = max(np.nanmax(board.values[group][at, :, rule]) for group in ("gaimd", "tcp"))
    panel.set_ylim(0, max(2.2, 1.1 * highest))
    panel.set_xlabel("flows in all, half of each kind")
    panel.set_ylabel("rate / equal share of the link")
    panel.legend(loc="upper left", ncols=2)
    return figure


def _mark_crossover(panel: Axes, data: Data, experiment: Experiment, flows: np.ndarray) -> None:
    found = tables.crossover(data, "friendliness", experiment.arguments["setting"], quantities.PAIR)
    if found.mean is None:
        return
    width = found.half_width or 0.0
    inside = np.isfinite(width) and flows[0] < found.mean < flows[-1]
    text = (
        f"rates cross at {found.mean:.0f} ± {width:.0f} flows"
        if inside
        else (
            f"no crossing up to {flows[-1]} flows"
            if found.mean > flows[0]
            else "TCP ahead from 2 flows on"
        )
    )
    if inside:
        panel.axvline(found.mean, color=REFERENCE, linewidth=1.2)
        panel.axvspan(
            max(flows[0], found.mean - width),
            min(flows[-1], found.mean + width),
            color="#bbbbbb",
            alpha=0.4,
        )
    for name in experiment.arguments.get("printed", ()):
        panel.axvline(printed(name), color=REFERENCE, linewidth=1, linestyle=":")
        panel.annotate(f"paper: {printed(name):.0f}", (printed(name), 0.05), rotation=90,
                       xytext=(3, 0),
                       textcoords="offset points", fontsize=9)  # fmt: skip
    panel.set_title(text)


@styled
def assumed(data: Data, experiment: Experiment) -> Figure:
    """Draw crossover and accuracy with intervals by assumption; lines are printed crossovers."""
    found = tables.assumed_table(data, experiment)
    figure, axes = panels(1, 2, width=12.5, height=4.2)
    marks = {"crossover beside reno": "beside Reno", "crossover beside sack": "beside SACK"}
    _by_assumption(axes[0], found, marks)
    for name, index in (
        ("crossover-reno-48", 0),
        ("crossover-reno-64", 0),
        ("crossover-sack-24", 1),
    ):
        axes[0].axvline(printed(name), color=look(index).color, linewidth=1, linestyle=":")
        axes[0].annotate(
            f"paper, {('Reno', 'SACK')[index]}",
            (printed(name), -1.35),
            rotation=90,
            fontsize=8,
            va="top",
            xytext=(2, 0),
            textcoords="offset points",
            color=look(index).color,
        )
    axes[0].set_xscale("log", base=2)
    axes[0].xaxis.set_major_formatter(ScalarFormatter())
    axes[0].set_xticks([2, 4, 8, 16, 24, 32, 48, 64, 96, 128])
    axes[0].set_xticks([], minor=True)
    axes[0].set_xlim(1.8, 142)
    axes[0].set_xlabel("flows in all at which rates cross; at 2 or 128: there or beyond")
    marks = {
        "ratio-gaimd": "loss rate: window reductions",
        "ratio-by-drops-gaimd": "loss rate: dropped packets",
        "ratio-tcp": "Reno, window reductions",
    }  # fmt: skip
    _by_assumption(axes[1], found, marks)
    axes[1].axvline(1, color=REFERENCE, linewidth=1)
    axes[1].set_xlim(left=0)
    axes[1].set_xlabel("predicted / actual rate of (0.3, 0.875), 40 ON/OFF sources")
    return figure


def _by_assumption(panel: Axes, found: pl.DataFrame, marks: dict[str, str]) -> None:
    rows = found.filter(pl.col("what").is_in(list(marks)))
    names = rows["assumed"].unique(maintain_order=True).to_list()
    for index, (what, label) in enumerate(marks.items()):
        style, chosen = look(index), rows.filter(what=what)
        panel.errorbar(
            chosen["value"], np.arange(len(names)) + 0.2 * (index - (len(marks) - 1) / 2),
            xerr=chosen["ci95"].fill_null(0.0), fmt=style.marker, color=style.color, capsize=3,
            markersize=5,
            label=label,
        )  # fmt: skip
    panel.set_yticks(range(len(names)), names)
    panel.set_ylim(len(names) - 0.5, -1.4)
    panel.legend(
        fontsize=7.5, ncols=3, loc="lower left", bbox_to_anchor=(-0.15, 1), columnspacing=1
    )


@styled
def beside(data: Data, experiment: Experiment) -> Figure:
    """Draw each of our numbers over the printed one, with its interval."""
    return printed_and_ours(tables.published_table(data, experiment))


@styled
def printed_and_ours(found: pl.DataFrame) -> Figure:
    """Draw ``ours`` over ``printed`` by ``what``; an arrow where only the lower end is known."""
    figure, (panel,) = panels(1, width=11, height=1.2 + 0.36 * found.height)
    style = look(0)
    for at, row in enumerate(found.to_dicts()):
        if row["ours"] is None:
            continue
        ratio, is_open = row["ours"] / row["printed"], np.isinf(row["ci95"] or 0.0)
        width = 0.0 if is_open else (row["ci95"] or 0.0) / row["printed"]
        panel.errorbar(ratio, at, xerr=width, fmt=style.marker, color=style.color, capsize=3)
        if is_open:
            panel.annotate("", (1.35 * ratio, at), (ratio, at),
                           arrowprops={"arrowstyle": "->", "color": style.color})  # fmt: skip
        said = f"{'at least ' if is_open else ''}{row['ours']:.3g}, printed {row['printed']:g}"
        panel.annotate(said, (ratio, at), xytext=(0, 6), textcoords="offset points", ha="center",
                       fontsize=8.5)  # fmt: skip
    panel.axvline(1, color=REFERENCE, linewidth=1)
    panel.axvspan(0.8, 1.25, color="#eeeeee", linewidth=0, zorder=0)
    panel.set_xscale("log", base=2)
    panel.set_xlim(1 / 10, 11)
    panel.set_xticks([0.125, 0.25, 0.5, 1, 2, 4, 8], ["1/8", "1/4", "1/2", "1", "2", "4", "8"])
    panel.set_yticks(range(found.height), [_wrapped(what) for what in found["what"]], fontsize=8.5)
    panel.set_ylim(found.height - 0.5, -0.8)
    panel.set_xlabel("ours / printed; grey: within a quarter")
    return figure


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 46)


@styled
def courses(data: Data, experiment: Experiment) -> Figure:
    """Draw the rates of one GAIMD and one TCP flow over the last 30 s."""
    board = data.boards["rates"]
    at = board.settings.index(experiment.arguments["setting"])
    step_s, shown_s = 0.15, 30.0
    figure, axes = panels(2, 1, width=9, height=2.2, sharex=True, sharey=True)
    for index, (panel, group) in enumerate(zip(axes, ("gaimd", "tcp"), strict=True)):
        rates = board.series[f"course-{group}"][at, 0, 0, 0] / 1e6
        times = np.arange(len(rates)) * step_s
        chosen = times >= times[-1] - shown_s
        panel.step(
            times[chosen], rates[chosen], where="post", color=look(index).color, linewidth=1.1
        )
        found = estimate(board.values[f"variation-{group}"][at, 0, 0])
        label = quantities.PAIR if group == "gaimd" else "Reno"
        width = f" ± {found.half_width:.3f}" if found.half_width is not None else ""
        panel.set_title(f"{label}: coefficient of variation {found.mean:.3f}{width}")
        panel.set_ylabel("rate [Mbit/s]")
    axes[0].set_ylim(bottom=0)
    axes[-1].set_xlabel("time [s]; one point for each 150 ms")
    return figure
