"""Tables of the columns of results and traces, and of metrics, from their definitions."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from cwndlab.columns import COLUMNS, RUN, TRACES, Column
from cwndlab.metrics import METRICS, Metric
from cwndlab.sharing import MEASURES
from parts.text import code_name, table

TABLES_OF_A_RUN = (
    "the tables below: lists in JSON, data frames in Python. Finite flows of `[[arrivals]]` are in "
    "`arrivals` only; sums and indices over flows leave them out"
)
_BETTER = {True: "higher", False: "lower", None: ""}


def columns(name: str) -> str:
    """Table of the columns of a result's table, or of the fields of a run."""
    found = RUN if name == "run" else COLUMNS[name]
    rows = _rows(found.values())
    if name == "run":
        rows.append([", ".join(map(code_name, COLUMNS)), "", "", TABLES_OF_A_RUN])
    return table(["column", "unit", "better", "definition"], rows)


def traces() -> str:
    """Table of the columns of all traces."""
    rows: list[list[str]] = []
    for name, found in TRACES.items():
        of_table = [[names, unit, meaning] for names, unit, _, meaning in _rows(found.values())]
        rows += [[code_name(name) if at == 0 else "", *row] for at, row in enumerate(of_table)]
    return table(["table", "column", "unit", "definition"], rows)


def metrics() -> str:
    """Table of the metrics of comparisons."""
    return _metrics("metric", METRICS)


def measures() -> str:
    """Table of the measures of one rule against another."""
    return _metrics("measure", MEASURES)


def _metrics(what: str, entries: Sequence[Metric]) -> str:
    groups = itertools.groupby(
        entries, key=lambda entry: (_shown(entry), entry.more_is_better, entry.meaning)
    )
    rows = [
        [", ".join(code_name(entry.key) for entry in alike), unit, _BETTER[better], meaning]
        for (unit, better, meaning), alike in groups
    ]
    return table([what, "shown in", "better", "definition"], rows)


def _shown(entry: Metric) -> str:
    return entry.unit or "ratio"


def _rows(found: Iterable[Column]) -> list[list[str]]:
    """One row for each group of neighbours with the same definition."""
    groups = itertools.groupby(
        found, key=lambda column: (column.unit, column.more_is_better, column.meaning)
    )
    return [
        [", ".join(code_name(column.name) for column in alike), unit, _BETTER[better], meaning]
        for (unit, better, meaning), alike in groups
    ]
