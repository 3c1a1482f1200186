"""Steady state of linear rules: window, and convergence of all flows to it.

Section 5.1 of the paper [1]_: over a cycle of kI increases and then kD decreases the window maps to
``alpha + beta w`` with ``alpha = aD sum(bD^j, j < kD) + aI bD^kD sum(bI^j, j < kI)`` and ``beta =
bD^kD bI^kI``. The steady window ``alpha / (1 - beta)`` is the one after the decreases. The
difference between two flows is multiplied by beta over each cycle; the paper says only that beta
other than 1 leaves a single steady window, but flows come to it only where beta is below 1. Because
the window is positive, that is where alpha is positive.

References
----------
.. [1] A. Akella, S. Seshan, S. Shenker, I. Stoica, "Exploring congestion control", CMU-CS-02-139,
   2002.
.. [2] D.-M. Chiu, R. Jain, "Analysis of the increase and decrease algorithms for congestion
   avoidance in computer networks", Computer Networks and ISDN Systems 17, 1989.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cwndlab.theory import checks
from cwndlab.theory.rules import Linear
from cwndlab.theory.sync import Trajectory, simulate

RECURS = 1e-9
"""Relative difference below which windows are equal."""


class Cycle(NamedTuple):
    """The map ``w -> alpha + beta w`` of one cycle, or of several."""

    alpha: float
    beta: float

    @property
    def window(self) -> float:
        """Steady window after the decreases, in packets.

        NaN where every window is steady or none is.
        """
        return self.alpha / (1 - self.beta) if self.beta != 1 else float("nan")

    def then(self, later: Cycle) -> Cycle:
        """Return the map of this cycle and then another."""
        return Cycle(later.alpha + later.beta * self.alpha, later.beta * self.beta)


def cycle(rule: Linear, increases: int, decreases: int = 1) -> Cycle:
    """Return the closed form of a cycle of increases, then decreases (section 5.1 of [1]_).

    Parameters
    ----------
    rule : Linear
        The rule.
    increases, decreases : int
        kI and kD.

    Examples
    --------
    Two AIMAD flows on 100 packets: from 100 down to 0.9 x 100 - 2 = 88, and six times 2 up again.

    >>> from cwndlab.theory import parse
    >>> found = cycle(parse("AIMAD"), 6)
    >>> round(found.alpha, 9), found.beta, round(found.window, 9)
    (4.4, 0.9, 44.0)
    """
    checks.whole("increases", increases, 0, 10**6)
    checks.whole("decreases", decreases, 0, 10**6)
    up, down = rule.bi ** np.arange(increases), rule.bd ** np.arange(decreases)
    fallen = float(rule.bd) ** decreases
    return Cycle(
        float(rule.ad * down.sum() + rule.ai * fallen * up.sum()),
        fallen * float(rule.bi) ** increases,
    )


class Condition(NamedTuple):
    """Whether a rule is fair in the synchronous model."""

    verdict: str
    """``"fair"``, ``"any division stays"``, ``"unstable"`` or ``"depends"`` (on the capacity)."""
    reason: str


def condition(rule: Linear) -> Condition:
    """Derive from the parameters whether flows converge to equal windows.

    Parameters
    ----------
    rule : Linear
        With increases that increase and decreases that decrease: ``ai >= 0``, ``bi >= 1``, ``ad <=
        0``, ``bd <= 1``.

    Examples
    --------
    >>> from cwndlab.theory import parse
    >>> [condition(parse(text)).verdict for text in ("AIMAD", "AIAD(1, 3)", "MIAD(1.125, 3)")]
    ['fair', 'any division stays', 'unstable']
    """
    ai, bi, ad, bd = rule.ai, rule.bi, rule.ad, rule.bd
    if ai == 0 and ad == 0:
        return Condition("any division stays", "aI = aD = 0: ratios between flows never change")
    if bi == 1 and bd == 1:
        return Condition(
            "any division stays", "bI = bD = 1: differences between flows never change"
        )
    if ad == 0 or (ai > 0 and bi == 1):
        return Condition("fair", "beta < 1: differences between flows shrink in every cycle")
    if ai == 0 or bd == 1:
        return Condition("unstable", "beta > 1: differences between flows grow in every cycle")
    return Condition(
        "depends",
        "both parts on both sides: fair where the steady cycle has beta < 1, see the capacity",
    )


def chiu_jain_fair(rule: Linear) -> bool:
    """Conditions of [2]_ that suffice for fairness, as footnote 8 of [1]_ quotes them.

    AD = 0, 0 <= bD < 1, aI > 0, bI >= 1.

    Examples
    --------
    >>> from cwndlab.theory import parse
    >>> chiu_jain_fair(parse("AIMD(1, 0.5)")), chiu_jain_fair(parse("AIMAD"))
    (True, False)
    """
    return rule.ad == 0 and 0 <= rule.bd < 1 and rule.ai > 0 and rule.bi >= 1


@dataclass(frozen=True)
class Settled:
    """Several flows of one rule after many steps, next to the closed form of their cycles.

    Attributes
    ----------
    trajectory : Trajectory
        The iteration.
    pattern : tuple of (int, int)
        Increases and decreases of the cycles that repeat, one pair a cycle; empty if none was
        found.
    cycle : Cycle or None
        Closed form of the whole pattern.
    windows : ndarray, shape (flows,)
        Iterated windows at the start of the pattern's last whole turn, after the decreases.
    """

    trajectory: Trajectory
    pattern: tuple[tuple[int, int], ...]
    cycle: Cycle | None
    windows: np.ndarray


def settle(
    rule: Linear,
    starts: Sequence[float] | np.ndarray,
    *,
    capacity: float,
    steps: int = 20_000,
    floor: float = 0.0,
) -> Settled:
    """Iterate flows until the pattern of feedback repeats, and compute its closed form.

    Parameters
    ----------
    rule : Linear
        Rule of all flows.
    starts : sequence of float, shape (n,)
        First windows, packets.
    capacity : float
        B in packets.
    steps : int
        Iterations.
    floor : float
        As in `cwndlab.theory.simulate`; at the floor the closed form does not hold.

    Examples
    --------
    >>> from cwndlab.theory import parse
    >>> found = settle(parse("AIMAD"), [5, 70], capacity=100)
    >>> found.pattern, found.windows.round(6).tolist()
    (((6, 1),), [44.0, 44.0])
    """
    course = simulate(rule, starts, capacity=capacity, steps=steps, floor=floor)
    lengths, begins = _cycles(course.congested)
    period = _period(lengths, course.loads[begins])
    if period == 0:
        return Settled(course, (), None, course.loads[-1])
    pattern = tuple((int(up), int(down)) for up, down in lengths[-period:])
    whole = Cycle(0.0, 1.0)
    for increases, decreases in pattern:
        whole = whole.then(cycle(rule, increases, decreases))
    return Settled(course, pattern, whole, course.loads[begins[-period]])


def _cycles(congested: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (increases, decreases) of each whole cycle, and the state each begins in."""
    # A state without congestion is followed by an increase. Cycles begin where increases follow
    # decreases.
    up = ~congested
    begins = np.flatnonzero(up[1:] & ~up[:-1]) + 1
    lengths = [(int(up[a:b].sum()), int((~up[a:b]).sum())) for a, b in itertools.pairwise(begins)]
    return np.array(lengths, dtype=int).reshape(-1, 2), begins[:-1]


def _period(lengths: np.ndarray, loads: np.ndarray) -> int:
    """Return the least number of cycles after which lengths and windows are the same again.

    0 if there is none.
    """
    for period in range(1, len(lengths) // 3 + 1):
        tail = lengths[-3 * period :]
        same = np.allclose(loads[-period:], loads[-2 * period : -period], rtol=RECURS, atol=RECURS)
        if same and (tail[period:] == tail[:-period]).all():
            return period
    return 0


class Bounds(NamedTuple):
    """Largest additive and smallest multiplicative parameters that keep to their kind."""

    most_ai: float
    most_ad: float
    least_mi: float
    most_md: float


def parameter_bounds(
    lowest_increment: float, lowest_decrement: float, change: float = 0.1
) -> Bounds:
    """Bounds of section 3.2 of [1]_.

    Additive steps below a tenth of the window, multiplicative ones above.

    Parameters
    ----------
    lowest_increment, lowest_decrement : float
        Smallest window that is ever increased, and decreased, in packets.
    change : float
        The part of a window that divides additive from multiplicative steps.

    Returns
    -------
    Bounds
        aI and aD at most (packets), bI - 1 at least, bD at most.

    Examples
    --------
    With a window of 30 packets (1 Mb/s x 120 ms of 1000 bytes, and as much again in the buffer):

    >>> parameter_bounds(30, 30)
    Bounds(most_ai=3.0, most_ad=3.0, least_mi=0.1, most_md=0.9)
    """
    checks.positive("lowest_increment", lowest_increment)
    checks.positive("lowest_decrement", lowest_decrement)
    checks.fraction("change", change)
    return Bounds(change * lowest_increment, change * lowest_decrement, change, 1 - change)
