"""Measurements of the engine: beside ns-2, with very many flows, with flows that come and go."""

from __future__ import annotations

import statistics
import subprocess
import sys

import ns2_reference
import ours
from settings import Settings, per_packet, ratios, spread
from workloads import Workload

# Packets delivered on either side may differ by this share: where delays and starts are drawn, they
# are not the same.
SAME_WORK = 0.02
# Where ns-2 cannot do the 100,000 flows within the limit, or with --quick: this share of flows and
# rate.
SCALED = 20
EMPTY = "hundred-thousand-empty"


def run_ns2(scenario: dict, limit_s: float | None = None, by_hand: bool = False) -> dict:
    """Run ns-2; keys as in `ours.run`."""
    done = ns2_reference.run(scenario, limit_s, by_hand)
    return {
        "wall_s": done.wall_s,
        "sent": done.sent_packets,
        "delivered": done.delivered_packets,
        "dropped": done.dropped_packets,
        "timeouts": done.timeouts,
        "peak_bytes": done.peak_bytes,
    }


def speed(runs: list[dict]) -> dict:
    """Time a packet over the repetitions, and count the workload, which is the same in each."""
    first = runs[0]
    found = {**spread("ns_per_packet", per_packet(runs)), "delivered_packets": first["delivered"]}
    if "dropped" in first:
        found["loss_rate"] = first["dropped"] / max(first["sent"], 1)
    if "timeouts" in first:
        found["timeouts"] = first["timeouts"]
    return found


def beside(own: list[dict], peer: list[dict]) -> dict:
    """Figures of runs of both programs."""
    found = speed(own)
    if peer:
        found |= {f"ns2_{name}": value for name, value in speed(peer).items()}
        found |= spread("ratio", ratios(per_packet(peer), per_packet(own)))
        found["same_work"] = abs(own[0]["delivered"] / peer[0]["delivered"] - 1) <= SAME_WORK
    return found


def versus(workload: Workload, settings: Settings) -> dict:
    """Time one scenario in both programs."""
    scenario = workload.scenario(settings.quick)
    sides = [("cwndlab", lambda: ours.run(scenario))]
    if settings.ns2:
        sides.append(("ns-2", lambda: run_ns2(scenario, by_hand=settings.by_hand)))
    own, *peer = settings.turns(workload, *sides)
    return beside(own, peer[0] if peer else [])


def alone(workload: Workload, settings: Settings) -> dict:
    """Time one scenario that ns-2 2.35 cannot run."""
    scenario = workload.scenario(settings.quick)
    (own,) = settings.turns(workload, ("cwndlab", lambda: ours.run(scenario)))
    return speed(own)


def in_process_of_its_own(scenario: dict) -> dict:
    """Run without Python; the time is that of building the network and of the run."""
    done = ours.native(scenario)
    # Counted as on the other side; flows that come and go are not listed, and have nothing beside
    # them.
    wall_s = done["build_s"] + done["run_s"]
    if done["flows"]:
        return {**done, "wall_s": wall_s, "delivered": done["sent"] - done["dropped"]}
    return {key: value for key, value in done.items() if key not in ("sent", "dropped")} | {
        "wall_s": wall_s
    }


def hundred_thousand(workload: Workload, settings: Settings) -> dict:
    """Time and memory of many flows, each run in a fresh process.

    Ns-2 once, between runs of ours.
    """
    scenario, empty = (
        workload.scenario(settings.quick),
        workload.scenario(settings.quick, base=EMPTY),
    )
    own, base = settings.turns(
        workload,
        ("cwndlab", lambda: in_process_of_its_own(scenario)),
        ("cwndlab without flows", lambda: ours.native(empty)),
    )
    flows = own[0]["flows"]

    def each(key: str) -> float:
        return statistics.median(
            (run[key] - none[key]) / flows for run, none in zip(own, base, strict=True)
        )

    print(f"{workload.name}: cwndlab through Python", file=sys.stderr)
    through_python = (ours.python_peak_bytes(scenario) - ours.python_peak_bytes(empty)) / flows
    found = speed(own) | {
        "flows": flows,
        "bytes_per_flow": each("peak_bytes"),
        "bytes_per_flow_run": each("run_peak_bytes"),
        "bytes_per_flow_python": through_python,
        "peak_bytes": max(run["peak_bytes"] for run in own),
    }
    return found | (many_in_ns2(workload, settings, scenario) if settings.ns2 else {})


def many_in_ns2(workload: Workload, settings: Settings, scenario: dict) -> dict:
    """Run ns-2 with the 100,000 flows, or with a twentieth of them if it exceeds the limit."""
    print(f"{workload.name}: ns-2, at most {settings.limit_s:.0f} s", file=sys.stderr)
    note = {}
    try:
        if settings.quick:
            raise subprocess.TimeoutExpired("ns", 0)
        peer = run_ns2(scenario, settings.limit_s)
    except (subprocess.TimeoutExpired, RuntimeError) as reason:
        why = "not tried with --quick" if settings.quick else str(reason)
        print(f"{workload.name}: ns-2 with 1/{SCALED} of the flows: {why}", file=sys.stderr)
        note = {
            "note": f"against ns-2 with 1/{SCALED} of flows, rate and buffer on both sides ({why})"
        }
        scenario = scaled(scenario)
        peer = run_ns2(scenario, settings.limit_s)
    print(f"{workload.name}: cwndlab after ns-2", file=sys.stderr)
    # ns-2 takes so long that it runs once: the runs of ours that it is compared with are those
    # right behind it.
    after = [in_process_of_its_own(scenario) for _ in range(settings.repetitions)]
    compared = beside(after, [peer] * len(after))
    keep = ("ns2_", "ratio", "same_work")
    found = {name: value for name, value in compared.items() if name.startswith(keep)}
    flows = after[0]["flows"]
    return found | note | {"ns2_bytes_per_flow": peer["peak_bytes"] / flows, "ns2_flows": flows}


def scaled(scenario: dict) -> dict:
    """Give a twentieth of flows, rate and buffer: the same share for each flow."""
    bell, (flows,) = scenario["dumbbell"], scenario["flows"]
    rate = f"{float(bell['rate'].removesuffix('Gbit')) / SCALED}Gbit"
    limit = f"{int(bell['queue']['limit'].removesuffix('pkt')) // SCALED}pkt"
    bell = {**bell, "rate": rate, "queue": {**bell["queue"], "limit": limit}}
    return {**scenario, "dumbbell": bell, "flows": [{**flows, "count": flows["count"] // SCALED}]}


def million(workload: Workload, settings: Settings) -> dict:
    """Time and memory of a million flows, once, and time a packet of 100,000 flows before."""
    tenth = workload.scenario(settings.quick, base="hundred-thousand")
    few, many = settings.turns(
        workload,
        ("cwndlab, a tenth of it", lambda: in_process_of_its_own(tenth)),
        ("cwndlab", lambda: in_process_of_its_own(workload.scenario(settings.quick))),
        repetitions=1,
    )
    found = speed(many) | {
        "flows": many[0]["flows"],
        "tenth_ns_per_packet": per_packet(few)[0],
        "peak_bytes": many[0]["peak_bytes"],
        "wall_s": many[0]["wall_s"],
    }
    return found | {"slow_down": found["ns_per_packet"] / found["tenth_ns_per_packet"]}


def arrivals(workload: Workload, settings: Settings) -> dict:
    """Cost of flows that come and go, and the memory of twice as many."""
    scenario = workload.scenario(settings.quick)
    once, twice = settings.turns(
        workload,
        ("cwndlab", lambda: in_process_of_its_own(scenario)),
        ("cwndlab, twice as long", lambda: in_process_of_its_own(doubled(scenario))),
    )
    more = twice[0]["arrived"] - once[0]["arrived"]
    grown = [b["run_peak_bytes"] - a["run_peak_bytes"] for a, b in zip(once, twice, strict=True)]
    return speed(once) | {
        "arrived_flows": once[0]["arrived"],
        **spread("ns_per_flow", [run["wall_s"] / run["arrived"] * 1e9 for run in once]),
        "more_bytes_per_more_flow": statistics.median(grown) / more,
    }


def doubled(scenario: dict) -> dict:
    """Let the scenario run for twice the time."""
    return {**scenario, "duration": f"{2 * float(scenario['duration'].removesuffix('s'))}s"}
