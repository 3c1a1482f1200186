"""The topology of a scenario: nodes, links and the paths of its flows, for pictures and tables.

The core gives links and routes; this module names the nodes.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cwndlab import native

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


def topology(scenario: native.Scenario) -> Topology:
    """Return the network of a scenario: its nodes, links and paths.

    Examples
    --------
    >>> from cwndlab import dumbbell
    >>> read = topology(dumbbell("1Mbit", "5ms", flows="AIMD(1, 0.5)", duration="1s").core)
    >>> read.paths[0].forward, read.paths[0].back, read.links[0].label
    (('bottleneck',), ('bottleneck-back',), '1Mbit, 5ms')
    """
    document, built = json.loads(scenario.to_json()), json.loads(scenario.topology())
    links = [_link(table) for table in built["links"]]
    paths = [
        FlowPath(
            name=path.get("name", table["name"]),
            kind=kind,
            count=table.get("count", 1),
            what=_what(table),
            forward=tuple(path["forward"]),
            back=tuple(path["back"]),
        )
        for kind in (FLOWS, ARRIVALS, CROSS)
        for number, path in enumerate(built[kind])
        for table in (document[kind][path.get("entry", number)],)
    ]
    is_dumbbell = "dumbbell" in document
    named = _of_dumbbell(links) if is_dumbbell else _with_nodes(links, paths)
    return Topology(tuple(named), tuple(paths))


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


def _link(table: Mapping[str, Any]) -> Link:
    queue = table["queue"]
    return Link(
        table["name"],
        table["from"] or "",
        table["to"] or "",
        waveform_text(table["rate"]),
        table["delay"],
        queue["kind"],
        queue["limit"],
    )


def _of_dumbbell(links: Sequence[Link]) -> list[Link]:
    ends = [("router 1", "router 2"), ("router 2", "router 1")]
    return [replace(link, start=start, end=end)
            for link, (start, end) in zip(links, ends, strict=False)]  # fmt: skip


def _with_nodes(links: Sequence[Link], paths: Sequence[FlowPath]) -> list[Link]:
    """Name the nodes of links that have no `from` and `to`.

    Two links that follow each other on a path share a node.
    """
    # Disjoint sets of link ends that are one node; the first member names the set.
    node_of = {(link.name, side): (link.name, side) for link in links for side in ("start", "end")}

    def root(end: tuple[str, str]) -> tuple[str, str]:
        return end if node_of[end] == end else root(node_of[end])

    for path in paths:
        for names in (path.forward, path.back):
            for before, after in itertools.pairwise(names):
                node_of[root((after, "start"))] = root((before, "end"))
    named = {
        root((link.name, side)): getattr(link, side) for link in links for side in ("start", "end")
    }
    given = {name for link in links for name in (link.start, link.end)}
    spare = (f"n{number}" for number in itertools.count(1) if f"n{number}" not in given)
    names = {end: name or next(spare) for end, name in named.items()}
    return [
        replace(
            link,
            start=link.start or names[root((link.name, "start"))],
            end=link.end or names[root((link.name, "end"))],
        )
        for link in links
    ]
