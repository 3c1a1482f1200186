"""Runs ten flows in a program that the user built from htsim; htsim.md has its source and steps."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ns3_reference import network


@dataclass
class Reference:
    """Seconds of the event loop, data packets, and the commit of htsim if the program says it."""

    wall_s: float
    sent_packets: int
    dropped_packets: int
    version: str | None = None

    @property
    def delivered_packets(self) -> int:
        """Packets that were not lost; those still on the way at the end are counted in."""
        return self.sent_packets - self.dropped_packets


def read(output: str) -> Reference:
    """Read the object of JSON on the last line; htsim may have printed others before it."""
    last = (output.strip().splitlines() or [""])[-1]
    try:
        found = json.loads(last)
        done = Reference(
            float(found["seconds"]), int(found["sent"]), int(found["dropped"]), found.get("version")
        )
    except (ValueError, KeyError, TypeError):
        raise RuntimeError(
            "the last line of the htsim program is not an object with seconds, sent and dropped: "
            f"{last[:200]!r}"
        ) from None
    if done.wall_s <= 0 or done.delivered_packets <= 0:
        raise RuntimeError(f"the htsim program delivered nothing, or in no time: {last[:200]!r}")
    return done


def run(program: Path, scenario: dict) -> Reference:
    """Run a dumbbell over drop-tail in htsim once."""
    done = subprocess.run(
        [str(program), *network(scenario)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"htsim failed ({done.returncode}): {done.stderr.strip()[-1000:]}")
    return read(done.stdout)
