"""Plots of attie2003's experiments, one function each, from what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from cwndlab import theory
from cwndlab.plots import look, panels, styled
from cwndlab.statistics import Estimate
from cwndlab_papers import Data, Experiment, reading
from cwndlab_papers.curves import curve, error_bars
from cwndlab_papers.papers.attie2003 import model as steps
from cwndlab_papers.papers.attie2003 import tables

SETTINGS = {"sack/red": "RED", "sack/drop-tail": "default (drop-tail)"}
DARK = "#222222"


def _style(index: int) -> dict[str, Any]:
    style = look(index)
    return {"color": style.color, "linestyle": style.linestyle, "marker": style.marker}


def _legend(figure: Figure, labels: list[str]) -> None:
    samples = [Line2D([], [], **_style(index)) for index in range(len(labels))]
    figure.legend(samples, labels, loc="outside lower center", ncols=min(4, len(labels)))


@styled
def model(_data: Data, _experiment: Experiment) -> Figure:
    """Convergence, joins, efficiency in whole steps and error of shares calculated so."""
    figure, axes = panels(2, 2, width=10, height=3)
    _two_flows(axes[0])
    _joins(axes[1])
    _efficiency(axes[2])
    _discrete(axes[3])
    return figure


def _two_flows(panel: Axes) -> None:
    for index, text in enumerate(("Bimodal(1, 0.5, 0.125)", "AIMD(1, 0.5)")):
        course = theory.simulate(text, [10, 60], capacity=100, steps=170, exact=True)
        for flow in (0, 1):
            panel.plot(
                course.times,
                course.loads[:, flow],
                ("-", ":")[index],
                color=look(flow).color,
                linewidth=1.2,
            )
        if index == 0:
            second = float(course.times[course.signals[1]])
            panel.axvline(second, color=DARK, linewidth=0.8)
            panel.annotate(
                "both know 50",
                (second, 64),
                xytext=(4, 0),
                textcoords="offset points",
                fontsize=8.5,
            )
    panel.set_xlim(0, 150)
    panel.set_ylim(0, 72)
    panel.set_xlabel("RTTs")
    panel.set_ylabel("load [packets]")
    panel.set_title("Two flows find their share (AIMD dotted)")


def _joins(panel: Axes) -> None:
    for index, (name, given) in enumerate(tables.WAYS.items()):
        if "band" in given:
            continue
        course = steps.course("Bimodal", 10, 1000.0, joining=5, steps=steps.LONG, **given)
        known, errors = course.share_errors()
        late = steps.after(course)
        shown = np.where(known[late] == 1, np.maximum(errors[late], 1e-5), np.nan)[:120]
        style = look(index)
        panel.semilogy(
            np.arange(1, len(shown) + 1), shown, linestyle="", marker=style.marker, markersize=2.5,
            color=style.color,
            label=f"{name}, where all know one",
        )  # fmt: skip
    panel.axvline(2, color=DARK, linewidth=0.8)
    panel.annotate("two cycles", (2, 2e-5), xytext=(5, 0), textcoords="offset points", fontsize=8.5)
    panel.set_ylim(1e-5, 3)
    panel.set_xlabel("congestion signals after the join")
    panel.set_ylabel("largest error of a share")
    panel.set_title("When five flows join ten, shares stay wrong")
    panel.legend(fontsize=8, loc="center right", bbox_to_anchor=(1, 0.6))


def _efficiency(panel: Axes) -> None:
    for index, name in enumerate(tables.WAYS):
        for at, epsilon in enumerate(steps.EPSILONS):
            found = tables.efficiencies(epsilon)[name]
            place = at + (index - 1) * 0.2
            panel.plot(
                [place, place], [found.min(), found.max()], color=look(index).color, linewidth=1
            )
            panel.plot(
                place,
                found.mean(),
                look(index).marker,
                color=look(index).color,
                label=name if at == 0 else None,
            )
    for at, epsilon in enumerate(steps.EPSILONS):
        panel.plot([at - 0.4, at + 0.4], [theory.efficiency(epsilon)] * 2, color=DARK, linewidth=1,
                   label="1 - epsilon / 2" if at == 0 else None)  # fmt: skip
    panel.set_xticks(range(3), ["1/2", "1/3", "1/8"])
    panel.set_xlabel("epsilon")
    panel.set_ylabel("efficiency, whole steps")
    panel.set_ylim(0.7, 1.0)
    panel.grid(visible=False, axis="x")
    panel.set_title("In whole steps the pseudo-code falls back to AIMD")
    panel.legend(fontsize=8, loc="upper left")


def _discrete(panel: Axes) -> None:
    capacities = np.arange(50, 1001, 50, dtype=float)
    for index, flows in enumerate(steps.FLOWS):
        off: list[float] = []
        for capacity in capacities:
            course = steps.course(
                "Bimodal", flows, capacity, exact=False, compare="margin", steps=500
            )
            off.append(float(np.nanmax(course.share_errors()[1])) * capacity / flows)
        panel.plot(
            capacities,
            off,
            look(index).marker,
            color=look(index).color,
            markersize=2.5,
            label=f"{flows} flows",
        )
    panel.axhline(1 / steps.BETA, color=DARK, linewidth=1)
    panel.annotate(
        "alpha / beta",
        (50, 1 / steps.BETA),
        xytext=(0, 3),
        textcoords="offset points",
        fontsize=8.5,
    )
    panel.set_ylim(0, 2.6)
    panel.set_xlabel("capacity [packets]")
    panel.set_ylabel("largest error [packets]")
    panel.set_title("Shares calculated in whole steps")
    panel.legend(fontsize=8, loc="upper right", ncols=3)


@styled
def stationary(data: Data, experiment: Experiment) -> Figure:
    """Goodput and Jain's index against the number of flows, a line for each rule."""
    names, plan, place = experiment.arguments["rules"], experiment.plans[0], "sack/red"
    figure, axes = panels(1, 2, width=10, height=3.6)
    measures = {"goodput": "goodput / link", "jain_index": "Jain's index"}
    for panel, (metric, label) in zip(axes, measures.items(), strict=True):
        for index, rule in enumerate(names):
            curve(panel, data, plan, place, metric, rule, label=rule, **_style(index))
        panel.set_ylabel(label)
        panel.set_xlabel("flows on a RED gateway")
        panel.set_xlim(left=0)
    axes[0].set_title("whiskers: 95 % confidence interval", fontsize=9, fontweight="normal")
    axes[1].legend(loc="lower right")
    means = data.means(plan)
    goodput = [means.value("goodput", place, data.rule(rule)).tolist() for rule in names]
    figure.suptitle(
        gain_headline(names, goodput, means.cases), x=0.01, ha="left", fontsize=10.5,
        fontweight="bold",
    )  # fmt: skip
    return figure


def gain_headline(
    names: Sequence[str], goodput: Sequence[Sequence[float]], flows: Sequence[str]
) -> str:
    """Say what the last rule gains over the first with the fewest and the most flows.

    The rules are in the order of falling epsilon, AIMD first.

    Examples
    --------
    >>> gain_headline(["AIMD", "1/2", "1/8"], [[0.5, 0.9], [0.55, 0.9], [0.6, 0.9]], ["10", "100"])
    'The smaller epsilon, the more goodput: 1/8 gains 20 % over AIMD with 10 flows, 0 % with 100'
    >>> gain_headline(["AIMD", "1/2", "1/8"], [[0.5, 0.9], [0.6, 0.9], [0.55, 0.9]], ["10", "100"])
    'Goodput does not follow epsilon: 1/8 gains 10 % over AIMD with 10 flows, 0 % with 100'
    """
    few = [values[0] for values in goodput]
    follows = "The smaller epsilon, the more goodput"
    if not all(less < more for less, more in pairwise(few[1:])):
        follows = "Goodput does not follow epsilon"
    first, last = (100 * (goodput[-1][at] / goodput[0][at] - 1) for at in (0, -1))
    return (
        f"{follows}: {names[-1]} gains {first:.0f} % over {names[0]} with {flows[0]} flows, "
        f"{last:.0f} % with {flows[-1]}"
    )


@styled
def phases(data: Data, experiment: Experiment) -> Figure:
    """Goodput and Jain's index in each phase, over RED and default gateways."""
    plan, names, counts = (
        experiment.plans[0],
        experiment.arguments["rules"],
        experiment.arguments["counts"],
    )
    figure, axes = panels(2, 2, width=9, height=2.8, sharex=True, sharey="row")
    board = data.boards[plan]
    for column, setting in enumerate(board.settings):
        for row, (metric, label) in enumerate(
            (("goodput", "goodput / link"), ("jain", "Jain's index"))
        ):
            panel = axes[2 * row + column]
            for index, rule in enumerate(names):
                found = [
                    _estimate(data, plan, f"{metric}.{phase}", setting, rule)
                    for phase in range(len(counts))
                ]
                means, widths = error_bars(found)
                panel.errorbar(
                    np.arange(len(counts)) + 0.08 * (index - 1.5), means, yerr=widths,
                    capsize=2, markersize=4,
                    elinewidth=0.8,
                    **_style(index),
                )  # fmt: skip
            panel.set_xticks(range(len(counts)), [str(count) for count in counts])
            panel.grid(visible=False, axis="x")
            if column == 0:
                panel.set_ylabel(label)
            if row == 0:
                panel.set_title(SETTINGS[setting])
            else:
                panel.set_xlabel("flows, in phases of 15 s")
    _legend(figure, names)
    return figure


@styled
def coexist(data: Data, experiment: Experiment) -> Figure:
    """Goodput of a flow over that of an AIMD flow beside it, against the number of flows."""
    plan, names = experiment.plans[0], experiment.arguments["rules"]
    board, fair = data.boards[plan], reading("about-equal")
    figure, axes = panels(1, 2, width=9.5, height=3.3, sharey=True)
    counts = [float(case) for case in board.cases]
    for panel, setting in zip(axes, board.settings, strict=True):
        for index, rule in enumerate(names):
            found = [_ratio(data, plan, setting, rule, at) for at in range(len(counts))]
            means, widths = error_bars(found)
            panel.errorbar(
                np.array(counts) + (index - 1.5), means, yerr=widths, capsize=2, markersize=4,
                elinewidth=0.8,
                **_style(index),
            )  # fmt: skip
        panel.axhspan(1 / fair.most, fair.most, color="#eeeeee", zorder=0)
        panel.axhline(1, color=DARK, linewidth=0.8)
        panel.set_yscale("log")
        panel.set_yticks(
            [0.6, 0.8, 1, 1.25, 1.6, 2, 3], ["0.6", "0.8", "1", "1.25", "1.6", "2", "3"]
        )
        panel.set_yticks([], minor=True)
        panel.set_title(SETTINGS[setting])
        panel.set_xlabel("flows, half of them AIMD")
    axes[0].set_ylabel("goodput over an AIMD flow's")
    _legend(figure, names)
    return figure


def _estimate(data: Data, plan: str, metric: str, setting: str, rule: str) -> Estimate:
    """Mean and interval of a metric in a plan's only case."""
    notation = data.rule(rule)
    return data.estimate(
        lambda chosen: float(chosen.means(plan).value(metric, setting, notation)[0]), [plan]
    )


def _ratio(data: Data, plan: str, setting: str, rule: str, at: int) -> Estimate:
    """Goodput of a flow of the rule over that of one beside it, in one case."""
    notation = data.rule(rule)

    def ratio(chosen: Data) -> float:
        means = chosen.means(plan)
        own, other = (
            means.value(f"flows.{group}.goodput_bps", setting, notation)[at]
            for group in ("own", "other")
        )
        return float(own / other)

    return data.estimate(ratio, [plan])


@styled
def assumed(data: Data, experiment: Experiment) -> Figure:
    """Gains over AIMD, a row for each thing that was changed."""
    table = tables.assumed_table(data, experiment)
    changed = table["changed"].unique(maintain_order=True).to_list()
    figure, axes = panels(1, 3, width=11, height=0.8 + 0.38 * len(changed), sharey=True)
    for panel, what in zip(axes, table["what"].unique(maintain_order=True), strict=True):
        scale = 100.0 if what.startswith("goodput") else 1.0
        for index, rule in enumerate(experiment.arguments["rules"], 1):
            rows = {row["changed"]: row for row in table.filter(what=what, rule=rule).to_dicts()}
            panel.errorbar(
                [rows[name]["value"] * scale for name in changed],
                np.arange(len(changed)) + 0.2 * (index - 2),
                xerr=[(rows[name]["ci95"] or 0.0) * scale for name in changed],
                fmt=look(index).marker,
                color=look(index).color, markersize=4, elinewidth=0.8, capsize=2,
            )  # fmt: skip
        panel.axvline(0, color=DARK, linewidth=0.8)
        panel.set_title(what + (" [%]" if scale > 1 else ""), fontsize=9.5)
    axes[0].set_yticks(range(len(changed)), changed)
    axes[0].set_ylim(len(changed) - 0.5, -0.5)
    samples = [
        Line2D([], [], color=look(i).color, marker=look(i).marker, linestyle="") for i in (1, 2, 3)
    ]
    figure.legend(samples, experiment.arguments["rules"], loc="outside lower center", ncols=3)
    return figure
