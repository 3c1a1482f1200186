"""Makes a chapter of a comparison, or of the directory that `--out` wrote."""

from __future__ import annotations

import base64
import itertools
import json
import platform
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from cwndlab import native, plots
from cwndlab.arguments import Progress
from cwndlab.comparison import Comparison
from cwndlab.environments import environment
from cwndlab.errors import StoreError
from cwndlab.message import invalid
from cwndlab.metrics import METRICS, Metric
from cwndlab.report.chapter import Chapter
from cwndlab.report.from_sweep import MOST_RUNS, digest
from cwndlab.results import Result
from cwndlab.runs.plan import Plan
from cwndlab.scores import AXES, SETTING
from cwndlab.tables import number

TRACES = {
    "cwnd": plots.windows_by_rule,
    "rate": plots.goodput_by_rule,
    "queue": plots.queue_by_rule,
}
CAPTIONS = {
    "cwnd": "Congestion windows over time, one panel per rule",
    "rate": "Goodput against available bandwidth over time, one panel per rule",
    "queue": "Queue at the bottleneck over time, one panel per rule",
}


def chapter_of(
    comparison: Comparison,
    tell: Progress,
    engine: Mapping[str, str] | None = None,
) -> Chapter:
    """Make the chapter of a comparison.

    `engine` did the runs, by default this process's.
    """
    plan = comparison.plan
    rules = [level.label for level in plan.axes["rule"]]
    runs = [
        {
            "cell": {axis: row[axis] for axis in AXES},
            **{key: row[key] for key in ("replicate", "seed", "trace_hash")},
        }
        for row in comparison.runs.to_dicts()
    ]
    return Chapter(
        name="Comparison",
        levels={axis: [level.label for level in levels] for axis, levels in plan.axes.items()},
        compared="rule",
        baseline=rules[0] if len(rules) > 1 else None,
        measures=comparison.metrics,
        summary=comparison.summary,
        differences=comparison.differences(),
        lead="Every rule ran in the same networks with the same random numbers.",
        missing=_missing(comparison),
        facts=_facts(comparison),
        origin={
            **(_engine() if engine is None else engine),
            "seeds": f"{plan.seed} to {plan.seed + plan.replicates - 1}, the same in every cell",
            "hash of all runs": digest(runs),
        },
        source=("Base scenario", plan.base.to_json()),
        runs=runs[:MOST_RUNS],
        more_runs=len(runs[MOST_RUNS:]),
        scores={metric.key: list(_scores(comparison, metric)) for metric in comparison.metrics},
        timelines=list(_timelines(comparison, tell)),
        notes={level.label: environment(level.label).summary for level in plan.axes["env"]},
    )


def _engine() -> dict[str, str]:
    return {
        "cwndlab": native.version(),
        "build of the engine": native.build(),
        "Python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
    }


def _missing(comparison: Comparison) -> list[str]:
    if comparison.complete:
        return []
    missing = len(comparison.plan) - len(comparison.measured)
    return [
        f"Not finished: {missing} of {len(comparison.plan)} runs are missing. Numbers are of the "
        "finished runs."
    ]


def _facts(comparison: Comparison) -> dict[str, str]:
    plan, base = comparison.plan, comparison.plan.base.to_dict()
    return {
        "runs": f"{len(comparison.measured)} of {len(plan)} finished",
        "replicates": f"{plan.replicates} per cell",
        "duration": f"{base['duration']} (measured {base['measure']})",
        "profile": comparison.profile,
        "recovery": ", ".join(map(comparison.recovery, plan.labels["recovery"])),
    }


def _scores(comparison: Comparison, metric: Metric) -> Iterator[dict[str, Any]]:
    for row in comparison.scores.filter(metric=metric.key).to_dicts():
        yield {
            "rule": row["rule"],
            "setting": f"{row['recovery']} over {row['queue']}",
            **{key: number(row[key], metric) for key in ("C_a", "D_a")},
        }


def _timelines(comparison: Comparison, tell: Progress) -> Iterator[dict[str, Any]]:
    axes = (comparison.plan.axes[name] for name in (*SETTING, "env"))
    cells = list(itertools.product(*axes))
    for done, (recovery, queue, env) in enumerate(cells, 1):
        cell = {"recovery": recovery.label, "queue": queue.label, "env": env.label}
        if images := _images(comparison, cell):
            yield {"title": f"{env.label}, {recovery.label} over {queue.label}", "images": images}
        tell("traces", done, len(cells))


def _images(comparison: Comparison, cell: dict[str, str]) -> list[dict[str, str]]:
    results: dict[str, Result] = {}
    for level in comparison.plan.axes["rule"]:
        if (result := comparison.result(0, **cell, rule=level.label)) is not None:
            results[level.label] = result
    return [
        {
            "caption": CAPTIONS[trace],
            "data": base64.b64encode(plots.png_bytes(draw(results))).decode(),
        }
        for trace, draw in TRACES.items()
        if results and all(trace in result.traces for result in results.values())
    ]


def is_folder(folder: Path) -> bool:
    """Whether `cwndlab compare --out` wrote the directory."""
    return (folder / "plan.json").is_file() and (folder / "runs.parquet").is_file()


def read(folder: Path) -> tuple[Comparison, dict[str, str]]:
    """Read the directory that `cwndlab compare --out` wrote, with its engine.

    Raises
    ------
    StoreError
        If the directory has something else.
    """
    try:
        plan = Plan.from_dict(json.loads((folder / "plan.json").read_text(encoding="utf-8")))
        runs = pl.read_parquet(folder / "runs.parquet")
        version = json.loads((folder / "comparison.json").read_text(encoding="utf-8"))[
            "cwndlab_version"
        ]
    except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as error:
        raise StoreError(
            f"report: `{folder}` cannot be read ({error}): expected what `--out` wrote"
        ) from error
    metrics = [metric for metric in METRICS if metric.key in runs.columns]
    if list(plan.axes) != list(AXES) or not metrics:
        raise StoreError(invalid("report", folder, "a comparison of rules, or a store"))
    measured = {(*(row[axis] for axis in AXES), row["replicate"]): row for row in runs.to_dicts()}
    comparison = Comparison(plan, metrics=metrics)
    for run in plan:
        row = measured.get((*(run.cell[axis] for axis in AXES), run.replicate))
        if row is None:
            continue
        comparison.measured[run.index] = row
        # Only replicate 0 has traces; the other results are in the table already.
        path = folder / "runs" / f"{run.index:05d}"
        if run.replicate == 0 and any(path.glob("trace-*.parquet")):
            comparison.results[run.index] = Result.load(path)
    comparison.complete = len(comparison.measured) == plan.count
    return comparison, {"cwndlab": version}
