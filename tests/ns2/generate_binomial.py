"""The random scenarios again, under GAIMD and the binomial rules."""

from __future__ import annotations

import random

from .case import Case


def under_new_rules(case: Case) -> Case:
    """The same network and losses; each flow's rule is drawn anew, from a stream of its own."""
    draw = random.Random(f"binomial {case.name}")
    flows = [{**flow, "rule": random_rule(draw)} for flow in case.scenario["flows"]]
    return Case(f"{case.name}-binomial", {**case.scenario, "flows": flows}, case.draw)


def random_rule(draw: random.Random) -> str:
    alpha = draw.choice([1, round(draw.uniform(0.1, 3), 3)])
    kind = draw.choice(["GAIMD", "GAIMD", "IIAD", "SQRT", "Binomial", "Binomial", "AIMD"])
    if kind in ("GAIMD", "AIMD"):
        drawn = f"{alpha}, {round(draw.uniform(0.3, 0.97), 3)}"
        return f"{kind}({draw.choice(['0.31, 0.875', '0.58, 0.75', drawn])})"
    if kind == "IIAD":
        return f"IIAD({alpha}, {draw.choice([0.5, 1, 0.499999, round(draw.uniform(0.1, 3), 3)])})"
    beta = draw.choice([0.5, 0.499999, round(draw.uniform(0.05, 0.95), 3)])
    if kind == "SQRT":
        return f"SQRT({alpha}, {beta})"
    k = draw.choice([0, 0.5, 1, 2, round(draw.uniform(0, 2), 3)])
    power = draw.choice([0, 0.5, 1, round(1 - k, 3) if k <= 1 else 0, round(draw.uniform(0, 1), 3)])
    return f"Binomial({k}, {power}, {alpha}, {beta})"
