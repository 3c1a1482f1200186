"""Expectations of results: ``harm < 0.2``, ``interval(goodput)[env=square] >= 0.9``.

An expectation is about the mean of a metric, or about its whole 95 % interval, in every cell of a
summary, or in those with the labels in brackets. A cell fails if it has no value, or if one of its
runs has none: the mean of the others would pass a rule whose flows did not finish. An expectation
of which there is no cell fails, too.
"""

from __future__ import annotations

import math
import operator
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cwndlab.errors import ScenarioError
from cwndlab.files import write_whole
from cwndlab.junit import Case, document
from cwndlab.message import invalid, plural, unknown
from cwndlab.quantities import bits_per_second, seconds

if TYPE_CHECKING:
    import polars as pl

EXPECTED = '"METRIC < NUMBER" or "interval(METRIC)[rule=CUBIC] >= NUMBER"; <, <=, > or >='
_FORM = re.compile(
    r"\s*(?:interval\(\s*(?P<whole>[\w.*-]+)\s*\)|(?P<mean>[\w.*-]+))\s*"
    r"(?:\[(?P<cell>.*)\])?\s*(?P<sign><=|>=|<|>)\s*(?P<limit>[^<>=\s][^<>=]*?)\s*",
    re.DOTALL,
)
_SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@dataclass(frozen=True)
class Expectation:
    """A bound of a metric.

    Examples
    --------
    >>> found = Expectation.of("interval(goodput)[env=square, rule=AIMD(1, 0.5)] >= 90%")
    >>> found.metric, found.is_whole, found.limit, dict(found.cell)
    ('goodput', True, 0.9, {'env': 'square', 'rule': 'AIMD(1, 0.5)'})
    >>> Expectation.of("mean_rtt_s < 50ms").limit
    0.05
    """

    text: str
    metric: str
    is_whole: bool
    """About the whole interval instead of the mean."""
    cell: Mapping[str, str]
    sign: str
    limit: float

    @classmethod
    def of(cls, text: str) -> Expectation:
        """Read an expectation; a limit may have a unit or a percent sign.

        Raises
        ------
        ScenarioError
            If it is not valid.
        """
        found = _FORM.fullmatch(text)
        metric = found and (found["whole"] or found["mean"])
        limit = _limit(metric, found["limit"]) if found and metric else None
        # Every number is below infinity, and none fails.
        limit = None if limit is None or not math.isfinite(limit) else limit
        cell = _cell(found["cell"]) if found else None
        if found is None or not metric or limit is None or cell is None:
            raise ScenarioError(invalid("expect", text, EXPECTED))
        return cls(text.strip(), metric, bool(found["whole"]), cell, found["sign"], limit)

    def check(self, metrics: Iterable[str], labels: Mapping[str, Iterable[str]]) -> None:
        """Raise if there is no such metric or cell, before any run.

        Parameters
        ----------
        metrics : iterable of str
            The metrics of the summary.
        labels : mapping
            Column of the cells to its labels.
        """
        known = list(metrics)
        if self.metric not in known:
            raise ScenarioError(unknown("expect: metric", self.metric, known))
        for column, label in self.cell.items():
            if column not in labels:
                raise ScenarioError(unknown("expect: column", column, labels))
            if label not in (of_column := list(labels[column])):
                raise ScenarioError(unknown(f"expect: {column}", label, of_column))

    def holds(self, mean: float | None, interval: tuple[float, float] | None) -> bool:
        """Whether a mean with its interval meets the bound."""
        if mean is None or not math.isfinite(mean) or (self.is_whole and interval is None):
            return False
        ends = interval if self.is_whole and interval else (mean,)
        return all(_SIGNS[self.sign](end, self.limit) for end in ends)


class Verdict(NamedTuple):
    """An expectation in one cell."""

    expectation: Expectation
    cell: dict[str, str]
    mean: float | None
    interval: tuple[float, float] | None
    holds: bool
    without: int = 0
    """Runs of the cell that have no value."""


def judge(
    expected: Iterable[Expectation], summary: pl.DataFrame, runs: pl.DataFrame
) -> list[Verdict]:
    """Judge expectations by a summary: cells, ``metric`` or ``measure``, ``mean``, its interval.

    Parameters
    ----------
    expected : iterable of Expectation
        The expectations.
    summary : DataFrame
        One row per cell and metric; ``replicates`` counts the runs that have a value.
    runs : DataFrame
        One row per run, with the columns of its cell.

    Examples
    --------
    >>> from cwndlab import compare
    >>> found = compare(["AIMD(1, 0.5)"], replicates=2, duration="5s")
    >>> [(verdict.cell["env"], verdict.holds)
    ...  for verdict in judge([Expectation.of("goodput > 10%")], found.summary, found.runs)]
    [('constant', True)]
    """
    named = "metric" if "metric" in summary.columns else "measure"
    numbers = ("mean", "ci95_low", "ci95_high", "replicates")
    columns = [name for name in summary.columns if name not in (named, *numbers)]
    counts = Counter(tuple(map(str, row)) for row in runs.select(columns).iter_rows())
    verdicts: list[Verdict] = []
    for each in expected:
        own: list[Verdict] = []
        for row in summary.filter(**{named: each.metric}).to_dicts():
            cell = {name: str(row[name]) for name in columns}
            if each.cell.items() <= cell.items():
                mean, low, high = row["mean"], row["ci95_low"], row["ci95_high"]
                interval = None if low is None or high is None else (low, high)
                of_cell = counts[tuple(cell.values())] if columns else runs.height
                without = of_cell - row["replicates"]
                holds = without == 0 and each.holds(mean, interval)
                own.append(Verdict(each, cell, mean, interval, holds, without))
        verdicts += own or [Verdict(each, dict(each.cell), None, None, holds=False)]
    return verdicts


def junit(verdicts: Iterable[Verdict], name: str) -> str:
    """Write verdicts as JUnit XML: a test case for each expectation and cell.

    Examples
    --------
    >>> met = Verdict(Expectation.of("goodput > 0.5"), {"rule": "CUBIC"}, 0.9, (0.8, 1.0), True)
    >>> print(junit([met], "compare"))
    <?xml version='1.0' encoding='utf-8'?>
    <testsuite name="compare" tests="1" failures="0">
      <testcase classname="compare" name="goodput &gt; 0.5: rule=CUBIC" />
    </testsuite>
    """
    cases: list[Case] = []
    for verdict in verdicts:
        cell = ", ".join(f"{key}={label}" for key, label in verdict.cell.items())
        title = f"{verdict.expectation.text}: {cell}" if cell else verdict.expectation.text
        cases.append(Case(title, "" if verdict.holds else f"found {shown(verdict)}"))
    return document(name, cases)


def shown(verdict: Verdict) -> str:
    """Write what was found, for a message."""
    if verdict.mean is None:
        return "no value"
    text = f"{verdict.mean:.6g}"
    if verdict.interval is not None:
        low, high = verdict.interval
        text = f"{text} [{low:.6g}, {high:.6g}]"
    return f"{text}, and no value in {plural(verdict.without, 'run')}" if verdict.without else text


def _limit(metric: str, text: str) -> float | None:
    if text.endswith("%"):
        number = _number(text[:-1])
        return None if number is None else number / 100
    number = _number(text)
    if number is not None:
        return number
    if metric.endswith("_bps"):
        return bits_per_second(text)
    return seconds(text) if metric.endswith("_s") else None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _cell(text: str | None) -> dict[str, str] | None:
    """Read ``env=square, rule=AIMD(1, 0.5)``: a comma before the next ``name=`` separates."""
    if text is None:
        return {}
    parts: list[Any] = re.split(r",\s*(?=[\w.-]+\s*=)", text)
    pairs = [part.partition("=") for part in parts]
    if any(not equals or not key.strip() or not label.strip() for key, equals, label in pairs):
        return None
    return {key.strip(): label.strip() for key, _, label in pairs}


def write(path: Path, verdicts: Iterable[Verdict], name: str) -> None:
    """Write verdicts to a file as JUnit XML."""
    write_whole(path, f"{junit(verdicts, name)}\n".encode())
