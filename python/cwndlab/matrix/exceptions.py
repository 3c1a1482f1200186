"""What is known to fail, with its source: data in exceptions.toml."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

from cwndlab.errors import CwndlabError
from cwndlab.matrix.outcomes import Case, Found, Outcome
from cwndlab.matrix.waveform import family
from cwndlab.message import invalid, unknown

ANY = "*"
KEYS = ("rules", "profiles", "check", "cases", "shows", "source", "reason")


@dataclass(frozen=True)
class Excepted:
    """One exception.

    Attributes
    ----------
    rules, profiles, cases : tuple of str
        Names it is about; ``*`` for all. A rule is named by its family, or in full.
    check : str
    shows : str
        ``always``: a case that holds nevertheless fails, so that the data stay true. ``somewhere``:
        some of the cases show it, others hold.
    source, reason : str
        Who says so, and why.
    """

    rules: tuple[str, ...]
    profiles: tuple[str, ...]
    check: str
    cases: tuple[str, ...]
    shows: Literal["always", "somewhere"]
    source: str
    reason: str

    @classmethod
    def read(cls, entry: dict[str, Any]) -> Excepted:
        """Read one from its table.

        Raises
        ------
        CwndlabError
            If a key is not known or has none of its values.
        """
        for key in entry:
            if key not in KEYS:
                raise CwndlabError(unknown("exceptions.toml", key, KEYS))
        shows = entry.get("shows", "always")
        if shows not in ("always", "somewhere"):
            raise CwndlabError(invalid("exceptions.toml: shows", shows, "always or somewhere"))
        return cls(
            tuple(entry["rules"]),
            tuple(entry.get("profiles", [ANY])),
            entry["check"],
            tuple(entry.get("cases", [ANY])),
            shows,
            entry["source"],
            entry["reason"],
        )

    def is_about(self, case: Case) -> bool:
        """Whether it is about a case."""
        return (
            self.check == case.check
            and any(name in (ANY, case.rule, family(case.rule)) for name in self.rules)
            and any(name in (ANY, case.profile) for name in self.profiles)
            and any(name in (ANY, case.name) for name in self.cases)
        )

    def is_first_about(self, case: Case) -> bool:
        """Whether it is the first known exception that is about a case, which explains it."""
        return next((one for one in known() if one.is_about(case)), None) is self

    @property
    def text(self) -> str:
        """Reason and source."""
        return f"{self.reason} ({self.source})"


@functools.cache
def known() -> tuple[Excepted, ...]:
    """Return all exceptions."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    text = (files("cwndlab.matrix") / "exceptions.toml").read_text(encoding="utf-8")
    return tuple(map(Excepted.read, tomllib.loads(text)["exceptions"]))


def judged(case: Case, outcome: Outcome, exceptions: Iterable[Excepted] | None = None) -> Found:
    """Return the answer to a case, after exceptions.

    Examples
    --------
    >>> unfair = Excepted(("MIMD",), ("*",), "shares", ("*",), "always", "Chiu and Jain", "ratios")
    >>> case = Case("MIMD(1.125, 0.8)", "rfc", "shares", "10 Mbit/s 40 ms")
    >>> [judged(case, Outcome(ratio, 0.5, True), [unfair]).verdict for ratio in (0.1, 0.9)]
    ['excepted', 'fails']

    Where the bound may not be kept, an interval that contains it asks nothing:

    >>> judged(case, Outcome(0.4, 0.5, True, low=0.1, high=0.7), [unfair]).verdict
    'excepted'
    """
    mine = [one for one in (known() if exceptions is None else exceptions) if one.is_about(case)]
    verdict = outcome.verdict
    if not mine:
        return Found(case, outcome, verdict)
    if verdict in ("fails", "undecided"):
        return Found(case, outcome, "excepted", mine[0].text)
    if verdict == "holds" and mine[0].shows == "always":
        return Found(case, outcome, "fails", f"the exception no longer shows: {mine[0].text}")
    return Found(case, outcome, verdict)
