"""The topology of a scenario: nodes, links and the paths of its flows, for pictures and tables.

The native core defines links and routes; this module derives the same ones for display.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cwndlab.quantities import seconds

FLOWS, ARRIVALS, CROSS = "flows", "arrivals", "cross"


@dataclass(frozen=True)
class Link:
    """One direction of a link."""

    name: str
    start: str
    end: str
    rate: str
    delay: str
    queue: str
    limit: str

    @property
    def label(self) -> str:
        """Rate and delay."""
        return f"{self.rate}, {self.delay}"


@dataclass(frozen=True)
class FlowPath:
    """A group of flows, of arrivals, or of cross traffic, and the links it crosses."""

    name: str
    kind: str
    """``flows``, ``arrivals`` or ``cross``."""
    count: int
    what: str
    """Its rule, or its rate."""
    forward: tuple[str, ...]
    back: tuple[str, ...]


@dataclass(frozen=True)
class Topology:
    """Nodes, links and paths of a scenario, in its order."""

    links: tuple[Link, ...]
    paths: tuple[FlowPath, ...]
    nodes: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        ends = (node for link in self.links for node in (link.start, link.end))
        object.__setattr__(self, "nodes", tuple(dict.fromkeys(ends)))

    def link(self, name: str) -> Link:
        """Find a link by its name."""
        return next(link for link in self.links if link.name == name)

    def route(self, names: Sequence[str]) -> list[str]:
        """Nodes along some links."""
        links = [self.link(name) for name in names]
        return [links[0].start, *(link.end for link in links)] if links else []


def topology(document: Mapping[str, Any]) -> Topology:
    """Read the network of a checked scenario in its canonical form.

    Examples
    --------
    >>> link = {"delay": "5ms", "rate": "1Mbit", "queue": {"kind": "drop-tail", "limit": "1bdp"}}
    >>> flow = {"name": "a", "rule": "AIMD(1, 0.5)", "count": 1, "from": "A", "to": "C"}
    >>> ends = [("A", "B"), ("B", "C"), ("A", "C")]
    >>> links = [{**link, "from": start, "to": end, "duplex": True} for start, end in ends]
    >>> read = topology({"links": links, "flows": [flow]})
    >>> read.paths[0].forward, read.paths[0].back
    (('A-C',), ('C-A',))
    """
    if "dumbbell" in document:
        links = _dumbbell(document)
    else:
        links = [link for table in document["links"] for link in _one_or_two(table)]
    links = _with_nodes(links, document)
    paths = [
        FlowPath(
            name=table["name"],
            kind=kind,
            count=table.get("count", 1),
            what=_what(table),
            forward=_forward(table, links),
            back=_back(table, links) if kind != CROSS else (),
        )
        for kind in (FLOWS, ARRIVALS, CROSS)
        for table in document.get(kind, ())
    ]
    return Topology(tuple(links), tuple(paths))


def _what(table: Mapping[str, Any]) -> str:
    if "rule" in table:
        return table["rule"]
    return (
        waveform_text(table["rate"])
        if "rate" in table
        else f"leaves {waveform_text(table['available'])}"
    )


def waveform_text(waveform: str | Mapping[str, Any]) -> str:
    """Write a rate or waveform in a few words.

    Examples
    --------
    >>> square = {"kind": "square", "high": "9Mbit", "low": "1Mbit", "every": "5s"}
    >>> waveform_text("10Mbit"), waveform_text(square)
    ('10Mbit', 'square 1Mbit to 9Mbit')
    """
    if isinstance(waveform, str):
        return waveform
    kind = waveform["kind"]
    if kind == "constant":
        return waveform["rate"]
    low, high = (
        waveform.get(names[0], waveform.get(names[1]))
        for names in (("low", "min"), ("high", "max"))
    )
    return f"{kind} {low} to {high}" if low and high else kind


def _link(table: Mapping[str, Any], name: str, start: str, end: str) -> Link:
    queue = table["queue"]
    return Link(
        name,
        start,
        end,
        waveform_text(table["rate"]),
        table["delay"],
        queue["kind"],
        queue["limit"],
    )


def _dumbbell(document: Mapping[str, Any]) -> list[Link]:
    table = document["dumbbell"]
    links = [_link(table, "bottleneck", "router 1", "router 2")]
    if table.get("back_rate") != "unlimited":
        turned = any(
            entry.get("reverse")
            for kind in (FLOWS, ARRIVALS, CROSS)
            for entry in document.get(kind, ())
        )
        usual = table["queue"] if turned else {"kind": "drop-tail", "limit": "unlimited"}
        back = {
            "rate": table.get("back_rate", table["rate"]),
            "delay": table["delay"],
            "queue": table.get("back_queue", usual),
        }
        links.append(_link(back, "bottleneck-back", "router 2", "router 1"))
    return links


def _one_or_two(table: Mapping[str, Any]) -> list[Link]:
    start, end = table.get("from", ""), table.get("to", "")
    name = table.get("name", "")
    there = _link(table, name or f"{start}-{end}", start, end)
    if not table.get("duplex"):
        return [there]
    return [there, _link(table, f"{name}-back" if name else f"{end}-{start}", end, start)]


def _with_nodes(links: list[Link], document: Mapping[str, Any]) -> list[Link]:
    """Name the nodes of links that have no `from` and `to`.

    Two links that follow each other on a path share a node.
    """
    # Disjoint sets of link ends that are one node; the first member names the set.
    node_of = {(link.name, side): (link.name, side) for link in links for side in ("start", "end")}

    def root(end: tuple[str, str]) -> tuple[str, str]:
        return end if node_of[end] == end else root(node_of[end])

    for table in itertools.chain(*(document.get(kind, ()) for kind in (FLOWS, ARRIVALS, CROSS))):
        for path in (table.get("path", ()), table.get("back", ())):
            for before, after in itertools.pairwise(path):
                node_of[root((after, "start"))] = root((before, "end"))
    named = {
        root((link.name, side)): getattr(link, side) for link in links for side in ("start", "end")
    }
    given = {name for link in links for name in (link.start, link.end)}
    spare = (f"n{number}" for number in itertools.count(1) if f"n{number}" not in given)
    names = {end: name or next(spare) for end, name in named.items()}
    return [
        Link(
            link.name,
            link.start or names[root((link.name, "start"))],
            link.end or names[root((link.name, "end"))],
            link.rate,
            link.delay,
            link.queue,
            link.limit,
        )
        for link in links
    ]


def _forward(table: Mapping[str, Any], links: list[Link]) -> tuple[str, ...]:
    if table.get("path"):
        return tuple(table["path"])
    if table.get("from"):
        return _shortest(links, table["from"], table["to"])
    return ("bottleneck-back",) if table.get("reverse") else ("bottleneck",)


def _back(table: Mapping[str, Any], links: list[Link]) -> tuple[str, ...]:
    if table.get("back"):
        return tuple(table["back"])
    if table.get("from"):
        return _shortest(links, table["to"], table["from"])
    names = [link.name for link in links]
    if "path" not in table and "bottleneck-back" in names:
        return ("bottleneck",) if table.get("reverse") else ("bottleneck-back",)
    return ()


def _shortest(links: list[Link], start: str, end: str) -> tuple[str, ...]:
    """Path of least delay; ties go to fewer links, then to earlier links (as in the core)."""
    open_paths: list[tuple[int, int, tuple[int, ...], str]] = [(0, 0, (), start)]
    done = set[str]()
    while open_paths:
        delay_ns, count, path, node = heapq.heappop(open_paths)
        if node == end:
            return tuple(links[index].name for index in path)
        if node in done:
            continue
        done.add(node)
        for index, link in enumerate(links):
            if link.start == node and link.end not in done:
                longer_ns = delay_ns + round((seconds(link.delay) or 0.0) * 1e9)
                heapq.heappush(open_paths, (longer_ns, count + 1, (*path, index), link.end))
    return ()
