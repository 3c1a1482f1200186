"""Tables of a chapter: means, differences, and counts of significant differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from cwndlab.report.chapter import Chapter, Measure, named
from cwndlab.tables import MISSING, difference, verdict, with_interval


class Entry(NamedTuple):
    """A cell of a table."""

    text: str
    value: float | None
    """Sort key."""
    verdict: str = ""


class Table(NamedTuple):
    """A table: columns are the compared labels, rows the combinations of the other axes."""

    columns: Sequence[tuple[int, str]]
    """Number of the series, and its label."""
    rows: Sequence[tuple[str, Sequence[Entry]]]


class Tally(NamedTuple):
    """Counts of cells where a level is better or worse than the baseline, or neither."""

    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        """Number of compared cells."""
        return sum(self.counts.values())


def means(chapter: Chapter, measure: Measure) -> Table:
    """Mean and 95 % confidence interval."""
    return _table(chapter, measure, are_differences=False)


def differences(chapter: Chapter, measure: Measure) -> Table:
    """Return differences of each level from the baseline, over pairs of equal seeds."""
    return _table(chapter, measure, are_differences=True)


def tallies(chapter: Chapter) -> list[tuple[int, str, list[Tally]]]:
    """For each other level: its number, its label, and a tally per metric."""
    found: list[tuple[int, str, list[Tally]]] = []
    for index, label in enumerate(chapter.series):
        if label != chapter.baseline and chapter.compared:
            own = chapter.differences.filter(**{chapter.compared: label})
            found.append((index, label, [_tally(own.filter(metric=entry.key).to_dicts(), entry)
                                         for entry in chapter.measures]))  # fmt: skip
    return found


def _tally(rows: Sequence[Mapping[str, Any]], measure: Measure) -> Tally:
    kinds = (
        ("more", "same", "less") if measure.more_is_better is None else ("better", "same", "worse")
    )
    found = [verdict(row, measure) for row in rows]
    return Tally({kind: found.count(kind) for kind in kinds})


def _table(chapter: Chapter, measure: Measure, *, are_differences: bool) -> Table:
    cells = chapter.cells(chapter.differences if are_differences else chapter.summary, measure.key)
    columns = [
        (index, label)
        for index, label in enumerate(chapter.series)
        if not (are_differences and label == chapter.baseline)
    ]
    rows: list[tuple[str, list[Entry]]] = []
    for labels in chapter.rows():
        found = [cells.get(chapter.cell(labels, label)) for _, label in columns]
        if any(found):
            name = named(labels) if len(labels) > 1 else "".join(labels.values())
            rows.append(
                (name or "all runs", [_entry(row, measure, are_differences) for row in found])
            )
    return Table(columns, rows)


def _entry(row: Mapping[str, Any] | None, measure: Measure, is_difference: bool) -> Entry:
    if row is None or row["mean"] is None:
        return Entry(MISSING, None)
    if not is_difference:
        return Entry(with_interval(row, measure), row["mean"])
    return Entry(difference(row, measure), row["mean"], verdict(row, measure))
