"""What every result has: tables to paste, short names of itself, and refusals that help."""

from __future__ import annotations

import sys

import pytest

import cwndlab
from cwndlab import ScenarioError
from test_api import RESULTS, RULES


@pytest.fixture(scope="module")
def comparison() -> cwndlab.Comparison:
    return cwndlab.compare(RULES, replicates=3, duration="2s")


@pytest.mark.slow
@pytest.mark.parametrize("name", RESULTS)
def test_every_result_is_latex_and_markdown_and_says_what_it_is_in_a_line(name, tmp_path):
    found = RESULTS[name](tmp_path / "out")
    table = found.table()
    text = found.to_latex("A title")
    assert text.startswith("% A title\n\\begin{tabular}{l")
    assert text.count("\\\\\n") == table.height + 1
    assert found.to_latex().startswith("\\begin{tabular}")
    lines = found.to_markdown().splitlines()
    assert len(lines) == table.height + 2
    assert lines[0].count("|") == table.width + 1
    assert len(repr(found)) < 100
    assert "object at" not in repr(found)
    assert type(found).__name__ in repr(found)
    if name != "reproduce":  # Its plot is an experiment's own.
        with pytest.raises(TypeError, match=r"did you mean width\?"):
            found.plot(widht="column")
        with pytest.raises(TypeError, match=r"expected a keyword in front of it: .*width, "):
            found.plot("column")


def test_differences_of_a_comparison(comparison):
    first, second = RULES
    of_second = comparison.differences()
    of_first = comparison.differences(baseline=second)
    assert of_second["rule"].unique().to_list() == [second]
    assert of_first["rule"].unique().to_list() == [first]
    means = comparison.summary.filter(metric="goodput").select("rule", "mean").rows()
    by_rule = dict(means)
    (difference,) = of_second.filter(metric="goodput")["mean"]
    assert difference == pytest.approx(by_rule[second] - by_rule[first])
    (opposite,) = of_first.filter(metric="goodput")["mean"]
    assert opposite == pytest.approx(-difference)
    with pytest.raises(ScenarioError, match=r'baseline: "CUBIC" is not known: expected AIMD'):
        comparison.differences(baseline="CUBIC")


def test_differences_of_a_sweep_are_from_any_level():
    base = cwndlab.dumbbell("2Mbit", "10ms", flows="CUBIC", duration="2s")
    rates = ["1Mbit", "2Mbit", "4Mbit"]
    found = cwndlab.sweep(base, axes={"dumbbell.rate": rates}, replicates=2, metrics="goodput")
    of_first, of_second = found.differences(), found.differences(baseline="2Mbit")
    assert of_first["dumbbell.rate"].to_list() == rates[1:]
    assert of_second["dumbbell.rate"].to_list() == ["1Mbit", "4Mbit"]
    assert of_second["baseline"].unique().to_list() == ["2Mbit"]
    assert of_second["mean"][0] == pytest.approx(-of_first["mean"][0])
    with pytest.raises(ScenarioError, match=r'baseline: "3Mbit" is not known: expected 1Mbit, '):
        found.differences(baseline="3Mbit")
    by_rule = cwndlab.sweep(base, axes={"rule": RULES}, replicates=2, metrics="goodput")
    assert by_rule.differences(baseline="AIAD(1,3)")["rule"].to_list() == [RULES[0]]
    with pytest.raises(cwndlab.RuleError, match=r"did you mean AIMD\?"):
        by_rule.differences(baseline="AIMDD(1, 0.5)")


@pytest.mark.slow
def test_differences_of_a_design_are_from_a_reference(tmp_path):
    found = RESULTS["design"](tmp_path)
    rules = {one.rule for one in found.frontier}
    assert found.differences()["other"].unique().to_list() == ["AIMD(1, 0.5)"]
    of_cubic = found.differences(baseline="CUBIC")
    assert of_cubic.height == len(rules) * len(found.aims)
    assert set(of_cubic["rule"]) == rules
    with pytest.raises(
        ScenarioError, match=r'baseline: "AIMD\(1, 0.6\)" is not known: expected AIMD'
    ):
        found.differences(baseline="AIMD(1, 0.6)")


def test_sweeps_and_stores_say_what_they_are_in_a_line(tmp_path):
    base = cwndlab.dumbbell("2Mbit", "10ms", flows="CUBIC", duration="2s")
    axes = {"rule": RULES, "dumbbell.rate": ["1Mbit"]}
    sweep = cwndlab.Sweep(name="rates", base=base, axes=axes, replicates=2)
    assert repr(sweep) == "<Sweep rates: rule x dumbbell.rate, 4 runs>"
    with cwndlab.Store(tmp_path) as store:
        assert repr(store) == f"<Store {tmp_path}>"


def test_a_metric_of_a_comparison_is_a_table_to_paste(comparison):
    assert "| rule | constant |" in comparison.to_markdown(metric="jain_index")
    with pytest.raises(ScenarioError, match=r"did you mean goodput\?"):
        comparison.to_latex(metric="godput")


def test_a_result_is_found_by_names_that_there_are(comparison):
    assert comparison.result(rule=RULES[0]) is not None
    with pytest.raises(ScenarioError, match=r'axis: "rulee" is not known: .* mean rule\?'):
        comparison.result(rulee=RULES[0])
    with pytest.raises(ScenarioError, match=r'rule: "AIMD\(1, 0.6\)" is not known'):
        comparison.result(rule="AIMD(1, 0.6)")


def test_a_misspelt_field_of_a_run_is_refused_with_the_nearest():
    result = cwndlab.run(cwndlab.dumbbell("2Mbit", "10ms", flows="CUBIC", duration="1s"))
    with pytest.raises(AttributeError, match=r"did you mean jain_index\?"):
        _ = result.jain_indx


def test_packages_that_are_missing_are_named(comparison, monkeypatch):
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "pandas", None)
        with pytest.raises(cwndlab.MissingPackageError, match="pandas and pyarrow: pip install"):
            comparison.to_pandas()
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "gymnasium", None)
        with pytest.raises(ImportError, match="gymnasium: pip install"):
            cwndlab.gym.make(cwndlab.dumbbell("2Mbit", "10ms", flows="cwndlab.gym:Agent"))
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "distributed", None)
        with pytest.raises(ImportError, match=r"dask\.distributed .*: pip install"):
            cwndlab.compare("CUBIC", replicates=2, duration="1s", on="tcp://127.0.0.1:1")
