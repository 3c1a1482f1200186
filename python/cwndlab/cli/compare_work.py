"""Execute a plan with a progress bar, writing every run as it finishes."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab.cli.options import make_folder
from cwndlab.cli.output import detail, meter, say, warn

if TYPE_CHECKING:
    from cwndlab.comparison import Comparison
    from cwndlab.environments import Assumptions
    from cwndlab.results import Result
    from cwndlab.runs.collection import Collection, Gathered
    from cwndlab.runs.plan import Run

MANY_RUNS = 100
"""From this duration on, a message says how long the runs took."""


def execute_plan(
    collection: Gathered,
    *,
    jobs: int | None,
    out: Path | None,
    trace: Mapping[str, Any] | None = None,
    keep: bool = True,
    note: str | None = None,
) -> Gathered:
    """Run the plan of a collection; `note` is said after.

    With `out`, each finished run is written at once, and the tables are written after Ctrl-C, too.
    """
    from cwndlab.runs.collection import collect

    began_s, plan = time.perf_counter(), collection.plan
    make_folder(out)
    if out is not None:
        # Files of an earlier comparison would be mistaken for runs of this one.
        shutil.rmtree(out / "runs", ignore_errors=True)
        (out / "plan.json").write_text(plan.to_json() + "\n", encoding="utf-8")

    with meter("compare", len(plan), "runs") as progress:

        def finished(run: Run, result: Result) -> None:
            progress.finished_run()
            if out is not None:
                result.save(_folder(out, run.index))

        try:
            collect(
                collection,
                jobs=jobs,
                trace=trace,
                on_run=finished,
                progress=progress.packets,
                keep=keep,
            )
        except KeyboardInterrupt:
            warn(f"stopped after {len(collection.measured)} of {len(plan)} runs")
            _write_interrupted(collection, out)
            raise
    _write_tables(collection, out)
    detail(f"{len(plan)} runs, seeds {plan.seed} to {plan.seed + plan.replicates - 1}")
    if len(plan) >= MANY_RUNS:
        say(f"{len(plan)} runs in {time.perf_counter() - began_s:.0f} s")
    if note is not None:
        say(note)
    return collection


def perform_plan(
    comparison: Comparison,
    assumed: Assumptions,
    patch: Mapping[str, Any],
    *,
    jobs: int | None,
    store: Path | None,
    on: str | None,
    note: str | None,
) -> Comparison:
    """Run the plan of a comparison with a store or on a cluster; `note` is said after."""
    from cwndlab.comparing import perform

    done = 0
    with meter("compare", len(comparison.plan), "runs") as progress:

        def finished(runs: int, _of: int) -> None:
            nonlocal done
            while done < runs:
                done += 1
                progress.finished_run()

        try:
            perform(comparison, assumed, patch, jobs=jobs, store=store, on=on, progress=finished)
        except KeyboardInterrupt:
            kept = "" if store is None else f"; {store} keeps them"
            say(f"stopped after {done} of {len(comparison.plan)} runs{kept}")
            raise
    if note is not None:
        say(note)
    return comparison


def _folder(out: Path, index: int) -> Path:
    return out / "runs" / f"{index:05d}"


def _write_interrupted(collection: Collection, out: Path | None) -> None:
    """Write the finished runs, and the run that was being saved at the interruption."""
    if out is None or not collection.measured:
        return
    for index, result in collection.results.items():
        if not (_folder(out, index) / "run.json").exists():
            result.save(_folder(out, index))
    _write_tables(collection, out)


def _write_tables(collection: Collection, out: Path | None) -> None:
    if out is None:
        return
    for name, table in collection.tables.items():
        table.write_parquet(out / f"{name}.parquet")
    (out / "comparison.json").write_text(collection.to_json(raw=False) + "\n", encoding="utf-8")
    say(f"wrote {out}")
