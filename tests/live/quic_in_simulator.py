"""Holds quinn in simulated time against quinn over real sockets.

    python -m tests.live.quic_in_simulator [--live N] [--simulated N]

Prints the means of both with 95 % confidence intervals, and whether these meet. Each live run takes
40 s; one that is not valid is left out, and said.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

import cwndlab
from cwndlab.statistics import estimate

SCENARIO: dict[str, Any] = {
    "duration": "40s", "measure": ["5s", "40s"], "tcp": {"packet_size": 1448},
    "dumbbell": {"rate": "4Mbit", "delay": "20ms"},
    "flows": [
        {"name": "cubic", "count": 2, "rule": "CUBIC", "start": ["0s", "1s"]},
        {"name": "gaimd", "count": 2, "rule": "GAIMD(0.31, 0.875)", "start": ["0s", "1s"]},
    ],
}  # fmt: skip
JITTER = "1ms"
"""As hosts have it: without, phase effects decide who loses."""
COLUMNS = {
    "goodput_bps": ("goodput [Mbit/s]", 1e-6), "loss_rate": ("loss [%]", 1e2),
    "mean_rtt_s": ("RTT [ms]", 1e3), "mean_cwnd_packets": ("window [packets]", 1.0),
    "retransmitted_packets": ("lost packets", 1.0), "fast_retransmits": ("reductions", 1.0),
}  # fmt: skip


def measured(result: cwndlab.Result) -> dict[tuple[str, str], float]:
    """Return what is compared, by group and column."""
    rows: list[Mapping[str, Any]] = list(result.groups.iter_rows(named=True))
    return {
        (row["group"], column): row[column] * factor
        for row in rows
        for column, (_, factor) in COLUMNS.items()
    }


def main() -> None:
    """Run both and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--live", type=int, default=5, metavar="N")
    parser.add_argument("--simulated", type=int, default=20, metavar="N")
    chosen = parser.parse_args()
    flows = [{**flow, "stack": "quinn"} for flow in SCENARIO["flows"]]
    within = {**SCENARIO, "flows": flows, "host_jitter": JITTER}
    simulated = [
        measured(cwndlab.run({**within, "seed": seed})) for seed in range(1, 1 + chosen.simulated)
    ]
    outside = []
    for number in range(1, 1 + chosen.live):
        result = cwndlab.live(SCENARIO, "quic")
        if result.fields["valid"]:
            outside.append(measured(result))
        else:
            print(f"live run {number} is not valid: {'; '.join(result.fields['reasons'])}")
    print(f"{'':24}{len(simulated)} simulated{'':10}{len(outside)} live")
    for key in simulated[0]:
        found = [estimate(run[key] for run in runs) for runs in (simulated, outside)]
        inside, live = found
        meet = inside.low <= live.high and live.low <= inside.high
        name = f"{key[0]} {COLUMNS[key[1]][0]}"
        texts = [f"{one.mean:8.2f} [{one.low:.2f}, {one.high:.2f}]" for one in found]
        print(f"{name:24}{texts[0]:28}{texts[1]:28}{'meet' if meet else 'apart'}")


if __name__ == "__main__":
    main()
