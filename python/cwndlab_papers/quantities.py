"""Quantities of claims that several papers share: one number from means over replicates.

Differences are positive if better, whatever the metric's direction. D_a is per environment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from cwndlab.statistics import Bounds
from cwndlab_papers.claims import Claim
from cwndlab_papers.results_grid import Data, Means

Quantity = Callable[[Data, Claim], float | Bounds]
"""A number, or the ends between which it lies where it is censored."""
PICKS: dict[str, Callable[[Sequence[float]], float]] = {
    "largest": max,
    "smallest": min,
    # A difference from zero.
    "furthest": lambda values: max(map(abs, values)),
    "mean": lambda values: sum(values) / len(values),
}
COMPARED: dict[str, Callable[[float, float], float]] = {
    "difference": lambda own, other: own - other,
    "relative": lambda own, other: own / other - 1,
    "ratio": lambda own, other: own / other,
}


def means_of(data: Data, claim: Claim) -> Means:
    """Return the means of a claim: of all cases of its plan, or of those it names."""
    means = data.means(claim["plan"])
    return means.only(claim["cases"]) if "cases" in claim.arguments else means


def settings(means: Means, claim: Claim) -> list[str]:
    """Return the settings of a claim."""
    return list(means.settings) if claim["settings"] == "all" else list(claim["settings"])


def rules(data: Data, claim: Claim, key: str = "of") -> list[str]:
    """Return the rules of a claim in their notation."""
    return [data.rule(name) for name in claim[key]]


def lead(data: Data, claim: Claim) -> float:
    """Return the least lead of one of `of` over one of `over`, by each of the scores `by`."""
    means = means_of(data, claim)
    found: list[float] = []
    for setting in settings(means, claim):
        for by in claim["by"]:
            score = {
                rule: _score(means, claim, setting, rule, by, rules(data, claim, "among"))
                for rule in (*rules(data, claim), *rules(data, claim, "over"))
            }
            found += [
                score[other] - score[own]
                for own in rules(data, claim)
                for other in rules(data, claim, "over")
            ]
    return _picked(found, min)


def behind(data: Data, claim: Claim) -> float:
    """Distance of the worst of `of` from the best of `among`, averaged, in the worst setting."""
    means = means_of(data, claim)
    among = rules(data, claim, "among")
    merits = {
        (setting, rule): float(np.mean(means.merit(claim["metric"], setting, rule)))
        for setting in settings(means, claim)
        for rule in {*rules(data, claim), *among}
    }
    return _picked(
        [
            max(merits[setting, rule] for rule in among) - merits[setting, own]
            for setting in settings(means, claim)
            for own in rules(data, claim)
        ],
        max,
    )


def gap(data: Data, claim: Claim) -> float:
    """Largest difference between two rules' averages over environments, in the worst setting."""
    levels = _levels(data, claim)
    return _picked([max(row) - min(row) for row in levels], max)


def level(data: Data, claim: Claim) -> float:
    """Average over the environments."""
    return _picked([value for row in _levels(data, claim) for value in row], PICKS[claim["pick"]])


def ratio(data: Data, claim: Claim) -> float:
    """Average over the environments divided by the same rule's under the setting `against`."""
    own, other = _levels(data, claim), _levels(data, claim, [claim["against"]])[0]
    if claim.arguments.get("together"):
        return float(np.mean(own[0]) / np.mean(other))
    return _picked(
        [a / b for row in own for a, b in zip(row, other, strict=True)], PICKS[claim["pick"]]
    )


def change(data: Data, claim: Claim) -> float:
    """Gain of the setting over `against`, over all rules together; positive means better."""
    means = means_of(data, claim)
    own, other = (
        np.mean([means.merit(claim["metric"], setting, rule) for rule in rules(data, claim)])
        for setting in (settings(means, claim)[0], claim["against"])
    )
    return float(own - other)


def share(data: Data, claim: Claim) -> float:
    """Average of rule `of` over the average of rule `over`, as a ratio."""
    means = means_of(data, claim)
    found = [
        float(
            np.mean(means.value(claim["metric"], setting, own))
            / np.mean(means.value(claim["metric"], setting, rule))
        )
        for setting in settings(means, claim)
        for own in rules(data, claim)
        for rule in rules(data, claim, "over")
    ]
    return _picked(found, PICKS[claim["pick"]])


def advantage(data: Data, claim: Claim) -> float:
    """Compare rule `of` with rule `over`, case by case.

    `by` is difference, relative difference or ratio, of each of `metrics`.

    The `pick` is over settings, metrics, and `cases`, by default all of the plan's. With `stated`
    it is divided by the paper's number.
    """
    means = data.means(claim["plan"])
    compare = COMPARED[claim["by"]]
    chosen = [means.cases.index(case) for case in claim.arguments.get("cases", means.cases)]
    found = [
        compare(float(own[case]), float(other[case]))
        for setting in settings(means, claim)
        for metric in claim.arguments.get("metrics", [claim.arguments.get("metric")])
        for own, other in [
            [means.value(metric, setting, rules(data, claim, key)[0]) for key in ("of", "over")]
        ]
        for case in chosen
    ]
    return _picked(found, PICKS[claim["pick"]]) / claim.arguments.get("stated", 1.0)


def value(data: Data, claim: Claim) -> float:
    """Return the metric itself, case by case, times `scale`.

    The `pick` is over settings, rules and `cases`.
    """
    means = data.means(claim["plan"])
    chosen = [means.cases.index(case) for case in claim.arguments.get("cases", means.cases)]
    found = [
        float(means.value(claim["metric"], setting, rule)[case])
        for setting in settings(means, claim)
        for rule in rules(data, claim)
        for case in chosen
    ]
    return _picked(found, PICKS[claim["pick"]]) * claim.arguments.get("scale", 1.0)


def above_the_rest(data: Data, claim: Claim) -> float:
    """Average of the rule less the mean of the averages of `over`, in the metric's unit."""
    means = means_of(data, claim)
    setting = settings(means, claim)[0]
    own, rest = (
        np.mean([means.value(claim["metric"], setting, rule) for rule in rules(data, claim, key)])
        for key in ("of", "over")
    )
    return float(own - rest)


QUANTITIES: dict[str, Quantity] = {
    function.__name__: function
    for function in (
        lead,
        behind,
        gap,
        level,
        ratio,
        change,
        share,
        advantage,
        value,
        above_the_rest,
    )
}


def _score(
    means: Means, claim: Claim, setting: str, rule: str, by: str, among: Sequence[str]
) -> float:
    """C_a or D_a per environment; less is better for both."""
    if by == "C_a":
        return float(np.max(means.distances(claim["metric"], setting, rule, among)))
    # The best rule's value cancels in the difference of two rules.
    return -float(np.mean(means.merit(claim["metric"], setting, rule)))


def _levels(
    data: Data, claim: Claim, of_settings: Sequence[str] | None = None
) -> list[list[float]]:
    means = means_of(data, claim)
    return [
        [float(np.mean(means.value(claim["metric"], setting, rule))) for rule in rules(data, claim)]
        for setting in of_settings or settings(means, claim)
    ]


def _picked(values: Sequence[float], pick: Callable[[Sequence[float]], float]) -> float:
    """Pick a value; a missing value makes the result unknown."""
    return float("nan") if not values or np.isnan(values).any() else float(pick(values))
