"""Names: the core's recovery schemes and queues, whatever their case; recorded links."""

from __future__ import annotations

import functools
import re
from typing import Any

from cwndlab import native
from cwndlab.message import same_name

TRACE = "trace:"
"""Begins the name of an environment that is a file: delivery opportunities in mahimahi's format."""
KEYS = {
    "rule": "flows.*.rule", "recovery": "flows.*.recovery", "duration": "duration",
    "rate": "dumbbell.rate", "delay": "dumbbell.delay", "queue": "dumbbell.queue.kind",
}  # fmt: skip
"""Words for what is asked most, and its key in a scenario with a dumbbell."""

HERE = "/./"
"""In the name of a recorded link, separates the directory of a sweep's file from the path in it."""


HOMES = "simulator, linux or linux:NAME"
"""What the name of a home can be."""


def is_home(text: str) -> bool:
    """Whether a text is the name of a home; whether its kernel is built is another question.

    Examples
    --------
    >>> is_home("simulator"), is_home("linux:patched"), is_home("kernel")
    (True, True, False)
    """
    return re.search(native.schema()["$defs"]["Home"]["pattern"], text) is not None


def shown_environment(name: str) -> str:
    """Return the name of an environment as tables show it: of a recorded link, as it was written.

    Examples
    --------
    >>> shown_environment("trace:/sweeps/./links/slow.down"), shown_environment("cellular")
    ('trace:links/slow.down', 'cellular')
    """
    _, here, written = name.partition(HERE) if name.startswith(TRACE) else ("", "", "")
    return f"{TRACE}{written}" if here else name


@functools.cache
def recoveries() -> tuple[str, ...]:
    """Every recovery scheme.

    Examples
    --------
    >>> recoveries()
    ('tahoe', 'reno', 'newreno', 'sack', 'fack')
    """
    return tuple(entry["const"] for entry in native.schema()["$defs"]["RecoveryName"]["oneOf"])


@functools.cache
def queues() -> tuple[str, ...]:
    """Every kind of queue.

    Examples
    --------
    >>> "red" in queues(), "drop-tail" in queues()
    (True, True)
    """
    variants = native.schema()["$defs"]["QueueSpec"]["oneOf"]
    return tuple(variant["properties"]["kind"]["const"] for variant in variants)


def known_value(key: str, value: Any) -> Any:
    """Return the value of a dotted key; a recovery scheme or a queue as the core spells it.

    Examples
    --------
    >>> known_value("flows.*.recovery", "RENO"), known_value("dumbbell.queue.kind", "RED")
    ('reno', 'red')
    >>> known_value("name", "RED")
    'RED'
    """
    if not isinstance(value, str):
        return value
    *_, before, last = ("", "", *key.split("."))
    if last == "recovery":
        return same_name(value, recoveries())
    if last == "queue" or (before, last) == ("queue", "kind"):
        # The environments' own queue, RED that marks, is not of the core.
        return same_name(value, (*queues(), "ecn"))
    return value
