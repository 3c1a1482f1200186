"""Draws a network: nodes, links with rate, delay and queue, and the flows' paths."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cwndlab.plots.drawing import name as label_of
from cwndlab.plots.drawing import ordered, points, room_in
from cwndlab.plots.style import LOOKS, FloatArray, look, panels, styled

if TYPE_CHECKING:
    from cwndlab.topology import FlowPath, Link, Topology

RADIUS = 0.16
"""Radius of a node; neighbours are 2 apart."""
LANE = 0.085
"""Distance between parallel paths."""
NARROW_SHARE = 0.8
"""Share of the usual width under which the texts at links take more lines."""
LINK_COLOR = "#b8b8b8"
MAX_LEGEND = 3 * len(LOOKS)

Place = tuple[float, float]


@styled
def network(topology: Topology) -> Figure:
    """Draw nodes, links, and each group of flows as a coloured path from its source to its sink.

    Parameters
    ----------
    topology : Topology
        From `cwndlab.topology.topology`.
    """
    places = _places(topology)
    lanes = _lanes(topology)
    xs, ys = zip(*places.values(), strict=True)
    above = 0.35 + LANE * max(lanes.values(), default=0)
    low, high = min(ys) - 0.75, max(ys) + above
    width = max(xs) - min(xs) + 1.2
    scale = min(1.35, 11.0 / width)
    listed = min(len(topology.paths), MAX_LEGEND)
    width_in = max(6.0, scale * width)
    is_narrow = room_in(width_in) < NARROW_SHARE * width_in
    kinds = {f"{link.label}, {link.queue}, {link.limit}" for link in topology.links}
    # There is no room to repeat it at every link.
    common = kinds.pop() if is_narrow and len(topology.links) > 1 and len(kinds) == 1 else ""
    figure, (axes,) = panels(1, width=width_in, height=scale * (high - low) + 0.22 * listed)
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.set_xlim(min(xs) - 0.6, max(xs) + 0.6)
    axes.set_ylim(low, high)
    for link in topology.links:
        _draw_link(axes, link, topology, places, lanes, is_narrow=is_narrow, common=common)
    for index, path in enumerate(ordered(topology.paths, key=lambda path: path.name)):
        _draw_path(axes, path, topology.route(path.forward), places, lanes[path.name], index)
    for name, (x, y) in places.items():
        axes.scatter([x], [y], s=720, color="white", edgecolor="#333333", linewidth=1.3, zorder=5)
        axes.text(
            x, y, name.replace(" ", "\n"), ha="center", va="center", fontsize=points(8), zorder=6
        )
    heading = {"title": f"every link: {common}", "alignment": "left"} if common else {}
    figure.legend(
        loc="outside lower left",
        fontsize=points(8.5),
        title_fontsize=points(8.5),
        handlelength=3.2,
        **heading,
    )
    return figure


def _lanes(topology: Topology) -> dict[str, int]:
    """Assign each path the first lane that is free on all its links."""
    taken: dict[str, set[int]] = {}
    lanes: dict[str, int] = {}
    for path in topology.paths:
        lane = next(
            lane
            for lane in itertools.count(1)
            if all(lane not in taken.get(name, ()) for name in path.forward)
        )
        for name in path.forward:
            taken.setdefault(name, set()).add(lane)
        lanes[path.name] = lane
    return lanes


def _places(topology: Topology) -> dict[str, Place]:
    """Put nodes in a row, in a circle if links close one, or in columns by hop count."""
    nodes = list(topology.nodes)
    after = {node: [link.end for link in topology.links if link.start == node] for node in nodes}
    if (
        len(nodes) >= 3
        and all(len(after[node]) == 1 for node in nodes)
        and len(_walk(nodes[0], after)) == len(nodes)
    ):
        # A ring: clockwise from the top.
        order = _walk(nodes[0], after)
        radius = max(1.7, 2.0 / (2 * math.sin(math.pi / len(order))))
        angles = [math.pi / 2 - 2 * math.pi * place / len(order) for place in range(len(order))]
        return {
            node: (radius * math.cos(angle), radius * math.sin(angle))
            for node, angle in zip(order, angles, strict=True)
        }
    columns = _columns(topology)
    places: dict[str, Place] = {}
    for number in sorted(set(columns.values())):
        column = [node for node in nodes if columns[node] == number]
        heights = {node: _height(node, topology, places) for node in column}
        middle = sum(heights.values()) / len(column)
        column.sort(key=lambda node: -heights[node])
        for row, node in enumerate(column):
            places[node] = (2.0 * number, middle + 1.3 * ((len(column) - 1) / 2 - row))
    return places


def _height(node: str, topology: Topology, places: dict[str, Place]) -> float:
    """Mean height of the neighbours placed so far."""
    links = [(link.start, link.end) for link in topology.links if node in (link.start, link.end)]
    known = [
        places[other][1] for ends in links for other in ends if other != node and other in places
    ]
    return sum(known) / len(known) if known else 0.0


def _walk(node: str, after: dict[str, list[str]]) -> list[str]:
    seen: list[str] = []
    while node not in seen:
        seen.append(node)
        node = after[node][0]
    return seen


def _columns(topology: Topology) -> dict[str, int]:
    """Column of each node: the length of the longest path of data to it."""
    columns = dict.fromkeys(topology.nodes, 0)
    for _ in topology.nodes:
        for path in topology.paths:
            route = topology.route(path.forward)
            for before, node in itertools.pairwise(route):
                # Opposite paths would push for ever: limit the columns to the number of nodes.
                if columns[node] <= columns[before] < len(topology.nodes) - 1 and not _turns_back(
                    topology, before, node
                ):
                    columns[node] = columns[before] + 1
    return columns


def _turns_back(topology: Topology, before: str, node: str) -> bool:
    """Whether an earlier path goes from `node` to `before` and fixes the direction."""
    for path in topology.paths:
        route = topology.route(path.forward)
        steps = list(itertools.pairwise(route))
        if (before, node) in steps:
            return False
        if (node, before) in steps:
            return True
    return False


def _left(start: Place | FloatArray, end: Place | FloatArray) -> FloatArray:
    """Return the direction to the left of the way from start to end."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    return np.array([-dy, dx]) / math.hypot(dx, dy)


def _draw_link(
    axes: Axes,
    link: Link,
    topology: Topology,
    places: dict[str, Place],
    lanes: dict[str, int],
    *,
    is_narrow: bool,
    common: str,
) -> None:
    start, end = places[link.start], places[link.end]
    axes.plot(
        *zip(start, end, strict=True),
        color=LINK_COLOR,
        linewidth=5,
        solid_capstyle="round",
        zorder=1,
    )
    twins = [
        other for other in topology.links if (other.start, other.end) == (link.end, link.start)
    ]
    text = f"{link.name}\n{link.label}\n{link.queue}, {link.limit}"
    if twins:
        twin = twins[0]
        if topology.links.index(twin) < topology.links.index(link):
            return
        # Both directions share a label, which says what differs.
        same = (twin.label, twin.queue, twin.limit) == (link.label, link.queue, link.limit)
        text += "\n(both ways)" if same else f"\nback: {twin.label},\n{twin.queue}, {twin.limit}"
    if common:
        text = link.name
    elif is_narrow:
        text = text.replace(", ", ",\n")
    # Paths are on the left of a link; its label is on the right, beyond the paths of the other
    # direction.
    towards = [
        lanes[path.name]
        for path in topology.paths
        if any(twin.name in path.forward for twin in twins)
    ]
    right = -_left(start, end)
    spot = (np.array(start) + np.array(end)) / 2 + right * (0.13 + LANE * max(towards, default=0))
    horizontal = "left" if right[0] > 0.3 else "right" if right[0] < -0.3 else "center"
    vertical = "bottom" if right[1] > 0.3 else "top" if right[1] < -0.3 else "center"
    axes.text(
        float(spot[0]), float(spot[1]), text, ha=horizontal, va=vertical, fontsize=points(7.5),
        linespacing=1.15, zorder=4,
    )  # fmt: skip


def _draw_path(
    axes: Axes, path: FlowPath, route: list[str], places: dict[str, Place], lane: int, index: int
) -> None:
    """Draw one path beside its links, from an open dot to an arrow."""
    nodes = [np.array(places[node]) for node in route]
    lefts = [_left(start, end) for start, end in itertools.pairwise(nodes)]
    line = [nodes[0] + lefts[0] * lane * LANE]
    for node, before, after in zip(nodes[1:-1], lefts, lefts[1:], strict=False):
        # Where two links meet, the corner of both lanes.
        line.append(node + (before + after) / max(0.4, 1.0 + float(before @ after)) * lane * LANE)
    line.append(nodes[-1] + lefts[-1] * lane * LANE)
    # The ends stay clear of the nodes.
    for end, inner in ((0, 1), (-1, -2)):
        direction = line[inner] - line[end]
        line[end] = line[end] + direction / np.linalg.norm(direction) * (RADIUS + 0.05)
    style = look(index)
    name = f"{path.name} (arriving)" if path.kind == "arrivals" else path.name
    label = label_of(name, path.what) + (f", {path.count} times" if path.count > 1 else "")
    axes.plot(
        [point[0] for point in line],
        [point[1] for point in line],
        color=style.color,
        linestyle=style.linestyle,
        linewidth=1.6,
        zorder=3,
        label=label if index < MAX_LEGEND else None,
    )
    axes.scatter(
        line[0][0],
        line[0][1],
        s=16,
        facecolor="white",
        edgecolor=style.color,
        linewidth=1.3,
        zorder=4,
    )
    direction = (line[-1] - line[-2]) / np.linalg.norm(line[-1] - line[-2])
    arrow = {
        "arrowstyle": "-|>",
        "color": style.color,
        "shrinkA": 0,
        "shrinkB": 0,
        "linewidth": 1.2,
    }
    axes.annotate(
        "",
        xy=tuple(line[-1]),
        xytext=tuple(line[-1] - 0.12 * direction),
        arrowprops=arrow,
        zorder=4,
    )
