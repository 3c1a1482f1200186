"""A search for rules from beginning to end: training, adversary, validation, hidden conditions."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cwndlab.arguments import Progress, keywords
from cwndlab.assessment import adversary
from cwndlab.designs import optimiser
from cwndlab.designs.aims import Aim, Constraint
from cwndlab.designs.conditions import Conditions, Meter, reduced
from cwndlab.designs.result import Designed, DesignResult, Sensitivity
from cwndlab.designs.searching import (
    DROPPED,
    Search,
    Tried,
    costs_of,
    with_size,
)
from cwndlab.designs.specification import HIDDEN, VALIDATION, Specification
from cwndlab.runs.execution import opened
from cwndlab.statistics import difference_bounds, estimate

if TYPE_CHECKING:
    from distributed import Client

    from cwndlab.runs.store import Store

SEED_STEP = 100_000
"""Distance between the seeds of training, validation and hidden conditions."""
ATTACKED = 3
"""Rules of the frontier that the adversary attacks."""


@keywords(lambda: [entry.name for entry in dataclasses.fields(Specification)])
def design(
    specification: Specification | Mapping[str, Any] | str | Path | None = None,
    *,
    store: Store | str | Path | None = None,
    jobs: int | None = None,
    on: str | Client | None = None,
    progress: Progress | None = None,
    **changes: Any,
) -> DesignResult:
    """Search for rules: the frontier of a family, or of formulas, for several objectives.

    Parameters
    ----------
    specification : Specification, mapping, str or Path, optional
        What to search, or its TOML file; by default made of `changes`.
    store : Store, str or Path, optional
        Keeps finished runs, so the same call continues where it was interrupted.
    jobs : int, optional
        Number of threads; by default one for each processor.
    on : str or Client, optional
        A dask.distributed scheduler, whose cluster executes the runs.
    progress : callable, optional
        Called with the current step, the number of rules tried, and the total.
    **changes
        Keys of `cwndlab.designs.Specification`, which override those of the file.

    Returns
    -------
    DesignResult
        The frontier, measured on the hidden conditions with new seeds.

    Raises
    ------
    ScenarioError
        If the specification is not valid.
    MissingPackageError
        If pymoo is not installed.

    Examples
    --------
    >>> found = design(family="AIMD(?, ?)", objectives="goodput, delay", budget=8, population=4,
    ...                replicates=1, validate=2, confirm=2, duration="5s", robustness=False)
    >>> len(found.tried), [one.rule for one in found.references]
    (8, ['AIMD(1, 0.5)', 'AIAD(1, 3)', 'CUBIC'])
    """
    if isinstance(specification, str | Path):
        given = Specification.load(specification, **changes)
    else:
        is_made = isinstance(specification, Specification)
        keys = specification.to_dict() if is_made else dict(specification or {})
        given = Specification.from_dict({**keys, **changes})
    began_s = time.perf_counter()
    with opened(store) as (kept, _):
        meter = Meter(kept, jobs, on)
        work = Search(given, meter, progress)
        links = _train(given, work, progress)
        chosen, merged, validated = _validate(given, work, meter, progress)
        frontier, references = _confirm(given, meter, chosen, merged, validated, progress)
    aims = work.aims
    tried = [
        {"rule": one.rule, "size": one.size, "generation": one.generation,
         "replicates": one.values.shape[1], "dropped": one.is_dropped,
         **{aim.text: float(value) for aim, value in zip(aims, one.means(), strict=True)}}
        for one in work.tried.values()
    ]  # fmt: skip
    return DesignResult(
        given, frontier, references, tried, links, meter.runs, meter.packets,
        time.perf_counter() - began_s,
    )  # fmt: skip


def _train(given: Specification, work: Search, progress: Progress | None) -> list[str]:
    """Search; return what an adversary found meanwhile."""
    if not given.adversary:
        work.run(given.budget)
        return []
    work.run(given.budget // 2)
    if progress is not None:
        progress("worst links for the best rules", len(work.tried), given.budget)
    best = _spread(work.frontier(), work.aims, ATTACKED)
    cases: dict[str, Mapping[str, Any]] = {}
    texts: list[str] = []
    for one in best:
        others = [rule for rule in given.against if rule != one.rule]
        found = adversary.worst_link(
            one.rule, others, budget=given.adversary, seed=given.seed, profile=given.profile,
            home=given.home or None, store=work.meter.store,
        )  # fmt: skip
        cases[found.words] = found.keys
        texts.append(found.text)
    if cases:
        base = {**adversary.base(given.profile), "duration": given.duration}
        base.pop("measure")
        work.add(Conditions(cases=cases, base=base, home=given.home))
    work.run(given.budget, start=[one.x for one in work.frontier()])
    return texts


def _validate(
    given: Specification, work: Search, meter: Meter, progress: Progress | None
) -> tuple[list[Tried], dict[str, list[str]], dict[str, np.ndarray]]:
    """Measure the best rules on other conditions; drop what fails there, and merge equals."""
    if progress is not None:
        progress("validating", given.budget, given.budget)
    best = _spread(work.frontier(), work.aims, 2 * given.frontier)
    values = _measured(
        meter, given.sets[VALIDATION], best, work.aims, given.seed + SEED_STEP, given.validate
    )
    allowed = [one for one in best if _is_allowed(values[one.rule], work.aims, work.limits)]
    count = len(given.aims)
    costs = np.array([costs_of(values[one.rule].mean(axis=1), work.aims)[:count]
                      for one in allowed])  # fmt: skip
    rank = optimiser.ranks(np.nan_to_num(costs, nan=DROPPED))
    kept = [allowed[at] for at in np.flatnonzero(rank == 0)]
    chosen, merged = merge(
        kept, {one.rule: values[one.rule][:count] for one in kept}, work.aims[:count]
    )
    return _spread(chosen, work.aims, given.frontier), merged, values


def merge(
    rules: Sequence[Tried], values: Mapping[str, np.ndarray], aims: Sequence[Aim]
) -> tuple[list[Tried], dict[str, list[str]]]:
    """Merge rules that differ by noise: the interval of no paired difference excludes 0.

    The shortest rule stands for the others.
    """
    merged: dict[str, list[str]] = {}
    kept: list[Tried] = []
    for one in sorted(rules, key=lambda one: (one.size, len(one.rule))):
        twin = next(
            (other for other in kept if _is_equal(values[one.rule], values[other.rule], aims)), None
        )
        if twin is None:
            kept.append(one)
            merged[one.rule] = []
        else:
            merged[twin.rule].append(one.rule)
    return kept, merged


def _is_equal(one: np.ndarray, other: np.ndarray, aims: Sequence[Aim]) -> bool:
    for at in range(len(aims)):
        found = estimate((one[at] - other[at]).tolist())
        if found.low is None or found.high is None or not found.low <= 0.0 <= found.high:
            return False
    return True


def _confirm(
    given: Specification,
    meter: Meter,
    chosen: Sequence[Tried],
    merged: Mapping[str, list[str]],
    validated: Mapping[str, np.ndarray],
    progress: Progress | None,
) -> tuple[list[Designed], list[Designed]]:
    """Measure the frontier and the references on the hidden conditions."""
    if progress is not None:
        progress("measuring on hidden conditions", given.budget, given.budget)
    aims = given.measured
    references = [
        Tried(rule, (), 0, 0, np.zeros((len(aims), 1)))
        for rule in given.against
        if rule not in [one.rule for one in chosen]
    ]
    values = _measured(
        meter, given.sets[HIDDEN], [*chosen, *references], aims, given.seed + 2 * SEED_STEP,
        given.confirm,
    )  # fmt: skip
    if given.robustness and chosen and progress is not None:
        progress("changing each parameter", given.budget, given.budget)
    found: list[Designed] = []
    for one in (*chosen, *references):
        is_found = bool(len(one.x))
        found.append(
            Designed(
                one.rule, one.size,
                _by_aim(one.means(), aims) if is_found else {},
                _by_aim(validated[one.rule].mean(axis=1), aims) if is_found else {},
                {
                    aim.text: estimate(values[one.rule][at].tolist(), bounds=aim.bounds)
                    for at, aim in enumerate(aims)
                },
                {
                    other: _differences(values[one.rule], values[other], aims)
                    for other in given.against
                    if other != one.rule
                },
                merged.get(one.rule, []),
                _robustness(given, meter, one, validated[one.rule])
                if is_found and given.robustness else {},
            )
        )  # fmt: skip
    first = aims[0]
    count = len(chosen)
    ordered = sorted(
        found[:count],
        key=lambda one: _cost(one.hidden[first.text].mean, first),
    )
    return ordered, found[count:]


def _cost(value: float | None, aim: Aim) -> float:
    return np.inf if value is None else -value if aim.more_is_better else value


def _differences(one: np.ndarray, other: np.ndarray, aims: Sequence[Aim]) -> dict[str, Any]:
    return {
        aim.text: estimate((one[at] - other[at]).tolist(), bounds=difference_bounds(aim.bounds))
        for at, aim in enumerate(aims)
    }


def _robustness(
    given: Specification, meter: Meter, one: Tried, before: np.ndarray
) -> dict[str, Sensitivity]:
    """Change each number of a rule by 20 %, on the validation conditions."""
    changes = dict[str, str]()
    for change, rule in given.space.near(one.x):
        changes.setdefault(rule, change)
    changes.pop(one.rule, None)
    if not changes:
        return {}
    aims = given.aims
    rules = [Tried(rule, (), one.size, 0, before) for rule in changes]
    replicates = min(given.validate, 2)
    values = _measured(
        meter, given.sets[VALIDATION], rules, aims, given.seed + SEED_STEP, replicates
    )
    found: dict[str, Sensitivity] = {}
    for at, aim in enumerate(aims):
        own = float(before[at, :replicates].mean())
        means = {rule: float(values[rule][at].mean()) for rule in changes}
        known = {rule: mean for rule, mean in means.items() if not np.isnan(mean)}
        if not known:
            continue
        worst = max(known, key=lambda rule: _cost(known[rule], aim))
        found[aim.text] = Sensitivity(changes[worst], known[worst], own)
    return found


def _measured(
    meter: Meter,
    block: Conditions,
    rules: Sequence[Tried],
    aims: Sequence[Aim],
    seed: int,
    replicates: int,
) -> dict[str, np.ndarray]:
    """Measure rules; return their values, shape (aims, replicates)."""
    if not rules:
        return {}
    found = meter.measure(
        block, [one.rule for one in rules], aims, seed=seed, replicates=replicates
    )
    return {one.rule: with_size(reduced(found[one.rule], aims), aims, one.size) for one in rules}


def _is_allowed(values: np.ndarray, aims: Sequence[Aim], limits: Sequence[Constraint]) -> bool:
    means = values.mean(axis=1)
    return all(limit.excess(float(means[aims.index(limit.aim)])) <= 0.0 for limit in limits)


def _by_aim(means: np.ndarray, aims: Sequence[Aim]) -> dict[str, float]:
    return {aim.text: float(value) for aim, value in zip(aims, means, strict=True)}


def _spread(rules: Sequence[Tried], aims: Sequence[Aim], most: int) -> list[Tried]:
    """Return so many rules, far from each other: always the one whose nearest kept is farthest.

    Distances are in shares of each objective's range; the first is the best in the first objective.
    """
    if len(rules) <= most:
        return list(rules)
    costs = np.array([costs_of(one.means(), aims) for one in rules])
    span = np.ptp(costs, axis=0)
    places = costs / np.where(span > 0, span, 1.0)
    kept = [int(np.argmin(costs[:, 0]))]
    while len(kept) < most:
        nearest = np.min([np.linalg.norm(places - places[at], axis=1) for at in kept], axis=0)
        kept.append(int(np.argmax(nearest)))
    return [rules[at] for at in kept]
