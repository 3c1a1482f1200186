"""How often verdicts are wrong, as `calibrating` counted it for the short tests.

The counts hold for the tests as they were then; a digest of a criterion's tests, with the margins
and the rules of judging, says whether they are the same.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from typing import Any

from cwndlab.assessment import judging
from cwndlab.assessment.suite import Test

FILE = "calibration.json"
FALSE_MOST = 0.08
"""Part of drawn dossiers of a twin that may be worse anywhere.

With 5 % in truth, 200 draws have 16 or fewer with a probability of 0.97 (binomial distribution).
"""
FOUND_LEAST = 0.92
"""Part of drawn dossiers of a violator in which it must be found; with 95 % in truth likewise."""


@dataclass(frozen=True)
class Calibration:
    """What was counted for a criterion."""

    section: str
    digest: str
    """Of its tests (`digest`)."""
    twins: Mapping[str, int]
    """Reference to the number of draws in which its twin was worse."""
    undecided: Mapping[str, int]
    """Likewise, undecided."""
    violator: str
    """The rule that violates the criterion."""
    why: str
    """Why it does, from what the rule is."""
    found: int
    """Draws in which it was worse."""
    draws: int
    """Of each."""

    @property
    def holds(self) -> bool:
        """Whether verdicts are right often enough."""
        return (
            all(count <= FALSE_MOST * self.draws for count in self.twins.values())
            and self.found >= FOUND_LEAST * self.draws
        )

    @property
    def text(self) -> str:
        """What a dossier says of it."""
        false = ", ".join(f"{count} (a twin of {rule})" for rule, count in self.twins.items())
        return (
            f"of {self.draws} draws worse by mistake: {false}; {self.violator} found in "
            f"{self.found}"
        )


def kept() -> dict[str, Any]:
    """Return what was counted: ``draws``, ``pool``, ``dossiers`` and ``sections``.

    Examples
    --------
    >>> sorted(kept())
    ['build', 'dossiers', 'draws', 'pool', 'sections']
    """
    return json.loads(
        resources.files("cwndlab.assessment").joinpath("suites", FILE).read_text("utf-8")
    )


@functools.cache
def sections() -> dict[str, Calibration]:
    """Return what was counted, by section."""
    return {entry["section"]: Calibration(**entry) for entry in kept()["sections"]}


def of(section: str, tests: Sequence[Test]) -> Calibration | None:
    """Return what was counted of a criterion with these tests; None if of others, or of none."""
    found = sections().get(section)
    return found if found is not None and found.digest == digest(tests) else None


PROSE = ("title", "what", "reference")
"""Keys of a test that change no verdict."""


def digest(tests: Sequence[Test]) -> str:
    """Return a digest of a criterion's tests, their margins and the rules of judging."""
    asked = [
        {key: value for key, value in asdict(test).items() if key not in PROSE} for test in tests
    ]
    used = {key: asdict(judging.margin_of(key)) for test in tests for key in test.judged}
    rules = [judging.DECISIVE, judging.STARVED, judging.STANDARDS]
    text = json.dumps([asked, used, rules], sort_keys=True, default=list)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
