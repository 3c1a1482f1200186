"""Numbers that are chandrayana2002's own.

Each takes what was measured and a claim, and gives one number.

A plan's rules are a grid of k. Leads, lags and rises are signed so that the claim's sentence holds
above 0.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from cwndlab import theory
from cwndlab_papers import Claim, Data, Means
from cwndlab_papers.papers.chandrayana2002.measures import METHODS

SLOW = 0.7
"""k above which schemes are slowly responsive, section IV-A."""
MORE_IS_BETTER = ("goodput", "rtt_weighted_jain_index")
ENDS = {"aimd": 0.0, "iiad": 1.0}
COUNTED = {"loss_share": "dropped", "timeouts_share": "timeouts"}


def exponents(means: Means) -> np.ndarray:
    """Return k of each rule."""
    parsed = [theory.parse(rule) for rule in means.rules]
    return np.array([rule.k if isinstance(rule, theory.Binomial) else 0.0 for rule in parsed])


def table(data: Data, claim: Claim, metric: str | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Give k, shape (rules,), and means of a metric in a claim's cases, shape (cases, rules)."""
    means = data.means(claim["plan"])
    setting = means.settings.index(claim["settings"][0])
    cases = [means.cases.index(case) for case in claim.arguments.get("cases", means.cases)]
    return exponents(means), means.values[metric or claim["metric"]][setting, cases]


def lead_of_end(data: Data, claim: Claim) -> float:
    """By how much one end of k is above all other k, the least over the cases."""
    k, values = table(data, claim)
    own = k == ENDS[claim["end"]]
    return _least(values[:, own][:, 0] - values[:, ~own].max(axis=1))


def lag_of_end(data: Data, claim: Claim) -> float:
    """By how much one end of k is below all other k, the least over the cases."""
    k, values = table(data, claim)
    own = k == ENDS[claim["end"]]
    return _least(values[:, ~own].min(axis=1) - values[:, own][:, 0])


def rise_with_k(data: Data, claim: Claim) -> float:
    """Spearman's correlation with k, mean over the cases."""
    k, values = table(data, claim)
    return float(np.mean([correlation(k, row) for row in values]))


def fall_with_k(data: Data, claim: Claim) -> float:
    """Give the same of the metric's loss."""
    return -rise_with_k(data, claim)


def faster_rise_with_load(data: Data, claim: Claim) -> float:
    """Rise from the first case to the last, mean over k above 0.7 less the mean over the others."""
    k, values = table(data, claim)
    rise = values[-1] - values[0]
    return float(rise[k > SLOW + 1e-9].mean() - rise[k <= SLOW + 1e-9].mean())


def faster_fall_with_load(data: Data, claim: Claim) -> float:
    """Give the same of the fall."""
    return -faster_rise_with_load(data, claim)


def recovered_share(data: Data, claim: Claim) -> float:
    """1 less AIMD's share of timeouts, the least over the cases."""
    k, values = table(data, claim)
    return _least(1 - values[:, k == 0][:, 0])


# Self-similarity, figure 3


def hurst_lower_within(data: Data, claim: Claim) -> float:
    """Smallest H of other k less the smallest within a range of k, the least over the cases."""
    k, values = table(data, claim, "hurst")
    inside = (claim["within"][0] <= k) & (k < claim["within"][1] - 1e-9)
    return _least(values[:, ~inside].min(axis=1) - values[:, inside].min(axis=1))


def hurst_rise_with_k(data: Data, claim: Claim) -> float:
    """Spearman's correlation of H with k, mean over the cases."""
    k, values = table(data, claim, "hurst")
    return float(np.mean([correlation(k, row) for row in values]))


def disagreement_of_methods(data: Data, claim: Claim) -> float:
    """Largest distance of a method's H from the mean of all three, over cases and k."""
    found = np.array([table(data, claim, f"hurst-{method}")[1] for method in METHODS])
    return float(np.max(np.abs(found - found.mean(axis=0))))


def hurst_follows(data: Data, claim: Claim) -> float:
    """Spearman's correlation, over k, of H with a metric, mean over the cases."""
    pairs = zip(table(data, claim, "hurst")[1], table(data, claim)[1], strict=True)
    return float(np.mean([correlation(one, other) for one, other in pairs]))


# Other networks


def relative_leads(data: Data, claim: Claim) -> np.ndarray:
    """Lead of AIMD over the best other k, over the mean of all k, in each case.

    Above 0 where AIMD is better.
    """
    k, values = table(data, claim)
    sign = 1 if claim["metric"] in MORE_IS_BETTER else -1
    own, others = values[:, k == 0][:, 0], values[:, k != 0]
    lead = sign * own - (sign * others).max(axis=1)
    mean = values.mean(axis=1)
    # Where nobody has a timeout all are alike.
    return np.divide(lead, mean, out=np.where(mean == 0, 0.0, np.nan), where=mean > 0)


def relative_lead(data: Data, claim: Claim) -> float:
    """Least of them."""
    return _least(relative_leads(data, claim))


# Half TCP, half binomial, figure 4


def ratios(data: Data, claim: Claim) -> np.ndarray:
    """TCP's throughput over that of the binomial flows, shape (cases, k)."""
    return table(data, claim, "goodput-tcp")[1] / table(data, claim, "goodput-binomial")[1]


def shares(data: Data, claim: Claim) -> np.ndarray:
    """TCP's share of losses or timeouts, shape (cases, k)."""
    own, other = (
        table(data, claim, f"{COUNTED[claim['metric']]}-{kind}")[1] for kind in ("tcp", "binomial")
    )
    whole = own + other
    return np.divide(own, whole, out=np.full_like(whole, np.nan), where=whole > 0)


def shortfall_of_tcp(data: Data, claim: Claim) -> float:
    """1 less the ratio of throughputs, mean over cases and k."""
    return float(np.mean(1 - ratios(data, claim)))


def distance_from_equal(data: Data, claim: Claim) -> float:
    """Mean distance of the ratio from 1."""
    return float(np.mean(np.abs(ratios(data, claim) - 1)))


def fairer_with_more(data: Data, claim: Claim) -> float:
    """Give that distance in the first case less that in the last."""
    away = np.mean(np.abs(ratios(data, claim) - 1), axis=1)
    return float(away[0] - away[-1])


def share_above_half(data: Data, claim: Claim) -> float:
    """TCP's share less a half, mean over cases and k."""
    return float(np.mean(shares(data, claim)) - 0.5)


def share_off_half(data: Data, claim: Claim) -> float:
    """Mean distance of TCP's share from a half."""
    return float(np.mean(np.abs(shares(data, claim) - 0.5)))


def correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Spearman's rank correlation.

    NaN where a value is missing, 0 where one side has no order at all.
    """
    if np.isnan(one).any() or np.isnan(other).any():
        return float("nan")
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return 0.0
    return float(np.corrcoef(rankdata(one), rankdata(other))[0, 1])


def _least(values: np.ndarray) -> float:
    """Smallest; a missing one makes the whole unknown."""
    return float(np.min(values))
