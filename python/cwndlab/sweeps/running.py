"""Executes a sweep: reads finished runs from the store, does the others, and stores them."""

from __future__ import annotations

import dataclasses
import functools
import json
from array import array
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab.arguments import keywords, listed
from cwndlab.errors import ScenarioError
from cwndlab.message import missing
from cwndlab.names import KEYS
from cwndlab.runs.cell_scenarios import CellScenarios
from cwndlab.runs.execution import Execution, Finished, Place, opened
from cwndlab.runs.executors import Executor, built
from cwndlab.runs.plan import named
from cwndlab.runs.store import Store, Use, definition_digest
from cwndlab.scenario import DEFAULT_PROFILE, Scenario
from cwndlab.sweeps.axes import ENVIRONMENT, SHORT
from cwndlab.sweeps.definition import Sweep
from cwndlab.sweeps.events import Report
from cwndlab.sweeps.measures import measure
from cwndlab.sweeps.notes import notes_on_runs, same_runs, unmet
from cwndlab.sweeps.reading import former_profile, says_former_profile
from cwndlab.sweeps.result import SweepResult
from cwndlab.sweeps.traces import kept_traces

if TYPE_CHECKING:
    from distributed import Client

    from cwndlab.results import Result
    from cwndlab.runs.ns2_runs import Ns2Runs
    from cwndlab.runs.plan import Cell

SAME_RUNS = (
    "name", "replicates", "metrics", "distributions", "compare", "baseline", "until", "most", "yes",
)  # fmt: skip
"""Keys of a sweep that do not affect its runs."""
CHECKED = 10_000
"""Number of cells checked before the first run; the others are checked when their runs are due."""


def _instead() -> dict[str, str]:
    given = {**KEYS, **dict(zip(SHORT, SHORT, strict=True)), ENVIRONMENT: ENVIRONMENT}
    del given["duration"]  # It is a keyword of sweeps over environments.
    return {name: f'axes={{"{key}": [...]}}' for name, key in given.items()}


@keywords(lambda: [entry.name for entry in dataclasses.fields(Sweep)], _instead)
def sweep(
    source: Sweep | Scenario | Mapping[str, Any] | str | Path | None = None,
    *,
    axes: Mapping[str, Any] | None = None,
    replicates: int | None = None,
    until: str | None = None,
    most: int | None = None,
    seed: int | None = None,
    profile: str | None = None,
    home: str | Sequence[str] | None = None,
    patch: Mapping[str, Any] | None = None,
    yes: bool = False,
    store: Store | str | Path | None = None,
    again: bool = False,
    jobs: int | None = None,
    on: str | Client | None = None,
    progress: Callable[[dict[str, Any]], object] | None = None,
    **keys: Any,
) -> SweepResult:
    """Run a sweep: a base scenario, axes, replicates.

    Parameters
    ----------
    source : Sweep, Scenario, mapping, str or Path
        A sweep, or its file; with `axes` the base scenario, or its file. It is left out where an
        axis is ``env``.
    axes : mapping, optional
        Name to values: dotted keys of the scenario, ``rule``, ``recovery``, ``queue``, ``env``.
        Values are a sequence, a table of label = table of dotted keys, or a range:
        ``{"linspace": ["1Mbit", "10Mbit", 4]}``, ``{"logspace": [1, 1000, 4]}``,
        ``{"range": [2, 10, 2]}``.
    replicates : int, optional
        Runs per cell, by default the sweep's.
    until : str, optional
        Add replicates until every 95 % interval is narrow enough, such as ``"ci(goodput) < 1%"``.
    most : int, optional
        With `until`, the largest number of replicates of a cell.
    seed : int, optional
        Seed of replicate 0.
    profile : str, optional
        Profile of the TCP endpoints that replaces the base scenario's.
    home : {"simulator", "linux", "linux:NAME"} or sequence of them, optional
        Where the runs execute, instead of the base scenario's home: the simulator, or a Linux
        kernel in virtual time. Several are an axis.
    patch : mapping, optional
        Dotted keys of the base scenario to set.
    yes : bool
        Allow more than ten million runs.
    store : Store, str or Path, optional
        Keeps finished runs, so the same call continues where it was interrupted.
    again : bool
        Whether to repeat every run, even those in the store.
    jobs : int, optional
        Number of threads; by default one for each processor.
    on : str or Client, optional
        A dask.distributed scheduler, whose cluster executes the runs.
    progress : callable, optional
        Called with events as dictionaries (docs/sweeps.md lists them).
    **keys
        Other keys of a sweep: ``metrics``, ``name``, ``zip``, ``compare``, ``baseline``, ...
        (`Sweep`).

    Returns
    -------
    SweepResult

    Raises
    ------
    ScenarioError
        If the sweep is not valid.
    StoreError
        If the store cannot be read or written.

    Examples
    --------
    >>> from cwndlab import dumbbell
    >>> base = dumbbell("2Mbit", "10ms", flows="AIMD(1, 0.5)", duration="5s")
    >>> found = sweep(base, axes={"dumbbell.queue.limit": {"logspace": ["5pkt", "20pkt", 3]}},
    ...               replicates=2, metrics=["goodput"])
    >>> found.table()["dumbbell.queue.limit"].to_list()
    ['5pkt', '10pkt', '20pkt']
    """
    homes = listed(home or ())
    settings = {**(patch or {}), **({} if profile is None else {"profile": profile})}
    chosen = as_sweep(
        source, axes=axes, replicates=replicates, until=until, most=most, seed=seed,
        patch=settings, yes=yes or None, **keys,
    )  # fmt: skip
    chosen = at_homes(chosen, homes)
    return chosen.run(store, jobs=jobs, on=on, again=again, progress=progress)


def at_homes(sweep: Sweep, homes: Sequence[str]) -> Sweep:
    """Return a sweep at these homes: several are levels of an axis, and so is one of such a sweep.

    Without homes it stays as it is.
    """
    if not homes:
        return sweep
    if len(homes) > 1 or "home" in sweep.axes:
        return dataclasses.replace(sweep, axes={**sweep.axes, "home": list(homes)})
    return as_sweep(sweep, patch={"home": homes[0]})


def as_sweep(
    source: Sweep | Scenario | Mapping[str, Any] | str | Path | None = None,
    *,
    axes: Mapping[str, Any] | None = None,
    patch: Mapping[str, Any] | None = None,
    **keys: Any,
) -> Sweep:
    """Make a sweep of what `sweep` takes; keys that are None are as in the source."""
    changes = {key: value for key, value in keys.items() if value is not None}
    if axes is not None:
        base = source.to_dict() if isinstance(source, Scenario) else source
        given: dict[str, Any] = {"base": base or {}, "axes": axes}
    elif isinstance(source, str | Path):
        return Sweep.load(source, patch=patch, **changes)
    elif source is None or isinstance(source, Scenario):
        raise ScenarioError(missing("axes", "one axis or more of the base scenario"))
    else:
        given = source.to_dict() if isinstance(source, Sweep) else dict(source)
    return Sweep.from_dict({**given, **changes, "set": {**given.get("set", {}), **(patch or {})}})


def execute(
    sweep: Sweep,
    findings: SweepResult,
    store: Store | str | Path | None = None,
    *,
    jobs: int | None = None,
    executor: Executor | None = None,
    on: str | Client | None = None,
    in_ns2: Ns2Runs | None = None,
    again: bool = False,
    more: Mapping[int, range] | None = None,
    progress: Callable[[dict[str, Any]], object] | None = None,
) -> SweepResult:
    """Execute a sweep as `Sweep.run` does, and fill `findings`.

    The caller keeps them after Ctrl-C. With `in_ns2` its runs are runs of ns-2. With `more` only
    these replicates of these cells run, also some beyond those of the sweep.
    """
    report = Report(sweep, findings, progress)
    is_ours = not isinstance(store, Store)
    with opened(store, jobs=jobs, executor=in_ns2 or executor, on=on, workers=report.workers) as (
        kept,
        chosen,
    ):
        make = CellScenarios if in_ns2 is None else in_ns2.scenarios
        work = _Work(sweep, findings, report, kept, make)
        execution = Execution(
            work.scenarios,
            work,
            chosen,
            kept,
            use=work.use,
            again=again,
            traces=functools.partial(kept_traces, sweep) if sweep.traces or sweep.traced else None,
            needed=sweep.traced,
        )
        try:
            work.check()
            if kept is not None:
                asked = sweep.to_dict()
                work.definition = definition_digest(
                    {key: asked[key] for key in asked if key not in SAME_RUNS}
                )
                if sweep.endpoints.startswith(f"profile {DEFAULT_PROFILE}") and (
                    former := former_profile(kept, sweep.name)
                ):
                    report.note(says_former_profile(sweep.name, former))
                kept.define(sweep.name, asked, work.definition)
            if more is None:
                work.all(execution)
            else:
                execution.do(more.items())
        finally:
            execution.let_go()
    if is_ours and kept is not None:
        # The owner of a store that was passed in reads its notes.
        findings.notes += kept.notes
    return findings


class _Work:
    """What one execution of a sweep finds: a listener."""

    def __init__(
        self,
        sweep: Sweep,
        findings: SweepResult,
        report: Report,
        store: Store | None,
        make: Callable[[Cell, str | float | None], CellScenarios],
    ) -> None:
        self.sweep, self.findings, self.report, self._store = sweep, findings, report, store
        self._make = make
        self.definition = ""
        self._digests: array[int] = array("Q")
        """First digits of the key of each cell's first replicate: equal digits mean equal runs."""

    def check(self) -> None:
        """Check before the first run that every metric can be measured, and the cells.

        A sweep that is refused here leaves nothing in the store.
        """
        cell = next(self.sweep.plan.cells())
        outcome = built(cell.document())
        if outcome.error:
            raise ScenarioError(f"cell {named(cell.labels)}: {outcome.error}")
        measure(
            json.loads(outcome.result),
            self.sweep.measures,
            self.sweep.link,
            self.sweep.measured_group,
        )

        cells = self.sweep.plan.count // self.sweep.plan.replicates
        self.report.begin(
            cells,
            cells * self.sweep.first_replicates,
            None if self._store is None else str(self._store.path),
        )
        self._check_cells(min(cells, CHECKED))

    def all(self, execution: Execution) -> None:
        """Do every run; with a target, in rounds until every cell meets it."""
        sweep, findings = self.sweep, self.findings
        cells = sweep.plan.count // sweep.plan.replicates
        if cells <= CHECKED:
            self._note(same_runs(findings, self._digests))
        needed = findings.needed if sweep.targets else None
        execution.rounds(cells, sweep.first_replicates, sweep.most, needed)
        self._note(notes_on_runs(findings))
        if cells > CHECKED:
            self._note(same_runs(findings, self._digests))
        if execution.unkept:
            unkept = (
                "the source of their rule or a file they name cannot be had or changed meanwhile"
            )
            self._note([f"{execution.unkept} runs are not in the store: {unkept}"])
        self.report.end()

    def finished(self, place: Place, found: Finished) -> None:
        """Measure a run."""
        sweep, run = self.sweep, found.run
        values = measure(run, sweep.measures, sweep.link, sweep.measured_group)
        traced = self._traced(found)
        self.findings.put(
            place.cell, place.replicate, run["trace_hash"], values, run["flows"], traced
        )
        if found.is_stored:
            self.report.found()
        else:
            labels = self.findings.labels(place.cell)
            self.report.run(place.key, labels, place.replicate, run, found.duration_s, values)

    def _traced(self, found: Finished) -> Result | None:
        """Return a run with the traces that figures read; None where they read none."""
        if not self.sweep.traced:
            return None
        from cwndlab.results import Result

        whole = found.traces or {}
        traces = {name: whole[name] for name in self.sweep.traced if name in whole}
        return Result.from_json(found.result, json.loads(found.scenario), traces)

    def failed(self, place: Place, error: str) -> None:
        """Note a run that ended with an error."""
        labels = self.findings.labels(place.cell)
        self.findings.failed.append({"cell": labels, "replicate": place.replicate, "error": error})
        self.report.failed(labels, place.replicate, error)

    def tick(self) -> None:
        """Report progress."""
        self.report.tick()

    def round(self, number: int, cells: int, runs: int) -> None:
        """Report another round."""
        self.report.round(number, cells, runs)

    def settled(self, cell: int, replicates: int) -> None:
        """Note the targets that a cell missed."""
        if entry := unmet(self.findings, cell, replicates):
            self.findings.unmet.append(entry)

    def use(self, place: Place) -> Use:
        """Return the place of a run in the store."""
        labels = self.findings.labels(place.cell)
        return Use.of(self.sweep.name, labels, place.replicate, place.key, self.definition)

    def scenarios(self, index: int) -> CellScenarios:
        """Return the scenarios of a cell, and note the key of its first replicate."""
        texts = self._make(self.sweep.plan.cell(index), self.sweep.count_arrivals)
        if index == len(self._digests):
            self._digests.append(int(texts.key(0)[:16] or "0", 16))
        return texts

    def _check_cells(self, many: int) -> None:
        """Check cells before they run: axes may be valid one by one, and not together."""
        for index in range(many):
            self.scenarios(index)
            self.report.checked(index + 1, many)

    def _note(self, texts: list[str]) -> None:
        self.findings.notes += texts
        for text in texts:
            self.report.note(text)
