"""Runs the reference workload in ns-2, with its headers trimmed and nothing traced.

Ns-2 at its fastest.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from cwndlab import Scenario
from cwndlab.ns2 import tcl
from cwndlab.ns2.agents import defaults, endpoints
from cwndlab.ns2.network import network
from cwndlab.ns2.queues import queue
from cwndlab.ns2.rules import rule_variables

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


def script(scenario: dict, by_hand: bool) -> str:
    """Write a benchmark scenario as Tcl; its flows differ only in path, delay and start."""
    checked = Scenario(scenario)
    document, built = checked.canonical(), network(checked)
    # One queue for all, and each link begins where the one before ends: what ns2/begin.tcl builds.
    hops = [link for link in built.links if not link.name.endswith("-back")]
    if "links" in document:
        back = {f"{link['to']}-{link['from']}" for link in document["links"]}
        hops = [link for link in built.links if link.name not in back]
    names = [hop.name for hop in hops]
    discipline = queue(hops[0], len(built.flows))
    assert all(queue(hop, len(built.flows)) == discipline for hop in hops)
    ways = [(names.index(flow.forward[0]), names.index(flow.forward[-1]) + 1)
            for flow in built.flows]  # fmt: skip
    (access_rate,) = {flow.access_bps for flow in built.flows}
    rule, ends = document["flows"][0]["rule"], endpoints(document, 0)
    # ns-2 starts with the threshold at the window limit, so both have to be the same here.
    assert ends.initial_ssthresh is None
    set_on_flows = [*rule_variables(rule), *ends.sender_variables]
    variables = {
        "hops": " ".join(f"{hop.rates[0][1]!r} {tcl.delay(hop.delay_s)}" for hop in hops),
        "kind": discipline.kind,
        "limit": discipline.limit,
        "queue_variables": " ".join(
            f"{name} {value}" for name, value in discipline.variables.items()
        ),
        "access_rate": access_rate,
        "delays": " ".join(tcl.delay(flow.access_delay_s) for flow in built.flows),
        "starts": " ".join(f"{flow.start_s:.9f}" for flow in built.flows),
        "ways": " ".join(f"{{{first} {last}}}" for first, last in ways),
        "sender": ends.sender,
        "sink_kind": ends.sink,
        "variables": " ".join(f"{each.name} {each.value}" for each in set_on_flows),
        "defaults": "; ".join(
            line.partition(" ;#")[0] for line in defaults(document) if not line.startswith("#")
        ),
        "duration": checked.duration_s,
    }
    settings = "".join(f"set {name} {{{value}}}\n" for name, value in variables.items())
    # A queue that tells sources apart by their address needs the nodes.
    own_links = (
        "hand" if (by_hand or len(built.flows) > MOST_NODES) and discipline.kind != "DRR"
        else "nodes"
    )  # fmt: skip
    parts = [PARTS / f"{name}.tcl" for name in ("begin", own_links, "end")]
    return settings + "".join(part.read_text() for part in parts)


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
