"""`cwndlab sweep` and `cwndlab results`: what they print, write and refuse."""

from __future__ import annotations

import json
import re
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from types import FrameType

import polars as pl
import pytest

from conftest import ROOT
from cwndlab import Store
from cwndlab.plots import save, sweep_points
from cwndlab.runs import execution
from cwndlab.runs.execute import default_jobs
from cwndlab.sweeps import Sweep
from small_sweeps import TEXT, refused
from stores import count
from terminals import Terminal
from waiting import HANG_S, wait_until


@pytest.mark.slow
def test_a_sweep_and_its_results(cli, sweep_file, tmp_path):
    done = cli("sweep", sweep_file, "--plot", "small.png")
    assert done.returncode == 0, done.stderr
    # Quiet in a pipe: no progress.
    assert done.stderr == "wrote small.png\n"
    assert "small: mean, 95 % CI, 3 replicates, profile rfc" in done.stdout
    assert "Difference from AIMD(1, 0.5), paired by replicate" in done.stdout
    assert (tmp_path / "small.png").stat().st_size > 10_000
    assert cli("sweep", sweep_file).stdout == done.stdout
    names = ["runs.csv", "runs.parquet", "runs.json"]
    listed = cli("results", "out/small", *(part for name in names for part in ("--export", name)))
    assert listed.returncode == 0, listed.stderr
    assert "12 runs" in listed.stdout
    assert "seeds     1 to 3" in listed.stdout
    (known,) = re.findall("hash      ([0-9a-f]{16}) of all runs", listed.stdout)
    assert cli("report", "out/small", "-o", "small.html").returncode == 0
    assert known in (tmp_path / "small.html").read_text(), "the report has another hash"
    table = Sweep.load(sweep_file).run().runs
    frames = [pl.read_csv(tmp_path / "runs.csv"), pl.read_parquet(tmp_path / "runs.parquet")]
    frames.append(pl.DataFrame(json.loads((tmp_path / "runs.json").read_text())["runs"]))
    for frame in frames:
        assert frame.select(table.columns).rows() == table.rows()
        assert {"machine", "version", "build", "duration_s", "finished", "key"} <= set(
            frame.columns
        )


def test_a_mistake_in_a_rule_is_not_said_for_each_of_its_runs(command, tmp_path):
    (tmp_path / "bad.py").write_text(
        "class Bad:\n"
        "    def increase(self, cwnd, ack):\n        return cwnd / 0\n"
        "    def decrease(self, cwnd, signal):\n        return cwnd / 2\n"
    )
    text = TEXT.replace('"AIAD(1, 3)"', '"bad.py:Bad"').replace("replicates = 3", "replicates = 4")
    (tmp_path / "small.toml").write_text(text)
    few = command("sweep", "small.toml")
    assert few.returncode == 1
    assert few.stderr.count("failed: ") == 5
    assert "more runs fail (--verbose names all)" in few.stderr
    assert "8 runs failed, the first: " in few.stderr
    every = command("sweep", "small.toml", "-v")
    assert every.stderr.count("failed: ") == 8


@pytest.mark.slow
def test_a_sweep_without_axes_is_printed(cli, sweep_file):
    lines = TEXT.splitlines()
    sweep_file.write_text(
        "\n".join(lines[: lines.index("[axes]")] + lines[lines.index("[base]") :])
    )
    done = cli("sweep", sweep_file)
    assert done.returncode == 0, done.stderr
    title, *_, row = done.stdout.strip().splitlines()
    assert title.strip() == "small: mean, 95 % CI, 3 replicates, profile rfc, sack"
    assert row.count("±") + row.count("[") == 2
    assert "3 runs" in cli("results", "out/small").stdout


@pytest.mark.slow
def test_what_a_sweep_says_of_its_cells(cli, sweep_file):
    """Nothing is drawn, transfers have no end, and two ways to write a rate are one run."""
    sweep_file.write_text(
        TEXT.replace('access_delay = ["1ms", "5ms"]\n', "")
        .replace('metrics = ["aggregate_goodput_bps", "loss_rate"]', 'metrics = ["mean_fct_s"]')
        .replace(
            '"dumbbell.queue.limit" = ["5pkt", "20pkt"]', '"dumbbell.rate" = ["2Mbit", "2000kbit"]'
        )
        .replace('"mean_fct_s"', '"loss_rate", "flows.*.finish_s"')
    )
    done = cli("sweep", sweep_file, "--until", "ci(flows.*.finish_s) < 1%")
    assert done.returncode == 3, done.stderr
    said = done.stderr.splitlines()
    assert said[1].startswith(
        "note: 4 cells gave the same run with every seed, the first: rule = AIMD(1, 0.5), dumb"
    )
    assert said[0].startswith(
        "note: 2 cells are the same run as another one, the first: rule = AIMD(1, 0.5), dumbbell"
    )
    assert said[2].startswith(
        "4 cells did not reach `ci(flows.*.finish_s) < 1%`, because no replicate has a value"
    )
    assert "±" not in done.stdout
    # Nothing can be drawn, and the table is there all the same.
    drawn = cli("sweep", sweep_file, "--plot", "means.png")
    assert drawn.returncode == 2
    assert drawn.stderr.splitlines()[-1].startswith(
        "error: the sweep has no confidence interval to plot: expected two `replic"
    )
    assert drawn.stdout.startswith("small: mean")


def test_rules_that_go_with_something_else_are_named_with_it(cli, sweep_file):
    axes = '"dumbbell.queue.limit" = ["5pkt", "20pkt"]\n'
    rules = 'rule = ["AIMD(1, 0.5)", "AIAD(1, 3)"]\n'
    sweep_file.write_text(TEXT.replace("[axes]\n" + rules + axes, "[[zip]]\n" + rules + axes))
    done = cli("sweep", sweep_file)
    assert done.returncode == 0, done.stderr
    assert (
        "Difference from AIMD(1, 0.5) & 5pkt (rule, dumbbell.queue.limit change together), paired "
        "by" in done.stdout
    )


@pytest.mark.slow
def test_metrics_of_stored_runs_are_no_columns_of_another_kind(cli, sweep_file):
    sweep_file.write_text(
        TEXT.replace(
            'metrics = ["aggregate_goodput_bps", "loss_rate"]', 'metrics = ["loss_rate"]'
        ).replace(
            '"dumbbell.queue.limit" = ["5pkt", "20pkt"]',
            'aggregate_goodput_bps.low = { "dumbbell.rate" = "1Mbit" }',
        )
    )
    assert cli("sweep", sweep_file).returncode == 0
    for name in ("aggregate_goodput_bps", "seed"):
        message = refused(cli("results", "out/small", "--metrics", name))
        assert f'metrics: "{name}" is not valid: expected other names' in message


@pytest.mark.slow
def test_results_are_chosen_and_one_is_printed_whole(cli, sweep_file, tmp_path):
    Sweep.load(sweep_file).run(tmp_path / "store")
    found = json.loads(
        cli(
            "results", "store", "--where", "rule=AIAD(1, 3)", "--where", "replicate=2", "--json"
        ).stdout
    )
    assert [(run["rule"], run["replicate"], run["seed"]) for run in found["runs"]] == [
        ("AIAD(1, 3)", 2, 3)
    ] * 2
    provenance = found["provenance"]
    assert (provenance["runs"], provenance["runs_in_store"], provenance["seeds"]) == (2, 12, [3, 3])
    key = found["runs"][0]["key"]
    text = cli("results", "store", "--run", key[:12]).stdout
    assert "# sweep small: rule = AIAD(1, 3), dumbbell.queue.limit = 5pkt, replicate 2" in text
    (tmp_path / "again.toml").write_text(text)
    again = json.loads(cli("run", "again.toml", "--json").stdout)
    assert again["trace_hash"] == found["runs"][0]["trace_hash"]


def test_events_are_json_lines(cli, sweep_file):
    lines = [json.loads(line) for line in cli("sweep", sweep_file, "--json").stdout.splitlines()]
    kinds = [line["event"] for line in lines]
    assert kinds[0] == "begin"
    assert kinds.count("run") == 12
    assert kinds[-2:] == ["end", "result"]
    assert set(kinds) <= {"begin", "checked", "run", "progress", "end", "result"}
    assert [line["done"] for line in lines if line["event"] == "run"] == list(range(1, 13))
    assert len(lines[-1]["summary"]) == 8
    assert [line["found"] for line in lines if line["event"] == "end"] == [0]


@pytest.mark.slow
def test_again_until_and_set(cli, sweep_file, tmp_path):
    Sweep.load(sweep_file).run(tmp_path / "store")
    answer = cli("sweep", sweep_file, "--store", "store", "--again", "--json")
    events = [json.loads(line) for line in answer.stdout.splitlines()]
    assert sum(event["event"] == "run" for event in events) == 12
    done = cli(
        "sweep", sweep_file, "--store", "store", "--until", "ci(loss_rate) < 1%", "--most", "6"
    )
    assert done.returncode == 3
    assert "did not reach `ci(loss_rate) < 1%` with 6 replicates" in done.stderr
    assert cli("sweep", sweep_file, "--store", "store", "--set", "duration=1s").returncode == 0
    with Store(tmp_path / "store", write=False) as store:
        assert {json.loads(record.scenario)["duration"] for record in store.records()} == {
            "1s",
            "2s",
        }


@pytest.mark.parametrize(
    ("old", "new", "arguments", "named"),
    [
        (
            '"dumbbell.queue.limit"',
            '"dumbbell.queue.limt"',
            [],
            ["axis `dumbbell.queue.limt`", "limit"],
        ),
        (
            '["5pkt", "20pkt"]',
            "[]",
            [],
            ["axes.dumbbell.queue.limit: [] is not valid: expected one value or more"],
        ),
        ("replicates = 3", "replicates = 3000000", [], ["12000000 runs", "--yes"]),
        ("replicates = 3", "replicates = = 3", [], [": expected TOML"]),
        ("replicates = 3", 'replicates = "3"', [], ['replicates: "3" is not valid']),
        ("[axes]", "[axis]", [], ['key: "axis" is not known', "(did you mean axes?)"]),
        ("", "", ["--until", "goodput < 1"], ['until: "goodput < 1" is not valid']),
        ("", "", ["--most", "9"], ["`--most` needs `--until`"]),
        ("", "", ["--plot", "x.gif"], ['--plot: "x.gif" is not valid']),
        (
            "",
            "",
            ["--replicates", "1", "--plot", "x.png"],
            ["`--plot` draws confidence intervals and needs `--replicates 2`"],
        ),
        (
            "",
            "",
            ["--store", "small.toml/x"],
            ["store: ", "expected a directory that can be written"],
        ),
    ],
)
def test_bad_sweeps(command, sweep_file, old, new, arguments, named):
    sweep_file.write_text(TEXT.replace(old, new) if old else TEXT)
    message = refused(command("sweep", sweep_file, *arguments))
    assert all(word in message for word in named), message


def test_bad_stores(command, sweep_file, tmp_path):
    assert 'store: "none" is not valid' in refused(command("results", "none"))
    Sweep.load(sweep_file).run(tmp_path / "store")
    for arguments, words in (
        (
            ["--where", "colour=red"],
            'where: "colour" is not known: expected rule, dumbbell.queue.limit, sweep',
        ),
        (["--where", "rule"], '--where: "rule" is not valid'),
        (["--sweep", "big"], 'sweep: "big" is not known: expected small'),
        (["--run", "xyz"], '--run: "xyz" is not valid'),
        (["--run", ""], '--run: "" is not valid'),
        (
            ["--export", "runs.xls"],
            '--export: "runs.xls" is not valid: expected a file that ends in .csv, .parquet or '
            ".json",
        ),
        (["--metrics", "godput"], 'metrics: "godput" is not valid'),
    ):
        assert words in refused(command("results", "store", *arguments))
    with closing(sqlite3.connect(tmp_path / "store" / "runs.sqlite")) as database:
        database.execute("PRAGMA user_version = 99")
    for asked in (["sweep", sweep_file, "--store", "store"], ["results", "store"]):
        assert "has format 99: expected format 3" in refused(command(*asked))


def test_ctrl_c_keeps_what_is_finished_and_says_how_to_go_on(sweep_file, tmp_path):
    sweep_file.write_text(
        TEXT.replace("replicates = 3", "replicates = 1_000_000").replace('"2s"', '"100s"')
    )
    command = [sys.executable, "-m", "cwndlab", "sweep", str(sweep_file), "--store", "store"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        wait_until(
            lambda: process.poll() is not None or count(tmp_path / "store") >= 10, "ten runs"
        )
        process.send_signal(signal.SIGINT)
        _, messages = process.communicate(timeout=HANG_S)
    assert process.returncode == 130
    with Store(tmp_path / "store", write=False) as store:
        assert 0 < len(store) < 4_000_000
        assert messages.splitlines() == [
            f"stopped after {len(store)} runs, which are kept in store; the same command resumes",
            "interrupted",
        ]


@pytest.mark.slow
def test_a_terminal_shows_how_far_it_has_come(sweep_file, tmp_path):
    command = ["sweep", sweep_file, "--store", "store"]
    sweep_file.write_text(
        TEXT.replace("replicates = 3", "replicates = 1_000_000").replace('"2s"', '"100s"')
    )
    with Terminal(*command, folder=tmp_path, stdout=subprocess.DEVNULL) as terminal:
        ends = r"best \S+ \(.*\); worst \S+ \("
        terminal.read_until(r"\d+/4000000 runs", r"\d+\.\d/s, (\d+ h )?\d+ min left", ends)
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.read_to_the_end().splitlines()[-1] == "interrupted"
        assert terminal.process.wait() == 130
    sweep_file.write_text(TEXT)
    with Terminal(*command, folder=tmp_path, stdout=subprocess.DEVNULL) as terminal:
        terminal.read_to_the_end()
        assert terminal.process.wait() == 0


def test_pictures_have_no_mean_without_an_interval():
    axes = {"rule": ["AIMD(1, 0.5)", "AIAD(1, 3)"], "dumbbell.queue.limit": ["5pkt", "20pkt"]}
    base = Sweep.load(ROOT / "examples" / "sweep-buffers.toml").base
    base = {**base, "duration": "3s", "measure": ["1s", "3s"]}
    with pytest.raises(ValueError, match="has no confidence interval to plot"):
        sweep_points(Sweep(base=base, axes=axes, replicates=1).run())
    figure = sweep_points(Sweep(base=base, axes=axes, replicates=3, metrics=["goodput"]).run())
    (panel,) = figure.axes
    drawn = [container for container in panel.containers if container.has_yerr]
    assert len(drawn) == 2
    assert sum(len(line.get_xdata()) for line in panel.lines if line.get_linestyle() != "None") >= 4
    assert panel.get_xlabel() == "dumbbell.queue.limit"


def test_the_only_axis_is_the_x_axis_and_a_legend_fits():
    rules = ["AIMD(1, 0.5)", "AIMD(0.31, 0.875)", "AIMD(0.2, 0.875)", "IIAD(1, 0.5)", "IIAD(1, 1)"]
    base = Sweep.load(ROOT / "examples" / "sweep-buffers.toml").base
    base = {**base, "duration": "3s", "measure": ["1s", "3s"]}
    given = {"base": base, "replicates": 2, "metrics": ["goodput"]}
    figure = sweep_points(Sweep(axes={"rule": rules}, **given).run())
    (panel,) = figure.axes
    assert panel.get_xlabel() == "rule"
    assert [text.get_text() for text in panel.get_xticklabels()] == rules
    assert figure.legends == []
    # Names of several axes' series are in a legend, whose columns must not be cut off.
    buffers = {"rule": rules, "dumbbell.queue.limit": ["5pkt", "20pkt"]}
    figure = sweep_points(Sweep(axes=buffers, **given).run())
    figure.draw_without_rendering()
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert [text.get_text() for text in legend.get_texts()] == rules
    assert (box.x0 >= 0, box.x1 <= figure.bbox.width) == (True, True)


def test_many_axes_are_drawn(tmp_path):
    base = {
        **Sweep.load(ROOT / "examples" / "sweep-buffers.toml").base,
        "duration": "3s",
        "measure": ["1s", "3s"],
    }
    axes = {
        "dumbbell.rate": ["1Mbit", "2Mbit", "3Mbit"],
        "flows.0.count": [1, 2],
        "dumbbell.delay": ["5ms", "9ms"],
    }
    found = Sweep(
        base=base,
        axes={**axes, "rule": ["AIMD(1, 0.5)", "CUBIC"]},
        replicates=2,
        metrics=["loss_rate"],
    ).run()
    assert save(found.plot(), tmp_path / "many.png").stat().st_size > 10_000


def _calls_a_run(runs: int, store: Path) -> float:
    """Calls of functions, Python's and C's, that a sweep of short runs makes in all its threads."""
    import sweeps

    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sweep = Sweep(
        base=sweeps.BASE, axes={"rule": list(sweeps.RULES)}, replicates=runs // len(sweeps.RULES)
    )
    threading.setprofile(count)
    sys.setprofile(count)
    try:
        sweep.run(store, jobs=1)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return calls / runs


def test_what_a_run_of_a_sweep_costs_does_not_grow_with_their_number(monkeypatch, tmp_path):
    """Counted in calls, to which other work on the machine adds none; bench/sweeps.py has times."""
    monkeypatch.syspath_prepend(ROOT / "bench")
    # The store is read once for all runs that are got ready in a tenth of a second: here for each.
    monkeypatch.setattr(execution, "BATCH_S", 0.0)
    for most, what in ((1000, "computed"), (250, "found in the store")):
        few, many = (_calls_a_run(runs, tmp_path / str(runs)) for runs in (250, 1000))
        assert many < min(1.1 * few, most), what


@pytest.mark.slow
def test_ten_thousand_short_runs_are_not_kept_in_memory(monkeypatch):
    """After a third of them and at their end."""
    monkeypatch.syspath_prepend(ROOT / "bench")
    import sweeps

    done, mib = zip(*sweeps.measure(10_000, default_jobs()).memory, strict=True)
    assert done[-1] == 10_000
    # 2 kB a run, kept in memory, would be 12 MiB more; allocators keep some of what they are given
    # back.
    assert mib[-1] - mib[3] < 12
