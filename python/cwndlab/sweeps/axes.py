"""Axes of a sweep: from the entries of its file to levels of a plan."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from cwndlab import custom_rules, native, tomltext
from cwndlab.documents import is_list, is_mapping, is_sequence
from cwndlab.errors import ScenarioError
from cwndlab.message import invalid, nearest, unknown
from cwndlab.names import KEYS, known_value
from cwndlab.runs.plan import Level
from cwndlab.scenario import Scenario

SHORT = ("rule", "recovery", "queue")
"""Axes whose names stand for dotted keys.

Rule and recovery of the flows, kind of the queue at the link.
"""
ENVIRONMENT = "env"
VALUES = "a list of values, or a table of label = { key = value }"


def level(name: str, value: Any, base: Scenario, group: str | None, link: str) -> Level:
    """Make one level of an axis: its label, and the dotted keys it sets.

    Examples
    --------
    >>> from cwndlab import dumbbell
    >>> base = dumbbell("10Mbit", "20ms", flows="AIMD(1, 0.5)")
    >>> level("rule", "AIAD(1,3)", base, None, "bottleneck")
    Level(label='AIAD(1, 3)', patch={'flows.*.rule': 'AIAD(1, 3)'})
    >>> level("queue", "CoDel", base, None, "bottleneck").patch
    {'dumbbell.queue.kind': 'codel'}
    """
    if name == "rule":
        rule = native.rule(_text(name, value))
        return Level(custom_rules.shown(rule), {f"flows.{group or '*'}.rule": rule})
    if name == "recovery":
        scheme = known_value(name, _text(name, value))
        return Level(scheme, {f"flows.{group or '*'}.recovery": scheme})
    if name == "queue":
        return _queue(known_value(name, value), base, link)
    top = native.schema()["properties"]
    if "." not in name and name not in top:
        others = (*SHORT, ENVIRONMENT, *top)
        near = nearest(name, (*KEYS, *others))
        known = (*SHORT, ENVIRONMENT, "a dotted key of the scenario such as dumbbell.rate")
        key = near if near in others else KEYS.get(near or "")
        raise ScenarioError(unknown("axis", name, known, key))
    known = known_value(name, value)
    return Level(label(known), {name: known})


def label(value: Any) -> str:
    """Write a value as tables show it.

    Examples
    --------
    >>> label("10Mbit"), label(0.5), label(True), label({"kind": "red"})
    ('10Mbit', '0.5', 'true', '{ kind = "red" }')
    """
    if isinstance(value, str):
        return value
    return tomltext.inline(value) if is_mapping(value) or is_list(value) else json.dumps(value)


def levels(name: str, values: Any, base: Scenario, group: str | None, link: str) -> list[Level]:
    """Make the levels of an axis of a product.

    Raises
    ------
    ScenarioError
        If the axis is empty, or has no list of values.
    """
    if is_mapping(values):
        wrong = next(
            (text for text, patch in values.items() if not isinstance(patch, Mapping)), None
        )
        if wrong is not None:
            raise ScenarioError(invalid(f"axes.{name}.{wrong}", label(values[wrong]), VALUES))
        found = [Level(text, dict(patch)) for text, patch in values.items()]
    else:
        found = [level(name, value, base, group, link) for value in listed(name, values)]
    if not found:
        raise ScenarioError(invalid(f"axes.{name}", [], "one value or more"))
    return found


class Zipped(NamedTuple):
    """Zipped axes, as one axis."""

    name: str
    """Their names joined by ``" & "``, as the labels of its levels are."""
    levels: list[Level]
    parts: list[dict[str, str]]
    """The label of each part of each level."""
    keys: dict[str, list[str]]
    """The dotted keys that each part sets."""


def keys_of(levels: Iterable[Level]) -> list[str]:
    """Return the dotted keys that an axis sets, each once."""
    return list(dict.fromkeys(key for level in levels for key in level.patch))


def zipped(columns: Mapping[str, Any], base: Scenario, group: str | None, link: str) -> Zipped:
    """Zip several axes into one: the first values of all, the second, and so on."""
    each = {name: levels(name, values, base, group, link) for name, values in columns.items()}
    if not each:
        raise ScenarioError(invalid("zip", {}, "axes with equally many values"))
    lengths = {name: len(found) for name, found in each.items()}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"`{name}` has {count}" for name, count in lengths.items())
        raise ScenarioError(f"axes of one `[[zip]]` must have equally many values: {counts}")
    joined: list[Level] = []
    parts: list[dict[str, str]] = []
    for row in zip(*each.values(), strict=True):
        patch = {key: value for part in row for key, value in part.patch.items()}
        joined.append(Level(JOINER.join(part.label for part in row), patch))
        parts.append({name: part.label for name, part in zip(each, row, strict=True)})
    return Zipped(
        JOINER.join(each), joined, parts, {name: keys_of(found) for name, found in each.items()}
    )


JOINER = " & "


def listed(name: str, values: Any) -> Sequence[Any]:
    """Check that an axis has a list of values."""
    if not is_sequence(values):
        raise ScenarioError(invalid(f"axes.{name}", label(values), VALUES))
    return values


def _queue(value: Any, base: Scenario, link: str) -> Level:
    key = "dumbbell" if "dumbbell" in base else f"links.{link}"
    if is_mapping(value):
        return Level(label(value), {f"{key}.queue": dict(value)})
    # The queue keeps the keys that the new kind has, too: above all its limit, which may be another
    # axis.
    changed = base.set(f"{key}.queue.kind", _text("queue", value))
    before, after = (_table(scenario, key, link) for scenario in (base, changed))
    gone = {f"{key}.queue.{name}": None for name in before if name not in after}
    return Level(value, {f"{key}.queue.kind": value, **gone})


def _table(scenario: Scenario, key: str, link: str) -> Mapping[str, Any]:
    """Return the queue of the link."""
    if key == "dumbbell":
        return scenario["dumbbell"].get("queue", {})
    return next(entry for entry in scenario["links"] if entry.get("name") == link).get("queue", {})


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ScenarioError(invalid(f"axes.{name}", label(value), "text"))
    return value
