"""Notes on a sweep: duplicate cells, and targets that were missed."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np

from cwndlab.message import plural
from cwndlab.runs.plan import named
from cwndlab.sweeps.result import SweepResult


def unmet(findings: SweepResult, cell: int, done: int) -> dict[str, Any] | None:
    """Return the targets of `Sweep.until` that a cell missed with its replicates.

    None if it met all of them.
    """
    without, wide = [], []
    is_short = findings.needed(cell, done) is not None
    for target in findings.sweep.targets:
        values = findings.values(cell, target.metric)
        if not any(value is not None for value in values):
            without.append(target.metric)
        elif is_short and target.needed(values, done) is not None:
            wide.append(target.metric)
    if not without and not wide:
        return None
    labels, replicates = findings.labels(cell), findings.count(cell)
    return {"cell": labels, "replicates": replicates, "wide": wide, "without": without}


def notes_on_runs(findings: SweepResult) -> list[str]:
    """Name the cells whose replicates are all the same run."""
    cells = findings.of_one_run
    if not len(cells):
        return []
    first = int(cells[0])
    more = ", and `until` adds no replicates" if findings.sweep.targets else ""
    return [
        f"{_cells(len(cells))} gave the same run with every seed, the first: "
        f"{named(findings.labels(first))}, in {plural(findings.count(first), 'replicate')}. "
        f"The seed changes nothing there, so that there is no interval{more}"
    ]


def same_runs(findings: SweepResult, digests: array[int]) -> list[str]:
    """Name the cells that are the same run as another cell, by the digests of all cells.

    Digest 0 means unknown.
    """
    found = np.array(digests, dtype=np.uint64)
    order = found.argsort(kind="stable")
    is_again = (found[order][1:] == found[order][:-1]) & (found[order][1:] != 0)
    again = order[1:][is_again]
    if not len(again):
        return []
    at = int(again.argmin())
    cell, before = int(again[at]), int(order[:-1][is_again][at])
    return [
        f"{_cells(len(again))} {'is' if len(again) == 1 else 'are'} the same run as another one, "
        f"the first: {named(findings.labels(cell))}, which is {named(findings.labels(before))}: "
        "their differences change nothing"
    ]


def _cells(count: int) -> str:
    return plural(count, "cell")
