"""Search of environments: aims by hand, families and their bounds, a small search end to end, bad
input."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from cwndlab import environments, run
from cwndlab import searches as search
from cwndlab.cli.options import rules_of
from cwndlab.errors import ScenarioError
from cwndlab.searches import FAMILIES, Objective, family, read_bounds

A, B, C = "AIMD(1, 0.8)", "AIAD(1, 3)", "MIMD(1.125, 0.8)"
# Two replicates by hand: A is ahead of B by 0.1 and 0.2; C is behind B by 0.3 and 0.05.
VALUES = {A: np.array([0.9, 0.8]), B: np.array([0.8, 0.6]), C: np.array([0.5, 0.55])}


@pytest.mark.parametrize(
    ("objective", "margins"),
    [
        (Objective(best=A, rules=(A, B, C)), [0.1, 0.2]),
        (Objective(worst=C, rules=(A, B, C)), [0.3, 0.05]),
        (Objective(best=A, worst=C, rules=(A, B, C)), [0.1, 0.05]),
        (Objective(best=B, rules=(A, B, C)), [-0.1, -0.2]),
        (Objective(worst=A, rules=(A, B, C)), [-0.4, -0.25]),
        # Of losses less is better.
        (Objective(best=C, rules=(A, B, C), metric="loss_rate"), [0.3, 0.05]),
    ],
)
def test_margins_by_hand(objective, margins):
    assert objective.margins(VALUES) == pytest.approx(margins)


def test_a_rule_does_not_win_by_pushing_cross_traffic_out():
    # Goodput over what was asked for is above 1 where the cross traffic lost packets: what it
    # really left counts.
    assert Objective(best=A).value({"goodput": 1.3, "goodput_left": 0.9}) == 0.9
    assert Objective(best=A).value({"goodput": 0.7, "goodput_left": 0.9}) == 0.7
    assert Objective(best=A).value({"goodput": 0.7, "goodput_left": None}) == 0.7
    assert Objective(best=A, metric="loss_rate").value({"loss_rate": 0.1}) == 0.1


@pytest.mark.parametrize("name", list(FAMILIES))
def test_every_position_is_a_waveform_within_its_bounds(name):
    found = family(name)
    stream = np.random.default_rng(1)
    corners = [np.zeros(len(found.parameters)), np.ones(len(found.parameters))]
    for position in [*corners, *stream.random((50, len(found.parameters)))]:
        values = found.values(position)
        for parameter in found.parameters:
            assert (
                parameter.low * (1 - 1e-9) <= values[parameter.name] <= parameter.high * (1 + 1e-9)
            )
        assert values["low"] <= values["high"] * (1 + 1e-9)


@pytest.mark.parametrize("name", list(FAMILIES))
def test_waveforms_leave_the_bandwidth_that_they_say(name):
    # Mean of what is left over whole periods, by hand: ten flows, high 4 Mb/s, low 1 Mb/s.
    values = {"high": 4e6, "low": 1e6, "period": 2.0, "duty": 0.25, "step": 0.5, "spread": 0.1}
    found = family(name)
    shape = found.shape({parameter.name: values[parameter.name] for parameter in found.parameters})
    small = environments.Assumptions(duration="10s", profile="ns2-2.35")
    tables = environments.under(shape, "drop-tail", small)
    result = run(environments.document(tables, small))
    asked = float(result.links.filter(pl.col("link") == "bottleneck")["available_bps"][0]) / 10e6
    exact = {"square": 0.25 * 4 + 0.75 * 1, "saw-tooth": 2.5}
    if name in exact:
        assert asked == pytest.approx(exact[name], rel=1e-3)
    else:
        assert 1.0 <= asked <= 4.0
    assert tables["dumbbell"]["rate"] == "40Mbit"


def test_bounds_are_read_and_refused():
    assert read_bounds("square", ["period=500ms..2s"]) == {"period": (0.5, 2.0)}
    for texts in (
        ["speed=1..2"],
        ["high=2..1"],
        ["high=fast"],
        ["duty=0.1..1"],
        ["duty"],
        ["low=0"],
        ["high=1Mbit..x"],
    ):
        with pytest.raises(ScenarioError, match=r"bound.* is not valid: expected "):
            read_bounds("square", texts)
    with pytest.raises(ScenarioError, match=r'"blob".*square'):
        family("blob")
    with pytest.raises(
        ScenarioError, match='bound: "duty" is not known: expected high, low or period'
    ):
        family("saw-tooth").bounded({"duty": (0.1, 0.2)})


def test_aims_are_refused_with_what_is_allowed():
    for given, words in (
        ({}, "best or worst is missing"),
        ({"best": A, "worst": A}, "`best` and `worst` must name different rules"),
        ({"best": A, "rules": (A,)}, "two rules or more"),
        ({"best": "AIMD(1, 0.5)"}, r"is not known: expected AIMD\(1, 0.8\)"),
        ({"best": A, "metric": "speed"}, '"speed" is not known: expected goodput'),
    ):
        with pytest.raises(ScenarioError, match=words):
            Objective(**given)
    with pytest.raises(ScenarioError, match="budget: 4 is not valid"):
        search.search(best=A, budget=4)


def test_rules_are_split_outside_their_parentheses():
    split = rules_of("--rules", ("AIMD(1, 0.8), AIAD(1,3)", "CUBIC"))
    assert split == ["AIMD(1, 0.8)", "AIAD(1,3)", "CUBIC"]
    assert rules_of("--rules", ("AIMD(1, 0.8",)) == ["AIMD(1, 0.8"]


def test_a_search_finds_what_is_known_to_be_there():
    # A square wave of 20 s between 0.2 and 4 Mb/s: one packet a round trip takes longer than a half
    # period to climb (60 packets of 1000 bytes at 120 ms), a doubling every two round trips does
    # not.
    rules = ("AIMD(1, 0.5)", "MIMD(1.4, 0.5)")
    bound = {"high": (4e6, 4e6), "low": (0.1e6, 3.9e6), "period": (4.0, 12.0), "duty": (0.5, 0.5)}
    found = search.search(
        best=rules[1], rules=rules, bound=bound, budget=10, replicates=1, confirm=3, duration="24s"
    )
    assert found.is_met
    # Where little is left in between there is more to climb.
    assert found.values["low"] < 2e6
    assert (found.values["high"], found.values["duty"]) == pytest.approx((4e6, 0.5))
    assert len(found.history) == found.tried == 10
    assert found.tables["tried"]["margin"].max() == pytest.approx(
        max(entry["margin"] for entry in found.history)
    )
    assert found.runs == 2 * (10 * 1 + 4 * 5 + 3)


@pytest.mark.slow
def test_the_command_resumes_and_says_the_same(tmp_path):
    command = [sys.executable, "-m", "cwndlab", "search", "--best", "AIAD(1,3)", "--rules",
               "AIMD(1, 0.8), AIAD(1, 3)",
               "--budget", "5", "--replicates", "1", "--confirm", "2", "--duration", "4s",
               "--out", "found", "--json"]  # fmt: skip
    first, second = (
        json.loads(subprocess.check_output(command, text=True, cwd=tmp_path)) for _ in range(2)
    )
    # Every run of the second is in the store, which asks for the same ones.
    assert {key: value for key, value in first.items() if key != "wall_s"} == {
        key: value for key, value in second.items() if key != "wall_s"
    }
    assert first["waveforms_tried"] == 5
    assert set(first["rules"]) == {"AIMD(1, 0.8)", "AIAD(1, 3)"}
    assert json.loads((tmp_path / "found/found.json").read_text())["values"] == first["values"]
    assert pl.read_parquet(tmp_path / "found/tried.parquet").height == 5
    assert (tmp_path / "found/plot.png").stat().st_size > 10_000


def test_bad_input_is_one_line(command):
    for arguments, words in (
        ([], "best or worst is missing"),
        (["--best", "X"], 'rule: "X" is not known'),
        (["--best", "AIAD(1,3)", "--family", "blob"], 'family: "blob"'),
        (["--best", "AIAD(1,3)", "--bound", "speed=3"], 'bound: "speed=3"'),
        (["--best", "AIAD(1,3)", "--setting", "sack"], "--setting"),
        (["--best", "AIAD(1,3)", "--setting", "sack/blob"], 'queue: "blob" is not known'),
        (["--best", "AIAD(1,3)", "--rules", "AIMD(1, 0.8),,AIAD(1, 3)"], "--rules"),
        (["--best", "AIAD(1,3)", "--budget", "2"], "--budget"),
    ):
        answer = command("search", *arguments)
        assert answer.returncode == 2, arguments
        assert words in answer.stderr
        assert answer.stderr.count("\n") == 1
