"""Makes a chapter of a store's sweep."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from cwndlab import tomltext
from cwndlab.environments import environment
from cwndlab.report.chapter import Chapter, short
from cwndlab.sweeps.notes import notes_on_runs
from cwndlab.sweeps.reading import says_former_profile

if TYPE_CHECKING:
    from cwndlab.sweeps import Sweep, SweepResult
    from cwndlab.sweeps.reading import StoredSweep

MOST_RUNS = 2000
"""Largest number of rows in the table of runs: more make a page slow on a phone."""


def chapter_of(kept: StoredSweep, notes: Sequence[str] = ()) -> Chapter:
    """Make the chapter of a sweep; `notes` add missing parts."""
    findings = kept.findings
    sweep = findings.sweep
    labels = sweep.compared_labels
    return Chapter(
        name=sweep.name,
        levels={
            name: [level.label for level in levels] for name, levels in sweep.plan.axes.items()
        },
        compared=sweep.compared,
        baseline=labels[0] if len(labels) > 1 else None,
        measures=sweep.measures,
        summary=_joined(findings, findings.summary),
        differences=_joined(findings, findings.differences()),
        lead=_lead(kept),
        missing=[*_missing(kept), *notes],
        facts=_facts(sweep),
        origin=_origin(kept.runs),
        source=("The sweep as a file, for `cwndlab sweep`", _as_file(sweep)),
        runs=kept.runs[:MOST_RUNS],
        more_runs=len(kept.runs[MOST_RUNS:]),
        notes=_notes(sweep),
    )


def _joined(findings: SweepResult, table: pl.DataFrame) -> pl.DataFrame:
    """Join zipped axes into one column again, as in the plan."""
    sweep = findings.sweep
    for name, levels in sweep.plan.axes.items():
        parts = list(sweep.columns({name: levels[0].label}))
        if parts != [name]:
            table = table.with_columns(pl.concat_str(parts, separator=" & ").alias(name)).drop(
                [part for part in parts if part != name]
            )
    return table


def _lead(kept: StoredSweep) -> str:
    sweep = kept.findings.sweep
    cells = sweep.plan.count // sweep.plan.replicates
    counts = [kept.findings.count(index) for index in range(cells)]
    least, most = min(counts), max(counts)
    replicates = f"{most}" if least == most else f"{least} to {most}"
    axes = " × ".join(f"{len(levels)} {short(name)}" for name, levels in sweep.plan.axes.items())  # noqa: RUF001
    of = f" ({axes})" if len(sweep.plan.axes) > 1 else ""
    each = f"{replicates} replicate{'s' * (most > 1)} each"
    return f"{len(kept.findings)} runs: {cells} cell{'s' * (cells > 1)}{of}, {each}."


def _missing(kept: StoredSweep) -> list[str]:
    sweep = kept.findings.sweep
    found: list[str] = []
    if kept.missing:
        found.append(
            f"Not finished: {kept.missing} of {kept.wanted} runs are missing, and "
            f"{kept.cells_without_runs} cells have"
            " none."
            " Numbers are of the finished runs."
        )
    if kept.wide:
        found.append(f"In {kept.wide} cells the intervals are wider than `{sweep.until}`.")
    found += [f"{note}." for note in notes_on_runs(kept.findings)]
    if kept.former_profile:
        found.append(f"{says_former_profile(sweep.name, kept.former_profile).capitalize()}.")
    if kept.others:
        found.append(
            f"{kept.others} runs belong to earlier definitions of the sweep; they are left out."
        )
    return found


def _facts(sweep: Sweep) -> dict[str, str]:
    last = f"until {sweep.until}, at most {sweep.most}" if sweep.until else ""
    facts = {
        "compared": f"{sweep.compared}, with {sweep.compared_labels[0]}"
        if len(sweep.compared_labels) > 1
        else "",
        "replicates": f"{sweep.replicates} {last}".strip(),
        "measured": f"link {sweep.link}, "
        + (f"flows of group {sweep.measured_group}" if sweep.measured_group else "all flows"),
        "duration": str(sweep.duration or sweep.base.get("duration", "")),
        "measuring window": " to ".join(map(str, sweep.base["measure"]))
        if sweep.base.get("measure")
        else "",
        "endpoints": sweep.endpoints,
        "assumed": ", ".join(f"{key} = {value}" for key, value in sweep.assume.items()),
    }
    return {name: text for name, text in facts.items() if text}


def _origin(runs: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    if not runs:
        return {}

    def listed(column: str) -> str:
        return "; ".join(sorted({str(row[column]) for row in runs}))

    own = {row["key"]: row for row in runs}
    return {
        "cwndlab": listed("version"),
        "build of the engine": listed("build"),
        "machine": listed("machine"),
        "seeds": f"{min(row['seed'] for row in runs)} to {max(row['seed'] for row in runs)}",
        "finished": f"{min(row['finished'] for row in runs)} to "
        f"{max(row['finished'] for row in runs)}",
        "time of all runs": f"{sum(row['duration_s'] for row in own.values()):.3g} s, one after "
        "the other",
        "hash of all runs": digest(runs),
    }


def digest(runs: Sequence[Mapping[str, Any]]) -> str:
    """Hash trace hashes with their cells, replicates and seeds: equal if all runs are equal.

    Examples
    --------
    >>> run = {"cell": {"rule": "CUBIC"}, "replicate": 0, "seed": 1, "trace_hash": "00ff"}
    >>> other = {**run, "trace_hash": "00fe"}
    >>> digest([run]) == digest([dict(run)]), digest([run]) == digest([other])
    (True, False)
    """
    rows = sorted(
        repr((sorted(row["cell"].items()), row["replicate"], row["seed"], row["trace_hash"]))
        for row in runs
    )
    return hashlib.blake2b("\n".join(rows).encode(), digest_size=8).hexdigest()


def _as_file(sweep: Sweep) -> str:
    document = {key: value for key, value in sweep.to_dict().items() if key != "yes"}
    return tomltext.dumps(document)


def _notes(sweep: Sweep) -> dict[str, str]:
    if "env" not in sweep.plan.axes:
        return {}
    used = dict.fromkeys(level.label for level in sweep.plan.axes["env"])
    return {name: environment(name).summary for name in used}
