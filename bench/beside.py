"""Six scenarios with flows of this machine's kernel, simulated, and with a kernel in virtual time.

``python bench/beside.py [--record]``; root, Linux. ``--virtual`` needs no root: it adds runs of the
same seeds with the kernel ``default`` in virtual time to what is on record.

Each of six examples/live-*.toml runs several times live, with another seed each time (flows start
at other moments), and with as many seeds simulated with the profile ``linux``, as `cwndlab live
linux --beside` does. Printed are means of both, and the least and most of single runs: one run says
little where flows are few and cuts are seldom. Simulated once more are packets that are late by up
to a millisecond, as hosts are: what that changes hangs on exact times.

As wanted is a difference of at most 5 points in every group's share of the goodput, and of 15 % in
the mean queueing delay. Runs that are not valid are shown as such and count for nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]

import machine  # noqa: E402

from cwndlab import Scenario, plots  # noqa: E402
from cwndlab.kernel_runs import kernels  # noqa: E402
from cwndlab.live_runs.run import counterpart, linux  # noqa: E402
from cwndlab.plots.timelines import bottleneck  # noqa: E402
from cwndlab.results import Result  # noqa: E402
from cwndlab.runs import execute  # noqa: E402

SCENARIOS = ("drop-tail", "red", "ecn", "unequal", "square-wave", "cellular")
POINTS = 5.0
PERCENT = 15.0
JITTER = {"kind": "uniform", "low": "0ms", "high": "1ms"}
RECORD = ROOT / "bench" / "beside.json"
PICTURE = ROOT / "docs" / "images" / "live-beside.png"


def shares(result: Result) -> dict[str, float]:
    """Part of the goodput of each group, percent."""
    flows = result.flows.select("group", "goodput_bps")
    goodputs = flows.group_by("group", maintain_order=True).sum()
    return {
        group: 100 * goodput / result.aggregate_goodput_bps
        for group, goodput in goodputs.iter_rows()
    }


def found(result: Result) -> dict[str, Any]:
    """Keep of a run what is compared."""
    link = bottleneck(result)
    return {
        "shares": shares(result),
        "delay_ms": 1e3 * link["mean_queueing_delay_s"],
        "goodput_mbit": result.aggregate_goodput_bps / 1e6,
        "dropped": link["dropped_packets"],
        "marked": link["marked_packets"],
        "reasons": list(result.fields.get("reasons", [])),
    }


def measure(name: str, repetitions: int) -> dict[str, Any]:
    """Run one of the scenarios, live and simulated, as often."""
    scenario = Scenario.load(ROOT / "examples" / f"live-{name}.toml")
    live, simulated, jittered = [], [], []
    for seed in range(1, repetitions + 1):
        seeded = scenario.set("seed", seed)
        print(f"{name}: run {seed} of {repetitions}, {seeded.duration_s:.0f} s", file=sys.stderr)
        live.append(found(linux(seeded)))
        beside = counterpart(seeded)
        simulated.append(found(execute.run(beside)))
        jittered.append(found(execute.run(beside.set("dumbbell.jitter", JITTER))))
    return {"live": live, "simulated": simulated, "jittered": jittered}


def measure_virtually(name: str, repetitions: int) -> list[dict[str, Any]]:
    """Run one of the scenarios with a kernel in virtual time."""
    scenario = Scenario.load(ROOT / "examples" / f"live-{name}.toml")
    kernel = kernels.find()
    return [found(linux(scenario.set("seed", seed), kernel=kernel))
            for seed in range(1, repetitions + 1)]  # fmt: skip


def valid(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out runs that are not to be trusted."""
    return [run for run in runs if not run["reasons"]]


def compared(
    entry: dict[str, Any],
) -> list[tuple[str, float, list[float], list[float], list[float], list[float]]]:
    """Return each comparison, its tolerance, and its simulated, jittered, live and virtual values.

    Of groups the last one is left out, which has what the others leave. Of one group alone there is
    no share.
    """
    kinds = [valid(entry.get(kind, [])) for kind in ("simulated", "jittered", "live", "virtual")]
    groups = list(entry["live"][0]["shares"])[:-1]
    rows = [
        (
            f"share of {group} [%]",
            POINTS,
            *([run["shares"][group] for run in runs] for runs in kinds),
        )
        for group in groups
    ]
    delays = [[run["delay_ms"] for run in runs] for runs in kinds]
    rows.append(("mean queueing delay [ms]", PERCENT / 100 * statistics.mean(delays[0]), *delays))
    return rows


def lines(record: dict[str, Any]) -> list[list[str]]:
    """Write a line for each comparison.

    Scenario, what, simulated, live, difference, allowed, whether as wanted.
    """
    written = []
    for name, entry in record["scenarios"].items():
        for what, allowed, simulated, jittered, live, virtual in compared(entry):
            beside = [_spread(simulated), _spread(jittered), _spread(virtual)]
            if not live:
                written.append([name, what, *beside, "-", "-", "-", "no valid run"])
                continue
            apart = statistics.mean(live) - statistics.mean(simulated)
            said = "yes" if abs(apart) <= allowed else "no"
            relative = (
                f" ({100 * apart / statistics.mean(simulated):+.1f} %)" if "delay" in what else ""
            )
            written.append(
                [
                    name,
                    what,
                    *beside,
                    _spread(live),
                    f"{apart:+.1f}{relative}",
                    f"{allowed:.1f}",
                    said,
                ]
            )
    return written


HEAD = ["scenario", "", "simulated", "with jitter", "kernel in virtual time", "live",
        "difference", "allowed", "as wanted"]  # fmt: skip


def _spread(values: list[float]) -> str:
    if not values:
        return "-"
    return f"{statistics.mean(values):.1f} ({min(values):.1f} to {max(values):.1f})"


@plots.styled
def draw(record: dict[str, Any]) -> Any:
    """Draw how far live runs are from simulated ones, within what is allowed."""
    rows = [
        (name, what, allowed, simulated, live)
        for name, entry in record["scenarios"].items()
        for what, allowed, simulated, _, live, _ in compared(entry)
    ]
    shares_of, delays = ([row for row in rows if ("delay" in row[1]) == is_delay]
                         for is_delay in (False, True))  # fmt: skip
    figure, axes = plots.panels(1, 2, width=10.0, height=3.4)
    _differences(
        axes[0], [(f"{name},\n{what[9:-4]}", 1.0, *row) for name, what, _, *row in shares_of],
        POINTS, "{:+.1f}", "goodput share, live - simulated [points]",
    )  # fmt: skip
    _differences(
        axes[1],
        [(name, 100 / statistics.mean(simulated), simulated, live)
         for name, _, _, simulated, live in delays],
        PERCENT, "{:+.1f} %", "mean queueing delay, live - simulated [%]",
    )  # fmt: skip
    met = sum(line[-1] == "yes" for line in lines(record))
    figure.suptitle(
        f"{met} of {len(rows)} live means are within the target (grey) around the simulated mean",
        x=0.01, ha="left", fontweight="bold",
    )  # fmt: skip
    figure.supxlabel(
        "ticks: single runs, simulated above and live below", fontsize=9, color="#444444"
    )
    return figure


Row = tuple[str, float, list[float], list[float]]
"""Label, scale, simulated values, live values."""


def _differences(axes: Any, rows: list[Row], allowed: float, text: str, label: str) -> None:
    """Draw the differences of one panel, with the target as a band."""
    axes.axvspan(-allowed, allowed, color="#e6e6e6", linewidth=0)
    axes.axvline(0, color="#222222", linewidth=1.0)
    for place, (_, scale, simulated, live) in enumerate(rows):
        middle = statistics.mean(simulated)
        for values, look, side in ((simulated, plots.look(0), -0.17), (live, plots.look(1), 0.17)):
            apart = [scale * (value - middle) for value in values]
            axes.plot(apart, [place + side] * len(apart), linestyle="", marker="|", markersize=9,
                      markeredgewidth=1.4, color=look.color)  # fmt: skip
        if live:
            look, mean = plots.look(1), scale * (statistics.mean(live) - middle)
            axes.plot(mean, place + 0.17, look.marker, color=look.color, markersize=8)
            axes.annotate(
                text.format(mean), (1.0, place), xycoords=axes.get_yaxis_transform(),
                xytext=(5, 0), textcoords="offset points", va="center", color=look.color,
                weight="bold",
            )  # fmt: skip
    axes.set_yticks(range(len(rows)), [label for label, *_ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(-1.15 * allowed, 1.15 * allowed)
    axes.set_xticks([-allowed, 0, allowed])
    axes.grid(visible=False)
    axes.set_xlabel(label)


def main() -> int:
    """Measure, print, and with ``--record`` keep the figures for docs/live-beside.md."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--record",
        action="store_true",
        help=f"write {RECORD.name} and the picture of docs/live-beside.md",
    )
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument(
        "--only", action="append", choices=SCENARIOS, help="only this one; may be repeated"
    )
    parser.add_argument(
        "--draw", type=Path, metavar="FILE", help="only draw what is on record, and measure nothing"
    )
    parser.add_argument(
        "--virtual", action="store_true", help="add runs in virtual time to what is on record"
    )
    asked = parser.parse_args()
    if asked.virtual:
        record = json.loads(RECORD.read_text())
        for name in asked.only or SCENARIOS:
            record["scenarios"][name]["virtual"] = measure_virtually(name, asked.repetitions)
        record["virtual_kernel"] = kernels.find().identity
        RECORD.write_text(json.dumps(record, indent=1) + "\n")
    if asked.draw:
        plots.save(draw(json.loads(RECORD.read_text())), asked.draw)
    if asked.draw or asked.virtual:
        return 0
    before = json.loads(RECORD.read_text())["scenarios"] if asked.only and RECORD.exists() else {}
    record: dict[str, Any] = {
        "machine": machine.machine(), "kernel": platform.release(), "measured": machine.moment(),
        "repetitions": asked.repetitions, "scenarios": before,
    }  # fmt: skip
    for name in asked.only or SCENARIOS:
        entry = record["scenarios"][name] = measure(name, asked.repetitions)
        for run in entry["live"]:
            if run["reasons"]:
                print(f"{name}: NOT valid: {'; '.join(run['reasons'])}", file=sys.stderr)
        for line in lines({"scenarios": {name: entry}}):
            print(
                "  ".join(
                    f"{cell:>{width}}"
                    for cell, width in zip(line, (12, 26, 22, 22, 22, 22, 16, 8, 10), strict=True)
                )
            )
    print(f"load {record['measured']['load']} on {os.cpu_count()} processors when it began")
    if asked.record:
        RECORD.write_text(json.dumps(record, indent=1) + "\n")
        plots.save(draw(record), PICTURE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
