"""Runs the reference work in ns-2, with its headers trimmed and nothing traced: ns-2 at its fastest."""

from __future__ import annotations

import random
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.ns2.queues import queue
from tests.ns2.tcl import NETWORK, SENDERS
from tests.ns2.translate import delay, endpoints, instances, quantity

REFERENCE = Path(__file__).with_name("reference.tcl")


@dataclass
class Reference:
    """What ns-2 did, and how long its run phase took (building the topology and the routes is not counted)."""

    wall_s: float
    sent_packets: int
    dropped_packets: int
    timeouts: int

    @property
    def delivered_packets(self) -> int:
        """Packets that passed the bottleneck; those still on the way at the end are counted in."""
        return self.sent_packets - self.dropped_packets


def draw(value, source: random.Random) -> float:
    """Return the quantity, or draw one uniformly where the scenario gives a range."""
    if isinstance(value, list):
        return source.uniform(*(quantity(end) for end in value))
    return quantity(value)


def script(scenario: dict) -> str:
    """Write a benchmark scenario, a dumbbell whose flows differ in delay and start only, as Tcl."""
    bell = scenario["dumbbell"]
    source = random.Random(scenario.get("seed", 1))
    flows = [{**bell, **flow} for flow in instances(scenario["flows"])]
    (kind,) = {(flow["rule"], flow["recovery"]) for flow in flows}
    ends = endpoints(scenario, flows[0])
    discipline = queue(scenario)
    # ns-2 starts with the threshold at the window limit, so both have to be the same here.
    assert ends.initial_ssthresh == scenario["tcp"]["window"]
    variables = {
        "rate": quantity(bell["rate"]),
        "delay": delay(bell["delay"]),
        "kind": discipline.kind,
        "limit": discipline.limit,
        "queue_variables": " ".join(f"{name} {value}" for name, value in discipline.variables.items()),
        "access_rate": quantity(bell["access_rate"]),
        "delays": " ".join(delay(draw(flow["access_delay"], source)) for flow in flows),
        "starts": " ".join(f"{draw(flow.get('start', 0), source):.9f}" for flow in flows),
        "sender": SENDERS[kind[1]],
        "sink_kind": "Agent/TCPSink/Sack1" if kind[1] == "sack" else "Agent/TCPSink",
        "variables": " ".join(f"{name} {value}" for name, value in ends.sender.items()),
        "duration": quantity(scenario["duration"]),
    }
    settings = "".join(f"set {name} {{{value}}}\n" for name, value in variables.items())
    return NETWORK.read_text() + settings + REFERENCE.read_text()


def available() -> bool:
    """Tell whether ns-2 is installed."""
    return shutil.which("ns") is not None


def run(scenario: dict) -> Reference:
    """Run ns-2 once."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reference.tcl"
        path.write_text(script(scenario))
        done = subprocess.run(["ns", path], capture_output=True, text=True, check=False)
    if done.returncode != 0 or done.stderr.strip():
        raise RuntimeError(f"ns failed ({done.returncode}): {done.stderr.strip()[-1000:]}")
    wall_us, sent, dropped, _, timeouts = done.stdout.split()
    return Reference(int(wall_us) * 1e-6, int(sent), int(dropped), int(timeouts))
