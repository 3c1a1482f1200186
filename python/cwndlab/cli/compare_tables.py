"""Tables of `cwndlab compare` and `cwndlab demo`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.cli.output import print_table
from cwndlab.metrics import BY_KEY, METRICS, Metric

if TYPE_CHECKING:
    import polars as pl

    from cwndlab.comparison import Comparison

SUMMARY = (
    # heading, metric, with scores
    ("goodput /\navailable", "goodput", True),
    ("goodput /\nresidual", "goodput_left", False),
    ("loss\n[%]", "loss_rate", False),
    ("delay\n[ms]", "mean_queueing_delay_s", False),
    ("spread", "fairness_spread", False),
    ("Jain's\nindex", "jain_index", False),
)
"""Columns of the table over many environments: means, and the scores of goodput."""


def print_comparison(
    comparison: Comparison, metrics: tuple[Metric, ...] = METRICS, *, detail: bool = False
) -> None:
    """Print one table per setting and metric: environments as columns, then C_a and D_a.

    With many environments, print one table per setting with means over them; `detail` adds tables
    with environments as rows.
    """
    summary, scores = comparison.summary, comparison.scores
    settings = summary.select("recovery", "queue").unique(maintain_order=True).rows()
    many = comparison.has_many_environments
    under = f", profile {comparison.profile}"
    for recovery, queue in settings:
        where = {"recovery": recovery, "queue": queue}
        if many:
            _print_means(
                f"{recovery} over {queue}{under}",
                summary.filter(**where),
                scores.filter(**where),
            )
        for metric in metrics if detail or not many else ():
            chosen = {**where, "metric": metric.key}
            print_metric = _print_rows if many else _print_columns
            print_metric(
                f"{recovery} over {queue}{under}",
                metric,
                summary.filter(**chosen),
                scores.filter(**chosen),
            )
    if many and len(settings) > 1:
        _print_overview(settings, scores.filter(metric="goodput"), under)


def _print_means(setting: str, summary: pl.DataFrame, scores: pl.DataFrame) -> None:
    """One row per rule, means over the environments."""
    from cwndlab.tables import number

    environments = summary["env"].n_unique()
    columns, rows = ["rule"], [[rule] for rule in summary["rule"].unique(maintain_order=True)]
    for heading, key, with_scores in SUMMARY:
        metric = BY_KEY[key]
        columns += [heading, "C_a", "D_a"] if with_scores else [heading]
        for row in rows:
            row.append(number(summary.filter(rule=row[0], metric=key)["mean"].mean(), metric))
            if with_scores:
                score = scores.filter(rule=row[0], metric=key).row(0, named=True)
                row += [number(score["C_a"], metric), number(score["D_a"], metric)]
    print_table(
        f"{setting}: means over {environments} environments; C_a and D_a of goodput", columns, rows
    )


def _print_columns(
    setting: str, metric: Metric, summary: pl.DataFrame, scores: pl.DataFrame
) -> None:
    """One row per rule, one column per environment."""
    from cwndlab.tables import number, with_interval

    environments = summary["env"].unique(maintain_order=True).to_list()
    rows = []
    for rank in scores.to_dicts():
        cells = {row["env"]: row for row in summary.filter(rule=rank["rule"]).to_dicts()}
        means = [with_interval(cells.get(name), metric) for name in environments]
        rows.append(
            [rank["rule"], *means, number(rank["C_a"], metric), number(rank["D_a"], metric)]
        )
    print_table(_title(setting, metric), ["rule", *environments, "C_a", "D_a"], rows)


def _print_rows(setting: str, metric: Metric, summary: pl.DataFrame, scores: pl.DataFrame) -> None:
    """One row per environment, one column per rule, the scores below."""
    from cwndlab.tables import number, with_interval

    cells = {(row["env"], row["rule"]): row for row in summary.to_dicts()}
    rules = scores["rule"].to_list()
    rows = [
        [name, *(with_interval(cells.get((name, rule)), metric) for rule in rules)]
        for name in summary["env"].unique(maintain_order=True)
    ]
    rows += [[key, *(number(value, metric) for value in scores[key])] for key in ("C_a", "D_a")]
    print_table(_title(setting, metric), ["environment", *rules], rows)


def _print_overview(settings: list[tuple[str, ...]], scores: pl.DataFrame, under: str) -> None:
    """One row per setting: the rules' D_a of goodput, the best marked."""
    from cwndlab.tables import number

    metric = BY_KEY["goodput"]
    rules = scores["rule"].unique(maintain_order=True).to_list()
    rows = []
    for recovery, queue in settings:
        found = dict(
            scores.filter(recovery=recovery, queue=queue).select("rule", "D_a").iter_rows()
        )
        ranked = [value for value in found.values() if value is not None]
        marks = ["*" if ranked and found[rule] == min(ranked) else " " for rule in rules]
        texts = (
            f"{mark} {number(found[rule], metric)}" for rule, mark in zip(rules, marks, strict=True)
        )
        rows.append([f"{recovery} over {queue}", *texts])
    print_table(
        f"D_a of goodput by setting{under} (lower is better; * is the best)",
        ["setting", *rules],
        rows,
    )


def _title(setting: str, metric: Metric) -> str:
    better = "higher" if metric.more_is_better else "lower"
    return f"{metric.title}, {setting} ({better} is better; mean ± 95 % CI)"
