"""Random scenarios with marks, DRR, and RED that draws nothing or whose dice are loaded.

One for each seed.
"""

from __future__ import annotations

import random

from .case import RECOVERIES, Case
from .generate import random_crowd, random_drops, random_rule, random_scenario
from .scenarios_routers import LOADED, NEVER

# Wide enough that the queue, not the window, is what limits a flow.
WIDE = 1000


def random_routers(seed: int) -> Case:
    """The scenario of a seed: a third each of marks for one flow, RED and DRR for several."""
    draw = random.Random(f"routers {seed}")
    make = draw.choice([random_marks, random_red, random_drr])
    case = make(draw, seed)
    return Case(f"routers-{seed}-{make.__name__.rpartition('_')[2]}", case.scenario, case.draw)


def random_marks(draw: random.Random, seed: int) -> Case:
    """Exact marks beside exact losses."""
    case = random_scenario(seed)
    window = case.scenario["tcp"]["window"]
    marks = random_drops(draw, window) or [draw.randint(1, 300)]
    if draw.random() < 0.15:
        first = draw.randint(1, 200)
        marks = sorted({*marks, *range(first, first + draw.randint(5, 200))})
    bell = case.scenario["dumbbell"]
    loss = [*bell.get("loss", []), {"kind": "marks", "packets": marks}]
    return with_ecn(case, {**bell, "loss": loss})


def random_red(draw: random.Random, seed: int) -> Case:
    """One to six flows."""
    case = random_crowd(seed) if draw.random() < 0.8 else random_scenario(seed)
    bell = without_loss(case)
    widen(draw, case)
    queue = {"kind": "red", "limit": bell["queue"]["limit"], "wait": draw.random() < 0.8}
    low = draw.randint(1, 20)
    if draw.random() < 0.6:
        queue |= {
            "max_p": NEVER,
            "gentle": False,
            "weight": draw.choice([1, 0.5, 0.1, 0.02, 0.002]),
        }
        if draw.random() < 0.8:
            queue |= {"min": f"{low}pkt", "max": f"{low + draw.randint(1, 20)}pkt"}
        if draw.random() < 0.2:
            queue |= {"queue_in_bytes": True}
        if draw.random() < 0.2:
            queue |= {"mean_packet": f"{draw.choice([200, 500, 1000, 1500])}B"}
        if draw.random() < 0.2:
            queue |= {"mark_p": 0.1}
    else:
        queue |= {
            **LOADED,
            "gentle": draw.random() < 0.7,
            "min": f"{low}pkt",
            "max": f"{low + 1}pkt",
        }
        if draw.random() < 0.3:
            queue |= {"mark_p": draw.choice([0.1, 0.75, 0.9])}
    if draw.random() < 0.6:
        return with_ecn(case, {**bell, "queue": {**queue, "ecn": True}})
    return Case(case.name, {**case.scenario, "dumbbell": {**bell, "queue": queue}}, case.draw)


def random_drr(draw: random.Random, seed: int) -> Case:
    """Two to four flows whose round trips differ, some with other packets."""
    case = random_scenario(seed)
    bell = {**without_loss(case), "access_delay": "1ms"}
    bell["queue"] = {
        "kind": "drr",
        "limit": f"{draw.choice([draw.randint(4, 80) * 1040, draw.randint(4000, 90000)])}B",
    }
    if draw.random() < 0.3:
        bell["queue"]["quantum"] = f"{draw.choice([200, 500, 1500, 4000])}B"
    widen(draw, case)
    flows = []
    for index in range(draw.randint(2, 4)):
        flow = {"name": f"f{index}", "rule": random_rule(draw), "recovery": draw.choice(RECOVERIES)}
        flow["access_delay"] = f"{draw.uniform(0, 50):.4f}ms"
        flow["start"] = round(draw.uniform(0, 2), 4)
        if draw.random() < 0.2:
            flow["tcp"] = {"packet_size": draw.choice([200, 512, 1460])}
        if draw.random() < 0.15:
            flow["packets"] = draw.randint(5, 400)
        flows.append(flow)
    return Case(case.name, {**case.scenario, "dumbbell": bell, "flows": flows}, case.draw)


def widen(draw: random.Random, case: Case) -> None:
    if draw.random() < 0.7:
        case.scenario["tcp"]["window"] = WIDE


def without_loss(case: Case) -> dict:
    return {key: value for key, value in case.scenario["dumbbell"].items() if key != "loss"}


def with_ecn(case: Case, bell: dict) -> Case:
    tcp = {**case.scenario.get("tcp", {}), "ecn": True}
    return Case(case.name, {**case.scenario, "dumbbell": bell, "tcp": tcp}, case.draw)
