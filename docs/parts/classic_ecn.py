"""Prague beside CUBIC over queues with marks, with and without the fallback."""

from __future__ import annotations

from statistics import geometric_mean

from cwndlab import Scenario
from cwndlab.runs.execute import run_many
from parts.text import table

PATHS = {
    "4 Mbit/s, 20 ms": ("4Mbit", "10ms"),
    "40 Mbit/s, 10 ms": ("40Mbit", "5ms"),
    "40 Mbit/s, 20 ms": ("40Mbit", "10ms"),
    "40 Mbit/s, 80 ms": ("40Mbit", "40ms"),
    "200 Mbit/s, 20 ms": ("200Mbit", "10ms"),
}
QUEUES = {
    "`codel`": {"kind": "codel", "limit": "1000pkt", "ecn": True},
    "`pie`": {"kind": "pie", "limit": "1000pkt", "ecn": True},
    "`red`": {"kind": "red", "limit": "4bdp", "ecn": True},
    "`dualpi2`": {"kind": "dualpi2", "limit": "10000pkt"},
}
SEEDS = (1, 2, 3)


def fallback_table() -> str:
    """Table of ratios of goodputs, without the fallback and with it: geometric means."""
    cells = [
        (queue, path, fallback, seed)
        for queue in QUEUES for path in PATHS for fallback in (0, 1) for seed in SEEDS
    ]  # fmt: skip
    ratios = {}
    for cell, result in run_many((cell, _scenario(*cell)) for cell in cells):
        rates = dict(result.flows["flow", "goodput_bps"].rows())
        ratios[cell] = rates["prague"] / rates["cubic"]
    rows = []
    for queue in QUEUES:
        pairs = [
            [geometric_mean(ratios[queue, path, fallback, seed] for seed in SEEDS)
             for fallback in (0, 1)]
            for path in PATHS
        ]  # fmt: skip
        rows.append([queue, *(f"{without:.2f}, {with_it:.2f}" for without, with_it in pairs)])
    return table(["queue", *PATHS], rows)


def _scenario(queue: str, path: str, fallback: int, seed: int) -> Scenario:
    rate, delay = PATHS[path]
    flow = {"start": ["0s", "1s"], "tcp": {"ecn": True}}
    return Scenario(
        {
            "duration": "120s",
            "measure": ["20s", "120s"],
            "seed": seed,
            "profile": "linux",
            "dumbbell": {"rate": rate, "delay": delay, "queue": QUEUES[queue]},
            "flows": [
                {**flow, "name": "prague", "rule": f"Prague(fallback={fallback})"},
                {**flow, "name": "cubic", "rule": "CUBIC"},
            ],
        }
    )
