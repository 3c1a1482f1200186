"""Every JSON output says which form it has, and has the form of its published schema."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema
import pytest

import cwndlab
from cwndlab import outputs

EXAMPLES = Path(__file__).parents[2] / "examples"
RUN = """
duration = "3s"
[dumbbell]
rate = "2Mbit"
delay = "5ms"
access_delay = ["1ms", "5ms"]
[[flows]]
rule = "CUBIC"
[[cross]]
rate = "100kbit"
[[arrivals]]
name = "web"
rule = "CUBIC"
gap = "500ms"
size = { kind = "constant", value = 5 }
"""
SWEEP = """
replicates = 2
metrics = ["goodput", "links.bottleneck.p99_queueing_delay_s"]
[base]
duration = "2s"
[base.dumbbell]
rate = "2Mbit"
delay = "5ms"
access_delay = ["1ms", "5ms"]
[[base.flows]]
rule = "CUBIC"
[axes]
rule = ["CUBIC", "AIMD(1, 0.5)"]
"""
SHORT = ("--replicates", "2", "--duration", "2s", "--json")
COMMANDS = {
    "run": ("run", "run.toml", "--json", "--set", "trace.account=true", "--set", "trace.solo=true"),
    "explanation": ("explain", "run.toml", "--json"),
    "compare": ("compare", "CUBIC", "AIMD(1, 0.5)", *SHORT),
    "against": ("compare", "CUBIC", "--against", "AIMD(1, 0.5)", "--flows", "1", *SHORT),
    "assessment": ("assess", "AIAD(1, 3)", "--quick", "--section", "5.1.2", "--replicates", "2",
                   "--json"),
    "matrix": ("matrix", "AIAD(1, 3)", "--profile", "rfc", "--check", "floor", "--json"),
    "search": ("search", "--best", "AIAD(1, 3)", "--budget", "8", "--confirm", "2",
               "--duration", "2s", "--json"),
    "search-families": ("search", "--list", "--json"),
    "known-results": ("known-results", "slow-start/initial-window", "--json"),
    "environments": ("environments", "--json"),
    "assumptions": ("environments", "--assumptions", "--json"),
    "rules": ("rules", "--json"),
    "knobs": ("knobs", "--json"),
    "doctor": ("doctor", "--json"),
    "virtual-kernels": ("virtual-kernel", "list", "--json"),
    "topology": ("topology", "run.toml", "--json"),
    "theory-phase": ("theory", "phase", "AIMD(1, 0.5)", "--json"),
    "theory-fair": ("theory", "fair", "AIMD(1, 0.5)", "--json"),
    "theory-rate": ("theory", "rate", "AIMD(1, 0.5)", "--loss", "0.01", "--json"),
    "theory-friendly": ("theory", "friendly", "--beta", "0.875", "--json"),
    "theory-growth": ("theory", "growth", "--json"),
    "theory-bimodal": ("theory", "bimodal", "--json"),
}  # fmt: skip


def valid(name: str, data: dict) -> None:
    schema = outputs.schema(name)
    assert list(data)[:2] == ["schema", "cwndlab_version"]
    assert data["schema"] == schema["title"] == f"{name}/1"
    assert data["cwndlab_version"] == cwndlab.__version__
    jsonschema.Draft202012Validator(schema).validate(data)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "run.toml").write_text(RUN)
    (tmp_path / "sweep.toml").write_text(SWEEP)
    return tmp_path


@pytest.mark.parametrize("name", COMMANDS)
def test_what_a_command_prints(name, cli, files):  # noqa: ARG001 (its folder is the command's)
    answer = cli(*COMMANDS[name])
    assert answer.returncode == 0, answer.stderr
    valid(name, json.loads(answer.stdout))


def test_what_a_sweep_prints_and_a_store_lists(cli, files):
    answer = cli("sweep", "sweep.toml", "--store", "store", "--json")
    assert answer.returncode == 0, answer.stderr
    events = [json.loads(line) for line in answer.stdout.splitlines()]
    for event in events:
        valid("sweep-event", event)
    assert events[-1]["event"] == "result"
    answer = cli("results", "store", "--json", "--export", "runs.json")
    assert answer.returncode == 0, answer.stderr
    listed = json.loads(answer.stdout)
    valid("results", listed)
    valid("results", json.loads((files / "runs.json").read_text()))
    answer = cli("results", "store", "--run", listed["runs"][0]["key"], "--json")
    assert answer.returncode == 0, answer.stderr
    valid("stored-run", json.loads(answer.stdout))


def test_what_sweeps_and_results_write(files):
    found = cwndlab.Sweep.load(files / "sweep.toml").run()
    valid("sweep", json.loads(found.to_json()))
    cwndlab.run(files / "run.toml").save(files / "out")
    valid("saved-run", json.loads((files / "out" / "run.json").read_text()))


def test_what_compare_writes(cli, files):
    answer = cli("compare", "CUBIC", *SHORT[:-1], "--out", "out")
    assert answer.returncode == 0, answer.stderr
    valid("plan", json.loads((files / "out" / "plan.json").read_text()))
    valid("compare", json.loads((files / "out" / "comparison.json").read_text()))


@pytest.mark.slow
def test_what_reproduce_prints_and_writes(cli, files):
    answer = cli("reproduce", "akella2002/sync", "--json", "--out", "out")
    assert answer.returncode == 0, answer.stderr
    valid("reproduce", json.loads(answer.stdout.splitlines()[-1]))
    valid("reproduce", json.loads((files / "out" / "akella2002" / "claims.json").read_text()))
    valid("reproduction", json.loads((EXAMPLES.parent / "docs" / "reproduction.json").read_text()))


@pytest.mark.skipif(shutil.which("ns") is None, reason="ns-2 is not installed")
def test_what_stands_beside_ns2(cli):
    short = ("--set", "duration=12s", "--set", 'measure=["2s", "12s"]')
    answer = cli("run", EXAMPLES / "one-flow-sawtooth.toml", "--profile", "ns2-2.35",
                 "--beside", "ns2", "--json", *short)  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    valid("beside", json.loads(answer.stdout))


def test_schemas_are_printed(cli):
    answer = cli("schema", "--output", "compare")
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout) == json.loads(json.dumps(outputs.schema("compare")))
    assert "$defs" in json.loads(cli("schema").stdout)
    wrong = cli("schema", "--output", "comparison")
    assert wrong.returncode == 2
    assert "did you mean compare?" in wrong.stderr
    listed = cli("schema", "--list").stdout
    assert all(name in listed for name in outputs.every())


@pytest.mark.parametrize("name", outputs.every())
def test_schemas_are_schemas(name):
    schema = outputs.schema(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    # A schema that takes anything describes nothing.
    empty = {"schema": schema["title"], "cwndlab_version": "0"}
    is_known = jsonschema.Draft202012Validator(schema).is_valid(empty)
    assert is_known == (name == "live-rules")
