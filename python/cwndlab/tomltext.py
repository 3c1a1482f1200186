"""Scenarios as TOML text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def dumps(document: Mapping[str, Any]) -> str:
    """Write a document as TOML: plain values first, then tables, then lists of tables.

    Tables within these are written inline. None has no TOML form and is left out.

    Examples
    --------
    >>> flows = [{"name": "a", "start": ["0s", "1s"]}]
    >>> print(dumps({"duration": "5s", "flows": flows, "tcp": {"window": 64}}))
    duration = "5s"
    <BLANKLINE>
    [tcp]
    window = 64
    <BLANKLINE>
    [[flows]]
    name = "a"
    start = ["0s", "1s"]
    <BLANKLINE>
    """
    plain, tables, lists = [], [], []
    for key, value in document.items():
        if isinstance(value, Mapping):
            tables.append(_section(f"[{_key(key)}]", value))
        elif _is_list_of_tables(value):
            lists += [_section(f"[[{_key(key)}]]", entry) for entry in value]
        elif value is not None:
            plain.append(f"{_key(key)} = {inline(value)}\n")
    return "\n".join(["".join(plain), *tables, *lists])


def inline(value: Any) -> str:
    """Write one value in TOML's inline form.

    Examples
    --------
    >>> inline({"kind": "square", "high": "10Mbit", "repeat": True, "times": [0.5, 1.0]})
    '{ kind = "square", high = "10Mbit", repeat = true, times = [0.5, 1.0] }'
    """
    if isinstance(value, Mapping):
        return (
            "{ "
            + ", ".join(f"{_key(key)} = {inline(entry)}" for key, entry in value.items())
            + " }"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(inline, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _section(head: str, table: Mapping[str, Any]) -> str:
    return "".join(
        [f"{head}\n", *(f"{_key(key)} = {inline(value)}\n" for key, value in table.items())]
    )


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def _is_list_of_tables(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(entry, Mapping) for entry in value)
    )
