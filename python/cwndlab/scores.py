"""The scores C_a and D_a of Akella et al. (2002): how far a rule stays behind the best one.

Per metric and setting, for each environment a rule's distance from the best rule there is
``d = best - own`` (``own - best`` where less is better). C_a is the largest distance over the
environments, D_a their sum. The text defines D as the sum; its notation table divides by the number
of environments, but the published numbers only fit the sum.
"""

from __future__ import annotations

import polars as pl

from cwndlab.metrics import METRICS

SETTING = ("recovery", "queue")
AXES = (*SETTING, "env", "rule")
"""Axes of a plan that scores do not range over."""


def scores(summary: pl.DataFrame) -> pl.DataFrame:
    """C and D of every rule from the means of a `Comparison.summary`.

    A rule without a mean in one of the environments gets null: it cannot be ranked. Neither can a
    metric of which no direction is known to be better.

    Examples
    --------
    >>> columns = ["recovery", "queue", "env", "rule", "metric", "mean"]
    >>> rows = [("sack", "drop-tail", env, rule, "goodput", mean) for env, rule, mean in
    ...         [("one", "A", 0.9), ("one", "B", 0.7), ("two", "A", 0.5), ("two", "B", 0.6)]]
    >>> table = scores(pl.DataFrame(rows, schema=columns, orient="row"))
    >>> [(row["rule"], round(row["C_a"], 3), round(row["D_a"], 3)) for row in table.to_dicts()]
    [('A', 0.1, 0.1), ('B', 0.2, 0.2)]
    """
    sign = {True: 1.0, False: -1.0, None: None}
    signs = {metric.key: sign[metric.more_is_better] for metric in METRICS}
    merit = pl.col("mean") * pl.col("metric").replace_strict(signs, return_dtype=pl.Float64)
    distance = merit.max().over(*SETTING, "metric", "env") - merit
    unranked = pl.col("distance").is_null().any()
    return (
        summary.with_columns(distance=distance)
        .group_by(*SETTING, "metric", "rule", maintain_order=True)
        .agg(
            C_a=pl.when(unranked).then(None).otherwise(pl.col("distance").max()),
            D_a=pl.when(unranked).then(None).otherwise(pl.col("distance").sum()),
        )
    )
