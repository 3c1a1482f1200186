"""One comparison: a scenario of a dumbbell, written in a line or two."""

from __future__ import annotations

from dataclasses import dataclass

RECOVERIES = ("tahoe", "reno", "newreno", "sack")


@dataclass(frozen=True)
class Case:
    name: str
    scenario: dict
    # How many numbers of ns-2's stream come before the one that is this flow's timer phase (0:
    # 0.00034 of a tick).
    draw: int = 0


def scenario(
    recovery: str = "sack",
    rule: str = "AIMD(1, 0.5)",
    drops=(),
    *,
    profile: str = "ns2-2.35",
    duration: float = 20,
    rate="1Mbit",
    delay="20ms",
    access_rate="10Mbit",
    access_delay="5ms",
    limit: int = 50,
    packets: int | None = None,
    start=None,
    bell: dict | None = None,
    **tcp,
) -> dict:
    """One flow over a dumbbell. ``drops`` are indices of its data packets that arrive at the
    bottleneck."""
    flow = {"name": "a", "rule": rule, "recovery": recovery}
    if packets is not None:
        flow["packets"] = packets
    if start is not None:
        flow["start"] = start
    result = {
        "duration": duration,
        "profile": profile,
        "dumbbell": {
            "rate": rate,
            "delay": delay,
            "access_rate": access_rate,
            "access_delay": access_delay,
            "queue": {"kind": "drop-tail", "limit": f"{limit}pkt", "count_in_service": True},
            **(bell or {}),
        },
        "flows": [flow],
    }
    result["dumbbell"] = {
        key: value for key, value in result["dumbbell"].items() if value is not None
    }
    if drops:
        result["dumbbell"]["loss"] = [{"kind": "list", "packets": sorted(drops)}]
    if tcp:
        result["tcp"] = tcp
    return result
