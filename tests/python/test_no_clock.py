"""No test judges how long something takes, and every limit that ends a hang is the one of
`tests/waiting.py`."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from conftest import ROOT

CLOCKS = {
    "perf_counter",
    "perf_counter_ns",
    "monotonic",
    "monotonic_ns",
    "process_time",
    "time_ns",
    "thread_time",
}
# What measures the machine or keeps real traffic going, and fails nothing by the clock.
MEASURES = {
    "tests/waiting.py": "ends what would hang for ever",
    "tests/live/host_load.py": "measures how busy the machine is",
    "tests/live/netns_path.py": "samples a real flow in time",
    "tests/ns2/reference.py": "says how long recording took",
    "tests/ns2/statistical.py": "says how long a comparison took",
}
FILES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("*.py"))


def _faults(tree: ast.Module) -> list[str]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in CLOCKS:
            found.append(f"line {node.lineno}: reads the clock ({node.attr})")
        if (
            isinstance(node, ast.keyword)
            and node.arg == "timeout"
            and isinstance(node.value, ast.Constant)
        ):
            found.append(
                f"line {node.value.lineno}: a limit of its own (timeout={node.value.value})"
            )
    return found


@pytest.mark.parametrize("name", [name for name in FILES if name not in MEASURES])
def test_no_test_reads_the_clock(name):
    assert _faults(ast.parse((ROOT / name).read_text(encoding="utf-8"))) == []


def test_a_clock_and_a_limit_are_found():
    text = (
        "import time\nbegin = time.perf_counter()\nprocess.wait(timeout=3)\nassert time.monotonic()"
        " < 5\n"
    )
    assert len(_faults(ast.parse(text))) == 3


def test_the_list_of_what_measures_is_current():
    assert all(Path(ROOT / name).is_file() for name in MEASURES)
