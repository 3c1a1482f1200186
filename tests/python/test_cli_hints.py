"""What is right elsewhere is said so: another command, another key, another case of a name."""

from __future__ import annotations

import json

import pytest

import small_sweeps
from conftest import ROOT, SMALL

SWEEP = """
name = "cases"
base = "small.toml"
replicates = 1
metrics = ["Goodput"]
[axes]
queue = ["RED", "CoDel"]
recovery = ["Reno"]
"""
METRICS = 'metrics = ["aggregate_goodput_bps", "loss_rate"]'


@pytest.fixture
def files(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "sweep.toml").write_text(SWEEP)


@pytest.mark.usefixtures("files")
def test_a_file_of_the_other_kind_names_its_command(command):
    answer = command("run", "sweep.toml")
    assert answer.returncode == 2
    assert "sweep.toml is a sweep: run it with `cwndlab sweep sweep.toml`" in answer.stderr
    answer = command("sweep", "small.toml")
    assert answer.returncode == 2
    assert "small.toml is a scenario: run it with `cwndlab run small.toml`" in answer.stderr
    better = ROOT / "examples" / "designs" / "better.toml"
    for name in ("run", "sweep", "topology"):
        answer = command(name, better)
        assert answer.returncode == 2
        assert f"better.toml is a design: run it with `cwndlab design {better}`" in answer.stderr
    assert "is a sweep: run it" in command("design", "sweep.toml").stderr
    assert "is a scenario: run it" in command("design", "small.toml").stderr


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("option", "key"),
    [("--rule", "flows.*.rule"), ("--duration", "duration"), ("--rate", "dumbbell.rate")],
)
def test_an_option_that_is_a_key_of_the_file_names_it(command, option, key):
    refused = command("run", "small.toml", option, "x")
    assert refused.returncode == 2
    assert refused.stderr == (
        f"error: option: \"{option}\" is not known: expected --set '{key}=VALUE'\n"
    )
    assert "did you mean --set?" in command("compare", "CUBIC", "--sett", "x").stderr


@pytest.mark.usefixtures("files")
def test_rules_that_are_no_file_and_no_module_are_refused(command):
    refused = command("run", "small.toml", "--rules", "CUBIC")
    assert refused.returncode == 2
    assert '--rules: "CUBIC" is not valid: expected a Python file' in refused.stderr
    assert command("run", "small.toml", "--rules", "fractions").returncode == 0


@pytest.mark.usefixtures("files")
def test_names_ignore_case_in_sweeps(command):
    answer = command("sweep", "sweep.toml", "--format", "csv")
    assert answer.returncode == 0, answer.stderr
    cells = [line.split(",")[:3] for line in answer.stdout.splitlines()[1:]]
    assert cells == [["red", "reno", "goodput"], ["codel", "reno", "goodput"]]
    assert command("results", "out/cases", "--metrics", "LOSS_RATE").returncode == 0


@pytest.mark.usefixtures("files")
def test_names_ignore_case_on_the_command_line(command):
    short = ("aimd(1, 0.5)", "--duration", "2s", "--replicates", "1", "--json")
    given = ("--recovery", "SACK", "--queue", "RED", "--env", "cl,Square")
    plan = json.loads(command("compare", *short, *given).stdout)
    assert {(row["recovery"], row["queue"], row["env"]) for row in plan["summary"]} == {
        ("sack", "red", "CL"),
        ("sack", "red", "square"),
    }
    assert command("environments", "sql", "--toml", "--setting", "Reno/DRR").returncode == 0
    run = command("run", "small.toml", "--json", "--set", "flows.*.recovery=RENO")
    assert {flow["recovery"] for flow in json.loads(run.stdout)["flows"]} == {"reno"}


def test_a_rule_without_a_model_is_not_called_unknown(command):
    answer = command("theory", "fair", "CUBIC")
    assert answer.returncode == 2
    assert 'RULE: "CUBIC" is not valid: expected a rule that has a model' in answer.stderr
    assert "AIMD, AIAD" in answer.stderr
    assert "is not known" in command("theory", "fair", "CUBIK").stderr


def test_a_target_that_is_not_reached_ends_with_its_own_code(command, sweep_file):
    given = ("--until", "ci(Loss_Rate) < 0.0000001", "--most", "6", "--store", "runs")
    answer = command("sweep", sweep_file, *given)
    assert answer.returncode == 3
    assert "did not reach" in answer.stderr
    assert command("sweep", sweep_file, "--store", "runs").returncode == 0


@pytest.mark.parametrize("wrong", ["metrics = ['goodpt']", "metrics = ['flows.nobody.timeouts']"])
def test_a_refused_sweep_leaves_no_directory(command, tmp_path, wrong):
    (tmp_path / "wrong.toml").write_text(small_sweeps.TEXT.replace(METRICS, wrong))
    answer = command("sweep", "wrong.toml", "--store", "new/runs")
    assert answer.returncode == 2, answer.stderr
    assert not (tmp_path / "new").exists()


def test_a_refused_sweep_leaves_the_runs_of_others(command, tmp_path, sweep_file):
    assert command("sweep", sweep_file, "--store", "runs").returncode == 0
    before = command("results", "runs", "--format", "csv").stdout
    (tmp_path / "wrong.toml").write_text(small_sweeps.TEXT.replace(METRICS, "metrics = ['x']"))
    assert command("sweep", "wrong.toml", "--store", "runs").returncode == 2
    assert command("results", "runs", "--format", "csv").stdout == before
    # A directory that was there stays, also without a run.
    (tmp_path / "empty").mkdir()
    assert command("sweep", "wrong.toml", "--store", "empty").returncode == 2
    assert (tmp_path / "empty").is_dir()


@pytest.mark.usefixtures("files")
def test_a_window_outside_a_shortened_run_says_how_to_move_it(command):
    answer = command("run", "small.toml", "--set", "duration=5s")
    assert answer.returncode == 2
    assert """--set 'measure=["1s", "5s"]'""" in answer.stderr
    moved = ("--set", "duration=5s", "--set", 'measure=["1s", "5s"]')
    assert command("run", "small.toml", *moved).returncode == 0


@pytest.mark.usefixtures("files")
def test_bare_rates_are_warned_of(command, tmp_path):
    answer = command("run", "small.toml", "--json", "--set", "dumbbell.rate=900")
    assert 'warning: dumbbell.rate: 900 is 900 bit/s: did you mean "900Mbit"?' in answer.stderr
    assert json.loads(answer.stdout)["links"][0]["rate_bps"] == 900
    for rate in ("4Mbit", "2000", "900bit"):
        assert (
            "warning" not in command("run", "small.toml", "--set", f"dumbbell.rate={rate}").stderr
        )
    given = ("--against", "AIAD(1, 3)", "--flows", "1", "--replicates", "1", "--duration", "2s")
    answer = command("compare", "AIMD(1, 0.5)", *given, "--rate", "20")
    assert 'warning: --rate: "20" is 20 bit/s: did you mean "20Mbit"?' in answer.stderr
    text = SWEEP.replace("[axes]", '[axes]\n"dumbbell.rate" = [500, "4Mbit"]')
    (tmp_path / "rates.toml").write_text(text)
    answer = command("sweep", "rates.toml")
    assert "warning: axes.dumbbell.rate: 500 is 500 bit/s" in answer.stderr
