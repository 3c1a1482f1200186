"""Every rule on the same four scenarios: the runs, and the tables of docs/rules.md."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from statistics import mean, stdev

from cwndlab import Scenario
from cwndlab.metrics import BY_KEY, measure
from cwndlab.runs import execute
from cwndlab.runs.plan import Level, Plan
from parts.families import SHOWN, families, of_single_flows
from parts.text import ROOT, table

SCENARIOS = {
    "shared": "8 flows, 10 Mbit/s, drop-tail",
    "unequal": "2 flows, RTTs of 20 and 100 ms, 100 Mbit/s, RED with ECN",
    "random": "4 flows, 20 Mbit/s, 1 % random loss",
    "square": "4 flows, rate 20 / 5 Mbit/s",
}
METRICS = ("goodput", "mean_queueing_delay_s", "loss_rate", "jain_index", "timeouts")
SEEDS = 3
VARIATION_SEEDS = 10

Means = dict[str, dict[str, float]]
"""Family -> metric -> mean over the seeds, in the units shown."""


def scenario(name: str) -> Scenario:
    """One of the four."""
    return Scenario.load(ROOT / "examples" / f"rules-{name}.toml")


def rule_of(family: str) -> str:
    """Return the rule that represents a family: its example.

    LEDBAT has a target that these queues can reach.
    """
    return SHOWN["LEDBAT"] if family == "LEDBAT" else families()[family]["example"]


@functools.cache
def measured(
    name: str, seeds: int = SEEDS, only: str | None = None
) -> dict[str, dict[str, list[float]]]:
    """Family -> metric -> its values, one for each seed."""
    shown = [only] if only else list(of_single_flows())
    plan = Plan(
        scenario(name),
        {"rule": [Level(one, {"flows.*.rule": rule_of(one)}) for one in shown]},
        seeds,
    )
    values = {family: {key: [math.nan] * seeds for key in METRICS} for family in shown}
    for run, result in execute.run_many((run, run.scenario) for run in plan):
        found = measure(result.to_dict())
        for key in METRICS:
            values[run.cell["rule"]][key][run.replicate] = BY_KEY[key].scale * found[key]
    return values


def means(name: str) -> Means:
    """Means of every rule on one scenario."""
    return {
        family: {key: mean(v) for key, v in metrics.items()}
        for family, metrics in measured(name).items()
    }


def four(name: str) -> str:
    """Table of every rule on one scenario."""
    found = means(name)
    rows = [
        [
            f"[{rule_of(family)}](#{family.lower()})",
            *(_number(key, metrics[key]) for key in METRICS),
        ]
        for family, metrics in found.items()
    ]
    return table(["rule", *(BY_KEY[key].title for key in METRICS)], rows)


def luck() -> str:
    """Table of the mean and standard deviation of one rule's numbers over seeds."""
    rows = []
    for name in SCENARIOS:
        values = measured(name, VARIATION_SEEDS, "NewReno")["NewReno"]
        rows.append(
            [
                f"`rules-{name}`",
                *(f"{mean(values[key]):.3g} ± {stdev(values[key]):.2g}" for key in METRICS),
            ]
        )
    return table(["scenario", *(BY_KEY[key].title for key in METRICS)], rows)


def _number(key: str, value: float) -> str:
    digits = {
        "goodput": 3,
        "jain_index": 2,
        "loss_rate": 2,
        "mean_queueing_delay_s": 1,
        "timeouts": 1,
    }[key]
    return f"{value:.{digits}f}"


def column(name: str, key: str) -> Sequence[float]:
    """One metric of every rule on one scenario, in the order of `families`."""
    return [metrics[key] for metrics in means(name).values()]
