"""Answers of many cases, summed up by rule, profile and check."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cwndlab.custom_rules import shown
from cwndlab.jsontext import finite
from cwndlab.matrix.checks import CHECKS
from cwndlab.matrix.outcomes import MARKS, NOT_ASKED, VERDICTS, Found, Verdict, worst
from cwndlab.matrix.path import profiles


@dataclass(frozen=True)
class Cell:
    """The answers of a rule under a profile to one check."""

    found: tuple[Found, ...]

    @property
    def verdict(self) -> Verdict | None:
        """The worst of its cases; None if nothing was asked."""
        return worst([one.verdict for one in self.found]) if self.found else None

    @property
    def text(self) -> str:
        """Mark and word, and of a verdict that is not of all cases how many have it.

        Examples
        --------
        >>> Cell(()).text
        '·'
        """
        verdict = self.verdict
        if verdict is None:
            return NOT_ASKED
        count = sum(one.verdict == verdict for one in self.found)
        part = "" if count == len(self.found) else f" {count}/{len(self.found)}"
        return f"{MARKS[verdict]} {verdict}{part}"


@dataclass(frozen=True)
class Summary:
    """All answers.

    Attributes
    ----------
    found : tuple of Found
    rules, profiles, checks : tuple of str
        What was asked, in the order of the tables.
    """

    found: tuple[Found, ...]
    rules: tuple[str, ...]
    profiles: tuple[str, ...]
    checks: tuple[str, ...]

    @classmethod
    def of(cls, found: Iterable[Found]) -> Summary:
        """Sum answers up; rules stay in the order in which they come."""
        answers = tuple(found)
        cases = [one.case for one in answers]
        among = {case.profile for case in cases}
        asked = {case.check for case in cases}
        return cls(
            answers,
            tuple(dict.fromkeys(case.rule for case in cases)),
            tuple(name for name in profiles() if name in among),
            tuple(name for name in CHECKS if name in asked),
        )

    def cells(self) -> dict[tuple[str, str, str], Cell]:
        """Return the cells by rule, profile and check."""
        lists: dict[tuple[str, str, str], list[Found]] = {
            (rule, profile, check): []
            for rule in self.rules
            for profile in self.profiles
            for check in self.checks
        }
        for one in self.found:
            lists[one.case.rule, one.case.profile, one.case.check].append(one)
        return {key: Cell(tuple(answers)) for key, answers in lists.items()}

    def table(self, profile: str) -> list[list[str]]:
        """Return a row of texts per rule: its name, and each check's cell."""
        cells = self.cells()
        return [
            [shown(rule), *(cells[rule, profile, check].text for check in self.checks)]
            for rule in self.rules
        ]

    def counts(self) -> dict[Verdict, int]:
        """Return how many cases have each verdict, the worst first; only those that occur."""
        number: dict[Verdict, int] = {
            verdict: sum(one.verdict == verdict for one in self.found)
            for verdict in reversed(VERDICTS)
        }
        return {verdict: count for verdict, count in number.items() if count}

    def failures(self) -> list[Found]:
        """Return the cases that fail, the one farthest from its bound first."""
        failed = [one for one in self.found if one.verdict == "fails"]
        return sorted(failed, key=distance, reverse=True)


def distance(one: Found) -> float:
    """Return how many times a number is off its bound; infinite where it never got there.

    Examples
    --------
    >>> from cwndlab.matrix import Case, Outcome
    >>> case = Case("CUBIC", "linux", "receiver", "cwnd")
    >>> distance(Found(case, Outcome(80.0, 40.0, False), "fails"))
    2.0
    >>> distance(Found(case, Outcome(0.3, 0.9, True), "fails"))
    3.0
    """
    low, high = one.outcome.bound, one.outcome.measured
    if one.outcome.at_least:
        low, high = high, low
    return high / low if low > 0 and high == high else float("inf")


def detail(found: Sequence[Found]) -> list[list[str]]:
    """Return a row of texts per case: rule, profile, check, case, verdict, number, bound."""
    return [
        [
            shown(one.case.rule),
            one.case.profile,
            one.case.check,
            one.case.name,
            f"{MARKS[one.verdict]} {one.verdict}",
            number(one),
            f"{one.outcome.sign} {one.outcome.bound:.4g}",
        ]
        for one in found
    ]


def number(one: Found) -> str:
    """Write what was measured, with its interval."""
    outcome = one.outcome
    if outcome.low is None or outcome.high is None:
        return f"{outcome.measured:.4g}"
    return f"{outcome.measured:.3g} [{outcome.low:.3g}, {outcome.high:.3g}]"


def as_rows(found: Iterable[Found]) -> list[dict[str, str | float | None]]:
    """Return a flat row per case, for JSON and CSV."""
    return [
        {
            "rule": one.case.rule,
            "profile": one.case.profile,
            "check": one.case.check,
            "case": one.case.name,
            "verdict": one.verdict,
            "measured": finite(one.outcome.measured),
            "bound": one.outcome.bound,
            "at_least": one.outcome.at_least,
            "ci95_low": one.outcome.low,
            "ci95_high": one.outcome.high,
            "unit": CHECKS[one.case.check].unit,
            "reason": one.reason,
        }
        for one in found
    ]
