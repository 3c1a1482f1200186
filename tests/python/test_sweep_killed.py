"""A sweep that is killed at any moment, and finished by the same command."""

from __future__ import annotations

import json
import random
import shutil
import time
from pathlib import Path

import pytest

from cwndlab import Store
from stores import count, log
from sweep_process import SweepProcess, keys
from waiting import wait_until

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
MOMENTS = [
    *[(0, "runs.sqlite"), (0, "claims")] * 2,
    *((runs, "") for runs in range(1, RUNS, 20)),
    *[(RUNS, "runs.sqlite-wal"), (RUNS, "")] * 2,
]
"""What has happened just before: so many runs have been said to be done, and there is such a file
in the store."""
JITTER_S = 0.02
"""A few runs: what the process is doing then, computing or writing, is left to chance. Nothing else
depends on it."""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> dict:
    """What a sweep gives that nobody disturbs."""
    folder = tmp_path_factory.mktemp("undisturbed")
    (folder / "sweep.json").write_text(json.dumps(SWEEP))
    with SweepProcess(folder) as sweep:
        last = sweep.finish()[-1]
    assert last["event"] == "result"
    assert len(last["runs"]) == RUNS
    return last


def _kill(folder: Path, runs: int, file: str, later_s: float) -> list[str]:
    """Kill a sweep a little after a moment; the keys of the runs that it said were done."""
    with SweepProcess(folder) as sweep:
        said = sweep.runs(runs)
        assert len(said) == runs, sweep.messages
        wait_until(
            lambda: _is_there(folder / "store", file) or sweep.process.poll() is not None,
            file,
            0.001,
        )
        time.sleep(later_s)
        sweep.process.kill()
        return said + sweep.runs()


def _is_there(store: Path, file: str) -> bool:
    return not file or any(store.glob(file))


@pytest.mark.slow
@pytest.mark.parametrize(
    "number",
    [
        pytest.param(number, marks=[] if number % 5 == 2 else pytest.mark.nightly)
        for number in range(len(MOMENTS))
    ],
    ids=lambda number: "{}-{}-{}".format(number, *MOMENTS[number]),
)
def test_killed_and_finished(tmp_path, undisturbed, number):
    (tmp_path / "sweep.json").write_text(json.dumps(SWEEP))
    said = _kill(tmp_path, *MOMENTS[number], random.Random(number).uniform(0, JITTER_S))

    recorded: set[str] = set()
    if count(tmp_path / "store"):
        # What can be read is right: every record has the trace hash that the undisturbed sweep has
        # for its place.
        with Store(tmp_path / "store", write=False) as store:
            recorded = {record.key for record in store.records()}
            hashes = {record.key: (record.seed, record.trace_hash) for record in store.records()}
        right = {(row["seed"], row["trace_hash"]) for row in undisturbed["runs"]}
        assert set(hashes.values()) <= right
    assert set(said) <= recorded, "what was said to be done is there"

    with SweepProcess(tmp_path) as sweep:
        events = sweep.finish()
    computed = keys(events)
    assert len(computed) == len(set(computed))
    assert not set(computed) & recorded, "nothing that was recorded is done again"
    assert len(computed) + len(recorded) == RUNS
    assert {key: events[-1][key] for key in ("runs", "summary", "differences")} == {
        key: undisturbed[key] for key in ("runs", "summary", "differences")
    }
    assert not log(tmp_path / "store").exists()
    shutil.rmtree(tmp_path / "store")
