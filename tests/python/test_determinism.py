"""Same scenario, same seed: same trace hash, however it is run."""

from __future__ import annotations

import json

import pytest

import cwndlab
from cwndlab import environments
from cwndlab.comparison import Comparison, plan_rules
from cwndlab.runs.collection import collect


@pytest.fixture(params=["small", "walk"])
def scenario(request, small) -> cwndlab.Scenario:
    if request.param == "small":
        return small
    return environments.scenario(
        "walk", rule="MIMD(1.125, 0.8)", assume=environments.Assumptions(duration="10s")
    )


def test_command_line_python_and_threads_agree(cli, scenario, tmp_path):
    (tmp_path / "it.json").write_text(scenario.to_json())
    hashes = [
        cwndlab.run(scenario).trace_hash,
        cwndlab.run(scenario).trace_hash,
        json.loads(cli("run", "it.json", "--json").stdout)["trace_hash"],
    ]
    for jobs in (1, 2):
        copies = [(number, scenario) for number in range(3)]
        hashes += [result.trace_hash for _, result in cwndlab.run_many(copies, jobs=jobs)]
    assert len(set(hashes)) == 1
    assert len(hashes[0]) == 16
    int(hashes[0], 16)


def test_windows_give_the_result_of_one_item_at_a_time(scenario):
    windows = cwndlab.run(scenario)
    plain = cwndlab.Result.from_run(
        scenario.core.run(None, None, look_ahead=False), scenario.to_dict()
    )
    assert windows.flows.equals(plain.flows)
    assert windows.links.equals(plain.links)
    assert windows.trace_hash == plain.trace_hash


def test_seeds_differ(scenario):
    assert cwndlab.run(scenario, seed=1).trace_hash != cwndlab.run(scenario, seed=2).trace_hash


def test_seed_argument_is_the_scenarios_seed(scenario):
    assert (
        cwndlab.run(scenario, seed=7).trace_hash == cwndlab.run(scenario.set("seed", 7)).trace_hash
    )


def test_compare_does_not_depend_on_threads():
    plan = plan_rules(
        ["AIMD(1, 0.8)", "AIAD(1, 3)"], env=["constant", "walk"], replicates=2, duration_s=5
    )
    one, two = collect(Comparison(plan), jobs=1), collect(Comparison(plan), jobs=2)
    assert one.runs.equals(two.runs)
    assert one.summary.equals(two.summary)


def test_adding_a_flow_leaves_the_others_draws_alone(small):
    other = {"name": "c", "rule": "AIMD(1, 0.5)"}
    more = small.set("flows", [*small["flows"], other])
    before, after = (
        cwndlab.run(scenario).flows["base_rtt_s"].to_list() for scenario in (small, more)
    )
    assert after[:3] == before
