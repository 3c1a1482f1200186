"""Columns of a result's tables and traces: names, whose last word is the unit, and types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from cwndlab import native

PACKET_EVENTS = ("send", "receive", "ack", "drop", "timeout")
"""Meaning of the native module's event codes.

0 sent, 1 arrives at the sink, 2 its ACK arrives at the sender, ...
"""

_TYPES = {"text": pl.String, "whole": pl.Int64, "float": pl.Float64}

SCHEMAS: dict[str, dict[str, Any]] = {
    table: {column: _TYPES[kind] for column, kind in columns}
    for table, columns in native.columns().items()
}
"""Columns and types of the tables of every result, as the core defines them.

They are equal for every run, even without flows or without values in a column.
"""
TABLES = tuple(SCHEMAS)
"""Tables of every result, each a data frame."""


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
    return {
        table: pl.DataFrame(run.get(table, []), schema=schema) for table, schema in SCHEMAS.items()
    }


def traces_of(run: native.Run, tables: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Return the traces of a run, with names instead of numbers."""
    names: dict[str, Sequence[str]] = {
        "flow": tables["flows"]["flow"].to_list(),
        "link": tables["links"]["link"].to_list(),
        "source": [*tables["cross"]["source"], *tables["arrivals"]["group"]],
        "group": tables["arrivals"]["group"].to_list(),
        "event": PACKET_EVENTS,
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
