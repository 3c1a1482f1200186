"""Several flows over routers that draw numbers, or that have to share.

Compared with ns-2 as distributions.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Group:
    """Flows that are alike but for their own delay, which lies between these two in equal steps."""

    count: int
    access_ms: tuple[float, float]
    rule: str = "AIMD(1, 0.5)"
    recovery: str = "sack"
    tcp: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """One network; its replicates differ in the starts of the flows and in every number drawn."""

    name: str
    rate_mbit: float
    delay_ms: float
    queue: dict
    groups: dict[str, Group]
    cross: tuple[dict, ...] = ()
    duration_s: float = 240
    from_s: float = 40

    def scenario(self, replicate: int) -> dict:
        """The scenario of a replicate, of which both programs get the starts.

        The rest of its chance is their own.
        """
        draw = random.Random(f"{self.name} {replicate}")
        flows = []
        for name, group in self.groups.items():
            low, high = group.access_ms
            for i in range(group.count):
                share = i / (group.count - 1) if group.count > 1 else 0.0
                flows.append(
                    {
                        "name": f"{name}-{i}",
                        "rule": group.rule,
                        "recovery": group.recovery,
                        "access_delay": f"{low + share * (high - low):.6f}ms",
                        "start": round(draw.uniform(0, 5), 6),
                        "tcp": {**group.tcp, "timer_phase": round(draw.uniform(0, 0.01), 6)},
                    }
                )
        scenario = {
            "duration": self.duration_s,
            "measure": [self.from_s, self.duration_s],
            "seed": 1000 + replicate,
            "profile": "ns2-2.35",
            "dumbbell": {
                "rate": f"{self.rate_mbit}Mbit",
                "delay": f"{self.delay_ms}ms",
                "queue": self.queue,
                "access_rate": f"{10 * self.rate_mbit:g}Mbit",
            },
            "tcp": {"window": 1000},
            "flows": flows,
        }
        if self.cross:
            scenario["cross"] = [
                {**cross, "start": round(draw.uniform(0, 5), 6)} for cross in self.cross
            ]
        return scenario


RED = {
    "kind": "red",
    "limit": "100pkt",
    "min": "8pkt",
    "max": "24pkt",
    "max_p": 0.1,
    "weight": 0.002,
}
RED_WIDE = {**RED, "limit": "200pkt", "min": "15pkt", "max": "45pkt"}
FEW = {"near": Group(3, (3, 9)), "far": Group(3, (33, 47))}
MANY = {"sack": Group(10, (1, 40)), "reno": Group(10, (1, 40), recovery="reno")}
RULES = {"gaimd": Group(8, (2, 40), rule="GAIMD(0.31, 0.875)"), "aimd": Group(8, (2, 40))}
CBR = {"name": "cbr", "rate": "1.1Mbit", "packet_size": "500B"}
BURSTS = {
    "name": "bursts",
    "rate": "2Mbit",
    "packet_size": "800B",
    "on": {"kind": "exponential", "mean": "300ms"},
    "off": {"kind": "exponential", "mean": "700ms"},
}


def with_ecn(groups: dict[str, Group]) -> dict[str, Group]:
    return {
        name: Group(group.count, group.access_ms, group.rule, group.recovery, {"ecn": True})
        for name, group in groups.items()
    }


EXPERIMENTS = (
    Experiment("drop-tail", 8, 20, {"kind": "drop-tail", "limit": "50pkt"}, FEW, cross=(BURSTS,)),
    Experiment("red-few", 8, 20, RED, FEW),
    Experiment(
        "red-many",
        15,
        20,
        RED_WIDE,
        {"sack": Group(20, (1, 40)), "newreno": Group(20, (1, 40), recovery="newreno")},
    ),
    Experiment(
        "red-high-load",
        4,
        15,
        {**RED, "limit": "60pkt", "max": "20pkt", "gentle": False},
        {"reno": Group(20, (1, 30), recovery="reno"), "sack": Group(20, (1, 30))},
    ),
    Experiment(
        "red-adaptive",
        8,
        20,
        {"kind": "red", "limit": "150pkt", "adaptive": True},
        FEW,
        cross=(BURSTS,),
    ),
    Experiment("red-ecn-few", 8, 20, {**RED, "ecn": True}, with_ecn(FEW)),
    Experiment("red-ecn-many", 6, 20, {**RED, "ecn": True}, with_ecn(MANY)),
    Experiment("red-ecn-mark-p", 6, 20, {**RED, "ecn": True, "mark_p": 0.085}, with_ecn(MANY)),
    Experiment(
        "red-ecn-mixed",
        10,
        30,
        {"kind": "red", "limit": "150pkt", "ecn": True},
        {
            "marked": Group(6, (2, 50), tcp={"ecn": True}),
            "lost": Group(6, (2, 50), recovery="newreno"),
        },
        cross=(CBR,),
    ),
    Experiment(
        "red-no-wait", 8, 20, {**RED, "wait": False, "weight": 0.01}, {"all": Group(8, (2, 50))}
    ),
    Experiment(
        "red-bytes",
        8,
        20,
        {**RED, "bytes": True, "queue_in_bytes": True, "mean_packet": "800B"},
        {"large": Group(4, (3, 30)), "small": Group(4, (3, 30), tcp={"packet_size": 460})},
    ),
    Experiment(
        "drr-equal",
        8,
        20,
        {"kind": "drr", "limit": "80000B"},
        {"all": Group(10, (5, 6))},
    ),
    Experiment(
        "drr-mixed",
        8,
        20,
        {"kind": "drr", "limit": "80000B"},
        {
            "sack": Group(3, (2, 60)),
            "slow": Group(3, (2, 60), rule="AIMD(0.31, 0.875)", recovery="newreno"),
            "reno": Group(2, (2, 60), recovery="reno"),
        },
        cross=(CBR, BURSTS),
    ),
    Experiment(
        "gaimd-drop-tail", 15, 20, {"kind": "drop-tail", "limit": "80pkt"}, RULES, cross=(BURSTS,)
    ),
    Experiment("gaimd-red", 15, 20, RED_WIDE, RULES),
    Experiment("gaimd-red-ecn", 15, 20, {**RED_WIDE, "ecn": True}, with_ecn(RULES)),
)
