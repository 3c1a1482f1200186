"""The tables that `cwndlab sweep` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.cli.output import print_table, say

if TYPE_CHECKING:
    import polars as pl

    from cwndlab.sweep import Findings

MOST_ROWS = 100
"""Beyond it a table is no longer read; files have it all."""


def print_findings(findings: Findings) -> None:
    """Print means with intervals, a row per cell, then differences from the baseline."""
    sweep = findings.sweep
    if len(findings) == 0:
        say("no run has finished")
        return
    _print(f"{sweep.name}: mean ± 95 % CI{_replicates(findings.summary)}", findings, findings.summary)
    differences = findings.differences
    if differences.height:
        label = differences["baseline"][0]
        _print(f"Difference from {label}, paired by replicate: mean ± 95 % CI", findings, differences)


def _replicates(summary: pl.DataFrame) -> str:
    least, most = summary["replicates"].min(), summary["replicates"].max()
    if least == most:
        return f", {most} replicates"
    return f", {least} to {most} replicates"


def _print(title: str, findings: Findings, table: pl.DataFrame) -> None:
    from cwndlab.tables import with_interval

    measures, axes = findings.sweep.measures, findings.axes
    cells = {row: {} for row in table.select(axes).unique(maintain_order=True).rows()}
    for row in table.to_dicts():
        cells[tuple(row[name] for name in axes)][row["metric"]] = row
    rows = [
        [*cell, *(with_interval(found.get(entry.key), entry) for entry in measures)] for cell, found in cells.items()
    ]
    columns = [*axes, *(_heading(entry.title) for entry in measures)]
    print_table(title, columns, rows[:MOST_ROWS], text_columns=len(axes))
    if len(rows) > MOST_ROWS:
        say(f"{len(rows) - MOST_ROWS} more cells; `cwndlab results DIR` writes all of them")


def _heading(title: str) -> str:
    """Break a long heading before its unit."""
    return title.replace(" [", "\n[")
