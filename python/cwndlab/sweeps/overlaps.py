"""Refuses axes that set the same key.

The later axis would overwrite the earlier one, whose labels would be wrong.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from cwndlab.documents import is_list, is_table
from cwndlab.errors import ScenarioError


def refuse_overlaps(keys: Mapping[str, Iterable[str]], document: Mapping[str, Any]) -> None:
    """Check that no two axes set the same key of a scenario, or a key inside the other's.

    Parameters
    ----------
    keys : mapping
        Axis to the dotted keys that it sets.
    document : mapping
        The scenario: it resolves names, indices and ``*`` in its lists.

    Raises
    ------
    ScenarioError
        Naming both axes.

    Examples
    --------
    >>> base = {"flows": [{"name": "a"}]}
    >>> refuse_overlaps({"rule": ["flows.*.rule"], "start": ["flows.*.start"]}, base)
    >>> refuse_overlaps({"rule": ["flows.*.rule"], "flows.a.rule": ["flows.a.rule"]}, base)
    Traceback (most recent call last):
    ...
    cwndlab.ScenarioError: axes `rule` (sets `flows.*.rule`) and `flows.a.rule` must...
    """
    for (one, first), (other, second) in itertools.combinations(keys.items(), 2):
        if found := _shared(first, second, document):
            raise ScenarioError(
                f"axes {_named(one, found[0])} and {_named(other, found[1])} must not set the "
                "same key"
            )


def refuse_settings(
    settings: Iterable[str], keys: Mapping[str, Iterable[str]], document: Mapping[str, Any]
) -> None:
    """Check that no axis overwrites a key of `set`.

    `keys` and `document` are as for `refuse_overlaps`.

    Raises
    ------
    ScenarioError
        Naming the key and the axis.
    """
    for setting, (axis, own) in itertools.product(settings, keys.items()):
        if found := _shared([setting], own, document):
            raise ScenarioError(
                f"`set.{setting}` and axis {_named(axis, found[1])} must not set the same key"
            )


def _named(axis: str, key: str) -> str:
    return f"`{axis}`" if axis == key else f"`{axis}` (sets `{key}`)"


def _shared(
    first: Iterable[str], second: Iterable[str], document: Mapping[str, Any]
) -> tuple[str, str] | None:
    pairs = itertools.product(first, second)
    return next(((one, other) for one, other in pairs if _overlap(one, other, document)), None)


def _overlap(one: str, other: str, document: Mapping[str, Any]) -> bool:
    return any(
        all("*" in pair or pair[0] == pair[1] for pair in zip(here, there, strict=False))
        for here in _places(document, one.split("."))
        for there in _places(document, other.split("."))
    )


def _places(node: Any, parts: list[str]) -> list[list[str]]:
    """Resolve a key to the indices of the list entries that it means.

    A key without such a list stays as it is.
    """
    if not parts:
        return [[]]
    part, rest = parts[0], parts[1:]
    if is_list(node) and (chosen := _entries(node, part)):
        return [[str(at), *place] for at in chosen for place in _places(node[at], rest)]
    below = node.get(part) if is_table(node) else None
    return [[part, *place] for place in _places(below, rest)]


def _entries(entries: list[Any], part: str) -> list[int]:
    if part.isdecimal() and int(part) < len(entries):
        return [int(part)]
    names = [entry.get("name") if is_table(entry) else None for entry in entries]
    return [at for at, name in enumerate(names) if part in ("*", name)]
