"""Numbers that are yang2000's own: each takes what was measured and a claim, and gives one number.

Those that need no simulation are in `formulas` and `windows`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from cwndlab import theory
from cwndlab.statistics import Bounds
from cwndlab_papers import Claim, Data, Means
from cwndlab_papers.papers.yang2000.crossing import crossing
from cwndlab_papers.papers.yang2000.formulas import (
    difference_from_padhye,
    difference_from_square_root,
    difference_from_three_over_window,
    difference_of_timeout_series,
    difference_of_timeout_sum,
    distance_of_minimiser,
    error_of_friendly_pair,
    error_of_minimiser,
    exponent_error,
    friendly_alpha,
    largest_distance_from_one,
    least_lag_of_curve,
    least_lead_of_curve,
    least_rise_of_minimiser,
    minimising_alpha,
    most_minima,
    rate_without_increase,
    ratio_at,
    share_of_timeouts,
    shortfall_at,
    shrinkage,
    wrong_directions,
)
from cwndlab_papers.papers.yang2000.published import printed
from cwndlab_papers.papers.yang2000.windows import (
    crossings,
    difference_of_mean_windows,
    ratio_of_ranges,
    swing_of_difference,
)
from cwndlab_papers.quantities import PICKS, settings
from cwndlab_papers.readings import read_toml

__all__ = [
    "crossings", "difference_from_padhye", "difference_from_square_root",
    "difference_from_three_over_window",
    "difference_of_mean_windows", "difference_of_timeout_series", "difference_of_timeout_sum",
    "distance_of_minimiser",
    "error_of_friendly_pair", "error_of_minimiser", "exponent_error", "friendly_alpha",
    "largest_distance_from_one",
    "least_lag_of_curve", "least_lead_of_curve", "least_rise_of_minimiser", "minimising_alpha",
    "most_minima",
    "rate_without_increase", "ratio_at", "ratio_of_ranges", "share_of_timeouts", "shortfall_at",
    "shrinkage",
    "swing_of_difference", "wrong_directions",
]  # fmt: skip
PAIR, OTHER_PAIR = "GAIMD(0.31, 0.875)", "GAIMD(0.58, 0.75)"
LOW_ALPHA, HIGH_ALPHA = (0.1, 0.3), (0.8, 1.0)
"""What counts as little and as very aggressive."""


# Accuracy of the formula, figures 2 to 7


def cells(means: Means, claim: Claim, losses: Sequence[float] | None = None) -> np.ndarray:
    """Tell which cells a claim is about, shape (settings, cases, rules).

    Its settings, rules, and loss rates.
    """
    chosen = np.zeros((len(means.settings), len(means.cases), len(means.rules)), dtype=bool)
    chosen[[means.settings.index(name) for name in settings(means, claim)]] = True
    chosen &= np.array([_wanted(rule, claim) for rule in means.rules])
    if losses is not None:
        loss = means.values["loss-gaimd"]
        chosen &= (losses[0] <= loss) & (loss < losses[1])
    return chosen


def prediction_error(data: Data, claim: Claim) -> float:
    """Mean distance of predicted over actual rate from 1."""
    means = data.means(claim["plan"])
    return _mean(np.abs(means.values["ratio-gaimd"] - 1)[cells(means, claim, claim["losses"])])


def overestimate(data: Data, claim: Claim) -> float:
    """Mean of predicted over actual rate, less 1."""
    means = data.means(claim["plan"])
    return _mean(means.values["ratio-gaimd"][cells(means, claim, claim["losses"])] - 1)


def overestimate_beside(data: Data, claim: Claim) -> float:
    """Mean of predicted over actual rate at some loss rates, less that at others."""
    means = data.means(claim["plan"])
    own, other = (
        _mean(means.values["ratio-gaimd"][cells(means, claim, claim[key])])
        for key in ("losses", "beside_losses")
    )
    return own - other


def overestimate_by_alpha(data: Data, claim: Claim) -> float:
    """Mean of predicted over actual rate with large alphas, minus that with small ones."""
    means = data.means(claim["plan"])
    chosen = cells(means, claim)
    alphas = np.array([theory.parse_linear(rule).ai for rule in means.rules])
    low, high = (
        _mean(means.values["ratio-gaimd"][chosen & (least <= alphas) & (alphas <= most)])
        for least, most in (LOW_ALPHA, HIGH_ALPHA)
    )
    return high - low


def overestimate_by_beta(data: Data, claim: Claim) -> float:
    """Mean of predicted over actual rate with one beta, minus that with another."""
    means = data.means(claim["plan"])
    chosen = cells(means, claim)
    betas = np.array([theory.parse_linear(rule).bd for rule in means.rules])
    own, other = (
        _mean(means.values["ratio-gaimd"][chosen & (betas == beta)]) for beta in claim["betas"]
    )
    return own - other


def extreme_loss(data: Data, claim: Claim) -> float:
    """Smallest or largest loss rate at some loads."""
    means = data.means(claim["plan"])
    at = [means.cases.index(load) for load in claim["loads"]]
    return float(PICKS[claim["pick"]](means.values["loss-gaimd"][:, at].ravel().tolist()))


def loss_over_printed(data: Data, claim: Claim) -> float:
    """Give that over the printed one."""
    return extreme_loss(data, claim) / printed(claim["printed"])


def difference_of_accuracy(data: Data, claim: Claim) -> float:
    """Mean distance of predicted over actual rate from another plan's."""
    means, other = data.means(claim["plan"]), data.means(claim["beside"])
    loss = means.values["loss-gaimd"][0]
    found: list[np.ndarray] = []
    for at, rule in enumerate(means.rules):
        if _wanted(rule, claim):
            there = other.values["ratio-gaimd"][0, :, other.rules.index(rule)]
            chosen = (claim["losses"][0] <= loss[:, at]) & (loss[:, at] < claim["losses"][1])
            found.append(np.abs(means.values["ratio-gaimd"][0, :, at] - there)[chosen])
    return _mean(np.concatenate(found))


def spread_of_flows(data: Data, claim: Claim) -> float:
    """Mean coefficient of variation, between flows, of predicted over actual rate."""
    means = data.means(claim["plan"])
    return _mean(means.values["spread-gaimd"][cells(means, claim, claim["losses"])])


def growth_of_spread(data: Data, claim: Claim) -> float:
    """Give the same at some loss rates, less that at others."""
    means = data.means(claim["plan"])
    own, other = (
        _mean(means.values["spread-gaimd"][cells(means, claim, claim[key])])
        for key in ("losses", "beside_losses")
    )
    return own - other


def difference_from_tcp(data: Data, claim: Claim) -> float:
    """Mean distance of GAIMD's predicted over actual rate from TCP's."""
    means = data.means(claim["plan"])
    return _mean(
        np.abs(means.values["ratio-gaimd"] - means.values["ratio-tcp"])[cells(means, claim)]
    )


# Friendliness, figures 13 to 20


def distance_from_share(data: Data, claim: Claim) -> float:
    """Mean distance of GAIMD's normalised rate from 1."""
    return _mean(np.abs(_rates(data, claim)["gaimd"] - 1))


def lead_of_gaimd(data: Data, claim: Claim) -> float:
    """Mean of GAIMD's normalised rate less TCP's."""
    found = _rates(data, claim)
    return _mean(found["gaimd"] - found["tcp"])


def lead_of_tcp(data: Data, claim: Claim) -> float:
    """Mean of TCP's normalised rate less GAIMD's."""
    return -lead_of_gaimd(data, claim)


def crossover(means: Means, setting: str, rule: str = PAIR) -> Bounds:
    """Flows in all at which GAIMD's rate falls below TCP's: the ends between which they lie."""
    own, other = (means.value(name, setting, rule) for name in ("gaimd", "tcp"))
    return crossing([int(case) for case in means.cases], own / other)


def crossover_of(data: Data, claim: Claim) -> Bounds:
    """Crossover under a claim's setting."""
    return crossover(data.means(claim["plan"]), claim["settings"][0])


def crossover_over_printed(data: Data, claim: Claim) -> Bounds:
    """Give that over the printed one."""
    low, high = crossover_of(data, claim)
    wanted = printed(claim["printed"])
    return low / wanted, high / wanted


def crossover_earlier(data: Data, claim: Claim) -> Bounds:
    """By how many flows fewer than under the setting `against`."""
    means = data.means(claim["plan"])
    other, own = (crossover(means, name) for name in (claim["against"], claim["settings"][0]))
    # Of two crossings beyond the last number of flows nobody knows which is earlier.
    return other[0] - own[1], other[1] - own[0]


def ratio_of_spreads(data: Data, claim: Claim) -> float:
    """Mean coefficient of variation of rates over that under `against`, to `power` if given."""
    means = data.means(claim["plan"])
    own, other = (
        _mean(means.value("spread", name, PAIR))
        for name in (claim["settings"][0], claim["against"])
    )
    return (own / other) ** claim.arguments.get("power", 1.0)


def shift_to_tcp(data: Data, claim: Claim) -> float:
    """Rise of TCP's lead over that under the setting `against`; of several settings the mean."""
    means = data.means(claim["plan"])
    against = [claim["against"]] if isinstance(claim["against"], str) else claim["against"]
    lead = {
        name: means.value("tcp", name, PAIR) - means.value("gaimd", name, PAIR)
        for name in means.settings
    }
    return _mean(
        np.array(
            [lead[own] - lead[other] for own, other in zip(claim["settings"], against, strict=True)]
        )
    )


def difference_of_rates(data: Data, claim: Claim) -> float:
    """Mean distance of both kinds' normalised rates from those under the setting `against`."""
    means, own = data.means(claim["plan"]), claim["settings"][0]
    names = ("gaimd", "tcp")
    found = [
        means.value(name, own, PAIR) - means.value(name, claim["against"], PAIR) for name in names
    ]
    return _mean(np.abs(found))


def difference_of_pairs(data: Data, claim: Claim) -> float:
    """Mean distance of GAIMD's normalised rates between one TCP-friendly pair and the other."""
    means = data.means(claim["plan"])
    pairs = [means.values["gaimd"][:, :, means.rules.index(rule)] for rule in (PAIR, OTHER_PAIR)]
    return _mean(np.abs(pairs[0] - pairs[1]))


def gain_by_sack(data: Data, claim: Claim) -> float:
    """Mean rise of GAIMD's normalised rate when it recovers by SACK, too."""
    own, other = data.means(claim["plan"]), data.means(claim["beside"])
    return _mean(
        np.array(
            [
                own.value("gaimd", name, PAIR) - other.value("gaimd", name, PAIR)
                for name in claim["settings"]
            ]
        )
    )


# Figure 21


def ratio_of_variation(data: Data, claim: Claim) -> float:
    """Coefficient of variation of GAIMD's rate over TCP's."""
    own, other = _variations(data, claim)
    return own / other


def variation_saved(data: Data, claim: Claim) -> float:
    """TCP's coefficient of variation less GAIMD's."""
    own, other = _variations(data, claim)
    return other - own


def bin_in_round_trips(data: Data, claim: Claim) -> float:
    """150 ms over the mean round trip."""
    return 0.15 / _at(data, claim, "rtt_s")


def _variations(data: Data, claim: Claim) -> tuple[float, float]:
    return _at(data, claim, "variation-gaimd"), _at(data, claim, "variation-tcp")


def _at(data: Data, claim: Claim, name: str) -> float:
    return _mean(data.means(claim["plan"]).value(name, claim["settings"][0], PAIR))


def _rates(data: Data, claim: Claim) -> dict[str, np.ndarray]:
    """Normalised rates over the numbers of flows that a claim is about."""
    means = data.means(claim["plan"])
    least, most = claim.arguments.get("flows", (0, np.inf))
    chosen = [least <= int(case) < most for case in means.cases]
    return {
        name: np.array([means.value(name, place, PAIR)[chosen] for place in claim["settings"]])
        for name in ("gaimd", "tcp")
    }


def _wanted(rule: str, claim: Claim) -> bool:
    named = claim.arguments.get("rules")
    beta = claim.arguments.get("beta")
    if named is not None and rule not in named:
        return False
    return beta is None or theory.parse_linear(rule).bd == beta


def _mean(values: np.ndarray) -> float:
    """Mean; without values, or with one missing, not a number.

    There is no such cell, or it has no rate.
    """
    return float(np.mean(values)) if values.size else float("nan")


# A real kernel


def kernel_difference(_data: Data, _claim: Claim) -> float:
    """Largest relative difference of GAIMD's rate between any kept live run and simulation."""
    kept = read_toml(Path(__file__).with_name("live.toml"))
    return max(
        abs(live / simulated - 1)
        for queue in ("drop-tail", "red")
        for live in kept[queue]["live"]
        for simulated in kept[queue]["simulated"]
    )
