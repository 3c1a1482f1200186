"""Sequential stopping rule of a sweep: ``ci(goodput) < 1%``.

The target is on the half-width of the 95 % confidence interval of every cell's mean: relative to
the mean with a percent sign, in the metric's unit without one. Replicates are added in rounds. The
number that a cell still needs follows from its spread so far, since the half-width shrinks with the
square root of that number; a round at most doubles it. Failed replicates and missing values do not
count.

Stopping at a narrow interval prefers samples that happen to vary little, so that the interval
covers the true mean less often than 95 %. `LEAST` replicates before the first check limit this:
tests/python/test_until.py measures about 93 %.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from cwndlab.errors import ScenarioError
from cwndlab.message import invalid, same_name, unknown
from cwndlab.metrics import BY_KEY
from cwndlab.statistics import UNBOUNDED, Bounds, estimate

LEAST, MOST = 5, 100
"""Values before an interval is trusted, and the default limit of replicates."""
_ONE = re.compile(
    r"ci\(\s*(?P<metric>[^()\s]+)\s*\)\s*<\s*(?P<number>[0-9.eE+-]+)\s*(?P<percent>%?)"
)
CONDITION = '"ci(METRIC) < 1%" (of the mean) or "ci(METRIC) < 0.01", several joined by "and"'


@dataclass(frozen=True)
class Target:
    """Upper bound of the half-width of a metric's interval."""

    metric: str
    limit: float
    is_relative: bool

    def width(self, mean: float) -> float:
        """Target half-width around a mean."""
        return abs(mean) * self.limit if self.is_relative else self.limit

    def needed(
        self,
        values: Sequence[float | None],
        done: int | None = None,
        bounds: Bounds = UNBOUNDED,
    ) -> int | None:
        """Estimate the number of replicates that suffices; None if there are enough.

        Parameters
        ----------
        values : sequence of float or None
            One value per replicate; None if it has none.
        done : int, optional
            Number of replicates done, if it exceeds the number of values: some failed.
        bounds : (float, float)
            Bounds of the metric.

        Returns
        -------
        int or None
            A number above `done`. None, too, if none of `LEAST` or more replicates has a value:
            more would have none either.
        """
        found, done = estimate(values, bounds=bounds), len(values) if done is None else done
        if done < LEAST:
            return LEAST
        if found.count == 0:
            return None
        if found.mean is None or found.half_width is None or found.count < LEAST:
            wanted = LEAST
        else:
            width = self.width(found.mean)
            if found.half_width < width or found.half_width == 0:
                return None
            # Clip the ratio before squaring it: the square could overflow.
            ratio = min(found.half_width / width, 2.0) if width > 0 else 2.0
            wanted = min(math.ceil(found.count * ratio**2), 2 * found.count)
        # Assume the same share of failures and missing values as so far.
        more = math.ceil(max(1, wanted - found.count) * done / found.count)
        return done + min(more, done)


def read(text: str, metrics: Collection[str] = tuple(BY_KEY)) -> tuple[Target, ...]:
    """Read a text such as ``ci(goodput) < 1% and ci(loss_rate) < 0.001``.

    Parameters
    ----------
    text : str
        The target, or several joined by "and".
    metrics : collection of str
        The metrics whose names may be abbreviated or written in another case.

    Raises
    ------
    ScenarioError
        If the text is not of this form, or a number is not above 0.

    Examples
    --------
    >>> read("ci(goodput) < 1%")
    (Target(metric='goodput', limit=0.01, is_relative=True),)
    """
    targets: list[Target] = []
    for part in re.split(r"\s+and\s+|,", text.strip()):
        found = _ONE.fullmatch(part.strip())
        try:
            number = float(found["number"]) if found else math.nan
        except ValueError:
            number = math.nan
        if found is None or not 0 < number < math.inf:
            raise ScenarioError(invalid("until", text, CONDITION))
        metric = same_name(found["metric"], metrics)
        is_relative = found["percent"] == "%"
        targets.append(Target(metric, number / 100 if is_relative else number, is_relative))
    return tuple(targets)


def targets_of(until: str | None, metrics: Collection[str]) -> tuple[Target, ...]:
    """Read the target of a comparison; its metrics must be among these.

    Raises
    ------
    ScenarioError
        If it is not a target, or its metric is not known.
    """
    targets = read(until, metrics) if until else ()
    for target in targets:
        if target.metric not in metrics:
            raise ScenarioError(unknown("until", target.metric, metrics))
    return targets
