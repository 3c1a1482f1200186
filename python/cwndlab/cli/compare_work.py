"""Execute a plan with a progress bar, writing every run as it finishes."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab.cli.options import make_folder
from cwndlab.cli.output import meter, say

if TYPE_CHECKING:
    from cwndlab.comparison import Comparison
    from cwndlab.plan import Plan, Run
    from cwndlab.results import Result

MANY_RUNS = 100
"""From here on it is said how long they took."""


def execute_plan(
    plan: Plan,
    *,
    jobs: int | None,
    out: Path | None,
    trace: Mapping[str, Any] | None = None,
    keep: bool = True,
) -> Comparison:
    """Run a plan; with `out`, each finished run is on disk at once, the tables also after Ctrl-C."""
    from cwndlab import comparison as comparing

    began_s = time.perf_counter()
    comparison = comparing.Comparison(plan)
    make_folder(out)
    if out is not None:
        # What an earlier comparison left here would pass for runs of this one.
        shutil.rmtree(out / "runs", ignore_errors=True)
        (out / "plan.json").write_text(plan.to_json() + "\n", encoding="utf-8")

    with meter("compare", len(plan), "runs") as progress:

        def finished(run: Run, result: Result) -> None:
            progress.finished_run()
            if out is not None:
                result.save(_folder(out, run.index))

        try:
            comparing.compare(
                plan, jobs=jobs, trace=trace, on_run=finished, progress=progress.packets, into=comparison, keep=keep
            )
        except KeyboardInterrupt:
            say(f"stopped after {len(comparison.measured)} of {len(plan)} runs")
            _write_interrupted(comparison, out)
            raise
    _write_tables(comparison, out)
    if len(plan) >= MANY_RUNS:
        say(f"{len(plan)} runs in {time.perf_counter() - began_s:.0f} s")
    return comparison


def _folder(out: Path, index: int) -> Path:
    return out / "runs" / f"{index:05d}"


def _write_interrupted(comparison: Comparison, out: Path | None) -> None:
    """Write what is finished, with the run that was being saved when the interruption came."""
    if out is None or not comparison.measured:
        return
    for index, result in comparison.results.items():
        if not (_folder(out, index) / "run.json").exists():
            result.save(_folder(out, index))
    _write_tables(comparison, out)


def _write_tables(comparison: Comparison, out: Path | None) -> None:
    if out is None:
        return
    comparison.runs.write_parquet(out / "runs.parquet")
    comparison.summary.write_parquet(out / "summary.parquet")
    comparison.scores.write_parquet(out / "scores.parquet")
    (out / "comparison.json").write_text(comparison.to_json(raw=False) + "\n", encoding="utf-8")
    say(f"wrote {out}")
