"""Plots of yang2000's experiments that need no simulation."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from cwndlab import theory
from cwndlab.plots import look, panels, styled
from cwndlab_papers import Data, Experiment
from cwndlab_papers.papers.yang2000 import formulas, tables, windows
from cwndlab_papers.papers.yang2000.published import printed

REFERENCE = "#222222"
FIRST_ROUNDS = 300
"""Rounds that a window's course is drawn as a line."""


@styled
def formula(data: Data, experiment: Experiment) -> Figure:
    """Draw the rate by both equations over the loss rate, and the share of the timeouts' term."""
    found = tables.formula_table(data, experiment)
    figure, axes = panels(1, 2, width=10, height=3.6)
    for index, (alpha, beta) in enumerate(((1.0, 0.5), (0.31, 0.875))):
        rows, style = found.filter(alpha=alpha, beta=beta), look(index)
        label = f"({alpha:g}, {beta:g})"
        axes[0].plot(
            rows["p"],
            rows["equation_55"],
            color=style.color,
            linewidth=1.6,
            label=f"{label}, equation 55",
        )
        axes[0].plot(
            rows["p"],
            rows["equation_2"],
            color=style.color,
            linestyle="--",
            label=f"{label}, equation 2",
        )
        axes[0].plot(rows["p"], rows["without_timeouts"], color=style.color, linestyle=":",
                     label=f"{label}, first term alone")  # fmt: skip
        axes[1].plot(
            rows["p"],
            rows["share_of_timeouts"],
            color=style.color,
            linestyle=style.linestyle,
            label=label,
        )
    for panel in axes:
        panel.set_xscale("log")
        panel.set_xlabel("loss rate p")
        panel.xaxis.set_major_formatter(PercentFormatter(1, decimals=1))
        panel.legend(fontsize=8)
    axes[0].set_yscale("log")
    axes[0].set_ylabel("packets per second")
    axes[0].set_title("Rate, RTT 0.1 s, T0 0.4 s")
    axes[1].axhline(0.5, color=REFERENCE, linewidth=0.8, linestyle=":")
    axes[1].set_ylim(0, 1)
    axes[1].set_title("Share of timeouts in a packet's time, equation 2")
    return figure


@styled
def error_integral(_data: Data, _experiment: Experiment) -> Figure:
    """Draw the error integral over alpha, a line and its minimum for each threshold."""
    figure, (panel,) = panels(1, width=8.5, height=4)
    for index, edge in enumerate(formulas.THRESHOLDS):
        style, values = look(index), formulas.errors(edge)
        panel.plot(
            formulas.ALPHAS,
            values,
            color=style.color,
            linestyle=style.linestyle,
            label=f"up to {edge:g}",
        )
        best = formulas.minimiser(formulas.BETA, edge)
        panel.plot(
            best, theory.friendly.error(best, formulas.BETA, edge), style.marker, color=style.color
        )
    for edge in (0.1, 0.3):
        place = printed(f"minimiser-{edge:g}")
        panel.axvline(place, color=REFERENCE, linewidth=0.9, linestyle=":")
        panel.annotate(f"paper, up to {edge:g}", (place, panel.get_ylim()[1]), rotation=90,
                       fontsize=8.5, va="top",
                       xytext=(2, 0), textcoords="offset points")  # fmt: skip
    panel.set_ylim(bottom=0)
    panel.set_xlabel("alpha")
    panel.set_ylabel("error integral, equation 8")
    panel.set_title("beta = 0.875, equation 2, T0 = 4 RTT; a mark at each minimum")
    panel.legend(title="loss rates", fontsize=8.5, loc="upper left")
    return figure


@styled
def friendly_curves(data: Data, experiment: Experiment) -> Figure:
    """Draw TCP-friendly alpha over beta by three methods."""
    found = tables.curves_table(data, experiment)
    figure, (panel,) = panels(1, width=8, height=4)
    for index, name in enumerate(column for column in found.columns if column != "beta"):
        style = look(index)
        label = (
            f"least error up to {name.removeprefix('to ')}"
            if name.startswith("to ")
            else f"{name} curve"
        )
        panel.plot(
            found["beta"], found[name], color=style.color, linestyle=style.linestyle, label=label
        )
    panel.plot(0.5, 1, "o", color=REFERENCE)
    panel.annotate("TCP", (0.5, 1), xytext=(6, 4), textcoords="offset points")
    panel.set_ylim(bottom=0)
    panel.set_xlabel("beta")
    panel.set_ylabel("TCP-friendly alpha")
    panel.legend()
    return figure


@styled
def ratios(_data: Data, _experiment: Experiment) -> Figure:
    """Draw the formula's rate over Reno's, a line for each alpha."""
    figure, (panel,) = panels(1, width=8, height=3.8)
    losses = np.linspace(0.0005, 0.9, 400)
    for index, (name, alpha) in enumerate(formulas.three_alphas().items()):
        style = look(index)
        values = theory.friendly.rate_ratio(alpha, formulas.BETA, losses)
        label = f"{name if name == 'minimiser' else f'{name} curve'}: alpha = {alpha:.3f}"
        panel.plot(losses, values, color=style.color, linestyle=style.linestyle, label=label)
    panel.axhline(1, color=REFERENCE, linewidth=0.9)
    panel.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    panel.set_xlabel("loss rate p")
    panel.set_ylabel("GAIMD's rate / Reno's")
    panel.set_title("beta = 0.875, equation 2, T0 = 4 RTT")
    panel.legend()
    return figure


@styled
def window_trace(_data: Data, _experiment: Experiment) -> Figure:
    """Draw GAIMD's window against TCP's in both models, and the line of equal windows.

    A line shows the first rounds; colours, how often a pair of windows occurs in the end.
    """
    figure, axes = panels(1, 2, width=9.5, height=5.4, sharex=True, sharey=True)
    means: list[str] = []
    titles = {
        windows.SYNCHRONOUS: "Both lose at once (Chiu and Jain)",
        windows.ALONE: "One loses at a time",
    }
    for panel, (model, title) in zip(axes, titles.items(), strict=True):
        own, other = windows.course(model).T
        first, last = slice(0, FIRST_ROUNDS), slice(len(own) // 2, None)
        panel.hexbin(
            other[last], own[last], gridsize=50, extent=(0, 100, 0, 100), mincnt=1, cmap="Oranges",
            bins="log", linewidths=0,
        )  # fmt: skip
        panel.plot(
            other[first], own[first], color=look(0).color, linewidth=0.7, label="the first rounds"
        )
        panel.plot([], [], "h", color="#fd8d3c", markersize=8, label="in the end: how often")
        panel.plot(other[0], own[0], look(0).marker, color=look(0).color)
        mean = float(other[last].mean()), float(own[last].mean())
        panel.plot(*mean, "P", color="black", markersize=8, label="mean in the end")
        means.append(f"{mean[1]:.0f} beside {mean[0]:.0f}")
        panel.plot([0, 100], [0, 100], color=REFERENCE, linewidth=0.9, linestyle=":")
        panel.annotate("equal windows", (84, 84), rotation=45, ha="center", va="bottom", fontsize=9)
        panel.set_title(title)
        panel.set_aspect("equal")
        panel.set_xlabel("TCP's window [packets]")
    axes[0].set_xlim(0, 100)
    axes[0].set_ylim(0, 100)
    axes[0].set_ylabel("window of (0.31, 0.875) [packets]")
    axes[0].legend(loc="upper left", fontsize=8.5)
    figure.suptitle(
        f"Either way (0.31, 0.875) has the larger mean window: {means[0]} and {means[1]} packets",
        x=0.01, ha="left", fontsize=10.5, fontweight="bold",
    )  # fmt: skip
    return figure
