"""Accuracy of the emulated network: goodput against the ideal and RTT against the propagation
delay, at several rates.

    .venv/bin/python tests/live/accuracy.py [SECONDS]

The ideal goodput is 1448/1500 of the rate: the payload's share of a packet of 1500 bytes.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from cwndlab.live_runs.run import linux

RATES_MBIT = (10, 100, 500)
RTT_MS = 20
PROBES = 12
SHARE = 1448 / 1500


def measure(rate_mbit: float, seconds: float) -> dict[str, Any]:
    """Run one CUBIC flow over a link of this rate and 20 ms; return the figures and the ideal.

    The flow keeps its queue filled, so PROBES connections of one packet each measure the idle path
    before it starts; the minimum RTT is over all of them. A single handshake would measure how long
    an idle machine takes to wake up, which varies by 0.2 ms."""
    flow = {"rule": "kernel:cubic"}
    probes = [
        {"name": f"probe-{number}", "packets": 1, "start": f"{0.1 * number:g}s", **flow}
        for number in range(1, PROBES + 1)
    ]
    begin_s = 0.1 * PROBES + 0.2
    result = linux(
        {
            "name": f"{rate_mbit} Mbit/s",
            "duration": f"{begin_s + 2 + seconds:g}s",
            "profile": "rfc",
            "measure": [f"{begin_s + 2:g}s", f"{begin_s + 2 + seconds:g}s"],
            "dumbbell": {
                "rate": f"{rate_mbit}Mbit",
                "delay": f"{RTT_MS / 2}ms",
                "queue": {"kind": "drop-tail", "limit": "2bdp"},
                "back_rate": "unlimited",
            },
            "flows": [*probes, {"name": "flow", "start": f"{begin_s:g}s", **flow}],
            "tcp": {"packet_size": 1448},
        }
    )
    ideal = rate_mbit * SHARE
    least_ms = 1e3 * min(flow["min_rtt_s"] for flow in result.kernel_flows)
    return {
        "rate_mbit": rate_mbit,
        "goodput_mbit": result.aggregate_goodput_bps / 1e6,
        "ideal_mbit": ideal,
        "error": result.aggregate_goodput_bps / 1e6 / ideal - 1,
        "min_rtt_error_ms": least_ms - RTT_MS,
        "late_p99_ms": 1e3 * result.health["lateness_p99_s"],
        "cpu": result.health["cpu_share"],
        "valid": result.valid,
        "reasons": result.reasons,
        "result": result,
    }


def main() -> None:
    """Print a line for each rate."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    print(
        f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors, {seconds:g} s measured"
        " after 2 s"
    )
    print(
        "rate [Mbit/s]  goodput  ideal    error [%]  min RTT - 20 ms [ms]  late p99 [ms]  CPU [%] "
        " valid"
    )
    for rate in RATES_MBIT:
        row = measure(rate, seconds)
        print(
            f"{rate:13}  {row['goodput_mbit']:7.2f}  {row['ideal_mbit']:6.2f} "
            f" {100 * row['error']:+9.2f}  {row['min_rtt_error_ms']:20.3f} "
            f" {row['late_p99_ms']:13.3f}  {100 * row['cpu']:7.1f} "
            f" {'yes' if row['valid'] else '; '.join(row['reasons'])}",
            flush=True,
        )


if __name__ == "__main__":
    main()
