"""TCP-friendly parameters of general AIMD: which alpha goes with a beta.

Section 3 of [1]_, whose equation numbers these are. No alpha gives TCP's rate at every loss rate,
except 1 with beta = 1/2. Three choices: equal rates without timeouts (the TD curve, equation 6),
equal time spent in timeouts (the TO curve, equation 7), and the least mean relative error over a
range of loss rates (equation 8). All three take a service ratio d, equation 5: the target rate over
TCP's.

The paper does not name the formula of its figures 9 to 11; `FORMULAS` has three candidates. The
third gives the published minimisers (0.26 to 0.30), with a T0 of eight round trips instead of the
text's four.

References
----------
.. [1] Y. R. Yang, S. S. Lam, "General AIMD congestion control", TR-2000-09, University of Texas at
   Austin, 2000.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from cwndlab.message import unknown
from cwndlab.theory.checks import fraction, positive, within
from cwndlab.theory.gaimd import rate, rate_approximation

RTO_OVER_RTT = 4.0
"""T0 in round trips, as in figure 9 of the paper."""
FORMULAS: dict[str, Callable[..., np.ndarray]] = {
    "2": rate_approximation,
    "55": rate,
    "55, 47": partial(rate, simple=True),
}
"""Rate formulas by their equation numbers.

The approximation, the full one, and the full one with ``Q = 3 / w``.
"""
POINTS = 20_000
"""Loss rates at which the error is summed."""


def td_alpha(beta: ArrayLike, d: ArrayLike = 1) -> np.ndarray:
    """Alpha for `d` times TCP's rate where no loss ends in a timeout.

    ``3 d^2 (1 - beta) / (1 + beta)``, equation 6.

    Examples
    --------
    >>> td_alpha([0.5, 0.875]).round(4).tolist()
    [1.0, 0.2]
    """
    beta, d = fraction("beta", beta), positive("d", d)
    return 3 * d**2 * (1 - beta) / (1 + beta)


def to_alpha(beta: ArrayLike, d: ArrayLike = 1) -> np.ndarray:
    """Alpha for which the time in timeouts is 1/d of TCP's.

    ``4 d^2 (1 - beta^2) / 3``, equation 7.

    Examples
    --------
    >>> to_alpha([0.5, 0.75, 0.875]).round(4).tolist()
    [1.0, 0.5833, 0.3125]
    """
    beta, d = fraction("beta", beta), positive("d", d)
    return 4 * d**2 * (1 - beta**2) / 3


def rate_ratio(
    alpha: ArrayLike,
    beta: ArrayLike,
    p: ArrayLike,
    *,
    rto_over_rtt: float = RTO_OVER_RTT,
    b: float = 1,
    formula: str = "2",
) -> np.ndarray:
    """Rate over that of TCP, on the same path; it depends on T0 / RTT alone.

    `formula` is a key of `FORMULAS`.

    Examples
    --------
    >>> rate_ratio(0.3125, 0.875, [1e-6, 0.05, 0.9]).round(3).tolist()
    [1.25, 1.156, 1.002]
    """
    path = {"rtt": 1.0, "rto": positive("rto_over_rtt", rto_over_rtt), "b": b}
    if formula not in FORMULAS:
        raise ValueError(unknown("formula", formula, FORMULAS))
    return FORMULAS[formula](alpha, beta, p, **path) / FORMULAS[formula](1, 0.5, p, **path)


def error(
    alpha: float,
    beta: float,
    threshold: float,
    *,
    d: float = 1,
    rto_over_rtt: float = RTO_OVER_RTT,
    b: float = 1,
    formula: str = "2",
) -> float:
    """Error integral ``E_beta(alpha)``, equation 8, with weight 1 up to a loss rate (figure 8).

    Parameters
    ----------
    alpha, beta : float
        The rule.
    threshold : float
        Loss rate up to which the error counts, above 0, at most 1.
    d : float
        Target rate over TCP's.
    rto_over_rtt : float
        T0 in round trips.
    b : float
        Packets acknowledged by one ACK.
    formula : str
        A key of `FORMULAS`.

    Returns
    -------
    float
        Integral of ``|ratio / d - 1|`` over the loss rate, between 0 and `threshold`.

    Examples
    --------
    >>> error(1, 0.5, 0.3)
    0.0
    """
    within("threshold", threshold, "above 0, at most 1", above=0.0, below=np.nextafter(1.0, 2.0))
    # Midpoint rule with many equal steps: the integrand has kinks, where the ratio crosses d and
    # where Q reaches 1.
    p = (np.arange(POINTS) + 0.5) / POINTS * threshold
    wrong = np.abs(
        rate_ratio(alpha, beta, p, rto_over_rtt=rto_over_rtt, b=b, formula=formula)
        / positive("d", d)
        - 1
    )
    return float(wrong.mean() * threshold)


def minimising_alpha(
    beta: float,
    threshold: float,
    *,
    d: float = 1,
    rto_over_rtt: float = RTO_OVER_RTT,
    b: float = 1,
    formula: str = "2",
) -> float:
    """Alpha with the least error integral, equation 8; parameters as `error`.

    Examples
    --------
    >>> [round(minimising_alpha(0.875, threshold), 2) for threshold in (0.1, 0.3)]
    [0.23, 0.27]
    >>> as_published = {"rto_over_rtt": 8, "formula": "55, 47"}
    >>> [round(minimising_alpha(0.875, threshold, **as_published), 2) for threshold in (0.1, 0.3)]
    [0.26, 0.3]
    """
    from scipy.optimize import minimize_scalar

    bounds = sorted([float(td_alpha(beta, d)), float(to_alpha(beta, d))])
    # The TD and TO curves meet at beta = 1/2 and bracket the minimum; d may shift it slightly.
    found = minimize_scalar(
        lambda alpha: error(
            alpha, beta, threshold, d=d, rto_over_rtt=rto_over_rtt, b=b, formula=formula
        ),
        bounds=(0.5 * bounds[0], 2 * bounds[1]),
        method="bounded",
        options={"xatol": 1e-6},
    )
    return float(found.x)


def alpha_at(
    beta: float,
    p: float,
    *,
    d: float = 1,
    rto_over_rtt: float = RTO_OVER_RTT,
    b: float = 1,
    formula: str = "2",
) -> float:
    """Alpha that gives exactly `d` times TCP's rate at one loss rate, equation 5.

    Examples
    --------
    >>> alpha = alpha_at(0.875, 0.02)
    >>> round(alpha, 3), round(float(rate_ratio(alpha, 0.875, 0.02)), 9)
    (0.216, 1.0)
    """
    from scipy.optimize import brentq

    def too_much(logarithm: float) -> float:
        return (
            float(
                rate_ratio(
                    np.exp(logarithm), beta, p, rto_over_rtt=rto_over_rtt, b=b, formula=formula
                )
            )
            / d
            - 1
        )

    positive("d", d)
    least, most = np.log(1e-9), np.log(1e9)
    if too_much(least) > 0 or too_much(most) < 0:
        raise ValueError(
            f"d: {d:g} is not valid: expected a ratio that some alpha reaches at p = {p:g}"
        )
    return float(np.exp(brentq(too_much, least, most, xtol=1e-13)))
