"""Numbers that are akella2002's own.

Appendix, synchronous model, orders of rules, bias of round trips.

Each takes what was measured and a claim, and gives one number; `cwndlab_papers` puts an
interval to it.
"""

from __future__ import annotations

import csv
import functools
import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from cwndlab import theory
from cwndlab.environments import Assumptions
from cwndlab.plugins import bits_per_second, seconds
from cwndlab_papers import Claim, Data, Means, waveforms
from cwndlab_papers.quantities import PICKS, rules, settings

FAMILIES = ("AIMD", "AIAD", "MIMD", "MIAD")
LEAST_SHARE_BPS = 1e6
"""Least constant bandwidth per flow in table 2."""
PACKET_BITS = 8000
STEP_PACKETS = 3
"""Largest additive parameter, section 3.2."""
ROUND_TRIPS_MS = (40, 80, 120, 160, 200)
"""Of plans/unequal-rtt.toml."""
CAPACITIES = (50, 100, 333)
STARTS = (5.0, 30.0)
STEPS = 3000


# Section 2


def waveform_ratio(_data: Data, claim: Claim) -> float:
    """Value of the waveform of one figure over that of another."""
    read = {"period": seconds, "high": bits_per_second}[claim["value"]]
    drawn = waveforms.read(Path(__file__).parent / "plans" / "waveforms.toml")[waveforms.KEY]
    own, other = (read(drawn[claim[key]]["values"][claim["value"]]) for key in ("case", "over"))
    assert own
    assert other
    return own / other


# Section 3.2


def step_of_window(_data: Data, claim: Claim) -> float:
    """Largest additive step as a share of the smallest window.

    A full pipe for increases, pipe and buffer for cuts.
    """
    pipe = LEAST_SHARE_BPS * Assumptions().seconds("rtt") / PACKET_BITS
    return STEP_PACKETS / (pipe if claim["step"] == "increase" else 2 * pipe)


def smallest_factor(_data: Data, _claim: Claim) -> float:
    """Smallest relative change of the appendix' multiplicative steps."""
    chosen = [row["rule"] for row in published()]
    linear = [theory.parse_linear(rule) for rule in chosen]
    up = [rule.bi - 1 for rule in linear if rule.bi != 1]
    down = [1 - rule.bd for rule in linear if rule.bd != 1]
    return min(*up, *down)


# Small buffers and round trips


def loss_by_small_buffers(data: Data, claim: Claim) -> float:
    """Goodput with full buffers less that with small ones, average over the environments."""
    small, full = data.means(claim["plan"]), data.means(claim["beside"])
    found = [
        float(
            np.mean(
                full.value(claim["metric"], setting, rule)
                - small.value(claim["metric"], setting, rule)
            )
        )
        for setting in settings(small, claim)
        for rule in rules(data, claim)
    ]
    return PICKS[claim["pick"]](found)


def ratio_by_small_buffers(data: Data, claim: Claim) -> float:
    """Average over the environments with small buffers over that with full ones."""
    small, full = data.means(claim["plan"]), data.means(claim["beside"])
    return PICKS[claim["pick"]](
        [
            float(
                np.mean(small.value(claim["metric"], setting, rule))
                / np.mean(full.value(claim["metric"], setting, rule))
            )
            for setting in settings(small, claim)
            for rule in rules(data, claim)
        ]
    )


def bias(means: Means, setting: str, rule: str) -> np.ndarray:
    """Exponent b of goodput ~ RTT^b in each case, by least squares of the logarithms."""
    rates = np.array(
        [means.value(f"flows.rtt-{rtt}.goodput_bps", setting, rule) for rtt in ROUND_TRIPS_MS]
    )
    return np.polyfit(np.log(ROUND_TRIPS_MS), np.log(rates), 1)[0]


def bias_beside_aimd(data: Data, claim: Claim) -> float:
    """Largest difference between a rule's exponent and AIMD's, in any setting and at any rate."""
    means = data.means(claim["plan"])
    return max(
        float(np.max(np.abs(bias(means, setting, rule) - bias(means, setting, data.rule("AIMD")))))
        for setting in settings(means, claim)
        for rule in rules(data, claim)
    )


# The appendix


@functools.cache
def published() -> tuple[dict[str, str], ...]:
    """Return the 288 published pairs.

    Place, setting, family, rule, D_a, C_a, and what is wrong with misprints.
    """
    with (Path(__file__).parent / "published.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def printed(setting: str, family: str) -> dict[str, tuple[float, float]]:
    """Give the published (D_a, C_a) by rule, without misprinted cells."""
    return {
        row["rule"]: (float(row["D_a"]), float(row["C_a"]))
        for row in published()
        if (row["setting"], row["family"]) == (setting, family) and not row["misprint"]
    }


def family_scores(
    means: Means, metric: str, setting: str, family: str
) -> dict[str, tuple[float, float]]:
    """Our (D_a, C_a) of the nine choices of a family, by rule.

    The best is taken within the family.
    """
    among = [rule for rule in means.rules if rule.startswith(f"{family}(")]
    distances = {rule: means.distances(metric, setting, rule, among) for rule in among}
    return {rule: (float(np.sum(found)), float(np.max(found))) for rule, found in distances.items()}


def correlation(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Spearman's rank correlation; 0 where one side has no order at all."""
    if np.isnan(ours).any() or np.isnan(theirs).any():
        return float("nan")
    if len(set(ours)) == 1 or len(set(theirs)) == 1:
        return 0.0
    return float(np.corrcoef(rankdata(ours), rankdata(theirs))[0, 1])


def correlations(means: Means, metric: str, setting: str, family: str) -> tuple[float, float]:
    """Correlation of D_a and of C_a with the published ones."""
    ours, theirs = family_scores(means, metric, setting, family), printed(setting, family)
    pairs = [(ours[rule], theirs[rule]) for rule in theirs if rule in ours]
    by_d, by_c = (
        correlation([a[at] for a, _ in pairs], [b[at] for _, b in pairs]) for at in (0, 1)
    )
    return by_d, by_c


def most_without(means: Means, setting: str, family: str, at: int) -> tuple[str, float]:
    """Find the environment without which a correlation is largest, and that correlation.

    `at` is 0 for D_a, 1 for C_a.
    """
    found = {
        case: correlations(means.only([other for other in means.cases if other != case]),
                           "goodput", setting, family)[at]
        for case in means.cases
    }  # fmt: skip
    best = max(found, key=found.__getitem__)
    return best, found[best]


def misfit(data: Data, chosen: Sequence[str]) -> dict[str, float]:
    """Root mean square difference from the printed D_a per environment and C_a of some settings.

    Ours are distances from the best of those choices of parameters that were run; the printed ones
    are from the best of nine. ``all`` weighs all numbers equally; ``pairs`` is how many there are.
    """
    means = data.means("appendix")
    differences: dict[str, list[float]] = {"D_a": [], "C_a": []}
    for setting, family in itertools.product(chosen, FAMILIES):
        theirs = printed(setting, family)
        ours = family_scores(means, "goodput", setting, family)
        known = [rule for rule in theirs if rule in ours]
        for at, (score, scale) in enumerate((("D_a", len(means.cases)), ("C_a", 1))):
            differences[score] += [(ours[rule][at] - theirs[rule][at]) / scale for rule in known]
    found = {score: _root_mean_square(values) for score, values in differences.items()}
    both = [*differences["D_a"], *differences["C_a"]]
    return {**found, "all": _root_mean_square(both), "pairs": len(differences["D_a"])}


def _root_mean_square(values: Sequence[float]) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def median_correlation(data: Data, claim: Claim) -> float:
    """Median of `correlations` over settings and families."""
    means = data.means(claim["plan"])
    at = 0 if claim["by"] == ["D_a"] else 1
    return float(
        np.median(
            [
                correlations(means, claim["metric"], setting, family)[at]
                for setting in settings(means, claim)
                for family in FAMILIES
            ]
        )
    )


def cell_correlations(data: Data) -> dict[str, float]:
    """Correlations by name: ``D_a SETTING FAMILY`` and ``C_a SETTING FAMILY``."""
    means = data.means("appendix")
    return {
        f"{score} {setting} {family}": correlations(means, "goodput", setting, family)[at]
        for at, score in enumerate(("D_a", "C_a"))
        for setting in means.settings
        for family in FAMILIES
    }


def worst_scores(means: Means, metric: str, family: str) -> dict[str, float]:
    """Worst D_a over the settings of each choice of a family."""
    each = [family_scores(means, metric, setting, family) for setting in means.settings]
    return {rule: max(scores[rule][0] for scores in each) for rule in each[0]}


def regret_of_choice(data: Data, claim: Claim) -> float:
    """Distance of the paper's choice from the best all-round rule (worst D_a), per environment."""
    means = data.means(claim["plan"])
    family = claim["of"][0]
    worst = worst_scores(means, claim["metric"], family)
    return (worst[data.rule(family)] - min(worst.values())) / len(means.cases)


# The synchronous model, section 5.1


def steady_state_error(_data: Data, _claim: Claim) -> float:
    """Largest relative difference between iterated windows w and alpha + beta w."""
    errors: list[float] = []
    for text, capacity in itertools.product(
        ("AIMD(1, 0.8)", "AIAD(1, 3)", "AIMAD", "MAIMD"), CAPACITIES
    ):
        found = theory.settle(theory.parse_linear(text), STARTS, capacity=capacity)
        if found.cycle is None:
            return float("inf")
        again = found.cycle.alpha + found.cycle.beta * found.windows
        errors.append(float(np.max(np.abs(again - found.windows) / found.windows)))
    return max(errors)


def final_spread(rule: theory.Linear, capacity: float) -> tuple[float, float]:
    """Largest spread, and smallest window over the capacity, in the last hundred steps."""
    course = theory.simulate(rule, STARTS, capacity=capacity, steps=STEPS)
    return float(np.max(course.spread()[-100:])), float(np.min(course.loads[-100:])) / capacity


def change_of_division(_data: Data, _claim: Claim) -> float:
    """Largest relative change of AIAD's difference and of MIMD's ratio of two windows."""
    kept = {"AIAD(1, 3)": np.subtract, "MIMD(1.125, 0.8)": np.divide}
    changes: list[float] = []
    for (text, division), capacity in itertools.product(kept.items(), CAPACITIES):
        loads = theory.simulate(theory.parse(text), STARTS, capacity=capacity, steps=STEPS).loads
        found = division(loads[:, 1], loads[:, 0])
        changes.append(float(np.max(np.abs(found / found[0] - 1))))
    return max(changes)


def spread_of_hybrids(_data: Data, _claim: Claim) -> float:
    """Largest spread that AIMD, AIMAD and MAIMD end with, from windows of 5 and 30."""
    hybrids = itertools.product(("AIMD(1, 0.8)", "AIMAD", "MAIMD"), CAPACITIES)
    return max(final_spread(theory.parse_linear(text), capacity)[0] for text, capacity in hybrids)


@functools.cache
def combinations() -> tuple[tuple[theory.Linear, float, float], ...]:
    """Return other values of the four parameters, with the final spread and smallest window."""
    found: list[tuple[theory.Linear, float, float]] = []
    for ai, bi, ad, bd in itertools.product(
        (0, 1, 2), (1, 1.05, 1.1), (0, -1, -3), (1, 0.9, 0.8, 0.5)
    ):
        never = (ai == 0 and bi == 1) or (ad == 0 and bd == 1)
        if never or bi == bd == 1 or ai == ad == 0:
            continue
        rule = theory.Linear(ai, bi, ad, bd)
        found.append((rule, *final_spread(rule, 100)))
    return tuple(found)


def spread_of_others(_data: Data, _claim: Claim) -> float:
    """Largest spread where every window stays above a thousandth of the capacity."""
    return max(spread for _, spread, least in combinations() if least > 1e-3)


# Orders of the four rules


def order_by_ratio(data: Data, claim: Claim) -> float:
    """Mean correlation between D_a by differences and by ratios, best / own."""
    means = data.means(claim["plan"])
    found: list[float] = []
    for setting in settings(means, claim):
        values = np.array(
            [means.value(claim["metric"], setting, rule) for rule in rules(data, claim, "among")]
        )
        best = values.max(axis=0)
        with np.errstate(divide="ignore"):  # Nothing arrived: an infinite ratio is the last one.
            ratios = best / values
        found.append(correlation((best - values).sum(axis=1), ratios.sum(axis=1)))
    return float(np.mean(found))


def order_with_more_flows(data: Data, claim: Claim) -> float:
    """Mean correlation between D_a with ten flows and with more."""
    more, ten = data.means(claim["plan"]), data.means(claim["beside"])
    return _agreement(data, claim, (more, claim["metric"]), (ten, claim["metric"]))


def order_by_jain(data: Data, claim: Claim) -> float:
    """Mean correlation between D_a of the fairness spread and of Jain's index."""
    means = data.means(claim["plan"])
    return _agreement(data, claim, (means, "fairness_spread"), (means, "jain_index"))


def _agreement(data: Data, claim: Claim, one: tuple[Means, str], other: tuple[Means, str]) -> float:
    among = rules(data, claim, "among")
    orders = [
        [
            [float(np.sum(means.distances(metric, setting, rule, among))) for rule in among]
            for means, metric in (one, other)
        ]
        for setting in settings(one[0], claim)
    ]
    return float(np.mean([correlation(first, second) for first, second in orders]))
