"""Window growth of MR-AIMD without congestion: the increase a grows itself, by a' [1]_.

Equation 1 of the paper, whose typesetting is lost, adds ``a' / cwnd`` to a with every ACK and then
``a / cwnd`` to cwnd. Read per round trip, that is ``a += a'`` and ``w += a``. Equation 3 as printed
differs: ``a_n = a_(n-1) + a' n``. `LAWS` names the three readings.

References
----------
.. [1] I. Psaras, M. Dianati, R. Tafazolli, "Why rely on blind AIMDs?", 2009.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from cwndlab.message import invalid, plural, unknown
from cwndlab.theory import checks

LAWS = {
    "per round trip": "equation 1 once a round trip: a += a', then w += a",
    "per ACK": "equation 1 with each ACK: a += a' / w, then w += a / w; a round trip brings "
    "floor(w) ACKs",
    "equation 3": "as printed: a_n = a_(n-1) + a' n, w += a_n",
}


def windows(
    start: float,
    rounds: int,
    *,
    a: float = 1.0,
    acceleration: float = 0.5,
    law: str = "per round trip",
) -> np.ndarray:
    """Window after each round trip without congestion.

    Parameters
    ----------
    start : float
        First window, packets.
    rounds : int
        Round trips.
    a : float
        First increase, packets per round trip. The paper gives its initial value as 1 and as 0.5.
    acceleration : float
        a': 0.5 in the paper, 0.005 after an ECN mark; 0 is AIMD(a).
    law : str
        A key of `LAWS`.

    Returns
    -------
    ndarray, shape (rounds + 1,)
        Packets, the first window included.

    Examples
    --------
    >>> windows(20, 3).tolist(), windows(20, 3, law="equation 3").tolist()
    ([20.0, 21.5, 23.5, 26.0], [20.0, 21.5, 24.0, 28.0])
    """
    checks.whole("rounds", rounds, 0, 100_000)
    course = _course(start, a, acceleration, law)
    return np.array([next(course) for _ in range(rounds + 1)])


def rounds_to(
    start: float,
    target: float,
    *,
    most: int = 10_000,
    a: float = 1.0,
    acceleration: float = 0.5,
    law: str = "per round trip",
) -> int:
    """Round trips until the window is `target` packets or more; other keywords as `windows`.

    Examples
    --------
    >>> rounds_to(20, 40), rounds_to(20, 40, law="per ACK"), rounds_to(20, 40, law="equation 3")
    (7, 8, 5)
    >>> rounds_to(20, 40, acceleration=0)
    20
    """
    course = _course(start, a, acceleration, law)
    for rounds in range(most + 1):
        if next(course) >= target:
            return rounds
    raise ValueError(
        f"target: {target:g} is not valid: expected a window that is reached in "
        f"{plural(most, 'round trip')}"
    )


def _course(start: float, a: float, acceleration: float, law: str) -> Iterator[float]:
    window = float(checks.positive("start", start))
    checks.positive("a", a)
    if not 0 <= acceleration < np.inf:
        raise ValueError(invalid("acceleration", acceleration, "0 or above"))
    if law not in LAWS:
        raise ValueError(unknown("law", law, LAWS))
    for n in itertools.count(1):
        yield window
        if law == "per ACK":
            for _ in range(max(1, int(window))):
                a += acceleration / window
                window += a / window
        else:
            a += acceleration * (n if law == "equation 3" else 1)
            window += a
