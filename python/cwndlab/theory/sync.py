"""The synchronous model of Chiu and Jain: every flow gets the same binary feedback per step.

Time is divided into steps of a round trip. After each, the network says whether the sum of all
loads has reached the capacity B; if so every flow decreases, otherwise every flow increases. It has
no packets, no delays and no queue. With `exact`, the increase that would pass B ends when the sum
is B, as if loads grew continuously: congestion then occurs exactly at B, as proofs assume
(equations 1 and 2 of [2]_). Without, it occurs up to one step later.

References
----------
.. [1] D.-M. Chiu, R. Jain, "Analysis of the increase and decrease algorithms for congestion
   avoidance in computer networks", Computer Networks and ISDN Systems 17, 1989.
.. [2] P. C. Attie, A. Lahanas, V. Tsaoussidis, "Beyond AIMD: explicit fair-share calculation",
   IEEE ISCC, 2003.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from cwndlab.message import missing
from cwndlab.theory import checks
from cwndlab.theory.population import Join, Leave, Population
from cwndlab.theory.rules import Rule

MOST_STEPS = 1_000_000
ROUNDING = 1e-12
"""Relative difference below which the sum has reached B."""


@dataclass(frozen=True)
class Trajectory:
    """The states of `simulate`; axis 0 has one entry per state, steps + 1 in all.

    Attributes
    ----------
    times : ndarray, shape (steps + 1,)
        In steps, that is round trips. With `exact` the last increase before congestion takes part
        of a step and a decrease no time.
    loads : ndarray, shape (steps + 1, flows)
        NaN while a flow is absent.
    congested : ndarray of bool, shape (steps + 1,)
        Whether the sum of the loads has reached the capacity.
    calculated : ndarray, shape (steps + 1, flows)
        Fair shares as flows estimate them (Bimodal), NaN otherwise.
    rules : tuple of str
        Notation of each flow's rule.
    capacity : float
        B.
    exact : bool
        Whether congestion occurs exactly at B.
    """

    times: np.ndarray
    loads: np.ndarray
    congested: np.ndarray
    calculated: np.ndarray
    rules: tuple[str, ...]
    capacity: float
    exact: bool

    @property
    def totals(self) -> np.ndarray:
        """Sum of the loads in each state."""
        return np.nansum(self.loads, axis=1)

    @property
    def signals(self) -> np.ndarray:
        """Numbers of the states in which congestion was signalled."""
        return np.flatnonzero(self.congested)

    def jain_index(self, weights: ArrayLike | None = None) -> np.ndarray:
        """Jain's index ``(sum x)^2 / (n sum x^2)`` in each state, of loads over weights if any."""
        loads = self.loads if weights is None else self.loads / np.asarray(weights, dtype=float)
        count = np.sum(~np.isnan(loads), axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.nansum(loads, axis=1) ** 2 / (count * np.nansum(loads**2, axis=1))

    def spread(self) -> np.ndarray:
        """Fairness spread ``(largest - smallest) / mean`` in each state."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return (np.nanmax(self.loads, axis=1) - np.nanmin(self.loads, axis=1)) / np.nanmean(
                self.loads, axis=1
            )

    def efficiency(self, cycles: int | None = None) -> float:
        """Mean of the load that fits, ``min(X, B) / B``, over whole cycles.

        From after a signal to the last one.

        Parameters
        ----------
        cycles : int, optional
            Number of last cycles; by default all.

        Returns
        -------
        float
            NaN with fewer than two congestion signals. Without `exact` it is the mean over states,
            with `exact` the mean over time.
        """
        signals = self.signals
        if len(signals) < 2:
            return float("nan")
        first = signals[0 if cycles is None else max(0, len(signals) - 1 - cycles)] + 1
        fits = np.minimum(self.totals, self.capacity)[first : signals[-1] + 1] / self.capacity
        times = self.times[first : signals[-1] + 1]
        if not self.exact or times[-1] == times[0]:
            return float(fits.mean())
        # By trapezoids: a decrease takes no time and has no area.
        return float(np.sum((fits[1:] + fits[:-1]) / 2 * np.diff(times)) / (times[-1] - times[0]))

    def share_errors(self, weights: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Knowledge of fair shares after each congestion signal (Bimodal).

        Parameters
        ----------
        weights : array_like, shape (flows,), optional
            Increments of the flows; by default all are equal.

        Returns
        -------
        known : ndarray, shape (signals,)
            Share of the present flows with an estimate after the signal.
        errors : ndarray, shape (signals,)
            Largest relative difference between an estimated fair share and ``p_f B``; NaN without
            an estimate.

        Examples
        --------
        >>> course = simulate("Bimodal(1, 0.5, 0.125)", [10, 60], capacity=100,
        ...                   steps=200, exact=True)
        >>> known, errors = course.share_errors()
        >>> known[:3].tolist(), bool(errors[1] < 1e-9)
        ([0.0, 1.0, 1.0], True)
        """
        after = self.signals[self.signals + 1 < len(self.loads)] + 1
        present = ~np.isnan(self.loads[after])
        shares = present * np.broadcast_to(
            1.0 if weights is None else np.asarray(weights, dtype=float), present.shape
        )
        actual = shares / shares.sum(axis=1, keepdims=True) * self.capacity
        calculated = self.calculated[after]
        with np.errstate(invalid="ignore", divide="ignore"):
            off = np.abs(calculated / actual - 1)
        errors = np.where(np.isnan(off), -1.0, off).max(axis=1)
        return (~np.isnan(calculated)).sum(axis=1) / present.sum(axis=1), np.where(
            errors < 0, np.nan, errors
        )

    def convergence_time(self, tolerance: float = 0.05) -> float | None:
        """First time from which on the fairness spread stays at or below `tolerance`.

        None if it never does.
        """
        apart = np.flatnonzero(~(self.spread() <= tolerance))
        if len(apart) == 0:
            return float(self.times[0])
        return float(self.times[apart[-1] + 1]) if apart[-1] + 1 < len(self.times) else None


def simulate(
    rules: Rule | str | Sequence[Rule | str],
    starts: ArrayLike,
    *,
    capacity: float,
    steps: int,
    changes: Sequence[Join | Leave] = (),
    exact: bool = False,
    floor: float = 0.0,
) -> Trajectory:
    """Step flows under the same binary feedback.

    Parameters
    ----------
    rules : Rule, str or sequence of them
        One for all flows, or one each.
    starts : array_like, shape (n,)
        First loads, in packets.
    capacity : float
        B in packets: congestion is signalled if the sum of the loads is B or more.
    steps : int
        Number of increases and decreases.
    changes : sequence of Join and Leave
        Flows that join and leave.
    exact : bool
        End the increase that would pass B when the sum is B.
    floor : float
        Lower bound of the loads. The model has none (0); for a TCP window it is one packet.

    Returns
    -------
    Trajectory

    Raises
    ------
    ValueError
        If a value is out of range, or a rule gives a load that is not a number.

    Examples
    --------
    The difference between two AIMD flows halves with every congestion signal:

    >>> course = simulate("AIMD(1, 0.5)", [8, 64], capacity=100, steps=400)
    >>> low, high = course.loads[course.signals[1]]
    >>> round(float(high - low), 6)
    28.0
    >>> course.convergence_time(tolerance=0.05)
    129.0

    Between two AIAD flows it stays:

    >>> low, high = simulate("AIAD(1, 3)", [8, 64], capacity=100, steps=400).loads[-1]
    >>> float(high - low)
    56.0
    """
    checks.positive("capacity", capacity)
    checks.whole("steps", steps, 1, MOST_STEPS)
    first = np.atleast_1d(np.asarray(starts, dtype=float))
    population = Population(rules, first, sorted(changes, key=lambda change: change.step), floor)
    loads = np.full((steps + 1, population.count), np.nan)
    calculated = np.full_like(loads, np.nan)
    congested, times = np.zeros(steps + 1, dtype=bool), np.zeros(steps + 1)
    reached = capacity * (1 - ROUNDING)
    now, time = population.loads, 0.0
    for step in range(steps + 1):
        population.change(step)
        loads[step], times[step] = now, time
        calculated[step] = population.calculated()
        total = np.nansum(now)
        congested[step] = total >= reached
        if step == steps:
            break
        if congested[step]:
            population.decrease()
            time += 0.0 if exact else 1.0
        else:
            part = population.increase(capacity - total if exact else None)
            time += part
    names = tuple(rule.text for rule in population.rules)
    return Trajectory(times, loads, congested, calculated, names, float(capacity), exact)


@dataclass(frozen=True)
class Phase:
    """Two flows against each other, as in figure 2 of [1]_.

    Attributes
    ----------
    trajectories : tuple of Trajectory
        One per start.
    efficiency_line, fairness_line : ndarray, shape (2, 2)
        End points (x1, x2): where ``x1 + x2 = B``, and where ``x1 = x2``.
    """

    trajectories: tuple[Trajectory, ...]
    efficiency_line: np.ndarray
    fairness_line: np.ndarray


def phase(
    rules: Rule | str | Sequence[Rule | str],
    starts: ArrayLike,
    *,
    capacity: float = 100.0,
    steps: int = 200,
    exact: bool = False,
    floor: float = 0.0,
) -> Phase:
    """Step two flows from each of several starts.

    Parameters
    ----------
    rules : Rule, str or two of them
        For both flows, or for each.
    starts : array_like, shape (m, 2)
        Loads at the start.
    capacity, steps, exact, floor
        As in `simulate`.

    Examples
    --------
    >>> plot = phase("AIMD(1, 0.5)", [[8, 64], [90, 2]])
    >>> len(plot.trajectories), plot.efficiency_line.tolist()
    (2, [[0.0, 100.0], [100.0, 0.0]])
    """
    pairs = np.atleast_2d(np.asarray(starts, dtype=float))
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(missing("starts", "pairs of loads, such as [[8, 64]]"))
    courses = tuple(
        simulate(rules, pair, capacity=capacity, steps=steps, exact=exact, floor=floor)
        for pair in pairs
    )
    return Phase(
        courses,
        np.array([[0.0, capacity], [capacity, 0.0]]),
        np.array([[0.0, 0.0], [capacity, capacity]]),
    )
