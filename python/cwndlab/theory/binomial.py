"""Throughput of binomial rules over random losses.

``w += alpha / w^k`` a round trip, ``w -= beta w^l`` on a loss.

A loss every 1/p packets, windows that grow continuously: from ``v = W - beta W^l`` to W the flow
sends ``(W^(k+2) - v^(k+2)) / (alpha (k+2))`` packets in ``(W^(k+1) - v^(k+1)) / (alpha (k+1))``
round trips. Where the cut is a small part of the window this is ``(alpha / (beta p))^(1/(k+l+1)) /
RTT``, the law of [1]_ whose exponent [2]_ quotes.

References
----------
.. [1] D. Bansal, H. Balakrishnan, "Binomial congestion control algorithms", IEEE INFOCOM, 2001.
.. [2] K. Chandrayana, B. Sikdar, S. Kalyanaraman, "Comparative study of TCP compatible binomial
   congestion control schemes", 2002.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cwndlab.message import invalid
from cwndlab.theory.checks import fraction, positive
from cwndlab.theory.rules import Binomial

LARGEST = 1e12
"""Upper bound of windows, packets."""


def exponent(rule: Binomial) -> float:
    """Exponent of p in the throughput, ``-1 / (k + l + 1)``.

    -1/2 where k + l = 1: such a rule is TCP-compatible.

    Examples
    --------
    >>> exponent(Binomial(1, 0)), exponent(Binomial(0.5, 0.5)), round(exponent(Binomial(1, 1)), 4)
    (-0.5, -0.5, -0.3333)
    """
    return -1 / (rule.k + rule.l + 1)


def rate_approximation(rule: Binomial, p: ArrayLike, *, rtt: ArrayLike) -> np.ndarray:
    """Throughput where cuts are small: ``(alpha / (beta p))^(1/(k+l+1)) / RTT``.

    Parameters
    ----------
    rule : Binomial
        The rule.
    p : array_like
        Loss rate, between 0 and 1.
    rtt : array_like
        Round trip, seconds.

    Returns
    -------
    ndarray
        Packets per second.

    Examples
    --------
    >>> rate_approximation(Binomial(1, 0, 1, 1), [0.01, 0.0025], rtt=0.1).round(6).tolist()
    [100.0, 200.0]
    """
    return (rule.alpha / (rule.beta * fraction("p", p))) ** -exponent(rule) / positive("rtt", rtt)


def peak_window(rule: Binomial, p: float) -> float:
    """Window at which a loss comes when one does every 1/p packets, in packets.

    Raises
    ------
    ValueError
        If losses are so frequent that the cut would leave no window.

    Examples
    --------
    AIMD(1, 0.5) sends 3/8 W^2 packets from one loss to the next; 8/3 x 150 = 20 x 20:

    >>> round(peak_window(Binomial(0, 1, 1, 0.5), 1 / 150), 6)
    20.0
    """
    from scipy.optimize import brentq

    fraction("p", p)

    def too_many(peak: float) -> float:
        return _sent(rule, peak) * p - 1

    # Below this the cut takes the whole window.
    least = rule.beta ** (1 / (1 - rule.l)) if rule.l < 1 else 1e-12
    if too_many(least) > 0:
        raise ValueError(
            invalid("p", f"{p:g}", f"rarer losses, so that {rule.text} keeps a window")
        )
    return float(brentq(too_many, least, LARGEST, xtol=1e-12, rtol=1e-14))


def rate(rule: Binomial, p: ArrayLike, *, rtt: ArrayLike) -> np.ndarray:
    """Throughput with cuts of any size; parameters as `rate_approximation`.

    Examples
    --------
    AIMD(1, 0.5): sqrt(3 / (2 p)) / RTT.

    >>> round(float(rate(Binomial(0, 1, 1, 0.5), 0.015, rtt=0.1)), 6)
    100.0
    """

    def one(p: float, rtt: float) -> float:
        return 1 / (p * rtt * _lasts(rule, peak_window(rule, p)))

    return np.vectorize(one, otypes=[float])(fraction("p", p), positive("rtt", rtt))


def _sent(rule: Binomial, peak: float) -> float:
    """Packets from one loss to the next."""
    return _power_lost(rule, peak, rule.k + 2)


def _lasts(rule: Binomial, peak: float) -> float:
    """Round trips from one loss to the next."""
    return _power_lost(rule, peak, rule.k + 1)


def _power_lost(rule: Binomial, peak: float, power: float) -> float:
    """``(W^power - v^power) / (alpha power)``, without cancellation where the cut is small."""
    cut = min(1.0, rule.beta * peak ** (rule.l - 1))
    part = 1.0 if cut == 1 else -np.expm1(power * np.log1p(-cut))
    return float(peak**power * part / (rule.alpha * power))
