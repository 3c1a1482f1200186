"""Checks of QUIC runs: goodput against the ideal, shares against the simulation, cuts, many flows,
failures.

    .venv/bin/python tests/live/quic_checks.py [SECONDS] [goodput|shares|cuts|many|faults ...]

Prints the load of the machine and a line for each check; a run on a busy machine is not valid. The
ideal is the payload's share of a packet of 1500 bytes, of which headers take 61."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

from cwndlab import Scenario
from cwndlab.live_runs.quic import OVERHEAD_BYTES, counterpart, quic
from cwndlab.results import Result
from cwndlab.runs import execute

PACKET_BYTES = 1500
SHARE = (PACKET_BYTES - OVERHEAD_BYTES) / PACKET_BYTES
RTT_MS = 20
HALF = [{"kind": "bernoulli", "p": 0.5}]
# The window after a cut at a window of w packets, by the papers' equations.
CUTS = {
    "AIMD(1, 0.5)": lambda w: 0.5 * w,
    "GAIMD(0.31, 0.875)": lambda w: 0.875 * w,
    "SQRT(1, 0.5)": lambda w: w - 0.5 * w**0.5,
    "MRAIMD(1, 0.01, 0.001, 0.5)": lambda w: 0.5 * w,
}
QUEUES = {
    "drop-tail": {"kind": "drop-tail", "limit": "125pkt"},
    "RED": {"kind": "red", "limit": "125pkt", "min": "15pkt", "max": "60pkt", "max_p": 0.1},
}


def scenario(
    rate_mbit: float,
    seconds: float,
    flows: list[dict[str, Any]],
    rtt_ms: float = RTT_MS,
    begin_s: float = 2,
    **link,
) -> Scenario:
    """Flows over one link, measured for `seconds` from `begin_s` on."""
    dumbbell = {
        "rate": f"{rate_mbit}Mbit",
        "delay": f"{rtt_ms / 2}ms",
        "queue": {"kind": "drop-tail", "limit": "2bdp"},
    }
    return Scenario.from_dict(
        {
            "name": "quic",
            "duration": f"{begin_s + seconds}s",
            "profile": "rfc",
            "measure": [f"{begin_s}s", f"{begin_s + seconds}s"],
            "dumbbell": dumbbell | {"back_rate": "unlimited"} | link,
            "flows": flows,
            "tcp": {"packet_size": 1448},
        }
    )


def verdict(result: Result) -> str:
    """Whether a run is valid, or why not."""
    return "valid" if result.valid else "NOT valid: " + "; ".join(result.reasons)


def goodput(seconds: float) -> Iterator[tuple[str, bool, bool]]:
    """Compare the goodput of one flow with the ideal; the tolerance is 3 %."""
    for rate_mbit in (10, 100):
        result = quic(scenario(rate_mbit, seconds, [{"name": "flow", "rule": "CUBIC"}]))
        error = result.aggregate_goodput_bps / 1e6 / (rate_mbit * SHARE) - 1
        found = (
            f"{rate_mbit} Mbit/s: goodput {result.aggregate_goodput_bps / 1e6:.2f} Mbit/s,"
            f" {100 * error:+.2f} %"
        )
        yield f"{found}; {verdict(result)}", abs(error) <= 0.03, result.valid


def shares(seconds: float) -> Iterator[tuple[str, bool, bool]]:
    """Compare the share of 4 GAIMD(0.31, 0.875) flows beside 4 Reno flows with the paced
    simulation; the tolerance is 5 percentage points."""
    flows = [
        {"name": "reno", "count": 4, "rule": "AIMD(1, 0.5)", "start": ["0s", "0.5s"]},
        {"name": "gaimd", "count": 4, "rule": "GAIMD(0.31, 0.875)", "start": ["0s", "0.5s"]},
    ]
    for name, queue in QUEUES.items():
        asked = scenario(15, seconds, flows, 100, queue=queue)
        live = quic(asked)
        pair = (live, execute.run(counterpart(asked, live.packet_bytes)))
        found = [
            result.flows.filter(group="gaimd")["goodput_bps"].sum() / result.aggregate_goodput_bps
            for result in pair
        ]
        text = f"{name}: GAIMD's share {100 * found[0]:.1f} %, simulated {100 * found[1]:.1f} %"
        yield f"{text}; {verdict(live)}", abs(found[0] - found[1]) <= 0.05, live.valid


def answered(flow: dict[str, Any]) -> list[tuple[float, float, bool]]:
    """Windows before and after each cut by the rule, and whether it was in slow start."""
    columns = (
        flow[f"cut_{name}"]
        for name in ("cause", "before_packets", "after_packets", "in_slow_start")
    )
    return [row[1:] for row in zip(*columns, strict=True) if row[0] != "persistent congestion"]


def cuts(seconds: float) -> Iterator[tuple[str, bool, bool]]:
    """Compare windows after a cut with the rule's; the tolerance is 1 packet or 2 %, the larger."""
    for rule, left in CUTS.items():
        result = quic(scenario(10, seconds, [{"name": "flow", "rule": rule}]))
        (flow,) = result.quic_flows
        pairs = [
            (before, after) for before, after, in_slow_start in answered(flow) if not in_slow_start
        ]
        worst = max(
            (abs(after - left(before)) / max(1, 0.02 * left(before)) for before, after in pairs),
            default=9.9,
        )
        text = f"{rule}: {len(pairs)} cuts, the worst {worst:.3f} of the tolerance"
        yield f"{text}; {verdict(result)}", worst <= 1, result.valid


def many(seconds: float) -> Iterator[tuple[str, bool, bool]]:
    """Run 50 flows at 100 Mbit/s; the run is not valid if the relay cannot keep up."""
    flows = [{"name": "flow", "count": 50, "rule": "AIMD(1, 0.5)", "start": ["0s", "1s"]}]
    result = quic(scenario(100, seconds, flows))
    share = result.aggregate_goodput_bps / 1e6 / (100 * SHARE)
    late_ms, cpu = 1e3 * result.health["lateness_p99_s"], 100 * result.health["cpu_share"]
    text = (
        f"50 flows: {100 * share:.1f} % of the ideal, relay late p99 {late_ms:.3f} ms, CPU"
        f" {cpu:.0f} %"
    )
    yield f"{text}; {verdict(result)}", share > 0.97 or not result.valid, result.valid


def faults(_: float) -> Iterator[tuple[str, bool, bool]]:
    """Drop half of the packets; drop all packets for 2 s."""
    flow = [{"name": "flow", "rule": "AIMD(1, 0.5)"}]
    result = quic(scenario(10, 4, flow, loss=HALF))
    text = (
        f"loss of 50 %: {result.flows['delivered_packets'][0]} packets arrived,"
        f" {result.flows['timeouts'][0]} collapses"
    )
    yield f"{text}; {verdict(result)}", result.delivered_packets > 0, result.valid
    asked = scenario(10, 8, flow, outages=[{"from": "3s", "to": "5s"}]).set(
        "trace", {"rate": "500ms"}
    )
    result = quic(asked)
    rates = dict(result.traces["rate"].select("time_s", "goodput_bps").iter_rows())
    text = (
        f"outage from 3 to 5 s: {rates[4.0] / 1e6:.2f} Mbit/s in it, {rates[9.0] / 1e6:.2f} Mbit/s"
        " at 9 s"
    )
    yield f"{text}; {verdict(result)}", rates[4.0] == 0 and rates[9.0] > 8e6, result.valid


CHECKS = {"goodput": goodput, "shares": shares, "cuts": cuts, "many": many, "faults": faults}


def main() -> None:
    """Print the outcome of each check."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    print(
        f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors, {seconds:g} s measured"
        " after 2 s"
    )
    for name in sys.argv[2:] or CHECKS:
        for text, has_passed, is_valid in CHECKS[name](seconds):
            outcome = "passed" if has_passed else "FAILED"
            print(
                f"{name}: {outcome if is_valid or name == 'faults' else f'no verdict ({outcome})'}:"
                f" {text}",
                flush=True,
            )


if __name__ == "__main__":
    main()
