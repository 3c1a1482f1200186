"""Runs the reference workload in ns-2, with its headers trimmed and nothing traced.

Ns-2 at its fastest.
"""

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

PARTS = Path(__file__).with_name("ns2")
# Above this number of flows they cannot have a node each: routes take memory and time with the
# square of the nodes.
MOST_NODES = 1_000


@dataclass
class Reference:
    """What ns-2 simulated, and the duration of its run phase, without building the topology."""

    wall_s: float
    sent_packets: int
    dropped_packets: int
    timeouts: int
    peak_bytes: int

    @property
    def delivered_packets(self) -> int:
        """Packets that passed the bottleneck; those still on the way at the end are counted in."""
        return self.sent_packets - self.dropped_packets


def draw(value, source: random.Random) -> float:
    """Return the quantity, or draw one uniformly where the scenario gives a range."""
    if isinstance(value, list):
        return source.uniform(*(quantity(end) for end in value))
    return quantity(value)


def row(scenario: dict) -> tuple[dict, list[dict], list[str]]:
    """Return the hops' common keys (as in ``[dumbbell]``), the hops, and the routers' names."""
    if "dumbbell" in scenario:
        return scenario["dumbbell"], [scenario["dumbbell"]], ["r1", "r2"]
    links = scenario["links"]
    routers = [links[0]["from"], *(link["to"] for link in links)]
    # One queue for all, and each link begins where the one before ends: what ns2/begin.tcl builds.
    assert all(link["queue"] == links[0]["queue"] and link["duplex"] for link in links)
    assert [link["from"] for link in links] == routers[:-1]
    return links[0], links, routers


def script(scenario: dict, by_hand: bool) -> str:
    """Write a benchmark scenario as Tcl; its flows differ only in path, delay and start."""
    shared, hops, routers = row(scenario)
    source = random.Random(scenario.get("seed", 1))
    flows = [
        {"from": routers[0], "to": routers[-1], **shared, **flow}
        for flow in instances(scenario["flows"])
    ]
    if "links" in scenario:
        for flow, own in zip(flows, instances(scenario["flows"]), strict=True):
            flow.update({"from": own["from"], "to": own["to"]})
    (kind,) = {(flow["rule"], flow["recovery"]) for flow in flows}
    (access_rate,) = {flow["access_rate"] for flow in flows}
    ends = endpoints(scenario, flows[0])
    discipline = queue({**scenario, "dumbbell": shared})
    # ns-2 starts with the threshold at the window limit, so both have to be the same here.
    assert ends.initial_ssthresh == scenario["tcp"]["window"]
    ways = (f"{{{routers.index(flow['from'])} {routers.index(flow['to'])}}}" for flow in flows)
    variables = {
        "hops": " ".join(f"{quantity(hop['rate'])!r} {delay(hop['delay'])}" for hop in hops),
        "kind": discipline.kind,
        "limit": discipline.limit,
        "queue_variables": " ".join(
            f"{name} {value}" for name, value in discipline.variables.items()
        ),
        "access_rate": quantity(access_rate),
        "delays": " ".join(delay(draw(flow["access_delay"], source)) for flow in flows),
        "starts": " ".join(f"{draw(flow.get('start', 0), source):.9f}" for flow in flows),
        "ways": " ".join(ways),
        "sender": SENDERS[kind[1]],
        "sink_kind": "Agent/TCPSink/Sack1" if kind[1] == "sack" else "Agent/TCPSink",
        "variables": " ".join(f"{name} {value}" for name, value in ends.sender.items()),
        "duration": quantity(scenario["duration"]),
    }
    settings = "".join(f"set {name} {{{value}}}\n" for name, value in variables.items())
    # A queue that tells sources apart by their address needs the nodes.
    own_links = (
        "hand"
        if (by_hand or len(flows) > MOST_NODES) and not discipline.hashes_sources
        else "nodes"
    )
    parts = [PARTS / f"{name}.tcl" for name in ("begin", own_links, "end")]
    return NETWORK.read_text() + settings + "".join(part.read_text() for part in parts)


def available() -> bool:
    """Tell whether ns-2 is installed."""
    return shutil.which("ns") is not None


def run(scenario: dict, limit_s: float | None = None, by_hand: bool = False) -> Reference:
    """Run ns-2 once; ``subprocess.TimeoutExpired`` if building and running exceed the limit."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reference.tcl"
        path.write_text(script(scenario, by_hand))
        done = subprocess.run(
            ["ns", path], capture_output=True, text=True, check=False, timeout=limit_s
        )
    if done.returncode != 0 or done.stderr.strip():
        raise RuntimeError(f"ns failed ({done.returncode}): {done.stderr.strip()[-1000:]}")
    wall_us, sent, dropped, timeouts, peak = done.stdout.split()
    return Reference(int(wall_us) * 1e-6, int(sent), int(dropped), int(timeouts), int(peak))
