"""Completion times of arriving flows, from the lines ``transfer GROUP START PACKETS SECONDS``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from cwndlab.ns2.agents import endpoints
from cwndlab.ns2.network import Arrivals, Network

TRANSFER = "transfer"
QUANTILES = {"p50_fct_s": 0.5, "p95_fct_s": 0.95, "p99_fct_s": 0.99}


def arrival_rows(
    printed: str,
    rows: list[dict[str, Any]],
    found: Network,
    document: Mapping[str, Any],
    window_s: tuple[float, float],
) -> list[dict[str, Any]]:
    """Return the row of each ``[[arrivals]]`` entry: its counters, with its completion times.

    Parameters
    ----------
    printed : str
        What a script printed.
    rows : list of dict
        Its counters, a row for each entry.
    found : Network
        The network.
    document : mapping
        The canonical scenario.
    window_s : (float, float)
        The measuring window.
    """
    first = len(found.flows) + len(found.sources) + 1
    made: list[dict[str, Any]] = []
    for index, (row, group) in enumerate(zip(rows, found.arrivals, strict=True)):
        spec = document["arrivals"][index]
        ends = endpoints(document, index, "arrivals")
        times_s, slowdowns = _times(printed, first + index, group, window_s)
        arrived = sum(window_s[0] <= flow.start_s < window_s[1] for flow in group.flows)
        made.append({
            **row,
            "group": spec["name"],
            "rule": spec["rule"],
            "recovery": spec["recovery"],
            "arrived_flows": arrived,
            "finished_flows": len(times_s),
            "unfinished_flows": arrived - len(times_s),
            "mean_fct_s": _mean(times_s),
            **{name: _quantile(times_s, share) for name, share in QUANTILES.items()},
            "mean_slowdown": _mean(slowdowns),
            "timeouts": None if ends.knobs["ecn"] else row["timeouts"],
        })  # fmt: skip
    return made


def _times(
    printed: str, number: int, group: Arrivals, window_s: tuple[float, float]
) -> tuple[list[float], list[float]]:
    """Return completion times, sorted, and slowdowns, of the flows that arrived in the window."""
    # ns-2 prints the time at which it let a flow arrive, which is the drawn one.
    drawn = {(flow.start_s, flow.packets): flow for flow in group.flows}
    times_s: list[float] = []
    slowdowns: list[float] = []
    head = f"{TRANSFER}\t{number}\t"
    for line in printed.splitlines():
        if not line.startswith(head):
            continue
        began_s, packets, time_s = (float(cell) for cell in line.removeprefix(head).split("\t"))
        if window_s[0] <= began_s < window_s[1]:
            flow = drawn[began_s, int(packets)]
            access_s = 2 * (flow.access_delay_s + flow.sink_delay_s)
            empty_s = group.links_rtt_s + access_s + packets * group.bottleneck_tx_s
            times_s.append(time_s)
            slowdowns.append(time_s / empty_s)
    return sorted(times_s), slowdowns


def _mean(values: list[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _quantile(ordered: list[float], share: float) -> float | None:
    """Return the quantile of sorted values by its nearest rank."""
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1] if ordered else None
