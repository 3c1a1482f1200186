"""No test judges how long something takes: none looks at a clock, none has a limit of its own.

They wait with `waiting.wait_until` and `waiting.HANG_S`; programs in bench/ measure time.
"""

from __future__ import annotations

import ast

import pytest

from conftest import ROOT

TESTS = ROOT / "tests"
ALLOWED = {
    "waiting.py": "the one place that waits",
    "live/host_load.py": "measures how busy the machine is: what a figure is worth",
    "live/test_quic_qlog.py": "compares the time of day in a record with that around the run",
    "ns2/reference.py": "a program, which says how long its runs of ns-2 took",
    "ns2/statistical.py": "a program, which says how long its runs of ns-2 took",
}
"""Files that look at a clock, and why."""
CLOCKS = ("time", "monotonic", "perf_counter", "process_time", "thread_time", "clock_gettime")
"""Of the module `time`; each is there in nanoseconds, too."""
WAITS = ("communicate", "join", "result", "wait")
"""Methods whose first argument may be a limit of time."""


def _looks_at_a_clock(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return node.module == "time" and any(_is_clock(entry.name) for entry in node.names)
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "time"
        and _is_clock(node.attr)
    )


def _is_clock(name: str) -> bool:
    return name.removesuffix("_ns") in CLOCKS


def _is_number(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def _limits(node: ast.AST) -> list[ast.expr | None]:
    """What a call waits for at most, or a parameter does where it is not given."""
    if isinstance(node, ast.Call):
        named = [entry.value for entry in node.keywords if entry.arg and "timeout" in entry.arg]
        waits = isinstance(node.func, ast.Attribute) and node.func.attr in WAITS
        return [*named, *(node.args[:1] if waits else [])]
    if isinstance(node, ast.arguments):
        positional = [*node.posonlyargs, *node.args]
        defaults = [None] * (len(positional) - len(node.defaults)) + node.defaults
        parameters = zip(
            [*positional, *node.kwonlyargs], [*defaults, *node.kw_defaults], strict=True
        )
        return [default for parameter, default in parameters if "timeout" in parameter.arg]
    return []


def _faults(source: str) -> list[int]:
    """Lines with a clock or a limit."""
    nodes = list(ast.walk(ast.parse(source)))
    limits = [limit for node in nodes for limit in _limits(node) if _is_number(limit)]
    return [node.lineno for node in [*filter(_looks_at_a_clock, nodes), *limits]]


def test_no_test_looks_at_a_clock_or_has_a_limit_of_its_own():
    for path in sorted(TESTS.rglob("*.py")):
        name = path.relative_to(TESTS).as_posix()
        found = _faults(path.read_text(encoding="utf-8"))
        assert not found or name in ALLOWED, f"tests/{name}: lines {found}"


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("import time\nbegin = time.monotonic()", [2]),
        ("import time\nclock = time.perf_counter_ns", [2]),
        ("from time import sleep, process_time", [1]),
        ("process.wait(timeout=30)", [1]),
        ("process.wait(30)", [1]),
        ("def call(*arguments, timeout=120.0): ...", [1]),
        ("def run(draw, timeout_s: float = 120.0, *, jobs=2): ...", [1]),
        ("process.wait(timeout=HANG_S)\ntime.sleep(0.05)\n' '.join(names)\nrun(jobs=2)", []),
        ("def run(timeout_s=HANG_S, *, jobs=2): ...", []),
    ],
)
def test_what_is_found(source, lines):
    assert _faults(source) == lines
