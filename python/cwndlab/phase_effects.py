"""Phase effects: exact times meet a drop-tail queue in a pattern that decides who loses.

S. Floyd and V. Jacobson, "On traffic phase effects in packet-switched gateways", Internetworking:
Research and Experience 3(3), 1992: where the RTTs of flows are exact, small changes of a delay move
all losses from one flow to another. A random time at the source (`host_jitter`), up to the time
that the bottleneck needs for a packet, ends them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from cwndlab.documents import is_mapping
from cwndlab.message import plural
from cwndlab.quantities import seconds

DETERMINISTIC = ("drop-tail", "step")
"""Queues that drop or mark by their length alone."""
LOOKED_AT = 100


def phase_effects(document: Mapping[str, Any]) -> str | None:
    """Say that flows with exact delays meet a deterministic queue, and what to set; else None.

    Profiles of ns-2 are meant to have its exact times.

    Parameters
    ----------
    document : mapping
        A scenario as plain data.

    Examples
    --------
    >>> from cwndlab import dumbbell
    >>> two = dumbbell("10Mbit", "20ms", flows=["CUBIC", "BBR3"])
    >>> print(phase_effects(two.to_dict()))  # doctest: +ELLIPSIS
    2 flows with exact delays share a drop-tail queue: phase effects may decide which flow...
    >>> phase_effects(two.set("host_jitter", "1ms").to_dict()) is None
    True
    """
    if str(document.get("profile", "")).startswith("ns2-"):
        return None
    if seconds(document.get("host_jitter", 0)) or any(map(document.get, ("cross", "arrivals"))):
        return None
    flows = document.get("flows", ())
    irregular = ("responses", "frames", "page", "video")
    if any(flow.get(key) for flow in flows for key in irregular):
        return None
    links = list(_links(document))
    kinds = [_kind(link) for link in links]
    met = next((kind for kind in kinds if kind in DETERMINISTIC), None)
    count = sum(flow.get("count", 1) for flow in flows)
    if count < 2 or met is None or any(link.get("jitter") for link in links):
        return None
    queue = "drop-tail queue" if met == "drop-tail" else f"queue of kind {met}"
    return (
        f"{plural(count, 'flow')} with exact delays share a {queue}: phase effects may decide "
        "which flow loses packets (docs/scenario.md#host_jitter-hosts-that-are-not-exact); to "
        "prevent this, set host_jitter to about the time of a packet at the bottleneck, such as "
        '"1ms"'
    )


def first_note(documents: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the note of the first scenario that has one, among the first `LOOKED_AT`."""
    for document in itertools.islice(documents, LOOKED_AT):
        if text := phase_effects(document):
            return [text]
    return []


def _links(document: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    return [document["dumbbell"]] if document.get("dumbbell") else document.get("links", ())


def _kind(link: Mapping[str, Any]) -> str:
    queue = link.get("queue")
    return str(queue.get("kind", "drop-tail")) if is_mapping(queue) else "drop-tail"
