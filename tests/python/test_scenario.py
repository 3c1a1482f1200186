"""Scenarios in Python: loading, building, patching."""

from __future__ import annotations

import copy
import json
import pickle
import random

import pytest

import cwndlab
from conftest import SMALL
from cwndlab import native
from cwndlab.patching import patched, value_from_text


def test_load_takes_a_path_or_text(small_file):
    from_path = cwndlab.Scenario.load(small_file)
    assert from_path == cwndlab.Scenario.load(str(small_file)) == cwndlab.Scenario.load(SMALL)
    assert cwndlab.Scenario.load(from_path.to_json()) == from_path


def test_a_run_parses_its_scenario_once(small_file, monkeypatch):
    parsed = []
    core = native.Scenario

    def counted(*arguments):
        parsed.append(arguments)
        return core(*arguments)

    monkeypatch.setattr(native, "Scenario", counted)
    cwndlab.run(small_file, seed=3)
    assert len(parsed) == 1
    scenario = cwndlab.Scenario.load(small_file)
    cwndlab.run(scenario)
    cwndlab.run(scenario.with_seed(5))
    assert len(parsed) == 2


def test_a_scenario_survives_pickling_and_copying(small):
    for again in (pickle.loads(pickle.dumps(small)), copy.deepcopy(small)):
        assert again == small
        assert cwndlab.run(again).trace_hash == cwndlab.run(small).trace_hash


def test_equal_scenarios_need_not_be_written_alike(small):
    written = small.to_dict()
    written["dumbbell"]["rate"] = 4_000_000
    assert cwndlab.Scenario(written) == small
    assert cwndlab.Scenario({**written, "seed": 9}) != small


@pytest.mark.parametrize("seed", [-1, 2**63, 1.5, True, "1"])
def test_a_seed_that_is_not_valid(small, seed):
    with pytest.raises(cwndlab.ScenarioError, match=r"seed: .* is not valid: expected a whole"):
        cwndlab.run(small, seed=seed)


def test_errors_have_the_bases_that_python_programmers_expect():
    bases = {
        cwndlab.ScenarioError: ValueError,
        cwndlab.RuleError: cwndlab.ScenarioError,
        cwndlab.RunError: RuntimeError,
        cwndlab.ClusterError: RuntimeError,
        cwndlab.LiveError: RuntimeError,
        cwndlab.StoreError: OSError,
    }
    for error, base in bases.items():
        assert issubclass(error, base)
        assert issubclass(error, cwndlab.CwndlabError)
    assert not issubclass(cwndlab.RunError, ValueError)
    assert not issubclass(cwndlab.StoreError, ValueError)


def test_set_returns_a_new_scenario(small):
    faster = small.set("dumbbell.rate", "20Mbit")
    assert faster["dumbbell"]["rate"] == "20Mbit"
    assert small["dumbbell"]["rate"] == "4Mbit"
    assert small.to_dict() is not small.to_dict()


def test_a_patch_is_checked_as_a_whole(small):
    # Each key alone would leave a measuring window beyond the end, or before the start.
    longer = small.patch({"measure": ["20s", "40s"], "duration": "40s"})
    assert longer.duration_s == 40
    with pytest.raises(cwndlab.ScenarioError, match="measure"):
        small.set("measure", ["20s", "40s"])


def test_patch_reaches_into_lists():
    document = {
        "flows": [{"name": "a"}, {"name": "b", "count": 2}],
        "dumbbell": {"loss": [{"p": 0.1}]},
    }
    patch = {
        "flows.b.count": 7,
        "flows.0.rule": "x",
        "flows.*.start": 1,
        "dumbbell.loss.0.p": 0.2,
        "tcp.window": 9,
    }
    assert patched(document, patch) == {
        "flows": [{"name": "a", "rule": "x", "start": 1}, {"name": "b", "count": 7, "start": 1}],
        "dumbbell": {"loss": [{"p": 0.2}]},
        "tcp": {"window": 9},
    }
    assert document["flows"][0] == {"name": "a"}


def test_patch_removes_with_none():
    assert patched({"a": {"b": 1, "c": 2}}, {"a.b": None}) == {"a": {"c": 2}}


def test_a_patch_into_a_list_that_is_not_there_says_so():
    message = r"cross\.noise\.rate: the scenario has no \[\[cross\]\]: expected one that has"
    with pytest.raises(cwndlab.ScenarioError, match=message):
        patched({"flows": []}, {"cross.noise.rate": "1Mbit"})
    assert patched({}, {"cross": [{"rate": "1Mbit"}]}) == {"cross": [{"rate": "1Mbit"}]}


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("0.5", 0.5), ("true", True), ('["0s","1s"]', ["0s", "1s"]),
     ('{"kind": "x"}', {"kind": "x"}), ('{ kind = "x" }', {"kind": "x"}),
     ('[{ p = 0.1 }]', [{"p": 0.1}]), ("[1979-05-27]", "[1979-05-27]"), ("[nan]", "[nan]"),
     ("[1]\nother = 2", "[1]\nother = 2"), ("[10Mbit]", "[10Mbit]"),
     ("20Mbit", "20Mbit"), ("AIMD(1, 0.5)", "AIMD(1, 0.5)"), ("", "")],
)  # fmt: skip
def test_values_of_set(text, value):
    assert value_from_text(text) == value


def test_builder_names_flows_and_takes_all_keys():
    scenario = cwndlab.dumbbell(
        "10Mbit", "10ms",
        flows=["AIMD(1, 0.5)", {"name": "many", "rule": "AIAD(1, 3)", "count": 3}],
        duration=5, link={"access_delay": "1ms"}, cross=[{"name": "cbr", "rate": "1Mbit"}], seed=4,
    )  # fmt: skip
    result = cwndlab.run(scenario)
    assert result.flows["flow"].to_list() == ["flow-1", "many-0", "many-1", "many-2"]
    assert result.links["available_bps"][0] == pytest.approx(9e6, rel=0.02)
    assert result.seed == 4


def test_what_json_cannot_hold_is_refused():
    with pytest.raises(cwndlab.ScenarioError, match="scenario: "):
        cwndlab.Scenario({"duration": object()})


def test_numbers_are_read_to_the_last_bit():
    """Python writes the shortest decimal that stands for a number; a reader must find that one."""
    draw = random.Random(1)
    for p in (draw.random() for _ in range(200)):
        loss = {"kind": "bernoulli", "p": p}
        dumbbell = {"rate": "1Mbit", "delay": "10ms", "loss": [loss]}
        document = {"duration": "1s", "dumbbell": dumbbell, "flows": [{"rule": "NewReno"}]}
        core = cwndlab.Scenario.from_dict(document).core
        assert json.loads(core.to_json())["dumbbell"]["loss"] == [loss]
