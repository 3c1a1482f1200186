"""Forty calls as one would write them who knows pandas, scikit-learn, matplotlib and gymnasium, and
has read README.md alone: most work as they are meant, the others say at once what would."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import pandas as pd
import polars as pl
import pytest

import cwndlab as cl
from conftest import ROOT

mpl.use("Agg")

TEXT = """
duration = "5s"
[dumbbell]
rate = "10Mbit"
delay = "20ms"
[[flows]]
rule = "CUBIC"
"""
TABLE = {
    "duration": "5s",
    "dumbbell": {"rate": "10Mbit", "delay": "20ms"},
    "flows": [{"rule": "CUBIC"}],
}
FILE = ROOT / "examples" / "one-flow-sawtooth.toml"
RENO = "AIMD(1, 0.5)"
SHORT = {"env": "square", "duration": "5s"}


class MyRule:
    """A rule with the methods that one guesses."""

    def __init__(self, beta=0.7):
        self.beta = beta

    def on_ack(self, flow):
        flow.cwnd += 1 / flow.cwnd

    def on_loss(self, flow):
        flow.cwnd *= self.beta


def my_rule(flow):
    return flow.cwnd + 1 / flow.cwnd


@pytest.fixture(scope="module")
def scenario() -> cl.Scenario:
    flows = [{"name": "standard", "rule": RENO}, {"name": "gentle", "rule": "AIMD(0.31, 0.875)"}]
    return cl.dumbbell("10Mbit", "20ms", duration="5s", flows=flows)


@pytest.fixture(scope="module")
def result(scenario) -> cl.Result:
    return cl.run(scenario)


@pytest.fixture(scope="module")
def compared() -> cl.Comparison:
    return cl.compare([RENO, "CUBIC"], **SHORT)


@pytest.fixture(scope="module")
def swept(scenario) -> cl.SweepResult:
    axes = {"rule": ["CUBIC", RENO], "dumbbell.rate": ["5Mbit", "10Mbit"]}
    return cl.sweep(scenario, axes=axes, replicates=2)


# What works as it is meant.


@pytest.mark.parametrize("what", [TABLE, TEXT, FILE, cl.Scenario(TABLE)])
def test_a_scenario_is_a_mapping_a_text_a_path_or_an_object(what):
    assert cl.run(what).flows.height == 1


def test_a_run_has_the_seed_that_it_is_given(scenario):
    assert cl.run(scenario, seed=3).seed == 3


def test_a_run_is_a_data_frame_of_pandas(result):
    found = result.to_pandas().query("flow == 'gentle'")
    assert isinstance(found, pd.DataFrame)
    assert found["rule"].to_list() == ["AIMD(0.31, 0.875)"]


def test_a_comparison_is_a_data_frame_of_pandas(compared):
    found = compared.to_pandas().query("metric == 'goodput'")
    assert found["rule"].to_list() == [RENO, "CUBIC"]


def test_a_comparison_has_differences_scores_and_a_table_to_paste(compared):
    differences = compared.differences(baseline=RENO)
    assert isinstance(differences, pl.DataFrame)
    assert differences["rule"].unique().to_list() == ["CUBIC"]
    assert {"rule", "C_a", "D_a"} <= set(compared.scores.columns)
    assert compared.to_latex().startswith("\\begin{tabular}{lr}")


def test_a_comparison_is_plotted_over_what_one_names(compared):
    figure = compared.plot(x="env", y="goodput", hue="rule")
    assert figure.axes[0].get_xlabel() == "env"


def test_a_rule_against_another_is_a_table_to_paste():
    found = cl.against("CUBIC", RENO, queue="fq-codel", flows=[1, 2], replicates=2, duration="5s")
    assert found.to_markdown().count("\n| sack | fq-codel | link |") == 4


def test_rules_are_listed():
    assert {"AIMD", "CUBIC", "BBR3"} <= {entry["name"] for entry in cl.rules()}


def test_a_run_goes_to_a_kernel_or_says_what_builds_one(scenario):
    try:
        assert cl.run(scenario, home="linux").flows.height == 2
    except cl.LiveError as error:
        assert "make live" in str(error) or "virtual-kernel" in str(error)  # noqa: PT017


# What is refused with what would be right: the error, and its words.

REFUSED = {
    "a rule is run": (
        lambda **_: cl.run("CUBIC"), cl.ScenarioError,
        """'CUBIC' is a rule: expected a scenario, such as dumbbell("10Mbit", "20ms", """,
    ),
    "a rule is run on a link": (
        lambda **_: cl.run("CUBIC", rate="10Mbit", delay="20ms", duration="5s"), TypeError,
        'did you mean patch={"dumbbell.rate": ...}, or cwndlab.dumbbell?',
    ),
    "a run is repeated": (
        lambda scenario, **_: cl.run(scenario, replicates=3, jobs=2), TypeError,
        "did you mean cwndlab.sweep(scenario, axes={}, replicates=...)?",
    ),
    "a profile by half its name": (
        lambda scenario, **_: cl.run(scenario, profile="ns2"), cl.ScenarioError,
        "expected ns2-2.35, ",
    ),
    "a round trip": (
        lambda **_: cl.dumbbell(rate="10Mbit", rtt="40ms", queue="codel", flows="CUBIC"), TypeError,
        "did you mean delay, one way?",
    ),
    "a class with guessed methods as a flow": (
        lambda **_: cl.dumbbell("10Mbit", "20ms", duration="5s", flows=[MyRule, "CUBIC"]),
        cl.RuleError, "expected increase(cwnd, ack) and decrease(cwnd, signal)",
    ),
    "a class with guessed methods in a comparison": (
        lambda **_: cl.compare(["CUBIC", MyRule, MyRule(0.9)], **SHORT), cl.RuleError,
        "expected increase(cwnd, ack) and decrease(cwnd, signal)",
    ),
    "names and a function": (
        lambda **_: cl.compare({"mine": my_rule, "reno": RENO}, **SHORT), cl.RuleError,
        "expected a notation, or a class with increase and decrease, or an instance of one",
    ),
    "axes of a run": (
        lambda result, **_: result.plot(x="time", y="window", hue="flow"), TypeError,
        'plot: "x" is not known: expected width, height, style, labels, order,',
    ),
    "what is plotted of a run": (
        lambda result, **_: result.plot("queue"), TypeError,
        'plot: "queue" is not valid: expected a keyword in front of it: width, height,',
    ),
    "a result is loaded": (
        lambda **_: cl.load("out/run"), AttributeError, "did you mean Result.load?",
    ),
    "rules one after another": (
        lambda **_: cl.compare("CUBIC", "BBR3", **SHORT), TypeError, "several rules are one list",
    ),
    "a comparison on a scenario": (
        lambda scenario, **_: cl.compare(["CUBIC", RENO], scenario=scenario, progress=True),
        TypeError, 'did you mean cwndlab.sweep(scenario, axes={"rule": [...]})?',
    ),
    "a misspelt metric": (
        lambda compared, **_: compared.table("gooodput"), cl.ScenarioError,
        "did you mean goodput?",
    ),
    "rules of a sweep": (
        lambda **_: cl.sweep(rule=["CUBIC", RENO], rate=["5Mbit", "10Mbit"], duration="5s"),
        TypeError, 'did you mean axes={"rule": [...]}?',
    ),
    "rates of a sweep": (
        lambda scenario, **_: cl.sweep(scenario, rate=["5Mbit", "10Mbit"], progress=False),
        TypeError, 'did you mean axes={"dumbbell.rate": [...]}?',
    ),
    "columns of panels": (
        lambda swept, **_: swept.plot(x="dumbbell.rate", y="goodput", hue="rule", col="queue"),
        TypeError, "did you mean panel?",
    ),
    "a sweep in one file": (
        lambda swept, **_: swept.save("sweep.parquet"), cl.ScenarioError,
        "expected a directory, for a file of each table",
    ),
    "criteria": (
        lambda **_: cl.assess("CUBIC", quick=True, against="Reno", criteria="fairness"), TypeError,
        "did you mean sections?",
    ),
    "a search by its goal": (
        lambda **_: cl.search("AIAD(1, 3)", goal="best", budget=4, seed=1), TypeError,
        "expected a keyword in front of it: best, worst, ",
    ),
    "a family with names": (
        lambda **_: cl.design("AIMD(a, b)", objectives=["goodput", "delay"], budget=4),
        cl.ScenarioError, 'did you mean family="AIMD(?, ?)"?',
    ),
    "an environment of a link": (
        lambda **_: cl.gym.make("10Mbit", rtt="40ms"), TypeError,
        'make: "rtt" is not known: expected scenario, flows, observe, action, reward,',
    ),
    "flows one after another": (
        lambda result, **_: cl.explain(result, "standard", "gentle"), TypeError,
        "several flows are one list",
    ),
    "a rate of theory": (
        lambda **_: cl.theory.rate(RENO, loss=0.01, rtt="100ms"), AttributeError,
        "did you mean binomial.rate or gaimd.rate?",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_meant_otherwise_is_said(what, scenario, result, compared, swept):
    call, kind, words = REFUSED[what]
    with pytest.raises(kind) as refused:
        call(scenario=scenario, result=result, compared=compared, swept=swept)
    assert words in str(refused.value)


# What the package cannot answer, because another one is asked: the names of columns have units.


def test_columns_have_the_names_of_the_metrics_page(result, swept):
    with pytest.raises(KeyError, match="goodput"):
        result.flows.to_pandas().groupby("rule")["goodput"].mean()
    with pytest.raises(KeyError, match="rate"):
        swept.to_pandas().groupby(["rule", "rate"])
    with pytest.raises(TypeError, match="not subscriptable"):
        result["goodput"]


def test_what_the_refusals_name_works(scenario, result, swept, tmp_path):
    assert cl.run(scenario, patch={"dumbbell.rate": "5Mbit"}).flows.height == 2
    assert len(cl.sweep(scenario, axes={}, replicates=2)) == 2
    assert cl.Result.load(result.save(tmp_path)).trace_hash == result.trace_hash
    figure = swept.plot(x="dumbbell.rate", y="goodput", hue="rule")
    assert figure.axes[0].get_xlabel() == "dumbbell.rate [Mbit/s]"
    assert Path(tmp_path, "flows.parquet").is_file()
