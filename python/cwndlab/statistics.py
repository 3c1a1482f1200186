"""Means and confidence intervals of replicated runs.

>>> from cwndlab import statistics
>>> found = statistics.estimate([0.9, 1.0, 1.1])
>>> round(found.low, 2), round(found.mean, 2), round(found.high, 2)
(0.75, 1.0, 1.25)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cwndlab.message import invalid

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "UNBOUNDED",
    "Bounds",
    "Estimate",
    "bootstrap",
    "difference_bounds",
    "estimate",
    "prediction",
    "resampled",
    "simultaneous",
]

Bounds = tuple[float, float]
"""What the values of a quantity can not lie below and above."""
UNBOUNDED: Bounds = (-math.inf, math.inf)


class Estimate(NamedTuple):
    """A mean over replicates, with its confidence interval."""

    mean: float | None
    low: float | None
    """None with fewer than two values: one run says nothing about its own spread."""
    high: float | None
    count: int  # pyright: ignore[reportIncompatibleMethodOverride]

    @classmethod
    def around(cls, mean: float, half_width: float | None, count: int) -> Estimate:
        """Return an interval that is symmetric about its mean.

        Examples
        --------
        >>> Estimate.around(2.0, 0.5, 3)
        Estimate(mean=2.0, low=1.5, high=2.5, count=3)
        """
        if half_width is None:
            return cls(mean, None, None, count)
        return cls(mean, mean - half_width, mean + half_width, count)

    def at_least(self, width: float) -> Estimate:
        """Return the same with an interval that is no narrower than `width`.

        Examples
        --------
        >>> Estimate.around(2.0, 0.125, 3).at_least(1.0)
        Estimate(mean=2.0, low=1.5, high=2.5, count=3)
        >>> Estimate(2.0, None, None, 1).at_least(1.0).low is None
        True
        """
        if self.mean is None or self.low is None or self.high is None or width <= 0:
            return self
        low, high = min(self.low, self.mean - width / 2), max(self.high, self.mean + width / 2)
        return self if self.high - self.low >= width else Estimate(self.mean, low, high, self.count)

    @property
    def half_width(self) -> float | None:
        """Half of the interval's width."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


def estimate(
    values: Iterable[float | None], level: float = 0.95, bounds: Bounds = UNBOUNDED
) -> Estimate:
    """Mean and confidence interval by Student's t over independent replicates.

    The interval of a bounded quantity is that of its logit (with two bounds) or of the logarithm of
    its distance from the bound (with one), by the delta method [1]_: it stays within the bounds,
    and covers the mean more often than the symmetric one where values crowd at a bound. Of two or
    three values there it can be nearly as wide as the bounds; it is cut where the interval of the
    effective sample size ends, that of Clopper and Pearson [2]_ or, with one bound, of the gamma
    distribution [3]_. ``docs/interval_coverage.py`` measures how often it covers.

    Parameters
    ----------
    values : iterable of float or None
        One value per replicate; None and non-finite values are left out.
    level : float
        Confidence level, between 0 and 1.
    bounds : (float, float)
        Least and largest possible value, in the unit of the values.

    Returns
    -------
    Estimate
        Mean, both ends of its interval (same unit as the values) and n. Without bounds the
        half-width is ``t * s / sqrt(n)``.

    References
    ----------
    .. [1] E. L. Korn, B. I. Graubard, "Analysis of Health Surveys", Wiley, 1999, section 3.2 (the
       logit interval of a proportion).
    .. [2] E. L. Korn, B. I. Graubard, "Confidence intervals for proportions with small expected
       number of positive counts estimated from survey data", Survey Methodology 24(2), 1998.
    .. [3] M. P. Fay, E. J. Feuer, "Confidence intervals for directly standardized rates: a method
       based on the gamma distribution", Statistics in Medicine 16(7), 1997.

    Examples
    --------
    >>> found = estimate([1.0, 2.0, 3.0])
    >>> found.mean, round(found.half_width, 4), found.count
    (2.0, 2.4841, 3)
    >>> found = estimate([0.99, 0.98, 0.999], bounds=(0, 1))
    >>> round(found.mean, 3), round(found.low, 3), round(found.high, 3)
    (0.99, 0.93, 0.999)
    """
    if not 0 < level < 1:
        raise ValueError(invalid("level", level, "a number between 0 and 1"))
    numbers = [float(value) for value in values if value is not None and math.isfinite(value)]
    count = len(numbers)
    if count == 0:
        return Estimate(None, None, None, 0)
    mean = math.fsum(numbers) / count
    if count == 1:
        return Estimate(mean, None, None, 1)
    # Products, because an overflowing power raises, while a product becomes infinite.
    variance = math.fsum((value - mean) * (value - mean) for value in numbers) / (count - 1)
    # Only scipy.special: scipy.stats takes a second to import.
    from scipy.special import stdtrit

    quantile = float(stdtrit(count - 1, 0.5 + level / 2))
    half_width = quantile * math.sqrt(variance / count)
    return Estimate(mean, *_interval(mean, half_width, bounds, level), count)


def difference_bounds(bounds: Bounds) -> Bounds:
    """Return the bounds of the difference of two quantities with these bounds.

    Examples
    --------
    >>> difference_bounds((0, 1)), difference_bounds((0, math.inf))
    ((-1, 1), (-inf, inf))
    """
    low, high = bounds
    return low - high, high - low


def prediction(
    values: Sequence[float], level: float = 0.95, bounds: Bounds = UNBOUNDED
) -> Bounds | None:
    """Where one more value lies with this probability; None with fewer than two values.

    By Student's t, of values that are independent and normal: ``t * s * sqrt(1 + 1 / n)`` on both
    sides of the mean [1]_, cut off at the bounds. An interval of the mean gets narrower with more
    values, this one does not.

    References
    ----------
    .. [1] G. J. Hahn, W. Q. Meeker, "Statistical Intervals", Wiley, 1991, section 4.7.

    Examples
    --------
    >>> low, high = prediction([1.0, 2.0, 3.0])
    >>> round(low, 3), round(high, 3)
    (-2.968, 6.968)
    >>> prediction([1.0, 2.0, 3.0], bounds=(0, 3)), prediction([1.0])
    ((0, 3), None)
    """
    found = estimate(values, level)
    if found.mean is None or found.half_width is None:
        return None
    half_width = found.half_width * math.sqrt(1 + found.count)
    return (max(found.mean - half_width, bounds[0]), min(found.mean + half_width, bounds[1]))


def _interval(mean: float, half_width: float, bounds: Bounds, level: float) -> Bounds:
    """Return the interval of a mean whose symmetric interval has this half-width."""
    low, high = bounds
    # A mean at a bound has no spread. One beyond a bound, by rounding, has no transform.
    if not low < mean < high or half_width == 0:
        return mean - half_width, mean + half_width
    if math.isfinite(low) and math.isfinite(high):
        width = high - low
        first, last = _of_part((mean - low) / width, half_width / width, level)
        return low + width * first, low + width * last
    if math.isfinite(low):
        first, last = _of_ratio(half_width / (mean - low), level)
        return low + (mean - low) * first, low + (mean - low) * last
    if math.isfinite(high):
        less, more = _interval(-mean, half_width, (-high, -low), level)
        return -more, -less
    return mean - half_width, mean + half_width


def _of_part(part: float, half_width: float, level: float) -> Bounds:
    """Return the interval of a mean between 0 and 1."""
    from scipy.special import betaincinv, expit, logit

    variance = part * (1 - part)
    at, margin = float(logit(part)), half_width / variance
    trials = _effective(math.sqrt(variance) / half_width, level)
    hits, misses, tail = trials * part, trials * (1 - part), (1 - level) / 2
    return (
        max(float(expit(at - margin)), float(betaincinv(hits, misses + 1, tail))),
        min(float(expit(at + margin)), float(betaincinv(hits + 1, misses, 1 - tail))),
    )


def _of_ratio(half_width: float, level: float) -> Bounds:
    """Return the interval of a positive mean, with its half-width, in units of the mean."""
    from scipy.special import gammaincinv

    margin = min(half_width, 700.0)  # the exponential of more overflows
    events, tail = _effective(1 / margin, level), (1 - level) / 2
    return (
        max(math.exp(-margin), float(gammaincinv(events, tail)) / events),
        min(math.exp(margin), float(gammaincinv(events + 1, 1 - tail)) / events),
    )


def _effective(precision: float, level: float) -> float:
    """Return the sample size whose normal interval has this precision, deviation / half-width."""
    from scipy.special import ndtri

    # Of larger samples both intervals are normal, and the quantiles lose digits.
    return min(float(ndtri(0.5 + level / 2)) * precision, 1e4) ** 2


def simultaneous(found: Estimate, among: int, level: float = 0.95) -> Estimate:
    """Widen an interval so that all of several cover at once with this level (Bonferroni).

    Parameters
    ----------
    found : Estimate
        The interval of one of them, at the same level.
    among : int
        How many there are.
    level : float
        Confidence level, between 0 and 1.

    Examples
    --------
    >>> found = simultaneous(Estimate.around(0.0, 1.0, 10), 80)
    >>> round(found.low, 2), round(found.high, 2)
    (-2.26, 2.26)
    """
    if found.mean is None or found.low is None or found.high is None or found.count < 2:
        return found
    from scipy.special import stdtrit

    tail = (1 - level) / 2
    wide, narrow = (float(stdtrit(found.count - 1, 1 - part)) for part in (tail / among, tail))
    ends = [found.mean + (end - found.mean) * wide / narrow for end in (found.low, found.high)]
    return Estimate(found.mean, ends[0], ends[1], found.count)


def resampled(count: int, resamples: int = 400, seed: int = 1) -> NDArray[np.intp]:
    """Draw replicates with replacement, in a balanced way.

    Every replicate is drawn equally often over all resamples [1]_, so that the mean over resamples
    of a linear statistic is the statistic itself.

    Parameters
    ----------
    count : int
        Number of replicates.
    resamples : int
        Number of resamples.
    seed : int
        Seed; equal seeds give equal resamples.

    Returns
    -------
    ndarray of int, shape (resamples, count)
        Indices of replicates.

    References
    ----------
    .. [1] A. C. Davison, D. V. Hinkley, E. Schechtman, "Efficient bootstrap simulation",
       Biometrika 73(3), 1986.

    Examples
    --------
    >>> import numpy as np
    >>> drawn = resampled(3, resamples=5)
    >>> drawn.shape, np.bincount(drawn.ravel()).tolist()
    ((5, 3), [5, 5, 5])
    """
    import numpy as np

    drawn = np.random.default_rng(seed).permutation(np.repeat(np.arange(count), resamples))
    return drawn.reshape(resamples, count)


def bootstrap(
    whole: float,
    again: Sequence[float],
    count: int,
    level: float = 0.95,
    bounds: Bounds = UNBOUNDED,
) -> Estimate:
    """Value and confidence interval of any statistic of replicates, by resampling.

    The interval is centred at the statistic less its bias, as the resamples show it, and has the
    half-width ``t * s`` with their standard deviation s [1]_. For a mean it is that of `estimate`
    up to the resampling. Percentiles of the resamples are no interval for medians of rank
    correlations and for largest values, which noise shifts (tests/python/test_reproduce.py measures
    how often both cover).

    Parameters
    ----------
    whole : float
        The statistic of all replicates.
    again : sequence of float
        The statistic of each of the `resampled` sets. Those without a value are left out; where
        they are more than a twentieth there is no interval.
    count : int
        Number of replicates.
    level : float
        Confidence level, between 0 and 1.
    bounds : (float, float)
        Least and largest possible value; the interval stays within.

    Returns
    -------
    Estimate
        The statistic, its interval, which contains it, and `count`. None instead of NaN.

    References
    ----------
    .. [1] B. Efron, R. J. Tibshirani, "An Introduction to the Bootstrap", Chapman & Hall, 1993,
       sections 10.2 and 12.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([1.0, 2.0, 3.0])
    >>> found = bootstrap(2.0, [values[drawn].mean() for drawn in resampled(3, 20000)], 3)
    >>> round(found.low, 1), round(found.high, 1)
    (-0.5, 4.5)
    """
    import numpy as np

    if not math.isfinite(whole):
        return Estimate(None, None, None, count)
    values = np.array([value for value in again if math.isfinite(value)])
    if count < 2 or len(values) < 0.95 * len(again) or not len(values):
        return Estimate(whole, None, None, count)
    from scipy.special import stdtrit

    quantile = float(stdtrit(count - 1, 0.5 + level / 2))
    half_width = quantile * float(np.std(values)) * math.sqrt(count / (count - 1))
    centre = 2 * whole - float(np.mean(values))
    low, high = min(centre - half_width, whole), max(centre + half_width, whole)
    return Estimate(whole, max(low, bounds[0]), min(high, bounds[1]), count)
