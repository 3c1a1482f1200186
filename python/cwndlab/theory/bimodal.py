"""Bimodal congestion avoidance.

Each flow calculates its fair share from the growth of its window between two signals.

The step algorithm is figure 1 of the paper [1]_, on arrays of flows. While the fair share is
unknown a flow does AIMD; at the second congestion signal since the mode changed it takes ``(a - bc)
/ beta`` for its fair share, where bc is its load after the first. While it is known the flow falls
to ``(1 - epsilon) fair`` only, and looks at the load a at which congestion came: earlier than the
fair share means that flows have joined (AIMD again), later that flows have left (a is the new fair
share). Weights are increments: a flow that adds alpha_f a step has the fair share ``p_f B = alpha_f
B / sum(alpha)``.

References
----------
.. [1] P. C. Attie, A. Lahanas, V. Tsaoussidis, "Beyond AIMD: explicit fair-share calculation",
   IEEE ISCC, 2003.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from cwndlab.message import invalid, unknown
from cwndlab.theory import checks

COMPARISONS = ("fair", "margin")
ROUNDING = 1e-9
"""Relative difference below which loads are equal: the paper compares real numbers."""


@dataclass(frozen=True)
class Bimodal:
    """The rule of one flow.

    Parameters
    ----------
    alpha : float
        Load added per round trip; its ratio to the other flows' is the flow's weight.
    beta : float
        Decrease on congestion while the fair share is unknown: the factor is 1 - beta.
    epsilon : float
        Decrease on congestion while it is known.
    compare : {"fair", "margin"}
        Reference of the load at congestion: the fair share, as in the paper's pseudo-code, or (1 -
        epsilon) of it, as in its prose.
    band : float
        Dead band in packets: a load at congestion within it of the reference counts as equal. The
        paper has none.

    Examples
    --------
    >>> Bimodal(1, 0.5, 0.125).text
    'Bimodal(1, 0.5, 0.125)'
    """

    alpha: float = 1.0
    beta: float = 0.5
    epsilon: float = 0.125
    compare: str = "fair"
    band: float = 0.0
    text: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        checks.positive("alpha", self.alpha)
        checks.fraction("beta", self.beta)
        checks.fraction("epsilon", self.epsilon)
        if self.compare not in COMPARISONS:
            raise ValueError(unknown("compare", self.compare, COMPARISONS))
        if not 0 <= self.band < np.inf:
            raise ValueError(invalid("band", self.band, "0 packets or above"))
        if not self.text:
            object.__setattr__(
                self, "text", f"Bimodal({self.alpha:g}, {self.beta:g}, {self.epsilon:g})"
            )

    def controller(self, count: int) -> BimodalController:
        """Make the controller of `count` flows, none of which knows its fair share."""
        return BimodalController(self, count)


class BimodalController:
    """Figure 1 of the paper for several flows; names of the state as in its table 1."""

    def __init__(self, rule: Bimodal, count: int) -> None:
        self.rule: Bimodal = rule
        self.known: np.ndarray = np.zeros(count, dtype=bool)
        self.cc: np.ndarray = np.zeros(count, dtype=bool)
        self.bc: np.ndarray = np.zeros(count)
        self.fair: np.ndarray = np.full(count, np.nan)

    def increase(self, loads: np.ndarray, _flows: np.ndarray) -> np.ndarray:
        """Return loads after a step without congestion: both modes add alpha."""
        return loads + self.rule.alpha

    def grew(self, _flows: np.ndarray, _part: float) -> None:
        """Do nothing: only signals change a flow's estimate."""

    def decrease(self, loads: np.ndarray, flows: np.ndarray) -> np.ndarray:
        """Return loads after a congestion signal."""
        rule = self.rule
        known, counted = self.known[flows], self.cc[flows]
        with np.errstate(invalid="ignore"):
            side = self._side(loads, self.fair[flows])
        # Fair share unknown, second signal since the mode changed: calculate it. The first one
        # begins a cycle.
        found = ~known & counted
        first = ~known & ~counted
        # Known: too early, so that flows have joined; too late, so that flows have left; or
        # neither.
        early, late = known & (side < 0), known & (side > 0)
        fair = np.where(found, (loads - self.bc[flows]) / rule.beta, self.fair[flows])
        fair = np.where(late, loads, fair)
        fell = first | early
        new = np.where(fell, loads * (1 - rule.beta), fair * (1 - rule.epsilon))
        self.fair[flows] = fair
        self.bc[flows] = np.where(first | found, new, self.bc[flows])
        self.cc[flows] = (counted | first) & ~early
        self.known[flows] = (known | found) & ~early
        return new

    def calculated(self, flows: np.ndarray) -> np.ndarray:
        """Fair shares as the flows estimate them, NaN without an estimate."""
        return np.where(self.known[flows], self.fair[flows], np.nan)

    def _side(self, loads: np.ndarray, fair: np.ndarray) -> np.ndarray:
        """Return -1 for early congestion, 1 for late congestion, 0 otherwise."""
        reference = fair if self.rule.compare == "fair" else fair * (1 - self.rule.epsilon)
        near = np.abs(loads - reference) <= np.maximum(self.rule.band, ROUNDING * np.abs(reference))
        return np.where(near, 0.0, np.sign(loads - reference))


def fair_shares(alphas: ArrayLike, capacity: float) -> np.ndarray:
    """Proportional fair shares ``p_f B`` (section 2.2 of [1]_); equal increments give ``B / n``.

    Parameters
    ----------
    alphas : array_like, shape (n,)
        Increment of each flow.
    capacity : float
        B, in the unit of the loads.

    Returns
    -------
    ndarray, shape (n,)

    Examples
    --------
    >>> fair_shares([1, 1, 2], 100)
    array([25., 25., 50.])
    """
    weights = checks.positive("alphas", alphas)
    return weights / weights.sum() * checks.positive("capacity", capacity)


def efficiency(reduction: float) -> float:
    """Mean load over capacity in equilibrium (section 2.2 of [1]_).

    ``1 - epsilon / 2``, ``1 - beta / 2`` for AIMD.

    Parameters
    ----------
    reduction : float
        Decrease on congestion as a share of the load, epsilon or beta.

    Examples
    --------
    >>> efficiency(1 / 8), efficiency(1 / 2)
    (0.9375, 0.75)
    """
    return 1 - float(checks.fraction("reduction", reduction)) / 2
