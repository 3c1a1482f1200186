"""The synchronous model of Chiu and Jain: every flow hears the same bit, once a step.

Time is divided into steps of a round trip. After each, the network says whether the sum of all loads has reached the
capacity B; if so every flow decreases, otherwise every flow increases. Nothing else is in it: no packets, no delays,
no queue. With `exact`, the increase that would pass B ends when the sum is B, as if loads grew continuously: congestion
then falls exactly at B, which is what proofs assume (equations 1 and 2 of [2]_). Without, it falls up to one step
later.

References
----------
.. [1] D.-M. Chiu, R. Jain, "Analysis of the increase and decrease algorithms for congestion avoidance in computer
   networks", Computer Networks and ISDN Systems 17, 1989.
.. [2] P. C. Attie, A. Lahanas, V. Tsaoussidis, "Beyond AIMD: explicit fair-share calculation", IEEE ISCC, 2003.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from cwndlab.theory import checks
from cwndlab.theory.notation import as_rule
from cwndlab.theory.rules import Controller, Rule

MOST_STEPS = 1_000_000
ROUNDING = 1e-12
"""A sum that misses B by this much, relative, has reached it."""


@dataclass(frozen=True)
class Join:
    """Flows that join before a step.

    Parameters
    ----------
    step : int
        The step before which they join.
    loads : array_like
        Their first loads, one each.
    rules : Rule, str or sequence of them, optional
        Their rules; by default that of the first flow.
    """

    step: int
    loads: ArrayLike
    rules: Rule | str | Sequence[Rule | str] | None = None


@dataclass(frozen=True)
class Leave:
    """Flows that leave before a step, by number: those that join later have the next numbers."""

    step: int
    flows: Sequence[int]


@dataclass(frozen=True)
class Trajectory:
    """What `simulate` went through; axis 0 has one entry per state, steps + 1 in all.

    Attributes
    ----------
    times : ndarray, shape (steps + 1,)
        In steps, that is round trips. With `exact` the last increase before congestion takes part of a step and a
        decrease no time.
    loads : ndarray, shape (steps + 1, flows)
        NaN while a flow is not there.
    congested : ndarray of bool, shape (steps + 1,)
        Whether the sum of the loads has reached the capacity.
    calculated : ndarray, shape (steps + 1, flows)
        Fair shares as flows know them (Bimodal), NaN otherwise.
    rules : tuple of str
        Notation of each flow's rule.
    capacity : float
        B.
    exact : bool
        Whether congestion falls exactly at B.
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
        """Jain's index ``(sum x)^2 / (n sum x^2)`` in each state, of the loads over their weights if any are given."""
        loads = self.loads if weights is None else self.loads / np.asarray(weights, dtype=float)
        count = np.sum(~np.isnan(loads), axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.nansum(loads, axis=1) ** 2 / (count * np.nansum(loads**2, axis=1))

    def spread(self) -> np.ndarray:
        """Fairness spread ``(largest - smallest) / mean`` in each state."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return (np.nanmax(self.loads, axis=1) - np.nanmin(self.loads, axis=1)) / np.nanmean(self.loads, axis=1)

    def efficiency(self, cycles: int | None = None) -> float:
        """Mean of the load that fits, ``min(X, B) / B``, over whole cycles: from after a signal to the last one.

        Parameters
        ----------
        cycles : int, optional
            Only the last so many.

        Returns
        -------
        float
            NaN where congestion was signalled less than twice. Without `exact` every state counts alike, with it
            every moment of the growth between them.
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
        """After each congestion signal, what the flows know of their fair shares (Bimodal).

        Parameters
        ----------
        weights : array_like, shape (flows,), optional
            Increments of the flows; by default all are equal.

        Returns
        -------
        known : ndarray, shape (signals,)
            Part of the flows present that know a fair share once they have answered the signal.
        errors : ndarray, shape (signals,)
            Largest relative difference between a fair share as calculated and ``p_f B``; NaN where no flow knows one.

        Examples
        --------
        >>> course = simulate("Bimodal(1, 0.5, 0.125)", [10, 60], capacity=100, steps=200, exact=True)
        >>> known, errors = course.share_errors()
        >>> known[:3].tolist(), bool(errors[1] < 1e-9)
        ([0.0, 1.0, 1.0], True)
        """
        after = self.signals[self.signals + 1 < len(self.loads)] + 1
        present = ~np.isnan(self.loads[after])
        shares = present * np.broadcast_to(1.0 if weights is None else np.asarray(weights, dtype=float), present.shape)
        actual = shares / shares.sum(axis=1, keepdims=True) * self.capacity
        calculated = self.calculated[after]
        with np.errstate(invalid="ignore", divide="ignore"):
            off = np.abs(calculated / actual - 1)
        errors = np.where(np.isnan(off), -1.0, off).max(axis=1)
        return (~np.isnan(calculated)).sum(axis=1) / present.sum(axis=1), np.where(errors < 0, np.nan, errors)

    def convergence_time(self, tolerance: float = 0.05) -> float | None:
        """First time from which on the fairness spread stays at or below `tolerance`; None if it never does."""
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
        B in packets: congestion is signalled where the sum of the loads is B or more.
    steps : int
        Number of increases and decreases.
    changes : sequence of Join and Leave
        Flows that come and go.
    exact : bool
        End the increase that would pass B when the sum is B.
    floor : float
        Loads never fall below it. The model has none (0); a TCP window has one packet.

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
    population = _Population(rules, first, sorted(changes, key=lambda change: change.step), floor)
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


class _Population:
    """The flows, present or not, and the controllers of their rules."""

    def __init__(
        self, rules: Rule | str | Sequence[Rule | str], starts: np.ndarray, changes: list[Join | Leave], floor: float
    ) -> None:
        self.rules = _one_each("rules", rules, len(starts))
        self.changes = changes
        self.floor = floor
        joins = [change for change in changes if isinstance(change, Join)]
        groups = [starts, *(np.atleast_1d(np.asarray(join.loads, dtype=float)) for join in joins)]
        for join, group in zip(joins, groups[1:], strict=True):
            self.rules += _one_each("rules", self.rules[0] if join.rules is None else join.rules, len(group))
        self.first = np.concatenate(groups)
        if not (np.isfinite(self.first) & (self.first >= 0)).all() or len(starts) == 0:
            raise ValueError("starts: allowed: one load or more, each 0 or above")
        self.count = len(self.first)
        self.loads = np.full(self.count, np.nan)
        self.loads[: len(starts)] = np.maximum(starts, floor)
        self.next = len(starts)
        # Flows with the same rule are stepped together.
        kinds: list[Rule] = []
        for rule in self.rules:
            if rule not in kinds:
                kinds.append(rule)
        self.members = [np.flatnonzero([rule == kind for rule in self.rules]) for kind in kinds]
        self.controllers: list[Controller] = [kind.controller(self.count) for kind in kinds]

    def change(self, step: int) -> None:
        while self.changes and self.changes[0].step <= step:
            change = self.changes.pop(0)
            if isinstance(change, Join):
                more = len(np.atleast_1d(np.asarray(change.loads)))
                places = slice(self.next, self.next + more)
                self.loads[places] = np.maximum(self.first[places], self.floor)
                self.next += more
            else:
                self._leave(change)

    def _leave(self, change: Leave) -> None:
        for flow in change.flows:
            if not (0 <= flow < self.count and np.isfinite(self.loads[flow])):
                raise ValueError(f"flows: {flow} cannot leave at step {change.step}; allowed: a flow that is there")
            self.loads[flow] = np.nan

    def increase(self, room: float | None) -> float:
        """Let all increase, until the sum has grown by `room` if given; return the part of the step this took."""
        grown = self._stepped(lambda controller, loads, flows: controller.increase(loads, flows))
        more = float(np.nansum(grown - self.loads))
        part = 1.0 if room is None or more <= room else room / more
        self.loads += part * (grown - self.loads)
        return part

    def decrease(self) -> None:
        shrunk = self._stepped(lambda controller, loads, flows: controller.decrease(loads, flows))
        self.loads[:] = np.maximum(shrunk, self.floor)

    def calculated(self) -> np.ndarray:
        shares = np.full(self.count, np.nan)
        for controller, members in zip(self.controllers, self.members, strict=True):
            flows = members[np.isfinite(self.loads[members])]
            shares[flows] = controller.calculated(flows)
        return shares

    def _stepped(self, move: Callable[[Controller, np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
        after = np.full(self.count, np.nan)
        for controller, members in zip(self.controllers, self.members, strict=True):
            flows = members[np.isfinite(self.loads[members])]
            moved = move(controller, self.loads[flows], flows)
            if not np.isfinite(moved).all():
                at = self.loads[flows][~np.isfinite(moved)][0]
                text = self.rules[flows[0]].text
                raise ValueError(f"rule `{text}`: gives no finite load from {at:g}; allowed: a floor above 0")
            after[flows] = moved
        return after


def _one_each(name: str, rules: Rule | str | Sequence[Rule | str], count: int) -> list[Rule]:
    if isinstance(rules, str) or not isinstance(rules, Sequence):
        return [as_rule(rules)] * count
    if len(rules) != count:
        raise ValueError(f"{name}: {len(rules)} for {count} flows; allowed: one for all, or one each")
    return [as_rule(rule) for rule in rules]


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
        raise ValueError("starts: allowed: pairs of loads, such as [[8, 64]]")
    courses = tuple(simulate(rules, pair, capacity=capacity, steps=steps, exact=exact, floor=floor) for pair in pairs)
    return Phase(courses, np.array([[0.0, capacity], [capacity, 0.0]]), np.array([[0.0, 0.0], [capacity, capacity]]))
