"""Random scenarios that combine what the others draw apart.

Rules and recovery schemes side by side under every profile of ns-2; flows that stop or have a size;
cross traffic whose rate changes; drop-tail, RED or DRR, with lost packets. One for each seed.
"""

from __future__ import annotations

import random

from .case import RECOVERIES, Case
from .scenarios_routers import FORCED

PROFILES = ("ns2-2.35", "ns2-2009", "ns2-2002", "ns2-2001", "ns2-2000")
RULES = (
    "AIMD(1, 0.5)", "AIMD(2, 0.7)", "AIAD(1, 3)", "MIMD(1.125, 0.8)", "MIAD(1.125, 3)",
    "GAIMD(0.31, 0.875)", "Binomial(0.5, 0.5, 1, 0.5)", "SQRT", "IIAD", "NewReno",
)  # fmt: skip


def random_mixed(seed: int) -> Case:
    """Return the scenario of a seed: one to six flows over one bottleneck."""
    draw = random.Random(f"mixed {seed}")
    bps = int(10 ** draw.uniform(5.3, 7))
    scenario = {
        "duration": draw.choice([20, 30]),
        "profile": draw.choice(PROFILES),
        "dumbbell": {
            "rate": bps,
            "delay": _milliseconds(draw, 0.5, 80),
            "queue": _queue(draw, draw.randint(4, 80)),
        },
        "flows": [_flow(draw, number) for number in range(draw.randint(1, 6))],
        "tcp": {
            "window": draw.choice([20, 100, 1000]),
            "initial_window": draw.choice([1, 2]),
            "limited_transmit": draw.random() < 0.2,
            "delayed_ack": draw.random() < 0.2,
            "stop_keeps_last_packet": draw.random() < 0.5,
        },
    }
    if draw.random() < 0.5:
        scenario["dumbbell"]["access_rate"] = int(bps * draw.uniform(1.5, 10))
    if draw.random() < 0.25:
        lost = sorted(draw.sample(range(5, 2000), draw.randint(1, 30)))
        scenario["dumbbell"]["loss"] = [{"kind": "list", "packets": lost}]
    if draw.random() < 0.4:
        scenario["cross"] = [_cross(draw, bps)]
    return Case(f"mixed-{seed}", scenario, draw.randrange(8))


def _milliseconds(draw: random.Random, low: float, high: float) -> str:
    return f"{draw.uniform(low, high):.6f}ms"


def _queue(draw: random.Random, packets: int) -> dict:
    kind = draw.choice(["drop-tail", "drop-tail", "red", "drr"])
    if kind == "drr":
        quantum = draw.choice(["250B", "500B", "1000B"])
        return {"kind": kind, "limit": f"{1040 * packets}B", "quantum": quantum}
    if kind == "red":
        ends = {"min": f"{max(1, packets // 4)}pkt", "max": f"{max(2, packets // 2)}pkt"}
        weight = draw.choice([0.002, 0.02, 0.1])
        red = {**FORCED, **ends, "weight": weight, "ecn": draw.random() < 0.4}
        return {"kind": kind, "limit": f"{packets}pkt", **red}
    return {"kind": kind, "limit": f"{packets}pkt"}


def _flow(draw: random.Random, number: int) -> dict:
    flow = {
        "name": f"f{number}",
        "rule": draw.choice(RULES),
        "recovery": draw.choice(RECOVERIES),
        "start": round(draw.uniform(0, 3), 6),
    }
    if draw.random() < 0.7:
        flow["access_delay"] = _milliseconds(draw, 0, 40)
    if draw.random() < 0.2:
        flow["packets"] = draw.randint(5, 1500)
    if draw.random() < 0.25:
        flow["stop"] = round(draw.uniform(8, 18), 6)
    return flow


def _cross(draw: random.Random, bps: int) -> dict:
    source = {"name": "c", "packet_size": f"{draw.choice([200, 500, 1000])}B"}
    if draw.random() < 0.3:
        source["stop"] = round(draw.uniform(8, 18), 6)
    points = [
        [f"{3 * step + draw.uniform(0, 2):.6f}s" if step else "0s",
         max(int(bps * draw.choice([1e-5, draw.uniform(0.02, 0.7)])), 1)]
        for step in range(draw.randint(1, 5))
    ]  # fmt: skip
    return {**source, "rate": {"kind": "points", "points": points}}
