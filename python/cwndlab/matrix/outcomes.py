"""What a check found: a measured number, its bound, and the verdict that follows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["holds", "excepted", "undecided", "fails"]
VERDICTS: tuple[Verdict, ...] = ("holds", "excepted", "undecided", "fails")
"""From the best to the worst."""
MARKS: dict[Verdict, str] = {"holds": "●", "excepted": "○", "undecided": "?", "fails": "✗"}
"""A sign for each, so that no meaning depends on colour."""
AT_LEAST, AT_MOST = "≥", "≤"
NOT_ASKED = "·"
"""Where a check does not apply to a profile."""


@dataclass(frozen=True)
class Outcome:
    """A measured number against its bound.

    Numbers have four significant digits: what a record keeps is what was judged.

    Attributes
    ----------
    measured : float
        Infinite, or NaN, where the run did not get so far: neither keeps a bound.
    bound : float
        What the source or theory asks for.
    at_least : bool
        Whether the number may not be below the bound; else it may not be above.
    low, high : float, optional
        The 95 % confidence interval of `measured` over replicates.

    Examples
    --------
    >>> Outcome(0.97, 0.9, True).verdict, Outcome(1.3, 1.0, False).verdict
    ('holds', 'fails')
    >>> Outcome(0.55, 0.5, True, low=0.45, high=0.64).verdict
    'undecided'
    """

    measured: float
    bound: float
    at_least: bool
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        for key in ("measured", "bound", "low", "high"):
            value = getattr(self, key)
            object.__setattr__(self, key, None if value is None else four_digits(float(value)))

    @property
    def sign(self) -> str:
        """How the number must compare with the bound."""
        return AT_LEAST if self.at_least else AT_MOST

    @property
    def verdict(self) -> Verdict:
        """Holds if all of the interval keeps the bound, fails if none of it does."""
        ends = [self.measured if end is None else end for end in (self.low, self.high)]
        kept = [self._keeps(end) for end in ends]
        if all(kept):
            return "holds"
        return "undecided" if any(kept) else "fails"

    def _keeps(self, value: float) -> bool:
        if math.isnan(value):
            return False
        return value >= self.bound if self.at_least else value <= self.bound


def worst(verdicts: list[Verdict]) -> Verdict:
    """Return the worst of some verdicts.

    Examples
    --------
    >>> worst(["holds", "fails", "excepted"])
    'fails'
    """
    return max(verdicts, key=VERDICTS.index)


@dataclass(frozen=True)
class Case:
    """One question: a rule under a profile, in one case of a check.

    Examples
    --------
    >>> Case("CUBIC", "linux", "fills", "20 Mbit/s 40 ms").text
    'CUBIC, linux, fills: 20 Mbit/s 40 ms'
    """

    rule: str
    profile: str
    check: str
    name: str

    @property
    def text(self) -> str:
        """The case in words."""
        return f"{self.rule}, {self.profile}, {self.check}: {self.name}"


@dataclass(frozen=True)
class Found:
    """The answer to a case.

    Attributes
    ----------
    case : Case
    outcome : Outcome
    verdict : str
        The outcome's, or `excepted`, or `fails` where an exception no longer shows.
    reason : str
        Of the exception, with its source; empty without one.
    """

    case: Case
    outcome: Outcome
    verdict: Verdict
    reason: str = ""


def four_digits(value: float) -> float:
    """Round to four significant digits.

    Examples
    --------
    >>> four_digits(0.123456), four_digits(1234567.0)
    (0.1235, 1235000.0)
    """
    return float(f"{value:.4g}")
