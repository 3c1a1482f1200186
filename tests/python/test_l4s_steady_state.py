"""The tables of docs/l4s.md: those at the lowest rate are measured again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import l4s_steady_state as program

PAGE = (Path(__file__).parents[2] / "docs" / "l4s.md").read_text(encoding="utf-8")
HEAD = re.compile(r"^\| (window|rate) ratio, against .*\n\|[-| ]+\n((?:\|.*\n)+)", re.MULTILINE)
ORDER = [(program.AS_IS, measure) for measure in program.MEASURES] + [
    (setting, "window") for setting in program.SETTINGS if setting != program.AS_IS
]


def said() -> dict[tuple[program.Cell, str], str]:
    """Every ratio of the document."""
    found = {}
    for (setting, measure), (name, rows) in zip(ORDER, HEAD.findall(PAGE), strict=True):
        assert name == measure
        for row in rows.splitlines():
            other, rate, *values = (cell.strip() for cell in row.strip("|").split("|"))
            for rtt, value in zip(program.RTTS_MS, values, strict=True):
                found[program.Cell(setting, other, int(rate), rtt), measure] = value
    return found


RATE_MBIT = min(program.RATES_MBIT)
"""The others take minutes."""


@pytest.mark.slow
@pytest.mark.parametrize("setting", program.SETTINGS)
def test_the_tables_are_what_is_measured(setting):
    table = said()
    assert {cell for cell, _ in table} == set(program.cells())
    cells = set(program.cells([setting], [RATE_MBIT]))
    ratios = program.measured(cells)
    asked = [key for key in table if key[0] in cells]
    assert len(asked) >= len(cells)
    for key in asked:
        assert table[key] == program.written(ratios[key]), key
