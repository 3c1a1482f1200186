"""Plans: the product of the axes, common random numbers, plain data."""

from __future__ import annotations

import itertools
import json

import pytest

import cwndlab
from cwndlab import Level, Plan


@pytest.fixture
def plan(small) -> Plan:
    axes = {
        "rate": [
            Level("slow", {"dumbbell.rate": "1Mbit"}),
            Level("fast", {"dumbbell.rate": "3Mbit"}),
        ],
        "rule": [
            Level(rule, {"flows.*.rule": rule})
            for rule in ("AIMD(1, 0.5)", "AIAD(1, 3)", "MIMD(1.1, 0.5)")
        ],
    }
    return Plan(small, axes, replicates=4, seed=10)


def test_every_cell_gets_the_same_seeds(plan):
    runs = list(plan)
    assert len(runs) == len(plan) == 24
    assert [run.index for run in runs] == list(range(24))
    for _, cell in itertools.groupby(runs, key=lambda run: tuple(run.cell.items())):
        assert [(run.replicate, run.seed, run.document["seed"]) for run in cell] == [
            (0, 10, 10), (1, 11, 11), (2, 12, 12), (3, 13, 13),
        ]  # fmt: skip


def test_cells_are_the_product_with_all_patches(plan):
    cells = [(run.cell["rate"], run.cell["rule"]) for run in plan if run.replicate == 0]
    assert cells == list(
        itertools.product(["slow", "fast"], ["AIMD(1, 0.5)", "AIAD(1, 3)", "MIMD(1.1, 0.5)"])
    )
    last = list(plan)[-1].document
    assert last["dumbbell"]["rate"] == "3Mbit"
    assert {flow["rule"] for flow in last["flows"]} == {"MIMD(1.1, 0.5)"}
    assert plan.base["dumbbell"]["rate"] == "4Mbit"


def test_common_random_numbers_reach_the_network(small):
    """Drawn access delays are the same for every rule, and differ between replicates."""
    rules = [Level(rule, {"flows.*.rule": rule}) for rule in ("AIMD(1, 0.5)", "AIAD(1, 3)")]
    plan = Plan(small.set("dumbbell.access_delay", ["1ms", "30ms"]), {"rule": rules}, replicates=2)
    drawn = {
        (run.cell["rule"], run.replicate): tuple(cwndlab.run(run.document).flows["base_rtt_s"])
        for run in plan
    }
    assert drawn["AIMD(1, 0.5)", 0] == drawn["AIAD(1, 3)", 0]
    assert drawn["AIMD(1, 0.5)", 1] == drawn["AIAD(1, 3)", 1]
    assert drawn["AIMD(1, 0.5)", 0] != drawn["AIMD(1, 0.5)", 1]


def test_plan_survives_json(plan):
    again = Plan.from_dict(json.loads(plan.to_json()))
    assert list(again) == list(plan)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"replicates": 0}, "replicates: 0"),
        ({"axes": {"x": []}}, r"axes.x: \[\] is not valid: expected one level"),
        ({"axes": {"x": [Level("one", {}), Level("one", {})]}}, "must not repeat the label `one`"),
        ({"replicates": 10**9}, "plan: .* runs.* is not valid: expected at most"),
        (
            {"seed": 2**63 - 1, "replicates": 2},
            f"seed: {2**63 - 1} is not valid: expected .* from 0 to {2**63 - 2} for 2 rep",
        ),
        ({"seed": -1}, "seed: -1 is not valid: expected a whole number from 0"),
    ],
)
def test_bad_plans(small, changes, message):
    with pytest.raises(cwndlab.ScenarioError, match=message):
        Plan(small, **changes)


def test_check_finds_a_bad_cell_without_running(small):
    plan = Plan(small, {"x": [Level("good", {}), Level("bad", {"dumbbell.rate": "-1Mbit"})]})
    with pytest.raises(cwndlab.ScenarioError, match="rate"):
        plan.check()
