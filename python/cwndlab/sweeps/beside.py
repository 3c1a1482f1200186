"""A sweep in cwndlab and in ns-2: the same cells, seeds and draws, and their paired differences."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab.errors import ScenarioError
from cwndlab.outputs import stamped
from cwndlab.result_tables import ResultTables
from cwndlab.sweeps.definition import Sweep
from cwndlab.sweeps.result import SweepResult
from cwndlab.sweeps.running import execute

if TYPE_CHECKING:
    import polars as pl

    from cwndlab.ns2 import Ns2
    from cwndlab.runs.store import Store

SUFFIX = "-ns2"
"""Ending of the name under which a store keeps the runs of ns-2."""


@dataclass(repr=False)
class Beside(ResultTables):
    """A sweep's results in cwndlab and in ns-2.

    Attributes
    ----------
    ours, theirs : SweepResult
        The results.
    version : str
        Name and version of ns-2.
    """

    ours: SweepResult
    theirs: SweepResult
    version: str

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """``differences``, and the summaries of both by name."""
        return {
            "differences": self.differences,
            "cwndlab": self.ours.summary,
            "ns2": self.theirs.summary,
        }

    @property
    def differences(self) -> pl.DataFrame:
        """One row per cell and metric.

        ``cwndlab`` and ``ns2``, the means, with their 95 % intervals (``cwndlab_ci95_low``, ...);
        ``mean`` of the differences cwndlab less ns-2 between runs of the same replicate, its
        interval from ``ci95_low`` to ``ci95_high``, and
        ``replicates``, the number of pairs.
        """
        import polars as pl

        rows: list[dict[str, Any]] = []
        for cell in self.ours.finished.tolist():
            for measure in self.ours.sweep.measures:
                metric = measure.key
                ours, theirs = (side.values(cell, metric) for side in (self.ours, self.theirs))
                between = measure.difference(ours, theirs)
                own, other = (measure.estimate(each) for each in (ours, theirs))
                rows.append({
                    **self.ours.labels(cell),
                    "metric": metric,
                    "cwndlab": own.mean,
                    "cwndlab_ci95_low": own.low, "cwndlab_ci95_high": own.high,
                    "ns2": other.mean, "ns2_ci95_low": other.low, "ns2_ci95_high": other.high,
                    "mean": between.mean, "ci95_low": between.low, "ci95_high": between.high,
                    "replicates": between.count,
                })  # fmt: skip
        texts = dict.fromkeys((*self.ours.axes, "metric"), pl.String)
        numbers = dict.fromkeys((
            "cwndlab", "cwndlab_ci95_low", "cwndlab_ci95_high",
            "ns2", "ns2_ci95_low", "ns2_ci95_high", "mean", "ci95_low", "ci95_high",
        ), pl.Float64)  # fmt: skip
        return pl.DataFrame(rows, schema={**texts, **numbers, "replicates": pl.Int64})

    def to_dict(self) -> dict[str, Any]:
        """Return both results and the differences as plain data."""
        found: dict[str, Any] = {
            "ns2_version": self.version,
            "cwndlab": self.ours.to_dict(),
            "ns2": self.theirs.to_dict(),
            "differences": self.differences.to_dicts(),
        }
        return stamped("beside", found)


def run_beside(
    sweep: Sweep,
    store: Store | str | Path | None = None,
    *,
    ns: Ns2 | str | Path | None = None,
    jobs: int | None = None,
    again: bool = False,
    progress: Callable[[dict[str, Any]], object] | None = None,
) -> Beside:
    """Do the runs of a sweep that the store lacks, in cwndlab and in ns-2.

    Parameters
    ----------
    sweep : Sweep
        The sweep.
    store : Store, str or Path, optional
        Keeps finished runs of both; those of ns-2 are known by its version and their script.
    ns : Ns2, str or Path, optional
        The program; by default ``ns`` on the path.
    jobs : int, optional
        Runs side by side.
    again : bool
        Do every run again.
    progress : callable, optional
        Gets events of both, as of `Sweep.run`.

    Raises
    ------
    ScenarioError
        If ns-2 cannot express a cell; no run starts.
    LiveError
        If ns-2 is not installed.
    """
    from cwndlab.ns2 import Ns2
    from cwndlab.runs.ns2_runs import Ns2Runs

    if sweep.until:
        raise ScenarioError("`until` cannot be used with ns-2: give `replicates`")
    program = ns if isinstance(ns, Ns2) else Ns2(ns)
    runs = Ns2Runs(program, jobs)
    their_sweep = dataclasses.replace(sweep, name=f"{sweep.name}{SUFFIX}")
    # Refuses what ns-2 cannot express before the first run.
    for cell in sweep.plan.cells():
        runs.scenarios(cell, sweep.count_arrivals)
    ours = execute(sweep, SweepResult(sweep), store, jobs=jobs, again=again, progress=progress)
    theirs = execute(their_sweep, SweepResult(their_sweep), store, in_ns2=runs, again=again,
                     progress=progress)  # fmt: skip
    return Beside(ours, theirs, runs.name)
