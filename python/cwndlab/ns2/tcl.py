"""Tcl text: numbers, rates and delays as ns-2 reads them back without loss, names that are safe."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Variable(NamedTuple):
    """A variable of an object of ns-2."""

    name: str
    value: str
    key: str
    """Key of the scenario that sets it."""


def number(value: float) -> str:
    """Write a number; truth as 1 or 0, which ns-2 takes for its flags.

    Examples
    --------
    >>> number(True), number(0.2), number(20.0)
    ('1', '0.2', '20')
    """
    whole = int(value)
    return str(whole) if whole == value and abs(whole) < 10**15 else repr(float(value))


def rate(bps: float) -> str:
    """Write a rate in bit/s, in Mb or kb where that is exact and short.

    Examples
    --------
    >>> rate(10e6), rate(1.5e6), rate(64e3), rate(1234567)
    ('10Mb', '1.5Mb', '64kb', '1234567')
    """
    for unit, factor in (("Mb", 1e6), ("kb", 1e3)):
        value = float(f"{bps / factor:.3g}")
        if value >= 1 and value * factor == bps:
            return f"{value:g}{unit}"
    return number(bps)


def delay(seconds: float) -> str:
    """Write a delay that ns-2 reads as this double, in milliseconds where that is exact.

    ns-2 multiplies milliseconds by 1e-3, as cwndlab does: "9ms" is not the double nearest to 0.009,
    and such a last bit decides which of two simultaneous events comes first.

    Examples
    --------
    >>> delay(9 * 1e-3), delay(0.009), delay(1.234567 * 1e-3), delay(0.010596810015520944)
    ('9ms', '0.009', '1.234567ms', '0.010596810015520944')
    """
    milliseconds = f"{seconds * 1e3:.12g}"
    return f"{milliseconds}ms" if float(milliseconds) * 1e-3 == seconds else number(seconds)


def plain(text: str) -> str:
    """Return a text without what Tcl could take for its own in a comment.

    Examples
    --------
    >>> plain("flows[0] {b}")
    'flows[0] _b_'
    """
    return re.sub(r"[^\w .,:;()\[\]/+=<>%*^'-]", "_", text, flags=re.ASCII)


def name(text: str) -> str:
    """Return a name as a word: of letters, digits, hyphens, dots and underscores.

    Examples
    --------
    >>> name("router 1"), name("west")
    ('router_1', 'west')
    """
    return re.sub(r"[^\w.-]", "_", text, flags=re.ASCII) or "_"


def settings(target: str, variables: Iterable[Variable]) -> list[str]:
    """Write a command for each variable that is set on a class or an object, and whence it comes.

    Examples
    --------
    >>> settings("$tcp(1)", [Variable("window_", "64", "tcp.window")])
    ['$tcp(1) set window_ 64 ;# tcp.window']
    """
    return [
        f"{target} set {name} {value}{f' ;# {plain(key)}' if key else ''}"
        for name, value, key in variables
    ]


def loop(columns: Sequence[str], rows: Iterable[Sequence[str]], body: Iterable[str]) -> list[str]:
    """Write a ``foreach`` over rows of values."""
    table = ["    " + " ".join(row).rstrip() for row in rows]
    return [f"foreach {{{' '.join(columns)}}} {{", *table, "} {", *indented(body), "}"]


def indented(lines: Iterable[str]) -> list[str]:
    """Return lines four columns further right."""
    return [f"    {line}" if line else "" for line in lines]
