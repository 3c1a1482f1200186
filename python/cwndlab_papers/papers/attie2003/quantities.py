"""Numbers that are attie2003's own. Those of the model are exact.

The others look at means over replicates.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cwndlab import theory
from cwndlab_papers import Claim, Data
from cwndlab_papers.papers.attie2003 import model
from cwndlab_papers.quantities import rules, settings

# The model, section 2


def share_error(_data: Data, claim: Claim) -> float:
    """Largest relative difference of a calculated fair share from p_f B after the first signal."""
    weighted = bool(claim.arguments.get("weighted"))
    found: list[float] = []
    for flows, capacity in model.grid():
        course = model.course(
            "Bimodal", flows, capacity, weighted=weighted, compare=claim["compare"]
        )
        _, errors = course.share_errors(model.weights(flows) if weighted else None)
        found.append(float(np.max(errors[1:])))
    return max(found)


def cycles_to_share(_data: Data, _claim: Claim) -> float:
    """Most congestion cycles until every flow knows a fair share."""
    courses = (
        model.course("Bimodal", *place, compare=compare)
        for place in model.grid()
        for compare in COMPARED
    )
    return float(max(model.cycles_to_know(course) for course in courses))


def share_error_after_leaving(_data: Data, _claim: Claim) -> float:
    """Largest relative error of the fair share one signal after 1, 5 or 8 of 10 flows left."""
    found: list[float] = []
    for capacity in model.CAPACITIES:
        for leaving in (1, 5, 8):
            for compare in COMPARED:
                course = model.course("Bimodal", 10, capacity, leaving=leaving, compare=compare)
                found.append(float(np.max(course.share_errors()[1][model.after(course)])))
    return max(found)


def cycles_after_join(_data: Data, claim: Claim) -> float:
    """Most cycles after a join until the new share is known for good.

    Where it never is, the cycles there were.
    """
    found = [
        model.cycles_after_join(
            model.course(
                "Bimodal", 10, 1000.0, joining=joining, compare=claim["compare"], steps=model.LONG
            )
        )[0]
        for joining in model.JOINING
    ]
    return float(max(found))


def discrete_error(_data: Data, _claim: Claim) -> float:
    """Largest error of a fair share calculated in whole steps, in units of alpha / beta packets."""
    bound = 1 / model.BETA
    found: list[float] = []
    for flows, capacity in model.grid():
        for compare in COMPARED:
            _, errors = model.course(
                "Bimodal", flows, capacity, exact=False, compare=compare
            ).share_errors()
            found.append(float(np.nanmax(errors)) * capacity / flows / bound)
    return max(found)


def efficiency_error(_data: Data, claim: Claim) -> float:
    """Largest difference, either way, between efficiency in equilibrium and the formula."""
    return max(abs(short) for short in _shortfalls(claim, exact=True))


def efficiency_shortfall(_data: Data, claim: Claim) -> float:
    """Most by which efficiency in whole steps is below the formula.

    It may be above, as flows overshoot by a step.
    """
    return max(_shortfalls(claim, exact=False))


def _shortfalls(claim: Claim, *, exact: bool) -> list[float]:
    """Give 1 - epsilon / 2 (AIMD: 1 - beta / 2) less the efficiency over the last ten cycles."""
    if claim["rule"] == "AIMD":
        kinds: list[tuple[str, float, dict[str, Any]]] = [("AIMD(1, 0.5)", model.BETA, {})]
    else:
        given = {"compare": claim["compare"], "band": claim.arguments.get("band", 0.0)}
        kinds = [("Bimodal", epsilon, {**given, "epsilon": epsilon}) for epsilon in model.EPSILONS]
    return [
        theory.efficiency(reduction)
        - model.course(text, *place, exact=exact, **way).efficiency(cycles=10)
        for text, reduction, way in kinds
        for place in model.grid()
    ]


def efficiency_of(_data: Data, claim: Claim) -> float:
    """Efficiency in equilibrium of ten flows on 1000 packets, epsilon = 1/8."""
    return model.course(claim["rule"], 10, 1000.0).efficiency(cycles=10)


def settling_beside_aimd(_data: Data, claim: Claim) -> float:
    """Longest time to close the gap between flows over AIMD's, from the start or after a join."""
    joining = tuple(claim.arguments.get("joining", (0,)))
    found: list[float] = []
    for flows, capacity in [(10, 1000.0)] if joining != (0,) else model.grid():
        for more in joining:
            own, other = (
                model.steps_to_settle(
                    model.course(text, flows, capacity, joining=more),
                    model.CHANGE_STEP if more else 0,
                )[0]
                for text in ("Bimodal", "AIMD(1, 0.5)")
            )
            found.append(own / other)
    return max(found)


def oscillation_beside_aimd(_data: Data, _claim: Claim) -> float:
    """Largest oscillation in equilibrium, epsilon = 1/8, over AIMD's."""
    return max(
        model.oscillation(model.course("Bimodal", *place))
        / model.oscillation(model.course("AIMD(1, 0.5)", *place))
        for place in model.grid()
    )


COMPARED = ("fair", "margin")
"""The pseudo-code compares with the fair share, the prose with (1 - epsilon) of it."""


# TCP, section 3


def deviation(data: Data, claim: Claim) -> float:
    """Largest relative standard deviation over replicates, over rules and numbers of flows."""
    board = data.boards[claim["plan"]]
    chosen = list(range(board.replicates) if data.replicates is None else data.replicates)
    places = [
        board.settings.index(setting) for setting in settings(data.means(claim["plan"]), claim)
    ]
    values = board.values[claim["metric"]][places][..., chosen]
    if len(chosen) < 2:
        return float("nan")
    return float(np.max(np.std(values, axis=-1, ddof=1) / np.mean(values, axis=-1)))


def growing_gain(data: Data, claim: Claim) -> float:
    """Smallest step of the mean gain over AIMD as epsilon falls along `of`."""
    means = data.means(claim["plan"])
    setting = settings(means, claim)[0]
    gains = [
        float(np.mean(means.value(claim["metric"], setting, rule))) for rule in rules(data, claim)
    ]
    return float(np.min(np.diff(gains)))


def lost_gain(data: Data, claim: Claim) -> float:
    """Gain over AIMD with the fewest flows less that with the most."""
    means = data.means(claim["plan"])
    setting = settings(means, claim)[0]
    own, other = (
        means.value(claim["metric"], setting, rules(data, claim, key)[0]) for key in ("of", "over")
    )
    return float((own - other)[0] - (own - other)[-1])


def rate_factor(data: Data, claim: Claim) -> float:
    """Ratio of the larger to the smaller goodput: a flow of the rule against an AIMD flow.

    The largest over the numbers of flows: 1 is equal, whichever side is ahead.
    """
    means = data.means(claim["plan"])
    ratios = [
        means.value("flows.own.goodput_bps", setting, rule)
        / means.value("flows.other.goodput_bps", setting, rule)
        for setting in settings(means, claim)
        for rule in rules(data, claim)
    ]
    return float(np.exp(np.max(np.abs(np.log(ratios)))))
