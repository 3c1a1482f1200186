"""Measures how Prague and classic flows share a DualPI2 link: ``python docs/l4s_steady_state.py``.

Ratios of Prague's window and rate to those of CUBIC and of Reno, over RTTs and rates, as they are
and with two causes of deviations removed. Prints the tables of docs/l4s.md, and draws its two
pictures where it is given a directory; tests/python/test_l4s_steady_state.py measures some of it
again. Takes about five minutes on two cores.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cwndlab import Result, Scenario
from cwndlab.plots.style import LOOKS, panels, png_bytes, styled
from cwndlab.runs.execute import run_many
from cwndlab.statistics import Estimate, estimate
from parts.pictures import reduce_colours

RATES_MBIT = (4, 12, 40, 120, 200)
RTTS_MS = (5, 10, 20, 50, 100)
OTHERS = {"CUBIC": "CUBIC", "Reno": "AIMD(1, 0.5)"}
SEEDS = (1, 2, 3)
BAND = (0.7, 1.4)
LIMITS = (0.15, 6.0)


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
MEASURES = {"window": "mean_cwnd_packets", "rate": "goodput_bps"}


class Cell(NamedTuple):
    """One point of one line."""

    setting: str
    other: str
    rate_mbit: int
    rtt_ms: int


Ratios = dict[tuple[Cell, str], Estimate]
"""Mean ratio of each measure with its interval over the seeds."""


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


def measured(asked: Iterable[Cell]) -> Ratios:
    """Simulate every seed of these cells."""
    asked = list(asked)
    values: dict[tuple[Cell, str], list[float]] = defaultdict(list)
    runs = (((cell, seed), scenario(cell, seed)) for cell in asked for seed in SEEDS)
    total = len(asked) * len(SEEDS)
    for number, ((cell, seed), result) in enumerate(run_many(runs), 1):
        print(f"[{number}/{total}] {' '.join(map(str, cell))} seed {seed}", file=sys.stderr)
        for name, column in MEASURES.items():
            values[cell, name].append(ratio(result, column))
    return {key: estimate(sorted(found), bounds=(0.0, math.inf)) for key, found in values.items()}


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


@styled
def steady_state_figure(ratios: Ratios) -> Figure:
    """Draw ratios of windows and of rates as they are."""
    figure, axes = panels(2, 2, sharex=True, sharey=True, width=8.5, height=3.0)
    places = [(measure, other) for measure in MEASURES for other in OTHERS]
    for axis, (measure, other) in zip(axes, places, strict=True):
        _lines(axis, ratios, AS_IS, other, measure)
        axis.set_title(f"{measure.capitalize()}: Prague / {other}")
    _finish(figure, axes, 2, "ratio of means")
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
    return figure


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


PICTURES = {"l4s-steady-state.png": steady_state_figure, "l4s-causes.png": causes_figure}


def main() -> None:
    """Print the tables, and draw the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=Path, help="directory for the pictures")
    asked = parser.parse_args()
    ratios = measured(cells())
    for measure in MEASURES:
        print(table(ratios, AS_IS, measure))
    for setting in SETTINGS:
        if setting != AS_IS:
            print(f"{SETTINGS[setting].title}:\n\n{table(ratios, setting, 'window')}")
    if asked.images:
        for name, draw in PICTURES.items():
            (asked.images / name).write_bytes(png_bytes(draw(ratios)))
            reduce_colours(asked.images / name)


if __name__ == "__main__":
    main()
