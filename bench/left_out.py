"""What it costs that the profile ``linux`` leaves out or simplifies mechanisms of Linux.

``python bench/left_out.py [--seeds N]``

Simulated are CUBIC's share of the goodput beside Reno over RED, and the mean completion time of
transfers of 300 kB that lose one packet in a hundred: mean and 95 % confidence interval over seeds.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench"), str(ROOT / "python")]

import cwndlab  # noqa: E402

RED = {"kind": "red", "limit": "125pkt", "min": "15pkt", "max": "60pkt", "max_p": 0.1}
SHARED = {
    "duration": "60s",
    "measure": ["10s", "60s"],
    "dumbbell": {"rate": "15Mbit", "delay": "50ms", "queue": RED},
    "flows": [
        {"name": "cubic", "count": 4, "rule": "CUBIC", "start": ["0s", "0.5s"]},
        {"name": "reno", "count": 4, "rule": "AIMD(1, 0.5)", "start": ["0s", "0.5s"]},
    ],
}
LOSSY = {
    "duration": "60s",
    "dumbbell": {"rate": "10Mbit", "delay": "20ms", "loss": [{"kind": "bernoulli", "p": 0.01}]},
    "flows": [{"rule": "CUBIC", "bytes": "300kB"}],
}
ROWS: dict[str, dict[str, Any]] = {
    "profile linux: ACKs delayed by 40 ms": {},
    "ACKs delayed by 200 ms": {"delayed_ack_interval": "200ms"},
    "no quick ACKs at the start": {"quick_acks": 0},
    "an ACK for each packet": {"delayed_ack": False},
    "no undo": {"undo": False},
    "fractional windows after a reduction": {"precise_reduction": True, "integer_ssthresh": False},
}


def cubic_share(result: cwndlab.Result) -> float:
    """CUBIC's share of the goodput, percent."""
    goodput = result.flows.filter(group="cubic")["goodput_bps"].sum()
    return 100 * goodput / result.aggregate_goodput_bps


def completion_ms(result: cwndlab.Result) -> float:
    """How long the transfer took, milliseconds."""
    return 1e3 * result.flows["finish_s"][0]


def over_seeds(
    scenario: dict[str, Any],
    tcp: dict[str, Any],
    metric: Callable[[cwndlab.Result], float],
    seeds: int,
) -> str:
    """Mean and confidence interval of a metric."""
    found = [
        metric(cwndlab.run({**scenario, "profile": "linux", "tcp": tcp, "seed": seed}))
        for seed in range(1, seeds + 1)
    ]
    half = 1.96 * statistics.stdev(found) / math.sqrt(seeds)
    return f"{statistics.mean(found):.1f} ± {half:.1f}"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seeds", type=int, default=40)
    seeds = parser.parse_args().seeds
    print(f"{'':40}{'share of CUBIC [%]':>20}{'completion [ms]':>20}")
    for label, tcp in ROWS.items():
        share = over_seeds(SHARED, tcp, cubic_share, seeds)
        # Few packets are lost in each: many more transfers.
        completion = over_seeds(LOSSY, tcp, completion_ms, 10 * seeds)
        print(f"{label:40}{share:>20}{completion:>20}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
