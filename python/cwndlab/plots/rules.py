"""Plots of rules on a shared scale: one panel per rule, otherwise the same run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cwndlab.plots import timelines
from cwndlab.plots.drawing import name, ordered, points
from cwndlab.plots.style import Look, look, panels, styled

if TYPE_CHECKING:
    from cwndlab.plots.subjects import Run

Draw = Callable[[Axes, "Run", Look], None]


@styled
def windows_by_rule(results: Mapping[str, Run]) -> Figure:
    """Draw every flow's window (thin) and their mean (bold), one panel per rule."""
    return _stack(results, _windows, "window [packets]", "Windows; bold: mean of all flows")


@styled
def goodput_by_rule(results: Mapping[str, Run]) -> Figure:
    """Draw the flows' total goodput against the available bandwidth, one panel per rule."""
    return _stack(
        results, _goodput, "goodput [Mbit/s]", "Goodput of all flows; dashed: available bandwidth"
    )


@styled
def queue_by_rule(results: Mapping[str, Run]) -> Figure:
    """Draw the bottleneck's queue against its limit, one panel per rule."""
    return _stack(results, _queue, "queue [packets]", "Queue at the bottleneck; dashed: its limit")


def _stack(results: Mapping[str, Run], draw: Draw, quantity: str, title: str) -> Figure:
    figure, axes = panels(len(results), sharex=True, sharey=True, width=6.4, height=1.5)
    is_shaded = False
    for index, (rule, panel) in enumerate(zip(ordered(results), axes, strict=True)):
        result = results[rule]
        draw(panel, result, look(index))
        panel.set_ylabel("")
        panel.set_title(name(rule))
        panel.set_xlim(0, result.simulated_s)
        is_shaded |= timelines.shade_unmeasured(panel, result)
    # Last: a limit set before all panels are drawn would freeze the shared scale.
    if draw is _windows:
        title += timelines.clip_start_up(axes[0], list(results.values()))
    if is_shaded:
        title += "; grey: not measured"
    axes[0].set_ylim(bottom=0)
    axes[-1].set_xlabel("time [s]")
    figure.supylabel(quantity, fontsize=points(10))
    figure.suptitle(title, x=0.01, ha="left", fontsize=points(10.5))
    return figure


def _windows(axes: Axes, result: Run, style: Look) -> None:
    mean = timelines.faint_windows(
        axes, result.traces["cwnd"], result.flows["flow"].to_list(), style
    )
    axes.plot(mean["time_s"], mean["cwnd_packets"], color=style.color, linewidth=1.6)


def _goodput(axes: Axes, result: Run, style: Look) -> None:
    timelines.goodput(axes, result, style=style)


def _queue(axes: Axes, result: Run, style: Look) -> None:
    timelines.queue(axes, result, style=style)
