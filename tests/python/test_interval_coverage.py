"""Intervals cover as docs/intervals.md says, and better than the alternatives."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import interval_coverage as program

TABLE = (Path(__file__).parents[2] / "docs" / "intervals.md").read_text(encoding="utf-8")
COLUMNS = ["values", "runs", *program.METHODS]


def said() -> dict[tuple[str, int, str], float]:
    """Coverage in the document, percent."""
    head = f"| {' | '.join(COLUMNS)} |\n"
    lines = TABLE[TABLE.index(head) :].split("\n\n")[0].splitlines()[2:]
    found, name = {}, ""
    for line in lines:
        first, runs, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        name = first or name
        for method, cell in zip(program.METHODS, cells, strict=True):
            found[name, int(runs), method] = float(re.match(r"[\d.]+", cell)[0])
    return found


def test_the_table_is_whole():
    expected = {
        (population.name, runs, method)
        for population in program.POPULATIONS
        for runs in program.REPLICATES
        for method in program.METHODS
    }
    assert set(said()) == expected


@pytest.mark.parametrize("population", program.POPULATIONS, ids=lambda found: found.name)
def test_the_table_is_what_is_measured(population):
    table = said()
    for runs in (3, 10):
        for method in program.FAST:
            # Fewer samples than the document's, the first of the same: 3 standard errors.
            found = program.measured(population, method, runs, samples=500)
            assert 100 * found.covered == pytest.approx(
                table[population.name, runs, method], abs=6.0
            )
            assert (found.outside > 0.0) <= (method == "Student's t")
