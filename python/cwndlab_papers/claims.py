"""Claims of a paper: each a sentence, a quantity, and a reading."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cwndlab import ScenarioError
from cwndlab.plugins import missing, unknown
from cwndlab.statistics import Estimate
from cwndlab_papers.readings import HOLDS, NOT_JUDGED, Reading, margins, read_toml, reading

THEORY, CONSTRUCTED, FITTED, SIMULATED = "theory", "constructed", "fitted", "simulated"
LIVE = "live"
TAGS = {
    THEORY: "computed without a simulation",
    CONSTRUCTED: "simulated with values that were searched for so that it holds",
    FITTED: "simulated with values that were chosen by the number itself, and so not judged",
    SIMULATED: "simulated",
    LIVE: "measured with flows of a real kernel",
}
"""Kinds of claims by what their numbers come from."""


CAUSES = {
    "contradictory": "the paper contradicts itself, or its own numbers",
    "open value": "a value that the paper leaves open decides it",
    "ns-2": "endpoints or routers of the ns-2 of that year decide it",
    "wording": "the direction is the paper's or there is none, and our bound is not met",
    "refuted": "no value that was tried brings it out",
    "unexplained": "not looked into",
}
"""Causes of claims that do not hold."""


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
        name to the arguments that differ. `why` explains a claim that does not hold, `short` why a
        short run cannot judge it.
    tag : str
        What its number comes from, one of `TAGS`.
    """

    id: str
    name: str
    section: str
    statement: str
    reading: Reading
    quantity: str = ""
    is_exact: bool = False
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    tag: str = SIMULATED

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

    @property
    def alone(self) -> Claim:
        """The claim without what it is judged by beside, and without the plans of that."""
        own = {name: value for name, value in self.arguments.items() if name != "also"}
        return dataclasses.replace(self, arguments=own)

    @property
    def margin(self) -> float:
        """Margin of relevance, in the unit of its number."""
        if not self.reading.has_margin or self.is_exact:
            return 0.0
        known = margins()
        metric = self.arguments.get("metric", "other")
        is_ratio = self.arguments.get("by") in ("ratio", "relative")
        entry = known["other"] if is_ratio else known.get(metric, known["other"])
        return float(self.arguments.get("margin", entry["margin"]))

    @property
    def bounds(self) -> str:
        """Its bounds in symbols, with the margin."""
        return self.reading.text + (f", margin {self.margin:g}" if self.margin else "")

    @property
    def cause(self) -> str:
        """Why it does not hold where it does not, one of `CAUSES`."""
        return str(self.arguments.get("cause", "unexplained"))

    def more_replicates(self, measured: Estimate) -> float:
        """How many times as many replicates would decide an undecided claim, by its interval.

        Examples
        --------
        The bound 0.5 is half of a half-width away:

        >>> fair = Claim("fig1", "fair", "1", "A is fair", reading("fair"))
        >>> round(fair.more_replicates(Estimate.around(0.4, 0.2, 10)), 3)
        4.0
        """
        low, high = self.reading.above - self.margin, self.reading.above + self.margin
        edges = [self.reading.least, low, high, self.reading.most]
        known = [edge for edge in edges if math.isfinite(edge)]
        if measured.mean is None or measured.half_width is None or not known:
            return math.inf
        if self.margin and low < measured.mean < high:
            return math.inf
        nearest = min(abs(measured.mean - edge) for edge in known)
        return (measured.half_width / nearest) ** 2 if nearest else math.inf

    def verdict(self, measured: Estimate) -> str:
        """Judge a measured number of this claim."""
        if self.tag == FITTED:
            return NOT_JUDGED
        return self.reading.verdict(measured, exact=self.is_exact, margin=self.margin)

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
            "bounds": claim.bounds,
            "tag": claim.tag,
            **_numbers(self.measured, claim.is_exact),
            "replicates": None if claim.is_exact else self.measured.count,
            "verdict": self.verdict,
            "cause": "" if self.verdict in (HOLDS, NOT_JUDGED) else claim.cause,
            "note": self.note,
            "also": {
                metric: {**_numbers(found, claim.is_exact), "verdict": verdict}
                for metric, (found, verdict) in self.also.items()
            },
        }


def not_searched(claim: Claim) -> Judged:
    """Return the verdict on a claim without a quantity."""
    note = claim.arguments.get("why", "nothing here computes it")
    return Judged(claim, Estimate(None, None, None, 0), NOT_JUDGED, note=note)


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
                {**defaults, **rest}, _tag(entry),
            )
        )  # fmt: skip
    names = [(claim.id, claim.name) for claim in claims]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise ScenarioError(f"claim `{twice[0]}/{twice[1]}` must not be repeated")
    return claims


def claims_hash(claims: Iterable[Claim]) -> str:
    """Hash what decides the verdicts on a paper's claims: SHA-256, hexadecimal.

    That is each claim's statement, number, bounds, margin and tag; not the explanations, which are
    written after the runs.

    Examples
    --------
    >>> claim = Claim("fig1", "best", "1", "A is best", reading("better"), "lead")
    >>> claims_hash([claim]) == claims_hash([replace(claim, arguments={"why": "by luck"})])
    True
    >>> claims_hash([claim]) == claims_hash([replace(claim, reading=reading("fair"))])
    False
    """
    whole = [
        [claim.id, claim.name, claim.section, claim.statement, claim.reading, claim.quantity,
         claim.is_exact, claim.margin, claim.tag,
         {key: value for key, value in claim.arguments.items() if key not in _EXPLAIN}]
        for claim in claims
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()


_EXPLAIN = ("why", "short", "cause")
_OWN = ("id", "claim", "section", "statement", "reading", "quantity", "exact", "searched", "tag")


def _tag(entry: Mapping[str, Any]) -> str:
    found = str(entry.get("tag", THEORY if entry.get("exact") else SIMULATED))
    if found not in TAGS:
        raise ScenarioError(unknown(f"claim {entry['id']}/{entry['claim']}: tag", found, TAGS))
    return found


def _numbers(found: Estimate, is_exact: bool) -> dict[str, Any]:
    if found.mean is None or (found.half_width is None and not is_exact):
        return {"measured": found.mean, "interval": None}
    ends = [found.mean, found.mean] if is_exact else [found.low, found.high]
    # An end that a censored number lacks has no number in JSON.
    return {
        "measured": found.mean,
        "interval": [end if end is not None and math.isfinite(end) else None for end in ends],
    }
