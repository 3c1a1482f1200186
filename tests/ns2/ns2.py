"""What ``ns`` sends in a scenario: the run, and its packets as flows."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy

from . import tcl
from .reference import Columns, Run, millionths
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


def run_of(scenario: dict, draw: int = 0) -> Run:
    """The run of ns-2 for a scenario.

    Each sender adds a random phase of less than one tick to its clock. It is the ``draw``-th number
    of ns-2's default stream; flow k takes number ``draw + k``. The value is part of the output, for
    the other simulator to use."""
    return Run("packets", tcl.script(scenario), ("sends", "phases", str(draw)), _read)


def _read(folder: Path) -> Columns:
    """Times to the nanosecond; flow by flow, which compresses best."""
    rows = sorted(
        (line.split() for line in (folder / "sends").read_text().splitlines()),
        key=lambda row: int(row[0]),
    )
    flow, time_s, seq, size, cwnd, ssthresh, timeouts, backoff = zip(*rows, strict=True)
    return {
        "flow": numpy.array(flow, "i2"),
        "time_ns": numpy.rint(numpy.array(time_s, float) * 1e9).astype("i8"),
        "seq": numpy.array(seq, "i4"),
        "size_bytes": numpy.array(size, "i4"),
        "cwnd_millionths": millionths(cwnd),
        "ssthresh_millionths": millionths(ssthresh),
        "timeouts": numpy.array(timeouts, "i4"),
        "backoff": numpy.array(backoff, "i4"),
        "phase_s": numpy.array((folder / "phases").read_text().split(), float),
    }


def flows(columns: Columns, scenario: dict) -> list[Flow]:
    """One ``Flow`` for every flow of the scenario."""
    if len(instances(scenario["flows"])) != len(columns["phase_s"]):
        raise ValueError("ns-2 had another number of flows")
    found = [Flow(timer_phase_s=phase_s) for phase_s in columns["phase_s"].tolist()]
    sent = (
        columns["time_ns"] * 1e-9,
        columns["seq"],
        columns["size_bytes"],
        columns["cwnd_millionths"] / 1e6,
        columns["ssthresh_millionths"] / 1e6,
    )
    for index, flow in enumerate(found):
        own = columns["flow"] == index
        flow.sends = [
            Send(*row) for row in zip(*(column[own].tolist() for column in sent), strict=True)
        ]
        if own.any():
            flow.timeouts = int(columns["timeouts"][own][-1])
            flow.max_backoff = max(1, int(columns["backoff"][own].max()))
    return found
