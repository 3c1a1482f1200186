"""Checks that numbers are within a formula's domain."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cwndlab.message import invalid


def within(
    name: str, values: ArrayLike, expected: str, *, above: float = -np.inf, below: float = np.inf
) -> np.ndarray:
    """Return `values` as an array of floats, all strictly between two bounds.

    Raises
    ------
    ValueError
        If one of them is not, or is not a number.

    Examples
    --------
    >>> within("p", 1.5, "a number above 0 and below 1", above=0, below=1)
    Traceback (most recent call last):
        ...
    ValueError: p: 1.5 is not valid: expected a number above 0 and below 1
    """
    array = np.asarray(values, dtype=float)
    wrong = ~(np.isfinite(array) & (array > above) & (array < below))
    if wrong.any():
        raise ValueError(invalid(name, float(array[wrong].flat[0]), expected))
    return array


def positive(name: str, values: ArrayLike) -> np.ndarray:
    """Return `values` as an array of floats, all above 0."""
    return within(name, values, "a number above 0", above=0.0)


def fraction(name: str, values: ArrayLike) -> np.ndarray:
    """Return `values` as an array of floats, all above 0 and below 1."""
    return within(name, values, "a number above 0 and below 1", above=0.0, below=1.0)


def whole(name: str, value: int, least: int, most: int) -> int:
    """Return a whole number within two bounds, both included."""
    if value != int(value) or not least <= value <= most:
        raise ValueError(invalid(name, value, f"a whole number from {least} to {most}"))
    return int(value)
