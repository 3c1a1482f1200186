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


def test_command_line_python_threads_and_schedulers_agree(cli, scenario, tmp_path):
    (tmp_path / "it.json").write_text(scenario.to_json())
    hashes = [
        cwndlab.run(scenario).trace_hash,
        cwndlab.run(scenario).trace_hash,
        *(
            cwndlab.run(scenario, scheduler=name).trace_hash
            for name in ("tree", "calendar", "heap")
        ),
        json.loads(cli("run", "it.json", "--json").stdout)["trace_hash"],
    ]
    for jobs in (1, 2):
        copies = [(number, scenario) for number in range(3)]
        hashes += [result.trace_hash for _, result in cwndlab.run_many(copies, jobs=jobs)]
    assert len(set(hashes)) == 1
    assert len(hashes[0]) == 16
    int(hashes[0], 16)


@pytest.mark.parametrize("name", ["tree", "calendar"])
def test_results_agree_with_the_simple_scheduler(scenario, name):
    fast, heap = (cwndlab.run(scenario, scheduler=name) for name in (name, "heap"))
    assert fast.flows.equals(heap.flows)
    assert fast.links.equals(heap.links)


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
