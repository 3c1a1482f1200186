"""Numbers of yang2000 that need no simulation: the formula and TCP-friendly parameters.

`cwndlab.theory` has the general formula; this module has the formulas of the papers that it is
compared with.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from cwndlab.theory import friendly, gaimd
from cwndlab_papers import Claim, Data
from cwndlab_papers.papers.yang2000.published import printed

LOSSES = np.geomspace(1e-4, 0.9, 60)
RTT_S, RTO_S = 0.1, 0.4
"""T0 = 4 RTT, as figure 9."""
BETA = 0.875
ALPHAS = np.linspace(0.1, 0.5, 81)
THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
"""Of figure 9."""
MINIMISERS = (0.1, 0.3, 0.5, 0.7)
"""Thresholds whose minimising curves stand for all in figure 10."""


def difference_from_square_root(_data: Data, _claim: Claim) -> float:
    """Largest relative difference of the first term from the formula of Mathis et al. (1997)."""
    return max(
        _apart(
            1 / gaimd.duplicate_term(1, 0.5, LOSSES, rtt=RTT_S, b=b),
            np.sqrt(3 / (2 * b * LOSSES)) / RTT_S,
        )
        for b in (1, 2)
    )


def difference_from_padhye(_data: Data, _claim: Claim) -> float:
    """Largest relative difference of equation 2 from that of Padhye et al. (1998), equation 30."""
    found: list[float] = []
    for b in (1, 2):
        timeouts = (
            RTO_S * np.minimum(1, 3 * np.sqrt(3 * b * LOSSES / 8)) * LOSSES * (1 + 32 * LOSSES**2)
        )
        known = 1 / (RTT_S * np.sqrt(2 * b * LOSSES / 3) + timeouts)
        found.append(
            _apart(gaimd.rate_approximation(1, 0.5, LOSSES, rtt=RTT_S, rto=RTO_S, b=b), known)
        )
    return max(found)


def exponent_error(_data: Data, claim: Claim) -> float:
    """Distance of a term's exponent of p, between 1e-8 and 1e-6, from the stated one."""
    ends = np.array([1e-8, 1e-6])
    if claim["term"] == "TD":
        values = gaimd.duplicate_term(1, 0.5, ends, rtt=RTT_S)
    else:
        values = gaimd.timeout_term(1, 0.5, ends, rto=RTO_S)
    return abs(float(np.log(values[1] / values[0]) / np.log(ends[1] / ends[0])) - claim["exponent"])


def share_of_timeouts(_data: Data, claim: Claim) -> float:
    """Second term of the denominator over both, of TCP."""
    first, second = (
        gaimd.duplicate_term(1, 0.5, claim["p"], rtt=RTT_S),
        gaimd.timeout_term(1, 0.5, claim["p"], rto=RTO_S),
    )
    return float(second / (first + second))


def wrong_directions(_data: Data, _claim: Claim) -> float:
    """Count neighbours on a grid between which the rate changes against the stated direction."""
    grids = {
        "alpha": (np.linspace(0.05, 2, 40), 1),
        "beta": (np.linspace(0.1, 0.95, 40), 1),
        "rtt": (np.geomspace(0.01, 1, 40), -1),
        "rto": (np.geomspace(0.1, 10, 40), -1),
    }
    wrong = 0
    for p in (0.001, 0.01, 0.1, 0.5):
        usual = {"alpha": 1.0, "beta": 0.5, "p": p, "rtt": RTT_S, "rto": RTO_S}
        for name, (values, sign) in grids.items():
            rates = gaimd.rate_approximation(**{**usual, name: values})
            wrong += int(np.sum(sign * np.diff(rates) <= 0))
    return float(wrong)


def rate_without_increase(_data: Data, _claim: Claim) -> float:
    """Rate at alpha = 1e-14 over that at 1, p = 1 %."""
    least, usual = gaimd.rate_approximation([1e-14, 1.0], 0.5, 0.01, rtt=RTT_S, rto=RTO_S)
    return float(least / usual)


def difference_of_timeout_sum(_data: Data, _claim: Claim) -> float:
    """Largest relative difference of equation 45 from the sum of equation 44 over k < w."""
    found: list[float] = []
    for w in (4, 5, 8, 13, 40):
        for p in (0.001, 0.02, 0.2, 0.6):
            first = [(1 - p) ** k * p / (1 - (1 - p) ** w) for k in range(w)]
            again = sum((1 - p) ** m * p for m in range(3))
            exact = sum(first[:3]) + sum(first[3:]) * again
            found.append(_apart(gaimd.timeout_probability(w, p), np.minimum(1, exact)))
    return max(found)


def difference_from_three_over_window(_data: Data, _claim: Claim) -> float:
    """Largest relative difference from 3 / w at p = 1e-6."""
    windows = np.array([4, 10, 30, 100])
    return _apart(gaimd.timeout_probability(windows, 1e-6), 3 / windows)


def difference_of_timeout_series(_data: Data, _claim: Claim) -> float:
    """Largest relative difference of equation 54 from the sum over up to 3000 timeouts."""
    found: list[float] = []
    for p in (0.01, 0.1, 0.5, 0.9):
        lengths = (
            (2.0**k - 1 if k <= 6 else 63 + 64 * (k - 6)) * p ** (k - 1) * (1 - p)
            for k in range(1, 3001)
        )
        found.append(_apart(gaimd.timeout_series(p), np.array(sum(lengths))))
    return max(found)


def friendly_alpha(_data: Data, claim: Claim) -> float:
    """Alpha of the TO curve."""
    return float(friendly.to_alpha(claim["beta"]))


def error_of_friendly_pair(data: Data, claim: Claim) -> float:
    """Distance of that from the printed one."""
    return abs(friendly_alpha(data, claim) - claim["alpha"])


# Figures 9 to 11


class Setting(NamedTuple):
    """Formula by its equation numbers, and T0 in round trips.

    By default what the paper's text has.
    """

    formula: str = "2"
    rto_over_rtt: float = 4.0

    @classmethod
    def of(cls, claim: Claim) -> Setting:
        """Return a claim's."""
        return cls(*(claim.arguments.get(name, cls._field_defaults[name]) for name in cls._fields))


TEXT = Setting()


@functools.cache
def errors(threshold: float, setting: Setting = TEXT) -> np.ndarray:
    """Error integrals over `ALPHAS`, beta = 0.875."""
    return np.array(
        [friendly.error(alpha, BETA, threshold, **setting._asdict()) for alpha in ALPHAS]
    )


@functools.cache
def minimiser(beta: float, threshold: float, setting: Setting = TEXT) -> float:
    """Minimising alpha."""
    return friendly.minimising_alpha(beta, threshold, **setting._asdict())


def most_minima(_data: Data, claim: Claim) -> float:
    """Largest number of local minima within `ALPHAS` of any threshold's error integral."""
    slopes = [np.sign(np.diff(errors(threshold, Setting.of(claim)))) for threshold in THRESHOLDS]
    return float(max(np.sum((slope[:-1] < 0) & (slope[1:] > 0)) for slope in slopes))


def least_rise_of_minimiser(_data: Data, claim: Claim) -> float:
    """Least rise of the minimising alpha between neighbouring thresholds."""
    return float(
        np.min(np.diff([minimiser(BETA, threshold, Setting.of(claim)) for threshold in THRESHOLDS]))
    )


def minimising_alpha(_data: Data, claim: Claim) -> float:
    """Alpha with the least error integral, beta = 0.875."""
    return minimiser(BETA, claim["threshold"], Setting.of(claim))


def error_of_minimiser(data: Data, claim: Claim) -> float:
    """Distance of that from the printed one."""
    return abs(minimising_alpha(data, claim) - printed(claim["printed"]))


def curves(
    betas: np.ndarray, thresholds: tuple[float, ...] = MINIMISERS, setting: Setting = TEXT
) -> dict[str, np.ndarray]:
    """TCP-friendly alphas by the name of their curve."""
    named = {"TD": friendly.td_alpha(betas), "TO": friendly.to_alpha(betas)}
    found = {
        f"to {edge:g}": np.array([minimiser(float(beta), edge, setting) for beta in betas])
        for edge in thresholds
    }
    return named | found


def least_lead_of_curve(_data: Data, claim: Claim) -> float:
    """Least of what a curve is above all others by."""
    found = curves(_betas(claim), setting=Setting.of(claim))
    own = found.pop(claim["curve"])
    return float(min(np.min(own - other) for other in found.values()))


def least_lag_of_curve(_data: Data, claim: Claim) -> float:
    """Least of what a curve is below all others by."""
    found = curves(_betas(claim), setting=Setting.of(claim))
    own = found.pop(claim["curve"])
    return float(min(np.min(other - own) for other in found.values()))


def distance_of_minimiser(_data: Data, claim: Claim) -> float:
    """Largest relative difference between the TO curve and the minimisers of some thresholds."""
    found = curves(_betas(claim), tuple(claim["thresholds"]), Setting.of(claim))
    bound = found.pop("TO")
    found.pop("TD")
    return float(max(np.max(np.abs(other / bound - 1)) for other in found.values()))


def three_alphas(setting: Setting = TEXT) -> dict[str, float]:
    """Alphas of figure 11 by the curve they are from; the minimiser for a threshold of 0.3."""
    own = {name: float(values[0]) for name, values in curves(np.array([BETA]), ()).items()}
    return own | {"minimiser": minimiser(BETA, 0.3, setting)}


def three_ratios(claim: Claim) -> dict[str, np.ndarray]:
    """Rates over Reno's at a claim's loss rates, by curve."""
    setting = Setting.of(claim)
    return {
        name: friendly.rate_ratio(alpha, BETA, claim["p"], **setting._asdict())
        for name, alpha in three_alphas(setting).items()
    }


def ratio_at(_data: Data, claim: Claim) -> float:
    """Rate over Reno's."""
    return float(three_ratios(claim)[claim["curve"]])


def shortfall_at(data: Data, claim: Claim) -> float:
    """1 less that."""
    return 1 - ratio_at(data, claim)


def shrinkage(_data: Data, claim: Claim) -> float:
    """Over the three alphas, the least gain in nearness to 1 at the second loss rate."""
    away = [np.abs(ratio - 1) for ratio in three_ratios(claim).values()]
    return float(min(first - second for first, second in away))


def largest_distance_from_one(_data: Data, claim: Claim) -> float:
    """Largest distance of the three ratios from 1."""
    return float(max(abs(ratio - 1) for ratio in three_ratios(claim).values()))


def _betas(claim: Claim) -> np.ndarray:
    first, last = claim["betas"]
    return np.linspace(float(first), float(last), 9)


def _apart(found: np.ndarray, known: np.ndarray) -> float:
    return float(np.max(np.abs(np.asarray(found) / known - 1)))
