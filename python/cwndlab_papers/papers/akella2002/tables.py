"""Data of akella2002's experiments as tables, one function each.

What was measured, and what follows from it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from cwndlab.statistics import estimate
from cwndlab_papers import Claim, Data, Experiment, Means, reading, waveforms
from cwndlab_papers.papers.akella2002 import quantities

METRICS = ("goodput", "loss_rate", "mean_queueing_delay_s", "fairness_spread")
SCORES = ("C_a", "D_a", "mean")
LOW = 0.3
"""Rank correlation below which an order counts as unlike the printed one."""


def rules(data: Data, experiment: Experiment) -> list[str]:
    """Rules of an experiment in their notation."""
    return [data.rule(name) for name in experiment.arguments["rules"]]


def score(
    data: Data, plan: str, by: str, metric: str, setting: str, rule: str, among: Sequence[str]
) -> float:
    """One score: C_a, D_a (the sum), or the mean over the environments."""
    means = data.means(plan)
    if by == "mean":
        return float(np.mean(means.value(metric, setting, rule)))
    found = means.distances(metric, setting, rule, among)
    return float(np.max(found) if by == "C_a" else np.sum(found))


def scores(data: Data, plan: str, settings: Sequence[str], among: Sequence[str]) -> pl.DataFrame:
    """One row per setting, metric, score and rule.

    ``value`` and ``ci95``, the half-width of its interval.
    """
    rows: list[tuple[object, ...]] = []
    for setting in settings:
        for metric in METRICS:
            for by in SCORES:
                for rule in among:
                    found = data.estimate(
                        lambda chosen, place=(by, metric, setting, rule): score(
                            chosen, plan, *place, among
                        ),
                        [plan],
                    )
                    rows.append((setting, metric, by, rule, found.mean, found.half_width))
    columns = ["setting", "metric", "score", "rule", "value", "ci95"]
    return pl.DataFrame(rows, schema=columns, orient="row", infer_schema_length=None)


def cells(data: Data, plan: str, settings: Sequence[str] | None = None) -> pl.DataFrame:
    """One row per setting, environment, rule and metric.

    ``value`` is the mean over replicates, with ``ci95``.
    """
    board = data.boards[plan]
    rows: list[tuple[object, ...]] = []
    places = itertools.product(
        enumerate(board.settings), enumerate(board.cases), enumerate(board.rules)
    )
    for (at, setting), (case_at, case), (rule_at, rule) in places:
        if settings is not None and setting not in settings:
            continue
        for metric, values in board.values.items():
            found = estimate(values[at, case_at, rule_at])
            rows.append((plan, setting, case, rule, metric, found.mean, found.half_width))
    columns = ["plan", "setting", "case", "rule", "metric", "value", "ci95"]
    return pl.DataFrame(rows, schema=columns, orient="row", infer_schema_length=None)


def setting_table(data: Data, experiment: Experiment) -> pl.DataFrame:
    """Every environment's means under one setting."""
    return cells(data, experiment.plans[0], [experiment.arguments["setting"]])


def plan_table(data: Data, experiment: Experiment) -> pl.DataFrame:
    """Every cell's means of a plan."""
    return cells(data, experiment.plans[0])


def case_table(data: Data, experiment: Experiment) -> pl.DataFrame:
    """Means of one case of a plan."""
    return plan_table(data, experiment).filter(case=experiment.arguments["case"])


def waveform_summary(_data: Data, experiment: Experiment) -> pl.DataFrame:
    """Give the waveform's parameters, and the command that finds it."""
    found = plan_file(experiment.plans[0])["waveforms"][experiment.arguments["case"]]
    values = ", ".join(f"{name} {value}" for name, value in found["values"].items())
    return pl.DataFrame(
        {"waveform": [found["family"]], "per test flow": [values], "found by": [found["command"]]}
    )


def plan_file(plan: str) -> dict[str, Any]:
    """Read a plan's file."""
    return waveforms.read(Path(__file__).parent / "plans" / f"{plan}.toml")


def winners_table(data: Data, experiment: Experiment) -> pl.DataFrame:
    """Who leads under each setting.

    ``wins`` where goodput is near-identical to the best, ``is_unfair`` by spread.
    """
    plan, among = experiment.plans[0], rules(data, experiment)
    means = data.means(plan)
    rows: list[tuple[object, ...]] = []
    for setting in means.settings:
        merits = {rule: float(np.mean(means.value("goodput", setting, rule))) for rule in among}
        for rule in among:
            behind = max(merits.values()) - merits[rule]
            spread = float(np.mean(means.value("fairness_spread", setting, rule)))
            rows.append(
                (
                    setting, rule,
                    *(score(data, plan, by, "goodput", setting, rule, among) for by in ("C_a",
                    "D_a")),
                    behind, spread, behind <= reading("near-identical").most,
                    spread > reading("unfair").above,
                )
            )  # fmt: skip
    columns = [
        "setting",
        "rule",
        "C_a",
        "D_a",
        "behind_the_best",
        "fairness_spread",
        "wins",
        "is_unfair",
    ]
    return pl.DataFrame(rows, schema=columns, orient="row")


def winners_summary(data: Data, experiment: Experiment) -> pl.DataFrame:
    """Who leads under each setting, unfair ones in parentheses."""
    rows: list[tuple[object, ...]] = []
    for (setting,), group in winners_table(data, experiment).group_by(
        "setting", maintain_order=True
    ):
        names = [
            f"({row['rule']})" if row["is_unfair"] else row["rule"]
            for row in group.sort("behind_the_best").to_dicts()
            if row["wins"]
        ]
        rows.append((setting, "; ".join(names)))
    return pl.DataFrame(
        rows, schema=["setting", "winners in goodput, unfair ones in parentheses"], orient="row"
    )


def appendix_table(data: Data, experiment: Experiment) -> pl.DataFrame:
    """Ours beside the published pairs.

    Per setting and family the correlations and the root mean square differences.
    """
    means = data.means(experiment.plans[0])
    rows: list[tuple[object, ...]] = []
    for setting in means.settings:
        for family in quantities.FAMILIES:
            ours = quantities.family_scores(means, "goodput", setting, family)
            theirs = quantities.printed(setting, family)
            by_d, by_c = quantities.correlations(means, "goodput", setting, family)
            rms_d, rms_c = (
                float(
                    np.sqrt(np.mean([(ours[rule][at] - theirs[rule][at]) ** 2 for rule in theirs]))
                )
                for at in (0, 1)
            )
            rows += [
                (
                    setting,
                    family,
                    rule,
                    *own,
                    *theirs.get(rule, (None, None)),
                    by_d,
                    by_c,
                    rms_d,
                    rms_c,
                )
                for rule, own in ours.items()
            ]
    columns = [
        "setting", "family", "rule", "D_a", "C_a", "published_D_a", "published_C_a", "spearman_D_a",
        "spearman_C_a",
        "rms_D_a", "rms_C_a",
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=columns, orient="row", infer_schema_length=None)


def appendix_summary(data: Data, experiment: Experiment) -> pl.DataFrame:
    """Correlations and RMS differences by setting and family, and our best choice by D_a.

    Where a correlation is below `LOW`, the environment without which it is largest.
    """
    table = appendix_table(data, experiment)
    means = data.means(experiment.plans[0])
    rows: list[tuple[object, ...]] = []
    for (setting, family), group in table.group_by("setting", "family", maintain_order=True):
        first = group.row(0, named=True)
        best = group.sort("D_a")["rule"][0]
        theirs = group.drop_nulls("published_D_a").sort("published_D_a")["rule"][0]
        rows.append(
            (
                setting,
                family,
                *(first[key] for key in ("spearman_D_a", "spearman_C_a", "rms_D_a", "rms_C_a")),
                best,
                theirs,
                *(
                    _without(means, str(setting), str(family), at)
                    if first[f"spearman_{score}"] < LOW
                    else None
                    for at, score in enumerate(("D_a", "C_a"))
                ),
            )
        )
    for family in quantities.FAMILIES:
        ours = quantities.worst_scores(means, "goodput", family)
        rows.append(
            (
                "all",
                family,
                None,
                None,
                None,
                None,
                min(ours, key=ours.__getitem__),
                data.rule(family),
                None,
                None,
            )
        )
    columns = [
        "setting", "family", "Spearman D_a", "Spearman C_a", "RMS D_a", "RMS C_a",
        "least D_a (all: least worst)",
        "published",
        "low D_a: largest without",
        "low C_a: largest without",
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=columns, orient="row", infer_schema_length=None)


def _without(means: Means, setting: str, family: str, at: int) -> str:
    case, value = quantities.most_without(means, setting, family, at)
    return f"{case}: {value:.2f}"


def sync_table(_data: Data, _experiment: Experiment) -> pl.DataFrame:
    """Every combination of the four parameters that was iterated, and what two flows end with."""
    rows = [
        (rule.text, rule.ai, rule.bi, rule.ad, rule.bd, *ends)
        for rule, *ends in quantities.combinations()
    ]
    columns = ["rule", "ai", "bi", "ad", "bd", "final_spread", "least_window_share"]
    return pl.DataFrame(rows, schema=columns, orient="row", infer_schema_length=None, strict=False)


def orders(data: Data, experiment: Experiment) -> dict[str, dict[str, float]]:
    """Correlation of each pair of orders, by what is changed and setting."""
    means, among = data.means("representatives"), rules(data, experiment)
    quantity = {
        "ratio": (quantities.order_by_ratio, {"plan": "representatives"}),
        "flows": (
            quantities.order_with_more_flows,
            {"plan": "more-flows", "beside": "representatives"},
        ),
        "jain": (quantities.order_by_jain, {"plan": "representatives"}),
    }
    found: dict[str, dict[str, float]] = {}
    for name, (function, places) in quantity.items():
        for setting in means.settings:
            given = {"metric": "goodput", "among": among, "settings": [setting], **places}
            claim = Claim("ordering", name, "", "", reading("same-order"), arguments=given)
            found.setdefault(name, {})[setting] = function(data, claim)
    return found


def ordering_table(data: Data, experiment: Experiment) -> pl.DataFrame:
    """Correlations of `orders`."""
    rows = [
        (name, setting, value)
        for name, by in orders(data, experiment).items()
        for setting, value in by.items()
    ]
    return pl.DataFrame(rows, schema=["changed", "setting", "spearman"], orient="row")
