"""The tables of docs/l4s.md: those at the lowest rate are measured again."""

from __future__ import annotations

import math
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
    ratios, means = program.measured(cells)
    asked = [key for key in table if key[0] in cells]
    assert len(asked) >= len(cells)
    for key in asked:
        assert table[key] == program.written(ratios[key]), key
    if setting in program.APART:
        rows = program.parts_rows(ratios, means, setting)
        assert len(rows) >= 2
        for row in rows:
            assert f"{row}\n" in PAGE


def test_marks_and_drops_are_those_of_the_probability():
    """p_L is k times the mean of p', p_C the mean of its square, whether it varies or not."""
    steady, varying = program.Cell("both", "Reno", 40, 5), program.Cell("both", "CUBIC", 40, 100)
    _, means = program.measured([steady, varying])
    for found in means.values():
        assert found.own == pytest.approx(1, abs=0.04)
        assert math.sqrt(found.drops) == pytest.approx(found.root_mean_square, rel=0.05)
    assert means[steady].steadiness > 0.99
    assert means[varying].steadiness < 0.9


def test_prague_keeps_its_law_beside_reno():
    """Its window is that at a constant share of marks, where DualPI2 marks a steady share."""
    cell = program.Cell("both", "Reno", 40, 10)
    _, means = program.measured([cell])
    found = means[cell]
    (_, product), *_ = program.constant_marks([found.marks])
    assert found.prague * found.marks == pytest.approx(product, rel=0.05)
