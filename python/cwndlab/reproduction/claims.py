"""Claims of a paper: each a sentence, a quantity, and a reading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cwndlab.errors import ScenarioError
from cwndlab.message import missing
from cwndlab.reproduction.readings import UNDECIDED, Reading, read_toml, reading
from cwndlab.statistics import Estimate


@dataclass(frozen=True)
class Claim:
    """One statement of a paper, as a number with bounds.

    Parameters
    ----------
    id, name : str
        The experiment (``fig4``), and the claim among its claims.
    section, statement : str
        Its section of the paper, and the statement in our words.
    reading : Reading
        Bounds of the measured number.
    quantity : str
        Name of the function that computes the number; empty if there is none yet.
    is_exact : bool
        The number comes from theory and has no interval.
    arguments : mapping
        Arguments of the quantity: plan, metric, rules, settings. `also` has variants of the claim:
        name to the arguments that differ. `why` explains a claim that does not hold.
    """

    id: str
    name: str
    section: str
    statement: str
    reading: Reading
    quantity: str = ""
    is_exact: bool = False
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __getitem__(self, key: str) -> Any:
        """Return an argument."""
        if key not in self.arguments:
            raise ScenarioError(
                missing(f"claim {self.id}/{self.name}: {key}", f"what {self.quantity} needs")
            )
        return self.arguments[key]

    @property
    def plans(self) -> list[str]:
        """Names of the plans whose runs it needs."""
        other = [changes.get("plan") for changes in self.arguments.get("also", {}).values()]
        named = [self.arguments.get("plan"), self.arguments.get("beside"), *other]
        return [] if self.is_exact or not self.quantity else [name for name in named if name]

    def with_metric(self, metric: str) -> Claim:
        """Return the same claim about another metric."""
        return replace(self, arguments={**self.arguments, "metric": metric})


@dataclass(frozen=True)
class Judged:
    """A claim with its measured number and verdict."""

    claim: Claim
    measured: Estimate
    verdict: str
    also: Mapping[str, tuple[Estimate, str]] = field(
        default_factory=dict[str, tuple[Estimate, str]]
    )
    """The same claim by another metric, such as goodput over the measured residual bandwidth."""
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        claim = self.claim
        return {
            "id": claim.id,
            "claim": claim.name,
            "statement": claim.statement,
            "section": claim.section,
            "reading": claim.reading.name,
            "bounds": claim.reading.text,
            **_numbers(self.measured, claim.is_exact),
            "replicates": None if claim.is_exact else self.measured.count,
            "verdict": self.verdict,
            "note": self.note,
            "also": {
                metric: {**_numbers(found, claim.is_exact), "verdict": verdict}
                for metric, (found, verdict) in self.also.items()
            },
        }


def not_searched(claim: Claim) -> Judged:
    """Return the verdict on a claim without a quantity."""
    note = claim.arguments.get("why", "nothing here computes it")
    return Judged(claim, Estimate(None, None, None, 0), UNDECIDED, note=note)


def read_claims(file: Path) -> list[Claim]:
    """Read a paper's ``claims.toml``.

    Raises
    ------
    ScenarioError
        If a claim names an unknown reading, or two claims have the same name.
    """
    data = read_toml(file)
    defaults = data.get("defaults", {})
    claims: list[Claim] = []
    for entry in data["claim"]:
        rest = {key: value for key, value in entry.items() if key not in _OWN}
        claims.append(
            Claim(
                entry["id"], entry["claim"], entry["section"], entry["statement"],
                reading(entry["reading"]),
                entry["quantity"] if entry.get("searched", True) else "", entry.get("exact", False),
                {**defaults, **rest},
            )
        )  # fmt: skip
    names = [(claim.id, claim.name) for claim in claims]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise ScenarioError(f"claim `{twice[0]}/{twice[1]}` must not be repeated")
    return claims


_OWN = ("id", "claim", "section", "statement", "reading", "quantity", "exact", "searched")


def _numbers(found: Estimate, is_exact: bool) -> dict[str, Any]:
    if found.mean is None or (found.half_width is None and not is_exact):
        return {"measured": found.mean, "interval": None}
    ends = [found.mean, found.mean] if is_exact else [found.low, found.high]
    return {"measured": found.mean, "interval": ends}
