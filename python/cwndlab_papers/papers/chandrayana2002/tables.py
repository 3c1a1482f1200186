"""Data of chandrayana2002's experiments as tables: what was measured, and what follows from it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from cwndlab.statistics import Estimate
from cwndlab_papers import Claim, Data, Experiment, reading
from cwndlab_papers.frames import cell_table
from cwndlab_papers.papers.chandrayana2002 import quantities

MIXED = {
    "ratio": quantities.ratios,
    "loss_share": quantities.shares,
    "timeouts_share": quantities.shares,
}


def plans_table(data: Data, experiment: Experiment) -> pl.DataFrame:
    """Every cell's means of all of an experiment's plans."""
    return pl.concat([cell_table(data, plan) for plan in experiment.plans])


def places(data: Data, experiment: Experiment) -> list[tuple[str, str]]:
    """Plan and setting of each variant: ns-2 with its quirk, without, and beta = 1."""
    return [(plan, setting) for plan in experiment.plans for setting in data.boards[plan].settings]


def claim_about(plan: str, setting: str, metric: str, cases: Sequence[str] | None = None) -> Claim:
    """Make what quantities are computed from, where no claim of the paper is meant."""
    given = {
        "plan": plan,
        "settings": [setting],
        "metric": metric,
        **({"cases": list(cases)} if cases else {}),
    }
    return Claim("", "", "", "", reading("never"), arguments=given)


def by_k(data: Data, claim: Claim, what: str) -> tuple[np.ndarray, list[Estimate]]:
    """Give k and its estimates of ratio, loss_share or timeouts_share in a claim's only case."""
    k = quantities.exponents(data.means(claim["plan"]))
    found = [
        data.estimate(
            lambda chosen, at=at: float(MIXED[what](chosen, claim)[0, at]), [claim["plan"]]
        )
        for at in range(len(k))
    ]
    return k, found


def mixed_table(data: Data, experiment: Experiment) -> pl.DataFrame:
    """One number of figure 4 by variant, number of flows and k, with its interval."""
    what = experiment.arguments["what"]
    rows: list[tuple[object, ...]] = []
    for plan, setting in places(data, experiment):
        for case in data.boards[plan].cases:
            k, found = by_k(data, claim_about(plan, setting, what, [case]), what)
            rows += [
                (setting, int(case), at, one.mean, one.half_width)
                for at, one in zip(k, found, strict=True)
            ]
    return pl.DataFrame(
        rows, schema=["variant", "flows", "k", what, "ci95"], orient="row", infer_schema_length=None
    )
