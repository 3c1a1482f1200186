"""Verdicts: whether a rule is worse than the references, and by how much.

A comparison is one metric in one cell of a test. Its disadvantage against a reference is the mean
over replicates of the paired differences (runs of the same seed share their random numbers), signed
so that more is worse, with a 95 % confidence interval that holds for all comparisons of the
criterion at once (Bonferroni). With the margin of relevance of ``suites/margins.toml`` the
comparison is

- *worse*, if the disadvantage exceeds the margin against every deciding reference,
- *better*, if the advantage exceeds it against every one,
- *no worse*, if against one of them at least the disadvantage is surely within the margin,
- *undecided* otherwise: the replicates are too few for their spread.

Of the goodput of its own flows beside others' a rule needs no more than the references have: more
is the others' loss, so there better counts as no worse.

The references that decide are the standards among them, if there are any: RFC 9743, section 5.2.1,
names RFC 5681 and RFC 9438; being no worse than an experiment is no evidence. A criterion is worse
if one comparison is, else undecided if one is, else better if one is, else no worse.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from cwndlab.assessment.suite import Test
from cwndlab.errors import ScenarioError
from cwndlab.metrics import Metric
from cwndlab.quantities import seconds
from cwndlab.statistics import Estimate, estimate, simultaneous
from cwndlab.sweeps import SweepResult
from cwndlab.sweeps.base import parse

WORSE, UNDECIDED, BETTER, NO_WORSE = "worse", "undecided", "better", "no worse"
NOT_RUN, TEXT, LIVE, NONE = "not run", "for the authors", "needs live evidence", "not applicable"
JUDGED = (WORSE, UNDECIDED, BETTER, NO_WORSE)
"""Verdicts of simulations, the first that one comparison has decides."""
STANDARDS = ("NewReno", "CUBIC", "kernel:reno", "kernel:cubic")
"""RFC 5681 with RFC 6582, and RFC 9438; also as Linux has them."""


@dataclass(frozen=True)
class Margin:
    """A margin of relevance."""

    absolute: float = 0.0
    relative: float = 0.0
    """Fraction of the reference's mean."""
    better: str = ""
    """``lower`` or ``higher``, for a column that has no better direction everywhere."""
    unfinished: bool = False
    """Whether a missing value means that it is later than the run: it counts as its duration."""
    reason: str = ""

    def around(self, mean: float) -> float:
        """Return the margin where the reference has this mean."""
        return max(self.absolute, self.relative * abs(mean))


@functools.cache
def margins() -> dict[str, Margin]:
    """Return the margins by column.

    Examples
    --------
    >>> margins()["jain_index"].around(0.9)
    0.05
    """
    text = (
        resources.files("cwndlab.assessment").joinpath("suites", "margins.toml").read_text("utf-8")
    )
    return {name: Margin(**entry) for name, entry in parse(text).items()}


def margin_of(key: str) -> Margin:
    """Return the margin of a metric such as ``links.bottleneck.p95_queueing_delay_s``."""
    return margins()[key.rsplit(".", 1)[-1]]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One judged metric in one cell of a test."""

    test: str
    cell: Mapping[str, str]
    """Labels of the axes, without the rule."""
    metric: Metric
    values: Sequence[float | None]
    """Of the rule under test, by replicate."""
    means: Mapping[str, Estimate]
    """Rule to its mean, the rule under test first."""
    disadvantages: Mapping[str, Estimate]
    """Reference to the disadvantage, with its simultaneous interval."""
    margins: Mapping[str, float]
    """Reference to the margin there."""
    deciding: Sequence[str]
    is_enough: bool
    """Whether more than the references have is not better."""
    verdict: str

    @property
    def is_unmeasured(self) -> bool:
        """Whether a reference has a value, and the rule has none in any run."""
        own, *others = self.means.values()
        return own.mean is None and any(other.mean is not None for other in others)

    @property
    def size(self) -> float:
        """Smallest disadvantage against a deciding reference, in margins; negative is better."""
        found = [
            mean / self.margins[name]
            for name in self.deciding
            if (mean := self.disadvantages[name].mean) is not None and self.margins[name] > 0
        ]
        return min(found, default=0.0)


def deciding(references: Sequence[str]) -> list[str]:
    """Return the references that decide: the standards among them, if any, else all.

    Examples
    --------
    >>> deciding(["NewReno", "CUBIC", "BBR3"]), deciding(["BBR3"])
    (['NewReno', 'CUBIC'], ['BBR3'])
    """
    return [name for name in references if name in STANDARDS] or list(references)


def comparisons(test: Test, found: SweepResult, among: int) -> list[Comparison]:
    """Judge every cell of a test's sweep.

    Parameters
    ----------
    test : Test
        The test.
    found : SweepResult
        Its runs; the first level of the axis of rules is the rule under test.
    among : int
        Number of comparisons of the criterion, over which the intervals hold at once.
    """
    plan = found.sweep.plan
    axis = found.sweep.compared
    assert axis is not None, "a test has an axis of rules"
    rules, stride = plan.labels[axis], plan.stride(axis)
    cells = [
        cell for cell in range(plan.count // plan.replicates) if cell // stride % len(rules) == 0
    ]
    metrics = {metric.key: metric for metric in found.sweep.measures}
    return [
        _comparison(test, found, metrics[key], {
            rule: cell + at * stride for at, rule in enumerate(rules)}, axis, among)
        for cell in cells
        for key in test.judged
    ]  # fmt: skip


def _comparison(
    test: Test, found: SweepResult, metric: Metric, places: Mapping[str, int], axis: str, among: int
) -> Comparison:
    rule, *references = places
    sign = sign_of(metric)
    values = {name: values_of(found, cell, metric) for name, cell in places.items()}
    means = {name: metric.estimate(values[name]) for name in places}
    less = {
        name: simultaneous(_paired(metric, values[rule], values[name], sign), among)
        for name in references
    }
    margin = margin_of(metric.key)
    around = {name: margin.around(means[name].mean or 0.0) for name in references}
    labels = found.labels(places[rule])
    labels.pop(axis)
    decide, is_enough = deciding(references), metric.key in test.enough
    judged = verdict([(less[name], around[name]) for name in decide])
    return Comparison(
        test=test.id, cell=labels, metric=metric, values=values[rule], means=means,
        disadvantages=less, margins=around, deciding=decide, is_enough=is_enough,
        verdict=NO_WORSE if is_enough and judged == BETTER else judged,
    )  # fmt: skip


def sign_of(metric: Metric) -> float:
    """Return 1 where larger values are worse, and -1 where they are better.

    Raises
    ------
    ScenarioError
        If neither is known.

    Examples
    --------
    >>> from cwndlab.metrics import BY_KEY
    >>> sign_of(BY_KEY["loss_rate"]), sign_of(BY_KEY["goodput"])
    (1.0, -1.0)
    """
    better = margin_of(metric.key).better or metric.better
    if not better:
        raise ScenarioError(f"`{metric.key}` has no better direction: it cannot be judged")
    return 1.0 if better.startswith("lower") else -1.0


def values_of(found: SweepResult, cell: int, metric: Metric) -> list[float | None]:
    """Return the values of a cell by replicate, with the duration for what did not finish."""
    values = found.values(cell, metric.key)
    if not margin_of(metric.key).unfinished:
        return values
    duration_s = seconds(found.sweep.plan.cell(cell).document()["duration"])
    return [duration_s if value is None else value for value in values]


def _paired(
    metric: Metric, own: Sequence[float | None], others: Sequence[float | None], sign: float
) -> Estimate:
    pairs = zip(own, others, strict=False)
    found = estimate(None if a is None or b is None else sign * (a - b) for a, b in pairs)
    return found.at_least(metric.known_to(own, others))


def verdict(found: Sequence[tuple[Estimate, float]]) -> str:
    """Judge the disadvantages against the deciding references, each with its margin.

    Examples
    --------
    >>> verdict([(Estimate(5.0, 4.0, 6.0, 5), 1.0), (Estimate(3.0, 2.0, 4.0, 5), 1.0)])
    'worse'
    >>> verdict([(Estimate(5.0, 4.0, 6.0, 5), 1.0), (Estimate(0.0, -0.5, 0.5, 5), 1.0)])
    'no worse'
    >>> verdict([(Estimate(-5.0, -6.0, -4.0, 5), 1.0)])
    'better'
    >>> verdict([(Estimate(1.0, -1.0, 3.0, 5), 1.0)])
    'undecided'
    """
    ends = [(one.low, one.high, margin) for one, margin in found]
    known = [
        (low, high, margin) for low, high, margin in ends if low is not None and high is not None
    ]
    if len(known) == len(ends) and all(low > margin for low, _, margin in known):
        return WORSE
    if len(known) == len(ends) and all(high < -margin for _, high, margin in known):
        return BETTER
    if any(high <= margin for _, high, margin in known):
        return NO_WORSE
    return UNDECIDED


def overall(verdicts: Sequence[str]) -> str:
    """Return the verdict on a criterion from those on its comparisons.

    Examples
    --------
    >>> overall(["no worse", "worse", "better"]), overall(["no worse", "better"]), overall([])
    ('worse', 'better', 'not run')
    """
    return next((name for name in JUDGED if name in verdicts), NOT_RUN)


def plain(found: Comparison) -> dict[str, Any]:
    """Return a comparison as plain data."""
    return {
        "test": found.test,
        "cell": dict(found.cell),
        "metric": found.metric.key,
        "verdict": found.verdict,
        "enough": found.is_enough,
        "values": list(found.values),
        "means": {name: dict(found.means[name]._asdict()) for name in found.means},
        "disadvantages": {
            name: {**one._asdict(), "margin": found.margins[name]}
            for name, one in found.disadvantages.items()
        },
    }
