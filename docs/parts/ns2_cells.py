"""Which cells of the papers' plans ns-2 can express, and what keeps it from the others."""

from __future__ import annotations

import math
from collections.abc import Iterator

from cwndlab import Scenario, export
from cwndlab.errors import ScenarioError
from cwndlab.sweeps import Sweep
from cwndlab_papers import load, names
from cwndlab_papers.results_grid import RULE
from cwndlab_papers.witness_scope import read_scope
from parts.text import table

MOST = 4
"""Labels that are listed at most."""


def cells() -> str:
    """Table of all plans: cells, how many ns-2 can express, and the levels that it lacks."""
    rows: list[list[str]] = []
    for key in names():
        paper, profile = load(key), read_scope(key).profile
        for plan in paper.plans_of(list(paper.experiments)):
            sweep = paper.sweep(plan, profile=profile)
            lacks = dict(_lacking(sweep))
            levels = {axis: len(known) for axis, known in sweep.plan.axes.items()}
            many = math.prod(levels.values())
            left = math.prod(count - len(lacks.get(axis, ())) for axis, count in levels.items())
            why = "; ".join(map(_listed, lacks.values()))
            rows.append([key, plan, str(many), str(left), why])
    return table(["paper", "plan", "cells", "in ns-2", "ns-2 lacks"], rows)


def _listed(labels: list[str]) -> str:
    return ", ".join(labels) if len(labels) <= MOST else f"{len(labels)} levels, as {labels[0]}"


def _lacking(sweep: Sweep) -> Iterator[tuple[str, list[str]]]:
    """Axis by axis the levels that ns-2 lacks, beside levels that it has."""
    by_labels = {tuple(cell.labels.values()): cell for cell in sweep.plan.cells()}
    base = next(
        (labels for labels, cell in by_labels.items() if _is_expressed(cell.document())), None
    )
    if base is None:
        yield RULE, [level.label for level in sweep.plan.axes[RULE]]
        return
    for at, (axis, levels) in enumerate(sweep.plan.axes.items()):
        lacking = [
            level.label
            for level in levels
            if not _is_expressed(by_labels[(*base[:at], level.label, *base[at + 1 :])].document())
        ]
        if lacking:
            yield axis, lacking


def _is_expressed(document: dict) -> bool:
    try:
        export(Scenario(document))
    except ScenarioError:
        return False
    return True
