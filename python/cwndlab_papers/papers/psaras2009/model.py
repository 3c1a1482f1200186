"""What the paper says by arithmetic.

Areas under sawtooths (section 2.1), growth of the window (section 4.4).
"""

from __future__ import annotations

import functools

from cwndlab import theory
from cwndlab.theory import Trajectory, growth

CAPACITY = 40.0
"""Packets, of figure 1's sawtooths; any other gives the same ratios."""
STEPS = 2000
FIRST_WINDOW = 20.0
"""Packets, section 4.4."""


@functools.cache
def sawtooth(increase: float) -> Trajectory:
    """Window of one flow of AIMD(a, 0.5) that is cut exactly at the capacity, from half of it."""
    return theory.simulate(
        f"AIMD({increase:g}, 0.5)", [CAPACITY / 2], capacity=CAPACITY, steps=STEPS, exact=True
    )


def events_per_round_trip(increase: float) -> float:
    """Congestion events per round trip over whole cycles."""
    course = sawtooth(increase)
    first, last = course.signals[0], course.signals[-1]
    return float((len(course.signals) - 1) / (course.times[last] - course.times[first]))


def rounds_to_double(law: str, acceleration: float) -> int:
    """Round trips from 20 packets to 40 without congestion."""
    return growth.rounds_to(FIRST_WINDOW, 2 * FIRST_WINDOW, acceleration=acceleration, law=law)
