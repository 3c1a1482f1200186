"""Plots of theory: phase plots, steady states, rates over loss, TCP-friendly curves, growth.

The caller computes the data with `cwndlab.theory`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from cwndlab.plots.drawing import (
    RISING,
    figure_legend,
    label_line,
    name,
    ordered,
    part_labels,
    points,
)
from cwndlab.plots.style import REFERENCE, FloatArray, look, panels, styled

if TYPE_CHECKING:
    from cwndlab.theory import Phase, Settled, Trajectory

Curve = tuple[FloatArray, FloatArray]
"""Values along x, values along y."""


MOST_ARROWS = 3
"""Arrows on the increases and on the decreases of a trajectory; later ones would overlap."""


@styled
def phase(found: Phase, title: str = "") -> Figure:
    """Draw the loads of two flows against each other, with the lines of efficiency and fairness.

    Arrows give the direction of the first increases and decreases.

    Parameters
    ----------
    found : Phase
        From `cwndlab.theory.phase`. The last two cycles of each trajectory are bold.
    title : str
        By default the rules.
    """
    figure, (axes,) = panels(1, width=5.6, height=5.4)
    first = found.trajectories[0]
    top = max(first.capacity, *(float(np.nanmax(course.loads)) for course in found.trajectories))
    # A load far above the others would shrink the lines to a dot.
    limit = min(1.08 * top, 1.6 * first.capacity)
    for line, style, label, slope in (
        (found.efficiency_line, "--", "efficiency line: x1 + x2 = B", -1),
        (found.fairness_line, ":", "fairness line: x1 = x2", 1),
    ):
        axes.plot(line[:, 0], line[:, 1], color=REFERENCE, linestyle=style, linewidth=1.2)
        # Beyond the cycles, which lie about the middle of both lines.
        at = line[0] + 0.78 * (line[1] - line[0])
        _along(axes, at, slope, label)
    for index, course in enumerate(found.trajectories):
        style, loads = look(index), course.loads
        signals = course.signals
        tail = signals[-3] if len(signals) >= 3 else len(loads) - 1
        axes.plot(loads[:, 0], loads[:, 1], color=style.color, linewidth=0.7, alpha=0.7)
        axes.plot(
            loads[tail:, 0],
            loads[tail:, 1],
            color=style.color,
            linewidth=3.2,
            solid_capstyle="round",
        )
        start = ", ".join(f"{load:g}" for load in loads[0])
        axes.plot(
            *loads[0],
            style.marker,
            color=style.color,
            markersize=7,
            label=f"from {start}; bold: at the end",
        )
        _arrows(axes, course, style.color, 0.035 * limit, is_named=index == 0)
    names = [name(rule) for rule in dict.fromkeys(first.rules)]
    axes.set_title(title or " against ".join(names))
    axes.set_xlim(0, limit)
    axes.set_ylim(0, limit)
    axes.set_aspect("equal")
    rules = [f", {name(rule)}" if len(names) > 1 else "" for rule in first.rules]
    axes.set_xlabel(f"load of flow 1{rules[0]} [packets]")
    axes.set_ylabel(f"load of flow 2{rules[1]} [packets]")
    figure_legend(
        figure,
        *axes.get_legend_handles_labels(),
        loc="outside lower left",
        fontsize=points(8.5),
        ncols=2,
    )
    return figure


def _arrows(axes: Axes, course: Trajectory, color: str, shortest: float, *, is_named: bool) -> None:
    """Draw arrows at the middle of the first moves between signals, and name the first of each."""
    begins = [0, *(signal + 1 for signal in course.signals)]
    ups = list(zip(begins, course.signals, strict=False))
    downs = [(signal, signal + 1) for signal in course.signals if signal + 1 < len(course.loads)]
    for moves, word in ((ups, "increase"), (downs, "decrease")):
        ends = [(course.loads[begin], course.loads[end]) for begin, end in moves]
        long = [(tail, head) for tail, head in ends if np.hypot(*(head - tail)) > shortest]
        for number, (tail, head) in enumerate(long[:MOST_ARROWS]):
            middle = (tail + head) / 2
            axes.annotate(
                "",
                middle + 0.02 * (head - tail),
                middle - 0.02 * (head - tail),
                arrowprops={"arrowstyle": "-|>", "color": color, "mutation_scale": 13},
            )
            if is_named and number == 0:
                slope = float(np.divide(*(head - tail)[::-1]))
                # A decrease may go back along its increase: one word on each side of the line.
                _along(axes, middle, slope, word, color, is_above=word == "increase")


def _along(
    axes: Axes,
    at: FloatArray,
    slope: float,
    text: str,
    color: str = REFERENCE,
    *,
    is_above: bool = True,
) -> None:
    """Write along a line, on one side of it: both axes have the same scale."""
    angle, distance = math.atan(slope), 4 if is_above else -4
    axes.annotate(
        text,
        (float(at[0]), float(at[1])),
        xytext=(-distance * math.sin(angle), distance * math.cos(angle)),
        textcoords="offset points",
        rotation=math.degrees(angle),
        rotation_mode="anchor",
        ha="center",
        va="bottom" if is_above else "top",
        color=color,
        fontsize=points(8.5),
    )


@styled
def settled(found: Settled, title: str = "", shown: int = 300) -> Figure:
    """Draw the windows of all flows of a linear rule, and the steady window of the closed form.

    Parameters
    ----------
    found : Settled
        From `cwndlab.theory.settle`.
    title : str
        By default the rule.
    shown : int
        Steps drawn.
    """
    figure, (axes,) = panels(1, width=7.2, height=3.4)
    loads = found.trajectory.loads[: shown + 1]
    for flow in range(loads.shape[1]):
        style = look(flow)
        axes.plot(loads[:, flow], color=style.color, linewidth=0.9, alpha=0.85)
    if found.cycle is not None and found.cycle.beta < 1:
        label = f"steady window after a decrease: {found.cycle.window:.4g}"
        axes.axhline(
            found.cycle.window, color=REFERENCE, linestyle="--", linewidth=1.3, label=label
        )
        legend = axes.legend(loc="upper right", fontsize=points(8.5))
        legend.set_label(RISING)
    axes.set_xlim(0, len(loads) - 1)
    axes.set_ylim(bottom=0)
    rule = found.trajectory.rules[0]
    axes.set_title((title or rule).replace(rule, name(rule)))
    axes.set_xlabel("time [RTTs]")
    axes.set_ylabel("window [packets]")
    return figure


@styled
def rates(curves: Mapping[str, Curve], loss: float, title: str = "") -> Figure:
    """Draw sending rates over the loss rate, both logarithmic, with one loss rate marked.

    Parameters
    ----------
    curves : mapping
        Label to (loss rates, packets per second).
    loss : float
        The loss rate marked.
    title : str
        What is compared.
    """
    figure, (axes,) = panels(1, width=6.4, height=4.0)
    for index, label in enumerate(ordered(curves)):
        style, (losses, values) = look(index), curves[label]
        axes.loglog(
            losses,
            values,
            color=style.color,
            linestyle=style.linestyle,
            linewidth=1.6,
            label=name(label),
        )
        at = math.exp(float(np.interp(math.log(loss), np.log(losses), np.log(values))))
        axes.plot([loss], [at], style.marker, color=style.color, markersize=6)
    axes.axvline(loss, color=REFERENCE, linestyle=":", linewidth=1.0)
    axes.set_xlabel("loss rate")
    axes.set_ylabel("sending rate [packets/s]")
    rule = next(iter(curves))
    axes.set_title(title.replace(rule, name(rule)))
    axes.legend(loc="lower left", fontsize=points(8.5), handlelength=3)
    return figure


@styled
def friendly(
    beta: float,
    curves: Mapping[str, Curve],
    ratios: Mapping[str, Curve],
    errors: Mapping[str, Curve],
) -> Figure:
    """Draw TCP-friendly parameters.

    Panels: alpha over beta, the rate of each choice over loss, and the error over alpha.

    Parameters
    ----------
    beta : float
        The beta of the two lower panels, marked in the first.
    curves : mapping
        Choice to (beta, alpha).
    ratios : mapping
        Choice to (loss rate, rate over TCP's).
    errors : mapping
        Threshold to (alpha, mean relative error).
    """
    figure, (first, second, third) = panels(1, 3, width=11.0, height=3.3)
    _curves(first, curves)
    for index, choice in enumerate(ordered(curves)):
        betas, alphas = curves[choice]
        at = float(np.interp(beta, betas, alphas))
        first.plot([beta], [at], look(index).marker, color=look(index).color, markersize=6)
    legend = first.legend(loc="upper right", fontsize=points(9), handlelength=2.6)
    legend.set_label(RISING)
    first.set_title("Which alpha gets TCP's rate?")
    first.set_xlabel(f"beta; marks: {beta:g}")
    first.set_ylabel("alpha [packets per RTT]")
    _curves(second, ratios)
    second.set_xscale("log")
    second.axhline(1.0, color=REFERENCE, linewidth=1.0)
    for index, choice in enumerate(ordered(ratios)):
        losses, values = ratios[choice]
        label_line(second, float(losses[0]), float(values[0]), name(choice), look(index).color)
    second.set_title(f"What each gets at beta {beta:g}")
    second.set_xlabel("loss rate")
    second.set_ylabel("rate / TCP's rate")
    second.margins(y=0.1)
    _curves(third, errors)
    for index, threshold in enumerate(ordered(errors)):
        alphas, values = errors[threshold]
        style, least = look(index), int(np.argmin(values))
        third.plot(alphas[least], values[least], style.marker, color=style.color, markersize=7)
        label_line(third, float(alphas[-1]), float(values[-1]), name(threshold), style.color)
    third.set_title(f"Error of an alpha at beta {beta:g}")
    third.set_xlabel("alpha [packets per RTT]; marks: least error")
    third.set_ylabel("mean |rate / TCP's rate - 1|")
    part_labels(figure)
    return figure


@styled
def growth(courses: Mapping[str, Sequence[float]], target: float) -> Figure:
    """Draw windows without congestion over round trips, and where each reaches a target.

    Parameters
    ----------
    courses : mapping
        Label to the window after 0, 1, 2, ... round trips, packets.
    target : float
        Packets.
    """
    figure, (axes,) = panels(1, width=6.4, height=3.8)
    for index, label in enumerate(ordered(courses)):
        style, values = look(index), np.asarray(courses[label])
        reached = int(np.argmax(values >= target))
        axes.plot(
            values,
            color=style.color,
            linestyle=style.linestyle,
            linewidth=1.6,
            label=f"{name(label)}: {reached}",
        )
        axes.plot(reached, values[reached], style.marker, color=style.color, markersize=7)
    axes.axhline(target, color=REFERENCE, linestyle=":", linewidth=1.0)
    axes.set_ylim(0, 1.6 * target)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("time [RTTs]")
    axes.set_ylabel("window [packets]")
    axes.set_title(f"Round trips until the window is {target:g}")
    axes.legend(loc="lower right", fontsize=points(8.5), handlelength=3)
    return figure


@styled
def shares(courses: Mapping[str, Trajectory], change: float | None = None) -> Figure:
    """Draw the fair share as Bimodal flows estimate it over time, next to the actual one.

    Parameters
    ----------
    courses : mapping
        Title to a trajectory of flows with equal increments.
    change : float, optional
        The time at which flows join or leave, marked.
    """
    figure, axes = panels(len(courses), sharex=True, sharey=True, width=7.6, height=2.2)
    for panel, title in zip(axes, ordered(courses), strict=True):
        course = courses[title]
        actual = course.capacity / (~np.isnan(course.loads)).sum(axis=1)
        for flow in range(course.loads.shape[1]):
            late = np.isnan(course.loads[0, flow])
            style = look(1 if late else 0)
            panel.plot(
                course.times,
                course.calculated[:, flow],
                color=style.color,
                linewidth=0.9 if late else 2.0,
                alpha=0.8,
            )
        panel.plot(course.times, actual, color=REFERENCE, linestyle="--", linewidth=1.3)
        if change is not None:
            panel.axvline(change, color=REFERENCE, linestyle=":", linewidth=1.0)
        panel.set_title(name(title))
        panel.set_ylim(0, 1.6 * float(actual.max()))
    axes[-1].set_xlabel("time [RTTs]")
    figure.supylabel("fair share [packets]", fontsize=points(10))
    title = (
        "Fair shares as flows calculate them (gaps: not known); thin: flows that join; "
        "dashed: the actual share"
    )
    figure.suptitle(title, x=0.01, ha="left", fontsize=points(10))
    return figure


def _curves(axes: Axes, curves: Mapping[str, Curve]) -> None:
    for index, label in enumerate(ordered(curves)):
        style, (xs, ys) = look(index), curves[label]
        axes.plot(
            xs, ys, color=style.color, linestyle=style.linestyle, linewidth=1.8, label=name(label)
        )
