"""Section 2 of the paper by the synchronous model.

Results of its step algorithm, exact and in whole steps.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from cwndlab import theory
from cwndlab.theory import Bimodal, Join, Leave, Rule, Trajectory

CAPACITIES = (100.0, 333.0, 1000.0)
"""B, packets; 333 is no multiple of any number of flows but 3."""
FLOWS = (2, 5, 10)
EPSILONS = (1 / 2, 1 / 3, 1 / 8)
BETA = 0.5
STEPS = 2000
LONG = 4000
"""Steps of courses that flows join, which settle late."""
CHANGE_STEP = 400
JOINING = (1, 2, 5, 10, 20)
"""Flows that join ten in equilibrium."""
TOLERANCE = 1e-9
SETTLED = 0.05
"""Fairness spread at which the gap between flows counts as closed."""


def starts(flows: int, capacity: float) -> np.ndarray:
    """First loads, packets: far apart, their sum below the capacity."""
    return np.linspace(1.0, 1.8 * capacity / flows, flows)


def weights(flows: int) -> np.ndarray:
    """Increments of flows that shall have unequal shares: 1, 2, 3, 1, ..."""
    return 1.0 + np.arange(flows) % 3


@functools.lru_cache(maxsize=512)
def course(
    text: str, flows: int, capacity: float, *, exact: bool = True, compare: str = "fair",
    band: float = 0.0,
    weighted: bool = False, joining: int = 0, leaving: int = 0, epsilon: float = 1 / 8,
    steps: int = STEPS,
) -> Trajectory:  # fmt: skip
    """Step flows of a rule, ``"Bimodal"`` or a notation.

    `joining` more come, or `leaving` go, at `CHANGE_STEP`.
    """
    alphas = weights(flows) if weighted else np.ones(flows)
    rules: Sequence[Rule | str] = [text] * flows
    if text == "Bimodal":
        rules = [Bimodal(alpha, BETA, epsilon, compare=compare, band=band) for alpha in alphas]
    changes: list[Join | Leave] = []
    if joining:
        changes.append(Join(CHANGE_STEP, np.ones(joining)))
    if leaving:
        changes.append(Leave(CHANGE_STEP, range(leaving)))
    return theory.simulate(
        rules, starts(flows, capacity), capacity=capacity, steps=steps, changes=changes, exact=exact
    )


def grid() -> Iterator[tuple[int, float]]:
    """Return every number of flows with every capacity."""
    return itertools.product(FLOWS, CAPACITIES)


def after(found: Trajectory, step: int = CHANGE_STEP) -> np.ndarray:
    """Tell which of the signals that flows answered came at `step` or later."""
    return found.signals[found.signals + 1 < len(found.loads)] >= step


def cycles_to_know(found: Trajectory) -> int:
    """Congestion signals until every flow knows a fair share."""
    known, _ = found.share_errors()
    return int(np.argmax(known == 1)) + 1 if (known == 1).any() else len(known)


def cycles_after_join(found: Trajectory) -> tuple[int, bool]:
    """Count congestion signals from a join until every flow knows its share to 1e-9 for good.

    Returns
    -------
    (int, bool)
        Their number, and whether it is only a lower bound: all signals there were.
    """
    known, errors = found.share_errors()
    late = after(found)
    wrong = np.flatnonzero(~((known[late] == 1) & (errors[late] <= TOLERANCE)))
    count = int(wrong[-1]) + 1 if len(wrong) else 0
    return count + (count < late.sum()), bool(count == late.sum())


def steps_to_settle(found: Trajectory, step: int = 0) -> tuple[float, bool]:
    """Round trips after `step` until the spread stays at most 0.05; True for a lower bound."""
    settled = found.convergence_time(SETTLED)
    begin = float(found.times[step])
    return (
        (float(found.times[-1]) - begin, True)
        if settled is None
        else (max(settled - begin, 0.0), False)
    )


def oscillation(found: Trajectory) -> float:
    """Length of the last oscillation.

    Load given up on congestion, as a share of the load before.
    """
    last = found.signals[found.signals + 1 < len(found.loads)][-1]
    return float(1 - found.totals[last + 1] / found.totals[last])
