"""Imports: cheap, in one direction, and the native module behind one door."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import cwndlab
from conftest import ROOT

HEAVY = ("polars", "matplotlib", "numpy", "scipy", "rich", "jinja2", "pandas")


def _fastest(command: list[str], times: int = 5) -> float:
    """Shortest of several runs in seconds: what the command itself needs, without the machine's hiccups."""
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        best = min(best, time.perf_counter() - start)
    return best


def test_import_is_cheap():
    assert _fastest([sys.executable, "-c", "import cwndlab"]) < 0.3
    code = f"import cwndlab, sys; print([name for name in {HEAVY} if name in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


def test_version_is_cheap():
    assert _fastest([sys.executable, "-m", "cwndlab", "--version"]) < 0.3
    code = (
        "import sys; from cwndlab.cli import app\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )  # fmt: skip
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


def test_arrows_point_down():
    linter = Path(sys.executable).with_name("lint-imports")
    answer = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stdout
    assert "4 kept, 0 broken" in answer.stdout


def test_native_module_has_one_door():
    named = [
        path.name for path in (ROOT / "python/cwndlab").rglob("*.py")
        if any("_core" in line and "import" in line for line in path.read_text().splitlines())
    ]  # fmt: skip
    assert named == ["native.py"]


def test_every_public_name_is_there():
    for name in cwndlab.__all__:
        assert getattr(cwndlab, name) is not None
    assert callable(cwndlab.run)
    assert set(cwndlab.__all__) == set(dir(cwndlab))


def test_functions_are_not_shadowed_by_modules():
    code = (
        "import cwndlab.execute, cwndlab.comparison, cwndlab; print(callable(cwndlab.run), callable(cwndlab.compare))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "True True\n"
