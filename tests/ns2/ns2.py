"""What ``ns`` sends in a scenario: the run, and its packets as flows."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy

from cwndlab import Scenario
from cwndlab.ns2.script import export, with_commands

from .reference import Columns, Run, millionths

PROBES, PHASES = (
    Path(__file__).with_name(name).read_text() for name in ("probes.tcl", "phases.tcl")
)


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
    script = with_commands(export(scenario), [PROBES, PHASES])
    return Run("packets", script, ("sends", "phases", str(draw)), _read)


def exported(scenario: Scenario) -> Run:
    """The run of a script as it is exported, with its own timer phases."""
    return Run("examples", with_commands(export(scenario), [PROBES]), ("sends",), _sends)


def _read(folder: Path) -> Columns:
    phases = numpy.array((folder / "phases").read_text().split(), float)
    return {**_sends(folder), "phase_s": phases}


def _sends(folder: Path) -> Columns:
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
    }


def flows(columns: Columns, phases_s: list[float] | None = None) -> list[Flow]:
    """One ``Flow`` for every flow of the scenario; ``phases_s`` where the run does not have
    them."""
    phases = columns["phase_s"].tolist() if phases_s is None else phases_s
    found = [Flow(timer_phase_s=phase_s) for phase_s in phases]
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
