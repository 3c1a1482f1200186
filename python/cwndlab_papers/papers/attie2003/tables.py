"""Data of attie2003's experiments as tables, one function each."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from cwndlab_papers import Claim, Data, Experiment, reading
from cwndlab_papers.frames import cell_table
from cwndlab_papers.papers.attie2003 import model
from cwndlab_papers.quantities import advantage

FLOWS = ("10", "40", "100")
"""Numbers of flows with which assumptions are varied."""
OPTIONS = {
    "as assumed": "",
    "dead band of a tenth": ", band=0.1",
    "compared as the prose has it": ", compare=scaled",
}
"""Variants of the rule to what they add to its notation."""

WAYS: dict[str, dict[str, Any]] = {
    "pseudo-code": {"compare": "fair"},
    "pseudo-code, dead band": {"compare": "fair", "band": 1.0},
    "prose": {"compare": "margin"},
}
"""Ways to compare a load with the fair share; the dead band is one packet."""


def plan_table(data: Data, experiment: Experiment) -> pl.DataFrame:
    """Every cell's means of a plan."""
    return cell_table(data, experiment.plans[0])


def model_table(_data: Data, _experiment: Experiment) -> pl.DataFrame:
    """Ten flows on 1000 packets that others join.

    What each way to compare makes of it, exactly and in whole steps.
    """
    rows: list[tuple[object, ...]] = []
    for compare in ("fair", "margin"):
        for band in (0.0, 1.0):
            for joining in model.JOINING:
                found = model.course(
                    "Bimodal",
                    10,
                    1000.0,
                    compare=compare,
                    band=band,
                    joining=joining,
                    steps=model.LONG,
                )
                cycles, is_bound = model.cycles_after_join(found)
                settled, never = model.steps_to_settle(found, model.CHANGE_STEP)
                rows.append((compare, band, joining, cycles, is_bound, settled, never))
    columns = [
        "compare",
        "band_packets",
        "joining",
        "cycles",
        "is_lower_bound",
        "round_trips_to_settle",
        "never_settles",
    ]
    return pl.DataFrame(rows, schema=columns, orient="row")


def efficiencies(epsilon: float) -> dict[str, np.ndarray]:
    """Efficiency in whole steps over flows and capacities, by how loads are compared."""
    return {
        name: np.array([
            model.course("Bimodal", *place, exact=False, epsilon=epsilon,
            **way).efficiency(cycles=30)
            for place in model.grid()
        ])
        for name, way in WAYS.items()
    }  # fmt: skip


def assumed_table(data: Data, experiment: Experiment) -> pl.DataFrame:
    """Largest goodput gain, and mean gain of Jain's index, over AIMD, by changed assumption.

    Returns
    -------
    polars.DataFrame
        ``changed``, ``rule``, ``what``, ``value``, ``ci95``.
    """
    rows: list[tuple[object, ...]] = []
    names = list(dict.fromkeys(case.rpartition(", ")[0] for case in data.boards["assumed"].cases))
    places = [("assumed", name, "", [f"{name}, {count}" for count in FLOWS]) for name in names]
    places += [("options", name, text, list(FLOWS)) for name, text in OPTIONS.items() if text]
    for plan, name, text, chosen in places:
        for short in experiment.arguments["rules"]:
            rule = data.rule(short)[:-1] + text + ")"
            for what, given in (
                (
                    "goodput, largest gain",
                    {"metric": "goodput", "by": "relative", "pick": "largest"},
                ),
                ("goodput, mean gain", {"metric": "goodput", "by": "relative", "pick": "mean"}),
                (
                    "Jain's index, mean gain",
                    {"metric": "jain_index", "by": "difference", "pick": "mean"},
                ),
            ):
                claim = Claim(
                    "assumed", name, "", "", reading("better"), "advantage",
                    arguments={
                        "plan": plan, "settings": "all", "of": [rule], "over": ["AIMD"],
                        "cases": chosen, **given
                    },
                )  # fmt: skip
                found = data.estimate(lambda part, claim=claim: advantage(part, claim), [plan])
                rows.append((name, short, what, found.mean, found.half_width))
    return pl.DataFrame(
        rows,
        schema=["changed", "rule", "what", "value", "ci95"],
        orient="row",
        infer_schema_length=None,
    )
