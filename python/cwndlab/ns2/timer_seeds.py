"""Offsets of timers within a tick: ns-2 draws them, so a script names the seed that draws one."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

SEEDS = 2**18
"""Seeds of which one is chosen for the phase of a timer."""
SEED_OF_ZERO = 143581
"""The seed of these whose first number is nearest to 0; ``network.tcl`` takes it by default."""


def timer_seed(fraction: float) -> int:
    """Return the seed whose first number is nearest to a fraction of a tick.

    Examples
    --------
    >>> timer_seed(1e-12) == SEED_OF_ZERO, abs(first_number(timer_seed(0.5)) - 0.5) < 1e-5
    (True, True)
    """
    if fraction == 0.0:
        return SEED_OF_ZERO
    numbers, seeds = _by_first_number()
    above = int(np.searchsorted(numbers, fraction))
    near = numbers[max(above - 1, 0) : above + 1]
    nearest = near[np.abs(near - fraction).argmin()]
    return int(seeds[np.searchsorted(numbers, nearest)])


@functools.cache
def _by_first_number() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the first numbers of all seeds in ascending order, and their seeds."""
    seeds = np.arange(1, SEEDS)
    numbers = _first_numbers(seeds)
    order = np.argsort(numbers, kind="stable")
    return numbers[order], seeds[order]


def first_number(seed: int) -> float:
    """Return the first number that ns-2's generator draws from a seed.

    Examples
    --------
    >>> f"{first_number(1):.5e} {first_number(SEED_OF_ZERO):.5e}"
    '3.39577e-04 3.46918e-08'
    """
    return float(_first_numbers(np.array([seed]))[0])


def _first_numbers(seeds: NDArray[np.int64]) -> NDArray[np.float64]:
    """Draw one number from each seed: MRG32k3a, whose state has the seed six times (L'Ecuyer 1999).

    "Good parameters and implementations for combined multiple recursive random number generators",
    Operations Research 47(1), figure I.
    """
    modulus, other = 4294967087, 4294944443
    first = (1403580 - 810728) * seeds % modulus
    second = (527612 - 1370589) * seeds % other
    return ((first - second - 1) % modulus + 1) / (modulus + 1)
