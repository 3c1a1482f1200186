"""`--expect`: a command ends with exit code 3 where a result is not as expected."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import polars as pl
import pytest

import cwndlab
from cwndlab.expectations import Expectation, judge, junit, shown

COMPARE = (
    "compare", "AIMD(1, 0.5)", "AIAD(1, 3)", "--replicates", "3", "--duration", "5s",
    "--profile", "ns2-2.35",
)  # fmt: skip
SUMMARY = pl.DataFrame(
    {
        "rule": ["A(1, 2)", "B", "C"],
        "flows": [1, 2, 4],
        "metric": ["goodput"] * 3,
        "mean": [0.8, 0.95, None],
        "ci95_low": [0.75, None, None],
        "ci95_high": [0.85, None, None],
        "replicates": [5, 1, 0],
    }
)


# As many runs of each cell as have a value.
RUNS = pl.DataFrame(
    {
        "rule": ["A(1, 2)"] * 5 + ["B", "C"],
        "flows": [1] * 5 + [2, 4],
        "replicate": [*range(5), 0, 0],
    }
)


def judged(text: str, runs: pl.DataFrame = RUNS):
    return judge([Expectation.of(text)], SUMMARY, runs)


def held(text: str, runs: pl.DataFrame = RUNS) -> dict[str, bool]:
    return {each.cell["rule"]: each.holds for each in judged(text, runs)}


def test_means_and_intervals():
    assert held("goodput > 0.78") == {"A(1, 2)": True, "B": True, "C": False}
    assert held("interval(goodput) > 0.78") == {"A(1, 2)": False, "B": False, "C": False}
    assert held("interval(goodput) > 0.7")["A(1, 2)"]
    assert held("interval(goodput) < 0.84")["A(1, 2)"] is False
    assert held("goodput >= 95%") == {"A(1, 2)": False, "B": True, "C": False}


def test_cells():
    assert held("goodput[rule=A(1, 2)] > 0.5") == {"A(1, 2)": True}
    assert held("goodput[rule=A(1, 2), flows=1] > 0.5") == {"A(1, 2)": True}
    assert held("goodput[flows=2] > 0.5") == {"B": True}


def test_a_run_without_a_value_fails_its_cell():
    """The mean of the flows that finished says nothing about those that did not."""
    more = pl.concat([RUNS, RUNS.head(1)])
    assert held("goodput > 0.5", more) == {"A(1, 2)": False, "B": True, "C": False}
    first = judged("goodput > 0.5", more)[0]
    assert shown(first) == "0.8 [0.75, 0.85], and no value in 1 run"


@pytest.mark.parametrize("text", ["goodput[rule=A(1, 2), flows=4] > 0", "loss_rate > 0"])
def test_no_cell_is_no_success(text):
    """Labels that are there one by one, and not together."""
    (verdict,) = judged(text)
    assert not verdict.holds
    assert shown(verdict) == "no value"
    assert "no value" in junit([verdict], "compare")


def test_what_is_not_finite_meets_nothing():
    infinite = SUMMARY.with_columns(mean=pl.lit(float("inf")))
    assert not any(each.holds for each in judge([Expectation.of("goodput > 1")], infinite, RUNS))


@pytest.mark.parametrize(
    "text",
    ["goodput < inf", "goodput < nan", "goodput > -infinity",
     "goodput", "goodput = 1", "goodput > high", "goodput[rule] > 1", "mean(goodput) < 1", "< 3",
     "goodput > 20ms", "1 < goodput < 2"],
)  # fmt: skip
def test_what_is_not_valid(text):
    with pytest.raises(cwndlab.ScenarioError, match=r"expect: .* is not valid: expected \"METRIC"):
        Expectation.of(text)


def test_compare(cli, tmp_path):
    met = cli(*COMPARE, "--expect", "goodput > 1%", "--expect", "interval(loss_rate) < 90%")
    assert met.returncode == 0
    failed = cli(
        *COMPARE, "--expect", "goodput > 1", "--expect", "goodput[rule=AIAD(1, 3)] > 1%",
        "--junit", "j.xml", "--json",
    )  # fmt: skip
    assert failed.returncode == 3
    assert "2 of 3 expectations are not met" in failed.stderr
    assert "AIAD(1, 3)" in failed.stderr
    assert json.loads(failed.stdout)["complete"], "what was asked is printed all the same"
    suite = ElementTree.parse(tmp_path / "j.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("3", "2")
    assert [len(case) for case in suite] == [1, 1, 0]


def test_against_judges_rules_not_the_baseline(cli):
    command = (
        "compare", "MIMD(1.0625, 0.5)", "--against", "AIMD(1, 0.5)", "--flows", "4",
        "--replicates", "2", "--duration", "20s",
    )  # fmt: skip
    assert cli(*command, "--expect", "harm < 0.99").returncode == 0
    found = cli(*command, "--expect", "harm < -1")
    assert found.returncode == 3
    assert "1 of 1 expectations are not met" in found.stderr


def test_the_baseline_of_harm_is_no_cell(cli):
    found = cli("compare", "CUBIC", "--against", "NewReno", "--expect", "harm[rule=NewReno] < 1")
    assert found.returncode == 2
    assert 'expect: rule: "NewReno" is not known: expected CUBIC' in found.stderr


def test_flows_that_do_not_finish_meet_no_bound(cli, small_file):
    """A number that is null in every run: never finished is not early enough."""
    found = cli("run", small_file, "--expect", "flows.a.finish_s < 1000s")
    assert found.returncode == 3
    assert "no value" in found.stderr


def test_verdicts_are_written_also_where_runs_failed(cli, tmp_path):
    """A build server reads the file: that of an earlier run must not stand for this one."""
    (tmp_path / "late.py").write_text(
        "class Late:\n"
        "    def __init__(self, worst): self.worst = worst\n"
        "    def increase(self, cwnd, ack): return cwnd + 1 / cwnd\n"
        "    def decrease(self, cwnd, signal): return 0 / self.worst + cwnd / 2\n"
    )
    (tmp_path / "late.toml").write_text(
        'name = "late"\nreplicates = 2\nmetrics = ["loss_rate"]\n'
        '[base]\nduration = "5s"\n[base.dumbbell]\nrate = "2Mbit"\ndelay = "10ms"\n'
        'queue = { kind = "drop-tail", limit = "1bdp" }\n[[base.flows]]\nrule = "CUBIC"\n'
        '[axes]\n"flows.*.rule" = ["late.py:Late(1)", "late.py:Late(0)"]\n'
    )
    found = cli("sweep", "late.toml", "--expect", "loss_rate > 2", "--junit", "j.xml")
    assert found.returncode == 1, found.stderr
    assert "runs failed" in found.stderr
    assert ElementTree.parse(tmp_path / "j.xml").getroot().get("failures") == "1"


def test_sweep(cli, sweep_file):
    assert cli("sweep", sweep_file, "--expect", "loss_rate >= 0").returncode == 0
    found = cli("sweep", sweep_file, "--expect", "loss_rate > 2")
    assert found.returncode == 3
    assert "expectations are not met" in found.stderr


def test_run(cli, small_file):
    command = ("run", small_file, "--expect")
    assert cli(*command, "aggregate_goodput_bps > 1Mbit").returncode == 0
    assert cli(*command, "links.bottleneck.utilization <= 100%").returncode == 0
    found = cli(*command, "aggregate_goodput_bps > 1Gbit")
    assert found.returncode == 3
    assert "aggregate_goodput_bps > 1Gbit" in found.stderr


@pytest.mark.parametrize(
    ("command", "expectation", "said"),
    [
        (COMPARE, "goodputt > 1", 'expect: metric: "goodputt" is not known'),
        (COMPARE, "goodput[envi=constant] > 1", 'expect: column: "envi" is not known'),
        (COMPARE, "goodput[env=square] > 1", 'expect: env: "square" is not known'),
        (("run", "FILE"), "goodput[rule=CUBIC] > 1", "expect: column"),
    ],
)
def test_what_is_not_known_is_said_before_any_run(cli, small_file, command, expectation, said):
    arguments = [small_file if word == "FILE" else word for word in command]
    found = cli(*arguments, "--expect", expectation)
    assert found.returncode == 2
    assert said in found.stderr
    assert found.stdout == ""


def test_a_number_that_the_result_of_a_run_lacks(cli, small_file):
    found = cli("run", small_file, "--expect", "goodputt > 1")
    assert found.returncode == 2
    assert '"goodputt" is not' in found.stderr


def test_junit_needs_expectations(cli):
    found = cli(*COMPARE, "--junit", "j.xml")
    assert found.returncode == 2
    assert "`--junit` needs `--expect`" in found.stderr
