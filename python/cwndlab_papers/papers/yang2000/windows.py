"""Figure 12 of yang2000: windows of (0.31, 0.875) and TCP with equal RTTs, without timeouts.

Chiu and Jain's model, which the paper refers to, has both flows lose at once. In another one, one
flow loses at a time, each with a probability in proportion to its window: as where losses are rare
and packets alike.
"""

from __future__ import annotations

import functools

import numpy as np

from cwndlab import theory
from cwndlab_papers import Claim, Data

RULES = ("GAIMD(0.31, 0.875)", "AIMD(1, 0.5)")
STARTS = (10.0, 60.0)
CAPACITY = 100.0
STEPS = 20_000
SYNCHRONOUS, ALONE = "synchronous", "alone"


@functools.cache
def course(model: str = SYNCHRONOUS) -> np.ndarray:
    """Windows of both flows, packets, shape (steps + 1, 2); a step is a round trip."""
    if model == SYNCHRONOUS:
        return theory.simulate(RULES, STARTS, capacity=CAPACITY, steps=STEPS).loads
    stream = np.random.default_rng(1)
    rules = [theory.parse_linear(rule) for rule in RULES]
    windows = np.empty((STEPS + 1, 2))
    windows[0] = STARTS
    for step in range(STEPS):
        now = windows[step]
        if now.sum() < CAPACITY:
            windows[step + 1] = now + [rule.ai for rule in rules]
        else:
            loses = int(stream.random() >= now[0] / now.sum())
            windows[step + 1] = now
            windows[step + 1, loses] *= rules[loses].bd
    return windows


def settled(claim: Claim) -> np.ndarray:
    """Windows of the second half of the course."""
    return course(claim.arguments.get("model", SYNCHRONOUS))[STEPS // 2 :]


def crossings(_data: Data, claim: Claim) -> float:
    """Count the changes of sign of the windows' difference."""
    own, other = settled(claim).T
    signs = np.sign(own - other)
    return float(np.sum(signs[1:] != signs[:-1]))


def swing_of_difference(_data: Data, claim: Claim) -> float:
    """Range of the windows' difference over the mean window."""
    own, other = settled(claim).T
    return float(np.ptp(own - other) / settled(claim).mean())


def difference_of_mean_windows(_data: Data, claim: Claim) -> float:
    """Relative difference of the mean windows."""
    own, other = settled(claim).mean(axis=0)
    return abs(float(own / other) - 1)


def ratio_of_ranges(_data: Data, claim: Claim) -> float:
    """Middle 95 % of GAIMD's window over that of TCP's."""
    low, high = np.percentile(settled(claim), [2.5, 97.5], axis=0)
    own, other = high - low
    return float(own / other)
