"""Values of documents, as read from TOML or JSON or as a program gives them.

Each test tells the type checker what a value is, without the types that `isinstance` leaves open.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard


def is_table(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a value is a table that can be changed."""
    return isinstance(value, dict)


def is_mapping(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether a value is a table of any type."""
    return isinstance(value, Mapping)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Whether a value is a list that can be changed."""
    return isinstance(value, list)


def is_sequence(value: object) -> TypeGuard[list[Any] | tuple[Any, ...]]:
    """Whether a value is a list or a tuple."""
    return isinstance(value, list | tuple)


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a number; Python counts true and false as such.

    Examples
    --------
    >>> is_number(2.5), is_number(True), is_number("2")
    (True, False, False)
    """
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is a number of the type of whole numbers.

    Examples
    --------
    >>> is_whole(2), is_whole(2.0), is_whole(True)
    (True, False, False)
    """
    return isinstance(value, int) and not isinstance(value, bool)


def split_list(text: str) -> list[str]:
    """Split a text at the commas outside its parentheses.

    Examples
    --------
    >>> split_list("AIMD(1, 0.5), Reno")
    ['AIMD(1, 0.5)', 'Reno']
    """
    parts, depth = [""], 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if sign == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts]
