"""Sweeps on a cluster of dask.distributed: two processes of this machine that talk over its
loopback interface."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from cwndlab import ClusterError, Store, Sweep
from cwndlab.cluster import Dask
from cwndlab.sweep import SweepResult, execute
from small_sweeps import BASE
from waiting import HANG_S, wait_until

pytest.importorskip("distributed", reason="dask.distributed is not installed")

AXES = {"rule": ["AIMD(1, 0.5)", "CUBIC"], "dumbbell.queue.limit": ["5pkt", "20pkt"]}
LONG = {**BASE, "duration": "36000s", "dumbbell": {**BASE["dumbbell"], "rate": "100Mbit"}}


def sweep_of(**changes) -> Sweep:
    return Sweep.from_dict(
        {"name": "small", "base": BASE, "axes": AXES, "replicates": 3, **changes}
    )


def address(cluster) -> str:
    return cluster.scheduler_address.replace("tcp://", "dask://")


def _pids(client) -> list[int]:
    return list(client.run(os.getpid).values())


def _start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start a sweep by command line; what it says goes into files, which do not fill up."""
    command = [
        sys.executable,
        "-m",
        "cwndlab",
        "sweep",
        "sweep.json",
        "--store",
        "store",
        "--json",
        *arguments,
    ]
    with (folder / "out").open("w") as out, (folder / "err").open("w") as err:
        return subprocess.Popen(command, cwd=folder, stdout=out, stderr=err, text=True)


def _events(folder: Path) -> list[dict]:
    lines = (folder / "out").read_text().splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def _keys(events: list[dict]) -> list[str]:
    return [event["key"] for event in events if event["event"] == "run"]


def stored(folder: Path) -> dict[str, dict]:
    """All of each result, but for how long it took."""
    with Store(folder, write=False) as store:
        runs = {record.key: record.run() for record in store.records()}
    for run in runs.values():
        del run["wall_s"], run["packets_per_wall_s"]
    return runs


def _rows(folder: Path) -> int:
    """Runs as they were written, before reading leaves out what is there twice."""
    return sum(pl.read_parquet(path).height for path in (folder / "parts").glob("runs-*.parquet"))


@pytest.mark.slow
def test_a_worker_killed_half_way(tmp_path, client):
    """Its runs are done again by others: the same table, the same results to the last bit, none
    stored twice."""
    sweep = sweep_of(replicates=20, base={**BASE, "duration": "60s"})
    local = sweep.run(tmp_path / "local")
    events: list[dict] = []
    victim = _pids(client)[0]

    def kill(event):
        events.append(event)
        if event["event"] == "run" and event["done"] == 40:
            os.kill(victim, signal.SIGKILL)

    found = sweep.run(tmp_path / "far", on=client, progress=kill)
    assert not Path(f"/proc/{victim}").exists()
    assert found.failed == []
    assert found.runs.equals(local.runs)
    assert found.summary.equals(local.summary)
    assert found.differences.equals(local.differences)
    keys = _keys(events)
    assert len(keys) == len(set(keys)) == 80
    assert stored(tmp_path / "far") == stored(tmp_path / "local")
    assert _rows(tmp_path / "far") == 80, "nothing was recorded twice"


@pytest.mark.slow
def test_a_cluster_by_its_address_and_on_the_command_line(tmp_path, cluster):
    (tmp_path / "sweep.json").write_text(json.dumps({"base": BASE, "axes": AXES, "replicates": 3}))
    assert _start(tmp_path, "--on", address(cluster)).wait(timeout=HANG_S) == 0, (
        tmp_path / "err"
    ).read_text()
    assert (tmp_path / "err").read_text() == f"{cluster.scheduler_address}: workers 2, threads 2\n"
    events = _events(tmp_path)
    told = {"event": "workers", "address": cluster.scheduler_address, "workers": 2, "threads": 2}
    assert told in events
    local = sweep_of().run()
    assert [row["trace_hash"] for row in events[-1]["runs"]] == local.runs["trace_hash"].to_list()
    assert sweep_of().run(on=address(cluster)).runs.equals(local.runs)


@pytest.mark.slow
def test_few_runs_are_at_the_cluster_at_a_time_and_none_stays_there(client):
    taken = 0

    def tasks():
        nonlocal taken
        for place, cell in enumerate(sweep_of(replicates=50).plan.cells()):
            for replicate in range(50):
                taken += 1
                yield (place, replicate), json.dumps(cell.document(replicate))

    executor, answered = Dask(client), []
    for key, outcome in executor(tasks()):
        answered.append(key)
        assert outcome.error == ""
        # Three for each of the two threads.
        assert taken - len(answered) < 6
    assert len(answered) == len(set(answered)) == 200
    assert executor.most_in_flight == 6
    wait_until(
        lambda: not client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
    )


@pytest.mark.slow
def test_a_client_that_goes_away_leaves_the_cluster_free(tmp_path, cluster, client):
    """Killed half-way: workers stop what nobody waits for, and the same command does the rest and
    no more."""
    sweep = {"base": {**BASE, "duration": "500s"}, "axes": AXES, "replicates": 50}
    (tmp_path / "sweep.json").write_text(json.dumps(sweep))
    process = _start(tmp_path, "--on", address(cluster))
    wait_until(lambda: len(_keys(_events(tmp_path))) >= 20)
    process.kill()
    process.wait()
    wait_until(
        lambda: not client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
    )
    kept = set(stored(tmp_path / "store"))
    assert 20 <= len(kept) < 200
    assert _start(tmp_path, "--on", address(cluster)).wait(timeout=HANG_S) == 0, (
        tmp_path / "err"
    ).read_text()
    computed = _keys(_events(tmp_path))
    assert not kept & set(computed)
    assert len(kept) + len(computed) == 200


@pytest.mark.slow
def test_ctrl_c_stops_what_is_under_way_and_keeps_what_is_finished(tmp_path, cluster, client):
    """Two quick runs and, after them, some that take minutes."""
    axes = {"load": {"short": {"duration": "2s"}, "long": {"duration": LONG["duration"]}}}
    sweep = {"base": {**LONG, "duration": "2s"}, "axes": axes, "replicates": 2}
    (tmp_path / "sweep.json").write_text(json.dumps(sweep))
    process = _start(tmp_path, "--on", address(cluster))
    wait_until(lambda: len(_keys(_events(tmp_path))) == 2)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=HANG_S) == 130
    said = (tmp_path / "err").read_text()
    assert "stopped after 2 runs, which are kept in store" in said
    assert "Traceback" not in said
    assert len(stored(tmp_path / "store")) == 2
    # The threads of the workers are free at once, where a run takes minutes.
    wait_until(
        lambda: not any(client.run(lambda dask_worker: len(dask_worker.active_threads)).values())
    )


@pytest.mark.slow
def test_a_scheduler_that_is_lost(tmp_path):
    """Exit code 2, one line; what is finished is kept, and a cluster elsewhere goes on."""
    code = (
        "import distributed, sys\ncluster = distributed.LocalCluster(n_workers=1,"
        " threads_per_worker=1, host='127.0.0.1', processes=False,\n                               "
        "    protocol='tcp', dashboard_address='127.0.0.1:0')\nprint(cluster.scheduler_address,"
        " flush=True)\nsys.stdin.read()\n"
    )
    command = [sys.executable, "-c", code]
    (tmp_path / "sweep.json").write_text(
        json.dumps({"base": {**BASE, "duration": "500s"}, "axes": AXES, "replicates": 100})
    )
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
    ) as scheduler:
        address = scheduler.stdout.readline().strip()
        process = _start(tmp_path, "--on", address)
        wait_until(lambda: len(_keys(_events(tmp_path))) >= 10 or process.poll() is not None)
        scheduler.kill()
    assert process.wait(timeout=HANG_S) == 2
    said = (tmp_path / "err").read_text().splitlines()
    assert said[-1].startswith(f"error: on: the scheduler at {address} does not answer any more")
    assert said[-2].startswith("ended by an error after ")
    assert len(said) == 3, said
    assert set(_keys(_events(tmp_path))) == set(stored(tmp_path / "store"))


def test_a_run_that_fails_there_fails_as_it_does_here(tmp_path, client):
    text = "class Bad:\n    def increase(self, w, ack):\n        return w / 0\n"
    (tmp_path / "bad.py").write_text(
        text + "    def decrease(self, w, signal):\n        return w / 2\n"
    )
    sweep = sweep_of(axes={"rule": [f"{tmp_path}/bad.py:Bad"]}, replicates=1)
    assert sweep.run(on=client).failed == sweep.run().failed
    assert "ZeroDivisionError" in sweep.run(on=client).failed[0]["error"]


def test_a_run_that_ends_every_worker_is_given_up(tmp_path, client):
    """Not for ever begun again: it counts as failed, and the sweep goes on."""
    text = (
        "import os, signal\nclass Poison:\n    def increase(self, w, ack):\n       "
        " os.kill(os.getpid(), 9)\n"
    )
    (tmp_path / "poison.py").write_text(
        text + "    def decrease(self, w, signal):\n        return w / 2\n"
    )

    def allow(failures: int) -> int:
        return client.run_on_scheduler(_allow, failures=failures)

    allowed = allow(0)
    found = sweep_of(axes={"rule": [f"{tmp_path}/poison.py:Poison"]}, replicates=1).run(
        tmp_path / "store", on=client
    )
    allow(allowed)
    (failed,) = found.failed
    assert failed["error"].startswith("every worker that began it was lost: ")
    assert stored(tmp_path / "store") == {}


def _allow(failures: int, dask_scheduler=None) -> int:
    before, dask_scheduler.allowed_failures = dask_scheduler.allowed_failures, failures
    return before


def test_workers_of_another_build_are_refused_before_the_first_run(tmp_path, client):
    def other():
        import cwndlab.native

        cwndlab.native.build = lambda: "0" * 16

    def back():
        import cwndlab.native

        cwndlab.native.build = cwndlab.native._core.build

    client.run(other)
    with pytest.raises(
        ClusterError,
        match=r"worker tcp://.* on .*: has build 0000000000000000 of the engine: expected",
    ):
        sweep_of().run(tmp_path / "store", on=client)
    # One that comes later is asked with each run.
    with pytest.raises(
        ClusterError, match=r"worker that came later on .*: has build 0000000000000000"
    ):
        sweep_of().run(tmp_path / "store", executor=Dask(client))
    client.run(back)
    assert not (tmp_path / "store").exists() or stored(tmp_path / "store") == {}


def test_ctrl_c_in_python_leaves_findings_with_the_caller(tmp_path, client):
    sweep = sweep_of(replicates=100)
    findings = SweepResult(sweep)

    def interrupt(event):
        if event["event"] == "run" and event["done"] == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        execute(sweep, findings, tmp_path, on=client, progress=interrupt)
    assert len(stored(tmp_path)) == len(findings) == 20
    # The client is the caller's, and goes on.
    assert client.submit(abs, -3).result() == 3
