"""Imports: cheap, in one direction, and the native module imported by one module."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import cwndlab
from conftest import ROOT

SLOW = ("asyncio", "concurrent", "email", "http", "multiprocessing", "sqlite3", "unittest", "xml")
"""Parts of the standard library that take as long to import as all of what is needed."""


def _imported(statement: str) -> set[str]:
    """Modules that a fresh interpreter loads to run a statement."""
    code = (
        "import sys\n"
        "before = set(sys.modules)\n"
        f"{statement}\n"
        "print(*(set(sys.modules) - before), sep='\\n', file=sys.stderr)\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return set(done.stderr.splitlines())


def _from_elsewhere(modules: set[str]) -> set[str]:
    packages = {name.partition(".")[0] for name in modules}
    assert not packages & set(SLOW)
    return packages - sys.stdlib_module_names


def test_import_is_cheap():
    """What it takes, bench/responsiveness.py measures: here, that it takes nothing along."""
    modules = _imported("import cwndlab")
    assert _from_elsewhere(modules) == {"cwndlab"}
    assert {name for name in modules if name.startswith("cwndlab")} == {"cwndlab"}


@pytest.mark.slow
def test_version_is_cheap():
    version = "try:\n    main(['--version'])\nexcept SystemExit:\n    pass"
    modules = _imported(f"from cwndlab.cli import main\n{version}")
    assert _from_elsewhere(modules) == {"cwndlab", "click"}


def test_arrows_point_down():
    linter = Path(sys.executable).with_name("lint-imports")
    answer = subprocess.run(
        [linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stdout
    assert "7 kept, 0 broken" in answer.stdout


def test_nothing_names_the_papers():
    named = [
        path.name for path in (ROOT / "python/cwndlab").rglob("*.[pjt]*")
        if path.suffix in (".py", ".jinja", ".toml") and "cwndlab_papers" in path.read_text()
    ]  # fmt: skip
    assert not named


def test_one_module_imports_the_native_module():
    named = [
        path.name for path in (ROOT / "python/cwndlab").rglob("*.py")
        if any("_core" in line and "import" in line for line in path.read_text().splitlines())
    ]  # fmt: skip
    assert named == ["native.py"]


def test_every_public_name_is_there():
    for name in cwndlab.__all__:
        assert getattr(cwndlab, name) is not None
    assert callable(cwndlab.run)
    assert set(cwndlab.__all__) == {"__version__", *cwndlab._HOMES, *cwndlab._MODULES}
    assert set(cwndlab.__all__) == set(dir(cwndlab))


def test_functions_are_not_shadowed_by_modules():
    code = (
        "import cwndlab.runs.execute, cwndlab.comparison, cwndlab; print(callable(cwndlab.run),"
        " callable(cwndlab.compare))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "True True\n"
