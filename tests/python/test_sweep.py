"""Sweeps: what is done, what is found again, and what is measured."""

from __future__ import annotations

import json
import math
import shutil
import time

import polars as pl
import pytest

import cwndlab
from conftest import ROOT
from cwndlab import Store, Sweep
from cwndlab.runs import executors
from cwndlab.sweeps import SweepResult, execute
from small_sweeps import AXES, MEASURED, small_sweep


def _done(events: list[dict]) -> list[str]:
    return [event["key"] for event in events if event["event"] == "run"]


def test_a_run_is_what_the_scenario_alone_gives():
    found = small_sweep().run(jobs=2)
    assert found.runs.height == 12
    for row in found.runs.sample(4, seed=1).to_dicts():
        flow = {**MEASURED["flows"][0], "rule": row["rule"]}
        queue = {"kind": "drop-tail", "limit": row["dumbbell.queue.limit"]}
        document = {
            **MEASURED,
            "flows": [flow],
            "dumbbell": {**MEASURED["dumbbell"], "queue": queue},
        }
        result = cwndlab.run(document, seed=row["seed"])
        assert row["trace_hash"] == result.trace_hash
        assert row["jain_index"] == result.jain_index
        assert row["mean_queueing_delay_s"] == result.links["mean_queueing_delay_s"][0]


def test_replicates_share_their_random_numbers():
    """Drawn access delays of a replicate are the same in every cell, and other ones in other
    replicates."""
    runs = small_sweep(metrics=["flows.*.base_rtt_s"]).run().runs
    drawn = (
        runs.group_by("replicate", "seed")
        .agg(pl.col("flows.*.base_rtt_s").unique())
        .sort("replicate")
    )
    assert drawn["seed"].to_list() == [1, 2, 3]
    assert drawn["flows.*.base_rtt_s"].list.len().to_list() == [1, 1, 1]
    assert runs["flows.*.base_rtt_s"].n_unique() == 3


def test_finished_runs_are_not_repeated(tmp_path):
    events: list[dict] = []
    first = small_sweep().run(tmp_path, progress=events.append)
    assert len(set(_done(events))) == 12
    more: list[dict] = []
    second = small_sweep(replicates=4).run(tmp_path, progress=more.append)
    assert len(_done(more)) == 4
    assert not {*_done(more)} & {*_done(events)}
    assert second.runs.filter(pl.col("replicate") < 3).equals(first.runs)
    once_more: list[dict] = []
    assert (
        small_sweep().run(tmp_path, again=True, progress=once_more.append).runs.equals(first.runs)
    )
    assert sorted(_done(once_more)) == sorted(_done(events))


def test_sweeps_share_runs_and_keep_their_places(tmp_path):
    small_sweep().run(tmp_path)
    events: list[dict] = []
    other = {
        "base": {
            **MEASURED,
            "dumbbell": {**MEASURED["dumbbell"], "queue": {"kind": "drop-tail", "limit": "5pkt"}},
        }
    }
    small_sweep(name="other", axes={"rule": ["AIMD(1, 0.5)", "CUBIC"]}, **other).run(
        tmp_path, progress=events.append
    )
    assert len(_done(events)) == 3
    with Store(tmp_path, write=False) as store:
        assert len(store) == 15
        assert {use.sweep: use.cell for use in store.uses()}.keys() == {"small", "other"}
        assert len(store.uses("other")) == 6
        assert store.uses("other")[0].cell == {"rule": "AIMD(1, 0.5)"}


def test_cells_that_are_the_same_run_are_run_once(tmp_path):
    """Two ways to write one duration."""
    events: list[dict] = []
    sweep = small_sweep(
        axes={"duration": ["1s", "1000ms"]},
        base={key: MEASURED[key] for key in MEASURED if key != "measure"},
    )
    found = sweep.run(tmp_path, progress=events.append)
    assert len(_done(events)) == 3
    assert found.runs.height == 6


def test_axes_that_go_together():
    sweep = small_sweep(
        axes={"rule": AXES["rule"]},
        zip=[{"dumbbell.rate": ["1Mbit", "3Mbit"], "flows.a.count": [1, 3]}],
    )
    runs = sweep.run().runs
    assert runs.columns[:3] == ["rule", "dumbbell.rate", "flows.a.count"]
    assert runs.select("dumbbell.rate", "flows.a.count").unique().sort("dumbbell.rate").rows() == [
        ("1Mbit", "1"), ("3Mbit", "3"),
    ]  # fmt: skip
    assert runs.height == 12


def test_an_axis_of_named_changes():
    axes = {
        "load": {
            "light": {"flows.a.count": 1},
            "heavy": {"flows.a.count": 6, "dumbbell.rate": "1Mbit"},
        }
    }
    sweep = small_sweep(axes=axes, metrics=["aggregate_goodput_bps"])
    means = dict(sweep.run().summary.select("load", "mean").iter_rows())
    assert means["light"] > 1.2e6 > 1e6 > means["heavy"]


def test_queues_keep_their_limit():
    documents = [
        cell.document()
        for cell in small_sweep(axes={"queue": ["drop-tail", "codel", "red"]}).plan.cells()
    ]
    assert [document["dumbbell"]["queue"] for document in documents] == [
        {"kind": kind, "limit": "10pkt"} for kind in ("drop-tail", "codel", "red")
    ]


def test_environments_are_those_of_comparisons():
    axes = {"env": ["constant", "square"], "rule": ["AIMD(1, 0.5)", "AIAD(1, 3)"]}
    sweep = Sweep.from_dict(
        {"axes": axes, "replicates": 2, "duration": "5s", "metrics": ["goodput", "loss_rate"]}
    )
    compared = cwndlab.compare(
        ["AIMD(1, 0.5)", "AIAD(1, 3)"], env=["constant", "square"], replicates=2, duration="5s"
    )
    keys = ["env", "rule", "replicate", "trace_hash", "goodput", "loss_rate"]
    assert sweep.run().runs.select(keys).sort(keys).equals(compared.runs.select(keys).sort(keys))


def test_a_rule_beside_the_file_that_changes_is_another_run(tmp_path):
    shutil.copy(ROOT / "examples" / "my_rules.py", tmp_path)
    text = (
        'replicates = 2\nbase = "base.json"\naxes.rule = ["my_rules.py:Patient(3)", "AIMD(1, '
        '0.5)"]\n'
    )
    (tmp_path / "own.toml").write_text(text)
    (tmp_path / "base.json").write_text(json.dumps(MEASURED))
    sweep = Sweep.load(tmp_path / "own.toml")
    assert sweep.run(tmp_path / "store").summary["rule"].unique().sort().to_list() == [
        "AIMD(1, 0.5)", "my_rules.py:Patient(3)",
    ]  # fmt: skip
    time.sleep(0.02)
    rules = tmp_path / "my_rules.py"
    rules.write_text(rules.read_text() + "# A comment changes nothing, but who knows that?\n")
    events: list[dict] = []
    Sweep.load(tmp_path / "own.toml").run(tmp_path / "store", progress=events.append)
    assert {event["cell"]["rule"] for event in events if event["event"] == "run"} == {
        "my_rules.py:Patient(3)"
    }
    assert len(_done(events)) == 2


def test_a_rule_that_fails_spoils_its_own_runs_alone(tmp_path):
    text = "class Bad:\n    def increase(self, w, ack):\n        return w / 0\n"
    (tmp_path / "bad.py").write_text(
        text + "    def decrease(self, w, signal):\n        return w / 2\n"
    )
    sweep = small_sweep(axes={"rule": [f"{tmp_path}/bad.py:Bad", "AIMD(1, 0.5)"]})
    found = sweep.run(tmp_path / "store")
    assert found.runs["rule"].to_list() == ["AIMD(1, 0.5)"] * 3
    # In the order of finishing.
    assert [entry["cell"] for entry in found.failed] == [{"rule": "bad.py:Bad"}] * 3
    assert {entry["replicate"] for entry in found.failed} == {0, 1, 2}
    assert "ZeroDivisionError" in found.failed[0]["error"]
    with Store(tmp_path / "store") as store:
        assert len(store) == 3


def test_paired_differences_against_hand_arithmetic():
    found = small_sweep(metrics=["aggregate_goodput_bps"], axes={"rule": AXES["rule"]}).run()
    runs = found.runs
    one, two = (runs.filter(rule=rule)["aggregate_goodput_bps"].to_list() for rule in AXES["rule"])
    pairs = [b - a for a, b in zip(one, two, strict=True)]
    mean = sum(pairs) / 3
    deviation = math.sqrt(sum((value - mean) ** 2 for value in pairs) / 2)
    (row,) = found.differences().to_dicts()
    assert row["mean"] == pytest.approx(mean)
    # Student's t for 2 degrees of freedom, from a printed table.
    half_width = 4.302653 * deviation / math.sqrt(3)
    ends = (row["ci95_low"], row["ci95_high"])
    assert ends == pytest.approx((mean - half_width, mean + half_width), rel=1e-6)
    assert (row["rule"], row["baseline"], row["replicates"]) == ("AIAD(1, 3)", "AIMD(1, 0.5)", 3)


def test_the_baseline_and_the_compared_axis_can_be_chosen():
    sweep = small_sweep(
        compare="dumbbell.queue.limit", baseline="20pkt", metrics=["loss_rate"], replicates=2
    )
    found = sweep.run().differences()
    assert found.select("rule", "dumbbell.queue.limit", "baseline").rows() == [
        ("AIMD(1, 0.5)", "5pkt", "20pkt"), ("AIAD(1, 3)", "5pkt", "20pkt"),
    ]  # fmt: skip


def test_traces_are_kept_where_asked_for(tmp_path):
    traced = {**MEASURED, "trace": {"queue": "100ms"}}
    small_sweep(base=traced, axes={}, replicates=1).run(tmp_path / "without")
    small_sweep(base=traced, axes={}, replicates=1, traces=True).run(tmp_path / "with")
    with Store(tmp_path / "without", write=False) as store:
        (record,) = store.records()
        assert record.traces == ""
    with Store(tmp_path / "with", write=False) as store:
        (record,) = store.records()
        assert store.traces(record)["queue"].equals(cwndlab.run(traced).traces["queue"])


def test_a_sweep_survives_its_own_text():
    sweep = small_sweep(
        zip=[{"dumbbell.rate": ["1Mbit", "3Mbit"], "flows.a.count": [1, 3]}],
        until="ci(jain_index) < 5%",
    )
    again = Sweep.from_dict(json.loads(json.dumps(sweep.to_dict())))
    assert list(again.plan) == list(sweep.plan)
    assert again == sweep


def test_an_executor_of_ones_own(tmp_path):
    """Plain text goes in, plain values come out, in any order; the sweep is the same."""

    def backwards(tasks):
        outcomes = [(key, json.dumps(tuple(executors.perform(text)))) for key, text in tasks]
        for key, outcome in reversed(outcomes):
            yield key, executors.Outcome(*json.loads(outcome))

    assert small_sweep().run(executor=backwards).runs.equals(small_sweep().run(tmp_path).runs)


def test_a_worker_of_another_build_is_refused(tmp_path):
    def foreign(tasks):
        for key, text in tasks:
            yield key, executors.perform(text)._replace(build="0" * 16, machine="elsewhere")

    with pytest.raises(cwndlab.RunError, match="worker: elsewhere has build 0000"):
        small_sweep().run(tmp_path, executor=foreign)
    with Store(tmp_path) as store:
        assert len(store) == 0


def test_until_adds_replicates_where_they_are_needed():
    events: list[dict] = []
    sweep = small_sweep(until="ci(jain_index) < 5%", metrics=["jain_index"], replicates=5, most=400)
    found = sweep.run(progress=events.append)
    summary = found.summary
    assert found.unmet == []
    half_widths = (summary["ci95_high"] - summary["ci95_low"]) / 2
    assert (half_widths / summary["mean"]).max() < 0.05
    counts = summary["replicates"].to_list()
    assert min(counts) >= 5
    assert max(counts) > min(counts)
    assert [event["round"] for event in events if event["event"] == "round"][:1] == [2]


def test_until_stops_at_the_most_and_says_so():
    found = small_sweep(
        until="ci(jain_index) < 0.000001", metrics=["jain_index"], replicates=5, most=7
    ).run()
    assert found.summary["replicates"].to_list() == [7] * 4
    assert [entry["replicates"] for entry in found.unmet] == [7] * 4


def test_ctrl_c_leaves_what_is_finished(tmp_path):
    """With the caller, and in the store."""
    sweep = small_sweep(replicates=1000)
    findings = SweepResult(sweep)

    def interrupt(event):
        if event["event"] == "run" and event["done"] == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        execute(sweep, findings, tmp_path, progress=interrupt)
    with Store(tmp_path) as store:
        assert len(store) == len(findings) == 20
