"""Scenarios in Python: loading, building, patching."""

from __future__ import annotations

import pytest

import cwndlab
from conftest import SMALL
from cwndlab.patching import patched, value_from_text


def test_load_takes_a_path_or_text(small_file):
    from_path = cwndlab.Scenario.load(small_file)
    assert from_path == cwndlab.Scenario.load(str(small_file)) == cwndlab.Scenario.load(SMALL)
    assert cwndlab.Scenario.load(from_path.to_json()) == from_path


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


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("0.5", 0.5), ("true", True), ('["0s","1s"]', ["0s", "1s"]),
     ('{"kind": "x"}', {"kind": "x"}),
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
