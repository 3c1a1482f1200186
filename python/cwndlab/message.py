"""Error messages in the forms that the native core uses, too (`crates/units/src/message.rs`).

``KEY: VALUE is not valid: expected WHAT`` is for a value out of range or of the wrong kind, ``KEY:
"VALUE" is not known: expected A, B or C (did you mean A?)`` for a name that is none of the choices,
and ``KEY is missing: expected WHAT`` for a missing value. A conflict between keys is one plain
sentence that has the keys in backticks.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath


def invalid(key: str, value: object, expected: str, suggestion: str | None = None) -> str:
    """Say that the value of a key is not valid.

    Examples
    --------
    >>> print(invalid("replicates", 0, "a whole number from 1"))
    replicates: 0 is not valid: expected a whole number from 1
    """
    return f"{key}: {invalid_value(value, expected, suggestion)}"


def invalid_value(value: object, expected: str, suggestion: str | None = None) -> str:
    """Say that a value is not valid; the caller puts the key in front."""
    return f"{quoted(value)} is not valid: expected {expected}{_hint(suggestion)}"


def unknown(key: str, value: object, known: Iterable[str], suggestion: str | None = None) -> str:
    """Say that a name is none of the known ones, and suggest the nearest, or what is given.

    Examples
    --------
    >>> print(unknown("queue", "rad", ["red", "codel"]))
    queue: "rad" is not known: expected red or codel (did you mean red?)
    """
    return f"{key}: {unknown_value(value, known, suggestion)}"


def unknown_value(value: object, known: Iterable[str], suggestion: str | None = None) -> str:
    """Say that a name is none of the known ones; the caller puts the key in front."""
    names = list(known)
    hint = _hint(suggestion or nearest(str(value), names))
    return f"{quoted(value)} is not known: expected {one_of(names)}{hint}"


def missing(key: str, expected: str) -> str:
    """Say that a value is missing.

    Examples
    --------
    >>> print(missing("base", "a scenario"))
    base is missing: expected a scenario
    """
    return f"{key} is missing: expected {expected}"


def nearest(value: str, known: Iterable[str]) -> str | None:
    """Return the known name most similar to `value`, ignoring case; None if none is similar.

    Examples
    --------
    >>> nearest("--sett", ["--set", "--ns"]), nearest("--csv", ["--set", "--ns"])
    ('--set', None)
    """
    # Imported here: only an error needs it.
    import difflib

    # The dashes of options make none of them alike.
    lowered = {name.lower().lstrip("-"): name for name in known}
    near = difflib.get_close_matches(value.lower().lstrip("-"), lowered, n=1)
    return lowered[near[0]] if near else None


def same_name(value: str, known: Iterable[str]) -> str:
    """Return the known name that is equal but for its case; the value itself if there is none.

    Examples
    --------
    >>> same_name("RED", ["red", "codel"]), same_name("rad", ["red", "codel"])
    ('red', 'rad')
    """
    return next((name for name in known if name.lower() == value.lower()), value)


def no_attribute(module: str, name: str, known: Iterable[str], suggestion: str | None) -> str:
    """Say that a module has no such name, and suggest the nearest, or what is given.

    Examples
    --------
    >>> print(no_attribute("cwndlab", "compar", ["compare", "run"], None))
    module 'cwndlab' has no attribute 'compar' (did you mean compare?)
    """
    hint = _hint(suggestion or nearest(name, known))
    return f"module {module!r} has no attribute {name!r}{hint}"


def one_of(names: Iterable[str]) -> str:
    """Join choices: ``A, B or C``; ``nothing`` if there is no choice."""
    *first, last = list(names) or ["nothing"]
    return f"{', '.join(first)} or {last}" if first else last


def plural(count: int, noun: str) -> str:
    """Write a number of things.

    Examples
    --------
    >>> plural(1, "run"), plural(12000, "run")
    ('1 run', '12000 runs')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def quoted(value: object) -> str:
    """Write a value: text and paths in double quotes, truth values as TOML has them."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.15g}"
    return f'"{value}"' if isinstance(value, str | PurePath) else str(value)


def _hint(name: str | None) -> str:
    return f" (did you mean {name}?)" if name else ""
