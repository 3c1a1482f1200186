"""A sweep that is killed at any moment, and finished by the same command."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cwndlab import Store
from waiting import HANG_S, wait_until

SWEEP = {
    "replicates": 40,
    "metrics": ["goodput", "loss_rate", "jain_index"],
    "axes": {
        "rule": ["AIMD(1, 0.5)", "AIAD(1, 3)", "CUBIC"],
        "dumbbell.queue.limit": ["5pkt", "20pkt"],
    },
    "base": {
        "duration": "120s",
        "dumbbell": {
            "rate": "2Mbit",
            "delay": "5ms",
            "access_delay": ["1ms", "5ms"],
            "queue": {"kind": "drop-tail", "limit": "1bdp"},
        },
        "flows": [{"name": "a", "rule": "AIMD(1, 0.5)", "count": 2}],
    },
}
RUNS = 240
MOMENTS = 20


def _start(folder: Path, output: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "cwndlab", "sweep", "sweep.json", "--store", "store", "--json"]
    # Into a file, which shows after a SIGKILL all that was said.
    with output.open("w") as file:
        return subprocess.Popen(command, cwd=folder, stdout=file, stderr=subprocess.PIPE, text=True)


def _events(output: Path) -> list[dict]:
    """Whole lines: the last one may have been cut when the process was killed."""
    return [
        json.loads(line)
        for line in output.read_text().splitlines(keepends=True)
        if line.endswith("\n")
    ]


def _keys(events: list[dict]) -> list[str]:
    return [event["key"] for event in events if event["event"] == "run"]


@pytest.fixture(scope="module")
def expected(tmp_path_factory) -> dict:
    """What a sweep that nobody disturbs gives."""
    folder = tmp_path_factory.mktemp("undisturbed")
    (folder / "sweep.json").write_text(json.dumps(SWEEP))
    output = folder / "events"
    process = _start(folder, output)
    _, messages = process.communicate(timeout=HANG_S)
    assert process.returncode == 0, messages
    last = _events(output)[-1]
    assert last["event"] == "result"
    assert len(last["runs"]) == RUNS
    return last


def _has_come(moment: int, folder: Path) -> bool:
    """Whether a sweep has come as far as this: its store is begun, then a share of its runs is said
    to be done."""
    if moment == 0:
        return (folder / "store" / "store.json").exists()
    return (folder / "killed").read_text().count('"event": "run"') >= RUNS * moment // (MOMENTS - 1)


@pytest.mark.parametrize(
    "moment",
    [
        pytest.param(moment, marks=[] if moment % 6 == 1 else pytest.mark.nightly)
        for moment in range(MOMENTS)
    ],
)
def test_killed_and_finished(tmp_path, expected, moment):
    # From before the first run until after the last: also while the process makes parts of its
    # journal.
    (tmp_path / "sweep.json").write_text(json.dumps(SWEEP))
    process = _start(tmp_path, tmp_path / "killed")
    wait_until(
        lambda: process.poll() is not None or _has_come(moment, tmp_path),
        f"moment {moment}",
        poll_s=0.001,
    )
    process.kill()
    process.communicate()

    recorded: set[str] = set()
    if (tmp_path / "store" / "store.json").exists():
        # What can be read is right: every record has the trace hash that the undisturbed sweep has
        # for its place.
        with Store(tmp_path / "store", write=False) as store:
            recorded = {record.key for record in store.records()}
            hashes = {record.key: (record.seed, record.trace_hash) for record in store.records()}
        right = {(row["seed"], row["trace_hash"]) for row in expected["runs"]}
        assert set(hashes.values()) <= right
    said = _keys(_events(tmp_path / "killed"))
    assert set(said) <= recorded, "what was said to be done is there"

    process = _start(tmp_path, tmp_path / "finished")
    _, messages = process.communicate(timeout=HANG_S)
    assert process.returncode == 0, messages
    events = _events(tmp_path / "finished")
    computed = _keys(events)
    assert len(computed) == len(set(computed))
    assert not set(computed) & recorded, "nothing that was recorded is done again"
    assert len(computed) + len(recorded) == RUNS
    assert {key: events[-1][key] for key in ("runs", "summary", "differences")} == {
        key: expected[key] for key in ("runs", "summary", "differences")
    }
    assert not list((tmp_path / "store" / "journal").iterdir())
    shutil.rmtree(tmp_path / "store")
