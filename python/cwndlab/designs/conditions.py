"""The conditions of a search for rules: networks, and what rules achieve on them.

A block of conditions is either a set of environments, queues and recovery schemes, as
`cwndlab.compare` has them, or a scenario with cases. Every rule gets the same seeds (common random
numbers), so that differences between rules are paired. Values beside another rule (harm, share)
come from runs in which both share the bottleneck (`cwndlab.against`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from cwndlab.designs.aims import BESIDE, FLUID, METRIC, Aim
from cwndlab.designs.space import dynamics
from cwndlab.environments.profile import assumed
from cwndlab.errors import RunError, ScenarioError
from cwndlab.pairwise import against
from cwndlab.runs.collection import collect
from cwndlab.runs.execution import opened
from cwndlab.scenario import check_rule
from cwndlab.searches.objective import BOUNDS
from cwndlab.sweeps import Sweep, SweepResult, at_homes, execute
from cwndlab.theory import axioms

if TYPE_CHECKING:
    from distributed import Client

    from cwndlab.runs.store import Store

Found = dict[str, np.ndarray]
"""Rule to its values, shape (aims, replicates, conditions); NaN where an aim has no value."""


@dataclass(frozen=True)
class Conditions:
    """A block of conditions.

    Attributes
    ----------
    env, queue, recovery : tuple of str
        Levels of a comparison; their product are the conditions.
    cases : mapping
        Label to dotted keys of `base`, instead of environments.
    base : mapping
        The scenario of the cases; its flows get the rule.
    duration, profile : str
        Of every run; the profile is that of the TCP endpoints.
    home : str
        Where the runs go; empty: the simulator, or the home of `base`.
    assume : mapping
        Assumptions of the environments.
    flows : int
        Flows of each of two rules that share a bottleneck.
    """

    env: tuple[str, ...] = ("constant",)
    queue: tuple[str, ...] = ("drop-tail",)
    recovery: tuple[str, ...] = ("sack",)
    cases: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    base: Mapping[str, Any] = field(default_factory=dict[str, Any])
    duration: str = "40s"
    profile: str = "linux"
    home: str = ""
    assume: Mapping[str, Any] = field(default_factory=dict[str, Any])
    flows: int = 4

    @property
    def labels(self) -> list[str]:
        """The conditions in words."""
        if self.cases:
            return list(self.cases)
        return [
            f"{env}, {recovery}/{queue}"
            for recovery in self.recovery
            for queue in self.queue
            for env in self.env
        ]


class Meter:
    """Measures rules, and counts what that takes.

    Parameters
    ----------
    store, jobs, on
        As of `cwndlab.compare`.
    """

    def __init__(self, store: Store | None, jobs: int | None, on: str | Client | None) -> None:
        self.store: Store | None = store
        self.jobs: int | None = jobs
        self.on: str | Client | None = on
        self.runs: int = 0
        self.packets: int = 0
        """Packets that were simulated here; runs of a store or a cluster do not count."""

    def measure(
        self,
        block: Conditions,
        rules: Sequence[str],
        aims: Sequence[Aim],
        *,
        seed: int,
        replicates: int,
    ) -> Found:
        """Measure rules on a block of conditions, with these seeds.

        Examples
        --------
        >>> aims = [Aim.read(text) for text in ("goodput", "harm(CUBIC)", "fluid(fairness)")]
        >>> block, rule = Conditions(duration="5s", flows=2), "AIMD(1, 0.5)"
        >>> found = Meter(None, 1, None).measure(block, [rule], aims, seed=1, replicates=2)
        >>> found[rule].shape, round(float(found[rule][2, 0, 0]), 6)
        ((3, 2, 1), 1.0)
        """
        shape = (len(aims), replicates, len(block.labels))
        found = {rule: np.full(shape, np.nan) for rule in rules}
        rules = [rule for rule in rules if _runs(rule, block.home)]
        own = [(at, aim) for at, aim in enumerate(aims) if aim.kind == METRIC]
        if own and rules:
            self._alone(block, rules, own, found, seed, replicates)
        # A rule whose run alone failed, such as a formula that overflows, has no value anywhere.
        sound = [
            rule for rule in rules
            if not own or not np.isnan(found[rule][[at for at, _ in own]]).all()
        ]  # fmt: skip
        for other in dict.fromkeys(aim.other for aim in aims if aim.kind == BESIDE):
            mine = [(at, aim) for at, aim in enumerate(aims) if aim.other == other]
            self._beside(block, sound, other, mine, found, seed, replicates)
        for at, aim in enumerate(aims):
            if aim.kind == FLUID:
                for rule in rules:
                    found[rule][at] = axioms.AXIOMS[aim.name].degree(dynamics(rule))
        return found

    def _alone(
        self,
        block: Conditions,
        rules: Sequence[str],
        aims: Sequence[tuple[int, Aim]],
        found: Found,
        seed: int,
        replicates: int,
    ) -> None:
        metrics = list(
            dict.fromkeys(key for _, aim in aims for key in (aim.name, BOUNDS.get(aim.name)) if key)
        )
        common: dict[str, Any] = {
            "name": "design", "replicates": replicates, "seed": seed, "metrics": metrics,
        }  # fmt: skip
        if block.cases:
            axes = {"case": dict(block.cases), "rule": [*rules]}
            sweep = Sweep(base=block.base, axes=axes, **common)
        else:
            axes = {
                "recovery": [*block.recovery], "queue": [*block.queue], "env": [*block.env],
                "rule": [*rules],
            }  # fmt: skip
            sweep = Sweep(
                axes=axes, duration=block.duration,
                assume={**block.assume, "profile": block.profile}, **common,
            )  # fmt: skip
        sweep = at_homes(sweep, [block.home] if block.home else [])
        result = SweepResult(sweep)
        with opened(self.store, jobs=self.jobs, on=self.on, packets=self._count) as opened_here:
            execute(sweep, result, opened_here[0], executor=opened_here[1])
        self.runs += len(result)
        self._fill(block, result.runs, [(at, aim.name) for at, aim in aims], found)

    def _beside(
        self,
        block: Conditions,
        rules: Sequence[str],
        other: str,
        aims: Sequence[tuple[int, Aim]],
        found: Found,
        seed: int,
        replicates: int,
    ) -> None:
        if block.cases:
            return  # A scenario has one group of flows: nobody shares it with another rule.
        try:
            self._share(block, rules, other, aims, found, seed, replicates)
        except RunError:
            for rule in rules:
                try:
                    self._share(block, [rule], other, aims, found, seed, replicates)
                except RunError:
                    continue

    def _share(
        self,
        block: Conditions,
        rules: Sequence[str],
        other: str,
        aims: Sequence[tuple[int, Aim]],
        found: Found,
        seed: int,
        replicates: int,
    ) -> None:
        if not rules:
            return
        chosen = assumed(block.assume, profile=block.profile, duration=block.duration)
        planned = against(
            rules, other, flows=block.flows, queue=block.queue, recovery=block.recovery,
            env=block.env, replicates=replicates, assume=chosen, seed=seed,
            home=block.home or None, run=False,
        )  # fmt: skip
        collect(
            planned, store=self.store, jobs=self.jobs, on=self.on, packets=self._count, keep=False
        )
        self.runs += len(planned.plan)
        self._fill(block, planned.runs, [(at, aim.name) for at, aim in aims], found)

    def _fill(
        self, block: Conditions, rows: Any, columns: Iterable[tuple[int, str]], found: Found
    ) -> None:
        places = {label: at for at, label in enumerate(block.labels)}
        wanted = list(columns)
        for row in rows.to_dicts():
            rule = row["rule"]
            if rule not in found:
                continue  # The other rule's own runs, which are the baseline of harm.
            label = (
                row["case"] if block.cases
                else f"{row['env']}, {row['recovery']}/{row['queue']}"
            )  # fmt: skip
            for at, column in wanted:
                values = [row[column], *([row[BOUNDS[column]]] if column in BOUNDS else [])]
                found[rule][at, row["replicate"], places[label]] = min(
                    (value for value in values if value is not None), default=np.nan
                )

    def _count(self, packets: int) -> None:
        self.packets += packets


def _runs(rule: str, home: str) -> bool:
    """Whether a home can run a rule: a kernel has not every formula."""
    if not home:
        return True
    try:
        check_rule(rule, home)
    except ScenarioError:
        return False
    return True


def reduced(values: np.ndarray, aims: Sequence[Aim]) -> np.ndarray:
    """Reduce values over conditions: their mean, or the worst.

    Parameters
    ----------
    values : ndarray, shape (aims, replicates, conditions)
        As `Meter.measure` returns them; conditions where an aim has no value do not count.

    Returns
    -------
    ndarray, shape (aims, replicates)

    Examples
    --------
    >>> aims = [Aim.read("goodput"), Aim.read("worst(goodput)"), Aim.read("worst(loss)")]
    >>> reduced(np.array([[[0.5, 1.0]], [[0.5, 1.0]], [[0.5, 1.0]]]), aims)[:, 0].tolist()
    [0.75, 0.5, 1.0]
    """
    reduce = {
        (False, False): np.nanmean,
        (False, True): np.nanmean,
        (True, True): np.nanmin,
        (True, False): np.nanmax,
    }
    found = np.full(values.shape[:2], np.nan)
    for at, aim in enumerate(aims):
        known = values[at][:, ~np.isnan(values[at]).all(axis=0)]
        if known.shape[1] and not np.isnan(known).all(axis=1).any():
            found[at] = reduce[aim.is_worst, aim.more_is_better](known, axis=1)
    return found
