"""Multi-rate AIMD: the increase a grows by a' per round trip, and is cut with the window [1]_.

Equation 1 once a round trip: ``a <- a + a'``, then ``w <- w + a``. On a loss ``w <- w - b w`` and
``a <- a - b a`` (equation 2). The signal of the synchronous model is a loss; the rule's answer to a
mark (a' becomes a'_ecn, the window stays) is not part of it, and a'_ecn is for the notation only.
`cwndlab.theory.growth` has the growth ACK by ACK, and the paper's printed form of equation 1.

References
----------
.. [1] I. Psaras, M. Dianati, R. Tafazolli, "Why rely on blind AIMDs?", 2009.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cwndlab.theory import checks


@dataclass(frozen=True)
class MultiRate:
    """The rule of one flow.

    Parameters
    ----------
    a : float
        First increase, packets per round trip.
    acceleration : float
        a': growth of the increase per round trip, packets per round trip.
    marked : float
        a'_ecn: the same after a mark.
    b : float
        Decrease of window and increase on a loss, as a share.
    text : str
        Notation; by default ``MRAIMD(...)``.

    Examples
    --------
    >>> from cwndlab import theory
    >>> course = theory.simulate("MRAIMD(1, 0.5, 0.005, 0.5)", [20], capacity=100, steps=3)
    >>> course.loads[:, 0].tolist()
    [20.0, 21.5, 23.5, 26.0]
    """

    a: float = 1.0
    acceleration: float = 0.5
    marked: float = 0.005
    b: float = 0.5
    text: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        checks.positive("a", self.a)
        checks.within(
            "acceleration",
            [self.acceleration, self.marked],
            "0 or above",
            above=np.nextafter(0, -1),
        )
        checks.fraction("b", self.b)
        if not self.text:
            values = f"{self.a:g}, {self.acceleration:g}, {self.marked:g}, {self.b:g}"
            object.__setattr__(self, "text", f"MRAIMD({values})")

    def controller(self, count: int) -> MultiRateController:
        """Make the controller of `count` flows, each with the first increase."""
        return MultiRateController(self, count)


class MultiRateController:
    """The increase of each of several flows."""

    def __init__(self, rule: MultiRate, count: int) -> None:
        self.rule: MultiRate = rule
        self.increases: np.ndarray = np.full(count, float(rule.a))

    def increase(self, loads: np.ndarray, flows: np.ndarray) -> np.ndarray:
        """Return loads after a round trip without congestion."""
        return loads + self.increases[flows] + self.rule.acceleration

    def grew(self, flows: np.ndarray, part: float) -> None:
        """Let the increases grow, for this part of a round trip."""
        self.increases[flows] += part * self.rule.acceleration

    def decrease(self, loads: np.ndarray, flows: np.ndarray) -> np.ndarray:
        """Return loads after a loss; the increases fall with them."""
        self.increases[flows] *= 1 - self.rule.b
        return loads * (1 - self.rule.b)

    def calculated(self, flows: np.ndarray) -> np.ndarray:
        """Return NaN for each: such a rule has no estimate."""
        return np.full(len(flows), np.nan)
