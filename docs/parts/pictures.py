"""The pictures of docs/rules.md."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cwndlab import Result
from cwndlab.metrics import BY_KEY
from cwndlab.plots.style import LOOKS, REFERENCE, panels, png_bytes, styled
from parts import four
from parts.families import families, picture, windows
from parts.text import ROOT

OVERVIEW = "docs/images/rules-four.png"
MOST_PACKETS = 340
BURST_S, DOWN_S = 20.0, (40.0, 41.0)
"""When the link of examples/rules-window.toml drops all arriving packets."""


def draw_all() -> Iterator[str]:
    """Draw every picture of docs/rules.md, and say which."""
    for family in families():
        yield _written(window_figure(dict(windows(family))), picture(family))
    yield _written(four_figure(), OVERVIEW)


def _written(figure: Figure, name: str) -> str:
    (ROOT / name).write_bytes(png_bytes(figure))
    return name


@styled
def window_figure(results: dict[str, Result]) -> Figure:
    """Draw a window over time, one panel for each run, with its losses, marks and timeouts."""
    figure, axes = panels(
        len(results), sharex=True, width=8.0, height=2.0 if len(results) == 1 else 1.75
    )
    for axis, (title, result) in zip(axes, results.items(), strict=True):
        _window(axis, title, result)
    axes[-1].set_xlabel("time [s]")
    return figure


def _window(axes: Axes, title: str, result: Result) -> None:
    axes.axvspan(*DOWN_S, color="#cccccc", linewidth=0)
    axes.axvline(BURST_S, color="#bbbbbb", linewidth=1.5)
    trace, packets = result.traces["cwnd"], result.traces["packets"]
    axes.plot(trace["time_s"], trace["cwnd_packets"], color=LOOKS[0].color, linewidth=1.3)
    events = {
        "marked": (
            packets.filter((pl.col("event") == "receive") & pl.col("marked")),
            LOOKS[2].color,
            "|",
            0.02,
        ),
        "lost": (packets.filter(pl.col("event") == "drop"), LOOKS[1].color, "|", 0.06),
        "timeout": (packets.filter(pl.col("event") == "timeout"), REFERENCE, "x", 0.83),
    }
    for label, (frame, color, marker, height) in events.items():
        if frame.height:
            # More than one symbol per tenth of a second would overlap.
            times = (10 * frame["time_s"]).round().unique() / 10
            line = {
                "color": color,
                "marker": marker,
                "linestyle": "",
                "markersize": 5,
                "markeredgewidth": 1.4,
            }
            axes.plot(times, [height * MOST_PACKETS] * len(times), label=label, **line)
    for text, time_s in {"some lost": BURST_S + 0.3, "link down": DOWN_S[1] + 0.7}.items():
        axes.text(time_s, 0.95 * MOST_PACKETS, text, va="center", fontsize=8, color="#444444")
    highest = trace["cwnd_packets"].max()
    axes.set_title(title + (f" (up to {highest:.0f})" if highest > MOST_PACKETS else ""))
    axes.set_ylabel("window [packets]", fontsize=9)
    axes.set_xlim(0, result.simulated_s)
    axes.set_ylim(0, MOST_PACKETS)
    axes.legend(
        loc="lower right", bbox_to_anchor=(1.0, 0.98), ncols=3, fontsize=8.5, handletextpad=0.1
    )


SHOWN = ("goodput", "mean_queueing_delay_s", "loss_rate", "jain_index")
LIMITS = {"goodput": (0, 1), "jain_index": (0, 1)}
LABELS = {
    "goodput": "goodput",
    "mean_queueing_delay_s": "delay, ms",
    "loss_rate": "loss, %",
    "jain_index": "Jain",
}


@styled
def four_figure() -> Figure:
    """Draw four metrics of every rule on the four scenarios: a row for each rule."""
    names = list(families())
    figure = Figure(figsize=(13, 7.6), layout="constrained")
    parts = figure.subfigures(1, len(four.SCENARIOS), wspace=0.02, width_ratios=[1.32, 1, 1, 1])
    for place, (part, (name, title)) in enumerate(zip(parts, four.SCENARIOS.items(), strict=True)):
        part.suptitle(_wrapped(title), fontsize=10, fontweight="bold")
        axes = part.subplots(1, len(SHOWN), sharey=True)
        for axis, key in zip(axes, SHOWN, strict=True):
            _column(axis, four.column(name, key), key)
        axes[0].set_yticks(range(len(names)), names if place == 0 else [""] * len(names))
    return figure


def _wrapped(title: str) -> str:
    parts = title.split(", ")
    half = (len(parts) + 1) // 2
    return ", ".join(parts[:half]) + "\n" + ", ".join(parts[half:])


def _column(axes: Axes, values: list[float], key: str) -> None:
    metric = BY_KEY[key]
    color = LOOKS[0].color if metric.more_is_better else LOOKS[1].color
    places = range(len(values))
    for place in places[::2]:
        axes.axhspan(place - 0.5, place + 0.5, color="#f2f2f2", linewidth=0)
    axes.hlines(places, 0, values, color=color, linewidth=1.2)
    axes.plot(values, places, "o" if metric.more_is_better else "s", color=color, markersize=3.6)
    axes.set_xlim(*LIMITS.get(key, (0, max(1.05 * max(values), 1.0))))
    axes.set_ylim(len(values) - 0.4, -0.6)
    axes.set_xlabel(LABELS[key], fontsize=8.5)
    axes.tick_params(axis="x", labelsize=7.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.locator_params(axis="x", nbins=3)


@functools.cache
def names() -> tuple[str, ...]:
    """Every picture that `draw_all` writes."""
    return (*(picture(family) for family in families()), OVERVIEW)
