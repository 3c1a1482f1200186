"""Response function of CUBIC, from RFC 9438 [1]_.

References
----------
.. [1] L. Xu, S. Ha, I. Rhee, V. Goel, L. Eggert (ed.), "CUBIC for Fast and Long-Distance Networks",
   RFC 9438, 2023, sections 5.1 and 5.2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cwndlab.theory import checks


def mean_window(p: ArrayLike, *, rtt: ArrayLike, c: float = 0.4, beta: float = 0.7) -> np.ndarray:
    """Mean window under losses at equal distances: the larger of both regions' (section 5.1).

    Parameters
    ----------
    p : array_like
        Loss events per packet, in (0, 1).
    rtt : array_like
        Round-trip time, seconds.
    c : float
        Constant C, packets per second cubed.
    beta : float
        Factor of the decrease, in (0, 1).

    Returns
    -------
    ndarray
        Packets; the shape of `p` and `rtt` broadcast.

    Examples
    --------
    The RFC's table for an RTT of 0.1 s: where Reno's window is the larger one, CUBIC has it.

    >>> mean_window([1e-2, 1e-4, 1e-6], rtt=0.1).round().tolist()
    [12.0, 187.0, 5926.0]
    """
    losses, times = checks.fraction("p", p), checks.positive("rtt", rtt)
    factor = checks.fraction("beta", beta)
    # Section 5.1, equation 6: of the concave and convex region.
    scale = (checks.positive("c", c) * (3.0 + factor) / (4.0 * (1.0 - factor))) ** 0.25
    cubic = scale * (times / losses) ** 0.75
    # Section 4.3: the Reno-friendly region has the mean window of Reno, sqrt(3 / (2 p)).
    return np.maximum(cubic, np.sqrt(1.5 / losses))


def rate(p: ArrayLike, *, rtt: ArrayLike, c: float = 0.4, beta: float = 0.7) -> np.ndarray:
    """Rate of sending under losses at equal distances, without timeouts.

    Parameters
    ----------
    p : array_like
        Loss events per packet, in (0, 1).
    rtt : array_like
        Round-trip time, seconds.
    c, beta : float
        As for `mean_window`.

    Returns
    -------
    ndarray
        Packets per second.

    Examples
    --------
    >>> float(rate(1e-6, rtt=0.1).round())
    59261.0
    """
    return mean_window(p, rtt=rtt, c=c, beta=beta) / checks.positive("rtt", rtt)
