"""Formatting of numbers in terminal tables and reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

MISSING = "-"


class Shown(Protocol):
    """A metric or measure, with the format of its numbers."""

    @property
    def scale(self) -> float:
        """Factor from the value to the shown number."""

    @property
    def digits(self) -> int:
        """Digits after the point."""


def number(value: float | None, metric: Shown) -> str:
    """Write a metric's value in its shown unit.

    Examples
    --------
    >>> from cwndlab.metrics import BY_KEY
    >>> goodput = BY_KEY["goodput"]
    >>> number(0.0123, BY_KEY["loss_rate"]), number(None, goodput), number(-1e-9, goodput)
    ('1.230', '-', '0.000')
    """
    # Adding 0 makes a negative zero positive.
    return (
        MISSING
        if value is None
        else f"{round(value * metric.scale, metric.digits) + 0.0:.{metric.digits}f}"
    )


def with_interval(row: Mapping[str, Any] | None, metric: Shown) -> str:
    """Write a row of a comparison's summary as mean and half-width of its 95 % confidence interval.

    Examples
    --------
    >>> from cwndlab.metrics import BY_KEY
    >>> with_interval({"mean": 0.9, "ci95": 0.0104}, BY_KEY["goodput"])
    '0.900 ± 0.010'
    """
    if row is None:
        return MISSING
    mean = number(row["mean"], metric)
    return mean if row["ci95"] is None else f"{mean} ± {number(row['ci95'], metric)}"
