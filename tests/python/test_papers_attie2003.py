"""attie2003: its folder is whole, its model says what can be worked out by hand, its phases are
read off traces."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import cwndlab_papers as reproduce
from cwndlab_papers import Claim, Data, ResultsGrid, reading
from whole_papers import check_whole

# The catalogue of experiments has these of the paper; `assumed` shows what is left open.
CATALOGUE = {"model", "fig3-8", "fig9-10", "fig11-12", "coexist"}
RULES = ("AIMD(1, 0.5)", "Bimodal(1, 0.5, 0.5)")


@pytest.fixture(scope="module")
def paper():
    return reproduce.load("attie2003")


def test_the_paper_is_whole(paper):
    check_whole(paper, CATALOGUE)
    for claim in (*paper.claims, *(number.claim for number in paper.published)):
        assert claim.is_exact == (claim.id == "model")
    assert set(paper.measures) == {"joins", "halving"}


def test_every_run_is_as_the_paper_states(paper):
    """Section 3: SACK, 100 Mb/s, RED, a buffer of one bandwidth-delay product, 60 s, 30
    experiments, three epsilons."""
    sweep = paper.sweep("stationary")
    document = sweep.plan.cell(0).document()
    assert sweep.replicates == 30
    assert document["dumbbell"]["rate"] == "100Mbit"
    assert document["dumbbell"]["queue"] == {"kind": "red", "limit": "1bdp"}
    assert document["measure"] == ["0s", "60s"]
    assert {level.label for level in sweep.plan.axes["rule"]} == set(paper.rules.values())
    assert [level.label for level in sweep.plan.axes["recovery"]] == ["sack"]


def test_flows_join_by_thirty_and_leave_by_halves(paper):
    for plan, counts in (("joins", [30, 60, 90, 120]), ("halving", [120, 60, 30, 15])):
        present = paper.module("measures").is_present
        flows = [
            f"{group['name']}-{at}"
            for group in paper.sweep(plan).plan.cell(0).document()["flows"]
            for at in range(group["count"])
        ]
        assert [sum(present(flow, phase) for flow in flows) for phase in range(4)] == counts
        experiment = next(entry for entry in paper.experiments.values() if plan in entry.plans)
        assert experiment.arguments["counts"] == counts


def test_phases_of_a_made_up_trace_by_hand(paper):
    # First phase: one flow with 60 Mb/s. Second: 30 and 10, and 5 that the first flow to leave
    # still had under way.
    rows = [
        (0.0, "until-15-0", 60e6), (0.0, "until-60-0", 20e6), (0.0, "until-60-1", 20e6),
        (15.0, "until-15-0", 5e6), (15.0, "until-60-0", 30e6), (15.0, "until-60-1", 10e6),
    ]  # fmt: skip
    rate = pl.DataFrame(rows, schema=["time_s", "flow", "goodput_bps"], orient="row")
    found = paper.module("measures").phases({}, {"rate": rate})
    assert found["goodput.0"] == pytest.approx(1.0)
    # (60 + 20 + 20)^2 / (3 (3600 + 400 + 400)); (30 + 10)^2 / (2 (900 + 100)).
    assert found["jain.0"] == pytest.approx(10_000 / 13_200)
    assert found["goodput.1"] == pytest.approx(0.45)
    assert found["jain.1"] == pytest.approx(0.8)
    with pytest.raises(ValueError, match=r"\"tcp-0\".*from-15-0"):
        paper.module("measures").is_present("tcp-0", 0)


def test_the_model_by_hand(paper):
    model = paper.module("model")
    # Two flows from 10 and 60, B = 100: both grow by 15 to 25 + 75, are halved, and grow by 25
    # each: 2 x 25 = 100 / 2.
    course = model.theory.simulate(
        "Bimodal(1, 0.5, 0.125)", [10, 60], capacity=100, steps=200, exact=True
    )
    assert model.cycles_to_know(course) == 2
    assert model.oscillation(course) == pytest.approx(0.125)
    # AIMD has signals at 15, 40, ..., and halves the gap of 50 with each: after the fifth, at 115,
    # it is 1.5625. The spread is 0.05 or below once the mean, 25 and 1 more a round trip, is 31.25:
    # after seven more.
    aimd = model.theory.simulate("AIMD(1, 0.5)", [10, 60], capacity=100, steps=300, exact=True)
    settled, is_bound = model.steps_to_settle(aimd)
    gap = np.abs(np.diff(aimd.loads, axis=1)).ravel()
    assert not is_bound
    assert aimd.signals[0] == 15
    assert settled == pytest.approx(115 + 7)
    assert gap[aimd.signals[4] + 1] == pytest.approx(50 / 2**5)


def test_factor_between_flows_beside_each_other_by_hand(paper):
    # Two numbers of flows: the rule has 1.5 and 0.5 of an AIMD flow's goodput: a factor of 2 is the
    # larger.
    values = {
        "flows.own.goodput_bps": np.array([[[[3e6], [9e6]], [[1e6], [9e6]]]]),
        "flows.other.goodput_bps": np.array([[[[2e6], [9e6]], [[2e6], [9e6]]]]),
    }
    board = ResultsGrid(
        ("sack/red",), ("10", "100"), ("Bimodal(1, 0.5, 0.5)", "AIMD(1, 0.5)"), values
    )
    data = Data({"coexist": board}, {})
    given = {"plan": "coexist", "settings": "all"}
    for rule, factor in (("Bimodal(1, 0.5, 0.5)", 2.0), ("AIMD(1, 0.5)", 1.0)):
        claim = Claim(
            "coexist",
            "x",
            "",
            "",
            reading("about-equal"),
            "rate_factor",
            arguments={**given, "of": [rule]},
        )
        assert paper.quantity(claim)(data, claim) == pytest.approx(factor)


def test_gains_by_hand(paper):
    # Goodput of AIMD 0.8, 0.9; of Bimodal 0.84, 0.9: 5 % and nothing more.
    values = {"goodput": np.array([[[[0.8], [0.84]], [[0.9], [0.9]]]])}
    data = Data({"p": ResultsGrid(("sack/red",), ("10", "100"), RULES, values)}, {})
    given = {
        "plan": "p",
        "metric": "goodput",
        "settings": "all",
        "of": [RULES[1]],
        "over": [RULES[0]],
    }
    for changes, expected in (
        ({"by": "relative", "pick": "largest", "stated": 0.1}, 0.5),
        ({"by": "difference", "pick": "mean"}, 0.02),
        ({"by": "ratio", "pick": "smallest"}, 1.0),
        ({"by": "difference", "pick": "furthest", "cases": ["100"]}, 0.0),
    ):
        claim = Claim(
            "x", "x", "", "", reading("better"), "advantage", arguments={**given, **changes}
        )
        assert paper.quantity(claim)(data, claim) == pytest.approx(expected)
    lost = Claim("x", "x", "", "", reading("better"), "lost_gain", arguments=given)
    assert paper.quantity(lost)(data, lost) == pytest.approx(0.04)


def test_deviation_needs_two_replicates(paper):
    values = {"goodput": np.array([[[[0.9, 1.1]]]])}
    claim = Claim("x", "x", "", "", reading("steady"), "deviation",
                  arguments={"plan": "p", "metric": "goodput", "settings": "all"})  # fmt: skip
    data = Data({"p": ResultsGrid(("sack/red",), ("10",), RULES[:1], values)}, {})
    # Deviations of 0.1 on either side of 1, divided by n - 1 = 1.
    assert paper.quantity(claim)(data, claim) == pytest.approx(np.sqrt(0.02))
    assert np.isnan(paper.quantity(claim)(Data(data.boards, {}, (0,)), claim))
