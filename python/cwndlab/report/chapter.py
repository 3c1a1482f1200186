"""A chapter of a report: one sweep or one comparison."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from cwndlab.plots.style import LOOKS
from cwndlab.quantities import bits_per_second, seconds
from cwndlab.tables import Judged

if TYPE_CHECKING:
    import polars as pl

Cell = tuple[str, ...]
"""Labels in the order of `Chapter.axes`."""
MOST_PANELS = 24
"""Largest number of plots side by side; the tables have the rest."""


class Measure(Judged, Protocol):
    """A metric of comparisons, or a measure of sweeps."""

    @property
    def key(self) -> str:
        """Its column, and its name on the command line."""
        ...

    @property
    def label(self) -> str:
        """Its name in tables."""
        ...

    @property
    def unit(self) -> str:
        """Unit of the shown number."""
        ...

    @property
    def title(self) -> str:
        """Label and unit."""
        ...

    @property
    def better(self) -> str:
        """Which values are better, in words; empty if that is not known."""
        ...


@dataclass(frozen=True, kw_only=True)
class Chapter:
    """One sweep or comparison: its numbers, settings and origin."""

    name: str
    levels: Mapping[str, Sequence[str]]
    """Axis to its labels, in order; the columns of `summary`."""
    compared: str | None
    """The axis whose levels are compared; each is a series."""
    baseline: str | None
    measures: Sequence[Measure]
    summary: pl.DataFrame
    """One row per cell and metric: the axes, ``metric``, ``mean``, its interval, ``replicates``."""
    differences: pl.DataFrame
    """Like `summary`: differences from the baseline over pairs of runs with the same seed."""
    lead: str
    missing: Sequence[str] = ()
    """Missing parts, one sentence each."""
    facts: Mapping[str, str] = field(default_factory=dict[str, str])
    """Settings that are not axes."""
    origin: Mapping[str, str] = field(default_factory=dict[str, str])
    """Provenance."""
    source: tuple[str, str] = ("", "")
    """The definition as text, with its heading."""
    runs: Sequence[Mapping[str, Any]] = ()
    """Finished runs, with their identification."""
    more_runs: int = 0
    """Finished runs that are not in `runs`."""
    scores: Mapping[str, Sequence[Mapping[str, Any]]] = field(
        default_factory=dict[str, Sequence[Mapping[str, Any]]]
    )
    """By metric: rows of rule, setting, C_a and D_a."""
    timelines: Sequence[Mapping[str, Any]] = ()
    notes: Mapping[str, str] = field(default_factory=dict[str, str])
    """Meaning of the labels."""

    @property
    def axes(self) -> list[str]:
        """Names of all axes."""
        return list(self.levels)

    @property
    def series(self) -> Sequence[str]:
        """The compared labels; one empty label if nothing is compared."""
        return self.levels[self.compared] if self.compared else ("",)

    @property
    def varied(self) -> list[str]:
        """Other axes with more than one level."""
        return [name for name in self.axes if name != self.compared and len(self.levels[name]) > 1]

    @property
    def ground(self) -> str | None:
        """The x axis of plots.

        It is the varying axis with the most levels, the last of several.

        With more series than distinct markers, the compared labels are the x axis.
        """
        varied = self.varied if len(self.series) <= len(LOOKS) else []
        return max(
            varied, key=lambda name: (len(self.levels[name]), varied.index(name)), default=None
        )

    @property
    def is_ordered(self) -> bool:
        """Whether the labels of the x axis are quantities, which lines may join."""
        return self.ground is not None and all(map(is_quantity, self.levels[self.ground]))

    def panels(self) -> list[dict[str, str]]:
        """Labels of the axes that distinguish plots."""
        return list(self._product([name for name in self.varied if name != self.ground]))

    def rows(self) -> list[dict[str, str]]:
        """Labels of the rows of tables.

        One per combination of the other varying axes.
        """
        return list(self._product(self.varied))

    def cells(self, table: pl.DataFrame, metric: str) -> dict[Cell, dict[str, Any]]:
        """Rows of a table for one metric, by cell."""
        return {
            tuple(row[name] for name in self.axes): row
            for row in table.filter(metric=metric).to_dicts()
        }

    def cell(self, labels: Mapping[str, str], series: str) -> Cell:
        """Return the cell with these labels, and the only level of the other axes."""
        full = {name: names[0] for name, names in self.levels.items()} | dict(labels)
        if self.compared:
            full[self.compared] = series
        return tuple(full[name] for name in self.axes)

    def _product(self, names: Sequence[str]) -> Iterator[dict[str, str]]:
        for labels in itertools.product(*(self.levels[name] for name in names)):
            yield dict(zip(names, labels, strict=True))


def named(labels: Mapping[str, str]) -> str:
    """Write labels for people, with the last part of each axis' name.

    Examples
    --------
    >>> named({"dumbbell.delay": "10ms", "env": "square"})
    'delay 10ms, env square'
    """
    return ", ".join(f"{short(name)} {label}" for name, label in labels.items())


def short(name: str) -> str:
    """Write the name of an axis without the path of its key; zipped axes have one name.

    Examples
    --------
    >>> short("dumbbell.queue.limit"), short("dumbbell.rate & flows.a.count")
    ('limit', 'rate & count')
    """
    return " & ".join(part.rsplit(".", 1)[-1] for part in name.split(" & "))


def is_quantity(text: str) -> bool:
    """Whether a label is a number, with or without a unit.

    Examples
    --------
    >>> [is_quantity(text) for text in ("10ms", "0.1bdp", "8", "square", "2 & 3")]
    [True, True, True, False, False]
    """
    number = text.rstrip("abcdefghijklmnopqrstuvwxyzGMKT%/ ")
    return (
        seconds(text) is not None
        or bits_per_second(text) is not None
        or (number != "" and number.replace(".", "", 1).isdigit())
    )
