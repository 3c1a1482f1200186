"""The pictures of docs/rules.md."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from cwndlab import Result, Scenario, dumbbell, run
from cwndlab.metrics import BY_KEY
from cwndlab.plots.style import LOOKS, REFERENCE, panels, png_bytes, styled
from parts import four
from parts.families import of_single_flows, picture, windows
from parts.text import ROOT

OVERVIEW = "docs/images/rules-four.png"
KEPT = "docs/images/bbr3-cellular.png"
MOST_PACKETS = 340
BURST_S, DOWN_S = 20.0, (40.0, 41.0)
"""When the link of examples/rules-window.toml drops all arriving packets."""


def draw_all() -> Iterator[str]:
    """Draw every picture of docs/rules.md, and say which."""
    for family in of_single_flows():
        yield _written(window_figure(dict(windows(family))), picture(family))
    yield _written(four_figure(), OVERVIEW)
    yield draw_kept()


def draw_kept() -> str:
    """Draw what BBR3 keeps on a cellular link."""
    return _written(kept_figure(), KEPT)


def reduce_colours(path: Path) -> None:
    """Write a picture again with a palette: a half of the bytes."""
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(
            256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
        )
    small.save(path, optimize=True)


def _written(figure: Figure, name: str) -> str:
    (ROOT / name).write_bytes(png_bytes(figure))
    reduce_colours(ROOT / name)
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


WIRE_BITS = 8 * 1500
"""Of a packet in profile linux."""
CELLULAR_SEED = 16
"""A link whose rate falls for good: on 5 of the links of the seeds 1 to 20 (3, 12, 15, 16, 18) the
mean queueing delay of BBR3 is above 0.5 s, and that of BBR1 on none above 0.1 s."""


def cellular(rule: str, seed: int = CELLULAR_SEED) -> Scenario:
    """One flow on a synthetic cellular link with an unlimited queue."""
    return dumbbell(
        {"kind": "cellular", "mean": "4Mbit"}, "20ms", flows=rule, duration="100s", seed=seed,
        queue={"kind": "drop-tail", "limit": "unlimited"}, link={"back_rate": "unlimited"},
        trace={"rule": "100ms", "queue": "100ms", "rate": "1s"},
    )  # fmt: skip


@styled
def kept_figure() -> Figure:
    """Draw the bandwidth that BBR3 and BBR1 keep on a cellular link, and the queue it makes."""
    figure, (rates, delays) = panels(2, sharex=True, width=8.0, height=2.3)
    for index, rule in enumerate(("BBR3", "BBR1")):
        result = run(cellular(rule))
        look = LOOKS[1 - index]
        trace, link = result.traces["rule"], result.links.to_dicts()[0]
        rate = result.traces["available"]
        if index == 0:
            rates.step(rate["time_s"], rate["available_bps"] / 1e6, where="post", color=REFERENCE,
                       linewidth=1.0, label="rate of the link")  # fmt: skip
        rates.plot(trace["time_s"], trace["max_bw_packets_s"] * WIRE_BITS / 1e6,
                   color=look.color, linewidth=1.8, label=f"max_bw of {rule}")  # fmt: skip
        queue = result.traces["queue"].filter(pl.col("link") == link["link"])
        mean_s = link["mean_queueing_delay_s"]
        delays.plot(queue["time_s"], queue["queue_packets"], color=look.color, linewidth=1.3,
                    label=f"{rule}: waits {mean_s:.2g} s on average")  # fmt: skip
    rates.set_ylabel("rate [Mbit/s]", fontsize=9)
    rates.set_ylim(0, None)
    rates.set_title("BBR3 keeps a bandwidth that the link has lost; BBR1 forgets it")
    delays.set_ylabel("queue [packets]", fontsize=9)
    delays.set_yscale("symlog", linthresh=10)
    delays.set_ylim(0, None)
    delays.set_xlabel("time [s]")
    delays.set_xlim(0, 100)
    for axes in (rates, delays):
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8.5)
    return figure


QUESTIONS = {
    "shared": ("jain_index", "Who shares a drop-tail queue fairly?"),
    "unequal": ("mean_queueing_delay_s", "Who keeps RED's queue short?"),
    "random": ("goodput", "Who fills a lossy link?"),
    "square": ("loss_rate", "Whose losses stay few?"),
}
"""For each of the four scenarios, a metric in which the rules differ, and what it answers."""
BASELINE = "NewReno"


@styled
def four_figure() -> Figure:
    """Draw one metric of every rule on each of the four scenarios, rules sorted by it."""
    figure, axes = panels(1, 4, width=13.0, height=5.8)
    for panel, (name, (key, question)) in zip(axes, QUESTIONS.items(), strict=True):
        metric = BY_KEY[key]
        values = dict(zip(of_single_flows(), four.column(name, key), strict=True))
        order = sorted(values, key=values.__getitem__, reverse=metric.more_is_better)
        for place, family in enumerate(order):
            is_baseline = family == BASELINE
            color = REFERENCE if is_baseline else LOOKS[0].color
            panel.hlines(place, 0, values[family], color=color, linewidth=1.6)
            panel.plot(values[family], place, "*" if is_baseline else "o", color=color,
                       markersize=9 if is_baseline else 4.5)  # fmt: skip
        panel.axvline(values[BASELINE], color=REFERENCE, linestyle=":", linewidth=1.0)
        panel.set_yticks(range(len(order)), order, fontsize=8.5)
        panel.get_yticklabels()[order.index(BASELINE)].set_fontweight("bold")
        panel.tick_params(axis="y", length=0)
        panel.set_ylim(len(order) - 0.4, -0.6)
        panel.set_xlim(0, 1.0 if key == "jain_index" else 1.05 * max(values.values()))
        panel.locator_params(axis="x", nbins=4)
        panel.grid(visible=False, axis="y")
        panel.set_title(question)
        panel.set_xlabel(f"{metric.title}\n{_wrapped(four.SCENARIOS[name])}")
    figure.suptitle(
        f"The best rule on top; star and dotted line: {BASELINE}", x=0.01, ha="left", fontsize=10
    )
    return figure


def _wrapped(setting: str) -> str:
    parts = setting.split(", ")
    half = (len(parts) + 1) // 2
    return ", ".join(parts[:half]) + ",\n" + ", ".join(parts[half:])


@functools.cache
def names() -> tuple[str, ...]:
    """Every picture that `draw_all` writes."""
    return (*(picture(family) for family in of_single_flows()), OVERVIEW, KEPT)
