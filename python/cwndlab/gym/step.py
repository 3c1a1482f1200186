"""What an agent learns of its flow at a decision: the statistics of the step since the one before.

The native core counts them, for environments and for policies that run as rules alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cwndlab import native

Values = Any
"""A number, of one flow, or an array of numbers, of many flows."""

STATISTICS = native.statistics()
"""Name and meaning of each statistic, in the order in which the core counts them."""

_INDEX = {name: index for index, name in enumerate(STATISTICS)}


class Step:
    """Statistics of a step, by name: numbers of one flow, or arrays over many.

    Examples
    --------
    >>> step = Step([float(number) for number in range(len(STATISTICS))])
    >>> step["acks"], step["delivered_packets"]
    (2.0, 3.0)
    """

    __slots__ = ("_columns",)

    def __init__(self, columns: Sequence[float] | NDArray[Any]) -> None:
        self._columns: Any = columns

    @classmethod
    def from_bytes(cls, data: bytes) -> Step:
        """Read what the core counted of one flow."""
        return cls(np.frombuffer(data).tolist())

    @classmethod
    def of_many(cls, values: NDArray[Any]) -> Step:
        """Read an array whose last axis has the statistics."""
        return cls(np.moveaxis(values, -1, 0))

    def __getitem__(self, name: str) -> Values:
        return self._columns[_INDEX[name]]

    def to_dict(self) -> dict[str, Any]:
        """Return all statistics."""
        return dict(zip(_INDEX, self._columns, strict=True))


# A step of one flow takes the time of two dozen calls of NumPy; plain numbers need none.


def ratio(part: Values, whole: Values) -> Values:
    """Divide; 0 where the divisor is.

    Examples
    --------
    >>> ratio(1.0, 4.0), ratio(np.array([1.0, 1.0]), np.array([4.0, 0.0])).tolist()
    (0.25, [0.25, 0.0])
    """
    if isinstance(whole, float):
        return part / whole if whole > 0 else 0.0
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), 0.0)


def chosen(condition: Values, value: Values, otherwise: Values) -> Values:
    """Return `value` where the condition holds.

    Examples
    --------
    >>> chosen(True, 1.0, 2.0), chosen(np.array([True, False]), 1.0, 2.0).tolist()
    (1.0, [1.0, 2.0])
    """
    if isinstance(condition, bool):
        return value if condition else otherwise
    return np.asarray(np.where(np.asarray(condition), value, otherwise), float)


def limited(value: Values, low: float, high: float) -> Values:
    """Return a value within limits.

    Examples
    --------
    >>> limited(3.0, 1.0, 2.0), limited(np.array([0.0, 1.5]), 1.0, 2.0).tolist()
    (2.0, [1.0, 1.5])
    """
    if isinstance(value, float):
        return min(max(value, low), high)
    return np.clip(value, low, high)
