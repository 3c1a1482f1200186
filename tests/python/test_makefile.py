"""`make demo` and `make test` say what they do and what it takes, before it takes minutes; in any
folder."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT
from waiting import HANG_S

TOOL = "#!/bin/sh\nexit 0\n"
PYTHON = """\
#!/bin/sh
# Makes what `python -m venv` makes, as far as the Makefile looks at it.
if [ "$2" = venv ]; then
    mkdir -p .venv/bin python/cwndlab
    for name in python maturin cwndlab ruff pyright lint-imports; do cp "$0" .venv/bin/$name; done
fi
exit 0
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The Makefile in a folder with a space in its name, with tools that do nothing."""
    folder = tmp_path / "a b"
    (folder / "python" / "cwndlab").mkdir(parents=True)
    (folder / "tools").mkdir()
    for name in ("Makefile", "pyproject.toml", "Cargo.toml", "Cargo.lock"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / ".ci", folder / ".ci")
    shutil.copytree(ROOT / "packaging", folder / "packaging")
    for name, text in {"cargo": TOOL, "python3": PYTHON}.items():
        (folder / "tools" / name).write_text(text)
        (folder / "tools" / name).chmod(0o755)
    return folder


def _make(folder: Path, target: str) -> str:
    environment = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("MAKE", "CARGO", "STEP"))
    }
    environment["PATH"] = f"{folder / 'tools'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["make", target],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG_S,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("target", "steps"),
    [
        ("demo", ["build tool maturin", "simulator core in Rust, Python packages", "demo"]),
        (
            "test",
            [
                "compile Rust tests",
                "Rust tests",
                "simulator core in Rust, Python packages",
                "Python tests",
            ],
        ),
        (
            "check",
            ["simulator core in Rust, Python packages", "compile Rust tests", "quick Python tests"],
        ),
    ],
)
def test_each_long_step_is_announced_and_timed(checkout, target, steps):
    said = _make(checkout, target)
    for step in steps:
        assert re.search(rf"^== {step} \([^)]* on two quiet cores\)$", said, re.MULTILINE), said
        assert re.search(rf"^== {step}: took \d+ s$", said, re.MULTILINE), said


def test_what_is_set_up_is_not_set_up_again(checkout):
    _make(checkout, "setup")
    (checkout / "python" / "cwndlab" / "_core.abi3.so").touch()
    assert "simulator core" not in _make(checkout, "demo")


def test_a_wheel_of_this_commit_is_taken_instead_of_compiling(checkout):
    """Only where nothing has changed since."""

    def git(*words: str) -> str:
        identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        done = subprocess.run(
            ["git", *identity, *words], cwd=checkout, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    (checkout / ".gitignore").write_text("dist/\n.venv/\nout/\n*.so\n")
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "-m", "x")
    commit = git("rev-parse", "--short=8", "HEAD")
    tag = f"cp310-abi3-manylinux2014_{os.uname().machine}.whl"
    (checkout / "dist").mkdir()
    (checkout / "dist" / f"cwndlab-0.1.0+g00000000-{tag}").touch()
    assert "wheel cwndlab" not in _make_dry(checkout)
    (checkout / "dist" / f"cwndlab-0.1.0+g{commit}-{tag}").touch()
    assert f"+g{commit}" in _make_dry(checkout)
    (checkout / "pyproject.toml").write_text("")
    assert "wheel cwndlab" not in _make_dry(checkout)


def _make_dry(folder: Path) -> str:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "CARGO"))}
    done = subprocess.run(
        ["make", "--dry-run", "demo"], cwd=folder, env=environment, capture_output=True, text=True,
        check=True, timeout=HANG_S,
    )  # fmt: skip
    return done.stdout


def test_a_step_that_fails_says_so_and_fails_the_job(tmp_path):
    times = tmp_path / "times"
    done = subprocess.run(
        [ROOT / ".ci" / "step", "late", "1 s", "sh", "-c", "exit 3"],
        env={**os.environ, "STEP_TIMES": str(times)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 3
    assert re.search(r"^== late: failed with exit code 3 after \d+ s$", done.stderr, re.MULTILINE)
    assert times.read_text().startswith("late\t1 s\t")
