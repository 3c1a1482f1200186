"""Scenarios as TOML text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from cwndlab.documents import is_list, is_mapping, is_sequence

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
    plain: list[str] = []
    tables: list[str] = []
    lists: list[str] = []
    for key, value in document.items():
        if is_mapping(value):
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
    if is_mapping(value):
        return (
            "{ "
            + ", ".join(f"{_key(key)} = {inline(entry)}" for key, entry in value.items())
            + " }"
        )
    if is_sequence(value):
        return "[" + ", ".join(map(inline, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _section(head: str, table: Mapping[str, Any]) -> str:
    return "".join(
        [f"{head}\n", *(f"{_key(key)} = {inline(value)}\n" for key, value in table.items())]
    )


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def _is_list_of_tables(value: Any) -> bool:
    return is_list(value) and bool(value) and all(map(is_mapping, value))
