"""Dotted keys: changes to a nested document by `--set` and by the axes of a plan."""

from __future__ import annotations

import copy
import json
import math
import sys
from collections.abc import Mapping
from numbers import Integral
from pathlib import Path
from typing import Any

from cwndlab import custom_rules, native
from cwndlab.documents import is_list, is_mapping, is_sequence, is_table
from cwndlab.errors import ScenarioError
from cwndlab.message import invalid

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LISTS = ("arrivals", "cross", "flows", "links")
"""Keys of a scenario that hold lists of tables."""


def value_from_text(text: str) -> Any:
    """Read the value of `--set key=value`: JSON if it parses, otherwise the text itself.

    Lists and tables may be TOML, too, as the file of a scenario has them.

    Examples
    --------
    >>> value_from_text("20Mbit"), value_from_text("0.5"), value_from_text('["0s", "1s"]')
    ('20Mbit', 0.5, ['0s', '1s'])
    >>> value_from_text('[{ kind = "bernoulli", p = 0.01 }]')
    [{'kind': 'bernoulli', 'p': 0.01}]
    """
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return _table_or_list(text) if text.lstrip().startswith(("[", "{")) else text


def _table_or_list(text: str) -> Any:
    """Read TOML of one line; the text itself where it is none, or has what JSON cannot hold."""
    try:
        value = tomllib.loads(f"value = {text}")
        json.dumps(value, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        return text
    return value["value"] if list(value) == ["value"] else text


def _refuse(constant: str) -> None:
    """NaN and Infinity are not JSON: they stay text, which their key refuses."""
    raise ValueError(constant)


def plain(value: Any) -> Any:
    """Return a document as JSON has it.

    Rules are their notations, numbers that are not finite are text, which their key refuses, and
    numbers of numpy those of Python.

    Examples
    --------
    >>> plain({"flows": ({"rule": "CUBIC", "count": 2},), "duration": float("nan")})
    {'flows': [{'rule': 'CUBIC', 'count': 2}], 'duration': 'nan'}
    """
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    if is_mapping(value):
        return {key: plain(entry) for key, entry in value.items()}
    if is_sequence(value):
        return [plain(entry) for entry in value]
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, int):
        return value
    if isinstance(value, Integral):
        return int(value)
    return native.rule(value) if custom_rules.is_rule(value) else value


def patched(document: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of `document` with each dotted key of `patch` set to its value.

    Parameters
    ----------
    document : mapping
        Tables, lists and plain values, as read from TOML or JSON.
    patch : mapping
        Dotted key to value. Missing tables are created. Inside a list a part of the key is an
        index, the ``name`` of an entry, or ``*`` for every entry. The value None removes the key.

    Raises
    ------
    ScenarioError
        If a key leads into a plain value or a list that is not there, or names no entry of a list.

    Examples
    --------
    >>> patched({"flows": [{"name": "a"}, {"name": "b"}]}, {"flows.b.count": 3, "seed": 7})
    {'flows': [{'name': 'a'}, {'name': 'b', 'count': 3}], 'seed': 7}
    >>> patched({"flows": [{"name": "a"}, {"name": "b"}]}, {"flows.*.recovery": "reno"})["flows"][1]
    {'name': 'b', 'recovery': 'reno'}
    """
    result = copy.deepcopy(dict(document))
    for key, value in patch.items():
        parts = key.split(".")
        if not all(parts):
            raise ScenarioError(invalid("key", key, "names joined by dots, none of them empty"))
        _assign(result, parts, value, key)
    return result


def _assign(node: Any, parts: list[str], value: Any, key: str) -> None:
    part, rest = parts[0], parts[1:]
    if is_list(node):
        for index in _entries(node, part, key):
            if rest:
                _assign(node[index], rest, value, key)
            else:
                node[index] = copy.deepcopy(value)
    elif not is_table(node):
        raise ScenarioError(f"`{key}` cannot be set: `{part}` lies inside the plain value `{node}`")
    elif rest and part in LISTS and part not in node:
        raise ScenarioError(f"{key}: the scenario has no [[{part}]]: expected one that has")
    elif rest:
        _assign(node.setdefault(part, {}), rest, value, key)
    elif value is None:
        node.pop(part, None)
    else:
        node[part] = copy.deepcopy(value)


def _entries(entries: list[Any], part: str, key: str) -> list[int]:
    if part == "*":
        return list(range(len(entries)))
    if part.isdecimal() and int(part) < len(entries):
        return [int(part)]
    names = [entry.get("name") if is_table(entry) else None for entry in entries]
    found = [index for index, name in enumerate(names) if name == part]
    if not found:
        listed = "".join(f"{name}, " for name in names if name)
        raise ScenarioError(invalid(f"{key}", part, f"{listed}an index below {len(entries)} or *"))
    return found
