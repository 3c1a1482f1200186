"""Differential evolution over a family's parameters, with a shortlist on seeds of its own.

Every shape is evaluated by a sweep over the rules, with the same seeds for all of them (common
random numbers), so that chance that affects all rules alike cancels in the margin. A search with
the same seed evaluates the same runs in the same order: with a store it resumes.

Differential evolution needs no gradient and tolerates noise: R. Storn, K. Price, "Differential
evolution - a simple and efficient heuristic for global optimization over continuous spaces",
Journal of Global Optimization 11, 1997.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cwndlab.arguments import Progress
from cwndlab.errors import ScenarioError
from cwndlab.searches.families import Family
from cwndlab.searches.objective import Objective
from cwndlab.sweeps import Sweep, SweepResult

SHORTLIST = 4
"""Size of the shortlist, which is evaluated again: the best of many noisy margins is biased."""
SHORTLIST_REPLICATES = 5
SEED_STEP = 100_000
"""Distance between the seeds of the search, of the shortlist, and of the confirmation."""
MEMBERS = (5, 16)
"""Bounds of the population; scipy requires 5 at least."""


class _Failed(Exception):
    """Carries a ValueError through scipy, which would hide it."""

    def __init__(self, error: ScenarioError) -> None:
        super().__init__(str(error))
        self.error = error


class Evolution:
    """Positions in the unit cube of a family's free parameters, and their measured margins.

    Parameters
    ----------
    objective : Objective
        The rules, and the margin to make large.
    shapes : Family
        The family.
    sweep : callable
        Label to shape, replicates and seed, to the sweep of the objective's rules over these
        shapes; its axis ``case`` has the labels.
    budget, replicates, seed : int
        Shapes to try, runs of each rule per shape, and seed of the optimiser and of the runs.
    run : callable
        Runs a sweep.
    progress : callable, optional
        Gets the best margin so far in words, the number of shapes tried, and of all.
    """

    def __init__(
        self,
        objective: Objective,
        shapes: Family,
        sweep: Callable[[Mapping[str, Mapping[str, Any]], int, int], Sweep],
        *,
        budget: int,
        replicates: int,
        seed: int,
        run: Callable[[Sweep], SweepResult],
        progress: Progress | None,
    ) -> None:
        self.objective: Objective = objective
        self.shapes: Family = shapes
        self.sweep: Callable[[Mapping[str, Mapping[str, Any]], int, int], Sweep] = sweep
        self.budget: int = budget
        self.replicates: int = replicates
        self.seed: int = seed
        self.run: Callable[[Sweep], SweepResult] = run
        self.progress: Progress | None = progress
        self.history: list[dict[str, float]] = []
        self.positions: list[np.ndarray] = []
        self.margins: list[float] = []
        self.runs: int = 0
        self.free: list[int] = [
            at for at, parameter in enumerate(shapes.parameters) if parameter.low < parameter.high
        ]

    def evolve(self) -> None:
        """Evaluate as many shapes as the budget allows."""
        from scipy.optimize import Bounds, differential_evolution
        from scipy.stats import qmc

        if not self.free:
            self._try(np.zeros((1, 0)))
            return
        # At least six generations for a small budget, more members for a large one.
        members = int(np.clip(self.budget // 6, *MEMBERS))
        first = qmc.LatinHypercube(len(self.free), seed=self.seed).random(members)
        generations = self.budget // members - 1
        if generations < 1:
            self._try(first)
            return
        # Vectorized, which the types do not know.
        cost: Any = self._cost
        unit = Bounds(np.zeros(len(self.free)), np.ones(len(self.free)))
        # No polishing, which would fit the noise; only the budget stops the search.
        try:
            differential_evolution(
                cost, unit, init=first, maxiter=generations, tol=0.0,
                atol=0.0,
                polish=False, vectorized=True, updating="deferred", mutation=(0.4, 0.9),
                recombination=0.8,
                seed=self.seed,
            )  # fmt: skip
        except _Failed as failed:
            raise failed.error from None

    def shortlisted(self) -> np.ndarray:
        """Return the best of the shortlist, evaluated on its own seeds."""
        order = np.argsort(self.margins)[::-1][:SHORTLIST]
        few = [self.positions[int(at)] for at in order]
        if len(few) == 1:
            return few[0]
        measured = self.measure(few, SHORTLIST_REPLICATES, self.seed + SEED_STEP)
        means = [float(np.mean(self.objective.margins(values))) for values in measured]
        return few[int(np.argmax(means))]

    def measure(
        self, positions: Sequence[np.ndarray], replicates: int, seed: int
    ) -> list[dict[str, np.ndarray]]:
        """Run every rule on the shapes at the positions; return values by replicate."""
        shapes = {
            str(at): self.shapes.shape(self.shapes.values(place))
            for at, place in enumerate(positions)
        }
        findings = self.run(self.sweep(shapes, replicates, seed))
        self.runs += len(findings)
        found = [
            {rule: np.full(replicates, np.nan) for rule in self.objective.rules} for _ in positions
        ]
        for row in findings.runs.to_dicts():
            value = self.objective.value(row)
            found[int(row["case"])][row["rule"]][row["replicate"]] = (
                np.nan if value is None else value
            )
        return found

    def _cost(self, candidates: np.ndarray) -> np.ndarray:
        """Return costs, shape (candidates,), of candidates of shape (parameters, candidates)."""
        try:
            return -self._try(candidates.T)
        except ScenarioError as error:
            # scipy takes a ValueError for a wrong shape of the answer, and hides it.
            raise _Failed(error) from error

    def _try(self, free: np.ndarray) -> np.ndarray:
        whole = np.full((len(free), len(self.shapes.parameters)), 0.5)
        whole[:, self.free] = np.clip(free, 0.0, 1.0)
        measured = self.measure(list(whole), self.replicates, self.seed)
        margins = [float(np.mean(self.objective.margins(values))) for values in measured]
        # A run without a value has the worst margin.
        margins = [-np.inf if np.isnan(margin) else margin for margin in margins]
        self.positions += list(whole)
        self.margins += margins
        self.history += [
            {**self.shapes.values(place), "margin": margin}
            for place, margin in zip(whole, margins, strict=True)
        ]
        if self.progress is not None:
            best = f"waveforms, best margin {max(self.margins):.3f}"
            self.progress(best, len(self.history), self.budget)
        return np.array(margins)
