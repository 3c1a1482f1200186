"""Plots of psaras2009's experiments, one function each, from what was measured."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from cwndlab.plots import look, panels, styled
from cwndlab.statistics import estimate
from cwndlab.theory import growth as windows
from cwndlab_papers import Data, Experiment
from cwndlab_papers.curves import curve, error_bars
from cwndlab_papers.papers.psaras2009 import model, quantities, tables
from cwndlab_papers.quantities import value

DARK = "#222222"
RULES = ("AIMD", "MR-AIMD")


def _style(index: int) -> dict[str, Any]:
    style = look(index)
    return {"color": style.color, "linestyle": style.linestyle, "marker": style.marker}


def _hollow(index: int) -> dict[str, Any]:
    style = look(index)
    return {
        "color": style.color,
        "marker": style.marker,
        "linestyle": "",
        "markerfacecolor": "white",
        "markersize": 8,
    }


@styled
def sawtooth(data: Data, _experiment: Experiment) -> Figure:
    """Windows with both increases in the synchronous model, and one simulated flow with each.

    The right panel shows ratios of a = 0.5 to a = 1.
    """
    figure, axes = panels(1, 2, width=9.5, height=3.2, width_ratios=[2, 1])
    for index, increase in enumerate((1.0, 0.5)):
        course = model.sawtooth(increase)
        axes[0].plot(course.times, course.loads[:, 0], color=look(index).color,
                     linestyle=look(index).linestyle,
                     label=f"a = {increase:g}")  # fmt: skip
    axes[0].axhline(0.75 * model.CAPACITY, color=DARK, linewidth=0.8)
    axes[0].annotate(
        "mean of both",
        (161, 0.75 * model.CAPACITY),
        xytext=(0, 4),
        textcoords="offset points",
        fontsize=8.5,
        ha="right",
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
    )
    axes[0].set_xlim(0, 162)
    axes[0].set_ylim(0, 1.3 * model.CAPACITY)
    axes[0].set_xlabel("RTTs")
    axes[0].set_ylabel("window [packets]")
    axes[0].legend(ncols=2, loc="upper left")
    axes[0].set_title("Equal areas, half the congestion events")
    names = {
        "goodput": "goodput",
        "flows.*.window_reductions": "cuts",
        tables.RETRANSMITTED: "retransmissions",
    }
    for at, metric in enumerate(names):
        found = data.estimate(lambda part, key=metric: _share(part, key), ["fig1"])
        means, widths = error_bars([found])
        axes[1].errorbar(at, means[0], yerr=widths[0], fmt="o", color=look(0).color, capsize=3)
        axes[1].plot([at - 0.3, at + 0.3], [1.0 if at == 0 else 0.5] * 2, color=DARK, linewidth=1,
                     label="the paper" if at == 0 else None)  # fmt: skip
    axes[1].set_xticks(range(3), list(names.values()))
    axes[1].set_ylim(0, 1.2)
    axes[1].legend(fontsize=8.5, loc="lower left")
    axes[1].grid(visible=False, axis="x")
    axes[1].set_title("a = 0.5 over a = 1")
    return figure


def _share(data: Data, metric: str) -> float:
    means = data.means("fig1")
    own, other = (
        means.value(metric, means.settings[0], data.rule(rule))[0] for rule in ("a = 0.5", "a = 1")
    )
    return float(own / other)


def _beside_printed(panel: Axes, data: Data, id: str, unit: str) -> None:
    """Ours filled, printed hollow, against the increase, for 2 and 4 flows."""
    numbers = quantities.printed(id, unit)
    for index, flows in enumerate(("2", "4")):
        chosen = [number for number in numbers if number.claim["cases"][0].split("; ")[-1] == flows]
        rates = [float(number.claim["of"][0].removeprefix("a = ")) for number in chosen]
        found = [
            data.estimate(
                lambda part, claim=number.claim: value(part, claim),
                [number.claim["plan"]],
            )
            for number in chosen
        ]
        means, widths = error_bars(found)
        panel.errorbar(
            rates, means, yerr=widths, capsize=2,
            label=f"{flows} flows", **_style(index),
        )  # fmt: skip
        panel.plot(rates, [number.value for number in chosen], **_hollow(index), label="printed")
    panel.set_xlabel("a [packets per RTT]")
    panel.set_ylim(bottom=0)
    panel.legend(ncols=2, fontsize=8.5)


@styled
def contention(data: Data, _experiment: Experiment) -> Figure:
    """Table 1: goodput and retransmissions against the increase, ours and the printed.

    Goodput with more flows.
    """
    figure, axes = panels(1, 3, width=11.5, height=3.3)
    _beside_printed(axes[0], data, "table1", "KB/s")
    axes[0].set_title("goodput [KB/s]")
    axes[0].set_ylim(0, 170)
    _beside_printed(axes[1], data, "table1", "packets")
    axes[1].set_title("retransmissions in 200 s")
    for index, rule in enumerate(tables.INCREASES):
        curve(
            axes[2],
            data,
            "table1",
            "sack/red",
            "aggregate_goodput_bps",
            rule,
            scale=1 / 8000,
            label=rule,
            **_style(index),
        )
    axes[2].set_xscale("log", base=2)
    axes[2].set_xticks([2, 4, 8, 16, 32], ["2", "4", "8", "16", "32"])
    axes[2].set_xlabel("flows")
    axes[2].set_title("goodput with more flows [KB/s]")
    axes[2].legend(fontsize=8.5)
    return figure


@styled
def errors(data: Data, _experiment: Experiment) -> Figure:
    """Table 2: goodput against the increase.

    The misfit of each reading of the error rate against the access delay.
    """
    figure, axes = panels(1, 2, width=11, height=3.9)
    _beside_printed(axes[0], data, "table2", "KB/s")
    axes[0].set_title("goodput [KB/s] by the reading that fits")
    for index, reading in enumerate(quantities.readings_of(data)):
        delays, misfits = quantities.misfits(data, reading)
        best = quantities.fitted(data, reading)
        axes[1].plot(
            delays, misfits, color=look(index).color, linestyle=look(index).linestyle, linewidth=1.3
        )
        axes[1].plot(
            *best,
            look(index).marker,
            color=look(index).color,
            label=f"{reading}: {best[1]:.2f} at {best[0]:.0f} ms",
        )
    axes[1].set_xscale("log")
    axes[1].set_yscale("log")
    axes[1].set_xticks([1, 3, 10, 30, 100, 300], ["1", "3", "10", "30", "100", "300"])
    axes[1].set_yticks([0.05, 0.1, 0.3, 1, 3], ["0.05", "0.1", "0.3", "1", "3"])
    axes[1].set_yticks([], minor=True)
    axes[1].set_xlabel("access delay [ms]")
    axes[1].set_title("Misfit of the ten printed goodputs")
    figure.legend(*axes[1].get_legend_handles_labels(), loc="outside right center", fontsize=8.5,
                  title="reading: misfit at its best delay")  # fmt: skip
    return figure


@styled
def multi_rate(data: Data, experiment: Experiment) -> Figure:
    """Goodput, retransmissions and mean increase against the number of flows."""
    plan, network = experiment.id, experiment.arguments["network"]
    figure, axes = panels(1, 3, width=11, height=3.1)
    for index, rule in enumerate(RULES):
        curve(axes[0], data, plan, "sack/red", "goodput", rule, **_style(index))
        curve(axes[1], data, plan, "sack/red", tables.RETRANSMITTED, rule, **_style(index))
    axes[0].set_title("goodput / link")
    axes[1].set_title("retransmissions of a flow")
    for panel in axes[:2]:
        panel.set_ylim(0, 1.08 * panel.get_ylim()[1])
        panel.set_xlabel("flows")
    board = data.boards["increase"]
    chosen = [case for case in board.cases if case.rpartition(", ")[0] == network]
    for at, case in enumerate(chosen):
        found = estimate(board.values["increase"][0, board.cases.index(case), 0])
        means, widths = error_bars([found])
        axes[2].errorbar(
            at,
            means[0],
            yerr=widths[0],
            fmt=look(1).marker,
            color=look(1).color,
            capsize=3,
        )
    axes[2].axhline(1, color=look(0).color, linewidth=1)
    axes[2].annotate(
        "AIMD",
        (-0.45, 1),
        xytext=(0, 3),
        textcoords="offset points",
        fontsize=8.5,
        color=look(0).color,
    )
    axes[2].set_xlim(-0.5, len(chosen) - 0.5)
    axes[2].set_ylim(0, 1.15 * max(2.0, float(np.nanmax(board.values["increase"]))))
    axes[2].set_xticks(range(len(chosen)), [f"{case.rpartition(', ')[2]} flows" for case in chosen])
    axes[2].grid(visible=False, axis="x")
    axes[2].set_title("mean increase a")
    samples = [Line2D([], [], **_style(index)) for index in range(2)]
    figure.legend(samples, RULES, loc="outside lower center", ncols=2)
    return figure


@styled
def growth(_data: Data, _experiment: Experiment) -> Figure:
    """Window after each round trip from 20 packets, for each reading of the equations and AIMD."""
    figure, (panel,) = panels(1, width=8, height=3.6)
    for index, law in enumerate(windows.LAWS):
        rounds = model.rounds_to_double(law, 0.5)
        course = windows.windows(model.FIRST_WINDOW, rounds, law=law)
        name = law if law.startswith("eq") else f"equation 1 {law}"
        panel.plot(
            range(len(course)),
            course,
            label=f"MR-AIMD, {name}: {rounds} round trips",
            markersize=4,
            **_style(index),
        )
    aimd = windows.windows(model.FIRST_WINDOW, 21, acceleration=0)
    panel.plot(range(len(aimd)), aimd,
               label=f"AIMD(1): {model.rounds_to_double('per round trip', 0.0)} round trips",
               markersize=4, **_style(3))  # fmt: skip
    panel.axhline(2 * model.FIRST_WINDOW, color=DARK, linewidth=0.8)
    panel.axvline(6, color=DARK, linewidth=0.8, linestyle=":")
    panel.annotate(
        "the paper: within 6", (6, 20.5), xytext=(4, 0), textcoords="offset points", fontsize=9
    )
    panel.set_xlabel("RTTs")
    panel.set_ylabel("window [packets]")
    panel.set_title("From 20 packets to 40")
    panel.legend(loc="lower right", fontsize=8.5)
    return figure


@styled
def assumed(data: Data, experiment: Experiment) -> Figure:
    """MR-AIMD over AIMD for each thing that was changed.

    Table 1's misfit by queue and delay on the right.
    """
    table = tables.assumed_table(data, experiment)
    rows = sorted(
        dict.fromkeys(zip(table["id"], table["changed"], strict=True)), key=lambda row: row[0]
    )
    figure, axes = panels(1, 3, width=12, height=0.9 + 0.27 * len(rows), width_ratios=[1, 1, 1])
    for panel, what in zip(axes[:2], ("goodput", "retransmissions"), strict=True):
        for index, flows in enumerate((10, 100)):
            chosen = {
                (row["id"], row["changed"]): row
                for row in table.filter(what=what, flows=flows).to_dicts()
            }
            panel.errorbar(
                [chosen[row]["value"] for row in rows], np.arange(len(rows)) + 0.2 * (index - 0.5),
                xerr=[chosen[row]["ci95"] or 0.0 for row in rows], fmt=look(index).marker,
                color=look(index).color,
                markersize=4, elinewidth=0.8, capsize=2, label=f"{flows} flows",
            )  # fmt: skip
        panel.axvline(1, color=DARK, linewidth=0.8)
        panel.set_ylim(len(rows) - 0.5, -0.5)
        panel.set_title(f"{what}, MR-AIMD over AIMD")
        if what == "retransmissions":
            panel.set_xscale("log")
    axes[0].set_yticks(range(len(rows)), [": ".join(row) for row in rows], fontsize=8.5)
    axes[1].set_yticks(range(len(rows)), [])
    axes[0].legend(fontsize=8.5)
    _queues(axes[2], data)
    return figure


def _queues(panel: Axes, data: Data) -> None:
    table = tables.queues_table(data)
    for index, queue in enumerate(table["queue"].unique(maintain_order=True)):
        rows = table.filter(queue=queue)
        panel.plot(rows["access_delay_ms"], rows["misfit"], **_style(index), label=queue)
    panel.set_xlabel("access delay [ms]")
    panel.set_ylim(bottom=0)
    panel.set_title("table 1: misfit of retransmissions")
    panel.legend(fontsize=8.5, title="RED's thresholds [packets]", title_fontsize=8.5)
