"""Plots a waveform of residual bandwidth, and the metric of rules on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cwndlab.metrics import BY_KEY
from cwndlab.plots.drawing import name, ordered, points, whiskers
from cwndlab.plots.style import look, panels, styled
from cwndlab.statistics import Estimate

PERIODS = 3
SPAN_S = 60.0
STEPS = 400


@styled
def waveform(
    shape: Mapping[str, Any],
    values: Mapping[str, Estimate],
    *,
    title: str = "",
    metric: str = "goodput",
) -> Figure:
    """Draw a waveform, and under it the metric of each rule with its interval.

    Parameters
    ----------
    shape : mapping
        A scenario's waveform, with rates in bit/s per test flow.
    values : mapping of str to Estimate
        Rule to value and interval.
    title : str
        Above.
    metric : str
        Which one the values are of.

    Examples
    --------
    >>> wave = {"kind": "saw-tooth", "low": 1e6, "high": 2e6, "period": 5.0}
    >>> values = {"AIMD(1, 0.8)": Estimate(0.9, 0.88, 0.91, 3),
    ...           "AIAD(1, 3)": Estimate(0.8, None, None, 1)}
    >>> figure = waveform(wave, values)
    >>> [axes.get_xlabel() for axes in figure.axes]
    ['time [s]', 'goodput / available']
    """
    figure, (above, below) = panels(2, 1, width=7.5, height=2.3)
    course(above, shape)
    above.set_title(title)
    rates(below, values, metric)
    return figure


def course(panel: Axes, shape: Mapping[str, Any]) -> None:
    """Draw a waveform per test flow over a few periods."""
    times, levels, span = _points(shape)
    panel.step(times, np.array(levels) / 1e6, where="post", color=look(0).color, linewidth=1.4)
    panel.set_xlim(0, span)
    panel.set_ylim(0, 1.1 * max(levels) / 1e6)
    panel.set_xlabel("time [s]")
    panel.set_ylabel("residual bandwidth\nper flow [Mbit/s]")


def rates(panel: Axes, values: Mapping[str, Estimate], metric: str) -> None:
    """Draw one row per rule, with its value next to the marker."""
    names, scale = ordered(values), BY_KEY[metric].scale
    for index, rule in enumerate(names):
        found = values[rule]
        if found.mean is None:
            continue
        style, mean = look(index), scale * found.mean
        ends = {"mean": found.mean, "ci95_low": found.low, "ci95_high": found.high}
        panel.errorbar(
            [mean],
            [index],
            xerr=whiskers([ends], scale),
            fmt=style.marker,
            color=style.color,
            capsize=3,
        )
        panel.annotate(
            f"{mean:.{BY_KEY[metric].digits}f}",
            (mean, index),
            xytext=(0, 6),
            textcoords="offset points",
            ha="center",
            fontsize=points(8),
        )
    panel.set_yticks(range(len(names)), [name(rule) for rule in names])
    panel.set_ylim(len(names) - 0.4, -0.7)
    panel.set_xlabel(BY_KEY[metric].title)
    panel.margins(x=0.12)


def _points(shape: Mapping[str, Any]) -> tuple[Sequence[float], Sequence[float], float]:
    """Return times, the rates from then on, and the length drawn."""
    kind = shape["kind"]
    if kind == "points":
        repeat = float(shape["repeat"])
        span = PERIODS * repeat
        pairs = [
            (turn * repeat + at, rate) for turn in range(PERIODS) for at, rate in shape["points"]
        ]
        times, levels = zip(*pairs, (span, pairs[-1][1]), strict=True)
        return times, levels, span
    if kind == "saw-tooth":
        span = PERIODS * float(shape["period"])
        times = np.linspace(0, span, STEPS)
        along = times / float(shape["period"]) % 1.0
        return list(times), list(shape["low"] + along * (shape["high"] - shape["low"])), span
    # Random waveforms differ by seed: draw their bounds.
    low, high = (shape["min"], shape["max"]) if kind == "walk" else (shape["low"], shape["high"])
    every = float(shape["every"])
    span = min(SPAN_S, 30 * every)
    stream = np.random.default_rng(1)
    times = np.arange(0, span, every)
    if kind == "uniform":
        return list(times), list(stream.uniform(low, high, len(times))), span
    levels = [shape["start"]]
    for _ in times[1:]:
        levels.append(
            float(np.clip(levels[-1] + stream.uniform(-1, 1) * shape["spread"], low, high))
        )
    return list(times), levels, span
