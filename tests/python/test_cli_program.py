"""Options of the whole program, completion in shells, and the beginning of a project."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

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
    assert len(json.loads(cli("environments", "--json").stdout)) >= len(ENVIRONMENTS)
