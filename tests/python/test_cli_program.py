"""Options of the whole program, completion in shells, and the beginning of a project."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import SMALL
from cwndlab.environments import ENVIRONMENTS


def _completed(words: str, **more: str) -> list[str]:
    """What bash gets for the last word."""
    env = {"_CWNDLAB_COMPLETE": "bash_complete", "COMP_WORDS": words,
           "COMP_CWORD": str(len(words.split(" ")) - 1), **more}  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "cwndlab"],
        env={**os.environ, **env}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("cwndlab compl", ["completion"]),
        ("cwndlab compare CUB", ["CUBIC"]),
        ("cwndlab compare aia", ["AIAD\\(1,3\\)"]),
        ('cwndlab compare "aia', ["AIAD(1, 3)"]),
        ("cwndlab compare --queue red,Cod", ["red,codel"]),
        ("cwndlab compare --recovery new", ["newreno"]),
        ("cwndlab compare --env sq", ["square", "SQL", "SQH"]),
        ("cwndlab search --metric jain", ["jain_index"]),
        ("cwndlab rules BBR3", ["BBR3"]),
        ("cwndlab examples one-", ["one-flow-sawtooth"]),
        ("cwndlab run --set dumbbell.rate", ["dumbbell.rate="]),
        ("cwndlab run --set flows.*.recov", ["flows.*.recovery="]),
    ],
)
def test_names_are_completed(words, expected):
    found = _completed(words)
    assert found[: len(expected)] == expected
    if "--set" not in words:
        assert found == expected


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_every_shell_is_printed(command, shell, tmp_path):
    answer = command("completion", shell)
    assert answer.returncode == 0, answer.stderr
    assert "_CWNDLAB_COMPLETE" in answer.stdout
    if program := shutil.which(shell):
        (tmp_path / "script").write_text(answer.stdout)
        subprocess.run([program, "-n", tmp_path / "script"], check=True)


def test_an_unknown_shell_is_refused(command):
    answer = command("completion", "tcsh")
    assert answer.returncode == 2
    assert "bash" in answer.stderr


@pytest.mark.parametrize("place", ["before", "after"])
def test_quiet_and_verbose(command, tmp_path, place):
    (tmp_path / "small.toml").write_text(SMALL)

    def run(flag: str) -> str:
        given = ("run", "small.toml", "--json", "--out", "out")
        done = command(*((flag, *given) if place == "before" else (*given, flag)))
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["name"] == "small"
        return done.stderr

    assert run("-q") == ""
    assert "wrote" in run("--verbose")
    assert "seed 1" in run("-v")
    assert "finished in" in run("-v")
    # What one command was asked for does not hold for the next.
    assert "finished in" not in command("run", "small.toml").stderr


def test_quiet_keeps_errors(command):
    answer = command("-q", "run", "nowhere.toml")
    assert answer.returncode == 2
    assert answer.stderr.startswith("error: ")


def test_the_module_is_the_program(cli):
    assert cli("environments", "--json").returncode == 0
    assert len(json.loads(cli("environments", "--json").stdout)["environments"]) >= len(
        ENVIRONMENTS
    )


def test_a_new_project_runs(cli, tmp_path):
    import nbformat

    answer = cli("init", "my-rule")
    assert answer.returncode == 0, answer.stderr
    project = tmp_path / "my-rule"
    commands = [line.strip() for line in answer.stdout.splitlines() if line.startswith("    ")]
    assert len(commands) == 3
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for line in commands:
        short = {"cwndlab compare": " --duration 5s --replicates 2",
                 "cwndlab sweep": " --replicates 2"}  # fmt: skip
        more = next((text for name, text in short.items() if line.startswith(name)), "")
        command = line.replace("cwndlab ", f"{sys.executable} -m cwndlab ", 1) + more
        done = subprocess.run(
            command, shell=True, cwd=project, env=environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
    notebook = nbformat.read(project / "my_rule.ipynb", as_version=4)
    nbformat.validate(notebook)
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["1st", "my rule", "class", "cwndlab", "my--rule"])
def test_a_project_needs_a_name_that_python_takes(command, tmp_path, name):
    answer = command("init", name)
    assert answer.returncode == 2
    assert "my-rule" in answer.stderr
    assert not (tmp_path / name).exists()


def test_a_project_overwrites_nothing(command, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes").write_text("kept")
    answer = command("init", "mine")
    assert answer.returncode == 2
    assert "empty directory" in answer.stderr
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes"]
