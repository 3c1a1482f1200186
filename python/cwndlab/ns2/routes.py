"""Nodes of the links, and the check that ns-2's routes are the scenario's.

ns-2 routes by the least sum of link costs, 1 each unless a script sets them; a scenario's paths are
any lists of links. A script is written only where every path is the one that ns-2 finds.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cwndlab import native
from cwndlab.ns2 import tcl
from cwndlab.ns2.network import Arrivals, Flow, Network
from cwndlab.ns2.refusals import refused_key
from cwndlab.topology import topology

Pair = tuple[str, str]


@dataclass(frozen=True)
class Routes:
    """Where links start and end.

    Attributes
    ----------
    ends : mapping of str to (str, str)
        Link to its nodes.
    returns : mapping of (str, str) to float
        Links for ACKs whose way back is a pure delay: nodes to delay, nanoseconds.
    costs : mapping of str to int
        Costs of the links, if they are not 1 each.
    """

    ends: Mapping[str, Pair]
    returns: Mapping[Pair, float]
    costs: Mapping[str, int]

    @property
    def nodes(self) -> list[str]:
        """Nodes in the order of the links."""
        return list(dict.fromkeys(node for pair in self.ends.values() for node in pair))

    def first(self, links: Sequence[str]) -> str:
        """Node where a path starts."""
        return self.ends[links[0]][0]

    def last(self, links: Sequence[str]) -> str:
        """Node where a path ends."""
        return self.ends[links[-1]][1]


def routes(network: Network, document: Mapping[str, Any]) -> Routes:
    """Return the nodes of a network, and the costs with which ns-2 finds its paths.

    Raises
    ------
    ScenarioError
        If ns-2 would route a flow in another way.
    """
    ends = _ends(network, document)
    returns = _returns(network, ends)
    paths = _paths(network, ends)
    by_delay = {link.name: max(1, round(link.delay_s * 1e6)) for link in network.links}
    for costs in ({}, by_delay):
        wrong = _wrong(paths, ends, returns, costs)
        if wrong is None:
            return Routes(ends, returns, costs)
    assert wrong is not None, "the last costs were wrong"
    raise refused_key(
        wrong, "ns-2 routes by the least cost, and this is not the only shortest path"
    )


def _ends(network: Network, document: Mapping[str, Any]) -> dict[str, Pair]:
    if "dumbbell" in document:
        # Of a reverse link with unlimited rate there is no second one.
        pairs = {"bottleneck": ("r1", "r2"), "bottleneck-back": ("r2", "r1")}
        return {link.name: pairs[link.name] for link in network.links}
    links = topology(native.Scenario(json.dumps(document), "json")).links
    ends = {link.name: (tcl.name(link.start), tcl.name(link.end)) for link in links}
    nodes = {node for link in links for node in (link.start, link.end)}
    names = {tcl.name(node) for node in nodes}
    if len(names) < len(nodes):
        raise refused_key(
            "links", "two nodes have names that differ only in characters that Tcl takes"
        )
    pairs = list(ends.values())
    twice = next((name for name, pair in ends.items() if pairs.count(pair) > 1), None)
    if twice is not None:
        raise refused_key(f"links.{twice}", "ns-2 has one link from a node to another")
    return ends


def _flows(network: Network) -> list[tuple[str, Flow | Arrivals]]:
    """Return flows and groups of arriving flows, with the keys of their entries."""
    listed = [(f"flows[{flow.group}]", flow) for flow in network.flows]
    return [*listed, *((f"arrivals[{at}]", each) for at, each in enumerate(network.arrivals))]


def _returns(network: Network, ends: Mapping[str, Pair]) -> dict[Pair, float]:
    """Return the pure delays on which ACKs come back."""
    found: dict[Pair, float] = {}
    for key, flow in _flows(network):
        if flow.back:
            continue
        pair = (ends[flow.forward[-1]][1], ends[flow.forward[0]][0])
        if pair in ends.values() or found.setdefault(pair, flow.back_delay_s) != (
            flow.back_delay_s
        ):
            raise refused_key(
                f"{key}.path",
                "ns-2 has one link from a node to another, and ACKs need one of their own "
                "(`back` gives them links)",
            )
    return found


def _paths(network: Network, ends: Mapping[str, Pair]) -> dict[tuple[str, ...], str]:
    """Return the nodes of every path, with its key."""
    found: dict[tuple[str, ...], str] = {}

    def note(links: Sequence[str], key: str) -> None:
        nodes = (ends[links[0]][0], *(ends[link][1] for link in links))
        found.setdefault(nodes, key)

    for key, flow in _flows(network):
        note(flow.forward, f"{key}.path")
        if flow.back:
            note(flow.back, f"{key}.back")
        else:
            pair = (ends[flow.forward[-1]][1], ends[flow.forward[0]][0])
            found.setdefault(pair, f"{key}.path")
    for source in network.sources:
        note(source.path, f"cross[{source.entry}].path")
    return found


def _wrong(
    paths: Mapping[tuple[str, ...], str],
    ends: Mapping[str, Pair],
    returns: Mapping[Pair, float],
    costs: Mapping[str, int],
) -> str | None:
    """Return the key of a path that ns-2 would not take; None if there is none."""
    neighbours: dict[str, list[tuple[str, int]]] = {}
    for name, (start, end) in ends.items():
        neighbours.setdefault(start, []).append((end, costs.get(name, 1)))
    for start, end in returns:
        neighbours.setdefault(start, []).append((end, 1))
    for nodes, key in paths.items():
        if _only_shortest(neighbours, nodes[0], nodes[-1]) != nodes:
            return key
    return None


def _only_shortest(
    neighbours: Mapping[str, Sequence[tuple[str, int]]], start: str, end: str
) -> tuple[str, ...] | None:
    """Return the shortest path between two nodes; None if there are several."""
    waiting: list[tuple[int, tuple[str, ...]]] = [(0, (start,))]
    found: tuple[int, tuple[str, ...]] | None = None
    least: dict[str, int] = {}
    while waiting:
        length, nodes = heapq.heappop(waiting)
        if found is not None and length > found[0]:
            break
        here = nodes[-1]
        if here == end and len(nodes) > 1:
            if found is not None:
                return None
            found = length, nodes
            continue
        if length > least.setdefault(here, length):
            continue
        for node, cost in neighbours.get(here, ()):
            if node not in nodes:
                heapq.heappush(waiting, (length + cost, (*nodes, node)))
    return None if found is None else found[1]
