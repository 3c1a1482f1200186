"""Search by differential evolution over a family's parameters, then confirmation on new seeds.

Every waveform is evaluated by a sweep over the rules, with the same seeds for all of them (common
random numbers), so that chance that affects all rules alike cancels in the margin. A search with
the same seed evaluates the same runs in the same order: with a store it resumes.

Differential evolution needs no gradient and tolerates noise: R. Storn, K. Price, "Differential
evolution - a simple and efficient heuristic for global optimization over continuous spaces",
Journal of Global Optimization 11, 1997.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cwndlab import environments
from cwndlab.environments.profile import assumed, listed
from cwndlab.errors import ScenarioError
from cwndlab.message import invalid
from cwndlab.quantities import Quantity
from cwndlab.runs.execution import opened
from cwndlab.searches import families
from cwndlab.searches.families import Family
from cwndlab.searches.objective import REPRESENTATIVES, Objective
from cwndlab.searches.result import SearchResult
from cwndlab.statistics import estimate
from cwndlab.sweeps import Sweep, SweepResult

if TYPE_CHECKING:
    from distributed import Client

    from cwndlab.runs.store import Store

Tell = Callable[[dict[str, Any]], object]
SHORTLIST = 4
"""Size of the shortlist, which is evaluated again: the best of many noisy margins is biased."""
SHORTLIST_REPLICATES = 5
SEED_STEP = 100_000
"""Distance between the seeds of the search, of the shortlist, and of the confirmation."""
MEMBERS = (5, 16)
"""Bounds of the population; scipy requires 5 at least."""


def search(
    *,
    best: str | None = None,
    worst: str | None = None,
    rules: str | Sequence[str] = REPRESENTATIVES,
    family: str = "square",
    bound: Mapping[str, str | float | tuple[float, float]] | None = None,
    recovery: str = "sack",
    queue: str = "drop-tail",
    metric: str = "goodput",
    budget: int = 96,
    replicates: int = 2,
    confirm: int = 10,
    duration: Quantity | None = None,
    profile: str | None = None,
    assume: environments.Assumptions | Mapping[str, Any] | None = None,
    seed: int = 1,
    jobs: int | None = None,
    store: Store | str | Path | None = None,
    on: str | Client | None = None,
    progress: Tell | None = None,
) -> SearchResult:
    """Search for the waveform of a family on which a rule is best, or worst.

    Parameters
    ----------
    best, worst : str, optional
        Rule to be best and rule to be worst; at least one of the two.
    rules : str or sequence of str
        The rules that are compared; by default the four linear ones of Akella et al.
    family : str
        The family of waveforms (`cwndlab.searches.FAMILIES`).
    bound : mapping, optional
        Parameter to its bounds, instead of the family's: ``"0.5s..6s"``, or a pair of numbers in
        bit/s per test flow or seconds. One value fixes it.
    recovery, queue : str
        The setting.
    metric : str
        Metric that ranks the rules.
    budget : int
        Number of waveforms to evaluate; each takes `replicates` runs of every rule.
    replicates, confirm : int
        Runs of each rule per waveform during the search, and at the end.
    duration : str or float, optional
        Simulated time of a run (seconds if a bare number); by default the assumed one, 100 s.
    profile : str, optional
        Profile of the TCP endpoints; by default ``"linux"`` where a rule in use today is compared
        (CUBIC, BBR, DCTCP), else ``"ns2-2.35"``.
    assume : Assumptions or mapping, optional
        Flows, RTTs, buffer and the rest.
    seed : int
        Seed of the optimiser and of the runs.
    jobs : int, optional
        Threads; by default one for each processor.
    store : Store, str or Path, optional
        Keeps finished runs, so that the same call continues where it was interrupted.
    on : str or Client, optional
        A dask.distributed scheduler, which performs the runs.
    progress : callable, optional
        Gets ``{"event": "tried", "done", "of", "margin"}``, the best margin so far, and
        ``{"event": "confirming"}``.

    Returns
    -------
    SearchResult

    Raises
    ------
    ScenarioError
        If there is no such family, parameter, recovery or queue, neither of `best` and `worst` is
        given, or the budget is below 5.

    Examples
    --------
    >>> found = search(best="AIAD(1, 3)", rules=["AIMD(1, 0.8)", "AIAD(1, 3)"], budget=5,
    ...                bound={"duty": 0.5}, duration="5s", replicates=1, confirm=2)
    >>> found.tried, found.values["duty"], found.table()["rule"].sort().to_list()
    (5, 0.5, ['AIAD(1, 3)', 'AIMD(1, 0.8)'])
    """
    objective = Objective(best or "", worst or "", tuple(listed(rules)), metric)
    if budget < MEMBERS[0]:
        raise ScenarioError(invalid("budget", budget, f"{MEMBERS[0]} waveforms or more"))
    chosen = assumed(objective.rules, assume=assume, profile=profile, duration=duration)
    shapes = families.family(family).bounded(families.bounds_of(family, bound or {}))
    began_s = time.perf_counter()
    with opened(store, jobs=jobs, on=on) as (kept, executor):
        work = _Search(
            objective, shapes, (recovery, queue), chosen, budget, replicates, seed,
            functools.partial(Sweep.run, store=kept, executor=executor), progress,
        )  # fmt: skip
        work.evolve()
        position = work.shortlisted()
        if progress is not None:
            progress({"event": "confirming"})
        values = work.measure([position], confirm, seed + 2 * SEED_STEP)[0]
    return SearchResult(
        objective, family, f"{recovery}/{queue}", chosen.profile, shapes.values(position),
        shapes.shape(shapes.values(position)),
        {
            rule: estimate(list(found), bounds=objective.measure.bounds)
            for rule, found in values.items()
        },
        estimate(list(objective.margins(values)), bounds=objective.measure.difference_bounds),
        len(work.history), work.runs, time.perf_counter() - began_s, work.history,
    )  # fmt: skip


def sweep_of(
    shapes: Mapping[str, Mapping[str, Any]],
    rules: Sequence[str],
    setting: tuple[str, str],
    chosen: environments.Assumptions,
    *,
    replicates: int,
    seed: int = 1,
    metrics: Sequence[str] = ("goodput",),
    name: str = "search",
) -> Sweep:
    """Make the sweep of some rules over some waveforms.

    Parameters
    ----------
    shapes : mapping of str to mapping
        Label to waveform, rates in bit/s per test flow; each is a level of the axis ``case``. The
        axis ``recovery`` has one level.
    rules : sequence of str
        Levels of the axis ``rule``.
    setting : (str, str)
        Recovery and queue.
    chosen : Assumptions
        Assumptions of the network.
    replicates, seed : int
        Runs of each rule, and the seed of the first.
    metrics : sequence of str
        The metrics.
    name : str
        Name of the sweep.

    Examples
    --------
    >>> wave = {"kind": "square", "high": 2e6, "low": 1e6, "every": "1s"}
    >>> plan = sweep_of({"a": wave}, ["AIMD(1, 0.8)"], ("sack", "red"), environments.Assumptions(),
    ...                 replicates=2).plan
    >>> plan.count
    2
    """
    recovery, queue = setting
    cases = {}
    for label, shape in shapes.items():
        tables = environments.under(dict(shape), queue, chosen)
        cases[label] = {key: tables[key] for key in ("dumbbell", "bdp", "cross") if tables.get(key)}
    first = environments.under(dict(next(iter(shapes.values()))), queue, chosen)
    flows = [{**first["flows"][0], "recovery": recovery}]
    base = environments.document({**first, "flows": flows}, chosen, seed).to_dict()
    return Sweep(
        name=name, base=base, axes={"recovery": [recovery], "case": cases, "rule": list(rules)},
        replicates=replicates, seed=seed, metrics=list(metrics), group="flow",
    )  # fmt: skip


class _Failed(Exception):
    """Carries a ValueError through scipy, which would hide it."""

    def __init__(self, error: ScenarioError) -> None:
        super().__init__(str(error))
        self.error = error


class _Search:
    """One search: positions in the unit cube of the free parameters, and their measured values."""

    def __init__(
        self,
        objective: Objective,
        shapes: Family,
        setting: tuple[str, str],
        chosen: environments.Assumptions,
        budget: int,
        replicates: int,
        seed: int,
        run: Callable[[Sweep], SweepResult],
        progress: Tell | None,
    ) -> None:
        self.objective, self.shapes, self.setting, self.chosen = objective, shapes, setting, chosen
        self.budget, self.replicates, self.seed = budget, replicates, seed
        self.run, self.progress = run, progress
        self.history: list[dict[str, float]] = []
        self.positions: list[np.ndarray] = []
        self.margins: list[float] = []
        self.runs = 0
        self.free = [
            at for at, parameter in enumerate(shapes.parameters) if parameter.low < parameter.high
        ]

    def evolve(self) -> None:
        """Evaluate as many waveforms as the budget allows."""
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
        """Run every rule on the waveforms at the positions; return values by replicate."""
        shapes = {
            str(at): self.shapes.shape(self.shapes.values(place))
            for at, place in enumerate(positions)
        }
        sweep = sweep_of(
            shapes,
            self.objective.rules,
            self.setting,
            self.chosen,
            replicates=replicates,
            seed=seed,
            metrics=self.objective.measured,
        )
        findings = self.run(sweep)
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
            self.progress(
                {
                    "event": "tried",
                    "done": len(self.history),
                    "of": self.budget,
                    "margin": max(self.margins),
                }
            )
        return np.array(margins)
