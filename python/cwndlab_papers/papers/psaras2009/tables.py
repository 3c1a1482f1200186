"""Data of psaras2009's experiments as tables, one function each."""

from __future__ import annotations

import numpy as np
import polars as pl

from cwndlab.statistics import Estimate
from cwndlab.theory import growth
from cwndlab_papers import Data, Experiment
from cwndlab_papers.frames import cell_table
from cwndlab_papers.papers.psaras2009 import model, quantities

RETRANSMITTED = "flows.*.retransmitted_packets"
VARIANTS = {
    "MR-AIMD": ("MR-AIMD", "AIMD"),
    "a falls to 0.5 on timeouts": ("MRAIMD, reset 0.5", "AIMD"),
    "a' stays low once marked": ("MRAIMD, a' stays low", "AIMD"),
    "beside AIMD that is marked": ("MR-AIMD", "AIMD, marked"),
}
"""Variants of the rules: which one, beside which."""
INCREASES = ("a = 0.5", "a = 1", "a = 1.5", "a = 2")


def plan_table(data: Data, experiment: Experiment) -> pl.DataFrame:
    """Every cell's means of a plan."""
    return cell_table(data, experiment.plans[0])


def plans_table(data: Data, experiment: Experiment) -> pl.DataFrame:
    """Every cell's means of all plans of an experiment."""
    return pl.concat(cell_table(data, plan) for plan in experiment.plans)


def fits_table(data: Data, _experiment: Experiment) -> pl.DataFrame:
    """Fit of each reading of the error rate.

    Access delay, misfit and the interval of the misfit.
    """
    rows: list[tuple[object, ...]] = []
    for reading in quantities.readings_of(data):
        delay_ms, misfit = quantities.fitted(data, reading)
        found = data.estimate(
            lambda part, name=reading: quantities.fitted(part, name)[1], ["readings"]
        )
        rows.append((reading, delay_ms, misfit, found.half_width))
    return pl.DataFrame(rows, schema=["reading", "access_delay_ms", "misfit", "ci95"], orient="row",
                        infer_schema_length=None)  # fmt: skip


def growth_table(_data: Data, _experiment: Experiment) -> pl.DataFrame:
    """Window after each round trip, packets, by reading of the equations.

    AIMD(1) is the one without acceleration.
    """
    rows = [
        (law, acceleration, at, float(window))
        for law in growth.LAWS
        for acceleration in (0.0, 0.005, 0.5)
        for at, window in enumerate(
            growth.windows(model.FIRST_WINDOW, 25, acceleration=acceleration, law=law)
        )
    ]
    return pl.DataFrame(
        rows, schema=["law", "acceleration", "round_trips", "window_packets"], orient="row"
    )


def beside(data: Data, metric: str, own: str, other: str, case: str) -> Estimate:
    """Ratio of a metric of one rule over another's in a case of the plan `assumed`."""

    def ratio(part: Data) -> float:
        means = part.means("assumed")
        at, setting = means.cases.index(case), means.settings[0]
        return float(
            means.value(metric, setting, data.rule(own))[at]
            / means.value(metric, setting, data.rule(other))[at]
        )

    return data.estimate(ratio, ["assumed"])


def assumed_table(data: Data, _experiment: Experiment) -> pl.DataFrame:
    """MR-AIMD over AIMD, goodput and retransmissions, by what was changed.

    Returns
    -------
    polars.DataFrame
        ``id``, ``changed``, ``flows``, ``what``, ``value``, ``ci95``.
    """
    rows: list[tuple[object, ...]] = []
    for case in data.boards["assumed"].cases:
        experiment, changed, flows = case.split("; ")
        pairs = (
            VARIANTS
            if changed in ("as assumed", "error rate 0.1, 16 ms")
            else {"MR-AIMD": VARIANTS["MR-AIMD"]}
        )
        for name, pair in pairs.items():
            for metric, what in (("goodput", "goodput"), (RETRANSMITTED, "retransmissions")):
                found = beside(data, metric, *pair, case)
                label = changed if name == "MR-AIMD" else name
                rows.append((experiment, label, int(flows), what, found.mean, found.half_width))
    return pl.DataFrame(rows, schema=["id", "changed", "flows", "what", "value", "ci95"],
                        orient="row",
                        infer_schema_length=None)  # fmt: skip


def queues_table(data: Data) -> pl.DataFrame:
    """Misfit of table 1's retransmissions, by thresholds and access delay.

    Root mean square of the logarithms.
    """
    means = data.means("table1-queues")
    targets = {
        (number.claim["cases"][0], number.claim["of"][0]): number.value
        for number in quantities.printed("table1", "packets")
    }
    rows: list[tuple[object, ...]] = []
    for place in dict.fromkeys(case.rpartition("; ")[0] for case in means.cases):
        logs = [
            np.log(
                means.value(RETRANSMITTED, means.settings[0], data.rule(rule))[
                    means.cases.index(f"{place}; {flows}")
                ]
                * int(flows)
                / value
            )
            for (flows, rule), value in targets.items()
        ]
        queue, delay = place.split("; ")
        rows.append((queue, float(delay.split()[0]), float(np.sqrt(np.mean(np.square(logs))))))
    return pl.DataFrame(rows, schema=["queue", "access_delay_ms", "misfit"], orient="row")
