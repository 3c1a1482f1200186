"""The record of the last full run: what was measured, by which build of the core."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cwndlab import native
from cwndlab.files import write_whole
from cwndlab.jsontext import dumps
from cwndlab.known_results.checking import Checked
from cwndlab.known_results.fact import Fact
from cwndlab.outputs import stamped

NAME = "known-results.json"
FIRST = "known-results-first.json"
"""The record of before anything was mended, kept as it came out."""


def of(found: Iterable[Checked]) -> str:
    """Write what was measured as JSON text."""
    facts = [_entry(one) for one in found]
    text = dumps(stamped("known-results", {"build": native.build(), "facts": facts}))
    return f"{text}\n"


def write(found: Iterable[Checked], folder: Path) -> Path:
    """Write the record into a folder."""
    path = folder / NAME
    write_whole(path, of(found).encode())
    return path


def read(folder: Path, name: str = NAME) -> dict[str, Any]:
    """Read a record of a folder; one without facts where there is none."""
    path = folder / name
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"facts": []}


def judged(record: dict[str, Any], facts: Iterable[Fact]) -> list[Checked]:
    """Judge the recorded values by today's expectations; facts without a record are left out."""
    values = {entry["fact"]: entry["values"] for entry in record["facts"]}
    return [Checked.of(fact, values[fact.id]) for fact in facts if fact.id in values]


def scenario_hash(fact: Fact) -> str:
    """Return a number for all that the measured values follow from, but the core.

    Examples
    --------
    >>> from cwndlab.known_results.fact import fact
    >>> len(scenario_hash(fact("slow-start/initial-window")))
    16
    """
    cells = [[dict(cell.set), cell.x] for cell in fact.cells]
    parts = [fact.base.to_dict(), cells, dict(fact.measure), fact.replicates]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def _entry(one: Checked) -> dict[str, Any]:
    """Return a fact's entry; a bound that is not there is null."""
    fact, found = one.fact, one.measured
    band = fact.expected
    return {
        "fact": fact.id,
        "source": fact.source,
        "expected": {"text": band.text, "low": band.low, "high": band.high},
        "unit": fact.unit,
        "scenario_hash": scenario_hash(fact),
        "values": list(one.values),
        "mean": found.mean,
        "ci95_low": found.low,
        "ci95_high": found.high,
        "verdict": one.verdict,
    }
