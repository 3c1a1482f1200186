"""`cwndlab.compare`: rules side by side over environments, in one call."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab import environments, native
from cwndlab.arguments import Progress, keywords, listed, some, whole
from cwndlab.comparison import Comparison, plan_rules
from cwndlab.environments import Assumptions
from cwndlab.environments.profile import assumed, words
from cwndlab.metrics import BY_KEY, Metric, chosen
from cwndlab.quantities import Quantity
from cwndlab.runs.collection import collect
from cwndlab.runs.until import MOST, targets_of
from cwndlab.scores import AXES

if TYPE_CHECKING:
    from distributed import Client

    from cwndlab.custom_rules import Rule
    from cwndlab.runs.plan import Plan
    from cwndlab.runs.store import Store


@keywords(instead=words)
def compare(
    rules: Rule | Sequence[Rule],
    *,
    env: str | Sequence[str] = "constant",
    queue: str | Sequence[str] = "drop-tail",
    recovery: str | Sequence[str] = "sack",
    replicates: int = 3,
    duration: Quantity | None = None,
    profile: str | None = None,
    home: str | Sequence[str] | None = None,
    assume: Assumptions | Mapping[str, Any] | None = None,
    seed: int = 1,
    patch: Mapping[str, Any] | None = None,
    trace: Mapping[str, Any] | None = None,
    metrics: str | Sequence[str] | None = None,
    until: str | None = None,
    most: int = MOST,
    jobs: int | None = None,
    store: Store | str | Path | None = None,
    on: str | Client | None = None,
    progress: Progress | None = None,
    keep: bool = True,
    run: bool = True,
) -> Comparison:
    """Compare rules over recovery schemes, queues and environments.

    Parameters
    ----------
    rules : rule or sequence of rules
        Rules in any notation that `cwndlab.rule` reads, classes, or instances; duplicates count
        once.
    env, queue, recovery : str or sequence of str
        Levels of the other axes. For env, ``"all"`` stands for the thirteen environments of
        Akella et al., ``"demo"`` for four, and ``"trace:FILE"`` for a link recorded in mahimahi's
        format.
    replicates : int
        Runs per cell, with seeds ``seed``, ``seed + 1``, ... in every cell.
    duration : str or float, optional
        Simulated time of a run (seconds if a bare number); by default that of the environments,
        100 s.
    profile : str, optional
        Profile of the TCP endpoints; by default that of the assumptions, ``"linux"``.
    home : {"simulator", "linux", "linux:NAME"} or sequence of them, optional
        Where the runs execute instead of in the simulator: a Linux kernel in virtual time. With
        several homes, each environment runs in each of them, named such as ``"constant at linux"``.
    assume : Assumptions or mapping, optional
        Assumptions of the environments, such as ``{"rtt": "40ms"}``.
    seed : int
        Seed of replicate 0.
    patch : mapping, optional
        Dotted keys to set in all runs, after all others.
    trace : mapping, optional
        The ``[trace]`` table of replicate 0; the others record none.
    metrics : str or sequence of str, optional
        Metrics to measure, in the order of the tables; by default `cwndlab.metrics.USUAL`.
    until : str, optional
        Add replicates until every 95 % interval is narrow enough, such as ``"ci(goodput) < 1%"``.
    most : int
        With `until`, the largest number of replicates of a cell.
    jobs : int, optional
        Number of threads; by default one for each processor.
    store : Store, str or Path, optional
        Keeps finished runs, so the same call continues where it was interrupted.
    on : str or Client, optional
        A dask.distributed scheduler, whose cluster executes the runs.
    progress : callable, optional
        Called with ``"runs"``, the number of finished runs, and the total.
    keep : bool
        Whether `Comparison.results` keeps every run's result.
    run : bool
        Whether to execute the runs. Without them the result has only its `plan`, as
        `cwndlab.runs.collection.collect` takes it.

    Returns
    -------
    Comparison
        `summary`, `scores` and `runs` are data frames; `table`, `plot` and `save` show them.

    Raises
    ------
    ScenarioError
        If a name or value is not valid.
    RunError
        If a run fails.
    StoreError
        If the store cannot be read or written.

    Examples
    --------
    >>> found = compare(["AIMD(1, 0.5)", "AIAD(1, 3)"], replicates=2, duration="2s")
    >>> found.runs.height, found.table("jain_index").columns
    (4, ['rule', 'constant'])
    >>> delays = compare("CUBIC", replicates=1, duration="2s", metrics="p95_rtt_s, p99_rtt_s").runs
    >>> 0.1 < delays["p95_rtt_s"][0] <= delays["p99_rtt_s"][0]
    True
    """
    asked = [native.rule(rule) for rule in some("rules", rules)]
    whole("replicates", replicates, 1)
    assumptions = assumed(assume, profile=profile, duration=duration)
    targets = targets_of(until, BY_KEY)
    measured = chosen(metrics, also=[target.metric for target in targets])
    homes = listed(home or ())
    if len(homes) == 1:
        patch = {**(patch or {}), "home": homes[0]}
    places = environments.at_homes(environments.names(some("env", env, "environments")), homes)
    plan = plan_rules(
        asked, env=places, queue=some("queue", queue, "queues"),
        recovery=some("recovery", recovery, "recovery schemes"),
        replicates=most if targets else replicates, assume=assumptions, seed=seed, patch=patch,
        metrics=measured,
    )  # fmt: skip
    planned = Comparison(
        plan, metrics=measured, targets=targets, first=replicates,
        definition=functools.partial(definition_of, plan, assumptions, measured),
    )  # fmt: skip
    if not run:
        return planned
    return collect(
        planned, store=store, jobs=jobs, on=on, trace=trace, progress=progress, keep=keep
    )


def definition_of(plan: Plan, chosen: Assumptions, metrics: Sequence[Metric]) -> dict[str, Any]:
    """Return the sweep that does the runs of a plan of `plan_rules`: a store keeps it with them."""
    from cwndlab.sweeps import Sweep

    usual = Assumptions()
    fields = [entry.name for entry in dataclasses.fields(Assumptions)]
    given = {name: getattr(chosen, name) for name in fields}
    sweep = Sweep.from_dict(
        {
            "name": "compare",
            "axes": {name: plan.labels[name] for name in AXES},
            "replicates": plan.replicates,
            "seed": plan.seed,
            "metrics": [metric.key for metric in metrics],
            "assume": {name: given[name] for name in fields if given[name] != getattr(usual, name)},
            "set": dict(plan.patch),
        }
    )
    return sweep.to_dict()
