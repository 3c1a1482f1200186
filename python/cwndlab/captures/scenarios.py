"""A scenario that repeats a recorded flow."""

from __future__ import annotations

import math
from typing import Any, Literal

from cwndlab.captures.estimates import Estimator
from cwndlab.scenario import Scenario

Losses = Literal["list", "rate"]
FLOW = "flow"
"""Name of the flow."""
ROOM = 1.1
"""A listed loss is lost once: the queue holds this multiple of the longest one seen."""


def scenario_of(
    found: Estimator, *, rule: str, losses: Losses, profile: str, name: str
) -> Scenario:
    """Return the scenario of a flow: one bottleneck, with what was estimated.

    Parameters
    ----------
    found : Estimator
        What the recording tells.
    rule : str
        Rule of the flow.
    losses : {"list", "rate"}
        The same packets are lost, or as many at random where no queue was full.
    profile : str
        Profile of the endpoints, for what the recording does not tell.
    name : str
        Name of the scenario.

    Raises
    ------
    ScenarioError
        If the rule or the profile is not valid.
    """
    exchange, facts = found.exchange, found.exchange.facts
    flow: dict[str, Any] = {"name": FLOW, "rule": rule}
    if not facts.has_sack:
        flow["recovery"] = "newreno"
    if facts.total_bytes:
        flow["bytes"] = f"{facts.total_bytes}B"
    dumbbell: dict[str, Any] = {
        "rate": round(_rounded(found.rate.value)),
        "delay": f"{_rounded(found.base_rtt.value) * 5e2:.7g}ms",
        "queue": {"kind": "drop-tail", "limit": f"{_limit(found, losses)}pkt"},
        **_lost(found, losses),
    }
    return Scenario(
        {
            "name": name, "duration": f"{exchange.facts.duration_s:.9g}s", "profile": profile,
            "dumbbell": dumbbell, "flows": [flow], "tcp": _endpoints(found),
        }
    )  # fmt: skip


def _rounded(value: float) -> float:
    """Round to five digits, more than any estimate has."""
    return float(f"{value:.5g}")


def _limit(found: Estimator, losses: Losses) -> int:
    packets = max(1, round(found.buffer.value))
    return math.ceil(ROOM * packets) + 1 if losses == "list" else packets


def _lost(found: Estimator, losses: Losses) -> dict[str, Any]:
    exchange = found.exchange
    if losses == "rate":
        # Those of a full queue happen again by themselves.
        share = found.random_losses / len(exchange.transmissions)
        return {"loss": [{"kind": "bernoulli", "p": _rounded(share)}]} if share else {}
    if not exchange.lost:
        return {}
    if exchange.facts.protocol == "QUIC":
        # Packets have new numbers when they are sent again; the first of the link is the SYN.
        return {"loss": [{"kind": "list", "packets": [at + 1 for at in sorted(exchange.lost)]}]}
    sent = [exchange.transmissions[at] for at in sorted(exchange.lost)]
    return {
        "drop": [
            {"flow": FLOW, "packet": one.packet,
             **({"transmission": one.number} if one.number > 1 else {})}
            for one in sent
        ]
    }  # fmt: skip


def _endpoints(found: Estimator) -> dict[str, Any]:
    facts = found.exchange.facts
    timestamps = 12 if facts.has_timestamps else 0
    knobs: dict[str, Any] = {
        "packet_size": facts.packet_bytes,
        "header_size": facts.header_bytes - timestamps,
        "timestamps": facts.has_timestamps,
        "initial_window": int(found.initial_window.value),
        "delayed_ack": found.is_delayed,
    }
    if found.window_limit:
        knobs["window"] = found.window_limit
    if found.is_delayed:
        knobs["quick_acks"] = found.quick_acks
        if found.ack_delay:
            knobs["delayed_ack_interval"] = f"{_rounded(found.ack_delay.value) * 1e3:.5g}ms"
    if facts.protocol == "QUIC":
        # quinn and others pace (RFC 9002 section 7.7).
        knobs["pacing"] = True
    return knobs
