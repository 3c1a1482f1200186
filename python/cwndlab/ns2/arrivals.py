"""Arriving flows as Tcl: when the seed lets which flow arrive, and the agents that take them on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cwndlab.ns2 import tcl
from cwndlab.ns2.agents import endpoints
from cwndlab.ns2.network import Arrivals, Network
from cwndlab.ns2.refusals import refused_key
from cwndlab.ns2.routes import Routes
from cwndlab.ns2.traffic import bucket_lines, drr_links, place, timer_lines

SLOT_S = 10.0
"""Time for which a script has slots from the start, seconds: the time of a flow, and five after it.
A script adds slots where more flows are there at once."""


NOT_IN_SCRIPT = "a flow of the script has a size, one response and the packets of its agent"
"""Why some keys of an entry are refused."""


def slots(group: Arrivals) -> int:
    """Count the slots of a group that a script makes before the run."""
    return group.most(SLOT_S)


def arrival_lines(network: Network, routes: Routes, document: Mapping[str, Any]) -> list[str]:
    """Write every ``[[arrivals]]`` entry."""
    lines: list[str] = []
    first = len(network.flows) + len(network.sources) + 1
    for index, group in enumerate(network.arrivals):
        lines += ["", *_group_lines(network, routes, document, index, first + index, group)]
    return lines


def _group_lines(
    network: Network,
    routes: Routes,
    document: Mapping[str, Any],
    index: int,
    number: int,
    group: Arrivals,
) -> list[str]:
    """Write a group: how slots and agents are made, and what the seed draws of each flow."""
    spec = document["arrivals"][index]
    for key in ("exchanges", "vectors", "packet_sizes"):
        if spec.get(key):
            raise refused_key(f"arrivals[{index}].{key}", NOT_IN_SCRIPT)
    ends = endpoints(document, index, "arrivals")
    key = f"arrivals[{index}].path"
    routers = {
        "s": f"$n({routes.first(group.forward)})",
        "d": f"$n({routes.last(group.forward)})",
    }
    ends_of_path = {
        "s": (group.access_bps, any(flow.access_delay_s for flow in group.flows)),
        "d": (group.sink_bps, any(flow.sink_delay_s for flow in group.flows)),
    }
    slot = ["global ns n place delays"]
    for end, (rate_bps, is_delayed) in ends_of_path.items():
        router = routers[end]
        if rate_bps is None:
            # A pure delay needs no node: routes take the cube of the number of nodes.
            slot += [f"set {end} {router}", *([f"delay-at {end} $slot"] if is_delayed else [])]
        else:
            slot += place(end, rate_bps, is_delayed, router, "0ms")
            ways = (f"${end} {router}", f"{router} ${end}")
            both = " ".join(f"[[$ns link {way}] link]" for way in ways)
            slot.append(f"set delays({end},$slot) [list {both}]")
        slot.append(f"set place({end},$slot) ${end}")
    agents = [
        "global ns arriving absorbing",
        f"set arriving($slot) [new {ends.sender}] ;# recovery = {spec['recovery']}",
        f"set absorbing($slot) [new {ends.sink}]",
        *ends.lines("$arriving($slot)", "$absorbing($slot)"),
    ]
    draws = [
        f"{tcl.number(flow.start_s)} {flow.packets} {tcl.delay(flow.access_delay_s)} "
        f"{tcl.delay(flow.sink_delay_s)}"
        for flow in group.flows
    ]
    links = " ".join(map(tcl.name, group.forward))
    return [
        f"# [[arrivals]] name = {tcl.plain(spec['name'])}, rule = {tcl.plain(spec['rule'])}: "
        f"{len(draws)} flows",
        *(line.replace("$i", str(number)) for line in timer_lines(ends, [group.timer_phase_s])),
        f"proc slot-{number} {{slot}} {{",
        *tcl.indented(slot),
        "}",
        f"proc agents-{number} {{slot}} {{",
        *tcl.indented(agents),
        "}",
        *_bucket_lines(network, routes, group, number, key),
        f"arrival-group {number} {tcl.name(spec['name'])} {ends.knobs['packet_size']} "
        f"{ends.packet_bytes} {{{links}}} {slots(group)}",
        "# start, packets, access_delay, sink_delay of each flow",
        f"set coming({number}) {{",
        *tcl.indented(draws),
        "}",
        f"let-arrive {number} 0",
    ]


def _bucket_lines(
    network: Network, routes: Routes, group: Arrivals, number: int, key: str
) -> list[str]:
    """Write what puts the agents of a slot into its bucket; nothing without DRR."""
    before = len(network.flows) + len(network.sources)
    lines: list[str] = []
    for links, agent in ((group.forward, "arriving"), (group.back, "absorbing")):
        drr = drr_links(network, links, key)
        if drr and "buckets" in network.link(drr[0]).queue:
            raise refused_key(
                key, "arriving flows have no numbers by which they could share buckets"
            )
        slot = f"[expr {{{before} + $slot}}]"
        lines += bucket_lines(network, routes, links, f"${agent}($slot)", slot, key)
    if not lines:
        return []
    body = ["global n arriving absorbing", *lines]
    return [f"proc bucket-{number} {{slot}} {{", *tcl.indented(body), "}"]
