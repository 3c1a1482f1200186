"""`compare --against`: share and harm of one rule beside another, by hand, by closed forms and on
small runs."""

from __future__ import annotations

import functools
import json
import math

import polars as pl
import pytest
from scipy import stats

import cwndlab
from cwndlab.cli.compare_against import print_pairwise
from cwndlab.environments import Assumptions
from cwndlab.runs.collection import collect
from cwndlab.statistics import estimate

STANDARD = "AIMD(1, 0.5)"
STEEP = "MIMD(1.125, 0.8)"
_planned = functools.partial(cwndlab.against, run=False)


def _mean(pairwise, rule, measure, **where):
    (row,) = pairwise.summary.filter(rule=rule, measure=measure, **where).to_dicts()
    return row["mean"], row["ci95_low"], row["ci95_high"]


def _row(pairwise, rule, replicate, **measured):
    """A finished run as `Collection.add` would enter it."""
    (index,) = [
        run.index
        for run in pairwise.plan
        if run.cell["rule"] == rule and run.replicate == replicate
    ]
    cell = {"recovery": "sack", "queue": "drop-tail", "env": "link", "flows": "2", "rule": rule}
    pairwise.measured[index] = {
        **cell,
        "replicate": replicate,
        "seed": 1 + replicate,
        "trace_hash": "",
        **measured,
    }


def test_harm_by_hand():
    """Beside CUBIC 3 and 1 Mbit/s a flow, beside flows of their own rule 4 and 4.

    Harm 1/4 and 3/4, in the mean 1/2.
    """
    pairwise = _planned(["CUBIC"], STANDARD, flows=[2], replicates=2)
    _row(pairwise, "CUBIC", 0, share=0.625, against_goodput_bps=3e6, both_goodput_bps=4e6)
    _row(pairwise, "CUBIC", 1, share=0.875, against_goodput_bps=1e6, both_goodput_bps=4e6)
    _row(
        pairwise,
        STANDARD,
        0,
        share=0.5,
        against_goodput_bps=4e6,
        both_goodput_bps=4e6,
        both_rtt_s=0.2,
    )
    assert pairwise.runs.filter(rule="CUBIC")["harm"].to_list() == [0.25, None]
    assert pairwise.runs.filter(rule="CUBIC")["baseline_rtt_s"].to_list() == [0.2, None]
    _row(pairwise, STANDARD, 1, share=0.5, against_goodput_bps=4e6, both_goodput_bps=4e6)
    # Two replicates: t(1, 0.975) = 12.7062 (tables), half-width t * |a - b| / 2; harm is at most 1,
    # so on a logarithmic scale of its distance from there, 0.5.
    mean, low, high = _mean(pairwise, "CUBIC", "harm")
    assert mean == 0.5
    assert 1 - high == pytest.approx(0.5 * math.exp(-12.7062 * 0.5 / 2 / 0.5), rel=1e-3)
    # The other end is cut where that of a count ends which is known as well, of n events with
    # z / sqrt(n) of the mean (chi-squared).
    count = (1.95996 / (12.7062 * 0.5 / 2 / 0.5)) ** 2
    cut = stats.chi2.ppf(0.975, 2 * count + 2) / (2 * count)
    assert 1 - low == pytest.approx(0.5 * cut, rel=1e-3)
    assert _mean(pairwise, "CUBIC", "share")[0] == 0.75


def test_the_network_is_one_link_whatever_the_number_of_flows():
    pairwise = _planned(
        ["CUBIC"], STANDARD, flows=[1, 8], queue=["drop-tail", "ecn"], replicates=1, rate="30Mbit"
    )
    found = {
        (run.cell["flows"], run.cell["queue"], run.cell["rule"]): run.document
        for run in pairwise.plan
    }
    for (count, queue, rule), document in found.items():
        assert document["dumbbell"]["rate"] == "30Mbit"
        assert "cross" not in document
        assert [(flow["name"], flow["rule"], flow["count"]) for flow in document["flows"]] == [
            ("rule", rule, int(count)), ("against", STANDARD, int(count)),
        ]  # fmt: skip
        # All flows understand marks where the queue sets them, and none where it does not.
        assert [flow.get("tcp") for flow in document["flows"]] == [
            {"ecn": True} if queue == "ecn" else None
        ] * 2
    assert {rule for _, _, rule in found} == {"CUBIC", STANDARD}


def test_the_baseline_has_the_round_trips_and_starts_of_the_mixed_run():
    pairwise = _planned(["CUBIC"], STANDARD, flows=[3], replicates=2, duration=5.0)
    collect(pairwise, trace={"packets": True})
    base = {}
    for replicate in (0, 1):
        mixed, own = (
            pairwise.result(replicate=replicate, rule=rule) for rule in ("CUBIC", STANDARD)
        )
        assert mixed.flows["rule"].to_list() == ["CUBIC"] * 3 + [STANDARD] * 3
        assert own.flows["rule"].to_list() == [STANDARD] * 6
        base[replicate] = mixed.flows["base_rtt_s"].to_list()
        assert base[replicate] == own.flows["base_rtt_s"].to_list()
    assert base[0] != base[1]
    sends = [
        pairwise.result(rule=rule).traces["packets"].filter(event="send")
        for rule in ("CUBIC", STANDARD)
    ]
    starts = [frame.group_by("flow").agg(pl.col("time_s").min()).sort("flow") for frame in sends]
    assert starts[0].equals(starts[1])
    assert starts[0]["time_s"].n_unique() == 6


def test_a_rule_against_itself_shares_in_halves():
    pairwise = cwndlab.against(
        STANDARD, STANDARD, flows=[4], queue=["drop-tail", "red"], replicates=20, duration=60.0
    )
    assert pairwise.rules == [STANDARD]
    assert pairwise.runs.height == 2 * 20
    for queue in ("drop-tail", "red"):
        shares = pairwise.runs.filter(queue=queue)["share"]
        # At 99.9 %, as one of twenty intervals of 95 % is meant to miss.
        found = estimate(shares, 0.999, (0.0, 1.0))
        assert found.low <= 0.5 <= found.high
        assert found.half_width < 0.2
        assert shares.std() > 0
        # Both groups together are the baseline: 1 - a / ((r + a) / 2) = 2 share - 1.
        harms = pairwise.runs.filter(queue=queue)["harm"]
        assert harms.to_list() == pytest.approx((2 * shares - 1).to_list())


@pytest.fixture(scope="module")
def steep():
    return cwndlab.against(
        STEEP,
        STANDARD,
        flows=[2, 4],
        queue=["drop-tail", "drr", "fq-codel"],
        replicates=10,
        duration=60.0,
    )


def test_mimd_harms_aimd_behind_drop_tail(steep):
    for flows in (2, 4):
        where = {"queue": "drop-tail", "flows": flows}
        assert _mean(steep, STEEP, "share", **where)[1] > 0.5
        assert _mean(steep, STEEP, "harm", **where)[1] > 0.25
        assert _mean(steep, STEEP, "against_loss_rate", **where) > _mean(
            steep, STEEP, "baseline_loss_rate", **where
        )


def test_fair_queues_keep_the_harm_away(steep):
    """DRR gives each flow with a backlog its part.

    CoDel in each queue cuts AIMD below it, but who is beside hardly.
    """
    for flows in (2, 4):
        before = _mean(steep, STEEP, "harm", queue="drop-tail", flows=flows)[0]
        assert abs(_mean(steep, STEEP, "harm", queue="drr", flows=flows)[0]) < 0.01
        assert abs(_mean(steep, STEEP, "share", queue="drr", flows=flows)[0] - 0.5) < 0.01
        assert abs(_mean(steep, STEEP, "harm", queue="fq-codel", flows=flows)[0]) < before / 4


def test_shares_of_both_sides_make_up_the_whole():
    """Which of two rules is called the other must not matter: a takes from b what b leaves to a."""
    choices = {"flows": [4], "queue": ["red"], "replicates": 8, "duration": 40.0}
    one = _mean(cwndlab.against("CUBIC", STANDARD, **choices), "CUBIC", "share")
    two = _mean(cwndlab.against(STANDARD, "CUBIC", **choices), STANDARD, "share")
    assert one[0] > 0.5 > two[0]
    assert abs(one[0] + two[0] - 1) <= one[1] + two[1]


@pytest.mark.parametrize(
    ("rule", "ratio"),
    # AIMD's rate at a loss rate is as sqrt(a (1 + b) / (2 (1 - b))) (Yang and Lam 2000, equation
    # 3), b what is kept.
    [
        ("AIMD(2, 0.5)", math.sqrt(2)),
        ("AIMD(4, 0.5)", 2.0),
        ("AIMD(0.31, 0.875)", math.sqrt(0.31 * 1.875 / 0.25 / 1.5)),
    ],
)
def test_shares_behind_red_are_those_of_the_square_root_law(rule, ratio):
    """Where both see one loss rate and one round trip, shares are as the rates that the formula
    gives.

    The law is one of losses that come alone and of windows well above a packet; behind RED they
    come in small groups. So the share may be off by 0.025, less than half of what the nearest of
    these shares (0.555) is from equal ones.
    """
    pairwise = cwndlab.against(
        rule, STANDARD, flows=[8], queue=["red"], replicates=8, duration=60.0, profile="ns2-2.35"
    )
    share, low, high = _mean(pairwise, rule, "share")
    assert high - low < 0.04
    assert share == pytest.approx(ratio / (1 + ratio), abs=0.025)


def test_environments_grow_with_the_flows_and_drawn_ones_have_a_course_per_replicate():
    pairwise = _planned(["CUBIC"], STANDARD, flows=[1, 5], env=["SQL", "RWM", "RSQ"], replicates=2)
    found = {
        (run.cell["env"], run.cell["flows"], run.cell["rule"], run.replicate): run.document
        for run in pairwise.plan
    }
    assert [found["SQL", flows, "CUBIC", 0]["dumbbell"]["rate"] for flows in ("1", "5")] == [
        "20Mbit",
        "100Mbit",
    ]
    course = {
        key: found[key]["cross"][0]["available"]["points"] for key in found if key[0] == "RWM"
    }
    assert course["RWM", "5", "CUBIC", 0] == course["RWM", "5", STANDARD, 0]
    assert course["RWM", "5", "CUBIC", 0] != course["RWM", "5", "CUBIC", 1]
    others = [flow["name"] for flow in found["RSQ", "5", "CUBIC", 0]["flows"]]
    assert others[:2] == ["rule", "against"]
    assert len(others) == 3
    pairwise.plan.check()


def test_what_is_not_finished_has_no_harm_and_is_still_printed(capsys):
    pairwise = _planned(["CUBIC"], STANDARD, flows=[2], replicates=2, duration=3.0)

    def stop(run, _result):
        if run.index == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        collect(pairwise, jobs=1, on_run=stop)
    assert not pairwise.complete
    assert pairwise.runs["rule"].to_list() == ["CUBIC"] * 2
    assert pairwise.runs["harm"].to_list() == [None] * 2
    assert pairwise.runs["share"].null_count() == 0
    print_pairwise(pairwise)
    line = next(
        line for line in capsys.readouterr().out.splitlines() if "CUBIC" in line and "2 + 2" in line
    )
    assert " - " in line
    assert json.loads(pairwise.to_json())["complete"] is False


def test_picture_has_a_line_per_queue_or_a_column(steep):
    figure = steep.plot()
    assert [axes.get_ylabel() for axes in figure.axes] == [
        f"share of goodput\nthat {STEEP} gets", f"harm to\n{STANDARD}",
    ]  # fmt: skip
    assert figure.axes[1].get_xlabel() == "flows of each kind"
    labels = figure.axes[0].get_legend_handles_labels()[1]
    assert labels == ["drop-tail", "drr", "fq-codel"]
    drawn = figure.axes[0].containers[0].lines[0].get_ydata()
    expected = steep.summary.filter(rule=STEEP, measure="share", queue="drop-tail")["mean"]
    assert list(drawn) == expected.to_list()
    several = _planned(
        ["CUBIC", STEEP], STANDARD, flows=[1], queue=["red", "drr"], replicates=1, duration=3.0
    )
    figure = collect(several).plot()
    assert [axes.get_title(loc="left") for axes in figure.axes[:2]] == ["red", "drr"]
    assert figure.axes[0].get_legend_handles_labels()[1] == ["CUBIC", STEEP]


def test_assumptions_reach_the_link():
    pairwise = _planned(
        ["CUBIC"], STANDARD, flows=[2], assume=Assumptions(rtt="60ms", buffer="0.5bdp")
    )
    document = next(iter(pairwise.plan)).document
    assert document["bdp"] == {"rate": "20Mbit", "rtt": "60ms"}
    assert document["dumbbell"]["queue"] == {"kind": "drop-tail", "limit": "0.5bdp"}


@pytest.mark.slow
def test_cli_json_tables_and_picture(cli, tmp_path):
    answer = cli(
        "compare", "CUBIC", STANDARD, "--against", "AIMD(1,.5)", "--flows", "1,2", "--queue",
        "drop-tail,drr",
        "--replicates", "2", "--duration", "5s", "--jobs", "2", "--json", "--out", "result",
        "--plot", "share.png",
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    data = json.loads(answer.stdout)
    assert data["complete"] is True
    assert (data["against"], data["rules"]) == (STANDARD, ["CUBIC", STANDARD])
    assert len(data["runs"]) == 2 * 2 * 2 * 2
    for run in data["runs"]:
        goodput = {flow["group"]: 0.0 for flow in run["result"]["flows"]}
        for flow in run["result"]["flows"]:
            goodput[flow["group"]] += flow["goodput_bps"]
        assert run["share"] == pytest.approx(
            goodput["rule"] / (goodput["rule"] + goodput["against"])
        )
    assert pl.read_parquet(tmp_path / "result/runs.parquet").height == 16
    assert (
        pl.read_parquet(tmp_path / "result/summary.parquet")
        .filter(measure="harm")["mean"]
        .null_count()
        == 0
    )
    assert len(list((tmp_path / "result/runs").glob("*/run.json"))) == 16
    assert (tmp_path / "share.png").stat().st_size > 20_000


def test_cli_table(cli):
    choices = ["--flows", "2", "--replicates", "2", "--duration", "5s", "--recovery", "reno"]
    answer = cli(
        "compare", "CUBIC", "--against", "NewReno", *choices, "--set", "flows.rule.recovery=sack"
    )
    assert answer.returncode == 0, answer.stderr
    assert "against NewReno, reno over drop-tail, profile linux" in answer.stdout
    rows = [line for line in answer.stdout.splitlines() if "2 + 2" in line]
    # The other rule by itself is run, and not shown: nobody asked for it.
    assert len(rows) == 1
    assert rows[0].startswith(" CUBIC")
    for word in (
        "share of",
        "harm to",
        "baseline",
        "95 % CI",
        "0.5 is fair",
        "[Mbit/s]",
        "RTT [ms]",
        "loss [%]",
        "the other",
        "without",
    ):
        assert word in answer.stdout


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--against", "AMD(1, 0.5)"], ["AMD", "AIMD"]),
        (["--against", "CUBIC", "--flows", "0"], ["flows: 0 ", "1 to 10000"]),
        (["--against", "CUBIC", "--flows", "1,two"], ['--flows: "two"', "1 to 10000"]),
        (["--against", "CUBIC", "--flows", "1,"], ["--flows", "empty"]),
        (["--against", "CUBIC", "--rate", "fast"], ['rate: "fast"', "20Mbit"]),
        (["--against", "CUBIC", "--rate", "0"], ['rate: "0"', "above 0"]),
        (["--against", "CUBIC", "--rate", "5Mbit", "--env", "CL"], ["--rate", "--env"]),
        (["--against", "CUBIC", "--env", "CM"], ["env", "CM", "RSQ"]),
        (["--against", "CUBIC", "--queue", "fifo"], ["queue", "fifo", "drop-tail"]),
        (["--against", "CUBIC", "--recovery", "sak"], ["recovery", "sak", "sack"]),
        (["--against", "CUBIC", "--detail"], ["--detail", "--against"]),
        (["--against", "CUBIC", "--assume", "flows=3"], ["--assume", "flows", "--flows"]),
        (["--flows", "3"], ["--flows", "--against"]),
        (["--rate", "3Mbit"], ["--rate", "--against"]),
    ],
)
def test_bad_options(command, arguments, named):
    answer = command("compare", "CUBIC", *arguments)
    assert answer.returncode == 2, answer.stderr
    assert answer.stdout == ""
    *_, line = answer.stderr.splitlines()
    assert line.startswith("error: ")
    for word in named:
        assert word in line


@pytest.mark.parametrize("flows", [[0], [-1], [1.0], [True], ["2"]])
def test_python_refuses_what_is_no_number_of_flows(flows):
    with pytest.raises(cwndlab.ScenarioError, match=r"flows: .* whole numbers from 1 to"):
        _planned(["CUBIC"], STANDARD, flows=flows)


def test_python_refuses_empty_lists():
    with pytest.raises(cwndlab.ScenarioError, match="flows"):
        _planned(["CUBIC"], STANDARD, flows=[])
    with pytest.raises(cwndlab.ScenarioError, match="queue"):
        _planned(["CUBIC"], STANDARD, queue=[])
    with pytest.raises(cwndlab.ScenarioError, match="rules"):
        _planned([], STANDARD)
