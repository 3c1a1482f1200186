"""Queues of the environments by name, at the bottleneck of either network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cwndlab import native
from cwndlab.environments.assumptions import AUTOMATIC, Assumptions
from cwndlab.errors import ScenarioError
from cwndlab.message import unknown

QUEUES = ("drop-tail", "red", "ecn", "drr")
"""Queues of the paper's settings; ``ecn`` is RED with ECN-capable flows."""


def _red(chosen: Assumptions, **keys: Any) -> dict[str, Any]:
    thresholds = {"min": chosen.red_min, "max": chosen.red_max}
    return {
        "kind": "red",
        "limit": chosen.buffer,
        **{key: value for key, value in thresholds.items() if value != AUTOMATIC},
        "max_p": chosen.red_max_p,
        "gentle": chosen.red_gentle,
        **keys,
    }


def _rio(chosen: Assumptions, **keys: Any) -> dict[str, Any]:
    return _red(chosen, kind="rio", in_min=chosen.rio_in_min, in_max=chosen.rio_in_max, **keys)


def _plain(kind: str) -> Callable[[Assumptions], dict[str, Any]]:
    return lambda chosen: {"kind": kind, "limit": chosen.buffer}


def _kinds() -> list[str]:
    """Every kind of queue that the core knows."""
    variants = native.schema()["$defs"]["QueueSpec"]["oneOf"]
    return [variant["properties"]["kind"]["const"] for variant in variants]


BY_CLASS = ("rio", "priority")
"""Queues that treat packets by priority: in the simple network all packets have the same."""
BOTTLENECK: dict[str, Callable[[Assumptions], dict[str, Any]]] = {
    "drop-tail": _plain("drop-tail"),
    "red": _red,
    "ecn": lambda chosen: _red(chosen, ecn=True),
    "drr": _plain("drr"),
    **{kind: _plain(kind) for kind in _kinds() if kind not in (*QUEUES, *BY_CLASS)},
}
"""Queue of the simple network's bottleneck by name; the first four are the paper's, the others have
default parameters."""
PRIORITY: dict[str, Callable[[Assumptions], dict[str, Any]]] = {
    "drop-tail": lambda chosen: _rio(chosen, out_drop_tail=True),
    "red": _rio,
    "ecn": lambda chosen: _rio(chosen, ecn=True),
    "drr": _plain("drr"),
    **{kind: _plain(kind) for kind in ("sfq", "fq-codel", "fq", "cake")},
}
"""Queue of the second network's bottleneck: cross traffic has priority, or a fair share."""
FAIR = ("drr", "sfq", "fq-codel", "fq", "cake")
"""Fair queues."""


def check_queue(queue: str) -> None:
    """Refuse an unknown queue.

    Raises
    ------
    ScenarioError
        If there is no such queue.
    """
    if queue not in BOTTLENECK:
        raise ScenarioError(unknown("queue", queue, BOTTLENECK))
