"""`cwndlab sweep` and `cwndlab results`: what they print, write and refuse."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time

import polars as pl
import pytest

from conftest import ROOT
from cwndlab import Store
from cwndlab.plots import save, sweep_points
from cwndlab.sweep import Sweep
from cwndlab.work import default_jobs

TEXT = """
name = "small"
replicates = 3
metrics = ["aggregate_goodput_bps", "loss_rate"]

[axes]
rule = ["AIMD(1, 0.5)", "AIAD(1, 3)"]
"dumbbell.queue.limit" = ["5pkt", "20pkt"]

[base]
duration = "2s"

[base.dumbbell]
rate = "2Mbit"
delay = "5ms"
access_delay = ["1ms", "5ms"]
queue = { kind = "drop-tail", limit = "10pkt" }

[[base.flows]]
name = "a"
rule = "AIMD(1, 0.5)"
count = 2
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "small.toml").write_text(TEXT)
    return tmp_path / "small.toml"


def _refused(answer) -> str:
    assert answer.returncode == 2, answer.stderr
    assert answer.stdout == ""
    (line,) = answer.stderr.splitlines()
    assert line.startswith("error: ")
    return line


def test_a_sweep_and_its_results(cli, file, tmp_path):
    done = cli("sweep", file, "--plot", "small.png")
    assert done.returncode == 0, done.stderr
    # Quiet in a pipe: no progress.
    assert done.stderr == "wrote small.png\n"
    assert "small: mean ± 95 % CI, 3 replicates" in done.stdout
    assert "Difference from AIMD(1, 0.5), paired by replicate" in done.stdout
    assert (tmp_path / "small.png").stat().st_size > 10_000
    assert cli("sweep", file).stdout == done.stdout
    names = ["runs.csv", "runs.parquet", "runs.json"]
    listed = cli("results", "out/small", *(part for name in names for part in ("--export", name)))
    assert listed.returncode == 0, listed.stderr
    assert "12 runs" in listed.stdout
    assert "seeds     1 to 3" in listed.stdout
    table = Sweep.load(file).run().runs
    frames = [pl.read_csv(tmp_path / "runs.csv"), pl.read_parquet(tmp_path / "runs.parquet")]
    frames.append(pl.DataFrame(json.loads((tmp_path / "runs.json").read_text())))
    for frame in frames:
        assert frame.select(table.columns).rows() == table.rows()
        assert {"machine", "version", "build", "duration_s", "finished", "key"} <= set(frame.columns)


def test_results_are_chosen_and_one_is_printed_whole(cli, file, tmp_path):
    assert cli("sweep", file, "--store", "store").returncode == 0
    found = json.loads(cli("results", "store", "--where", "rule=AIAD(1, 3)", "--where", "replicate=2", "--json").stdout)
    assert [(run["rule"], run["replicate"], run["seed"]) for run in found["runs"]] == [("AIAD(1, 3)", 2, 3)] * 2
    provenance = found["provenance"]
    assert (provenance["runs"], provenance["runs_in_store"], provenance["seeds"]) == (2, 12, [3, 3])
    key = found["runs"][0]["key"]
    text = cli("results", "store", "--run", key[:12]).stdout
    assert "# sweep small: rule = AIAD(1, 3), dumbbell.queue.limit = 5pkt, replicate 2" in text
    (tmp_path / "again.toml").write_text(text)
    again = json.loads(cli("run", "again.toml", "--json").stdout)
    assert again["trace_hash"] == found["runs"][0]["trace_hash"]


def test_events_are_json_lines(cli, file):
    lines = [json.loads(line) for line in cli("sweep", file, "--json").stdout.splitlines()]
    kinds = [line["event"] for line in lines]
    assert kinds[0] == "begin"
    assert kinds.count("run") == 12
    assert kinds[-2:] == ["end", "result"]
    assert set(kinds) <= {"begin", "run", "progress", "end", "result"}
    assert [line["done"] for line in lines if line["event"] == "run"] == list(range(1, 13))
    assert len(lines[-1]["summary"]) == 8
    assert [line["found"] for line in lines if line["event"] == "end"] == [0]


def test_again_until_and_set(cli, file, tmp_path):
    assert cli("sweep", file, "--store", "store").returncode == 0
    events = [
        json.loads(line) for line in cli("sweep", file, "--store", "store", "--again", "--json").stdout.splitlines()
    ]
    assert sum(event["event"] == "run" for event in events) == 12
    done = cli("sweep", file, "--store", "store", "--until", "ci(loss_rate) < 1%", "--most", "6")
    assert done.returncode == 0
    assert "did not reach `ci(loss_rate) < 1%` with 6 replicates" in done.stderr
    assert cli("sweep", file, "--store", "store", "--set", "duration=1s").returncode == 0
    with Store(tmp_path / "store", write=False) as store:
        assert {json.loads(record.scenario)["duration"] for record in store.records()} == {"1s", "2s"}


@pytest.mark.parametrize(
    ("old", "new", "arguments", "named"),
    [
        ('"dumbbell.queue.limit"', '"dumbbell.queue.limt"', [], ["axis `dumbbell.queue.limt`", "limit"]),
        ('["5pkt", "20pkt"]', "[]", [], ["axis `dumbbell.queue.limit`: is empty; allowed: one or more values"]),
        ("replicates = 3", "replicates = 3000000", [], ["12000000 runs", "--yes"]),
        ("replicates = 3", "replicates = = 3", [], ["allowed: TOML"]),
        ("replicates = 3", 'replicates = "3"', [], ["replicates: `3` is not allowed"]),
        ("[axes]", "[axis]", [], ["key `axis` is not known, did you mean `axes`?"]),
        ("", "", ["--until", "goodput < 1"], ["until: `goodput < 1` is not allowed"]),
        ("", "", ["--most", "9"], ["--most: needs --until"]),
        ("", "", ["--plot", "x.gif"], ["--plot: `x.gif` has no known ending"]),
        ("", "", ["--replicates", "1", "--plot", "x.png"], ["--plot: one replicate has no interval"]),
        ("", "", ["--store", "small.toml/x"], ["store: ", "allowed: a directory that can be written"]),
    ],
)
def test_bad_sweeps(cli, file, old, new, arguments, named):
    file.write_text(TEXT.replace(old, new) if old else TEXT)
    message = _refused(cli("sweep", file, *arguments))
    assert all(word in message for word in named), message


def test_bad_stores(cli, file, tmp_path):
    assert "store: `none` is no store" in _refused(cli("results", "none"))
    assert cli("sweep", file, "--store", "store").returncode == 0
    for arguments, words in (
        (["--where", "colour=red"], "where: `colour` is no column; allowed: rule, dumbbell.queue.limit, sweep"),
        (["--where", "rule"], "--where: `rule` is no condition"),
        (["--sweep", "big"], "sweep: `big` is not in the store; allowed: small"),
        (["--run", "xyz"], "--run: `xyz` is no key"),
        (["--run", ""], "--run: `` is no key"),
        (["--export", "runs.xls"], "--export: `runs.xls` has no known ending; allowed: .csv, .parquet, .json"),
        (["--metrics", "godput"], "metrics: `godput` is no number of a run"),
    ):
        assert words in _refused(cli("results", "store", *arguments))
    (tmp_path / "store" / "store.json").write_text('{"format": 99, "cwndlab_version": "7.0.0"}')
    for command in (["sweep", file, "--store", "store"], ["results", "store"]):
        assert "has format 99, written by cwndlab 7.0.0; allowed: format 1" in _refused(cli(*command))


def test_ctrl_c_keeps_what_is_finished_and_says_how_to_go_on(file, tmp_path):
    file.write_text(TEXT.replace("replicates = 3", "replicates = 500").replace('"2s"', '"100s"'))
    command = [sys.executable, "-m", "cwndlab", "sweep", str(file), "--store", "store"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while sum(path.stat().st_size for path in tmp_path.glob("store/journal/*")) < 20_000:
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, messages = process.communicate(timeout=30)
    assert process.returncode == 130
    with Store(tmp_path / "store", write=False) as store:
        assert 0 < len(store) < 2000
        assert messages.splitlines() == [
            f"stopped after {len(store)} runs, which are kept in store; the same command goes on there",
            "interrupted",
        ]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no terminals of this kind")
def test_a_terminal_shows_how_far_it_has_come(file, tmp_path):
    import os
    import pty

    file.write_text(TEXT.replace("replicates = 3", "replicates = 200").replace('"2s"', '"100s"'))
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "cwndlab", "sweep", str(file), "--store", "store"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "200"}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=slave) as process:
        os.close(slave)
        shown = b""
        while True:
            try:
                more = os.read(master, 65536)
            except OSError:
                break
            if not more:
                break
            shown += more
    os.close(master)
    assert process.returncode == 0
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode())
    assert re.search(r"\d+/800 runs", text)
    assert re.search(r"\d+\.\d/s, \d+ s left", text)
    assert re.search(r"largest \S+ \(.*\); smallest \S+ \(", text)


def test_a_full_disk_is_said_and_the_same_command_goes_on(file, tmp_path):
    """A limit on the size of a file stands for a full disk: journals beyond it cannot be written."""
    file.write_text(TEXT.replace("replicates = 3", "replicates = 20"))
    code = (
        "import resource, sys; from cwndlab.cli import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)),) * 2); main()"
    )
    command = [sys.executable, "-c", code, "50000", "sweep", str(file), "--store", "store"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    kept, error = done.stderr.splitlines()
    assert "a file would be larger than the system's limit" in error
    assert "What was finished before is kept" in error
    with Store(tmp_path / "store", write=False) as store:
        before = {record.key for record in store.records()}
    assert (
        kept == f"ended by an error after {len(before)} runs, which are kept in store; the same command goes on there"
    )
    assert 5 < len(before) < 80
    command[3] = "10000000"
    command.append("--json")
    events = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()
    computed = {event["key"] for event in map(json.loads, events) if event["event"] == "run"}
    assert len(computed) == 80 - len(before)
    assert not computed & before


def test_pictures_have_no_mean_without_an_interval():
    axes = {"rule": ["AIMD(1, 0.5)", "AIAD(1, 3)"], "dumbbell.queue.limit": ["5pkt", "20pkt"]}
    base = Sweep.load(ROOT / "examples" / "sweep-buffers.toml").base
    base = {**base, "duration": "3s", "measure": ["1s", "3s"]}
    with pytest.raises(ValueError, match="no mean has an interval"):
        sweep_points(Sweep(base=base, axes=axes, replicates=1).run())
    figure = sweep_points(Sweep(base=base, axes=axes, replicates=3, metrics=["goodput"]).run())
    (panel,) = figure.axes
    drawn = [container for container in panel.containers if container.has_yerr]
    assert len(drawn) == 2
    assert sum(len(line.get_xdata()) for line in panel.lines if line.get_linestyle() != "None") >= 4
    assert panel.get_xlabel() == "dumbbell.queue.limit"


def test_many_axes_are_drawn(tmp_path):
    base = {**Sweep.load(ROOT / "examples" / "sweep-buffers.toml").base, "duration": "3s", "measure": ["1s", "3s"]}
    axes = {"dumbbell.rate": ["1Mbit", "2Mbit", "3Mbit"], "flows.0.count": [1, 2], "dumbbell.delay": ["5ms", "9ms"]}
    found = Sweep(
        base=base, axes={**axes, "rule": ["AIMD(1, 0.5)", "CUBIC"]}, replicates=2, metrics=["loss_rate"]
    ).run()
    assert save(found.plot(), tmp_path / "many.png").stat().st_size > 10_000


@pytest.mark.slow
def test_ten_thousand_short_runs_cost_less_than_a_millisecond_each(monkeypatch):
    """CPU time, because other work on the machine does not count; memory after a third of them and at their end."""
    monkeypatch.syspath_prepend(ROOT / "bench")
    import sweeps

    found = sweeps.measure(10_000, default_jobs())
    assert found.overhead_cpu_ms < 1.0
    assert found.again.cpu_ms < 1.0
    done, mib = zip(*found.memory, strict=True)
    assert done[-1] == 10_000
    # 2 kB a run, kept in memory, would be 12 MiB more; allocators keep some of what they are given back.
    assert mib[-1] - mib[3] < 12
