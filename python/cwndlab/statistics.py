"""Means and confidence intervals of replicated runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from cwndlab.message import invalid


class Estimate(NamedTuple):
    """A mean over replicates, with the half-width of its confidence interval."""

    mean: float | None
    half_width: float | None
    """None with fewer than two values: one run says nothing about its own spread."""
    count: int  # pyright: ignore[reportIncompatibleMethodOverride]


def estimate(values: Iterable[float | None], level: float = 0.95) -> Estimate:
    """Mean and confidence interval by Student's t over independent replicates.

    Parameters
    ----------
    values : iterable of float or None
        One value per replicate; None and non-finite values are left out.
    level : float
        Confidence level, between 0 and 1.

    Returns
    -------
    Estimate
        Mean, half-width ``t * s / sqrt(n)`` (same unit as the values) and n.

    Examples
    --------
    >>> mean, half_width, count = estimate([1.0, 2.0, 3.0])
    >>> mean, round(half_width, 4), count
    (2.0, 2.4841, 3)
    """
    if not 0 < level < 1:
        raise ValueError(invalid("level", level, "a number between 0 and 1"))
    numbers = [float(value) for value in values if value is not None and math.isfinite(value)]
    count = len(numbers)
    if count == 0:
        return Estimate(None, None, 0)
    mean = math.fsum(numbers) / count
    if count == 1:
        return Estimate(mean, None, 1)
    # Products, because an overflowing power raises, while a product becomes infinite.
    variance = math.fsum((value - mean) * (value - mean) for value in numbers) / (count - 1)
    # Only scipy.special: scipy.stats takes a second to import.
    from scipy.special import stdtrit

    quantile = float(stdtrit(count - 1, 0.5 + level / 2))
    return Estimate(mean, quantile * math.sqrt(variance / count), count)


def jackknife(
    statistic: Callable[[Sequence[int]], float], count: int, level: float = 0.95
) -> Estimate:
    """Value and confidence interval of any statistic of replicates, by leaving each out in turn.

    For a mean it equals `estimate`. For largest distances or correlations, which have no formula,
    the interval is rough if two candidates for the largest are close.

    Parameters
    ----------
    statistic : callable
        Function from the indices of the replicates to its value.
    count : int
        Number of replicates.
    level : float
        Confidence level, between 0 and 1.

    Returns
    -------
    Estimate
        The statistic of all replicates, half-width ``t * s`` with the jackknife's standard error s
        [1]_ and Student's t of ``count - 1`` degrees of freedom, and `count`. None instead of NaN.

    References
    ----------
    .. [1] B. Efron, C. Stein, "The jackknife estimate of variance", Annals of Statistics 9(3),
       1981.

    Examples
    --------
    >>> values = [1.0, 2.0, 3.0]
    >>> mean, half_width, count = jackknife(
    ...     lambda chosen: sum(values[i] for i in chosen) / len(chosen), 3)
    >>> mean, round(half_width, 4), count
    (2.0, 2.4841, 3)
    """
    whole = statistic(range(count))
    if not math.isfinite(whole):
        return Estimate(None, None, count)
    if count < 2:
        return Estimate(whole, None, count)
    without = [
        statistic([other for other in range(count) if other != left]) for left in range(count)
    ]
    centre = math.fsum(without) / count
    variance = (count - 1) / count * math.fsum((value - centre) ** 2 for value in without)
    if not math.isfinite(variance):
        return Estimate(whole, None, count)
    from scipy.special import stdtrit

    return Estimate(whole, float(stdtrit(count - 1, 0.5 + level / 2)) * math.sqrt(variance), count)
