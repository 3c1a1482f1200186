"""Measures how often confidence intervals cover the mean: ``python docs/interval_coverage.py``.

Samples of known mean, shaped like the metrics of runs, are drawn many times. Compared are Student's
t, its interval cut at the bounds, that of the logit or logarithm, that of the effective sample
size, the narrower end of both that `cwndlab.statistics.estimate` takes, and two bootstraps of
scipy, which take minutes. The tables of docs/intervals.md are what it prints;
tests/python/test_interval_coverage.py measures some of it again.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit
from scipy.stats import beta, bootstrap, chi2, norm

from cwndlab.statistics import UNBOUNDED, Bounds, estimate

Interval = tuple[float, float]
FRACTION, POSITIVE = (0.0, 1.0), (0.0, math.inf)
LEVEL, SAMPLES, RESAMPLES, SEED = 0.95, 2000, 999, 1
REPLICATES = (2, 3, 5, 10, 20)
NARROW, FEW = 0.95, (2, 3, 5)


class Population(NamedTuple):
    """Values of runs, with their mean."""

    name: str
    mean: float
    bounds: Bounds
    draw: Callable[[np.random.Generator, int], np.ndarray]


POPULATIONS = (
    Population("utilization near 1: Beta(40, 2)", 40 / 42, FRACTION,
               lambda rng, n: rng.beta(40, 2, n)),
    Population("utilization of 1 but for a few runs: Beta(40, 1/2)", 40 / 40.5, FRACTION,
               lambda rng, n: rng.beta(40, 0.5, n)),
    Population("Jain's index near 1: 1 - exponential of mean 0.02", 0.98, FRACTION,
               lambda rng, n: np.maximum(1 - rng.exponential(0.02, n), 0.0)),
    Population("loss rate near 0: Beta(2, 200)", 2 / 202, FRACTION,
               lambda rng, n: rng.beta(2, 200, n)),
    Population("loss rate, 0 in half of the runs", 1 / 202, FRACTION,
               lambda rng, n: rng.beta(2, 200, n) * (rng.random(n) < 0.5)),
    Population("share: Beta(5, 5)", 0.5, FRACTION, lambda rng, n: rng.beta(5, 5, n)),
    Population("share of one or the other: Beta(1/2, 1/2)", 0.5, FRACTION,
               lambda rng, n: rng.beta(0.5, 0.5, n)),
    Population("delay: gamma, coefficient of variation 0.3", 1.0, POSITIVE,
               lambda rng, n: rng.gamma(1 / 0.09, 0.09, n)),
    Population("delay: lognormal, coefficient of variation 1", 1.0, POSITIVE,
               lambda rng, n: rng.lognormal(-math.log(2) / 2, math.sqrt(math.log(2)), n)),
    Population("timeouts: Poisson, mean 0.5", 0.5, POSITIVE,
               lambda rng, n: rng.poisson(0.5, n).astype(float)),
    Population("timeouts: Poisson, mean 5", 5.0, POSITIVE,
               lambda rng, n: rng.poisson(5.0, n).astype(float)),
)  # fmt: skip


def student(values: np.ndarray, _bounds: Bounds) -> Interval:
    """Return the symmetric interval of Student's t."""
    return _ends(values, UNBOUNDED)


def cut(values: np.ndarray, bounds: Bounds) -> Interval:
    """Return the same, cut at the bounds."""
    low, high = _ends(values, UNBOUNDED)
    return max(low, bounds[0]), min(high, bounds[1])


def transformed(values: np.ndarray, bounds: Bounds) -> Interval:
    """Return the interval of the logit or logarithm, by the delta method."""
    mean, half_width = _moments(values)
    if not bounds[0] < mean < bounds[1] or half_width == 0:
        return mean, mean
    if bounds == POSITIVE:
        ratio = min(half_width / mean, 700.0)
        return mean * math.exp(-ratio), mean * math.exp(ratio)
    margin = half_width / (mean * (1 - mean))
    return float(expit(logit(mean) - margin)), float(expit(logit(mean) + margin))


def effective(values: np.ndarray, bounds: Bounds) -> Interval:
    """Return the interval of Clopper and Pearson, or of Garwood, for the effective sample size."""
    mean, half_width = _moments(values)
    if not bounds[0] < mean < bounds[1] or half_width == 0:
        return mean, mean
    tail = (1 - LEVEL) / 2
    precision = (norm.ppf(1 - tail) / half_width) ** 2
    if bounds == POSITIVE:
        scale, events = 2 * mean * precision, mean**2 * precision
        return chi2.ppf(tail, 2 * events) / scale, chi2.isf(tail, 2 * events + 2) / scale
    trials = mean * (1 - mean) * precision
    hits, misses = trials * mean, trials * (1 - mean)
    return beta.ppf(tail, hits, misses + 1), beta.isf(tail, hits + 1, misses)


def ours(values: np.ndarray, bounds: Bounds) -> Interval:
    """Return what cwndlab reports."""
    return _ends(values, bounds)


def resampled(method: str) -> Callable[[np.ndarray, Bounds], Interval]:
    """Return a bootstrap interval."""

    def interval(values: np.ndarray, _bounds: Bounds) -> Interval:
        if np.ptp(values) == 0:
            return float(values[0]), float(values[0])
        found = bootstrap(
            (values,), np.mean, confidence_level=LEVEL, n_resamples=RESAMPLES, method=method,
            rng=np.random.default_rng(SEED),
        ).confidence_interval  # fmt: skip
        return found.low, found.high

    return interval


METHODS = {
    "Student's t": student,
    "t, cut": cut,
    "logit or log": transformed,
    "effective sample": effective,
    "cwndlab": ours,
    "percentile bootstrap": resampled("percentile"),
    "BCa bootstrap": resampled("BCa"),
}
FAST = ("Student's t", "t, cut", "logit or log", "effective sample", "cwndlab")


def _moments(values: np.ndarray) -> tuple[float, float]:
    """Return the mean and the half-width of Student's interval."""
    found = estimate(values.tolist(), LEVEL)
    assert found.mean is not None
    assert found.half_width is not None
    return found.mean, found.half_width


def _ends(values: np.ndarray, bounds: Bounds) -> Interval:
    found = estimate(values.tolist(), LEVEL, bounds)
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


class Coverage(NamedTuple):
    """What a method's intervals did over the samples of a population."""

    covered: float
    outside: float
    """Part of the intervals that reach beyond the bounds."""
    width: float
    """Width that few are wider than: the quantile `NARROW`, of what lies within the bounds."""


def measured(
    population: Population, method: str, replicates: int, samples: int = SAMPLES
) -> Coverage:
    """Measure one method; all methods see the same samples."""
    rng = np.random.default_rng(SEED)
    interval, (least, most) = METHODS[method], population.bounds
    ends = np.array(
        [interval(population.draw(rng, replicates), population.bounds) for _ in range(samples)]
    )
    low, high = ends.T
    return Coverage(
        float(np.mean((low <= population.mean) & (population.mean <= high))),
        float(np.mean((low < least) | (high > most))),
        float(np.quantile(np.minimum(high, most) - np.maximum(low, least), NARROW)),
    )


def table(methods: tuple[str, ...], samples: int) -> str:
    """Write coverage in percent, and behind a slash the intervals that reach beyond the bounds."""
    head = ["values", "runs", *methods]
    lines = [f"| {' | '.join(head)} |", f"| --- {'| --- ' * (len(head) - 1)}|"]
    for population in POPULATIONS:
        for replicates in REPLICATES:
            print(f"{population.name}, {replicates} runs", file=sys.stderr)
            found = [measured(population, method, replicates, samples) for method in methods]
            cells = [
                f"{100 * one.covered:.1f}"
                + (f" / {100 * one.outside:.0f}" if one.outside >= 0.005 else "")
                for one in found
            ]
            name = population.name if replicates == REPLICATES[0] else ""
            lines.append(f"| {' | '.join([name, str(replicates), *cells])} |")
    return "\n".join(lines) + "\n"


def width_table(samples: int) -> str:
    """Write the width that one interval of 20 exceeds."""
    lines = [
        f"| {' | '.join(['values', 'runs', *FAST])} |",
        f"| --- {'| --- ' * (len(FAST) + 1)}|",
    ]
    for population in POPULATIONS:
        for replicates in FEW:
            found = (measured(population, method, replicates, samples).width for method in FAST)
            name = population.name if replicates == FEW[0] else ""
            cells = (f"{width:.2g}" if width < 100 else f"{width:,.0f}" for width in found)
            lines.append(f"| {' | '.join([name, str(replicates), *cells])} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=SAMPLES, help="of each kind and number")
    parser.add_argument("--fast", action="store_true", help="without the bootstraps")
    asked = parser.parse_args()
    print(table(FAST if asked.fast else tuple(METHODS), asked.samples))
    print(width_table(asked.samples), end="")


if __name__ == "__main__":
    main()
