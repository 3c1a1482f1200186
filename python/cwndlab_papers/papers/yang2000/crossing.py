"""The crossover of a ratio of rates through 1 as flows increase, from a monotone fit."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike


def crossing(flows: ArrayLike, ratios: ArrayLike) -> tuple[float, float]:
    """Find between which numbers of flows a falling ratio passes 1.

    Isotonic regression first makes the ratios monotone, so that noise makes no crossings; the
    interpolation between numbers of flows is linear in the logarithms.

    Parameters
    ----------
    flows : array_like, shape (n,)
        Numbers of flows, rising.
    ratios : array_like, shape (n,)
        Rate of one kind over the other's, above 0.

    Returns
    -------
    (float, float)
        Twice the interpolated number where it passes 1. A crossing that the numbers of flows do not
        reach is censored: at most the first of them, or at least the last one. NaN where a ratio is
        missing.

    Examples
    --------
    Half way between 16 and 64 in logarithms:

    >>> round(crossing([4, 16, 64], [1.4, 1.25, 0.8])[0], 6)
    32.0
    >>> crossing([4, 16, 64], [1.4, 1.3, 1.1])
    (64.0, inf)
    """
    from scipy.optimize import isotonic_regression

    numbers, values = (
        np.log(np.asarray(flows, dtype=float)),
        np.log(np.asarray(ratios, dtype=float)),
    )
    if not np.isfinite(values).all():
        return math.nan, math.nan
    fit = isotonic_regression(values, increasing=False).x
    first, last = (round(float(np.exp(numbers[end])), 9) for end in (0, -1))
    if fit[0] <= 0:
        return -math.inf, first
    if fit[-1] > 0:
        return last, math.inf
    after = int(np.argmax(fit <= 0))
    before = after - 1
    part = fit[before] / (fit[before] - fit[after])
    found = float(np.exp(numbers[before] + part * (numbers[after] - numbers[before])))
    return found, found
