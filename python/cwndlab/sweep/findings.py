"""What a sweep found: values of every finished run, held as plain arrays, and the tables that follow."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from cwndlab import native
from cwndlab.jsontext import dumps
from cwndlab.statistics import estimate

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from cwndlab.sweep.definition import Sweep

NOT_DONE = 0xFFFF_FFFF_FFFF_FFFF
"""Stands for a trace hash where a run has not finished. A run whose hash is this number has a chance of 5e-20."""


class Findings:
    """Measured values of a sweep's finished runs, by cell and replicate.

    Attributes
    ----------
    sweep : Sweep
        Whose runs they are.
    failed : list of dict
        Runs that ended with an error: ``cell``, ``replicate``, ``error``.
    unmet : list of dict
        Cells whose intervals stayed above what `Sweep.until` asks for.
    notes : list of str
        What else is to be said: damage in the store, runs that could not be kept.
    """

    def __init__(self, sweep: Sweep) -> None:
        self.sweep = sweep
        self.failed: list[dict[str, Any]] = []
        self.unmet: list[dict[str, Any]] = []
        self.notes: list[str] = []
        self._values: dict[int, list[array[float]]] = {}
        self._hashes: dict[int, array[int]] = {}
        self._done = 0

    def __len__(self) -> int:
        """Count finished runs."""
        return self._done

    def put(self, cell: int, replicate: int, trace_hash: str, values: Mapping[str, float | None]) -> None:
        """Take a finished run in."""
        columns = self._values.setdefault(cell, [array("d") for _ in self.sweep.metrics])
        hashes = self._hashes.setdefault(cell, array("Q"))
        for _ in range(replicate + 1 - len(hashes)):
            hashes.append(NOT_DONE)
            for column in columns:
                column.append(math.nan)
        self._done += hashes[replicate] == NOT_DONE
        hashes[replicate] = int(trace_hash, 16)
        for column, key in zip(columns, self.sweep.metrics, strict=True):
            value = values[key]
            column[replicate] = math.nan if value is None else value

    def values(self, cell: int, metric: str) -> list[float | None]:
        """Values of a cell by replicate; None where a run has none, or has not finished."""
        column = self._values.get(cell)
        if column is None:
            return []
        return [None if math.isnan(value) else value for value in column[list(self.sweep.metrics).index(metric)]]

    def count(self, cell: int) -> int:
        """Finished replicates of a cell."""
        return sum(value != NOT_DONE for value in self._hashes.get(cell, ()))

    def mean(self, cell: int, metric: str) -> float | None:
        """Mean over the replicates of a cell."""
        found = [value for value in self.values(cell, metric) if value is not None]
        return math.fsum(found) / len(found) if found else None

    @property
    def axes(self) -> list[str]:
        """Columns of the axes in every table."""
        first = self.sweep.plan.cell(0)
        return list(self.sweep.columns(first.labels))

    @property
    def runs(self) -> pl.DataFrame:
        """One row per finished run: its cell, ``replicate``, ``seed``, ``trace_hash`` and every metric."""
        rows = (
            (*cell, replicate, self.sweep.seed + replicate, f"{found:016x}", *values)
            for index, cell in self._cells()
            for replicate, (found, *values) in enumerate(zip(self._hashes[index], *self._values[index], strict=True))
            if found != NOT_DONE
        )
        return self._frame(rows, {"replicate": int, "seed": int, "trace_hash": str, **self._by_metric()}).fill_nan(None)

    @property
    def summary(self) -> pl.DataFrame:
        """One row per cell and metric: ``mean``, ``ci95`` (half-width, Student's t) and ``replicates``."""
        rows = (
            (*cell, metric, *estimate(self.values(index, metric)))
            for index, cell in self._cells()
            for metric in self.sweep.metrics
        )
        return self._frame(rows, {"metric": str, **_ESTIMATE})

    @property
    def differences(self) -> pl.DataFrame:
        """What each level of the compared axis has more than the baseline, in otherwise equal cells.

        One row per cell and metric: ``baseline``, ``mean`` of the differences between runs of the same replicate, which
        share their random numbers, its ``ci95``, and ``replicates``: pairs that have both.
        """
        axis = self.sweep.compared
        rows = []
        if axis is not None:
            plan = self.sweep.plan
            label = self.sweep.compared_labels[0]
            names = list(plan.axes)
            strides = {
                name: math.prod(len(plan.axes[later]) for later in names[at + 1 :]) for at, name in enumerate(names)
            }
            place = [level.label for level in plan.axes[axis]].index(label)
            for index, cell in self._cells():
                own = index // strides[axis] % len(plan.axes[axis])
                other = index + (place - own) * strides[axis]
                if own == place or other not in self._values:
                    continue
                for metric in self.sweep.metrics:
                    pairs = zip(self.values(index, metric), self.values(other, metric), strict=False)
                    found = estimate(None if a is None or b is None else a - b for a, b in pairs)
                    rows.append((*cell, label, metric, *found))
        return self._frame(rows, {"baseline": str, "metric": str, **_ESTIMATE})

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """``summary``, ``differences`` and ``runs`` by name."""
        return {"summary": self.summary, "differences": self.differences, "runs": self.runs}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        tables = {name: table.to_dicts() for name, table in self.tables.items()}
        head = {"cwndlab_version": native.version(), "build": native.build(), "sweep": self.sweep.to_dict()}
        return {**head, "complete": not self.failed, "failed": self.failed, "unmet": self.unmet, **tables}

    def to_json(self, indent: int | None = 2) -> str:
        """Return `to_dict` as JSON text; what is not finite is null."""
        return dumps(self.to_dict(), indent)

    def plot(self) -> Figure:
        """Draw every metric's mean with its 95 % confidence interval (matplotlib)."""
        from cwndlab.plots import sweep_points

        return sweep_points(self)

    def extremes(self) -> dict[str, dict[str, Any]] | None:
        """Return the cells with the best and the worst mean of the first metric so far.

        Of a metric that has no better end: ``largest`` and ``smallest``.
        """
        measure = self.sweep.measures[0]
        means = ((self.mean(index, measure.key), index) for index in self._values)
        known = [(mean, index) for mean, index in means if mean is not None]
        if not known:
            return None
        high, low = max(known), min(known)
        names = ("largest", "smallest") if measure.more_is_better is None else ("best", "worst")
        ends = (low, high) if measure.more_is_better is False else (high, low)
        return {
            name: {"cell": self.sweep.columns(self.sweep.plan.cell(index).labels), "metric": measure.key, "mean": mean}
            for name, (mean, index) in zip(names, ends, strict=True)
        }

    def _cells(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        for index in sorted(self._values):
            yield index, tuple(self.sweep.columns(self.sweep.plan.cell(index).labels).values())

    def _by_metric(self) -> dict[str, type]:
        return dict.fromkeys(self.sweep.metrics, float)

    def _frame(self, rows: Any, columns: Mapping[str, type]) -> pl.DataFrame:
        import polars as pl

        types = {str: pl.String, int: pl.Int64, float: pl.Float64}
        schema = {**dict.fromkeys(self.axes, pl.String), **{name: types[kind] for name, kind in columns.items()}}
        return pl.DataFrame(list(rows), schema=schema, orient="row")


_ESTIMATE = {"mean": float, "ci95": float, "replicates": int}
