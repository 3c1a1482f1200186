"""Measures how Prague and classic flows share a DualPI2 link: ``python docs/l4s_steady_state.py``.

Ratios of Prague's window and rate to those of CUBIC and of Reno, over RTTs and rates, as they are
and with two causes of deviations removed; and the parts of which a ratio of windows is the product.
Prints the tables of docs/l4s.md, and draws its three pictures where it is given a directory;
tests/python/test_l4s_steady_state.py measures some of it again. Takes about six minutes on two
cores. ``--draw`` only draws the two pictures of ratios again, from the tables of docs/l4s.md,
``--parts`` only measures and draws the third.
"""

from __future__ import annotations

import argparse
import math
import random
import re
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cwndlab import Result, Scenario
from cwndlab.plots.style import LOOKS, log_scale, panels, png_bytes, styled
from cwndlab.runs.execute import run_many
from cwndlab.statistics import Estimate, estimate
from parts.pictures import reduce_colours

DOCS = Path(__file__).resolve().parent
RATES_MBIT = (4, 12, 40, 120, 200)
RTTS_MS = (5, 10, 20, 50, 100)
OTHERS = {"CUBIC": "CUBIC", "Reno": "AIMD(1, 0.5)"}
SEEDS = (1, 2, 3)
BAND = (0.7, 1.4)
LIMITS = (0.15, 6.0)
COUPLING = 2.0
RENO = math.sqrt(1.5)
"""Window of Reno times the root of the probability of a drop (docs/theory.md)."""
SHARES = (0.003, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
"""Constant shares of marks."""
STEADY = 0.95
"""Ratio of the mean of p' to its root mean square from which it hardly varies."""


class Setting(NamedTuple):
    """What the runs of one column have in common."""

    title: str
    prague: str
    flows: int
    """Of each kind."""


AS_IS = "as it is"
SETTINGS = {
    AS_IS: Setting("One flow of each kind", "Prague", 1),
    "no virtual RTT": Setting("Prague without its virtual RTT", "Prague(rtt=0.001)", 1),
    "five flows": Setting("Five flows of each kind", "Prague", 5),
    "both": Setting("Both", "Prague(rtt=0.001)", 5),
}
APART = ("no virtual RTT", "both")
"""Settings whose ratios are taken apart: Prague's law has no virtual RTT."""
MEASURES = {"window": "mean_cwnd_packets", "rate": "goodput_bps"}


class Cell(NamedTuple):
    """One point of one line."""

    setting: str
    other: str
    rate_mbit: int
    rtt_ms: int


Ratios = dict[tuple[Cell, str], Estimate]
"""Mean ratio of each measure with its interval over the seeds."""


class Parts(NamedTuple):
    """What a ratio of windows is made of."""

    prague: float
    """Mean window of a Prague flow, packets."""
    classic: float
    """Mean window of a classic flow, packets."""
    marks: float
    """Share of Prague's packets that were marked, p_L."""
    drops: float
    """Share of the classic packets that were dropped, p_C."""
    mean: float
    """Mean of p' over time."""
    root_mean_square: float
    """Root mean square of p' over time."""

    @property
    def steadiness(self) -> float:
        """1 if p' is constant, less if it varies."""
        return self.mean / self.root_mean_square

    @property
    def coupled(self) -> float:
        """Marks over the root of drops: the coupling factor if p' is constant."""
        return self.marks / math.sqrt(self.drops)

    @property
    def own(self) -> float:
        """Marks over those that the coupling makes: above 1 where the L queue adds its own."""
        return self.marks / (COUPLING * self.mean)


def cells(settings: Iterable[str] = SETTINGS, rates: Iterable[int] = RATES_MBIT) -> Iterator[Cell]:
    """Every combination, cheap ones first."""
    rates = sorted(rates)
    for setting in settings:
        for other in OTHERS:
            for rate in rates:
                yield from (Cell(setting, other, rate, rtt) for rtt in RTTS_MS)


def scenario(cell: Cell, seed: int) -> Scenario:
    """Return the run of one cell with this seed."""
    setting = SETTINGS[cell.setting]
    flows = {"count": setting.flows, "start": ["0s", "1s"]}
    return Scenario(
        {
            "duration": "300s",
            # At 200 Mbit/s and 100 ms Prague needs 80 s to its share, one packet per RTT.
            "measure": ["100s", "300s"],
            "profile": "linux",
            "seed": seed,
            "trace": {"queue": "16ms"},
            "dumbbell": {
                "rate": f"{cell.rate_mbit}Mbit",
                "delay": f"{cell.rtt_ms / 2}ms",
                "queue": {"kind": "dualpi2", "limit": "10000pkt"},
            },
            "flows": [
                {"name": "prague", "rule": setting.prague, **flows},
                {"name": "classic", "rule": OTHERS[cell.other], **flows},
            ],
        }
    )


def ratio(result: Result, column: str) -> float:
    """Return what Prague's flows have of a quantity over what the classic ones have."""
    sums = result.flows.select("group", column).group_by("group").sum()
    found = dict(sums.iter_rows())
    return found["prague"] / found["classic"]


def parts(result: Result) -> Parts:
    """Return what the ratio of windows of a run is made of."""
    flows = result.flows.group_by("group").agg(
        pl.mean("mean_cwnd_packets"), pl.sum("marked_packets", "dropped_packets", "sent_packets")
    )
    prague, classic = (
        flows.row(by_predicate=pl.col("group") == name, named=True)
        for name in ("prague", "classic")
    )
    probability = result.traces["queue"].filter(
        pl.col("link").cast(pl.String) == "bottleneck", pl.col("time_s") >= result.measure_from_s
    )["drop_probability"]
    return Parts(
        prague["mean_cwnd_packets"],
        classic["mean_cwnd_packets"],
        prague["marked_packets"] / prague["sent_packets"],
        classic["dropped_packets"] / classic["sent_packets"],
        probability.mean(),
        math.sqrt((probability**2).mean()),
    )


def measured(asked: Iterable[Cell]) -> tuple[Ratios, dict[Cell, Parts]]:
    """Simulate every seed of these cells."""
    asked = list(asked)
    values: dict[tuple[Cell, str], list[float]] = defaultdict(list)
    found: dict[Cell, list[Parts]] = defaultdict(list)
    runs = (((cell, seed), scenario(cell, seed)) for cell in asked for seed in SEEDS)
    total = len(asked) * len(SEEDS)
    for number, ((cell, seed), result) in enumerate(run_many(runs), 1):
        print(f"[{number}/{total}] {' '.join(map(str, cell))} seed {seed}", file=sys.stderr)
        for name, column in MEASURES.items():
            values[cell, name].append(ratio(result, column))
        found[cell].append(parts(result))
    ratios = {key: estimate(sorted(each), bounds=(0.0, math.inf)) for key, each in values.items()}
    # Sums of floating-point numbers depend on the order in which the runs end.
    means = {
        cell: Parts(*(statistics.fmean(sorted(values)) for values in zip(*each, strict=True)))
        for cell, each in found.items()
    }
    return ratios, means


def with_constant_marks(share: float) -> Scenario:
    """Return a run of one Prague flow whose packets are marked with a constant probability."""
    draw = random.Random(1)
    # 200 s of 20 ms with the window that the share allows, and as many again.
    packets = range(int(40_000 / share))
    marks = [number for number in packets if draw.random() < share]
    return Scenario(
        {
            "duration": "200s",
            "measure": ["40s", "200s"],
            "profile": "linux",
            "dumbbell": {
                "rate": "1Gbit",
                "delay": "10ms",
                "queue": {"kind": "drop-tail", "limit": "10000pkt"},
                "loss": [{"kind": "marks", "packets": marks}],
            },
            "flows": [{"rule": SETTINGS["both"].prague}],
        }
    )


def constant_marks(shares: Iterable[float] = SHARES) -> list[tuple[float, float]]:
    """Share of marks, and Prague's window times it, at each constant probability."""
    found = []
    for _, result in run_many((share, with_constant_marks(share)) for share in shares):
        marked, sent, window = result.flows.select(
            "marked_packets", "sent_packets", "mean_cwnd_packets"
        ).row(0)
        found.append((marked / sent, window * marked / sent))
    return sorted(found)


def written(found: Estimate) -> str:
    """Write a mean with its interval; bold outside the band."""
    mark = "" if BAND[0] <= found.mean <= BAND[1] else "**"
    return f"{mark}{found.mean:.2f}{mark} [{found.low:.2f}, {found.high:.2f}]"


def table(ratios: Ratios, setting: str, measure: str) -> str:
    """Write the ratios of one setting in Markdown."""
    lines = [
        f"| {measure} ratio, against | Mbit/s | {' | '.join(f'{rtt} ms' for rtt in RTTS_MS)} |",
        f"| --- | --- {'| --- ' * len(RTTS_MS)}|",
    ]
    for other in OTHERS:
        for rate in RATES_MBIT:
            found = [ratios[Cell(setting, other, rate, rtt), measure] for rtt in RTTS_MS]
            lines.append(f"| {other} | {rate} | {' | '.join(map(written, found))} |")
    return "\n".join(lines) + "\n"


def kept(text: str) -> Ratios:
    """Read the tables of a document back, to two decimals.

    Examples
    --------
    >>> cell = Cell(AS_IS, "CUBIC", 4, 5)
    >>> again = kept(table({(one, "window"): Estimate(0.5, 0.4, 0.6, 3) for one in cells([AS_IS])},
    ...                    AS_IS, "window"))
    >>> again[cell, "window"][:3]
    (0.5, 0.4, 0.6)
    """
    found: Ratios = {}
    tables = re.findall(
        r"^\| (window|rate) ratio, against .*\n\| --- .*\n((?:\|.*\n)+)", text, re.M
    )
    places = [AS_IS, *SETTINGS]
    for setting, (measure, rows) in zip(places, tables, strict=False):
        for row in rows.splitlines():
            other, rate, *values = [cell.strip() for cell in row.strip("|").split("|")]
            for rtt, value in zip(RTTS_MS, values, strict=True):
                mean, low, high = map(float, re.findall(r"[0-9.]+", value))
                cell = Cell(setting, other, int(rate), rtt)
                found[cell, measure] = Estimate(mean, low, high, len(SEEDS))
    return found


def parts_rows(ratios: Ratios, means: dict[Cell, Parts], setting: str) -> list[str]:
    """Write the parts of each measured ratio of windows outside the band, in Markdown."""
    rows = []
    for cell in cells([setting]):
        found = ratios.get((cell, "window"))
        if found is None or BAND[0] <= found.mean <= BAND[1]:
            continue
        part = means[cell]
        products = (part.prague * part.marks, part.classic * math.sqrt(part.drops))
        values = (*products, part.coupled, part.steadiness, part.own)
        rows.append(
            f"| {cell.other} | {cell.rate_mbit} | {cell.rtt_ms} | {found.mean:.2f} "
            f"| {part.marks:.4f} | {' | '.join(f'{value:.2f}' for value in values)} |"
        )
    return rows


def parts_table(ratios: Ratios, means: dict[Cell, Parts], setting: str) -> str:
    """Write the parts of the ratios of windows outside the band, in Markdown."""
    names = ("against", "Mbit/s", "RTT, ms", "ratio", "p_L", "W p_L", "W √p_C", "p_L / √p_C")
    names += ("steadiness", "own marks")
    head = [f"| {' | '.join(names)} |", "| --- " * len(names) + "|"]
    return "\n".join(head + parts_rows(ratios, means, setting)) + "\n"


@styled
def steady_state_figure(ratios: Ratios) -> Figure:
    """Draw ratios of windows and of rates as they are."""
    figure, axes = panels(2, 2, sharex=True, sharey=True, width=8.5, height=3.0)
    places = [(measure, other) for measure in MEASURES for other in OTHERS]
    for axis, (measure, other) in zip(axes, places, strict=True):
        _lines(axis, ratios, AS_IS, other, measure)
        axis.set_title(f"{measure.capitalize()}: Prague / {other}")
    _finish(figure, axes, 2, "ratio of means")
    _headline(
        figure, "At short RTTs Prague's window is less than a classic flow's, at long ones more"
    )
    return figure


@styled
def causes_figure(ratios: Ratios) -> Figure:
    """Draw ratios of windows with causes of deviations removed."""
    causes = [name for name in SETTINGS if name != AS_IS]
    figure, axes = panels(2, len(causes), sharex=True, sharey=True, width=11.0, height=2.8)
    places = [(other, setting) for other in OTHERS for setting in causes]
    for axis, (other, setting) in zip(axes, places, strict=True):
        _lines(axis, ratios, setting, other, "window")
        axis.set_title(f"{SETTINGS[setting].title}\nPrague / {other}")
    _finish(figure, axes, len(causes), "ratio of windows")
    means = [one.mean for (cell, measure), one in ratios.items()
             if cell.setting == causes[-1] and measure == "window"]  # fmt: skip
    _headline(
        figure,
        f"Without both causes Prague's window is {min(means):.1f} to {max(means):.1f} times a "
        "classic flow's",
    )
    return figure


def _headline(figure: Figure, text: str) -> None:
    low, high = BAND
    figure.suptitle(
        f"{text} (grey: {low} to {high})", x=0.01, ha="left", fontsize=11, fontweight="bold"
    )


def _lines(axes: Axes, ratios: Ratios, setting: str, other: str, measure: str) -> None:
    axes.axhspan(*BAND, color="#dddddd", linewidth=0)
    axes.axhline(1.0, color="#999999", linewidth=0.8)
    for look, rate in zip(LOOKS, RATES_MBIT, strict=False):
        found = [ratios[Cell(setting, other, rate, rtt), measure] for rtt in RTTS_MS]
        means = [one.mean for one in found]
        spread = [
            [one.mean - one.low for one in found], [one.high - one.mean for one in found],
        ]  # fmt: skip
        axes.errorbar(
            RTTS_MS, means, yerr=spread, label=f"{rate} Mbit/s", color=look.color,
            linestyle=look.linestyle, marker=look.marker, markersize=4, linewidth=1.3, capsize=2,
        )  # fmt: skip


SLOW = RATES_MBIT[:2]
"""Rates at which a window of ten flows is a few packets, and the L queue marks by itself."""


def parts_headline(means: Mapping[Cell, Parts], constant: list[tuple[float, float]]) -> str:
    """Say how near Prague is to its law, and the coupling to 2, where marking is steady.

    Examples
    --------
    >>> steady = Parts(20.0, 10.0, marks=0.1, drops=0.0025, mean=0.05, root_mean_square=0.05)
    >>> parts_headline({Cell("both", "Reno", 40, 20): steady}, [(0.01, 2.0), (0.2, 2.0)])
    'Where marking is steady, Prague is within 0 % of its law, and the coupling within 0 % of 2'
    """
    steady = [
        part for cell, part in means.items()
        if cell.setting in APART and cell.rate_mbit not in SLOW and part.steadiness >= STEADY
    ]  # fmt: skip
    shares, products = zip(*constant, strict=True)
    law = np.interp([part.marks for part in steady], shares, products)
    off_law = max(
        abs(part.prague * part.marks / at - 1) for part, at in zip(steady, law, strict=True)
    )
    off_coupling = max(abs(part.coupled / COUPLING - 1) for part in steady)
    return (
        f"Where marking is steady, Prague is within {100 * off_law:.0f} % of its law, "
        f"and the coupling within {100 * off_coupling:.0f} % of {COUPLING:g}"
    )


@styled
def parts_figure(means: Mapping[Cell, Parts], constant: list[tuple[float, float]]) -> Figure:
    """Draw the laws of Prague and of the coupling, without the virtual RTT."""
    figure, (law, coupling) = panels(1, 2, width=10.0, height=3.8)
    kinds = {
        "marking is steady": ("o", LOOKS[0].color, "full"),
        "marking comes in bursts": ("^", LOOKS[1].color, "full"),
        f"few packets in a window ({SLOW[0]} and {SLOW[1]} Mbit/s)": ("s", "#aaaaaa", "none"),
    }

    def kind(cell: Cell) -> str:
        steady, bursts, few = kinds
        if cell.rate_mbit in SLOW:
            return few
        return steady if means[cell].steadiness >= STEADY else bursts

    line = {"color": "black", "linewidth": 1.3}
    law.plot(*zip(*constant, strict=True), **line)
    coupling.plot([0, 1], [0, COUPLING], **line)
    # The points of the claim last, on top.
    for name, (marker, color, fill) in reversed(kinds.items()):
        chosen = [
            part for cell, part in means.items() if cell.setting in APART and kind(cell) == name
        ]
        look = {"marker": marker, "color": color, "fillstyle": fill, "linestyle": "none"}
        look |= {"markersize": 4.5, "label": name}
        marks = [part.marks for part in chosen]
        law.plot(marks, [part.prague * part.marks for part in chosen], **look)
        coupling.plot(
            [part.steadiness for part in chosen], [part.coupled for part in chosen], **look
        )
    log_scale(law, "x")
    law.set(
        xlabel="share of Prague's packets that are marked",
        ylabel="window [packets] x share of marks",
        ylim=(0, None),
    )
    share, product = constant[0]
    law.annotate(
        "law: marks at random, one flow", (share, product), xytext=(0, -26),
        textcoords="offset points", fontsize=9, ha="left",
        arrowprops={"arrowstyle": "-", "color": "black", "linewidth": 0.8},
    )  # fmt: skip
    law.set_title("In bursts of marks Prague keeps a larger window")
    coupling.set(
        xlabel="steadiness of marking: mean / root mean square",
        ylabel="share of marks / √(share of drops)",
        xlim=(0, 1.02), ylim=(0, None),
    )  # fmt: skip
    coupling.annotate(
        f"{COUPLING:g} x steadiness", (0.3, 0.3 * COUPLING), xytext=(-6, 8),
        textcoords="offset points", fontsize=9, ha="right",
    )  # fmt: skip
    coupling.set_title("and gets fewer marks than the coupling means it to")
    figure.suptitle(
        parts_headline(means, constant), x=0.01, ha="left", fontsize=11, fontweight="bold"
    )
    handles, labels = law.get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], loc="outside lower center", ncols=len(labels))
    return figure


def _finish(figure: Figure, axes: list[Axes], columns: int, label: str) -> None:
    for axis in axes:
        axis.set(xscale="log", yscale="log", ylim=LIMITS)
        axis.set_xticks(RTTS_MS, map(str, RTTS_MS), minor=False)
        axis.set_xticks([], minor=True)
        ticks = (0.2, 0.5, 0.7, 1.0, 1.4, 2.0, 5.0)
        axis.set_yticks(ticks, map("{:g}".format, ticks), minor=False)
        axis.set_yticks([], minor=True)
    for axis in axes[::columns]:
        axis.set_ylabel(label)
    for axis in axes[-columns:]:
        axis.set_xlabel("RTT without queueing [ms]")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))


def draw(figures: Mapping[str, Figure], folder: Path) -> None:
    """Write pictures."""
    for name, figure in figures.items():
        path = folder / f"l4s-{name}.png"
        path.write_bytes(png_bytes(figure))
        reduce_colours(path)


def main() -> None:
    """Print the tables, and draw the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=Path, help="directory for the pictures")
    parser.add_argument("--draw", action="store_true", help="only draw, from docs/l4s.md")
    parser.add_argument("--parts", action="store_true", help="only the picture of the parts")
    asked = parser.parse_args()
    if asked.parts:
        _, means = measured(cells(APART))
        draw({"parts": parts_figure(means, constant_marks())}, asked.images or DOCS / "images")
        return
    if asked.draw:
        ratios = kept((DOCS / "l4s.md").read_text(encoding="utf-8"))
        draw({"steady-state": steady_state_figure(ratios), "causes": causes_figure(ratios)},
             asked.images or DOCS / "images")  # fmt: skip
        return
    ratios, means = measured(cells())
    constant = constant_marks()
    for measure in MEASURES:
        print(table(ratios, AS_IS, measure))
    for setting in SETTINGS:
        if setting != AS_IS:
            print(f"{SETTINGS[setting].title}:\n\n{table(ratios, setting, 'window')}")
    for setting in APART:
        print(f"{SETTINGS[setting].title}, parts:\n\n{parts_table(ratios, means, setting)}")
    fast = [means[cell] for cell in means if cell.setting in APART and cell.rate_mbit >= 40]
    own = [part.own for part in fast]
    roots = [math.sqrt(part.drops) / part.root_mean_square for part in fast]
    print(f"from 40 Mbit/s on: p_L over twice the mean of p' {min(own):.2f} to {max(own):.2f}")
    print(f"from 40 Mbit/s on: √p_C over the rms of p' {min(roots):.2f} to {max(roots):.2f}")
    for share, product in constant:
        print(f"constant share of marks {share:.4f}: Prague's window times it {product:.2f}")
    if asked.images:
        figures = {
            "steady-state": steady_state_figure(ratios),
            "causes": causes_figure(ratios),
            "parts": parts_figure(means, constant),
        }
        draw(figures, asked.images)


if __name__ == "__main__":
    main()
