"""Files that ns-2 can express: the examples, and cells of the papers, under an ns-2 profile."""

from __future__ import annotations

from pathlib import Path

from cwndlab import Scenario
from cwndlab.ns2.timer_seeds import SEED_OF_ZERO, first_number
from cwndlab.runs.plan import Cell
from cwndlab_papers import paper

EXAMPLES = Path(__file__).parents[2] / "examples"
PHASE_S = first_number(SEED_OF_ZERO) * 0.01
"""Timer phase of an exported script, of a tick of 10 ms."""
WITHOUT_CHANCE = (
    "exact-drops", "four-rules", "one-flow-sawtooth", "parking-lot", "ring", "rules-shared",
    "rules-unequal",
)  # fmt: skip
"""Examples in which no router draws a number during the run, and no rate changes."""
WITH_CHANCE = ("random-loss", "rules-random", "rules-square", "square-wave")
IN_ANOTHER_ENDPOINT = ("asymmetric",)
"""Examples with CUBIC, whose endpoint in ns-2 recovers from losses in its own way."""
WITH_ARRIVALS = ("web-traffic",)
"""Examples with flows that arrive (test_arrivals.py)."""
REFUSED = {
    "ack-aggregation": "dumbbell.back_rate",
    "adaptive-video": "flows[0].video",
    "aqm": "dumbbell.queue.kind",
    "cake": "host_jitter",
    "cellular": "dumbbell.rate",
    "cellular-synthetic": "dumbbell.rate",
    "cobalt": "dumbbell.queue.kind",
    "connections": "arrivals[0].exchanges",
    "convergence": "flows[0].rule",
    "custom-rule": "flows[0].rule",
    "dctcp": "flows[0].rule",
    "fixed-rate-media": "flows[0].frames",
    "handover": "dumbbell.jitter",
    "l4s": "dumbbell.queue.kind",
    "l4s-bbr": "dumbbell.queue.kind",
    "live-cellular": "dumbbell.rate",
    "live-drop-tail": "flows[0].rule",
    "live-ecn": "flows[0].rule",
    "live-l4s": "dumbbell.queue.kind",
    "live-one-flow": "flows[0].rule",
    "live-red": "flows[0].rule",
    "live-square-wave": "flows[0].rule",
    "live-unequal": "flows[0].rule",
    "media": "flows[0].frames",
    "misbehaving-receiver": "flows[1].tcp.ack_division",
    "multipath-chain": "host_jitter",
    "multipath-handover": "links[0].outages",
    "multipath-shared": "host_jitter",
    "multipath-two-links": "host_jitter",
    "nada": "flows[0].frames",
    "policer": "dumbbell.policer",
    "quic-beside-tcp": "host_jitter",
    "reordering": "dumbbell.jitter",
    "request-response": "flows[0].responses",
    "rules-marks": "dumbbell.outages",
    "rules-window": "dumbbell.outages",
    "second-topology": "links[1].queue.kind",
    "three-rules": "host_jitter",
    "web-page": "flows[0].page",
    "wifi": "dumbbell.jitter",
}
"""The other examples, with the key that ns-2 cannot express; sweeps are not scenarios."""
CELLS = (
    ("akella2002", "representatives", {"recovery": "sack", "queue": "drop-tail", "env": "RWH"}),
    ("akella2002", "representatives", {"recovery": "reno", "queue": "red", "env": "SQL"}),
    ("akella2002", "appendix", {"recovery": "sack", "queue": "drr", "env": "SQH"}),
    ("akella2002", "ring", {}),
    ("yang2000", "friendliness", {"link": "1.5/red"}),
    ("yang2000", "accuracy", {}),
    ("chandrayana2002", "mixed", {}),
    ("attie2003", "stationary", {}),
    ("psaras2009", "fig1", {}),
)
"""Plan of a paper and labels of a cell."""


def example(name: str, duration: str | None = None) -> Scenario:
    """An example under ns-2's profile, without its traces."""
    patch = {"profile": "ns2-2.35", "trace": None}
    if duration is not None:
        patch |= {"duration": duration, "measure": None}
    return Scenario.load(EXAMPLES / f"{name}.toml").patch(patch)


def cell(key: str, plan: str, labels: dict[str, str]) -> Cell:
    """The first cell of a paper's plan that has these labels."""
    sweep = paper.load(key).sweep(plan)
    return next(each for each in sweep.plan.cells() if labels.items() <= each.labels.items())
