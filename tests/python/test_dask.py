"""Sweeps on a cluster of dask.distributed: two processes of this machine that talk over its
loopback interface."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import cwndlab
from cwndlab import ClusterError, Store, Sweep
from cwndlab.runs.cluster import Dask
from cwndlab.sweeps import SweepResult, execute
from small_sweeps import BASE
from stores import count
from sweep_process import SweepProcess, keys
from waiting import wait_until

pytest.importorskip("distributed", reason="dask.distributed is not installed")

AXES = {"rule": ["AIMD(1, 0.5)", "CUBIC"], "dumbbell.queue.limit": ["5pkt", "20pkt"]}
LOAD = {"short": {"duration": "2s"}, "many hours": {"duration": "1e7s", "dumbbell.rate": "1Gbit"}}
"""An axis whose first runs are done at once, and whose others are never done."""


def sweep_of(**changes) -> Sweep:
    return Sweep.from_dict(
        {"name": "small", "base": BASE, "axes": AXES, "replicates": 3, **changes}
    )


def address(cluster) -> str:
    return cluster.scheduler_address.replace("tcp://", "dask://")


def _pids(client) -> list[int]:
    return list(client.run(os.getpid).values())


def _tasks(client) -> int:
    return client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))


def _busy_threads(client) -> int:
    return sum(client.run(lambda dask_worker: len(dask_worker.active_threads)).values())


def stored(folder: Path) -> dict[str, dict]:
    """All of each result, but for how long it took."""
    with Store(folder, write=False) as store:
        runs = {record.key: record.run() for record in store.records()}
    for run in runs.values():
        del run["wall_s"], run["packets_per_wall_s"]
    return runs


def _sweep(store: Path, done, **where):
    def progress(event):
        if event["event"] == "run":
            done()

    sweep = sweep_of(replicates=20, base={**BASE, "duration": "60s"})
    return sweep.run(store, progress=progress, **where)


def _compare(store: Path, done, **where):
    return cwndlab.compare(
        ["AIMD(1, 0.5)", "CUBIC"], env=["constant", "square"], replicates=20, duration="10s",
        store=store, progress=lambda *_: done(), **where,
    )  # fmt: skip


@pytest.mark.parametrize("many", [_sweep, _compare])
def test_a_worker_killed_half_way(tmp_path, client, many):
    """Its runs are done again by others: the same table, the same results to the last bit, none
    stored twice."""
    local = many(tmp_path / "local", lambda: None)
    done, victim = [], _pids(client)[0]

    def kill():
        done.append(1)
        if len(done) == 40:
            os.kill(victim, signal.SIGKILL)

    found = many(tmp_path / "far", kill, on=client)
    wait_until(lambda: not Path(f"/proc/{victim}").exists(), "the end of the worker")
    assert len(done) == found.runs.height == 80
    for name, table in found.tables.items():
        assert table.equals(local.tables[name]), name
    assert stored(tmp_path / "far") == stored(tmp_path / "local")
    assert count(tmp_path / "far") == 80, "nothing was recorded twice"


@pytest.mark.usefixtures("client")
def test_a_cluster_by_its_address_and_on_the_command_line(tmp_path, cluster):
    (tmp_path / "sweep.json").write_text(json.dumps({"base": BASE, "axes": AXES, "replicates": 3}))
    with SweepProcess(tmp_path, "--on", address(cluster)) as sweep:
        events = sweep.finish()
        # On a busy machine the client may add that a connection took too long to close.
        first = sweep.messages.splitlines()[0]
        assert first == f"{cluster.scheduler_address}: workers 2, threads 2"
    workers = {"event": "workers", "address": cluster.scheduler_address, "workers": 2, "threads": 2}
    assert any(workers.items() <= event.items() for event in events)
    local = sweep_of().run()
    assert [row["trace_hash"] for row in events[-1]["runs"]] == local.runs["trace_hash"].to_list()
    assert sweep_of().run(on=address(cluster)).runs.equals(local.runs)


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
    wait_until(lambda: not _tasks(client), "forgetting what is done")


def test_a_client_that_goes_away_leaves_the_cluster_free(tmp_path, cluster, client):
    """Killed half-way: nothing is left there, and the same command does the rest and no more."""
    (tmp_path / "sweep.json").write_text(
        json.dumps({"base": BASE, "axes": AXES, "replicates": 100})
    )
    # What 400 runs have to say fills the pipe: it cannot be done before it is killed.
    with SweepProcess(tmp_path, "--on", address(cluster)) as killed:
        assert len(killed.runs(20)) == 20, killed.messages
    wait_until(lambda: not _tasks(client), "forgetting what nobody waits for")
    kept = set(stored(tmp_path / "store"))
    assert 20 <= len(kept) < 400
    with SweepProcess(tmp_path, "--on", address(cluster)) as again:
        computed = keys(again.finish())
    assert not kept & set(computed)
    assert len(kept) + len(computed) == 400


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_the_end_of_a_client_stops_what_is_under_way_and_keeps_what_is_finished(
    tmp_path, cluster, client, end
):
    (tmp_path / "sweep.json").write_text(
        json.dumps({"base": BASE, "axes": {"load": LOAD}, "replicates": 2})
    )
    with SweepProcess(tmp_path, "--on", address(cluster)) as sweep:
        assert len(sweep.runs(2)) == 2, sweep.messages
        wait_until(lambda: _busy_threads(client) == 2, "the beginning of two long runs")
        sweep.process.send_signal(end)
        assert sweep.end() == (130 if end == signal.SIGINT else -end)
        if end == signal.SIGINT:
            assert "stopped after 2 runs, which are kept in store" in sweep.messages
            assert "Traceback" not in sweep.messages
    assert len(stored(tmp_path / "store")) == 2
    wait_until(lambda: not _busy_threads(client), "the end of both")


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
        json.dumps({"base": BASE, "axes": {"load": LOAD}, "replicates": 10})
    )
    scheduler = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    with scheduler:
        address = scheduler.stdout.readline().strip()
        sweep = SweepProcess(tmp_path, "--on", address)
        done = sweep.runs(10)
        scheduler.kill()
    with sweep:
        assert sweep.end() == 2
    said = [line for line in sweep.messages.splitlines() if not line.startswith("note: 2 flows")]
    assert said[-1].startswith(f"error: on: the scheduler at {address} does not answer any more")
    assert said[-2].startswith("ended by an error after ")
    assert len(said) == 3, said
    assert set(done) == set(stored(tmp_path / "store"))


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
    try:
        with pytest.raises(
            ClusterError, match=r"worker tcp://.* on .*: has build 0{16} of the engine: expected"
        ):
            sweep_of().run(tmp_path / "store", on=client)
        # One that comes later is asked with each run.
        with pytest.raises(ClusterError, match=r"worker that came later on .*: has build 0{16}"):
            sweep_of().run(tmp_path / "store", executor=Dask(client))
    finally:
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
