"""What the benchmark runs: the reference works of drop-tail, and one work for each other discipline on those paths."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Work:
    """A scenario: a file of this folder, with another queue and other settings where the work says so."""

    name: str
    base: str
    queue: dict | None = None
    duration: str | None = None
    tcp: dict = field(default_factory=dict)
    # Whether ns-2 has the discipline.
    peer: bool = True

    def scenario(self) -> dict:
        """Return the scenario's document."""
        document = copy.deepcopy(read_toml(HERE / f"{self.base}.toml"))
        document["name"] = self.name
        if self.queue:
            document["dumbbell"]["queue"] = self.queue
        if self.duration:
            document["duration"] = self.duration
        document["tcp"] = {**document.get("tcp", {}), **self.tcp}
        return document


def read_toml(path: Path) -> dict:
    """Return a scenario file's document."""
    try:
        import tomllib
    except ModuleNotFoundError:  # Python 3.10
        from cwndlab import _core

        return json.loads(_core.parse(path.read_text(), "toml"))
    return tomllib.loads(path.read_text())


def ten(name: str, queue: dict, **options) -> Work:
    """Ten flows of mixed round trips, long enough for some 2 million packets."""
    return Work(name, "ten-mixed", queue, duration="200s", **options)


RED = {"kind": "red", "limit": "1200pkt", "min": "100pkt", "max": "300pkt", "max_p": 0.1, "weight": 0.0005}
WORKS = (
    Work("ten-equal", "ten-equal"),
    Work("ten-mixed", "ten-mixed"),
    Work("thousand", "thousand"),
    ten("red", RED),
    ten("red-ecn", {**RED, "ecn": True}, tcp={"ecn": True}),
    ten("drr", {"kind": "drr", "limit": "1248kB"}),
    Work("drr-thousand", "thousand", {"kind": "drr", "limit": "12480kB"}),
    ten("codel", {"kind": "codel", "limit": "1200pkt"}, peer=False),
    ten("rio", {"kind": "rio", "limit": "1200pkt", "min": "100pkt", "max": "300pkt"}, peer=False),
    ten("priority", {"kind": "priority", "limit": "1200pkt"}, peer=False),
    ten("fq-codel", {"kind": "fq-codel", "limit": "1200pkt"}, peer=False),
    ten("pie", {"kind": "pie", "limit": "1200pkt"}, peer=False),
)
