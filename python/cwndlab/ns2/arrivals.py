"""Arriving flows as Tcl: when the seed lets which flow arrive, and the agents that take them on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cwndlab.ns2 import tcl
from cwndlab.ns2.agents import endpoints
from cwndlab.ns2.network import Arrivals, Network
from cwndlab.ns2.refusals import refused_key
from cwndlab.ns2.routes import Routes
from cwndlab.ns2.rules import rule_variables
from cwndlab.ns2.traffic import bucket_node, place, timer_lines

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
    """Write a group: how a slot is made, and what the seed draws of each flow."""
    spec = document["arrivals"][index]
    for key in ("exchanges", "vectors", "packet_sizes"):
        if spec.get(key):
            raise refused_key(f"arrivals[{index}].{key}", NOT_IN_SCRIPT)
    ends = endpoints(document, index, "arrivals")
    rule = rule_variables(
        spec["rule"], f"arrivals[{index}].rule", halves_if_half=ends.knobs["halve_if_half"]
    )
    key = f"arrivals[{index}].path"
    routers = {
        "s": f"$n({routes.first(group.forward)})",
        "d": f"$n({routes.last(group.forward)})",
    }
    placed = {
        "s": place("s", group.access_bps, any(flow.access_delay_ns for flow in group.flows),
                   routers["s"], "0ms", _bucket_node(network, group.forward, key)),
        "d": place("d", group.sink_bps, any(flow.sink_delay_ns for flow in group.flows),
                   routers["d"], "0ms", _bucket_node(network, group.back, key)),
    }  # fmt: skip
    slot = ["global ns n arriving absorbing pipes"]
    for end, router in routers.items():
        slot += placed[end]
        if len(placed[end]) > 1:
            links = f"[list [$ns link ${end} {router}] [$ns link {router} ${end}]]"
            slot.append(f"set pipes({end},$slot) {links}")
    slot += [
        f"set arriving($slot) [new {ends.sender}] ;# recovery = {spec['recovery']}",
        f"set absorbing($slot) [new {ends.sink}]",
        *tcl.settings("$arriving($slot)", [*rule, *ends.sender_variables]),
        *tcl.settings("$absorbing($slot)", ends.sink_variables),
        f"slot-agents $slot {number} $s $d",
    ]
    draws = [
        [tcl.number(flow.start_s), str(flow.packets), tcl.delay(flow.access_delay_ns),
         tcl.delay(flow.sink_delay_ns)]
        for flow in group.flows
    ]  # fmt: skip
    links = " ".join(map(tcl.name, group.forward))
    return [
        f"# [[arrivals]] name = {tcl.plain(spec['name'])}, rule = {tcl.plain(spec['rule'])}: "
        f"{len(draws)} flows",
        *(line.replace("$i", str(number)) for line in timer_lines(ends)),
        f"proc slot-{number} {{slot}} {{",
        *tcl.indented(slot),
        "}",
        f"arrival-group {number} {tcl.name(spec['name'])} {ends.knobs['packet_size']} "
        f"{ends.packet_bytes} {{{links}}} {slots(group)}",
        *tcl.loop(
            ["start", "packets", "access", "sink_delay"],
            draws,
            [f'$ns at $start "arrive {number} $packets $access $sink_delay"'],
        ),
    ]


def _bucket_node(network: Network, links: Sequence[str], key: str) -> str:
    made = bucket_node(network, links, "0", key)
    if made not in ("", "[bucket-node]"):
        raise refused_key(key, "flows that arrive have no number that shared buckets go by")
    return made
