"""Compares distributions with those of ns-2: ``python -m tests.ns2.statistical`` from the
repository's root.

Twenty replicates of each experiment on either side. A metric agrees if the means differ by no more
than the larger of two standard deviations of ns-2's replicates and 3 % of ns-2's mean. Beside that
the table has the interval of the mean difference, and over all experiments no metric may lie to one
side throughout."""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy

from cwndlab import Scenario
from cwndlab.ns2.results import read
from cwndlab.ns2.script import export, with_commands
from cwndlab.statistics import estimate

from . import reference
from .reference import Columns, Run
from .statistical_scenarios import EXPERIMENTS, Experiment

REPLICATES = 20
TOLERANCE = 0.03
# Two-sided 95 % of the normal distribution: over all experiments there are many replicates.
Z_POOLED = 1.960
MONITOR = Path(__file__).with_name("timeouts.tcl")
OF_THE_LINK = (
    "utilization", "mean_queue_packets", "arrived_packets", "dropped_packets", "marked_packets"
)  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """One metric of one experiment."""

    experiment: str
    metric: str
    ours: list[float]
    theirs: list[float]

    @property
    def differences(self) -> list[float]:
        """Replicate by replicate: both sides have the same starts."""
        return [a - b for a, b in zip(self.ours, self.theirs, strict=True)]

    @property
    def mean_difference(self) -> float:
        return statistics.fmean(self.differences)

    @property
    def half_width(self) -> float:
        """Of the 95 % interval of the mean difference."""
        return estimate(self.differences).half_width

    @property
    def standard_error(self) -> float:
        return statistics.stdev(self.differences) / math.sqrt(len(self.differences))

    @property
    def allowed(self) -> float:
        return max(
            2 * statistics.stdev(self.theirs), TOLERANCE * abs(statistics.fmean(self.theirs))
        )

    @property
    def agrees(self) -> bool:
        return abs(self.mean_difference) <= self.allowed


def run_of(scenario: dict) -> Run:
    """The run of ns-2 for one replicate: its measures, and how many timers expired in the
    window."""
    whole = Scenario(scenario)
    from_s, to_s = scenario["measure"]

    def columns(folder: Path) -> Columns:
        events = [line.split() for line in (folder / "events").read_text().splitlines()]
        expired_s = [float(event[1]) for event in events if event[5] == "TIMEOUT"]
        idle = int((folder / "idle").read_text())
        result = read((folder / "measures").read_text(), whole)
        (link,) = (link for link in result["links"] if link["link"] == "bottleneck")
        return {
            "goodput_bps": numpy.array([flow["goodput_bps"] for flow in result["flows"]]),
            "link": numpy.array([link[name] for name in OF_THE_LINK], float),
            "timeouts": numpy.array([sum(from_s <= time_s < to_s for time_s in expired_s) - idle]),
        }

    script = with_commands(export(whole), [MONITOR.read_text()])
    return Run("distributions", script, ("measures", "events", "idle"), columns)


def metrics_in_ns2(scenario: dict, columns: Columns) -> dict[str, float]:
    """Metrics of one replicate from what ns-2 printed."""
    link = dict(zip(OF_THE_LINK, columns["link"].tolist(), strict=True))
    return of_link(scenario, link, columns["goodput_bps"].tolist(), int(columns["timeouts"][0]))


def run_product(scenario: dict) -> dict[str, float]:
    """The same of one replicate in cwndlab."""
    from cwndlab import native

    result = json.loads(native.Scenario(json.dumps(scenario), "json").run().to_json())
    (link,) = (link for link in result["links"] if link["link"] == "bottleneck")
    goodput = [flow["goodput_bps"] for flow in result["flows"]]
    return of_link(scenario, link, goodput, sum(flow["timeouts"] for flow in result["flows"]))


def of_link(scenario: dict, link: dict, goodput: list[float], timeouts: int) -> dict[str, float]:
    """The metrics of a run, from those of its bottleneck and its flows."""
    return metrics(
        scenario["flows"],
        goodput=goodput,
        utilization=link["utilization"],
        queue=link["mean_queue_packets"],
        loss=link["dropped_packets"] / link["arrived_packets"],
        marks=link["marked_packets"] / link["arrived_packets"],
        timeouts=timeouts,
    )


def metrics(flows, *, goodput, utilization, queue, loss, marks, timeouts) -> dict[str, float]:
    """By name; a goodput for each group, whose name is the flow's up to the last hyphen."""
    result = {
        "utilization": utilization,
        "mean queue (packets)": queue,
        "loss rate (%)": 100 * loss,
        "mark rate (%)": 100 * marks,
    }
    groups: dict[str, float] = {}
    for flow, bps in zip(flows, goodput, strict=True):
        group = flow["name"].rpartition("-")[0]
        groups[group] = groups.get(group, 0.0) + bps / 1e6
    result |= {f"goodput {group} (Mbit/s)": mbps for group, mbps in groups.items()}
    rules = {flow["name"].rpartition("-")[0]: flow["rule"] for flow in flows}
    if len(rules) == len(set(rules.values())) == 2:
        first, second = rules
        counts = Counter(flow["name"].rpartition("-")[0] for flow in flows)
        ratio = (groups[first] / counts[first]) / (groups[second] / counts[second])
        result[f"friendliness {first}/{second}"] = ratio
    result["timeouts per flow"] = timeouts / len(flows)
    result["Jain's index"] = sum(goodput) ** 2 / (len(goodput) * sum(x * x for x in goodput))
    return result


def compare(experiment: Experiment, replicates: int = REPLICATES) -> list[Comparison]:
    scenarios = [experiment.scenario(replicate) for replicate in range(replicates)]
    with ThreadPoolExecutor() as pool:
        columns = pool.map(reference.output, map(run_of, scenarios))
        theirs = [metrics_in_ns2(*pair) for pair in zip(scenarios, columns, strict=True)]
    return of_one(experiment.name, [run_product(scenario) for scenario in scenarios], theirs)


def of_one(name: str, ours: list[dict], theirs: list[dict]) -> list[Comparison]:
    """Metrics that are 0 throughout on both sides say nothing and are left out."""
    compared = [
        Comparison(name, key, [run[key] for run in ours], [run[key] for run in theirs])
        for key in theirs[0]
    ]
    return [item for item in compared if any(item.ours) or any(item.theirs)]


@dataclass(frozen=True)
class Side:
    """On which side of ns-2 a metric lies, over the experiments that have it: relative differences,
    pooled."""

    metric: str
    above: int
    below: int
    mean: float
    half_width: float

    @property
    def one_sided(self) -> bool:
        """Off to the same side throughout, and by more than chance explains."""
        return (
            self.above + self.below > 2
            and min(self.above, self.below) == 0
            and abs(self.mean) > self.half_width
        )


def sides(comparisons: list[Comparison]) -> list[Side]:
    """One row for each metric; the goodputs of all groups are one metric."""
    by_metric: dict[str, list[Comparison]] = {}
    for item in comparisons:
        name = "goodput of groups" if item.metric.startswith("goodput") else item.metric
        by_metric.setdefault(name, []).append(item)
    rows = []
    for metric, items in by_metric.items():
        scales = [abs(statistics.fmean(item.theirs)) or 1.0 for item in items]
        relative = [item.mean_difference / scale for item, scale in zip(items, scales, strict=True)]
        error = math.sqrt(
            sum(
                (item.standard_error / scale) ** 2
                for item, scale in zip(items, scales, strict=True)
            )
        )
        above, below = sum(x > 0 for x in relative), sum(x < 0 for x in relative)
        rows.append(
            Side(metric, above, below, statistics.fmean(relative), Z_POOLED * error / len(items))
        )
    return rows


def table(comparisons: list[Comparison]) -> str:
    lines = [
        f"{'experiment':<16} {'metric':<26} {'ns-2: mean':>10} {'sd':>9} {'cwndlab: mean':>13}"
        f" {'sd':>9} {'difference':>10} {'95 % interval':>22} {'allowed':>9}"
    ]
    for item in comparisons:
        low, high = item.mean_difference - item.half_width, item.mean_difference + item.half_width
        lines.append(
            f"{item.experiment:<16} {item.metric:<26} {statistics.fmean(item.theirs):>10.5g}"
            f" {statistics.stdev(item.theirs):>9.3g} {statistics.fmean(item.ours):>13.5g}"
            f" {statistics.stdev(item.ours):>9.3g} {item.mean_difference:>+10.3g}"
            f" {f'[{low:+.3g}, {high:+.3g}]':>22}"
            f" {item.allowed:>9.3g}{'' if item.agrees else '  DISAGREES'}"
        )
    lines += [
        "",
        (
            f"{'over all experiments':<26} {'above':>6} {'below':>6} {'pooled':>9}"
            f" {'95 % interval':>22}"
        ),
    ]
    for side in sides(comparisons):
        low, high = 100 * (side.mean - side.half_width), 100 * (side.mean + side.half_width)
        lines.append(
            f"{side.metric:<26} {side.above:>6} {side.below:>6} {100 * side.mean:>+8.2f}%"
            f" {f'[{low:+.2f}, {high:+.2f}] %':>22}"
            f"{'  ONE SIDE THROUGHOUT' if side.one_sided else ''}"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only", action="append", choices=[experiment.name for experiment in EXPERIMENTS]
    )
    parser.add_argument("--replicates", type=int, default=REPLICATES)
    arguments = parser.parse_args()
    chosen = [
        experiment
        for experiment in EXPERIMENTS
        if experiment.name in (arguments.only or experiment.name)
    ]
    begin = time.perf_counter()
    comparisons = [
        item for experiment in chosen for item in compare(experiment, arguments.replicates)
    ]
    print(table(comparisons))
    differing = [item for item in comparisons if not item.agrees]
    one_sided = [side for side in sides(comparisons) if side.one_sided]
    print(f"\n{len(comparisons) - len(differing)} of {len(comparisons)} agree;", end=" ")
    print(
        f"{len(one_sided)} metrics off to one side throughout; {time.perf_counter() - begin:.0f} s",
        flush=True,
    )
    return 1 if differing or one_sided else 0


if __name__ == "__main__":
    sys.exit(main())
