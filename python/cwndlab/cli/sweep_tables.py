"""Tables of `cwndlab sweep`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.cli.display import display
from cwndlab.cli.output import INTERVAL, print_frame, print_table, say

if TYPE_CHECKING:
    import polars as pl

    from cwndlab.sweeps import Sweep, SweepResult

MOST_ROWS = 100
"""Longer tables are cut; files have every row."""


def print_findings(findings: SweepResult) -> None:
    """Print means with intervals, a row per cell, then differences from the baseline."""
    sweep = findings.sweep
    if len(findings) == 0:
        say("no run has finished")
        return
    if display.format == "csv":
        from cwndlab.differences import with_differences

        baseline = next(iter(sweep.compared_labels), None)
        differences = findings.differences().drop("baseline")
        print_frame(with_differences(findings.summary, differences, baseline))
        return
    import numpy as np

    cells = findings.finished
    _print(
        f"{sweep.name}: {INTERVAL}{_replicates(findings)}, {sweep.endpoints}",
        findings,
        findings.summary_of(cells[:MOST_ROWS]),
    )
    _say_more(len(cells))
    pairs = findings.pairs(cells)
    if pairs:
        differences = findings.differences(cells=np.array([cell for cell, _ in pairs[:MOST_ROWS]]))
        _print(
            f"Difference from {_baseline(sweep)}, paired by replicate: {INTERVAL} "
            "(▲ better, ▼ worse, = no significant difference)",
            findings,
            differences,
            are_differences=True,
        )
        _say_more(len(pairs))


def _replicates(findings: SweepResult) -> str:
    counts = findings.counts[findings.finished]
    least, most = counts.min(), counts.max()
    return f", {most} replicates" if least == most else f", {least} to {most} replicates"


def _baseline(sweep: Sweep) -> str:
    """Name the baseline; levels of zipped axes differ in all of them."""
    label, parts = sweep.compared_labels[0], sweep.parts(sweep.compared or "")
    return label if len(parts) == 1 else f"{label} ({', '.join(parts)} change together)"


def _say_more(cells: int) -> None:
    if cells > MOST_ROWS:
        say(f"{cells - MOST_ROWS} more cells; `cwndlab results DIR` writes all of them")


def _print(
    title: str, findings: SweepResult, table: pl.DataFrame, *, are_differences: bool = False
) -> None:
    from cwndlab.tables import by_cell, judged, with_interval

    axes, written = findings.axes, judged if are_differences else with_interval
    cells = by_cell(table, axes, "metric", findings.sweep.measures, written)
    # A long heading is broken before its unit.
    columns = [heading.replace(" [", "\n[") for heading in cells.columns]
    print_table(title, columns, cells.rows(), text_columns=len(axes))
