"""Searches waveforms by evolution, and confirms the result on new seeds."""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab import environments, native
from cwndlab.arguments import Progress, keywords, listed, some
from cwndlab.environments.profile import assumed, words
from cwndlab.errors import ScenarioError
from cwndlab.kernel_runs.virtual import SIMULATOR
from cwndlab.message import invalid
from cwndlab.quantities import Quantity
from cwndlab.runs.execution import opened
from cwndlab.searches import families
from cwndlab.searches.evolution import MEMBERS, SEED_STEP, Evolution
from cwndlab.searches.objective import REPRESENTATIVES, Objective
from cwndlab.searches.result import SearchResult
from cwndlab.statistics import estimate
from cwndlab.sweeps import Sweep, at_homes

if TYPE_CHECKING:
    from distributed import Client

    from cwndlab.custom_rules import Rule
    from cwndlab.runs.store import Store


@keywords(instead=words)
def search(
    *,
    best: Rule | None = None,
    worst: Rule | None = None,
    rules: Rule | Sequence[Rule] = REPRESENTATIVES,
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
    home: str | None = None,
    assume: environments.Assumptions | Mapping[str, Any] | None = None,
    seed: int = 1,
    jobs: int | None = None,
    store: Store | str | Path | None = None,
    on: str | Client | None = None,
    progress: Progress | None = None,
) -> SearchResult:
    """Search for the waveform of a family on which a rule is best, or worst.

    Parameters
    ----------
    best, worst : rule, optional
        Rule that should be best, and rule that should be worst; at least one of the two.
    rules : rule or sequence of rules
        The rules to compare; by default the four linear ones of Akella et al.
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
        Profile of the TCP endpoints; by default that of the assumptions, ``"linux"``.
    home : {"simulator", "linux", "linux:NAME"}, optional
        Where the runs execute: the simulator, or TCP of a Linux kernel in virtual time.
    assume : Assumptions or mapping, optional
        Flows, RTTs, buffer and so on.
    seed : int
        Seed of the optimiser and of the runs.
    jobs : int, optional
        Number of threads; by default one for each processor.
    store : Store, str or Path, optional
        Keeps finished runs, so the same call continues where it was interrupted.
    on : str or Client, optional
        A dask.distributed scheduler, whose cluster executes the runs.
    progress : callable, optional
        Called with the current step and the best margin so far, the number of waveforms tried, and
        the total.

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
    objective = Objective(
        "" if best is None else native.rule(best),
        "" if worst is None else native.rule(worst),
        tuple(map(native.rule, some("rules", rules))),
        metric,
    )
    if budget < MEMBERS[0]:
        raise ScenarioError(invalid("budget", budget, f"{MEMBERS[0]} waveforms or more"))
    chosen = assumed(assume, profile=profile, duration=duration)
    shapes = families.family(family).bounded(families.bounds_of(family, bound or {}))
    began_s = time.perf_counter()
    with opened(store, jobs=jobs, on=on) as (kept, executor):
        work = Evolution(
            objective, shapes,
            lambda found, count, first: at_homes(
                sweep_of(
                    found, objective.rules, (recovery, queue), chosen, replicates=count,
                    seed=first, metrics=objective.measured,
                ),
                listed(home or ()),
            ),
            budget=budget, replicates=replicates, seed=seed,
            run=functools.partial(Sweep.run, store=kept, executor=executor), progress=progress,
        )  # fmt: skip
        work.evolve()
        position = work.shortlisted()
        if progress is not None:
            progress("confirming on new seeds", budget, budget)
        values = work.measure([position], confirm, seed + 2 * SEED_STEP)[0]
    return SearchResult(
        objective, family, f"{recovery}/{queue}", chosen.profile, home or SIMULATOR,
        shapes.values(position),
        shapes.shape(shapes.values(position)),
        {
            rule: objective.measure.estimate(list(found))
            for rule, found in values.items()
        },
        estimate(list(objective.margins(values)), bounds=objective.measure.difference_bounds),
        len(work.history), work.runs, time.perf_counter() - began_s, work.history,
    )  # fmt: skip


def sweep_of(
    shapes: Mapping[str, Mapping[str, Any]],
    rules: Rule | Sequence[Rule],
    setting: tuple[str, str],
    chosen: environments.Assumptions,
    *,
    replicates: int,
    seed: int = 1,
    metrics: str | Sequence[str] = "goodput",
    name: str = "search",
) -> Sweep:
    """Make the sweep of some rules over some waveforms.

    Parameters
    ----------
    shapes : mapping of str to mapping
        Label to waveform, rates in bit/s per test flow; each is a level of the axis ``case``. The
        axis ``recovery`` has one level.
    rules : rule or sequence of rules
        Levels of the axis ``rule``.
    setting : (str, str)
        Recovery and queue.
    chosen : Assumptions
        Assumptions of the network.
    replicates, seed : int
        Runs of each rule, and the seed of the first.
    metrics : str or sequence of str
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
        name=name, base=base, axes={"recovery": [recovery], "case": cases, "rule": listed(rules)},
        replicates=replicates, seed=seed, metrics=metrics, group="flow",
    )  # fmt: skip
