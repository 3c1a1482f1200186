"""Random scenarios for the kernel in virtual time, a function of rule and number."""

from __future__ import annotations

import random
from typing import Any

from virtual.scenarios import flows, link, scenario

Toml = dict[str, Any]

RULES = ("reno", "cubic", "bbr", "dctcp")
MOST_PACKETS = 3000
"""Packets that the link carries in a run, at most: the duration follows."""
PACKET_BITS = 1500 * 8
RATES_MBIT = (1, 2, 5, 10, 20, 50, 100)
ONE_WAY_MS = (1, 2, 5, 10, 20, 50, 100)
BDPS = (0.5, 1, 2, 4)
LOSS = (0.001, 0.003, 0.01, 0.03)


def one_flow(rule: str, number: int) -> Toml:
    """Return a scenario of one flow of a rule."""
    draw = random.Random(f"one flow of {rule}: {number}")
    return _scenario(draw, [rule])


def several_flows(rule: str, number: int) -> Toml:
    """Return a scenario of two to four flows: the first of this rule, the others of any."""
    draw = random.Random(f"several flows of {rule}: {number}")
    others = ("dctcp",) if rule == "dctcp" else ("reno", "cubic", "bbr")
    return _scenario(draw, [rule, *(draw.choice(others) for _ in range(draw.choice([1, 1, 2, 3])))])


def one_flow_without_sack(rule: str, number: int) -> Toml:
    """Return the scenario of one flow, with a receiver that sends no SACK blocks."""
    made = one_flow(rule, number)
    return {**made, "flows": [{**flow, "recovery": "newreno"} for flow in made["flows"]]}


def _scenario(draw: random.Random, rules: list[str]) -> Toml:
    rate, one_way_ms = draw.choice(RATES_MBIT), draw.choice(ONE_WAY_MS)
    bdp = rate * 1e6 * 2e-3 * one_way_ms / PACKET_BITS
    dumbbell = link(f"{rate}Mbit", f"{one_way_ms}ms", queue=_queue(draw, bdp, rules[0]))
    if draw.random() < 0.4:
        dumbbell["loss"] = [_loss(draw)]
    if draw.random() < 0.15:
        dumbbell["jitter"] = {"kind": "bernoulli", "p": draw.choice([0.002, 0.02]),
                              "by": f"{draw.choice([1, 5, 20])}ms", "reorder": True}  # fmt: skip
    made = flows(*rules)
    for flow in made:
        if draw.random() < 0.2:
            flow["packets"] = draw.choice([3, 10, 40, 200, 1000])
    # Of flows that start at the same time, the first has an advantage: none do.
    for index, flow in enumerate(made[1:], 1):
        flow["start"] = f"{draw.choice([0, 37, 100, 500, 900]) + index}ms"
    tcp: Toml = {"packet_size": 1448}
    if draw.random() < 0.2:
        tcp["delayed_ack"] = False
    if draw.random() < 0.15:
        tcp["window"] = draw.choice([4, 10, 20, 60])
    if rules[0] == "dctcp" or (dumbbell["queue"].get("ecn") and draw.random() < 0.5):
        tcp["ecn"] = True
    seconds = min(10.0, max(1.0, MOST_PACKETS * PACKET_BITS / (rate * 1e6)))
    return {
        **scenario(dumbbell, made, f"{round(1e3 * seconds)}ms", seed=draw.randrange(1, 10_000)),
        "tcp": tcp,
        "linux": {"tcp_comp_sack_slack_ns": 0},
    }


def _queue(draw: random.Random, bdp: float, rule: str) -> Toml:
    limit = max(4, round(draw.choice(BDPS) * bdp))
    if rule == "dctcp":
        return {"kind": "step", "limit": f"{max(60, limit)}pkt",
                "threshold": f"{draw.choice([5, 10, 20, 40])}pkt"}  # fmt: skip
    kind = draw.choice(["drop-tail"] * 5 + ["red", "codel", "fq-codel"])
    if kind == "drop-tail":
        return {"kind": kind, "limit": f"{limit}pkt"}
    if kind == "red":
        limit = max(limit, 20)
        return {"kind": kind, "limit": f"{limit}pkt", "min": f"{limit // 4}pkt",
                "max": f"{3 * limit // 4}pkt", "ecn": draw.random() < 0.5}  # fmt: skip
    return {"kind": kind, "ecn": draw.random() < 0.5}


def _loss(draw: random.Random) -> Toml:
    kind = draw.choice(["bernoulli", "list", "gilbert-elliott"])
    if kind == "bernoulli":
        return {"kind": kind, "p": draw.choice(LOSS)}
    if kind == "list":
        first = draw.randrange(5, 400)
        return {"kind": kind, "packets": [first + i for i in range(draw.choice([1, 2, 5, 20]))]}
    return {"kind": kind, "to_bad": draw.choice([0.001, 0.005]), "to_good": 0.3, "bad_loss": 0.5}
