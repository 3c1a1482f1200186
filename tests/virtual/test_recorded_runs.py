"""`cwndlab conform` judges recorded runs: kept recordings, in the folders that live runs write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import polars as pl
import pytest
from click.testing import CliRunner

from cwndlab import Result, Scenario, outputs, run
from cwndlab.cli.app import app
from cwndlab.conformance import Verdict, checked, scripts_of
from cwndlab.errors import ScenarioError
from virtual import replay

RUNS = replay.read()["runs"]
CASES = replay.cases()


def written(folder: Path, name: str, **changes: Any) -> Path:
    """Write a kept recording as the run of a kernel that it was."""
    case = {**CASES[name], "trace": {"packets": True}, **changes}
    flow = case["flows"][0]["name"]
    sent = [{"time_s": row[0] / 1e9, "event": "send", "flow": flow, "seq": row[1]}
            for row in RUNS[name]["sent"]]  # fmt: skip
    names = ("seq", "cwnd_packets", "ssthresh_packets", "marked", "sack", "receiver_window_bytes",
             "delivery_rate_bytes_s", "min_rtt_us")  # fmt: skip
    acks = [{"time_s": row[0] / 1e9, "event": "ack", "flow": flow,
             **dict(zip(names, row[1:], strict=False))} for row in RUNS[name]["acks"]]  # fmt: skip
    packets = pl.DataFrame([*acks, *sent], infer_schema_length=None)
    flows = pl.DataFrame({"flow": [flow], "group": [flow]})
    scenario = Scenario.from_dict(case).to_dict()
    result = Result({"name": name}, flows, pl.DataFrame(), {"packets": packets}, scenario)
    return result.save(folder / name)


def late(tmp_path: Path) -> Path:
    """The recording of `single-2`, whose last packet leaves a millisecond later."""
    folder = written(tmp_path, "single-2")
    frame = pl.read_parquet(folder / "trace-packets.parquet")
    is_sent = pl.col("event") == "send"
    last_s = frame.filter(is_sent)["time_s"].max()
    time_s = pl.when(is_sent & (pl.col("time_s") == last_s)).then(last_s + 1e-3).otherwise("time_s")
    frame.with_columns(time_s=time_s).write_parquet(folder / "trace-packets.parquet")
    return folder


def judged(folder: Path, **options: Any) -> Verdict:
    (one,) = checked([folder], **options)
    return one.verdict


@pytest.mark.parametrize("name", ["single-9", "single-26"])
def test_a_flow_that_is_the_kernels_agrees(tmp_path, name):
    """Reno, and BBR, whose random numbers are found."""
    verdict = judged(written(tmp_path, name))
    assert verdict.agrees, verdict
    assert verdict.checks == len(RUNS[name]["sent"]) + len(RUNS[name]["acks"]) - 1


def test_the_first_difference_is_shown(tmp_path):
    folder = written(tmp_path, "single-9")
    at_ns, seq = RUNS["single-9"]["sent"][500]
    others = [*RUNS["single-9"]["sent"]]
    del others[500]
    frame = pl.read_parquet(folder / "trace-packets.parquet")
    is_it = (pl.col("event") == "send") & (pl.col("time_s") == at_ns / 1e9) & (pl.col("seq") == seq)
    frame.filter(~is_it).write_parquet(folder / "trace-packets.parquet")
    verdict = judged(folder)
    later_s, other = others[500][0] / 1e9, others[500][1]
    assert str(verdict) == (
        f"differs at {later_s:.6f} s: expected packet {other}, sent packet {seq}"
    )


def test_another_rule_differs_in_its_window(tmp_path):
    """Fractions of packets are not the kernel's."""
    verdict = judged(written(tmp_path, "single-9"), rule="AIMD(1, 0.5)")
    assert verdict.verdict == "differs"
    assert verdict.expected.startswith("cwnd ")
    assert ", ssthresh " in verdict.found


def test_a_tolerance_replaces_that_of_system_calls(tmp_path):
    folder = late(tmp_path)
    assert "sent it at" in judged(folder).found
    assert judged(folder, tolerance_us=1_020).agrees


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"linux": {"tcp_recovery": 0}}, "linux.tcp_recovery is a setting of the kernel alone"),
        ({"flows": [{"name": "a", "rule": "kernel:yeah"}]}, "kernel:yeah has no model"),
        ({"flows": [{"name": "a", "rule": "kernel:reno", "stop": "3s"}]}, "the flow's `stop`"),
    ],
)
def test_what_is_not_modelled_is_named(tmp_path, changes, reason):
    verdict = judged(written(tmp_path, "single-9", **changes))
    assert (verdict.verdict, verdict.found[: len(reason)]) == ("not modelled", reason)


def test_a_simulated_run_is_refused(tmp_path):
    scenario = {"duration": "1s", "dumbbell": {"rate": "5Mbit", "delay": "5ms"},
                "flows": [{"rule": "kernel:reno"}], "trace": {"packets": True}}  # fmt: skip
    folder = run(scenario).save(tmp_path / "simulated")
    with pytest.raises(ScenarioError, match="simulated: is not valid: expected a run of a kernel"):
        list(checked([folder]))
    (folder / "run.json").write_text("{")
    with pytest.raises(ScenarioError, match="simulated: cannot be read"):
        list(checked([folder]))


def test_runs_of_a_folder_are_judged_on_the_command_line(tmp_path):
    written(tmp_path, "single-9")
    late(tmp_path)
    assert [path.name for path in scripts_of([tmp_path])] == ["single-2", "single-9"]
    done = CliRunner().invoke(app, ["conform", str(tmp_path), "--json"])
    assert done.exit_code == 3
    document = json.loads(done.stdout)
    jsonschema.validate(document, outputs.schema("conform"))
    assert [(row["verdict"], row["line"]) for row in document["scripts"]] == [
        ("differs", None),
        ("agrees", None),
    ]
    assert "1 flow with a difference: single-2" in done.stderr
    text = CliRunner().invoke(app, ["conform", str(tmp_path)]).stdout
    assert "2 flows: 1 agree, 1 differ" in text
    refused = CliRunner().invoke(app, ["conform", str(tmp_path), "--kernel", "true"])
    assert refused.exit_code == 2
    assert "is a recorded run" in refused.stderr
