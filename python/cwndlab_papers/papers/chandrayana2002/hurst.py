"""Hurst parameter of a series by three graphical methods.

H = 0.5 without long-range dependence, and approaches 1 the more slowly correlations decay. Each
method fits a line to logarithms ([1]_, [2]_), over a range of scales that is given here as a number
of bins.

References
----------
.. [1] M. S. Taqqu, V. Teverovsky, W. Willinger, "Estimators for long-range dependence: an empirical
   study", Fractals 3(4), 1995.
.. [2] M. S. Taqqu, V. Teverovsky, "On estimating long-range dependence in finite and infinite
   variance series", in A practical guide to heavy tails, 1998, which the paper refers to.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

LEAST_BINS = 50
"""Smallest scale: of bins of 0.1 s five seconds, several round trips.

R/S is also known to be too large below it.
"""
BLOCKS = 20
"""Smallest number of blocks of a mean."""
SCALES = 20
LOWEST = 0.1
"""Share of the lowest frequencies in the periodogram's fit."""


def estimates(series: ArrayLike) -> dict[str, float]:
    """Return all three estimates by name.

    Parameters
    ----------
    series : array_like, shape (n,)
        Counts in bins of equal length.

    Returns
    -------
    dict
        ``absolute``, ``rescaled``, ``periodogram``; NaN where the series is shorter than 2000 or
        constant.

    Examples
    --------
    Of independent numbers it is 0.5, give or take what 2^15 of them allow:

    >>> found = estimates(np.random.default_rng(1).normal(size=2**15))
    >>> all(abs(value - 0.5) < 0.06 for value in found.values())
    True
    """
    values = np.asarray(series, dtype=float)
    if len(values) < 2 * LEAST_BINS * BLOCKS or np.ptp(values) == 0:
        return dict.fromkeys(("absolute", "rescaled", "periodogram"), float("nan"))
    return {
        "absolute": absolute_values(values),
        "rescaled": rescaled_range(values),
        "periodogram": periodogram(values),
    }


def scales(length: int) -> np.ndarray:
    """Numbers of bins of a block, evenly spaced in logarithms."""
    return np.unique(np.geomspace(LEAST_BINS, length / BLOCKS, SCALES).astype(int))


def absolute_values(values: np.ndarray) -> float:
    """H from ``mean |block mean - mean| ~ m^(H - 1)`` over blocks of m bins."""
    centred = values - values.mean()
    sizes = scales(len(values))
    moments = [float(np.abs(_blocks(centred, size).mean(axis=1)).mean()) for size in sizes]
    return _slope(sizes, moments) + 1


def rescaled_range(values: np.ndarray) -> float:
    """H from ``mean of range / standard deviation ~ m^H`` over blocks of m bins (Hurst's R/S)."""
    sizes = scales(len(values))
    found: list[float] = []
    for size in sizes:
        blocks = _blocks(values, size)
        centred = blocks - blocks.mean(axis=1, keepdims=True)
        sums = np.cumsum(centred, axis=1)
        # A sum begins with 0, before the first value.
        spread = np.maximum(sums.max(axis=1), 0) - np.minimum(sums.min(axis=1), 0)
        deviation = blocks.std(axis=1)
        found.append(float((spread[deviation > 0] / deviation[deviation > 0]).mean()))
    return _slope(sizes, found)


def periodogram(values: np.ndarray) -> float:
    """H from ``I(f) ~ f^(1 - 2 H)`` over the lowest frequencies."""
    power = np.abs(np.fft.rfft(values - values.mean())) ** 2
    count = max(2, int(LOWEST * len(power)))
    frequencies = np.arange(1, count + 1)
    return (1 - _slope(frequencies, power[1 : count + 1])) / 2


def _blocks(values: np.ndarray, size: int) -> np.ndarray:
    """Cut into rows of `size`; what is left over at the end is left out."""
    whole = len(values) // size
    return values[: whole * size].reshape(whole, size)


def _slope(x: ArrayLike, y: ArrayLike) -> float:
    return float(
        np.polyfit(np.log(np.asarray(x, dtype=float)), np.log(np.asarray(y, dtype=float)), 1)[0]
    )
