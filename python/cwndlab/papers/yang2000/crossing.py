"""The crossover of a ratio of rates through 1 as flows increase, from a monotone fit."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def crossing(flows: ArrayLike, ratios: ArrayLike) -> float:
    """Find the number of flows at which a falling ratio passes 1.

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
    float
        The first number where all are below 1, the last one where none is: then the crossing is
        there or beyond. NaN where a ratio is missing.

    Examples
    --------
    Half way between 16 and 64 in logarithms:

    >>> round(crossing([4, 16, 64], [1.4, 1.25, 0.8]), 6)
    32.0
    >>> round(crossing([4, 16, 64], [1.4, 1.3, 1.1]), 6)
    64.0
    """
    from scipy.optimize import isotonic_regression

    numbers, values = (
        np.log(np.asarray(flows, dtype=float)),
        np.log(np.asarray(ratios, dtype=float)),
    )
    if not np.isfinite(values).all():
        return float("nan")
    fit = isotonic_regression(values, increasing=False).x
    if fit[0] <= 0:
        return float(np.exp(numbers[0]))
    if fit[-1] > 0:
        return float(np.exp(numbers[-1]))
    after = int(np.argmax(fit <= 0))
    before = after - 1
    part = fit[before] / (fit[before] - fit[after])
    return float(np.exp(numbers[before] + part * (numbers[after] - numbers[before])))
