"""What a check of the matrix is."""

from __future__ import annotations

from typing import Protocol

from cwndlab.matrix.outcomes import Outcome
from cwndlab.results import Result
from cwndlab.scenario import Scenario

LEVEL = 0.9
"""Part of what the waveform allows that a flow must reach. A waveform knows no recovery: up to a
tenth is left for round trips in which a loss is repaired."""


class Check(Protocol):
    """A question to a rule under a profile, in one or more cases.

    Attributes
    ----------
    name : str
        In the command and the tables.
    question : str
        In a sentence.
    unit : str
        What is measured.
    why : str
        Where the bound comes from.
    at_first : int, optional
        How many of the scenarios are run at first, the others only if these leave it undecided;
        None: all.
    """

    name: str
    question: str
    unit: str
    why: str
    at_first: int | None

    def cases(self, profile: str) -> tuple[str, ...]:
        """Return the names of the cases; none where the profile does not model what is asked."""
        ...

    def scenarios(self, rule: str, profile: str, case: str) -> list[Scenario]:
        """Return what is run: the scenario in question first, then what it is compared with."""
        ...

    def judge(self, rule: str, profile: str, case: str, results: list[Result]) -> Outcome:
        """Return what the runs found."""
        ...
