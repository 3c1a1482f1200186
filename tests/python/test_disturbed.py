"""Sweeps and comparisons whose processes are killed, share a store or fill the disk."""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
from pathlib import Path

import pytest

import cwndlab
from cwndlab import Store
from cwndlab.runs import executors
from small_sweeps import BASE
from stores import count
from waiting import HANG_S, wait_until

RULES = [f"AIMD({step}, 0.5)" for step in range(1, 9)]
REPLICATES = 5
RUNS = len(RULES) * REPLICATES
SWEEP = {"base": {**BASE, "duration": "200s"}, "axes": {"rule": RULES}, "replicates": REPLICATES}
COMMANDS = {
    "sweep": ["sweep", "sweep.json"],
    "compare": ["compare", *RULES, "--replicates", str(REPLICATES), "--duration", "60s"],
    "against": ["compare", *RULES[:3], "--against", RULES[7], "--flows", "2", "--replicates", "10",
                "--duration", "60s"],
}  # fmt: skip
"""40 runs each."""


@pytest.fixture(params=COMMANDS)
def command(request, tmp_path) -> list[str]:
    (tmp_path / "sweep.json").write_text(json.dumps(SWEEP))
    return COMMANDS[request.param]


def _records(folder: Path) -> dict[str, tuple[str, str]]:
    """Key of each run to its trace hash, and to when it was done."""
    if not count(folder):
        return {}
    with Store(folder, write=False) as store:
        return {record.key: (record.trace_hash, record.finished) for record in store.records()}


@pytest.mark.slow
@pytest.mark.parametrize("command", ["compare", "against"], indirect=True)
def test_killed_twenty_times(cli, tmp_path, command):
    """What is finished stays, is not done again, and is what an undisturbed command finds.

    test_sweep_killed.py kills sweeps at chosen moments.
    """
    kept: dict[str, tuple[str, str]] = {}
    for _ in range(20):
        process = subprocess.Popen(
            [sys.executable, "-m", "cwndlab", *command, "--store", "s", "--jobs", "1"],
            cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        wait_until(lambda: count(tmp_path / "s") > len(kept) or process.poll() is not None)  # noqa: B023
        process.kill()
        process.wait()
        found = _records(tmp_path / "s")
        assert kept.items() <= found.items(), "a finished run is lost, or done again"
        kept = found
    assert 20 <= len(kept) <= RUNS
    assert cli(*command, "--store", "s").stdout == cli(*command, "--store", "whole").stdout
    assert kept.items() <= _records(tmp_path / "s").items()
    assert _hashes(tmp_path / "s") == _hashes(tmp_path / "whole")


def _hashes(folder: Path) -> dict[str, str]:
    return {key: trace_hash for key, (trace_hash, _) in _records(folder).items()}


@pytest.mark.slow
def test_a_full_disk_is_said_and_the_same_command_resumes(cli, tmp_path, command):
    """A limit on the size of a file stands for a full disk: SQLite's log cannot grow beyond it."""
    code = (
        "import resource, sys; from cwndlab.cli import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (300000,) * 2); main()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, *command, "--store", "s"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 2, ended.stderr
    said, error = ended.stderr.splitlines()[-2:]
    assert "or a file would exceed the system's limit" in error
    assert "finished runs are kept" in error
    kept = _records(tmp_path / "s")
    assert said.startswith(f"ended by an error after {len(kept)} ")
    assert said.endswith(", which are kept in s; the same command resumes")
    assert 3 < len(kept) < RUNS
    assert cli(*command, "--store", "s").stdout == cli(*command, "--store", "whole").stdout
    assert kept.items() <= _records(tmp_path / "s").items()


def _do(name: str, store: Path):
    if name == "sweep":
        return cwndlab.sweep(SWEEP, store=store, jobs=1).runs
    return cwndlab.compare(RULES, replicates=REPLICATES, duration="60s", store=store, jobs=1).runs


def _share(name: str, store: Path, both_have_begun, answer) -> None:
    done: list[str] = []

    def perform(scenario: str, *progress) -> executors.Outcome:
        if not done:
            both_have_begun.wait(HANG_S)
        done.append(scenario)
        return performed(scenario, *progress)

    performed, executors.perform = executors.perform, perform
    answer.put((done, _do(name, store).write_json()))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sweep", "compare"])
def test_two_processes_divide_the_runs_of_a_store(tmp_path, name):
    """Each run is done once, both find all, and the same as one process alone."""
    context = multiprocessing.get_context("spawn")
    barrier, answer = context.Barrier(2), context.SimpleQueue()
    processes = [
        context.Process(target=_share, args=(name, tmp_path / "s", barrier, answer))
        for _ in range(2)
    ]
    for process in processes:
        process.start()
    (one, ones_table), (other, others_table) = answer.get(), answer.get()
    for process in processes:
        process.join()
    # Each tries a cell of every rule by a run of no length, which no store keeps.
    one, other = ([run for run in runs if '"duration": 1e-06' not in run] for runs in (one, other))
    assert min(len(one), len(other)) > 0
    assert len(one) + len(other) == len({*one, *other}) == RUNS
    assert ones_table == others_table == _do(name, tmp_path / "alone").write_json()
