"""Facts: data in TOML files beside this module, one file for each theme.

A file has ``title``, ``about`` and ``[[facts]]`` with these keys:

- ``name``; the fact is called THEME/NAME;
- ``statement``: one sentence that an engineer would say;
- ``source``: a paper or an RFC with its section or equation, or the function of Linux that defines
  it; ``why``: how the expected value and its tolerance follow from it;
- ``expected``: ``{ value, relative }``, ``{ value, absolute }``, ``{ low, high }``, ``{ least }``
  or ``{ most }``; ``unit``: of the expected and of the measured value;
- ``measure``: a table whose ``of`` is a measure of `measures.MEASURES`, or a number of a result as
  in a sweep; the other keys are its arguments, but for ``over``, which makes one number of those of
  several cells, and ``scale``, from the measure's unit to the fact's;
- ``scenario``: the whole scenario as TOML text;
- ``cells``: what differs between the runs that a fact needs: ``set``, dotted keys of the scenario,
  and ``x``, the value that an exponent is over; ``replicates``: runs of each cell, with seeds of
  their own (1 where nothing is random);
- ``quick``: whether it is of the part that every change runs;
- ``note``: what is known of a fact that fails.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from cwndlab.arguments import listed
from cwndlab.errors import ScenarioError
from cwndlab.message import invalid, nearest, unknown
from cwndlab.scenario import Scenario
from cwndlab.statistics import Estimate
from cwndlab.sweeps.base import parse

THEMES = (
    "response",
    "buffers",
    "fairness",
    "multipath",
    "slow-start",
    "recovery",
    "limits",
    "queues",
    "ecn",
    "bbr",
    "delay",
    "policing",
    "metrics",
)
"""Files of facts, in the order of the page."""
HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"
VERDICTS = (HOLDS, FAILS, UNDECIDED)
ROUNDING = 1e-9
"""Relative error of sums of decimal fractions, which no bound is meant to exclude."""


@dataclass(frozen=True)
class Band:
    """What is expected of a number.

    Examples
    --------
    >>> band = Band.of({"value": 40, "relative": 0.1})
    >>> band.low, band.high, band.text
    (36.0, 44.0, '40 ± 10 %')
    >>> Band.of({"most": 0.5}).text, Band.of({"low": 1, "high": 2}).text
    ('at most 0.5', '1 to 2')
    """

    low: float
    high: float
    value: float | None
    """The single value that is expected, if there is one."""
    text: str

    @classmethod
    def of(cls, given: Mapping[str, float]) -> Band:
        """Read an expected value.

        Raises
        ------
        ScenarioError
            If the keys are none of the five forms.
        """
        match dict(given):
            case {"value": value, "relative": part, **rest} if not rest and part >= 0:
                margin = abs(value) * part
                text = f"{value:g}" + (f" ± {100 * part:g} %" if part else "")
                return cls(value - margin, value + margin, value, text)
            case {"value": value, "absolute": margin, **rest} if not rest and margin >= 0:
                text = f"{value:g}" + (f" ± {margin:g}" if margin else "")
                return cls(value - margin, value + margin, value, text)
            case {"low": low, "high": high, **rest} if not rest and low <= high:
                return cls(low, high, None, f"{low:g} to {high:g}")
            case {"least": low, **rest} if not rest:
                return cls(low, math.inf, None, f"at least {low:g}")
            case {"most": high, **rest} if not rest:
                return cls(-math.inf, high, None, f"at most {high:g}")
            case other:
                raise ScenarioError(
                    invalid(
                        "expected",
                        other,
                        "{ value, relative }, { value, absolute }, { low, high }, { least } or "
                        "{ most }",
                    )
                )

    def holds(self, number: float) -> bool:
        """Whether a number lies within."""
        slack = ROUNDING * abs(number)
        return self.low - slack <= number <= self.high + slack

    def verdict(self, found: Estimate) -> str:
        """Judge a measured mean with its interval.

        It holds if the whole interval lies within the band, and fails if none of it does. A single
        value is its own interval; without a value the fact fails.

        Examples
        --------
        >>> band = Band.of({"low": 1, "high": 2})
        >>> [band.verdict(Estimate.around(1.5, width, 5)) for width in (0.1, 1.0)]
        ['holds', 'undecided']
        >>> band.verdict(Estimate(2.5, None, None, 1))
        'fails'
        """
        if found.mean is None:
            return FAILS
        low = found.mean if found.low is None else found.low
        high = found.mean if found.high is None else found.high
        if self.holds(low) and self.holds(high):
            return HOLDS
        slack = ROUNDING * abs(found.mean)
        return FAILS if high < self.low - slack or low > self.high + slack else UNDECIDED


@dataclass(frozen=True)
class Cell:
    """One of the runs that a fact needs."""

    set: Mapping[str, Any] = field(default_factory=dict[str, Any])
    x: float | None = None


@dataclass(frozen=True)
class Fact:
    """A known result.

    Attributes
    ----------
    theme, name : str
        Its file, and its name within; together `id`.
    statement, source, why, unit, note : str
        What is known, from where, how the expected value follows, the unit, what is known of a
        failure.
    expected : Band
        The value with its tolerance.
    measure : mapping
        ``of``, ``over`` and arguments (`measures`).
    scenario : str
        TOML text.
    cells : sequence of Cell
        Runs that differ; one without a change by default.
    replicates : int
        Runs of each cell.
    quick : bool
        Whether every change runs it.
    """

    theme: str
    name: str
    statement: str
    source: str
    why: str
    expected: Band
    unit: str
    measure: Mapping[str, Any]
    scenario: str
    cells: Sequence[Cell] = (Cell(),)
    replicates: int = 1
    quick: bool = False
    note: str = ""

    @property
    def id(self) -> str:
        """Theme and name.

        Examples
        --------
        >>> fact("slow-start/initial-window").id
        'slow-start/initial-window'
        """
        return f"{self.theme}/{self.name}"

    @property
    def runs(self) -> int:
        """How many runs it takes."""
        return len(self.cells) * self.replicates

    @functools.cached_property
    def base(self) -> Scenario:
        """Its scenario, checked."""
        return Scenario.from_text(self.scenario)

    def cell_scenario(self, cell: Cell, replicate: int) -> Scenario:
        """Return the scenario of a run: the cell's keys, and a seed for each replicate."""
        found = self.base.patch(cell.set) if cell.set else self.base
        document = found.to_dict()
        return found.with_seed(document.get("seed", 1) + replicate)


@dataclass(frozen=True)
class Theme:
    """A file of facts."""

    name: str
    title: str
    about: str
    facts: Sequence[Fact]


@functools.cache
def theme(name: str) -> Theme:
    """Return the facts of a theme.

    Raises
    ------
    ScenarioError
        If there is no such theme.

    Examples
    --------
    >>> theme("slow-start").title
    'Slow start'
    """
    if name not in THEMES:
        raise ScenarioError(unknown("fact", name, THEMES))
    place = resources.files("cwndlab.known_results").joinpath("facts", f"{name}.toml")
    data = parse(place.read_text("utf-8"))
    facts = [_fact(name, entry) for entry in data["facts"]]
    return Theme(name, data["title"], data["about"], facts)


def _fact(name: str, entry: Mapping[str, Any]) -> Fact:
    given = dict(entry)
    try:
        return Fact(
            theme=name,
            expected=Band.of(given.pop("expected")),
            cells=[Cell(**cell) for cell in given.pop("cells", [{}])],
            **given,
        )
    except (KeyError, TypeError, ScenarioError) as error:
        raise ScenarioError(f"{name}/{entry.get('name')}: {error}") from None


def select(names: str | Iterable[str] = (), *, quick: bool = False) -> list[Fact]:
    """Return facts by their names or themes, in the order of the page; all without a name.

    Parameters
    ----------
    names : str or iterable of str
        Facts (``"slow-start/initial-window"``) or themes (``"slow-start"``).
    quick : bool
        Whether only those of the quick part count.

    Raises
    ------
    ScenarioError
        If there is no such fact or theme.

    Examples
    --------
    >>> len(select()) >= 60, {fact.theme for fact in select("slow-start")}
    (True, {'slow-start'})
    """
    known = [fact for name in THEMES for fact in theme(name).facts]
    wanted = listed(names)
    ids = {fact.id for fact in known}
    for name in wanted:
        if name not in ids and name not in THEMES:
            raise ScenarioError(_unknown(name, ids))
    return [
        fact
        for fact in known
        if (not wanted or fact.id in wanted or fact.theme in wanted) and (fact.quick or not quick)
    ]


def fact(name: str) -> Fact:
    """Return one fact.

    Raises
    ------
    ScenarioError
        If there is no such fact.
    """
    found = next((one for one in select() if one.id == name), None)
    if found is None:
        raise ScenarioError(_unknown(name, {one.id for one in select()}))
    return found


def _unknown(name: str, ids: Iterable[str]) -> str:
    """Say that there is no such fact, without listing all of them."""
    names = [*THEMES, *ids]
    expected = f"a theme ({', '.join(THEMES)}) or a fact, which --list lists"
    return invalid("fact", name, expected, nearest(name, names))
