"""Six scenarios with flows of this machine's kernel, and simulated.

``python bench/beside.py [--record]``; root, Linux.

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


def valid(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out runs that are not to be trusted."""
    return [run for run in runs if not run["reasons"]]


def compared(
    entry: dict[str, Any],
) -> list[tuple[str, float, list[float], list[float], list[float]]]:
    """Return each comparison, its tolerance, and its simulated, jittered and live values.

    Of groups the last one is left out, which has what the others leave. Of one group alone there is
    no share.
    """
    kinds = [valid(entry[kind]) for kind in ("simulated", "jittered", "live")]
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
        for what, allowed, simulated, jittered, live in compared(entry):
            beside = [_spread(simulated), _spread(jittered)]
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


HEAD = ["scenario", "", "simulated", "with jitter", "live", "difference", "allowed", "as wanted"]


def _spread(values: list[float]) -> str:
    return f"{statistics.mean(values):.1f} ({min(values):.1f} to {max(values):.1f})"


@plots.styled
def draw(record: dict[str, Any]) -> Any:
    """Draw the values of each comparison in units of its tolerance, so that all share one scale."""
    rows = [
        (f"{name}: {what}",
        *([(value - statistics.mean(kinds[0])) / allowed for value in values] for values in kinds))
        for name, entry in record["scenarios"].items()
        for what, allowed, *kinds in compared(entry)
    ]  # fmt: skip
    figure, (axes,) = plots.panels(1, 1, width=9.0, height=0.5 * len(rows) + 1.2)
    axes.axvspan(-1, 1, color="#eeeeee", label="as wanted: 5 points, 15 %")
    for place, (_, *kinds) in enumerate(rows):
        for index, (values, title) in enumerate(
            zip(kinds, ("simulated", "with jitter", "live"), strict=True)
        ):
            look = plots.look((0, 2, 1)[index])
            at = [place + 0.24 * (index - 1)] * len(values)
            axes.plot(values, at, linestyle="", marker="|", markersize=8, color=look.color)
            if values:
                axes.plot(
                    [statistics.mean(values)], at[:1], linestyle="", marker=look.marker,
                    color=look.color,
                    label=f"{title}, mean (runs as ticks)" if place == 0 else None,
                )  # fmt: skip
    axes.set_yticks(range(len(rows)), [label for label, *_ in rows])
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("difference from the simulated mean, in parts of what is allowed")
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1))
    return figure


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
    asked = parser.parse_args()
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
                    for cell, width in zip(line, (12, 26, 22, 22, 22, 16, 8, 10), strict=True)
                )
            )
    print(f"load {record['measured']['load']} on {os.cpu_count()} processors when it began")
    if asked.record:
        RECORD.write_text(json.dumps(record, indent=1) + "\n")
        plots.save(draw(record), PICTURE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
