"""Runs ``ns`` on a scenario and reads what it sent."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from . import tcl
from .translate import instances


@dataclass
class Send:
    """One data packet leaving the sender, with the sender's state at that moment."""

    time_s: float
    seq: int
    size_bytes: int
    cwnd: float
    ssthresh: float


@dataclass
class Flow:
    sends: list[Send] = field(default_factory=list)
    timeouts: int = 0
    max_backoff: int = 1
    timer_phase_s: float = 0.0


def program() -> str | None:
    """Path of ``ns``, or None where ns-2 is not installed."""
    return shutil.which("ns")


def run(scenario: dict, draw: int = 0, timeout_s: float = 120.0) -> list[Flow]:
    """Runs ns-2 and returns one ``Flow`` for every flow of the scenario.

    Each sender adds a random phase of less than one tick to its clock. It is the ``draw``-th number of ns-2's default
    stream; flow k takes number ``draw + k``. The value is returned, for the other simulator to use.
    """
    ns = program()
    if ns is None:
        raise FileNotFoundError("ns-2 (program `ns`, Debian package ns2) is not installed")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "run.tcl").write_text(tcl.script(scenario))
        done = subprocess.run(
            [ns, "run.tcl", "sends", "phases", str(draw)],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        if done.returncode != 0 or done.stderr.strip():
            raise RuntimeError(f"ns failed ({done.returncode}): {done.stderr.strip()[-2000:]}{done.stdout[-500:]}")
        flows = [Flow() for _ in instances(scenario["flows"])]
        for flow, phase in zip(flows, (folder / "phases").read_text().split(), strict=True):
            flow.timer_phase_s = float(phase)
        for line in (folder / "sends").read_text().splitlines():
            index, time_s, seq, size, cwnd, ssthresh, timeouts, backoff = line.split()
            flow = flows[int(index)]
            flow.sends.append(Send(float(time_s), int(seq), int(size), float(cwnd), float(ssthresh)))
            flow.timeouts = int(timeouts)
            flow.max_backoff = max(flow.max_backoff, int(backoff))
        return flows
