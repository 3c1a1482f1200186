"""The wheel installs and runs in a clean environment on a machine without Rust, and the packages
carry the examples."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import venv
from pathlib import Path

import pytest

import cwndlab
from conftest import ROOT


def _environment_without_rust(binaries: Path, tools: Path) -> dict[str, str]:
    """Of a machine with a shell and no compiler, wherever this one has its `cargo`."""
    tools.mkdir()
    (tools / "sh").symlink_to(shutil.which("sh"))
    kept = {
        key: value
        for key, value in os.environ.items()
        if key not in ("PYTHONPATH", "VIRTUAL_ENV", "CARGO_HOME")
    }
    return {**kept, "PATH": os.pathsep.join([str(binaries), str(tools)])}


@pytest.mark.nightly
def test_wheel_runs_without_rust(tmp_path):
    built = tmp_path / "dist"
    maturin = Path(sys.executable).with_name("maturin")
    subprocess.run([maturin, "build", "--release", "--quiet", "--out", built], cwd=ROOT, check=True)
    (wheel,) = built.glob("*.whl")
    assert wheel.name.startswith(f"cwndlab-{cwndlab.__version__}-cp310-abi3-")

    venv.create(tmp_path / "venv", with_pip=True)
    binaries = tmp_path / "venv" / "bin"
    environment = _environment_without_rust(binaries, tmp_path / "tools")
    for program in ("cargo", "rustc", "cc"):
        assert shutil.which(program, path=environment["PATH"]) is None

    def call(*command: str | Path) -> str:
        answer = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert answer.returncode == 0, answer.stderr
        return answer.stdout

    call(binaries / "python", "-m", "pip", "install", "--quiet", wheel)
    example = ROOT / "examples" / "exact-drops.toml"
    run = json.loads(call(binaries / "cwndlab", "run", example, "--json"))
    assert run["trace_hash"] == cwndlab.run(example).trace_hash
    demo = call(binaries / "cwndlab", "demo", "--duration", "3s", "--out", tmp_path / "demo")
    assert "C_a" in demo
    call(binaries / "cwndlab", "examples", "--out", "examples")
    assert _files_of(tmp_path / "examples") == _files_of(ROOT / "examples")
    call(binaries / "cwndlab", "run", "examples/custom-rule.toml")
    assert "akella2002/fig4" in call(binaries / "cwndlab", "reproduce", "--list")
    where = call(binaries / "python", "-c", "import cwndlab; print(cwndlab.__file__)")
    assert where.startswith(str(tmp_path / "venv"))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cargo") is None, reason="maturin asks cargo for the crates")
def test_the_sdist_has_both_packages_and_the_examples_as_files(tmp_path):
    """A wheel is built of it, or of the same list in pyproject.toml."""
    maturin = Path(sys.executable).with_name("maturin")
    subprocess.run([maturin, "sdist", "--out", tmp_path], cwd=ROOT, check=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        (folder,) = {name.partition("/")[0] for name in packed.getnames()}
        kept = {member.name: member for member in packed.getmembers() if member.isfile()}
        for inside, outside in (
            ("cwndlab/templates/_examples", ROOT / "examples"),
            ("cwndlab_papers", ROOT / "python/cwndlab_papers"),
        ):
            place = f"{folder}/python/{inside}/"
            found = {
                name.removeprefix(place): packed.extractfile(member).read()
                for name, member in kept.items() if name.startswith(place)
            }  # fmt: skip
            assert found == _files_of(outside)


def _files_of(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and file.suffix != ".pyc"
    }
