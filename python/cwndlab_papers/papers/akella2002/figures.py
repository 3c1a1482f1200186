"""Plots of akella2002's experiments, one function each, from what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from cwndlab import plots, theory
from cwndlab.plots import look, panels, styled
from cwndlab_papers import Data, Experiment, waveforms
from cwndlab_papers.curves import error_bars
from cwndlab_papers.papers.akella2002 import quantities, tables

LABELS = {
    "goodput": "goodput / available",
    "loss_rate": "loss rate [%]",
    "mean_queueing_delay_s": "queueing delay [ms]",
    "fairness_spread": "fairness spread",
}
LEADS = "#cfe3f3"
SEARCHED = "sack/drop-tail"
"""Setting of figures 1 and 2, footnote 1."""
SCALES = {"loss_rate": 100.0, "mean_queueing_delay_s": 1e3}
HEADS = (
    ("goodput", "C_a", "goodput, C_a"),
    ("goodput", "D_a", "goodput, D_a"),
    ("fairness_spread", "mean", "fairness spread"),
    ("loss_rate", "mean", "loss rate [%]"),
    ("mean_queueing_delay_s", "mean", "queueing delay [ms]"),
)
HEADLINE = (
    ("goodput", "D_a", "goodput"),
    ("fairness_spread", "mean", "fairness"),
    ("loss_rate", "mean", "loss"),
    ("mean_queueing_delay_s", "mean", "delay"),
)
"""Scores of the headline, with the word for each."""


@styled
def setting(data: Data, experiment: Experiment) -> Figure:
    """Draw scores of the rules under one setting above, loss and delay by environment below."""
    plan, place, among = (
        experiment.plans[0],
        experiment.arguments["setting"],
        tables.rules(data, experiment),
    )
    found = tables.scores(data, plan, [place], among)
    figure, axes = panels(2, 5, width=11.5, height=2.9)
    for panel, (metric, by, title) in zip(axes[:5], HEADS, strict=True):
        rows = {row["rule"]: row for row in found.filter(metric=metric, score=by).to_dicts()}
        scale = SCALES.get(metric, 1.0)
        for index, rule in enumerate(among):
            style, row = look(index), rows[rule]
            height = np.nan if row["value"] is None else row["value"] * scale
            panel.errorbar(
                index,
                height,
                yerr=(row["ci95"] or 0.0) * scale,
                fmt=style.marker,
                color=style.color,
                capsize=3,
            )
        panel.set_title(title, fontsize=9.5)
        panel.set_xticks(range(len(among)), experiment.arguments["rules"], fontsize=8)
        panel.margins(x=0.2)
        # By the values: with few replicates the intervals of some would hide all the others.
        highest = max((row["value"] or 0.0) * scale for row in rows.values()) or 1.0
        panel.set_ylim(-0.05 * highest, 1.35 * highest)
        panel.grid(visible=False, axis="x")
    apart = {
        word: [(row["value"], row["ci95"]) for row in found.filter(metric=key, score=by).to_dicts()]
        for key, by, word in HEADLINE
    }
    best = leaders(experiment.arguments["rules"], apart) or "no rule in any score"
    figure.suptitle(
        f"Best by more than the whiskers, 95 % confidence: {best}. Less is better everywhere",
        x=0.01, ha="left", fontsize=10.5, fontweight="bold",
    )  # fmt: skip
    _by_environment(figure, axes[5:], data, plan, place, among)
    _legend(figure, among)
    return figure


def leaders(
    rules: Sequence[str], scores: Mapping[str, Sequence[tuple[float | None, float | None]]]
) -> str:
    """Name the rule whose interval is below those of all others, in each score that has one.

    Examples
    --------
    >>> leaders(["AIMD", "MIMD"], {"goodput": [(0.5, 0.1), (0.1, 0.1)], "loss": [(1, 1), (2, 1)],
    ...                            "fairness": [(1, 0.2), (2, 0.2)]})
    'AIMD in fairness, MIMD in goodput'
    """
    leads: dict[str, list[str]] = {rule: [] for rule in rules}
    for word, pairs in scores.items():
        ends = [(value - (wide or 0.0), value + (wide or 0.0), rule)
                for (value, wide), rule in zip(pairs, rules, strict=True)
                if value is not None]  # fmt: skip
        for _, high, rule in ends:
            if all(high < low for low, _, other in ends if other != rule):
                leads[rule].append(word)
    return ", ".join(f"{rule} in {' and '.join(won)}" for rule, won in leads.items() if won)


def waveform(data: Data, experiment: Experiment) -> Figure:
    """One waveform that a search found, and what the four rules make of it."""
    plan, case = experiment.plans[0], experiment.arguments["case"]
    among = tables.rules(data, experiment)
    values = {
        rule: data.estimate(
            lambda chosen, rule=rule: float(
                chosen.means(plan).only([case]).value("goodput", SEARCHED, rule)[0]
            ),
            [plan],
        )
        for rule in among
    }
    title = f"{experiment.id}: {experiment.title}"
    shape = waveforms.shapes(tables.plan_file(plan))[case]
    return plots.waveform(shape, values, title=title)


def _by_environment(
    figure: Figure, axes: Sequence[Axes], data: Data, plan: str, place: str, among: list[str]
) -> None:
    means = data.means(plan)
    rows = {
        (row["case"], row["rule"], row["metric"]): row
        for row in tables.cells(data, plan, [place]).to_dicts()
    }
    grid = axes[0].get_gridspec()
    assert grid is not None, "panels are in a grid"
    for panel in axes:
        panel.remove()
    halves = figure.add_subplot(grid[1, 0:3]), figure.add_subplot(grid[1, 3:5])
    for panel, metric in zip(halves, ("loss_rate", "mean_queueing_delay_s"), strict=True):
        for index, rule in enumerate(among):
            style = look(index)
            places = np.arange(len(means.cases)) + (index - (len(among) - 1) / 2) * 0.17
            found = [rows[case, rule, metric] for case in means.cases]
            panel.errorbar(
                places, [row["value"] * SCALES[metric] for row in found],
                yerr=[(row["ci95"] or 0.0) * SCALES[metric] for row in found],
                fmt=style.marker, color=style.color, markersize=4, linewidth=0.8,
            )  # fmt: skip
        panel.set_xticks(range(len(means.cases)), means.cases, fontsize=8)
        panel.set_title(f"{LABELS[metric]} by environment", fontsize=9)
        highest = (
            max(rows[case, rule, metric]["value"] for case in means.cases for rule in among)
            * SCALES[metric]
        )
        panel.set_ylim(0, 1.15 * highest or 1.0)
        panel.grid(visible=False, axis="x")
        for edge in range(1, len(means.cases)):
            panel.axvline(edge - 0.5, color="#dddddd", linewidth=0.6)


@styled
def winners(data: Data, experiment: Experiment) -> Figure:
    """Draw by setting and rule how far goodput is behind the best, who leads, and who is unfair."""
    table = tables.winners_table(data, experiment)
    settings = table["setting"].unique(maintain_order=True).to_list()
    names, among = experiment.arguments["rules"], tables.rules(data, experiment)
    figure, (panel,) = panels(1, width=7.6, height=1.5 + 0.42 * len(settings))
    for place, named in experiment.arguments["winners"].items():
        for name in named if place in settings else ():
            corner = (names.index(name) - 0.48, settings.index(place) - 0.44)
            panel.add_patch(Rectangle(corner, 0.96, 0.88, fill=False, edgecolor="#222222",
                                      linewidth=1.6, zorder=2))  # fmt: skip
    for row in table.to_dicts():
        column, line = among.index(row["rule"]), settings.index(row["setting"])
        if row["wins"]:
            corner = (column - 0.48, line - 0.44)
            panel.add_patch(Rectangle(corner, 0.96, 0.88, color=LEADS, zorder=0))
        behind = f"{-row['behind_the_best']:.3f}" if row["behind_the_best"] else "best"
        weight = "bold" if row["wins"] else "normal"
        panel.text(column - 0.06, line, behind, ha="right", va="center", weight=weight)
        if row["is_unfair"]:
            panel.text(column, line, "unfair", va="center", weight="bold", color=look(1).color)
    panel.set_xlim(-0.5, len(names) - 0.5)
    panel.set_ylim(len(settings) - 0.5, -0.5)
    panel.set_xticks(range(len(names)), names, weight="bold")
    panel.set_yticks(range(len(settings)), [place.replace("/", ", ") for place in settings])
    panel.xaxis.tick_top()
    panel.tick_params(length=0)
    panel.spines[:].set_visible(False)
    panel.grid(visible=False)
    for line, (above, below) in enumerate(pairwise(settings)):
        is_new = above.split("/")[0] != below.split("/")[0]
        panel.axhline(line + 0.5, color="#dddddd", linewidth=2.5 if is_new else 0.6)
    panel.set_xlabel(
        "goodput / available behind the best rule, mean over environments\n"
        "blue: within 0.02, a leader; framed: a winner by the paper; unfair: spread above 0.5"
    )
    leaders = {
        name: table.filter(rule=rule, wins=True).height
        for name, rule in zip(names, among, strict=True)
    }
    counts = ", ".join(f"{name} {count}" for name, count in leaders.items())
    figure.suptitle(
        f"Who leads in goodput? Of {len(settings)} settings: {counts}",
        x=0.01, ha="left", fontweight="bold", fontsize=10.5,
    )  # fmt: skip
    return figure


@styled
def ring(data: Data, experiment: Experiment) -> Figure:
    """Goodput and loss of both rules on the ring."""
    board, among = data.boards["ring"], tables.rules(data, experiment)
    figure, axes = panels(1, 2, width=9, height=3.2)
    rows = {
        (r["setting"], r["case"], r["rule"], r["metric"]): r
        for r in tables.cells(data, "ring").to_dicts()
    }
    places = [(setting, case) for setting in board.settings for case in board.cases]
    for panel, metric in zip(axes, ("goodput", "loss_rate"), strict=True):
        for index, rule in enumerate(among):
            found = [rows[setting, case, rule, metric] for setting, case in places]
            scale, style = SCALES.get(metric, 1.0), look(index)
            panel.errorbar(
                np.arange(len(places)) + (index - 0.5) * 0.2,
                [row["value"] * scale for row in found],
                yerr=[(row["ci95"] or 0.0) * scale for row in found], fmt=style.marker,
                color=style.color, capsize=3,
            )  # fmt: skip
        panel.set_xticks(
            range(len(places)),
            [f"{setting.split('/')[0]}\n{case} rate" for setting, case in places],
        )
        panel.set_title(LABELS[metric])
        panel.set_ylim(bottom=0)
        panel.grid(visible=False, axis="x")
    _legend(figure, among)
    return figure


@styled
def small_buffers(data: Data, experiment: Experiment) -> Figure:
    """Goodput with buffers of one bandwidth-delay product and of a tenth, joined by a line."""
    small, among = data.means(experiment.plans[0]), tables.rules(data, experiment)
    figure, axes = panels(1, len(small.settings), width=10, height=3.2, sharey=True)
    drawn: list[float] = []
    for panel, place in zip(axes, small.settings, strict=True):
        for index, rule in enumerate(among):
            style = look(index)
            ends = [
                data.estimate(
                    lambda chosen, at=(plan, place, rule): tables.score(
                        chosen, at[0], "mean", "goodput", *at[1:], among
                    ),
                    [plan],
                )
                for plan in reversed(experiment.plans)
            ]
            means, widths = error_bars(ends)
            drawn += means
            panel.errorbar(
                np.array([0, 1]) + 0.03 * (index - 1.5), means, yerr=widths,
                color=style.color, linestyle=style.linestyle, marker=style.marker, elinewidth=0.8,
            )  # fmt: skip
        panel.set_title(place)
        panel.set_xticks([0, 1], ["1 BDP", "0.1 BDP"])
        panel.set_xlim(-0.25, 1.25)
    axes[0].set_ylabel("goodput / available,\nmean over environments")
    axes[0].set_ylim(0.9 * min(drawn), 1.05 * max(drawn))
    _legend(figure, among)
    return figure


@styled
def unequal_rtt(data: Data, experiment: Experiment) -> Figure:
    """Goodput against round trip, double logarithmic: the slope is the bias."""
    means, among = data.means("unequal-rtt"), tables.rules(data, experiment)
    places = [(setting, case) for setting in means.settings for case in means.cases]
    rows = {
        (r["setting"], r["case"], r["rule"], r["metric"]): r
        for r in tables.cells(data, "unequal-rtt").to_dicts()
    }
    figure, axes = panels(1, len(places), width=11, height=3.2, sharex=True)
    for panel, (place, case) in zip(axes, places, strict=True):
        at = means.cases.index(case)
        lowest, highest = np.inf, 0.0
        for index, rule in enumerate(among):
            style = look(index)
            found = [
                rows[place, case, rule, f"flows.rtt-{rtt}.goodput_bps"]
                for rtt in quantities.ROUND_TRIPS_MS
            ]
            rates, widths = (
                [(row[key] or 0.0) / 1e6 for row in found] for key in ("value", "ci95")
            )
            slope = quantities.bias(means, place, rule)[at]
            label = f"{experiment.arguments['rules'][index]}: RTT^{slope:.2f}"
            panel.errorbar(
                quantities.ROUND_TRIPS_MS, rates,
                yerr=np.array([np.minimum(widths, 0.9 * np.array(rates)), widths]),
                color=style.color, linestyle=style.linestyle, marker=style.marker, markersize=4,
                elinewidth=0.8,
                label=label,
            )  # fmt: skip
            lowest, highest = min(lowest, *rates), max(highest, *rates)
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_ylim(0.6 * lowest, 1.7 * highest)
        panel.set_title(f"{place}, {case} rate")
        panel.set_xticks(
            quantities.ROUND_TRIPS_MS, [str(rtt) for rtt in quantities.ROUND_TRIPS_MS], fontsize=8
        )
        panel.set_xticks([], minor=True)
        panel.set_xlabel("RTT [ms]")
        panel.legend(fontsize=7.5)
    axes[0].set_ylabel("goodput of a flow [Mbit/s]")
    return figure


@styled
def appendix(data: Data, experiment: Experiment) -> Figure:
    """Rank correlations by setting and family above, ours against the published scores below."""
    table = tables.appendix_table(data, experiment)
    settings = table["setting"].unique(maintain_order=True).to_list()
    figure, axes = panels(2, 4, width=11, height=3.4)
    grid = axes[0].get_gridspec()
    assert grid is not None, "panels are in a grid"
    for panel in axes:
        panel.remove()
    medians: list[str] = []
    for half, key in ((slice(0, 2), "spearman_D_a"), (slice(2, 4), "spearman_C_a")):
        panel = figure.add_subplot(grid[0, half])
        values = np.array(
            [
                [table.filter(setting=place, family=family)[key][0] for place in settings]
                for family in quantities.FAMILIES
            ]
        )
        medians.append(f"{np.median(values):.2f} by {key[-3:]}")
        panel.imshow(values, vmin=-1, vmax=1, cmap="RdBu", aspect="auto")
        for (row, column), value in np.ndenumerate(values):
            panel.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=8.5,
                       color="white" if abs(value) > 0.7 else "black")  # fmt: skip
        panel.set_xticks(
            range(len(settings)), [place.replace("/", "\n") for place in settings], fontsize=8
        )
        panel.set_yticks(range(4), quantities.FAMILIES)
        panel.set_title(f"{key[-3:]}: rank correlation with the published, 1 where orders agree")
        panel.grid(visible=False)
    for half, score, scale in ((slice(0, 2), "D_a", 13), (slice(2, 4), "C_a", 1)):
        _published_pairs(figure.add_subplot(grid[1, half]), table, score, scale)
    figure.suptitle(
        f"Our order of the rules of a family and the published: rank correlation "
        f"{' and '.join(medians)} (medians)",
        x=0.01, ha="left", fontsize=10.5, fontweight="bold",
    )  # fmt: skip
    return figure


def _published_pairs(panel: Axes, table: pl.DataFrame, score: str, scale: float) -> None:
    """Draw our scores per `scale` environments over the published ones, with the RMS difference."""
    key = f"published_{score}"
    known = table.drop_nulls(key)
    theirs, ours = (known[name].to_numpy() / scale for name in (key, score))
    panel.plot(theirs, ours, "o", color=look(0).color, markersize=4, alpha=0.5, markeredgewidth=0)
    most = 1.05 * float(np.nanmax([theirs, ours]))
    panel.plot([0, most], [0, most], color="#222222", linewidth=0.8, linestyle=":")
    panel.text(0.98 * most, 0.98 * most, "equal ", ha="right", va="bottom", fontsize=8.5)
    panel.set_aspect("equal", adjustable="box")
    panel.set(xlim=(0, most), ylim=(0, most))
    rms = float(np.sqrt(np.mean((ours - theirs) ** 2)))
    unit = " per environment" if scale != 1 else ""
    panel.set_title(f"{score}{unit}: RMS difference {rms:.3f} over {known.height} pairs")
    panel.set_xlabel("published")
    panel.set_ylabel("ours")


@styled
def sync(_data: Data, _experiment: Experiment) -> Figure:
    """Windows of two flows over time, one panel per rule."""
    texts = ("AIMD(1, 0.8)", "AIAD(1, 3)", "MIMD(1.125, 0.8)", "MIAD(1.125, 3)", "AIMAD", "MAIMD")
    figure, axes = panels(2, 3, width=10, height=2.4, sharex=True, sharey=True)
    for panel, text in zip(axes, texts, strict=True):
        rule = theory.parse_linear(text)
        course = theory.simulate(rule, quantities.STARTS, capacity=100, steps=200)
        for index in (0, 1):
            style = look(index)
            panel.plot(
                course.times, course.loads[:, index], color=style.color, linestyle=style.linestyle
            )
        panel.set_title(f"{text}: {theory.condition(rule).verdict}")
    for panel in axes[3:]:
        panel.set_xlabel("RTTs")
    for panel in (axes[0], axes[3]):
        panel.set_ylabel("window [packets]")
    return figure


@styled
def ordering(data: Data, experiment: Experiment) -> Figure:
    """Correlation of both orders in each setting, one row per change."""
    found = tables.orders(data, experiment)
    titles = {
        "ratio": "best / own\ninstead of differences",
        "flows": "20 flows\ninstead of 10",
        "jain": "Jain's index\ninstead of spread",
    }
    settings = list(next(iter(found.values())))
    figure, (panel,) = panels(1, width=9.5, height=3)
    values = np.array([[found[name][place] for place in settings] for name in titles])
    panel.imshow(values, vmin=-1, vmax=1, cmap="RdBu", aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        panel.text(
            column,
            row,
            f"{value:.2f}",
            ha="center",
            va="center",
            color="white" if abs(value) > 0.7 else "black",
        )
    panel.set_xticks(range(len(settings)), [place.replace("/", "\n") for place in settings])
    panel.set_yticks(range(3), list(titles.values()))
    panel.set_title("Spearman correlation of the four rules' orders by D_a (1: the same order)")
    panel.grid(visible=False)
    return figure


@styled
def bounds(_data: Data, _experiment: Experiment) -> Figure:
    """Additive steps as a share of the window, and the tenth that they should stay below."""
    figure, (panel,) = panels(1, width=8, height=3)
    windows = np.linspace(8, 60, 200)
    for index, step in enumerate((1, 2, 3)):
        style = look(index)
        panel.plot(
            windows,
            100 * step / windows,
            color=style.color,
            linestyle=style.linestyle,
            label=f"step of {step}",
        )
    panel.axhline(10, color="#222222", linewidth=0.9)
    for window, text in ((15, "smallest window\nthat grows"), (30, "smallest window\nthat is cut")):
        panel.axvline(window, color="#222222", linewidth=0.9, linestyle=":")
        panel.annotate(
            text, (window, 33), xytext=(4, 0), textcoords="offset points", fontsize=9, va="top"
        )
    panel.set_ylim(0, 34)
    panel.set_xlabel("window [packets]")
    panel.set_ylabel("step [% of the window]")
    panel.set_title("Up to which step is a change additive, below 10 % of the window?")
    panel.legend(loc="upper right")
    return figure


def _legend(figure: Figure, labels: list[str]) -> None:
    samples = [
        Line2D([], [], color=look(index).color, marker=look(index).marker, linestyle="")
        for index in range(len(labels))
    ]
    figure.legend(samples, labels, loc="outside lower center", ncols=min(8, len(labels)))
