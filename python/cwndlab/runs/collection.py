"""Finished runs of a plan: what all comparisons share."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import polars as pl

from cwndlab.arguments import Progress
from cwndlab.columns import ESTIMATE
from cwndlab.errors import RunError, ScenarioError
from cwndlab.files import made_folder, write_parquet, write_whole
from cwndlab.jsontext import dumps
from cwndlab.message import unknown
from cwndlab.metrics import Metric
from cwndlab.outputs import stamped
from cwndlab.result_tables import ResultTables
from cwndlab.results import Result
from cwndlab.runs.cell_scenarios import CellScenarios
from cwndlab.runs.execution import Execution, Finished, Place, opened
from cwndlab.runs.plan import Plan, Run, named
from cwndlab.runs.store import Store, Use, definition_digest
from cwndlab.runs.until import LEAST, Target
from cwndlab.scenario import Scenario

if TYPE_CHECKING:
    from distributed import Client
    from matplotlib.figure import Figure


@dataclass(repr=False)
class Collection(ResultTables):
    """A plan with its finished runs.

    Subclasses define the measures of a run and the tables.
    """

    plan: Plan
    """With a target (`collect`) its replicates are the most that a cell may have."""
    results: dict[int, Result] = field(default_factory=dict[int, Result])
    """Kept results by the index of their run in the plan."""
    measured: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    """Measures, cell, replicate and seed of every finished run, by its index."""
    unmet: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Cells that missed the target: ``cell``, ``replicates``."""
    complete: bool = False
    """Whether every run has finished."""
    targets: Sequence[Target] = ()
    """Replicates are added until every interval is narrow enough, to at most the plan's."""
    first: int = LEAST
    """With targets, the replicates of each cell before the first check."""
    definition: Callable[[], Mapping[str, Any]] | None = None
    """Returns how a store names the runs; without it, `define` does."""

    COMPARED: ClassVar[str] = "rule"
    """Axis whose levels are compared: they take the same number of replicates."""

    MEASURE: ClassVar[str] = "metric"
    """Column of summaries that names the measure."""

    OUTPUT: ClassVar[str]
    """Name of its JSON."""

    @property
    def head(self) -> dict[str, Any]:
        """What the JSON has beside plan and tables."""
        return {}

    def define(self) -> Mapping[str, Any]:
        """Return how a store names the runs: ``name``, ``axes`` and what else defines them."""
        return {"name": "compare"} if self.definition is None else self.definition()

    def measure(self, run: Mapping[str, Any]) -> dict[str, Any]:
        """Measure one run, given as `Result.to_dict` gives it."""
        raise NotImplementedError

    @property
    def measures(self) -> Sequence[Metric]:
        """What is measured."""
        raise NotImplementedError

    @property
    def runs(self) -> pl.DataFrame:
        """One row per finished run: its cell, replicate, seed, trace hash and every measure."""
        raise NotImplementedError

    @property
    def summary(self) -> pl.DataFrame:
        """One row per cell and measure.

        ``mean``, its 95 % confidence interval from ``ci95_low`` to ``ci95_high``
        (`cwndlab.statistics.estimate`), and ``replicates``.
        """
        runs, axes = self.runs, tuple(self.plan.axes)
        rows = [
            (*cell, measure.key, *measure.estimate(group[measure.key].to_list()))
            for cell, group in runs.group_by(axes, maintain_order=True)
            for measure in self.measures
        ]
        schema = {**{axis: runs.schema[axis] for axis in axes}, self.MEASURE: pl.String, **ESTIMATE}
        return pl.DataFrame(rows, schema=schema, orient="row")

    def plot(self) -> Figure:
        """Plot the comparison (matplotlib)."""
        raise NotImplementedError

    def add(self, run: Run, found: Mapping[str, Any]) -> None:
        """Add a finished run."""
        self.measured[run.index] = {
            **run.cell,
            "replicate": run.replicate,
            "seed": run.seed,
            "trace_hash": found["trace_hash"],
            **self.measure(found),
        }

    def needed(self, cell: int, done: int) -> int | None:
        """Return the replicates that a cell needs to meet all targets; None if it has enough.

        The compared rules take as many as that of them which needs most: their differences are
        paired.
        """
        labels = self.plan.cell(cell).labels
        bounds = {measure.key: measure.bounds for measure in self.measures}
        same = [pl.col(axis).cast(pl.String) == label for axis, label in labels.items()
                if axis != self.COMPARED]  # fmt: skip
        wanted = [
            target.needed(rows[target.metric].to_list(), done, bounds[target.metric])
            for _, rows in self.runs.filter(same).group_by(self.COMPARED)
            for target in self.targets
        ]
        return max((count for count in wanted if count is not None), default=None)

    def rows(self) -> list[dict[str, Any]]:
        """Return `measured` in the order of the plan."""
        return [self.measured[index] for index in sorted(self.measured)]

    def result(self, replicate: int = 0, **cell: str) -> Result | None:
        """Find one finished result by its cell (``rule=..., env=...``) and replicate.

        Raises
        ------
        ScenarioError
            If the plan has no such axis, or the axis no such level.
        """
        for axis, label in cell.items():
            if axis not in self.plan.axes:
                raise ScenarioError(unknown("axis", axis, self.plan.axes))
            if label not in self.plan.labels[axis]:
                raise ScenarioError(unknown(axis, label, self.plan.labels[axis]))
        for run in self.plan:
            if run.replicate == replicate and cell.items() <= run.cell.items():
                return self.results.get(run.index)
        return None

    @property
    def profile(self) -> str:
        """Profile of the TCP endpoints."""
        patched = self.plan.patch.get("profile")
        return str(patched or self.plan.base.canonical()["profile"])

    def recovery(self, label: str) -> str:
        """Name the loss recovery that runs where an axis has this label.

        SACK is ``rack`` under a profile that has it.
        """
        if label != "sack":
            return label
        place = self.plan.labels["recovery"].index(label)
        cell = self.plan.cell(place * self.plan.stride("recovery"))
        return Scenario(cell.document()).recoveries[0]

    def save(self, directory: str | Path) -> Path:
        """Write ``plan.json``, every table as Parquet, and ``comparison.json``.

        `cwndlab.write_report` and ``cwndlab report`` read such a directory.

        Returns
        -------
        Path
            The directory, which is made if needed.
        """
        folder = made_folder(directory)
        self.save_plan(folder)
        for name, table in self.tables.items():
            write_parquet(folder / f"{name}.parquet", table)
        write_whole(folder / "comparison.json", f"{self.to_json(raw=False)}\n".encode())
        return folder

    def save_plan(self, folder: Path) -> None:
        """Write ``plan.json``."""
        text = dumps(stamped("plan", self.plan.to_dict()))
        write_whole(folder / "plan.json", f"{text}\n".encode())

    def to_dict(self, *, raw: bool = True) -> dict[str, Any]:
        """Return everything as plain data.

        `raw` adds the whole result of each kept run.
        """
        tables = {name: table.to_dicts() for name, table in self.tables.items()}
        runs = tables.pop("runs")
        if raw:
            finished = [self.results.get(index) for index in sorted(self.measured)]
            runs = [
                {**row, "result": result.to_dict()} if result is not None else row
                for row, result in zip(runs, finished, strict=True)
            ]
        head = {
            **self.head,
            "complete": self.complete,
            "profile": self.profile,
            "plan": self.plan.to_dict(),
        }
        return stamped(self.OUTPUT, {**head, **tables, "runs": runs})

    def to_json(self, indent: int | None = 2, *, raw: bool = True) -> str:
        """Return `to_dict` as JSON text; numbers that are not finite are null."""
        return dumps(self.to_dict(raw=raw), indent)


Gathered = TypeVar("Gathered", bound=Collection)


def collect(
    into: Gathered,
    *,
    store: Store | str | Path | None = None,
    jobs: int | None = None,
    on: str | Client | None = None,
    trace: Mapping[str, Any] | None = None,
    on_run: Callable[[Run, Result], object] | None = None,
    progress: Progress | None = None,
    packets: Callable[[int], object] | None = None,
    keep: bool = True,
) -> Gathered:
    """Execute the plan of a collection, and fill it as runs finish.

    The caller keeps the finished runs after Ctrl-C.

    Parameters
    ----------
    into : Collection
        The collection whose plan is executed; it is returned.
    store : Store, str or Path, optional
        Keeps finished runs, so the same call continues where it was interrupted.
    jobs : int, optional
        Threads.
    on : str or Client, optional
        A dask.distributed scheduler, whose cluster executes the runs.
    trace : mapping, optional
        The ``[trace]`` table of replicate 0 (the others record none: traces of a thousand runs fill
        memory).
    on_run : callable, optional
        Gets each run and its result as it finishes; files that it writes survive an interruption.
    progress : callable, optional
        Gets ``"runs"``, the number of finished runs, and of all, as far as is known.
    packets : callable, optional
        Gets packets delivered since the last call; threads call it.
    keep : bool
        Whether `Collection.results` keeps every run's result. Without, it keeps only the traced
        ones, and a thousand runs take little memory.

    Raises
    ------
    ScenarioError
        If the scenario of a cell is not valid; no run starts.
    RunError
        If a run fails.
    """
    if trace is not None and (store is not None or on is not None):
        raise ScenarioError("`trace` cannot be used with `store` or `on`: runs there keep metrics")
    plan = into.plan
    plan.check()
    with opened(store, jobs=jobs, on=on, packets=packets) as (kept, executor):
        cells, most = plan.count // plan.replicates, plan.replicates
        first = min(max(into.first, LEAST), most) if into.targets else most
        work = _Work(into, trace, on_run, progress, keep, cells * first)
        if kept is not None:
            asked = dict(into.define())
            work.name, work.digest = str(asked["name"]), definition_digest(asked)
            kept.define(work.name, asked, work.digest)
        execution = Execution(work.scenarios, work, executor, kept, use=work.use)
        try:
            execution.rounds(cells, first, most, into.needed if into.targets else None)
        finally:
            execution.let_go()
    into.complete = True
    return into


class _Work:
    """What the execution of a collection's plan finds: a listener."""

    def __init__(
        self,
        into: Collection,
        trace: Mapping[str, Any] | None,
        on_run: Callable[[Run, Result], object] | None,
        progress: Progress | None,
        keep: bool,
        runs: int,
    ) -> None:
        self._into, self._trace, self._keep = into, trace, keep
        self._on_run, self._progress = on_run, progress
        self.name = self.digest = ""
        self._done, self._runs = 0, runs

    def scenarios(self, index: int) -> CellScenarios:
        """Return the scenarios of a cell."""
        return CellScenarios(self._into.plan.cell(index), trace=self._trace)

    def use(self, place: Place) -> Use:
        """Return the place of a run in the store."""
        labels = self._into.plan.cell(place.cell).labels
        return Use.of(self.name, labels, place.replicate, place.key, self.digest)

    def finished(self, place: Place, found: Finished) -> None:
        """Add a run."""
        plan = self._into.plan
        document: dict[str, Any] = json.loads(found.scenario)
        index = place.cell * plan.replicates + place.replicate
        labels = plan.cell(place.cell).labels
        run = Run(index, labels, place.replicate, plan.seed + place.replicate, document)
        self._into.add(run, found.run)
        self._done += 1
        if self._progress is not None:
            self._progress("runs", self._done, self._runs)
        is_traced = bool(document.get("trace"))
        is_kept = self._keep or (self._trace is not None and place.replicate == 0)
        if not is_kept and self._on_run is None:
            return
        # Keep only the requested traces: every run with finite flows also lists all transfers.
        result = Result.from_json(found.result, document, found.traces)
        if is_kept:
            self._into.results[index] = result
        if self._on_run is not None:
            self._on_run(run, result)
        if not is_traced:
            result.traces.clear()

    def failed(self, place: Place, error: str) -> None:
        """End with the error of a run."""
        cell = named(self._into.plan.cell(place.cell).labels)
        raise RunError(f"the run of cell {cell}, replicate {place.replicate} failed: {error}")

    def tick(self) -> None:
        """Do nothing."""

    def round(self, number: int, cells: int, runs: int) -> None:  # noqa: ARG002
        """Count the runs of another round."""
        self._runs += runs

    def settled(self, cell: int, replicates: int) -> None:
        """Note a cell that missed a target."""
        if self._into.needed(cell, replicates) is not None:
            labels = self._into.plan.cell(cell).labels
            self._into.unmet.append({"cell": labels, "replicates": replicates})
