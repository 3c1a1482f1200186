"""Runs the scenarios of facts and judges them."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cwndlab.arguments import Progress, Simulated
from cwndlab.known_results import measures
from cwndlab.known_results.fact import Fact, select
from cwndlab.runs.execute import run, side_by_side, threads_of
from cwndlab.scenario import Scenario
from cwndlab.statistics import UNBOUNDED, Estimate, estimate

if TYPE_CHECKING:
    import polars as pl

Values = Mapping[tuple[int, int], float | None]
"""(cell, replicate) to what was measured."""


@dataclass(frozen=True)
class Checked:
    """A fact with what was measured.

    Attributes
    ----------
    fact : Fact
        What was checked.
    values : sequence of float or None
        One for each replicate.
    measured : Estimate
        Their mean with its 95 % interval; none with one replicate.
    verdict : str
        ``holds``, ``fails`` or ``undecided``.
    """

    fact: Fact
    values: Sequence[float | None]
    measured: Estimate
    verdict: str

    @classmethod
    def of(cls, fact: Fact, values: Sequence[float | None]) -> Checked:
        """Judge a fact by the values of its replicates."""
        # A replicate without a value is no part of a mean, but a fault of the fact.
        missing = any(value is None or not math.isfinite(value) for value in values)
        bounds = UNBOUNDED if measures.is_signed(fact.measure) else (0.0, math.inf)
        found = Estimate(None, None, None, 0) if missing else estimate(values, bounds=bounds)
        return cls(fact, values, found, fact.expected.verdict(found))


def check(
    names: str | Iterable[str] = (),
    *,
    quick: bool = False,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> pl.DataFrame:
    """Check known results.

    Parameters
    ----------
    names : str or iterable of str
        Facts or themes; by default all.
    quick : bool
        Whether to check only the quick part.
    jobs : int, optional
        Number of threads; by default one for each processor.
    progress : callable, optional
        Gets the name of a fact, the number of finished runs, and of all.

    Returns
    -------
    polars.DataFrame
        One row for each fact: ``fact``, ``statement``, ``source``, ``expected`` (text),
        ``expected_low``, ``expected_high``, ``unit``, ``mean``, ``ci95_low``, ``ci95_high``,
        ``replicates``, ``verdict``, ``note``. The interval is null with one replicate, a bound of
        what is expected where there is none.

    Raises
    ------
    ScenarioError
        If there is no such fact.
    """
    wanted = [names] if isinstance(names, str) else names
    found = checked(select(wanted, quick=quick), jobs=jobs, progress=progress)
    return frame(sorted_as_listed(found))


def checked(
    facts: Iterable[Fact], *, jobs: int | None = None, progress: Progress | None = None
) -> Generator[Checked]:
    """Yield facts with what was measured, as their last runs finish.

    On Ctrl-C, or when the caller stops early, running simulations stop within a fraction of a
    second; the caller keeps what was yielded.
    """
    listed = list(facts)
    total = sum(fact.runs for fact in listed)
    waiting: dict[int, dict[tuple[int, int], float | None]] = {
        number: {} for number in range(len(listed))
    }
    runs = side_by_side(_measure, _tasks(listed), threads_of(jobs))
    for done, ((number, *place), value) in enumerate(runs, 1):
        fact, values = listed[number], waiting[number]
        values[place[0], place[1]] = value
        if progress is not None:
            progress(fact.id, done, total)
        if len(values) == fact.runs:
            yield Checked.of(fact, _joined(fact, waiting.pop(number)))


Task = tuple[Fact, Scenario]


def _tasks(facts: Sequence[Fact]) -> Generator[tuple[tuple[int, int, int], Task]]:
    for number, fact in enumerate(facts):
        for replicate in range(fact.replicates):
            for place, cell in enumerate(fact.cells):
                yield (number, place, replicate), (fact, fact.cell_scenario(cell, replicate))


def _measure(task: Task, progress: Simulated) -> float | None:
    """Run a scenario and keep one number of it: traces of all runs would not fit."""
    fact, scenario = task
    return measures.measure(run(scenario, progress=progress), fact.measure)


def _joined(fact: Fact, values: Values) -> list[float | None]:
    """Make one number for each replicate of those of its cells."""
    xs = [cell.x for cell in fact.cells]
    return [
        measures.over(
            fact.measure.get("over", ""), xs, [values[at, replicate] for at in range(len(xs))]
        )
        for replicate in range(fact.replicates)
    ]


def sorted_as_listed(found: Iterable[Checked]) -> list[Checked]:
    """Put checked facts into the order of the page."""
    order = {fact.id: place for place, fact in enumerate(select())}
    return sorted(found, key=lambda one: order[one.fact.id])


def frame(found: Iterable[Checked]) -> pl.DataFrame:
    """Return checked facts as a data frame, as `check` does."""
    import polars as pl

    return pl.DataFrame([_row(one) for one in found], schema=_schema(), orient="row")


def _row(one: Checked) -> list[Any]:
    fact, measured = one.fact, one.measured
    low, high = (
        None if math.isinf(bound) else bound for bound in (fact.expected.low, fact.expected.high)
    )
    return [
        fact.id, fact.statement, fact.source, fact.expected.text, low, high, fact.unit,
        measured.mean, measured.low, measured.high, len(one.values), one.verdict, fact.note,
    ]  # fmt: skip


def _schema() -> list[tuple[str, Any]]:
    import polars as pl

    return [
        ("fact", pl.String), ("statement", pl.String), ("source", pl.String),
        ("expected", pl.String), ("expected_low", pl.Float64), ("expected_high", pl.Float64),
        ("unit", pl.String), ("mean", pl.Float64), ("ci95_low", pl.Float64),
        ("ci95_high", pl.Float64), ("replicates", pl.Int64), ("verdict", pl.String),
        ("note", pl.String),
    ]  # fmt: skip
