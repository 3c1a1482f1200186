"""Quantities with units, for display and for options.

The native core reads the quantities of scenarios.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from cwndlab.documents import is_list, is_mapping
from cwndlab.message import quoted

Quantity = str | float
"""A number with a unit (``"10Mbit"``, ``"50ms"``), or a bare number in bit/s or seconds."""

_TIME_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}
_RATE_UNITS = {"bit": 1.0, "kbit": 1e3, "Mbit": 1e6, "Gbit": 1e9, "Tbit": 1e12}


def seconds(quantity: Quantity) -> float | None:
    """Read a time in seconds; None if it is not a time.

    Examples
    --------
    >>> seconds("500ms"), seconds("2min"), seconds(3), seconds("fast")
    (0.5, 120.0, 3.0, None)
    """
    return _read(quantity, _TIME_UNITS, "s")


def bits_per_second(quantity: Quantity) -> float | None:
    """Read a rate in bit/s; None if it is not a rate.

    Examples
    --------
    >>> [bits_per_second(value) for value in ("10Mbit", "2.5Mb/s", 8000, "10ms")]
    [10000000.0, 2500000.0, 8000.0, None]
    """
    text = str(quantity).strip().removesuffix("/s")
    return _read(f"{text}it" if text.endswith("b") else text, _RATE_UNITS, "bit")


def rate_text(bps: float) -> str:
    """Write a rate in the largest suitable unit.

    Examples
    --------
    >>> rate_text(1e7), rate_text(1.5e6), rate_text(250e3), rate_text(1e9)
    ('10Mbit', '1.5Mbit', '250kbit', '1Gbit')
    """
    whole = round(bps)
    for unit, size in (("Gbit", 1e9), ("Mbit", 1e6), ("kbit", 1e3)):
        if whole >= size:
            return f"{whole / size:.9g}{unit}"
    return f"{whole}bit"


def _read(quantity: Quantity, units: Mapping[str, float], usual: str) -> float | None:
    text = str(quantity).strip()
    number = text.rstrip("abcdefghijklmnopqrstuvwxyzGMT ")
    try:
        value = float(number) * units[text[len(number) :].strip() or usual]
    except (KeyError, ValueError):
        return None
    return value if math.isfinite(value) else None


LEAST_BPS = 1000.0
"""Bare rates below it were probably meant in Mbit/s."""


def bare_rates(document: Any, key: str = "") -> Iterator[str]:
    """Say which rates have no unit and are below a kbit/s: most were meant in Mbit/s.

    Parameters
    ----------
    document : Any
        A scenario or a sweep as it was given, or a part of one.
    key : str
        The dotted key of the part.

    Examples
    --------
    >>> list(bare_rates({"dumbbell": {"rate": 10, "delay": "20ms"}}))
    ['dumbbell.rate: 10 is 10 bit/s: did you mean "10Mbit"?']
    """
    if is_mapping(document):
        for name, value in document.items():
            yield from bare_rates(value, f"{key}.{name}" if key else str(name))
    elif is_list(document):
        for at, value in enumerate(document):
            # The values of an axis have its key.
            is_axis = key.rsplit(".", 1)[-1].endswith("rate")
            yield from bare_rates(value, key if is_axis else f"{key}.{at}")
    elif key.rsplit(".", 1)[-1].endswith("rate") and (rate := _bare(document)) is not None:
        yield f'{key}: {quoted(document)} is {rate:g} bit/s: did you mean "{rate:g}Mbit"?'


def _bare(value: Any) -> float | None:
    """Return a rate without a unit that is below `LEAST_BPS`."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        rate = float(value)
    except ValueError:
        return None
    return rate if 0 < rate < LEAST_BPS else None
