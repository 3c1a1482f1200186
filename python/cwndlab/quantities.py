"""Quantities with units, for display and for options.

The native core reads the quantities of scenarios.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

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
