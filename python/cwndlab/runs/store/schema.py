"""Schema of the store: records of runs and of their places in sweeps, and their encoding."""

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
    def of(cls, key: str, scenario: str, outcome: Outcome, traces: str = "") -> Record:
        """Make the record of a run that has just finished."""
        run = json.loads(outcome.result)
        return cls(
            key, run["seed"], run["trace_hash"], _now(), outcome.duration_s, outcome.machine,
            outcome.version,
            outcome.build, traces, scenario, outcome.result,
        )  # fmt: skip

    @property
    def place(self) -> str:
        """Identity: there is one entry of it."""
        return self.key

    @property
    def since(self) -> str:
        """Time of the entry: of two with the same identity the later one counts."""
        return self.finished

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

    Empty in stores of format 1.
    """
    placed: str = ""
    """Time at which the run got this place, UTC (ISO 8601); empty in stores of format 1."""

    @property
    def place(self) -> tuple[str, str, str, int]:
        """What there is one of."""
        return self.sweep, self.definition, self.labels, self.replicate

    @property
    def since(self) -> str:
        """Of two that are the same the one with the later moment counts."""
        return self.placed

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


def encode(entry: Record | Use) -> bytes:
    """Write a record or a use as a journal's payload: lines of JSON, ASCII.

    Examples
    --------
    >>> use = Use.of("buffers", {"rule": "AIMD(1, 0.5)"}, 0, "ab")
    >>> decode(encode(use)) == use
    True
    """
    if isinstance(entry, Use):
        return json.dumps(["use", *entry]).encode("ascii")
    head = json.dumps(["run", *entry[:-2]])
    return f"{head}\n{_ascii(entry.scenario)}\n{_ascii(entry.result)}".encode("ascii")


def decode(payload: bytes) -> Record | Use | None:
    """Read a payload of `encode`; None if its kind is unknown."""
    head, *texts = payload.decode("ascii").split("\n")
    kind, *fields = json.loads(head)
    if kind == "use":
        return Use(*fields)
    return Record(*fields, *texts) if kind == "run" else None


def key_of(payload: bytes) -> bytes | None:
    """Return a run's key without decoding the rest; None if the payload is not a run.

    Examples
    --------
    >>> key_of(b'["run", "00ff", 1]').hex(), key_of(b'["use", "sweep"]')
    ('00ff', None)
    """
    if not payload.startswith(b'["run", "'):
        return None
    return bytes.fromhex(payload[9 : payload.index(b'"', 9)].decode())


def finished_of(payload: bytes) -> tuple[bytes, str] | None:
    r"""Return a run's key and time of finishing without decoding the rest.

    None where the payload is no run.

    Examples
    --------
    >>> finished_of(b'["run", "00ff", 1, "ab", "2026-01-02T03:04:05.678901+00:00", 1.0]\n{}\n{}')[1]
    '2026-01-02T03:04:05.678901+00:00'
    """
    key = key_of(payload)
    if key is None:
        return None
    return key, json.loads(payload.partition(b"\n")[0])[1 + Record._fields.index("finished")]


def moment_s(text: str) -> float:
    """Read a moment (ISO 8601) as seconds since 1970.

    0 if it is not a moment, which is earlier than all others.

    Examples
    --------
    >>> moment_s("1970-01-01T00:01:00.500000+00:00"), moment_s("")
    (60.5, 0.0)
    """
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return 0.0


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="microseconds")


def _ascii(text: str) -> str:
    """Escape characters beyond ASCII in JSON text."""
    return text if text.isascii() else json.dumps(json.loads(text), separators=(",", ":"))
