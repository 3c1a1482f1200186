"""Columns of a result's tables and traces, as the core defines them.

`native.columns` has each one's name, type, label, unit, meaning, bounds, and which values are
better; the Arrow fields of `native.Run.tables` and `native.Run.traces` carry the same as metadata.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from cwndlab import native


@dataclass(frozen=True)
class Column:
    """Definition of a column."""

    name: str
    kind: str
    """``text``, ``whole``, ``float`` or ``truth``."""
    label: str
    """What a plot calls it."""
    heading: str
    """What the head of a table calls it, perhaps in two lines."""
    unit: str
    shown_unit: str
    """Unit in tables and plots."""
    scale: float
    """Factor from `unit` to `shown_unit`."""
    values: Sequence[str]
    """Names of the numbers that the native module has instead of this text."""
    more_is_better: bool | None
    """None if that is not known."""
    bounds: tuple[float, float]
    resolution: float
    """What it is known to, as a part of its value: the width of a bucket of a histogram."""
    meaning: str

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Column:
        """Read an entry of `native.columns`.

        Examples
        --------
        >>> links = native.columns()["tables"]["links"]
        >>> column = Column.of(next(entry for entry in links if entry["name"] == "utilization"))
        >>> column.name, column.unit, column.more_is_better, column.bounds
        ('utilization', 'ratio', True, (0.0, 1.0))
        """
        low, high = entry["bounds"]
        return cls(
            entry["name"], entry["kind"], entry["label"], entry["heading"], entry["unit"],
            entry["shown_unit"], entry["scale"], entry["values"],
            {"higher": True, "lower": False, None: None}[entry["better"]],
            (-math.inf if low is None else low, math.inf if high is None else high),
            entry["resolution"], entry["meaning"],
        )  # fmt: skip


def _by_name(entries: Sequence[Mapping[str, Any]]) -> dict[str, Column]:
    return {entry["name"]: Column.of(entry) for entry in entries}


_DEFINED = native.columns()
RUN = _by_name(_DEFINED["run"])
"""Fields of a run itself."""
_TABLES = {table: _by_name(entries) for table, entries in _DEFINED["tables"].items()}
COLUMNS: dict[str, dict[str, Column]] = {**_TABLES, "groups": _by_name(_DEFINED["groups"])}
"""Columns of the tables of every result."""
TRACES = {table: _by_name(entries) for table, entries in _DEFINED["traces"].items()}
"""Columns of traces; the trace ``rule`` has more, the state that rules report."""

_TYPES = {"text": pl.String, "whole": pl.Int64, "float": pl.Float64}
SCHEMAS: dict[str, dict[str, Any]] = {
    table: {name: _TYPES[column.kind] for name, column in columns.items()}
    for table, columns in COLUMNS.items()
}
"""Columns and types of the tables of every result, as the core defines them.

They are equal for every run, even without flows or without values in a column.
"""
ESTIMATE: dict[str, Any] = {
    "mean": pl.Float64,
    "ci95_low": pl.Float64,
    "ci95_high": pl.Float64,
    "replicates": pl.Int64,
}
"""Columns of a `cwndlab.statistics.Estimate` in a summary."""
TABLES = tuple(_TABLES)
"""Tables that every run has; its ``groups`` are made from its ``flows`` (`cwndlab.groups`)."""


def tables_of(run: native.Run) -> dict[str, pl.DataFrame]:
    """Return the tables of a run; numbers that are not finite are null, as in JSON.

    Examples
    --------
    >>> from cwndlab import dumbbell
    >>> run = dumbbell("1Mbit", "5ms", flows="CUBIC", duration="1s").core.run()
    >>> tables_of(run)["flows"]["rule"].to_list()
    ['CUBIC']
    """
    arrow = run.tables()
    return {table: _with_nulls(pl.DataFrame(arrow[table])) for table in TABLES}


def tables_from(run: Mapping[str, Any]) -> dict[str, pl.DataFrame]:
    """Return the tables of a result as plain data."""
    return {table: pl.DataFrame(run.get(table, []), schema=SCHEMAS[table]) for table in TABLES}


def traces_of(run: native.Run, tables: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Return the traces of a run, with names instead of numbers."""
    names: dict[str, Sequence[str]] = {
        "flow": tables["flows"]["flow"].to_list(),
        "link": tables["links"]["link"].to_list(),
        "source": [*tables["cross"]["source"], *tables["arrivals"]["group"]],
        "group": tables["arrivals"]["group"].to_list(),
        "event": TRACES["packets"]["event"].values,
        "phase": run.phases,
    }
    return {name: _named(pl.DataFrame(table), names) for name, table in run.traces().items()}


def mean_of(column: pl.Series) -> float | None:
    """Return the mean of a column of numbers; None without a value.

    Examples
    --------
    >>> mean_of(pl.Series([1, None, 2])), mean_of(pl.Series([], dtype=pl.Float64))
    (1.5, None)
    """
    mean = column.mean()
    return float(mean) if isinstance(mean, int | float) else None


def _named(frame: pl.DataFrame, names: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    return frame.with_columns(
        pl.Series(column, names[column], dtype=pl.Enum(names[column])).gather(frame[column])
        for column in frame.columns
        if column in names
    )


def _with_nulls(frame: pl.DataFrame) -> pl.DataFrame:
    floats = [
        column
        for column in frame.columns
        if frame.schema[column].is_float() and not frame[column].is_finite().all()
    ]
    return frame.with_columns(
        pl.when(pl.col(column).is_finite()).then(pl.col(column)) for column in floats
    )
