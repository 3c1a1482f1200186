"""The search on the training conditions: generations of rules, by NSGA-II.

NSGA-II [1]_ (pymoo's implementation) keeps a population near the frontier, the rules that no other
beats in every objective. New rules are run in rounds, each of which drops the worse half
(successive halving [2]_): all once, for a shorter time where the specification has one, and then
for the whole time; what is left, as often as the specification asks. Seeds are the same in every
generation and for every rule, so that a new rule is compared with an old one over the same random
numbers.

References
----------
.. [1] K. Deb, A. Pratap, S. Agarwal, T. Meyarivan, "A fast and elitist multiobjective genetic
   algorithm: NSGA-II", IEEE Trans. Evolutionary Computation 6 (2), 2002.
.. [2] K. Jamieson, A. Talwalkar, "Non-stochastic best arm identification and hyperparameter
   optimization", AISTATS 2016.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cwndlab import native
from cwndlab.arguments import Progress
from cwndlab.designs import optimiser
from cwndlab.designs.aims import SIZE, Aim, Constraint
from cwndlab.designs.conditions import Conditions, Meter, reduced
from cwndlab.designs.space import Space
from cwndlab.designs.specification import Specification

DROPPED = 1e6
"""Constraint violation of a rule that the first round dropped: any other one is better."""


@dataclass
class Tried:
    """A rule that the search tried."""

    rule: str
    x: Sequence[Any]
    size: int
    generation: int
    values: np.ndarray
    """Shape (aims, replicates): the training values, after the last round that it reached."""
    is_dropped: bool = False
    """Whether the first round dropped it."""

    def means(self) -> np.ndarray:
        """Return the mean of each aim."""
        return self.values.mean(axis=1)


class Search:
    """The search for rules on training conditions, which an adversary may extend.

    Parameters
    ----------
    specification : Specification
        What is searched.
    meter : Meter
        Measures rules.
    progress : callable, optional
        Gets the size of the frontier in words, the number of rules tried, and of all.
    """

    def __init__(
        self, specification: Specification, meter: Meter, progress: Progress | None = None
    ) -> None:
        self.specification: Specification = specification
        self.meter: Meter = meter
        self.progress: Progress | None = progress
        self.space: Space = specification.space
        self.aims: tuple[Aim, ...] = specification.measured
        self.limits: tuple[Constraint, ...] = specification.limits
        self.blocks: list[Conditions] = [specification.sets["training"]]
        self.tried: dict[str, Tried] = {}
        self._values: list[dict[str, np.ndarray]] = [{}]
        """For each block, rule to its values over the replicates that were run."""
        self._short: dict[str, np.ndarray] = {}
        """Rule to its values in a run of the shorter time of the first round."""
        self._generation = 0

    def run(self, budget: int, start: Sequence[Sequence[Any]] = ()) -> None:
        """Try rules until `budget` are tried in all, beginning with those of `start`."""
        algorithm = self._algorithm(start)
        while len(self.tried) < budget:
            asked = algorithm.ask()
            if asked is None or len(asked) == 0:
                return
            vectors = [list(one.X) for one in asked]
            before = len(self.tried)
            known = self._try(vectors)
            costs = np.array([self._costs(one) for one in known])
            excess = np.array([self._excess(one) for one in known])
            self._tell(algorithm, asked, costs, excess)
            self._generation += 1
            if self.progress is not None:
                self.progress(
                    f"rules tried, {len(self.frontier())} on the frontier",
                    min(len(self.tried), budget), self.specification.budget,
                )  # fmt: skip
            if len(self.tried) == before and self._generation > 2 * budget:
                return

    def add(self, block: Conditions) -> None:
        """Add conditions to the training; what was tried is measured on them when it is needed."""
        self.blocks.append(block)
        self._values.append({})
        best = self.frontier()
        for one in self.tried.values():
            one.is_dropped = True
        self._measure([one.rule for one in best], self.specification.replicates)
        for one in best:
            one.values, one.is_dropped = self._reduced(one.rule, one.size), False

    def frontier(self) -> list[Tried]:
        """Return the rules that meet the constraints and are not beaten in every objective."""
        whole = [one for one in self.tried.values() if not one.is_dropped]
        allowed = [one for one in whole if self._excess(one) <= 0.0]
        costs = np.array([self._costs(one) for one in allowed])
        return [allowed[at] for at in np.flatnonzero(optimiser.ranks(costs) == 0)]

    def _try(self, vectors: Sequence[Sequence[Any]]) -> list[Tried]:
        """Measure the rules of some vectors, in rounds."""
        wanted: dict[str, Sequence[Any]] = {}
        order: list[str] = []
        for x in vectors:
            rule = native.rule(self.space.rule(x))
            order.append(rule)
            known = self.tried.get(rule)
            if known is None or known.is_dropped:
                wanted.setdefault(rule, x)
        sizes = {rule: self.space.size(x) for rule, x in wanted.items()}
        left = list(wanted)
        replicates = self.specification.replicates
        dropped: set[str] = set()
        if self.specification.first_duration and len(left) > 3:
            kept = self._kept()
            self._measure_short([*left, *(one.rule for one in kept)])
            values = {rule: self._reduced_short(rule, sizes[rule]) for rule in left}
            old = [self._reduced_short(one.rule, one.size) for one in kept]
            dropped |= self._worse_half(values, old)
            left = [rule for rule in left if rule not in dropped]
        if replicates > 1 and len(left) > 3:
            self._measure(left, 1)
            values = {rule: self._reduced(rule, sizes[rule]) for rule in left}
            dropped |= self._worse_half(values, [one.values for one in self._kept()])
            left = [rule for rule in left if rule not in dropped]
        self._measure(left, replicates)
        for rule, x in wanted.items():
            size = sizes[rule]
            is_short = rule not in self._values[0]
            values = self._reduced_short(rule, size) if is_short else self._reduced(rule, size)
            is_dropped = rule in dropped or self._is_copy(values, size)
            self.tried[rule] = Tried(rule, x, size, self._generation, values, is_dropped)
        return [self.tried[rule] for rule in order]

    def _is_copy(self, values: np.ndarray, size: int) -> bool:
        """Tell whether a rule that is no longer does the same: part of this text does nothing."""
        plain = [at for at, aim in enumerate(self.aims) if aim.kind != SIZE]
        return any(
            other.size <= size
            and other.values.shape == values.shape
            and np.array_equal(other.values[plain], values[plain])
            for other in self.tried.values()
        )

    def _kept(self) -> list[Tried]:
        return [one for one in self.tried.values() if not one.is_dropped]

    def _worse_half(self, values: Mapping[str, np.ndarray], old: Sequence[np.ndarray]) -> set[str]:
        """Return the half of new rules that is worse after one run, beside the old ones."""
        rules = list(values)
        costs = np.array([self._sorted_costs(one) for one in (*values.values(), *old)])
        rank = optimiser.ranks(np.nan_to_num(costs, nan=DROPPED))[: len(rules)]
        worst_first = np.argsort(-rank, kind="stable")
        return {rules[int(at)] for at in worst_first[: len(rules) // 2] if rank[at] > 0}

    def _measure_short(self, rules: Sequence[str]) -> None:
        """Run rules once for the shorter time, on the training conditions of the file."""
        given = self.specification
        block = replace(self.blocks[0], duration=given.first_duration)
        missing = [rule for rule in rules if rule not in self._short]
        if missing:
            found = self.meter.measure(block, missing, self.aims, seed=given.seed, replicates=1)
            self._short.update(found)

    def _reduced_short(self, rule: str, size: int) -> np.ndarray:
        return with_size(reduced(self._short[rule], self.aims), self.aims, size)

    def _sorted_costs(self, values: np.ndarray) -> np.ndarray:
        """Costs of one replicate, with violated constraints in front of everything."""
        only = values[:, :1]
        excess = sum(
            max(0.0, limit.excess(float(only[self.aims.index(limit.aim), 0])))
            for limit in self.limits
        )
        costs = costs_of(only.mean(axis=1), self.aims)[: len(self.specification.aims)]
        return costs + (1e9 * excess if excess > 0 else 0.0)

    def _measure(self, rules: Sequence[str], replicates: int) -> None:
        """Run what is missing of rules' replicates, on every block."""
        first = self.specification.seed
        for block, known in zip(self.blocks, self._values, strict=True):
            by_done: dict[int, list[str]] = {}
            for rule in rules:
                done = known[rule].shape[1] if rule in known else 0
                if done < replicates:
                    by_done.setdefault(done, []).append(rule)
            for done, some in by_done.items():
                found = self.meter.measure(
                    block, some, self.aims, seed=first + done, replicates=replicates - done
                )
                for rule, values in found.items():
                    known[rule] = (
                        np.concatenate((known[rule], values), axis=1) if rule in known else values
                    )

    def _reduced(self, rule: str, size: int) -> np.ndarray:
        """Values of a rule over all blocks, reduced over conditions."""
        parts = [known[rule] for known in self._values if rule in known]
        count = min(part.shape[1] for part in parts)
        found = reduced(np.concatenate([part[:, :count] for part in parts], axis=2), self.aims)
        return with_size(found, self.aims, size)

    def _costs(self, one: Tried) -> np.ndarray:
        return costs_of(one.means(), self.aims)[: len(self.specification.aims)]

    def _excess(self, one: Tried) -> float:
        """Violation of constraints, in all; 0 where every one is met."""
        if one.is_dropped:
            return DROPPED
        means = one.means()
        if np.isnan(means).any():
            return DROPPED
        return sum(
            max(0.0, limit.excess(float(means[self.aims.index(limit.aim)])))
            for limit in self.limits
        )

    def _algorithm(self, start: Sequence[Sequence[Any]]) -> Any:
        return optimiser.nsga2(
            self.space, objectives=len(self.specification.aims),
            population=self.specification.population,
            seed=self.specification.seed + self._generation, start=start,
        )  # fmt: skip

    def _tell(self, algorithm: Any, asked: Any, costs: np.ndarray, excess: np.ndarray) -> None:
        optimiser.tell(algorithm, asked, np.nan_to_num(costs, nan=DROPPED), excess)


def costs_of(means: np.ndarray, aims: Sequence[Aim]) -> np.ndarray:
    """Return what is to be made small: values, negated where more is better."""
    signs = np.array([-1.0 if aim.more_is_better else 1.0 for aim in aims])
    return signs * means


def with_size(values: np.ndarray, aims: Sequence[Aim], size: int) -> np.ndarray:
    """Return values with the size of the formula in its place; rules of a family have none."""
    for at, aim in enumerate(aims):
        if aim.kind == SIZE:
            values[at] = size or np.nan
    return values
