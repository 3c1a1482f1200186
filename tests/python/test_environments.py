"""Environments: thirteen of the paper and four of the demo, under every setting, from assumptions
that can be set."""

from __future__ import annotations

import dataclasses
import itertools
import json

import polars as pl
import pytest

import cwndlab
from cwndlab import environments, plots
from cwndlab.comparison import Comparison, plan_rules
from cwndlab.environments import Assumptions
from cwndlab.runs.collection import collect

SETTINGS = list(itertools.product(environments.RECOVERIES, environments.QUEUES))
SHORT = Assumptions(duration="20s", profile="ns2-2.35")


def test_thirteen_by_name_and_eight_settings():
    assert environments.names(["all"]) == (
        ["CL", "CH", "SQL", "SQH", "RWL", "RWH", "RDL", "RDH", "RWA", "RWM", "RCL", "RCH", "RSQ"]
    )  # fmt: skip
    assert environments.names(["demo"]) == ["constant", "square", "saw-tooth", "walk"]
    assert len(SETTINGS) == 8


@pytest.mark.parametrize("name", environments.ENVIRONMENTS)
def test_every_environment_builds_under_every_setting(name):
    for recovery, queue in SETTINGS:
        scenario = environments.scenario(name, recovery=recovery, queue=queue, rule="AIAD(1, 3)")
        (test,) = (flow for flow in scenario["flows"] if flow["name"] == "flow")
        assert (test["rule"], test["recovery"], test["count"]) == ("AIAD(1, 3)", recovery, 10)
        assert test.get("tcp", {}).get("ecn", False) == (queue == "ecn")


@pytest.mark.parametrize("name", environments.DEMO)
def test_demo_environments_leave_what_they_say(name):
    """The measured available bandwidth has the waveform's mean over whole periods."""
    result = cwndlab.run(
        environments.scenario(name, assume=Assumptions(duration="50s", profile="ns2-2.35"))
    )
    link = result.links.row(0, named=True)
    assert link["rate_bps"] == 20e6
    assert link["limit_packets"] == pytest.approx(20e6 * 0.12 / 8 / 1040, abs=1)
    if name != "walk":
        assert link["available_bps"] == pytest.approx(10e6, rel=0.01)
    assert 2e6 <= link["available_bps"] <= 18e6
    assert result.flows["base_rtt_s"].min() >= 0.118
    assert result.flows["base_rtt_s"].max() < 0.124
    assert result.flows["base_rtt_s"].n_unique() == 10


def _course(name: str, assume: Assumptions = SHORT, seed: int = 1) -> pl.Series:
    """Available bandwidth per test flow, Mb/s, in bins of the environment's step."""
    scenario = environments.scenario(name, assume=assume, seed=seed).set(
        "trace", {"rate": assume.step}
    )
    result = cwndlab.run(scenario)
    course = result.traces["available"].filter(pl.col("link") == "bottleneck")["available_bps"]
    return course / assume.flows / 1e6


def test_courses_by_the_paper():
    assert _course("CL").to_list() == [1.0] * 20
    assert _course("CH").to_list() == [10.0] * 20
    assert _course("SQL").to_list() == ([10.0] * 5 + [5.0] * 5) * 2
    assert _course("SQH").to_list() == ([10.0] * 5 + [1.0] * 5) * 2


LONG = SHORT.with_(duration="2000s", floor="1kbit", flows=1, low_share="1Mbit", high_share="10Mbit")


def test_random_courses_follow_their_laws():
    """Against moments worked out by hand; 2000 steps."""
    low, high = _course("RDL", LONG), _course("RDH", LONG)
    for course, largest in ((low, 1.0), (high, 10.0)):
        # Uniform on [0, L]: mean L/2, standard deviation L/sqrt(12).
        assert course.mean() == pytest.approx(largest / 2, rel=0.05)
        assert course.std() == pytest.approx(largest / 12**0.5, rel=0.05)
    # B' = U (B + D) with U uniform on [0, 1]: the mean m = (m + D)/2 is D = 0.25.
    assert _course("RWA", LONG)[100:].mean() == pytest.approx(0.25, rel=0.1)
    for name, start in (("RWL", 1.0), ("RWH", 10.0)):
        steps = _course(name, LONG).diff().drop_nulls()
        assert steps.abs().max() <= 0.5 * start + 1e-6
        # Away from the bounds a step is uniform: its mean size is a quarter of B0.
        assert 0.15 * start < steps.abs().mean() < 0.27 * start


def test_multiplicative_walk_falls_to_the_floor():
    """E[log(U 5/3)] = log(5/3) - 1 = -0.49 a step.

    The median falls to nothing, and the floor is where it stays.
    """
    course = _course("RWM", SHORT.with_(duration="200s"))
    assert course.min() == pytest.approx(0.1)
    assert course[50:].median() < 0.15
    assert course[0] == 1.0


@pytest.mark.parametrize("name", ["RWL", "RDH", "RWA", "RWM"])
def test_a_replicate_has_its_own_course(name):
    first, again, other = (_course(name, seed=seed).to_list() for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_courses_stay_between_the_floor_and_the_link():
    for name in ("RWL", "RWH", "RDL", "RDH", "RWA", "RWM"):
        assume = SHORT.with_(duration="300s", floor="300kbit")
        course = _course(name, assume)
        assert course.min() >= 0.3 - 1e-9, name
        assert course.max() <= (10.0 if name in ("RWH", "RDH") else 1.0) + 1e-9, name


def test_every_assumption_reaches_a_scenario():
    """Setting it changes what is built, somewhere."""
    other = {
        "rate": "3Mbit", "time": "70ms", "delay": "8ms", "count": 7, "number": 1.5, "flag": False,
        "text": "1pkt",
    }  # fmt: skip
    special = {
        "duration": "90s", "warm_up": 0.5, "red_max_p": 0.05, "cross_rule": "AIAD(1, 3)",
        "profile": "rfc",
        "cross_packet": "500B", "step": "2s", "buffer": "20pkt", "drr_source": 2.0,
        "rio_in_max": "0.9bdp",
    }  # fmt: skip
    reds = {"red_min": "9pkt", "red_max": "90pkt", "rio_in_min": "0.1bdp"}

    def built(assume: Assumptions) -> list:
        return [
            {**environments.common(assume), **environments.network(name, queue, assume)}
            for name in environments.ENVIRONMENTS
            for queue in environments.QUEUES
        ]

    usual = built(Assumptions())
    for entry in dataclasses.fields(Assumptions):
        value = {**special, **reds}.get(entry.name, other[entry.metadata["kind"]])
        assert built(Assumptions().with_(**{entry.name: value})) != usual, entry.name


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"flor": "1Mbit"}, r'assume: "flor" is not known: expected flows, .*did you mean floor'),
        ({"floor": "1s"}, r'assume.floor: "1s" is not valid: expected a rate'),
        ({"step": "0s"}, 'step: "0s"'),
        ({"flows": 0}, "flows: 0 is not valid: expected 1 to"),
        ({"flows": "many"}, 'flows: "many" is not valid: expected a whole number'),
        ({"warm_up": 1.0}, "warm_up"),
        ({"red_gentle": "maybe"}, "true or false"),
    ],
)
def test_bad_assumptions(values, message):
    with pytest.raises(cwndlab.ScenarioError, match=message):
        Assumptions().with_(**values)


def test_wide_round_trips_keep_their_mean():
    scenario = environments.scenario("CL", assume=Assumptions(rtt_spread="200ms"))
    assert scenario["dumbbell"]["delay"] == "10ms"
    assert scenario["dumbbell"]["access_delay"] == ["0ms", "100ms"]
    with pytest.raises(cwndlab.ScenarioError, match="rtt_spread"):
        environments.scenario("CL", assume=Assumptions(rtt_spread="300ms"))


def test_unknown_names():
    with pytest.raises(
        cwndlab.ScenarioError, match=r'env: "x" .* expected all, demo, constant, .*RSQ'
    ):
        environments.names(["x"])
    with pytest.raises(cwndlab.ScenarioError, match=r'queue: "fifo" .* expected drop-tail'):
        environments.scenario("CL", queue="fifo")
    with pytest.raises(cwndlab.ScenarioError, match=r'queue: "pie" is not valid: .* RCL'):
        environments.scenario("RCL", queue="pie")


def test_cross_traffic_of_the_second_topology_takes_its_share_and_loses_nothing_at_the_bottleneck():
    for queue in environments.QUEUES:
        result = cwndlab.run(environments.scenario("RCH", queue=queue, assume=SHORT))
        cross = result.arrivals.row(0, named=True)
        assert cross["finished_flows"] > 100
        link = result.links.filter(link="bottleneck").row(0, named=True)
        assert link["left_bps"] == pytest.approx(
            link["rate_bps"] - cross["delivered_bps"], rel=0.02
        )
        # The placeholders lose at R0; whoever loses at R1 are test flows.
        tested = result.flows.filter(group="flow")["dropped_packets"].sum()
        assert tested >= 0.98 * link["dropped_packets"], queue


def test_comparison_counts_the_test_flows_only():
    plan = plan_rules(["AIMD(1, 0.5)"], env=["RCL"], replicates=1, duration_s=10)
    comparison = collect(Comparison(plan))
    (result,) = comparison.results.values()
    tested = result.flows.filter(group="flow")["goodput_bps"].sum()
    left = result.links.filter(link="bottleneck")["left_bps"][0]
    assert comparison.runs["goodput"][0] == pytest.approx(tested / left)
    assert result.flows.height == 20
    assert result.traces == {}


def test_only_what_is_needed_is_kept():
    plan = plan_rules(["AIMD(1, 0.5)"], env=["CL"], replicates=3, duration_s=2)
    comparison = collect(Comparison(plan), keep=False)
    assert comparison.complete
    assert comparison.results == {}
    assert comparison.runs.height == 3
    traced = collect(Comparison(plan), keep=False, trace={"cwnd": "100ms"})
    assert list(traced.results) == [0]


def test_cli_lists_and_prints(cli):
    listed = cli("environments")
    assert listed.returncode == 0
    assert all(f" {name} " in listed.stdout for name in environments.ENVIRONMENTS)
    data = json.loads(cli("environments", "all", "--json").stdout)["environments"]
    assert [row["name"] for row in data] == list(environments.PAPER)
    assert {row["topology"] for row in data} == {"simple", "second"}
    reasons = cli("environments", "--assumptions", "--assume", "floor=1Mbit").stdout
    assert "floor = 1Mbit (usually 100kbit): " in reasons
    for entry in environments.assumptions():
        assert entry["reason"] in reasons


def test_cli_prints_a_scenario_that_runs_as_it_does_in_a_comparison(cli, tmp_path):
    printed = cli(
        "environments",
        "RWM",
        "--setting",
        "reno/drr",
        "--toml",
        "--seed",
        "3",
        "--assume",
        "duration=5s",
    )
    (tmp_path / "it.toml").write_text(printed.stdout)
    alone = cwndlab.run(tmp_path / "it.toml").trace_hash
    plan = plan_rules(
        ["AIMD(1, 0.5)"], env=["RWM"], recovery=["reno"], queue=["drr"], seed=2, duration_s=5
    )
    assert collect(Comparison(plan)).runs.filter(seed=3)["trace_hash"].to_list() == [alone]


@pytest.mark.slow
def test_cli_draws_what_is_left(cli, tmp_path):
    answer = cli(
        "environments",
        "SQL",
        "RWA",
        "RCL",
        "--assume",
        "duration=10s",
        "--plot",
        "left.svg",
        "--json",
    )
    assert answer.returncode == 0, answer.stderr
    text = (tmp_path / "left.svg").read_text()
    assert len(text) > 10_000


def test_the_picture_shows_asked_and_measured():
    runs = {
        name: cwndlab.run(
            environments.scenario(name, assume=SHORT.with_(duration="10s")).set(
                "trace", {"rate": "1s"}
            )
        )
        for name in ("SQL", "RCH")
    }
    figure = plots.available_bandwidths(runs)
    asked, left = figure.axes[:2]
    assert asked.get_lines()[0].get_ydata().tolist() == [10.0] * 5 + [5.0] * 5 + [5.0]
    assert "measured" in left.get_title(loc="left")
    courses = left.get_lines()[0].get_ydata()
    assert 0 < courses.min() < courses.max() < 2.0
