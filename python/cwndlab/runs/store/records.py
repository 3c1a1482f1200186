"""What a store has: runs, and their places in sweeps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from cwndlab.results import Result
    from cwndlab.runs.executors import Outcome


class Record(NamedTuple):
    """A finished run: scenario, result and origin."""

    key: str
    seed: int
    trace_hash: str
    finished: str
    """Time of finishing, UTC (ISO 8601)."""
    duration_s: float
    """How long the run took, seconds of wall-clock time."""
    machine: str
    version: str
    build: str
    traces: str
    """Names of the stored traces, joined by spaces."""
    scenario: str
    """Canonical scenario, one line of JSON."""
    result: str
    """Result, one line of JSON, exactly as the native core wrote it.

    It has fields, flows, links, cross and arrivals.
    """

    @classmethod
    def of(
        cls,
        key: str,
        scenario: str,
        outcome: Outcome,
        run: Mapping[str, Any] | None = None,
        traces: str = "",
    ) -> Record:
        """Make the record of a run that has just finished.

        `run` is the outcome's result, if it has been read.
        """
        found: Mapping[str, Any] = json.loads(outcome.result) if run is None else run
        return cls(
            key, found["seed"], found["trace_hash"], _now(), outcome.duration_s, outcome.machine,
            outcome.version,
            outcome.build, traces, scenario, outcome.result,
        )  # fmt: skip

    def run(self) -> dict[str, Any]:
        """Return the result as `Result.to_dict` gives it."""
        return json.loads(self.result)

    def to_result(self) -> Result:
        """Return the result with its data frames; without traces, which `Store.traces` has."""
        from cwndlab.results import Result

        return Result.from_json(self.result, json.loads(self.scenario))


class Use(NamedTuple):
    """A run's place in a sweep. One run may have several places."""

    sweep: str
    labels: str
    """Axis to label, as JSON, in the order of the sweep's axes."""
    replicate: int
    key: str
    definition: str = ""
    """Digest of the sweep's definition (`keys.definition_digest`).

    Empty if it was converted from format 1.
    """
    placed: str = ""
    """Time at which the run got this place, UTC (ISO 8601); empty if converted from format 1."""

    @property
    def place(self) -> tuple[str, str, str, int]:
        """What there is one of."""
        return self.sweep, self.definition, self.labels, self.replicate

    @property
    def cell(self) -> dict[str, str]:
        """Axis to label."""
        return json.loads(self.labels)

    @classmethod
    def of(
        cls, sweep: str, cell: Mapping[str, str], replicate: int, key: str, definition: str = ""
    ) -> Use:
        """Give a run a place, with the current time."""
        return cls(sweep, json.dumps(dict(cell)), replicate, key, definition, _now())


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="microseconds")
