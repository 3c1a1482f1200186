"""A sweep's values of each group of flows, with the groups as an axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from cwndlab.custom_rules import shown
from cwndlab.sweeps.measures import Measure, group_column, group_columns, of_group

if TYPE_CHECKING:
    from cwndlab.sweeps.result import SweepResult

GROUP = "group"
"""The axis."""
SHARE = "share"
"""The column whose equal parts are drawn."""


class ByGroup:
    """What figures read of a sweep, for columns of flows that were measured of every group.

    A level of the axis ``group`` is the rule of its flows, where the rules differ and no axis sets
    one, else the name of the group.

    Parameters
    ----------
    found : SweepResult
        With metrics ``group.COLUMN``.

    Examples
    --------
    >>> from cwndlab import dumbbell, sweep
    >>> base = dumbbell("2Mbit", "10ms", flows=["AIMD(1, 0.5)", "AIAD(1, 3)"], duration="5s")
    >>> found = sweep(base, axes={"dumbbell.delay": ["5ms"]}, replicates=1, metrics="group.share")
    >>> shares = ByGroup(found).summary
    >>> shares["group"].to_list(), round(shares["mean"].sum(), 6)
    (['AIMD(1, 0.5)', 'AIAD(1, 3)'], 1.0)
    """

    def __init__(self, found: SweepResult) -> None:
        self._found = found
        self.title: str = found.title
        sweep, groups = found.sweep, found.sweep.groups
        rules = [shown(str(group["rule"])) for group in groups.values()]
        are_rules = len(set(rules)) == len(rules) and not sweep.varies("rule")
        self._labels = dict(zip(groups, rules if are_rules else groups, strict=True))
        self._arriving = [str(entry["name"]) for entry in sweep.arrivals]
        are_equal = len({group["count"] for group in groups.values()}) == 1
        self._fair = 1 / len(groups) if are_equal and not sweep.varies("count") else None

    @property
    def levels(self) -> dict[str, list[str]]:
        """The levels of every axis, the groups last."""
        return {**self._found.levels, GROUP: [*self._labels.values(), *self._arriving]}

    @property
    def views(self) -> Sequence[str]:
        """No other view has more axes."""
        return ()

    @property
    def measures(self) -> list[Measure]:
        """The columns that were measured of every group; fair is an equal share of each flow."""
        metrics = self._found.sweep.metrics
        columns = dict.fromkeys(key.rpartition(".")[2] for key in metrics)
        found = [
            group_column(column)
            for column in columns
            if column in group_columns()
            and all(of_group(group, column) in metrics for group in self._labels)
        ]
        return [replace(one, reference=self._fair) if one.key == SHARE else one for one in found]

    @property
    def distributions(self) -> dict[str, Measure]:
        """What has a distribution over the flows of a group, or over replicates."""
        return {**{one.key: one for one in self.measures}, **self._found.sweep.distributed}

    def each(self, name: str) -> pl.DataFrame:
        """Return the values of a distribution, ``value``, with axes and ``replicate``."""
        if name not in self._found.sweep.distributed:
            return self.runs.rename({name: "value"})
        whole = self._found.each(name)
        labels = pl.col(GROUP).replace(self._labels)
        return whole.with_columns(labels)

    @property
    def traced(self) -> Callable[[str | None], Mapping[str, Sequence[Any]]]:
        """Returns the runs with their traces, by level of an axis."""
        return self._found.traced

    @property
    def summary(self) -> pl.DataFrame:
        """`SweepResult.summary` with the column ``group``; a metric is a column of flows."""
        whole = self._found.summary
        return pl.concat(
            whole.filter(metric=of_group(group, measure.key)).with_columns(
                pl.lit(label).alias(GROUP), metric=pl.lit(measure.key)
            )
            for measure in self.measures
            for group, label in self._labels.items()
        )

    @property
    def runs(self) -> pl.DataFrame:
        """`SweepResult.runs` with a row for each group."""
        whole, axes = self._found.runs, list(self._found.levels)
        return pl.concat(
            whole.select(
                *axes, "replicate", pl.lit(label).alias(GROUP),
                *(pl.col(of_group(group, one.key)).alias(one.key) for one in self.measures),
            )
            for group, label in self._labels.items()
        )  # fmt: skip
