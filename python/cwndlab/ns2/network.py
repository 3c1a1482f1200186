"""A scenario's network as the core builds it: buffers in packets, and what the seed draws."""

from __future__ import annotations

import bisect
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cwndlab.scenario import Scenario

Steps = tuple[tuple[float, float], ...]
"""A rate over time: seconds, bit/s from then on."""


@dataclass(frozen=True)
class Link:
    """One direction of a link."""

    name: str
    queue_key: str
    rates: Steps
    delay_s: float
    queue: Mapping[str, Any]
    """With the defaults of the router profile."""
    limit_packets: int | None
    limit_bytes: int | None
    """Neither, if the buffer is unlimited."""
    min_packets: float | None
    max_packets: float | None
    threshold_packets: int | None
    """Of step marking, unless it is in bytes."""
    packet_bytes: int
    """Size of a data packet of the first flow that crosses it."""
    rate_bps: float
    """Mean over the measuring window."""
    cross_bps: float
    target_available_bps: float | None


@dataclass(frozen=True)
class Flow:
    """One TCP flow; without a rate an access link is a pure delay."""

    name: str
    group: int
    start_s: float | None
    """None if it never starts."""
    stop_s: float | None
    access_bps: int | None
    access_delay_s: float
    sink_bps: int | None
    sink_delay_s: float
    forward: tuple[str, ...]
    back: tuple[str, ...]
    """Empty if the reverse path is a pure delay."""
    back_delay_s: float
    timer_phase_s: float
    """Offset of its timer within a tick."""


@dataclass(frozen=True)
class Source:
    """One source of cross traffic."""

    name: str
    entry: int
    access_bps: int | None
    access_delay_s: float
    path: tuple[str, ...]
    start_s: float
    stop_s: float | None
    rates: Steps
    phase: float
    """Fraction of a packet's time after which its first packet leaves."""


@dataclass(frozen=True)
class ArrivingFlow:
    """A flow that arrives, as the seed draws it."""

    start_s: float
    packets: int
    access_delay_s: float
    sink_delay_s: float


@dataclass(frozen=True)
class Arrivals:
    """Flows that arrive, of one entry."""

    access_bps: int | None
    sink_bps: int | None
    forward: tuple[str, ...]
    back: tuple[str, ...]
    back_delay_s: float
    links_rtt_s: float
    """Round trip propagation delay without access links."""
    bottleneck_tx_s: float
    """Transmission time of a data packet on the slowest link."""
    timer_phase_s: float
    flows: tuple[ArrivingFlow, ...]

    def most(self, within_s: float) -> int:
        """Largest number of flows that arrive within a time, seconds."""
        starts = [flow.start_s for flow in self.flows]
        return max((at - bisect.bisect_left(starts, start_s - within_s) + 1
                    for at, start_s in enumerate(starts)), default=0)  # fmt: skip


@dataclass(frozen=True)
class Network:
    """Links, flows, sources and arriving flows of a scenario, in its order.

    Examples
    --------
    >>> from cwndlab import dumbbell
    >>> found = network(dumbbell("10Mbit", "20ms", flows="AIMD(1, 0.5)"))
    >>> [link.name for link in found.links], found.links[0].limit_packets
    (['bottleneck', 'bottleneck-back'], 33)
    """

    links: tuple[Link, ...]
    flows: tuple[Flow, ...]
    sources: tuple[Source, ...]
    arrivals: tuple[Arrivals, ...]

    def link(self, name: str) -> Link:
        """Find a link by its name."""
        return next(link for link in self.links if link.name == name)


def network(scenario: Scenario) -> Network:
    """Return the network of a scenario, with the draws of its seed."""
    data = json.loads(scenario.core.drawn_network())
    return Network(
        tuple(Link(**_with(link, rates=_steps(link["rates"]))) for link in data["links"]),
        tuple(
            Flow(**_with(flow, forward=tuple(flow["forward"]), back=tuple(flow["back"])))
            for flow in data["flows"]
        ),
        tuple(
            Source(**_with(source, path=tuple(source["path"]), rates=_steps(source["rates"])))
            for source in data["sources"]
        ),
        tuple(_arrivals(group) for group in data["arrivals"]),
    )


def _arrivals(data: Mapping[str, Any]) -> Arrivals:
    flows = tuple(ArrivingFlow(**flow) for flow in data["flows"])
    paths = {"forward": tuple(data["forward"]), "back": tuple(data["back"])}
    return Arrivals(**_with(data, flows=flows, **paths))


def _with(data: Mapping[str, Any], **frozen: tuple[Any, ...]) -> dict[str, Any]:
    """Return fields from JSON, with tuples for its lists."""
    return {**data, **frozen}


def _steps(pairs: list[list[float]]) -> Steps:
    return tuple((begin_s, bps) for begin_s, bps in pairs)
