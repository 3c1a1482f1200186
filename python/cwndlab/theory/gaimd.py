"""Sending rate of general AIMD over a lossy path.

``+ alpha`` per window, to ``beta w`` on a triple duplicate ACK.

The model of Padhye et al. [2]_ with general parameters, as derived in the appendix of [1]_;
equation numbers are those of [1]_. Losses are independent between rounds; within a round all
packets after a lost one are lost too. p is the probability that a packet is lost whose predecessor
in its round was not. Rates are packets sent per second, lost ones included; windows are packets,
times seconds. All functions take arrays.

Where the text of [1]_ has lost its typesetting (the p of equations 2 to 4 and 57 stands beside the
root), the derivation settles it: p is inside the root.

References
----------
.. [1] Y. R. Yang, S. S. Lam, "General AIMD congestion control", TR-2000-09, University of Texas at
   Austin, 2000.
.. [2] J. Padhye, V. Firoiu, D. Towsley, J. Kurose, "Modeling TCP throughput: a simple model and
   its empirical validation", ACM SIGCOMM, 1998.
.. [3] T. J. Ott, J. H. B. Kemperman, M. Mathis, "The stationary behavior of ideal TCP congestion
   avoidance", 1996.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cwndlab.theory.checks import fraction, positive, within


def _packets_per_ack(b: ArrayLike) -> np.ndarray:
    return within("b", b, "1 or above", above=np.nextafter(1.0, 0.0))


def mean_window(alpha: ArrayLike, beta: ArrayLike, p: ArrayLike, b: ArrayLike = 1) -> np.ndarray:
    """Mean window when a loss ends a period, E[W], equation 24.

    Parameters
    ----------
    alpha : array_like
        Packets added per window of ACKs.
    beta : array_like
        Factor on a triple duplicate ACK, between 0 and 1.
    p : array_like
        Loss rate, between 0 and 1.
    b : array_like
        Packets acknowledged by one ACK: 1, or 2 with delayed ACKs.

    Returns
    -------
    ndarray
        Packets.

    Examples
    --------
    >>> round(float(mean_window(1, 0.5, 0.01)), 3)
    17.279
    """
    alpha, beta, p, b = (
        positive("alpha", alpha),
        fraction("beta", beta),
        fraction("p", p),
        _packets_per_ack(b),
    )
    half = (alpha + b * (1 - beta)) / (2 * b * (1 - beta**2))
    return half + np.sqrt(half**2 + 2 * alpha / (b * (1 - beta**2)) * (1 - p) / p)


def mean_rounds(alpha: ArrayLike, beta: ArrayLike, p: ArrayLike, b: ArrayLike = 1) -> np.ndarray:
    """Mean number of the round in which a period's first loss falls, E[X], equation 28.

    Parameters as `mean_window`.

    Examples
    --------
    >>> round(float(mean_rounds(1, 0.5, 0.01)), 3)
    8.639
    """
    alpha, beta, p, b = (
        positive("alpha", alpha),
        fraction("beta", beta),
        fraction("p", p),
        _packets_per_ack(b),
    )
    half = (alpha + b * (1 - beta)) / (2 * alpha * (1 + beta))
    return half + np.sqrt(half**2 + 2 * b * (1 - beta) / (alpha * (1 + beta)) * (1 - p) / p)


def timeout_probability(window: ArrayLike, p: ArrayLike) -> np.ndarray:
    """Probability that a loss in a window ends in a timeout, Q, equation 45.

    Parameters
    ----------
    window : array_like
        Packets; 1 up to a window of 3.
    p : array_like
        Loss rate.

    Examples
    --------
    For small p it is 3 / w, equation 46:

    >>> timeout_probability([2, 30], 1e-6).round(4).tolist()
    [1.0, 0.1]
    """
    window, p = positive("window", window), fraction("p", p)
    arrives = 1 - p
    with np.errstate(over="ignore"):
        # A window below 3 would give a power that grows; the minimum takes it.
        again = 1 + arrives**3 * (1 - arrives ** (window - 3))
    # expm1: 1 - (1 - p)^w keeps its digits where p is small.
    lost = -np.expm1(window * np.log1p(-p))
    return np.where(window <= 3, 1.0, np.minimum(1.0, -np.expm1(3 * np.log1p(-p)) * again / lost))


def timeout_series(p: ArrayLike) -> np.ndarray:
    """Mean duration of a sequence of timeouts, E[Z^TO], in units of T0, equations 54 and 56.

    Each retransmission that is lost doubles the timeout, up to 64 T0.

    Examples
    --------
    >>> timeout_series([1e-9, 0.5]).round(6).tolist()
    [1.0, 8.0]
    """
    p = fraction("p", p)
    return (1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6) / (1 - p)


def rate(
    alpha: ArrayLike,
    beta: ArrayLike,
    p: ArrayLike,
    *,
    rtt: ArrayLike,
    rto: ArrayLike,
    b: ArrayLike = 1,
    simple: bool = False,
) -> np.ndarray:
    """Give the sending rate, equation 55: the full one.

    Parameters
    ----------
    alpha, beta, p, b : array_like
        As in `mean_window`.
    rtt : array_like
        Mean round trip, seconds.
    rto : array_like
        T0, mean duration of a first timeout, seconds.
    simple : bool
        Take ``min(1, 3 / w)`` for Q (equation 47) in place of equation 45.

    Returns
    -------
    ndarray
        Packets per second.

    Examples
    --------
    >>> round(float(rate(1, 0.5, 0.01, rtt=0.1, rto=0.4)), 2)
    110.96
    """
    rtt, rto, p = positive("rtt", rtt), positive("rto", rto), fraction("p", p)
    window, rounds = mean_window(alpha, beta, p, b), mean_rounds(alpha, beta, p, b)
    timeouts = np.minimum(1.0, 3 / window) if simple else timeout_probability(window, p)
    packets = (1 - p) / p + window + timeouts / (1 - p)
    return packets / (rtt * (rounds + 1) + timeouts * rto * timeout_series(p))


def rate_without_timeouts(
    alpha: ArrayLike, beta: ArrayLike, p: ArrayLike, *, rtt: ArrayLike, b: ArrayLike = 1
) -> np.ndarray:
    """Give the sending rate where every loss is found by duplicate ACKs, equation 33.

    Parameters as `rate`.

    Examples
    --------
    >>> round(float(rate_without_timeouts(1, 0.5, 0.01, rtt=0.1)), 2)
    120.63
    """
    p = fraction("p", p)
    packets = (1 - p) / p + mean_window(alpha, beta, p, b)
    return packets / (positive("rtt", rtt) * (mean_rounds(alpha, beta, p, b) + 1))


def duplicate_term(
    alpha: ArrayLike, beta: ArrayLike, p: ArrayLike, *, rtt: ArrayLike, b: ArrayLike = 1
) -> np.ndarray:
    """Part TD of the denominator of equation 2, equation 3: seconds per packet without timeouts.

    Examples
    --------
    >>> round(1 / float(duplicate_term(1, 0.5, 0.01, rtt=0.1)), 2)    # sqrt(1.5 / p) / RTT
    122.47
    """
    alpha, beta, p, b = (
        positive("alpha", alpha),
        fraction("beta", beta),
        fraction("p", p),
        _packets_per_ack(b),
    )
    return positive("rtt", rtt) * np.sqrt(2 * b * (1 - beta) / (alpha * (1 + beta)) * p)


def timeout_term(
    alpha: ArrayLike, beta: ArrayLike, p: ArrayLike, *, rto: ArrayLike, b: ArrayLike = 1
) -> np.ndarray:
    """Part TO of the denominator of equation 2, equation 4: seconds per packet spent in timeouts.

    Examples
    --------
    >>> round(float(timeout_term(1, 0.5, 0.01, rto=0.4)), 6)
    0.000737
    """
    alpha, beta, p, b = (
        positive("alpha", alpha),
        fraction("beta", beta),
        fraction("p", p),
        _packets_per_ack(b),
    )
    timeouts = np.minimum(1.0, 3 * np.sqrt((1 - beta**2) * b / (2 * alpha) * p))
    return positive("rto", rto) * timeouts * p * (1 + 32 * p**2)


def rate_approximation(
    alpha: ArrayLike,
    beta: ArrayLike,
    p: ArrayLike,
    *,
    rtt: ArrayLike,
    rto: ArrayLike,
    b: ArrayLike = 1,
) -> np.ndarray:
    """Give the sending rate, equation 2 (57 in the appendix).

    What TCP-friendly parameters are derived from.

    Parameters as `rate`. With (1, 1/2) it is the approximate formula of Padhye et al. [2]_.

    Examples
    --------
    >>> round(float(rate_approximation(1, 0.5, 0.01, rtt=0.1, rto=0.4)), 2)
    112.33
    """
    duplicates = duplicate_term(alpha, beta, p, rtt=rtt, b=b)
    return 1 / (duplicates + timeout_term(alpha, beta, p, rto=rto, b=b))


def square_root_rate(
    alpha: ArrayLike, beta: ArrayLike, p: ArrayLike, *, rtt: ArrayLike, b: ArrayLike = 1
) -> np.ndarray:
    """Leading term for small p without timeouts, equation 34.

    ``sqrt(3 / (2 b p)) / RTT`` with (1, 1/2).

    Examples
    --------
    >>> round(float(square_root_rate(1, 0.5, 0.01, rtt=0.1)), 2)
    122.47
    """
    return 1 / duplicate_term(alpha, beta, p, rtt=rtt, b=b)


def independent_loss_rate(
    alpha: ArrayLike, beta: ArrayLike, p: ArrayLike, *, rtt: ArrayLike, b: ArrayLike = 1
) -> np.ndarray:
    """Give the sending rate where each packet is lost independently, exact where windows are large.

    Equation 34 puts a loss after every 1 / p packets. With independent losses their number is
    exponential, E. The square of the window at a loss is then ``2 alpha / (b p) (E_0 + beta^2 E_1 +
    beta^4 E_2 + ...)``, as a square grows in proportion to the packets sent; packets see the window
    that losses see, and the mean of 1 / w over them is a round trip's length per packet. That mean
    is an integral of Ramanujan's (the q-analogue of gamma's), which gives

        sqrt(2 alpha / (pi b p)) / RTT  x  product over k >= 1 of (1 - beta^(2k)) / (1 - beta^(2k -
        1)).

    With (1, 1/2) it is the 1.3098 / sqrt(p) of Ott, Kemperman and Mathis [3]_, 1.07 times equation
    34.

    Parameters
    ----------
    alpha, beta, p, rtt, b : array_like
        As `rate`.

    Returns
    -------
    ndarray
        Packets per second.

    Examples
    --------
    >>> round(float(independent_loss_rate(1, 0.5, 1e-4, rtt=1)), 2)
    130.98
    """
    alpha, beta, p, b = (
        positive("alpha", alpha),
        fraction("beta", beta),
        fraction("p", p),
        _packets_per_ack(b),
    )
    # As many factors as differ from 1: beta^(2k) is below the rounding of 1 from there on.
    most = int(min(1e6, np.ceil(np.log(1e-17) / np.log(np.max(beta)) / 2)))
    powers = beta[..., None] ** np.arange(1, 2 * most + 1)
    product = np.exp(np.sum(np.log1p(-powers[..., 1::2]) - np.log1p(-powers[..., ::2]), axis=-1))
    return np.sqrt(2 * alpha / (np.pi * b * p)) * product / positive("rtt", rtt)
