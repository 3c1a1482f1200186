"""Parts of a plan: some levels of its axes, with other values of its scenarios' keys."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cwndlab import ScenarioError
from cwndlab.plugins import is_mapping, patched, unknown

if TYPE_CHECKING:
    from cwndlab.sweeps import Sweep

QUEUE = "dumbbell.queue"
OF_SWEEP = "count_arrivals"
"""A change of the sweep itself."""
GROUPS = ("flows", "cross", "arrivals")
"""Tables whose entries have names; not every plan has every entry."""


def level_labels(sweep: Sweep, axis: str) -> list[str]:
    """Return the labels of an axis."""
    return [level.label for level in sweep.plan.axes.get(axis, ())]


def without(sweep: Sweep, axis: str, labels: Iterable[str]) -> Sweep:
    """Return a sweep without some levels of an axis.

    Raises
    ------
    ScenarioError
        If none remains.
    """
    dropped = set(labels)
    left = [label for label in level_labels(sweep, axis) if label not in dropped]
    if not left:
        raise ScenarioError(f"axis `{axis}` has no level that ns-2 can express: {min(dropped)}")
    if not dropped:
        return sweep
    values: Mapping[str, Any] | Sequence[Any] = sweep.axes[axis]
    if isinstance(values, Mapping):
        chosen: Any = {label: patch for label, patch in values.items() if label not in dropped}
    elif len(values) == len(level_labels(sweep, axis)):
        pairs = zip(values, level_labels(sweep, axis), strict=True)
        chosen = [value for value, label in pairs if label not in dropped]
    else:
        # "all", which stands for several environments.
        chosen = left
    return dataclasses.replace(sweep, axes={**sweep.axes, axis: chosen})


def kept(sweep: Sweep, levels: Mapping[str, Sequence[str]], where: str) -> Sweep:
    """Return a sweep with some levels of its axes alone; of other axes with all.

    Raises
    ------
    ScenarioError
        If an axis has no such level; `where` they are written.
    """
    for axis, labels in levels.items():
        known = level_labels(sweep, axis)
        if wrong := [label for label in labels if label not in known]:
            raise ScenarioError(unknown(f"{where}.{axis}", wrong[0], known))
        sweep = without(sweep, axis, [label for label in known if label not in labels])
    return sweep


def changed(sweep: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document of a sweep with other values of dotted keys.

    They apply in its base, so that a level that sets the same key keeps its own value.
    `queue.KIND.KEY` is the key of every queue of a kind at the bottleneck, in the base or in a
    level. `count_arrivals` is the sweep's own key. Entries of flows and of cross traffic that the
    base lacks are passed over.

    Examples
    --------
    >>> queue = {"kind": "red", "limit": "1bdp"}
    >>> whole = {"base": {"dumbbell": {"rate": "1Mbit", "queue": queue}},
    ...          "axes": {"link": {"fast": {"dumbbell.rate": "9Mbit"}}, "queue": ["red"]}}
    >>> found = changed(whole, {"queue.red.min": "5pkt", "dumbbell.rate": "2Mbit",
    ...                         "flows.web.count": 3})
    >>> found["base"]["dumbbell"]
    {'rate': '2Mbit', 'queue': {'kind': 'red', 'limit': '1bdp', 'min': '5pkt'}}
    >>> found["axes"]["queue"]
    {'red': {'dumbbell.queue': {'kind': 'red', 'limit': '1bdp', 'min': '5pkt'}}}
    """
    base: dict[str, Any] = sweep["base"]
    plain: dict[str, Any] = {}
    queues: dict[str, dict[str, Any]] = {}
    for key, value in changes.items():
        first, *rest = key.split(".")
        if first == "queue":
            queues.setdefault(rest[0], {})[rest[1]] = value
        elif key != OF_SWEEP and _has(base, first, rest):
            plain[key] = value
    own = {key: value for key, value in changes.items() if key == OF_SWEEP and key in sweep}
    axes = {name: _with_queues(name, values, base, queues)
            for name, values in sweep["axes"].items()}  # fmt: skip
    bottleneck: dict[str, Any] = base.get("dumbbell", {}).get("queue", {})
    whole = patched(base, plain)
    if bottleneck.get("kind") in queues:
        whole["dumbbell"]["queue"] = {**bottleneck, **queues[bottleneck["kind"]]}
    return {**sweep, **own, "base": whole, "axes": axes}


def _has(base: Mapping[str, Any], table: str, rest: Sequence[str]) -> bool:
    """Whether a scenario has the entry that a key names."""
    if table not in GROUPS:
        return True
    names = {entry.get("name") for entry in base.get(table, ())}
    return rest[0] == "*" or rest[0] in names


def _with_queues(
    axis: str, values: Any, base: Mapping[str, Any], queues: Mapping[str, Mapping[str, Any]]
) -> Any:
    """Return an axis whose levels have changed queues; its labels stay."""
    if not queues:
        return values
    if axis == "queue" and not is_mapping(values):
        # Kinds alone: each with the base's queue if that is of its kind, or with its limit.
        bottleneck = base["dumbbell"]["queue"]
        values = {
            kind: {QUEUE: dict(bottleneck) if kind == bottleneck["kind"]
                   else {"kind": kind, "limit": bottleneck["limit"]}}
            for kind in values
        }  # fmt: skip
    if not is_mapping(values):
        return values
    found: dict[str, Any] = {}
    for label, patch in values.items():
        table = patch.get(QUEUE)
        if table is None:
            found[label] = patch
        else:
            found[label] = {**patch, QUEUE: {**table, **queues.get(table["kind"], {})}}
    return found
