"""What a store has of a sweep, finished or not, without doing any of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from cwndlab.errors import ScenarioError, StoreError
from cwndlab.store import Store, Use
from cwndlab.sweep.definition import Sweep
from cwndlab.sweep.findings import Findings
from cwndlab.sweep.measures import measure
from cwndlab.sweep.stored import PROVENANCE


class Kept(NamedTuple):
    """A sweep of a store: what it asks for, and what is there of it."""

    findings: Findings
    runs: list[dict[str, Any]]
    """Finished runs in the order of the sweep: ``cell``, ``replicate``, ``seed``, ``trace_hash`` and where each comes
    from (`PROVENANCE`)."""
    others: int
    """Runs under the sweep's name that its latest definition does not ask for: axes or values that are gone."""

    @property
    def wanted(self) -> int:
        """Runs that the sweep asks for at least; with `Sweep.until` there may be more."""
        sweep = self.findings.sweep
        first = min(sweep.replicates, sweep.most) if sweep.targets else sweep.replicates
        return sweep.plan.count // sweep.plan.replicates * first

    @property
    def cells_without_runs(self) -> int:
        """Cells of which no run has finished."""
        plan = self.findings.sweep.plan
        return sum(self.findings.count(index) == 0 for index in range(plan.count // plan.replicates))

    @property
    def missing(self) -> int:
        """Runs that are asked for in any case, and are not there."""
        sweep = self.findings.sweep
        cells = sweep.plan.count // sweep.plan.replicates
        each = self.wanted // cells
        return sum(max(0, each - self.findings.count(index)) for index in range(cells))

    @property
    def wide(self) -> int:
        """Cells with runs whose intervals are still wider than `Sweep.until` asks for."""
        findings, sweep = self.findings, self.findings.sweep
        cells = (index for index in range(sweep.plan.count // sweep.plan.replicates) if findings.count(index))
        return sum(
            any(target.needed(findings.values(index, target.metric)) is not None for target in sweep.targets)
            for index in cells
        )


def read_sweep(store: Store, name: str, progress: Callable[[int, int], object] | None = None) -> Kept:
    """Read the finished runs of a sweep.

    Parameters
    ----------
    store : Store
        Where they are.
    name : str
        The sweep.
    progress : callable, optional
        Gets the number of runs read and of all that are to be read.

    Raises
    ------
    StoreError
        If the store has no such sweep, or its definition cannot be read here: it names a file that is elsewhere.

    Examples
    --------
    >>> import tempfile
    >>> from cwndlab import dumbbell
    >>> base = dumbbell("2Mbit", "10ms", flows="AIMD(1, 0.5)", duration="2s").to_dict()
    >>> sweep = Sweep(name="two", base=base, axes={"rule": ["AIMD(1, 0.5)", "CUBIC"]}, replicates=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = sweep.run(folder)
    ...     kept = read_sweep(Store(folder, write=False), "two")
    >>> kept.findings.summary.equals(found.summary), kept.missing
    (True, 0)
    """
    definitions = store.definitions()
    if name not in definitions:
        allowed = ", ".join(definitions) or "none yet"
        raise StoreError(f"sweep: `{name}` is not in the store `{store.path}`; allowed: {allowed}")
    try:
        sweep = Sweep.from_dict(definitions[name])
    except (OSError, ScenarioError) as error:
        raise StoreError(
            f"sweep: the definition of `{name}` cannot be read here ({error}); allowed: with the files that it names"
        ) from error
    return _gather(store, sweep, store.uses(name), progress)


def _gather(store: Store, sweep: Sweep, uses: list[Use], progress: Callable[[int, int], object] | None) -> Kept:
    plan, findings = sweep.plan, Findings(sweep)
    cells = {}
    for index in range(plan.count // plan.replicates):
        cells[frozenset(sweep.columns(plan.cell(index).labels).items())] = index
    places: dict[str, list[tuple[int, int]]] = {}
    others = 0
    for use in uses:
        index = cells.get(frozenset(use.cell.items()))
        if index is None or use.replicate >= plan.replicates:
            others += 1
        else:
            places.setdefault(use.key, []).append((index, use.replicate))
    found: list[tuple[tuple[int, int], dict[str, Any]]] = []
    for done, record in enumerate(store.records(places) if places else (), 1):
        values = measure(record.run(), sweep.measures, sweep.link, sweep.measured_group)
        about = {key: getattr(record, key) for key in ("seed", "trace_hash", *PROVENANCE)}
        for index, replicate in places[record.key]:
            findings.put(index, replicate, record.trace_hash, values)
            cell = sweep.columns(plan.cell(index).labels)
            found.append(((index, replicate), {"cell": cell, "replicate": replicate, **about}))
        if progress is not None:
            progress(done, len(places))
    found.sort(key=lambda entry: entry[0])
    return Kept(findings, [row for _, row in found], others)
