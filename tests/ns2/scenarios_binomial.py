"""Deterministic scenarios of GAIMD (Yang and Lam 2000) and the binomial rules (Bansal and
Balakrishnan 2001).

ns-2 halves on the first cut, in slow start and, in the threshold, on timeouts; and it halves the
window on every cut where `decrease_num_` is exactly 0.5. IIAD and SQRT as they are written by
default meet that last rule, those with another `beta` show the decrease of their own.
"""

from __future__ import annotations

from .case import RECOVERIES, Case, scenario
from .scenarios_routers import FORCED, LOADED, marked, several, spread

RULES = (
    "GAIMD(0.31, 0.875)",
    "GAIMD(0.58, 0.75)",
    "IIAD",
    "IIAD(1, 1)",
    "SQRT",
    "SQRT(1, 0.499999)",
    "Binomial(0.3, 0.7, 1, 0.5)",
    "Binomial(0.3, 0.7, 1, 0.6)",
    "Binomial(1, 0, 1, 0.499999)",
)
# A cut in slow start, one of one packet, one of several, and retransmissions lost until the timer
# backs off.
LOSSES = [60, 200, 500, 501, 505, 800, 801, 802, 803, 804, 805, 806]
# Cuts in a row, with no acknowledgement between that grows the window.
IN_A_ROW = [40, *range(52, 60), 90, 91, 120, *range(140, 150)]


def title(rule: str) -> str:
    return rule.replace("(", "-").replace(", ", "-").rstrip(")")


def losses() -> list[Case]:
    cases = []
    for number, rule in enumerate(RULES):
        name = title(rule)
        for index, recovery in enumerate(RECOVERIES):
            draw = (number + index) % 4
            listed = scenario(recovery, rule, LOSSES, duration=30, window=60)
            cases.append(Case(f"{name}-{recovery}-dropped", listed, draw=draw))
            dense = scenario(recovery, rule, IN_A_ROW, duration=60, window=20)
            cases.append(Case(f"{name}-{recovery}-in-a-row", dense, draw=draw))
            overshoot = scenario(recovery, rule, duration=40, limit=15, window=1000)
            cases.append(Case(f"{name}-{recovery}", overshoot, draw=draw))
        small = scenario("sack", rule, [20, 40, 47, 52, 58, 64, 71, 80], duration=60, window=5)
        cases.append(Case(f"{name}-small-window", small, draw=number % 4))
        old = scenario(
            "reno", rule, [60, 200, 201], duration=40, limit=15, window=200, profile="ns2-2000"
        )
        cases.append(Case(f"2000-{name}", old, draw=number % 4))
    return cases


def marks() -> list[Case]:
    cases = []
    for number, rule in enumerate(RULES):
        for index, recovery in enumerate(RECOVERIES):
            chosen = [20, 24, 25, 26, *range(150, 1400, 125), 1403]
            network = marked(recovery, chosen, [700, 760], rule, window=60, duration=30)
            cases.append(Case(f"ecn-{recovery}-{title(rule)}", network, draw=(number + index) % 4))
    return cases


def cut_again() -> list[Case]:
    """A second cut before any acknowledgement has grown the window.

    Ns-2 halves on the connection's first cut only.
    """
    cases = []
    for rule in (*RULES, "AIMD(0.31, 0.875)"):
        name = title(rule)
        for recovery, second in (("sack", 138), ("newreno", 140)):
            # `second` is sent in the first recovery.
            options = {"window": 100, "limit": 100, "initial_ssthresh": 64, "duration": 10}
            cases.append(
                Case(
                    f"{name}-{recovery}-cut-again",
                    scenario(recovery, rule, [60, second], **options),
                )
            )
    for rule in ("GAIMD(0.31, 0.875)", "SQRT(1, 0.499999)"):
        for recovery in RECOVERIES:
            network = marked(recovery, range(20, 120), (), rule, window=60)
            cases.append(Case(f"ecn-{recovery}-{title(rule)}-marked-throughout", network))
    return cases


def shared() -> list[Case]:
    """All of them, and AIMD, over one queue."""
    path = {"rate": "4.3Mbit", "delay": "21.7ms"}
    tail = {"kind": "drop-tail", "limit": "25pkt"}
    cases = []
    for recovery in RECOVERIES:
        for name, rules in {
            "GAIMD": ("GAIMD(0.31, 0.875)", "AIMD(1, 0.5)"),
            "binomial": (
                "SQRT(1, 0.499999)",
                "IIAD(1, 1)",
                "AIMD(1, 0.5)",
                "Binomial(0.3, 0.7, 1, 0.6)",
            ),
            "halving": ("SQRT", "IIAD", "GAIMD(0.58, 0.75)"),
        }.items():
            flows = spread([recovery] * 4, rules)
            cases.append(Case(f"{name}-{recovery}-drop-tail", several(flows, tail, **path)))
    flows = spread(RECOVERIES, ("GAIMD(0.31, 0.875)", "SQRT(1, 0.499999)", "IIAD(1, 1)"))
    red = {"kind": "red", **FORCED, "min": "5pkt", "max": "12pkt", "weight": 0.05}
    loaded = {"kind": "red", **LOADED, "min": "7pkt", "max": "8pkt", "ecn": True}
    return [
        *cases,
        Case("binomial-and-GAIMD-red", several(flows, red, **path)),
        Case("binomial-and-GAIMD-red-ecn", several(flows, loaded, ecn=True, **path)),
        Case("binomial-and-GAIMD-drr", several(flows, {"kind": "drr", "limit": "26000B"}, **path)),
    ]


def everything() -> list[Case]:
    return [*losses(), *marks(), *cut_again(), *shared()]
