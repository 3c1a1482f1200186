"""Readings: the meaning of a paper's words as bounds of a number, and the verdict.

`readings.toml` has all of them.
"""

from __future__ import annotations

import functools
import math
import sys
from pathlib import Path
from typing import Any, NamedTuple

from cwndlab import ScenarioError
from cwndlab.plugins import unknown
from cwndlab.statistics import UNBOUNDED, Bounds, Estimate

HOLDS, FAILS, UNDECIDED, NOT_JUDGED = "holds", "fails", "undecided", "not judged"
VERDICTS = (HOLDS, FAILS, UNDECIDED, NOT_JUDGED)


class Reading(NamedTuple):
    """Bounds of a measured number; `least` and `most` include themselves, `above` does not.

    With `has_margin` a number within the margin of relevance of `above` is undecided
    (`margins.toml`). `possible` are the values that the number can have at all.
    """

    name: str
    meaning: str
    least: float = -math.inf
    above: float = -math.inf
    most: float = math.inf
    has_margin: bool = False
    possible: Bounds = UNBOUNDED

    @property
    def text(self) -> str:
        """The bounds in symbols.

        Examples
        --------
        >>> reading("fair").text, reading("slightly-above").text
        ('<= 0.5', '> 1 and <= 1.25')
        """
        bounds = ((">=", self.least), (">", self.above), ("<=", self.most))
        return " and ".join(f"{sign} {bound:g}" for sign, bound in bounds if math.isfinite(bound))

    def verdict(self, measured: Estimate, *, exact: bool = False, margin: float = 0.0) -> str:
        """Judge a measured number by its interval, an `exact` one by its value.

        Returns
        -------
        str
            ``"holds"`` if the whole interval is within the bounds, ``"fails"`` if it is outside,
            ``"undecided"`` if it overlaps them or there is no interval. A `margin` moves `above` up
            for the former, and down for the latter.

        Examples
        --------
        >>> fair = reading("fair")
        >>> [fair.verdict(Estimate.around(0.4, half_width, 10)) for half_width in (0.05, 0.2, None)]
        ['holds', 'undecided', 'undecided']
        >>> fair.verdict(Estimate.around(0.8, 0.2, 10))
        'fails'
        >>> ahead = Estimate.around(0.002, 0.001, 10)
        >>> [reading("better").verdict(ahead, margin=margin) for margin in (0.0, 0.005)]
        ['holds', 'undecided']
        """
        low, high = (measured.mean,) * 2 if exact else (measured.low, measured.high)
        if low is None or high is None:
            return UNDECIDED
        if low >= self.least and low > self.above + margin and high <= self.most:
            return HOLDS
        if high < self.least or high <= self.above - margin or low > self.most:
            return FAILS
        return UNDECIDED


@functools.cache
def readings() -> dict[str, Reading]:
    """Return every reading by its name."""
    known: dict[str, Reading] = {}
    for name, entry in read_toml(Path(__file__).with_name("readings.toml")).items():
        low, high = entry.pop("possible", UNBOUNDED)
        known[name] = Reading(name, possible=(low, high), **entry)
    return known


@functools.cache
def margins() -> dict[str, dict[str, Any]]:
    """Return the margins of relevance by metric: ``margin`` and ``reason``."""
    return read_toml(Path(__file__).with_name("margins.toml"))


def reading(name: str) -> Reading:
    """Find a reading by its name.

    Raises
    ------
    ScenarioError
        If there is no such reading.
    """
    if name not in readings():
        raise ScenarioError(unknown("reading", name, readings()))
    return readings()[name]


def read_toml(file: Path) -> dict[str, Any]:
    """Read a TOML file of the package."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads(file.read_text(encoding="utf-8"))
