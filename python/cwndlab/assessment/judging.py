"""Verdicts: whether a rule is worse than the references, and by how much.

A comparison is one metric in one cell of a test. Its disadvantage against a reference is the mean
over replicates of the paired differences (runs of the same seed share their random numbers), signed
so that more is worse, with a 95 % confidence interval that holds at once for all comparisons of the
criterion, all references and all looks at the data (Bonferroni). With the margin of relevance of
``suites/margins.toml`` the comparison is

- *worse*, if the disadvantage exceeds the margin against any deciding reference,
- *better*, if the advantage exceeds it against every one,
- *no worse*, if against every one the disadvantage is surely within the margin,
- *undecided* otherwise: the replicates are too few for their spread,
- *not judged*, if no reference does there what the test is for (`Test.purpose`).

Where standards differ by design, the weaker of them is enough: in goodput, and in harm to others
(`Test.harm`), of which RFC 9743, section 5.2.1, allows what standards "do to each other". There
*worse* is against every reference, *no worse* against one, and a standard is never worse. A rule's
own goodput beside others (`Test.enough`) is worse only where it starves: below `STARVED` of what
the standards get in its place. More than they have is the others' loss, so that better counts as no
worse.

The references that decide are the standards among them, if there are any, and those of the test
(`Test.references`): RFC 9743, section 5.2.1, names RFC 5681 and RFC 9438; being no worse than an
experiment is no evidence.

A cell has the first of *worse*, *undecided*, *better*, *no worse* that one of its comparisons has.
Cells have weights (`Test.weight`, which the cells of a test share). A criterion is worse if
`DECISIVE` of the weight of its judged cells is worse; undecided if what is undecided could make it
so; better if as much is better, and nothing is worse; else no worse.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from cwndlab import custom_rules, native
from cwndlab.assessment.suite import Test, Wanted
from cwndlab.errors import ScenarioError
from cwndlab.metrics import Metric
from cwndlab.quantities import seconds
from cwndlab.statistics import Estimate, estimate, simultaneous
from cwndlab.sweeps import SweepResult
from cwndlab.sweeps.base import parse

WORSE, UNDECIDED, BETTER, NO_WORSE = "worse", "undecided", "better", "no worse"
NOT_JUDGED = "not judged"
"""The verdict where every reference fails, too."""
NOT_RUN, TEXT = "not run", "for the authors"
JUDGED = (WORSE, UNDECIDED, BETTER, NO_WORSE, NOT_JUDGED)
"""Verdicts of simulations; the first that one comparison has is its cell's."""
DECISIVE = 0.25
"""The part of a criterion's weight that decides."""
STARVED = 0.5
"""Part of what a standard has in its place beside others below which a rule starves."""
STANDARDS = ("NewReno", "CUBIC", "kernel:reno", "kernel:cubic")
"""RFC 5681 with RFC 6582, and RFC 9438; also as Linux has them."""


@dataclass(frozen=True)
class Margin:
    """A margin of relevance."""

    absolute: float = 0.0
    relative: float = 0.0
    """Fraction of the reference's mean."""
    most: float = math.inf
    """Largest margin, in the column's unit."""
    of_small: float = math.inf
    """Largest margin as a fraction of the reference's mean, where that is small."""
    better: str = ""
    """``lower`` or ``higher``, for a column that has no better direction everywhere."""
    tolerant: bool = False
    """Whether the weaker of the references is enough: standards differ in it by design."""
    unfinished: bool = False
    """Whether a missing value means that it is later than the run: it counts as its duration."""
    reason: str = ""

    def around(self, mean: float) -> float:
        """Return the margin where the reference has this mean.

        Examples
        --------
        >>> [Margin(absolute=0.05, of_small=0.25).around(mean) for mean in (0.8, 0.1)]
        [0.05, 0.025]
        """
        wide = max(self.absolute, self.relative * abs(mean))
        # An infinite fraction of nothing is not a number.
        small = self.of_small * abs(mean) if math.isfinite(self.of_small) else math.inf
        return min(wide, self.most, small)


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
    """References that decide there; none where each fails the test's purpose."""
    is_enough: bool
    """Whether more than the references have is not better."""
    is_tolerant: bool
    """Whether one reference that is no better is enough: harm to others, and what is enough."""
    weight: float
    """Of its cell in the criterion."""
    verdict: str

    @property
    def is_unmeasured(self) -> bool:
        """Whether a reference has a value, and the rule has none in any run."""
        own, *others = self.means.values()
        return own.mean is None and any(other.mean is not None for other in others)

    @property
    def place(self) -> tuple[str, tuple[tuple[str, str], ...]]:
        """The test and its cell."""
        return self.test, tuple(self.cell.items())

    @property
    def nearest(self) -> str | None:
        """The deciding reference that makes the verdict: the best one, of tolerant ones the worst.

        None if none decides, or none has a value.
        """
        known = [name for name in self.deciding if self.disadvantages[name].mean is not None]
        if not known:
            return None
        return (min if self.is_tolerant else max)(known, key=self._in_margins)

    @property
    def size(self) -> float:
        """Disadvantage against `nearest`, in margins; negative is better."""
        return 0.0 if self.nearest is None else self._in_margins(self.nearest)

    def _in_margins(self, name: str) -> float:
        less, margin = self.disadvantages[name].mean or 0.0, self.margins[name]
        # A reference that has nothing of what is better has no margin, and none can have less.
        return less / margin if margin > 0 else math.copysign(math.inf, less) if less else 0.0


def deciding(references: Sequence[str]) -> list[str]:
    """Return the references that decide: the standards among them, if any, else all.

    Examples
    --------
    >>> deciding(["NewReno", "CUBIC", "BBR3"]), deciding(["BBR3"])
    (['NewReno', 'CUBIC'], ['BBR3'])
    """
    return [name for name in references if name in STANDARDS] or list(references)


def comparisons(
    test: Test, found: SweepResult, among: int, references: Sequence[str]
) -> list[Comparison]:
    """Judge every cell of a test's sweep.

    Parameters
    ----------
    test : Test
        The test.
    found : SweepResult
        Its runs; the first level of the axis of rules is the rule under test.
    among : int
        Number of intervals of the criterion that hold at once.
    references : sequence of str
        References of the assessment, of which `deciding` chooses; those of the test decide, too.
    """
    plan = found.sweep.plan
    axis = found.sweep.compared
    assert axis is not None, "a test has an axis of rules"
    rules, stride = plan.labels[axis], plan.stride(axis)
    cells = [
        cell for cell in range(plan.count // plan.replicates) if cell // stride % len(rules) == 0
    ]
    metrics = {metric.key: metric for metric in found.sweep.measures}
    own = {custom_rules.shown(native.rule(name)) for name in test.references}
    chosen = [*deciding([name for name in rules[1:] if name in references]), *own]
    return [
        _comparison(
            test, found, metrics[key], {rule: cell + at * stride for at, rule in enumerate(rules)},
            axis, among, [name for name in rules[1:] if name in chosen], test.weight / len(cells),
        )
        for cell in cells
        for key in test.judged
    ]  # fmt: skip


def _comparison(
    test: Test, found: SweepResult, metric: Metric, places: Mapping[str, int], axis: str,
    among: int, chosen: Sequence[str], weight: float,
) -> Comparison:  # fmt: skip
    rule, *references = places
    sign = sign_of(metric)
    values = {name: values_of(found, cell, metric) for name, cell in places.items()}
    means = {name: metric.estimate(values[name]) for name in places}
    less = {
        name: simultaneous(_paired(metric, values[rule], values[name], sign), among)
        for name in references
    }
    is_enough = metric.key in test.enough
    margin = Margin(relative=1 - STARVED) if is_enough else margin_of(metric.key)
    around = {name: margin.around(means[name].mean or 0.0) for name in references}
    labels = found.labels(places[rule])
    labels.pop(axis)
    fit = [name for name in chosen if serves(test.purpose, found, places[name])]
    is_tolerant = (
        is_enough or metric.key in (*test.harm, *test.tolerant) or margin_of(metric.key).tolerant
    )
    judged = verdict([(less[name], around[name]) for name in fit], is_tolerant=is_tolerant)
    if is_tolerant and rule in STANDARDS and judged in (WORSE, UNDECIDED):
        judged = NO_WORSE  # It is one of the standards of which the weaker is enough.
    return Comparison(
        test=test.id, cell=labels, metric=metric, values=values[rule], means=means,
        disadvantages=less, margins=around, deciding=fit, is_enough=is_enough,
        is_tolerant=is_tolerant, weight=weight,
        verdict=NO_WORSE if is_enough and judged == BETTER else judged,
    )  # fmt: skip


def serves(purpose: Mapping[str, Wanted], found: SweepResult, cell: int) -> bool:
    """Whether a reference does in its cell what a test is for."""
    for key, wanted in purpose.items():
        mean = estimate(found.values(cell, key)).mean
        if mean is None or not (
            wanted.get("least", -math.inf) <= mean <= wanted.get("most", math.inf)
        ):
            return False
    return True


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


def verdict(found: Sequence[tuple[Estimate, float]], *, is_tolerant: bool = False) -> str:
    """Judge the disadvantages against the deciding references, each with its margin.

    With `is_tolerant` worse must hold against every reference, and no worse against one.

    Examples
    --------
    >>> much, none = (Estimate(5.0, 4.0, 6.0, 5), 1.0), (Estimate(0.0, -0.5, 0.5, 5), 1.0)
    >>> verdict([much, none]), verdict([much, none], is_tolerant=True)
    ('worse', 'no worse')
    >>> verdict([none, none]), verdict([(Estimate(-5.0, -6.0, -4.0, 5), 1.0)])
    ('no worse', 'better')
    >>> verdict([none, (Estimate(1.0, -1.0, 3.0, 5), 1.0)]), verdict([])
    ('undecided', 'not judged')
    """
    if not found:
        return NOT_JUDGED
    known = [
        (one.low, one.high, margin) for one, margin in found
        if one.low is not None and one.high is not None
    ]  # fmt: skip
    is_all = len(known) == len(found)
    beyond = [low > margin for low, _, margin in known]
    within_it = [high <= margin for _, high, margin in known]
    if any(beyond) if not is_tolerant else is_all and all(beyond):
        return WORSE
    if is_all and all(high < -margin for _, high, margin in known):
        return BETTER
    if any(within_it) if is_tolerant else is_all and all(within_it):
        return NO_WORSE
    return UNDECIDED


def first_of(verdicts: Iterable[str]) -> str:
    """Return the verdict on a cell from those on its comparisons.

    Examples
    --------
    >>> first_of(["no worse", "worse", "better"]), first_of(["no worse", "better"])
    ('worse', 'better')
    """
    found = set(verdicts)
    return next((name for name in JUDGED if name in found), NOT_RUN)


def cells_of(found: Sequence[tuple[Hashable, float, str]]) -> list[tuple[float, str]]:
    """Return weight and verdict of every cell, from place, weight and verdict of comparisons."""
    weights = {place: weight for place, weight, _ in found}
    return [
        (weight, first_of(verdict for place, _, verdict in found if place == own))
        for own, weight in weights.items()
    ]


def overall(cells: Sequence[tuple[float, str]]) -> str:
    """Return the verdict on a criterion from weight and verdict of its cells.

    Examples
    --------
    >>> overall([(1, "worse"), *[(1, "no worse")] * 3]), overall([(1, "worse"), (4, "no worse")])
    ('worse', 'no worse')
    >>> overall([(1, "worse"), (1, "undecided"), *[(1, "better")] * 4])
    'undecided'
    >>> overall([(1, "better"), (3, "no worse")]), overall([(1, "not judged")]), overall([])
    ('better', 'not judged', 'not run')
    """
    total = sum(weight for weight, name in cells if name != NOT_JUDGED)
    if not total:
        return NOT_JUDGED if cells else NOT_RUN
    # Shares of equal weights add up to a quarter but for rounding.
    part = {
        name: sum(weight for weight, own in cells if own == name) / total + 1e-9
        for name in JUDGED
    }  # fmt: skip
    if part[WORSE] >= DECISIVE:
        return WORSE
    if part[WORSE] + part[UNDECIDED] >= DECISIVE:
        return UNDECIDED
    is_worse_somewhere = any(name == WORSE for _, name in cells)
    return BETTER if part[BETTER] >= DECISIVE and not is_worse_somewhere else NO_WORSE


def plain(found: Comparison) -> dict[str, Any]:
    """Return a comparison as plain data."""
    return {
        "test": found.test,
        "cell": dict(found.cell),
        "metric": found.metric.key,
        "verdict": found.verdict,
        "enough": found.is_enough,
        "tolerant": found.is_tolerant,
        "weight": found.weight,
        "deciding": list(found.deciding),
        "values": list(found.values),
        "means": {name: dict(found.means[name]._asdict()) for name in found.means},
        "disadvantages": {
            name: {**one._asdict(), "margin": found.margins[name]}
            for name, one in found.disadvantages.items()
        },
    }
