"""Groups of flows: what each entry of ``[[flows]]`` gets beside the others.

docs/metrics.md defines the columns. Harm is that of Ware et al. [1]_: with x alone and y in
competition (x - y)/x where more is better, and (y - x)/y where less is.

References
----------
.. [1] R. Ware, M. K. Mukerjee, S. Seshan, J. Sherry, "Beyond Jain's Fairness Index: Setting the Bar
   For The Deployment of Congestion Control Algorithms", HotNets 2019.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from cwndlab.columns import SCHEMAS

Solo = Mapping[str, Mapping[str, float | None]]
"""Group to its ``goodput_bps``, of a flow while it is active, and ``mean_rtt_s`` alone."""

_SUMS = (
    "goodput_bps", "delivered_packets", "sent_packets", "retransmitted_packets",
    "dropped_packets", "marked_packets", "timeouts", "fast_retransmits", "ecn_reductions",
)  # fmt: skip
_MEANS = (
    "active_s", "mean_rtt_s", "p50_rtt_s", "p95_rtt_s", "p99_rtt_s", "p999_rtt_s",
    "mean_cwnd_packets", "convergence_s",
)  # fmt: skip
_SOLO = {"group": pl.String, "solo_goodput_bps": pl.Float64, "solo_rtt_s": pl.Float64}


def groups_of(flows: pl.DataFrame, solo: Solo | None = None) -> pl.DataFrame:
    """Sum up the flows of each group.

    Parameters
    ----------
    flows : polars.DataFrame
        The flows of a result; columns that it lacks are not known.
    solo : mapping, optional
        What groups get alone.

    Returns
    -------
    polars.DataFrame
        One row per group, in the order of the flows, with the columns of docs/metrics.md.

    Examples
    --------
    Two flows of ``a`` beside one of ``b``, which comes for the last 10 of 40 seconds:

    >>> flow = {"active_s": 40.0, "active_goodput_bps": 3e6, "goodput_bps": 3e6}
    >>> late = {"active_s": 10.0, "active_goodput_bps": 8e6, "goodput_bps": 2e6}
    >>> flows = pl.DataFrame([{"group": "a", **flow}, {"group": "a", **flow},
    ...                       {"group": "b", **late}])
    >>> table = groups_of(flows, {"b": {"goodput_bps": 1e7, "mean_rtt_s": None}})
    >>> table["share"].to_list(), table["active_goodput_bps"].to_list(), table["harm"].to_list()
    ([0.75, 0.25], [3000000.0, 8000000.0], [None, 0.19999999999999996])
    """
    known = pl.concat([pl.DataFrame(schema=SCHEMAS["flows"]), flows], how="diagonal_relaxed")
    # A flow of which it is not known was active.
    active = (pl.col("active_s") > 0.0).fill_null(value=True)
    own_bits = (pl.col("active_goodput_bps") * pl.col("active_s")).filter(active)
    own_s = pl.col("active_s").filter(active)
    rows = known.group_by("group", maintain_order=True).agg(
        pl.col("rule", "recovery").first(),
        *(_known_sum(name) for name in _SUMS),
        *(pl.col(name).mean() for name in _MEANS),
        pl.col("starved_s").max(),
        flows=pl.len(),
        active_flows=active.sum(),
        mean_goodput_bps=pl.col("goodput_bps").mean(),
        active_goodput_bps=pl.when(own_bits.null_count() == 0, own_s.sum() > 0.0).then(
            own_bits.sum() / own_s.sum()
        ),
        jain_index=_jain_index(pl.col("goodput_bps").filter(active)),
        active_jain_index=_jain_index(pl.col("active_goodput_bps").filter(active)),
    )
    alone = pl.DataFrame(
        [(name, own["goodput_bps"], own["mean_rtt_s"]) for name, own in (solo or {}).items()],
        _SOLO,
        orient="row",
    )
    total_bps = pl.col("goodput_bps").sum()
    return (
        rows.join(alone, on="group", how="left", maintain_order="left")
        .with_columns(
            share=pl.when(total_bps > 0.0).then(pl.col("goodput_bps") / total_bps),
            loss_rate=pl.when(pl.col("sent_packets") > 0).then(
                pl.col("dropped_packets") / pl.col("sent_packets")
            ),
            harm=harm(pl.col("active_goodput_bps"), pl.col("solo_goodput_bps")),
            rtt_harm=harm(pl.col("solo_rtt_s"), pl.col("mean_rtt_s")),
        )
        .select(pl.col(name).cast(kind) for name, kind in SCHEMAS["groups"].items())
    )


def harm(worse: pl.Expr, better: pl.Expr) -> pl.Expr:
    """Return the fraction that one value lacks of another: harm, where more is better.

    Examples
    --------
    >>> table = pl.DataFrame({"with": [2.0, 5.0, 0.0], "alone": [8.0, 4.0, 0.0]})
    >>> table.select(harm(pl.col("with"), pl.col("alone"))).to_series().to_list()
    [0.75, -0.25, None]
    """
    return pl.when(better > 0.0).then(1.0 - worse / better)


def with_groups(run: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a run, as plain data, with its groups: a result has them, what is stored has not.

    Examples
    --------
    >>> run = {"flows": [{"group": "a", "goodput_bps": 3e6}, {"group": "b", "goodput_bps": 1e6}]}
    >>> [(row["group"], row["share"]) for row in with_groups(run)["groups"]]
    [('a', 0.75), ('b', 0.25)]
    """
    if "groups" in run:
        return run
    flows = pl.DataFrame(run["flows"], schema_overrides=SCHEMAS["flows"], infer_schema_length=None)
    return {**run, "groups": groups_of(flows, run.get("solo")).to_dicts()}


def _known_sum(name: str) -> pl.Expr:
    """Sum a column; null where a flow has no value, as timeouts with ECN in ns-2."""
    column = pl.col(name)
    return pl.when(column.null_count() == 0).then(column.sum()).alias(name)


def _jain_index(goodputs: pl.Expr) -> pl.Expr:
    """Jain's index (Jain, Chiu and Hawe 1984); null where one is not known, or all are 0."""
    squares = goodputs.pow(2).sum()
    return pl.when(goodputs.null_count() == 0, squares > 0.0).then(
        goodputs.sum().pow(2) / (goodputs.len() * squares)
    )
