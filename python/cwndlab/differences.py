"""Paired differences of rules from a baseline, for terminal tables and reports."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from cwndlab.columns import ESTIMATE
from cwndlab.metrics import METRICS, Metric
from cwndlab.scores import AXES, SETTING


def differences(
    runs: pl.DataFrame, baseline: str, metrics: Sequence[Metric] | None = None
) -> pl.DataFrame:
    """Difference of every other rule from the baseline, by cell and metric.

    Runs of the same replicate are compared: they share their random numbers.

    Parameters
    ----------
    runs : polars.DataFrame
        `Comparison.runs`.
    baseline : str
        The rule to compare with, as the runs name it.
    metrics : sequence of Metric, optional
        By default those that the runs have.

    Returns
    -------
    polars.DataFrame
        Columns of `Comparison.summary`: ``mean`` of the differences, the ends ``ci95_low`` and
        ``ci95_high`` of its interval, ``replicates`` (pairs).

    Examples
    --------
    >>> from cwndlab import compare
    >>> rules = ["AIMD(1, 0.5)", "AIAD(1, 3)"]
    >>> runs = compare(rules, replicates=2, duration="2s").runs
    >>> differences(runs, "AIMD(1, 0.5)")["rule"].unique().to_list()
    ['AIAD(1, 3)']
    """
    where = [*SETTING, "env", "replicate"]
    if metrics is None:
        metrics = [metric for metric in METRICS if metric.key in runs.columns]
    other = runs.filter(rule=baseline).select(*where, *(pl.col(metric.key) for metric in metrics))
    pairs = runs.filter(pl.col("rule") != baseline).join(
        other, on=where, suffix=" of baseline", maintain_order="left"
    )
    rows: list[tuple[object, ...]] = []
    for cell, group in pairs.group_by(AXES, maintain_order=True):
        for metric in metrics:
            own, other = (group[key].to_list() for key in (metric.key, f"{metric.key} of baseline"))
            rows.append((*cell, metric.key, *metric.difference(own, other)))
    return pl.DataFrame(
        rows, schema={**dict.fromkeys((*AXES, "metric"), pl.String), **ESTIMATE}, orient="row"
    )


def with_differences(
    summary: pl.DataFrame, paired: pl.DataFrame, baseline: str | None
) -> pl.DataFrame:
    """Put the differences beside the means: columns ``baseline``, ``difference``, its interval.

    Parameters
    ----------
    summary, paired : polars.DataFrame
        Means and differences, whose other columns name the cell and the metric.
    baseline : str, optional
        What the differences are from.

    Examples
    --------
    >>> means = pl.DataFrame({"rule": ["A", "B"], "metric": "goodput", "mean": [0.8, 0.9],
    ...                       "ci95_low": 0.7, "ci95_high": 0.95, "replicates": 3})
    >>> less = pl.DataFrame({"rule": ["B"], "metric": "goodput", "mean": [0.1],
    ...                      "ci95_low": 0.05, "ci95_high": 0.15, "replicates": 3})
    >>> with_differences(means, less, "A").row(1)
    ('B', 'goodput', 0.9, 0.7, 0.95, 3, 'A', 0.1, 0.05, 0.15)
    """
    where = [name for name in summary.columns if name not in ESTIMATE]
    other = paired.select(
        *where,
        pl.lit(baseline, pl.String).alias("baseline"),
        pl.col("mean").alias("difference"),
        pl.col("ci95_low").alias("difference_ci95_low"),
        pl.col("ci95_high").alias("difference_ci95_high"),
    )
    return summary.join(other, on=where, how="left", nulls_equal=True, maintain_order="left")
