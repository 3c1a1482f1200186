"""Finished runs of a plan: what all comparisons share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from cwndlab import native
from cwndlab.jsontext import dumps
from cwndlab.results import Result
from cwndlab.runs.execute import run_many
from cwndlab.runs.plan import Plan, Run

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.figure import Figure


@dataclass
class Collection:
    """A plan with its finished runs.

    Subclasses define the measures of a run and the tables.
    """

    plan: Plan
    results: dict[int, Result] = field(default_factory=dict)
    """Kept results by the index of their run in the plan."""
    measured: dict[int, dict[str, Any]] = field(default_factory=dict)
    """Measures, cell, replicate and seed of every finished run, by its index."""

    def measure(self, result: Result) -> dict[str, Any]:
        """Measure one run."""
        raise NotImplementedError

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """Every table by its name; ``runs`` has one row per finished run, in the plan's order."""
        raise NotImplementedError

    def plot(self) -> Figure:
        """Plot the comparison (matplotlib)."""
        raise NotImplementedError

    @property
    def complete(self) -> bool:
        """Whether every run of the plan has finished."""
        return len(self.measured) == len(self.plan)

    def add(self, run: Run, result: Result) -> None:
        """Add a finished run."""
        self.results[run.index] = result
        self.measured[run.index] = {
            **run.cell,
            "replicate": run.replicate,
            "seed": run.seed,
            "trace_hash": result.trace_hash,
            **self.measure(result),
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return `measured` in the order of the plan."""
        return [self.measured[index] for index in sorted(self.measured)]

    def result(self, replicate: int = 0, **cell: str) -> Result | None:
        """Find one finished result by its cell (``rule=..., env=...``) and replicate."""
        for run in self.plan:
            if run.replicate == replicate and cell.items() <= run.cell.items():
                return self.results.get(run.index)
        return None

    @property
    def profile(self) -> str:
        """Profile of the TCP endpoints."""
        patched = self.plan.patch.get("profile", self.plan.base.to_dict().get("profile"))
        return str(patched or "rfc")

    def to_pandas(self) -> pd.DataFrame:
        """Return the summary as a pandas data frame."""
        return self.tables["summary"].to_pandas()

    def save(self, directory: str | Path) -> Path:
        """Write ``plan.json`` and every table as Parquet into a directory, and return it."""
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "plan.json").write_text(self.plan.to_json() + "\n", encoding="utf-8")
        for name, table in self.tables.items():
            table.write_parquet(folder / f"{name}.parquet")
        return folder

    def _repr_html_(self) -> str:
        return self.tables["summary"]._repr_html_()

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
            "cwndlab_version": native.version(),
            "complete": self.complete,
            "profile": self.profile,
            "plan": self.plan.to_dict(),
        }
        return {**head, **tables, "runs": runs}

    def to_json(self, *, raw: bool = True, indent: int | None = 2) -> str:
        """Return `to_dict` as JSON text; numbers that are not finite are null."""
        return dumps(self.to_dict(raw=raw), indent)


Gathered = TypeVar("Gathered", bound=Collection)


def collect(
    into: Gathered,
    *,
    jobs: int | None = None,
    trace: Mapping[str, Any] | None = None,
    on_run: Callable[[Run, Result], object] | None = None,
    progress: Callable[[int], object] | None = None,
    keep: bool = True,
) -> Gathered:
    """Execute the plan of a collection, and fill it as runs finish.

    The caller keeps the finished runs after Ctrl-C.

    Parameters
    ----------
    into : Collection
        The collection whose plan is executed; it is returned.
    jobs : int, optional
        Threads.
    trace : mapping, optional
        The ``[trace]`` table of replicate 0 (the others record none: traces of a thousand runs fill
        memory).
    on_run : callable, optional
        Gets each run and its result as it finishes; files that it writes survive an interruption.
    progress : callable, optional
        Gets packets delivered since the last call.
    keep : bool
        Whether `Collection.results` keeps every run's result. Without, it keeps only the traced
        ones, and a thousand runs take little memory.

    Raises
    ------
    ScenarioError
        If the scenario of a cell is not valid; no run starts.
    """
    into.plan.check()

    def scenario(run: Run) -> dict[str, Any]:
        return (
            {**run.document, "trace": dict(trace)} if trace and run.replicate == 0 else run.document
        )

    # Close at once on an exception: its traceback would otherwise keep the threads running.
    with closing(
        run_many(((run, scenario(run)) for run in into.plan), jobs=jobs, progress=progress)
    ) as finished:
        for run, result in finished:
            into.add(run, result)
            if on_run is not None:
                on_run(run, result)
            if not scenario(run).get("trace"):
                # Keep only the requested traces: every run with finite flows also lists all
                # transfers.
                result.traces.clear()
            if not (keep or (trace and run.replicate == 0)):
                del into.results[run.index]
    return into
