"""Sweeps that were changed under their name, or are many in one store, and what `cwndlab results`
gives of them."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import subprocess
import sys

import polars as pl
import pytest

from cwndlab import Store
from cwndlab.runs.store.store import DATABASE
from cwndlab.sweeps import Sweep, stored_runs
from cwndlab.sweeps.base import parse
from cwndlab.sweeps.reading import read_sweep
from cwndlab.sweeps.stored import older_runs
from small_sweeps import TEXT, refused
from waiting import HANG_S


@pytest.mark.slow
def test_a_sweep_that_was_changed_is_another_one(cli, sweep_file, tmp_path):
    """Another base and another group of flows under the same name.

    What was before is kept and not mixed in.
    """
    Sweep.load(sweep_file).run(tmp_path / "store")
    changed = (
        TEXT.replace('"2Mbit"', '"8Mbit"')
        .replace('name = "a"', 'name = "b"')
        .replace("replicates = 3", "replicates = 2")
    )
    sweep_file.write_text(changed.replace('"loss_rate"]', '"flows.b.timeouts"]'))
    Sweep.load(sweep_file).run(tmp_path / "store")
    listed = cli("results", "store", "--json", "--export", "runs.csv")
    assert listed.stderr.splitlines() == [
        "note: 12 runs of earlier definitions of the sweep small left out; --all lists them",
        "wrote runs.csv",
    ]
    runs = json.loads(listed.stdout)["runs"]
    # The rate of the link bounds what can arrive: no run of the slower one is among them.
    assert len(runs) == 8 == pl.read_csv(tmp_path / "runs.csv").height
    assert min(run["aggregate_goodput_bps"] for run in runs) > 2e6
    assert len({run["definition"] for run in runs}) == 1

    found = json.loads(cli("results", "store", "--all", "--json").stdout)
    assert len(found["runs"]) == 20
    assert found["provenance"]["older_runs"] == {}
    # The runs of before have no group `b`.
    assert sum(run["flows.b.timeouts"] is None for run in found["runs"]) == 12
    older = next(run["definition"] for run in found["runs"] if run["flows.b.timeouts"] is None)
    chosen = cli("results", "store", "--where", f"definition={older}")
    assert "12 runs" in chosen.stdout
    assert older in chosen.stdout
    assert 'group: "a" is not known' in refused(
        cli("results", "store", "--metrics", "flows.a.timeouts")
    )


def test_runs_of_a_former_default_profile_are_recognised(cli, sweep_file, tmp_path):
    """A store of the time when `rfc` was the default, whose sweep names no profile."""
    Sweep.load(sweep_file).run(tmp_path / "out/small")
    with contextlib.closing(sqlite3.connect(tmp_path / "out/small" / DATABASE)) as database:
        (text,) = database.execute("SELECT document FROM sweeps").fetchone()
        document = json.loads(text)
        assert document["base"].pop("profile") == "rfc"
        database.execute("UPDATE sweeps SET document = ?", (json.dumps(document),))
        database.commit()
    with Store(tmp_path / "out/small", write=False) as store:
        kept = read_sweep(store, "small")
    assert (kept.former_profile, kept.findings.sweep.endpoints) == ("rfc", "profile rfc, sack")
    says = "the sweep small names no profile: its stored runs have rfc"
    assert says in cli("results", "out/small").stderr
    sweep_file.write_text(TEXT.replace('profile = "rfc"\n', ""))
    assert says not in cli("sweep", sweep_file, "--profile", "rfc").stderr
    assert "profile linux, rack" in cli("sweep", sweep_file).stdout


def test_a_sweep_that_is_changed_back_is_the_first_one_again(tmp_path):
    first = Sweep.from_dict({**parse(TEXT), "replicates": 2})
    other = Sweep.from_dict({**first.to_dict(), "seed": 7})
    with Store(tmp_path) as store:
        runs = first.run(store).runs
        other.run(store)
        assert stored_runs(store)["seed"].unique().sort().to_list() == [7, 8]
        events = []
        first.run(store, progress=events.append)
        assert [event["found"] for event in events if event["event"] == "end"] == [8]
        assert (
            stored_runs(store).select("replicate", "trace_hash").rows()
            == runs.select("replicate", "trace_hash").rows()
        )
        assert older_runs(store) == {"small": 8}
    with Store(tmp_path, write=False) as store:
        assert stored_runs(store)["seed"].unique().sort().to_list() == [1, 2]
        assert read_sweep(store, "small").others == 8


def test_a_sweep_with_more_replicates_or_metrics_is_still_the_same(tmp_path):
    sweep = parse(TEXT)
    Sweep.from_dict({**sweep, "replicates": 1}).run(tmp_path)
    Sweep.from_dict(
        {**sweep, "replicates": 2, "metrics": ["goodput"], "until": None, "compare": "rule"}
    ).run(tmp_path)
    with Store(tmp_path, write=False) as store:
        assert stored_runs(store).height == 8
        assert stored_runs(store)["definition"].n_unique() == 1
        assert older_runs(store) == {}


def test_a_rule_that_was_changed_makes_it_another_sweep(tmp_path):
    """Killed when half of it was done again, results are not those of two rules."""
    (tmp_path / "mine.py").write_text(
        "class Mine:\n    def increase(self, w, ack): return w + 1 / w\n"
        "    def decrease(self, w, signal): return w / 2\n"
    )
    sweep = Sweep.from_dict({**parse(TEXT), "axes": {"rule": [f"{tmp_path}/mine.py:Mine"]}})
    sweep.run(tmp_path / "store")
    text = (tmp_path / "mine.py").read_text()
    (tmp_path / "mine.py").write_text(text.replace("w / 2", "w / 3"))

    def stop(event):
        if event["event"] == "run":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep.run(tmp_path / "store", progress=stop)
    with Store(tmp_path / "store", write=False) as store:
        assert stored_runs(store).height == 1
        assert stored_runs(store, older=True).height == 4


def test_conditions_on_one_column_are_alternatives(cli, sweep_file, tmp_path):
    Sweep.load(sweep_file).run(tmp_path / "store")
    where = [
        part
        for text in ("replicate=0", "replicate=2", "rule=AIAD(1, 3)")
        for part in ("--where", text)
    ]
    runs = json.loads(cli("results", "store", *where, "--json").stdout)["runs"]
    assert {(run["rule"], run["replicate"]) for run in runs} == {
        ("AIAD(1, 3)", 0),
        ("AIAD(1, 3)", 2),
    }
    assert len(runs) == 4


@pytest.mark.slow
def test_an_export_replaces_a_file_when_all_is_written(cli, sweep_file, tmp_path):
    Sweep.load(sweep_file).run(tmp_path / "store")
    (tmp_path / "runs.json").write_text("of before")
    code = (
        "import sys, cwndlab.jsontext\nfrom cwndlab.cli import main\n"
        "def full(*_):\n    raise OSError(28, 'No space left on device')\n"
        "cwndlab.jsontext.dumps = full\nmain()"
    )
    command = [sys.executable, "-c", code, "results", "store", "--export", "runs.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert (tmp_path / "runs.json").read_text() == "of before"
    assert [path.name for path in tmp_path.glob("*runs*")] == ["runs.json"]
    assert cli("results", "store", "--export", "runs.json").returncode == 0
    assert len(json.loads((tmp_path / "runs.json").read_text())["runs"]) == 12


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", ["sweep small.toml --store store --json", "results store --json", "results store"]
)
def test_a_reader_that_goes_away_is_nothing_to_speak_of(cli, sweep_file, tmp_path, command):
    sweep_file.write_text(
        TEXT.replace("replicates = 3", "replicates = 100").replace('"2s"', '"20s"')
    )
    if command.startswith("results"):
        assert cli("sweep", sweep_file, "--store", "store").returncode == 0
    process = subprocess.Popen(
        [sys.executable, "-m", "cwndlab", *command.split()],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=HANG_S) in (0, 141)
    said = process.stderr.read().decode().splitlines()
    process.stderr.close()
    assert [line for line in said if "more; --where selects" not in line] == []


@pytest.mark.slow
def test_a_files_name_may_have_a_comma(cli, sweep_file, tmp_path):
    other = sweep_file.rename(tmp_path / "a,b (2).toml")
    other.write_text(TEXT.replace('name = "small"', ""))
    assert cli("sweep", other).returncode == 0
    found = cli("results", "out/a,b (2)", "--sweep", "a,b (2)", "--json")
    assert json.loads(found.stdout)["provenance"]["sweeps"] == {"a,b (2)": 12}
    other.write_text(TEXT.replace('name = "small"', 'name = "../up"'))
    assert 'name: "../up" is not valid: expected' in refused(
        cli("sweep", other, "--store", "store")
    )


def test_of_many_sweeps_their_names_are_listed(tmp_path, command):
    base = {
        "duration": "1s",
        "dumbbell": {"rate": "1Mbit", "delay": "5ms"},
        "flows": [{"rule": "CUBIC"}],
    }
    rules = {"rule": ["CUBIC", "AIMD(1, 0.5)"]}
    Sweep(name="few", base=base, axes=rules, replicates=2, metrics=["goodput"]).run(
        tmp_path / "runs"
    )
    both = command("results", "runs")
    assert "4 runs" in both.stdout
    other = {"duration": ["1s", "1.5s"]}
    Sweep(name="more", base=base, axes=other, replicates=25, metrics=["loss_rate"]).run(
        tmp_path / "runs"
    )
    both = command("results", "runs")
    lines = [line.split() for line in both.stdout.splitlines()]
    assert ["few", "rule", "4"] in [line[:3] for line in lines]
    assert ["more", "duration", "50"] in [line[:3] for line in lines]
    assert "--sweep NAME" in both.stderr
    # Of one sweep its runs, without what only others have.
    one = command("results", "runs", "--sweep", "few")
    head = one.stdout.split("──")[0]
    assert "rule" in head
    assert "duration" not in head
    assert "loss rate" not in head
