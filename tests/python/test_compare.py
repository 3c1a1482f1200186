"""`compare`: what it runs, what it computes, what it prints and writes."""

from __future__ import annotations

import json
import math
import re

import polars as pl
import pytest
from scipy import stats

import cwndlab
from cwndlab.comparison import Comparison, plan_rules
from cwndlab.environments import Assumptions
from cwndlab.metrics import BY_KEY, USUAL, measure
from cwndlab.runs.collection import collect

RULES = ["AIMD(1, 0.8)", "AIAD(1, 3)"]


@pytest.fixture(scope="module")
def comparison():
    plan = plan_rules(
        RULES, env=["constant", "square"], recovery=["sack", "reno"], replicates=2,
        assume=Assumptions(duration="10s", profile="ns2-2.35"),
    )  # fmt: skip
    return collect(Comparison(plan))


def test_every_cell_ran(comparison):
    assert comparison.complete
    assert comparison.runs.height == 2 * 2 * 2 * 2
    assert set(comparison.runs["seed"]) == {1, 2}
    assert comparison.runs["trace_hash"].n_unique() == 16
    assert comparison.summary.height == 8 * len(USUAL)


def test_summary_is_the_mean_of_the_runs(comparison):
    for row in comparison.summary.filter(metric="goodput").to_dicts():
        cell = {key: row[key] for key in ("recovery", "queue", "env", "rule")}
        first, second = comparison.runs.filter(**cell)["goodput"]
        assert row["mean"] == pytest.approx((first + second) / 2)
        # Two replicates: t(1, 0.975) = 12.7062 (tables), s = |a - b| / sqrt(2), so t * s / sqrt(2)
        # = t * |a - b| / 2; over the mean, on a logarithmic scale. It ends where that of a count
        # does which is known as well: n events with z / sqrt(n) of the mean (chi-squared).
        part = 12.7062 * abs(first - second) / (first + second)
        count = (1.95996 / part) ** 2
        high = min(math.exp(part), stats.chi2.ppf(0.975, 2 * count + 2) / (2 * count))
        low = max(math.exp(-part), stats.chi2.ppf(0.025, 2 * count) / (2 * count))
        assert row["ci95_high"] == pytest.approx(row["mean"] * high, rel=1e-3)
        assert row["ci95_low"] == pytest.approx(row["mean"] * low, rel=1e-3)


def _rtts(p50: float, p95: float, p99: float, p999: float) -> dict[str, float]:
    return {"p50_rtt_s": p50, "p95_rtt_s": p95, "p99_rtt_s": p99, "p999_rtt_s": p999}


def test_metrics_by_hand():
    link = {
        "link": "bottleneck",
        "available_bps": 8e6,
        "left_bps": 10e6,
        "mean_queueing_delay_s": 0.02,
        "p50_queueing_delay_s": 0.01,
        "p95_queueing_delay_s": 0.04,
        "p99_queueing_delay_s": 0.05,
        "p999_queueing_delay_s": 0.06,
        "marked_packets": 7,
        "l4s_marked_packets": 2,
    }
    flows = [
        {"dropped_packets": 3, "sent_packets": 100, "timeouts": 1, **_rtts(0.1, 0.2, 0.3, 0.5)},
        {"dropped_packets": 1, "sent_packets": 300, "timeouts": 2, **_rtts(0.2, 0.4, 0.6, 0.7)},
    ]
    run = {
        "aggregate_goodput_bps": 6e6,
        "fairness_spread": 0.4,
        "jain_index": 0.9,
        "active_jain_index": 0.95,
        "lowest_share": 0.5,
        "flows": flows,
        "links": [link],
    }
    found = measure(run)
    others = {key for key in found if found[key] is None}
    # What is recorded on request, and what only web pages and videos have.
    assert others == {
        "starved_s", "convergence_s", "unconverged_flows", "mean_page_load_s", "p95_page_load_s",
        "startup_delay_s", "rebuffering_s", "rebuffering_share", "rebufferings",
        "mean_bitrate_bps", "bitrate_switches",
    }  # fmt: skip
    assert {key: found[key] for key in found if key not in others} == pytest.approx({
        "goodput": 0.75, "loss_rate": 0.01, "mean_queueing_delay_s": 0.02, "fairness_spread": 0.4,
        "p50_queueing_delay_s": 0.01, "p95_queueing_delay_s": 0.04, "p99_queueing_delay_s": 0.05,
        "p999_queueing_delay_s": 0.06, "p50_rtt_s": 0.15, "p95_rtt_s": 0.3, "p99_rtt_s": 0.45,
        "p999_rtt_s": 0.6, "l4s_marked_packets": 2, "classic_marked_packets": 5,
        "jain_index": 0.9, "active_jain_index": 0.95, "lowest_share": 0.5, "timeouts": 3,
        "goodput_left": 0.6,
    })  # fmt: skip
    # Where arriving flows are the cross traffic nothing was asked for: what they left counts.
    assert measure({**run, "arrivals": [{"group": "cross"}]})["goodput"] == 0.6
    with pytest.raises(ValueError, match=r'link: "other" .* expected bottleneck'):
        measure(run, "other")


def test_goodput_is_about_the_payload_share_at_most(comparison):
    # 1000-byte payloads under 40-byte headers. The flows get more where the cross traffic loses
    # packets too (the square wave's low half), but with a constant rate hardly any.
    share = 1000 / 1040
    assert comparison.runs.filter(env="constant")["goodput"].max() < share * 1.01
    assert comparison.runs["goodput"].max() < share * 1.1
    assert comparison.runs["goodput"].min() > 0.5


def test_canonical_rules_count_once():
    plan = plan_rules(["AIMD(1,.5)", "AIMD(1, 0.5)"])
    assert [level.label for level in plan.axes["rule"]] == ["AIMD(1, 0.5)"]


def test_traces_of_replicate_0_only():
    plan = plan_rules(["AIMD(1, 0.8)"], replicates=2, duration_s=5)
    traced = collect(Comparison(plan), trace={"cwnd": "100ms"})
    assert set(traced.result(replicate=0).traces) == {"cwnd"}
    assert traced.result(replicate=1).traces == {}
    assert (
        traced.runs["trace_hash"].to_list()
        == collect(Comparison(plan)).runs["trace_hash"].to_list()
    )


@pytest.mark.slow
def test_cli_json_and_out(cli, tmp_path):
    answer = cli(
        "compare", *RULES, "--env", "constant,walk", "--replicates", "2", "--duration", "5s",
        "--jobs", "2",
        "--json", "--out", "result", "--plot", "bars.png",
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    data = json.loads(answer.stdout)
    assert data["complete"] is True
    assert len(data["runs"]) == 8
    assert {run["env"] for run in data["runs"]} == {"constant", "walk"}
    assert set(data["runs"][0]["result"]) >= {"flows", "links", "trace_hash"}
    goodput = [row for row in data["scores"] if row["metric"] == "goodput"]
    assert {row["rule"] for row in goodput} == set(RULES)
    assert min(row["C_a"] for row in goodput) >= 0
    assert all(row["D_a"] >= row["C_a"] for row in goodput)
    assert data["plan"]["replicates"] == 2
    assert pl.read_parquet(tmp_path / "result/runs.parquet").height == 8
    assert len(list((tmp_path / "result/runs").glob("*/run.json"))) == 8
    assert (tmp_path / "bars.png").stat().st_size > 10_000


@pytest.mark.slow
def rows_of(rule: str, text: str) -> int:
    """Rows of tables that begin with the rule."""
    return sum(line.startswith(f" {rule} ") for line in text.splitlines())


def test_cli_table(cli):
    answer = cli(
        "compare",
        *RULES,
        "--env",
        "constant",
        "--env",
        "square",
        "--replicates",
        "2",
        "--duration",
        "5s",
    )
    assert answer.returncode == 0
    assert answer.stderr == ""
    assert rows_of("AIMD(1, 0.8)", answer.stdout) == len(USUAL)
    for word in (
        "C_a",
        "D_a",
        "±",
        "square",
        "goodput / available",
        "loss rate [%]",
        "rack over drop-tail, profile linux",
    ):
        assert word in answer.stdout


SHORT = ("--replicates", "1", "--duration", "2s", "--json")


@pytest.mark.parametrize(
    ("arguments", "profile"),
    [
        (["CUBIC", "AIMD(1, 0.5)"], "linux"),
        (["AIMD(1, 0.5)", "--against", "BBR3", "--flows", "1"], "linux"),
        (["AIMD(1, 0.5)", "HTCP"], "linux"),
        (["CUBIC", "--profile", "rfc"], "rfc"),
        (["CUBIC", "--assume", "profile=ns2-2000"], "ns2-2000"),
        (["CUBIC", "--set", "profile=rfc"], "rfc"),
    ],
)
def test_cli_profile(cli, arguments, profile):
    """Every rule has Linux's endpoints unless the user names others."""
    answer = cli("compare", *arguments, *SHORT)
    found = json.loads(answer.stdout)
    assert found["profile"] == profile
    assert {run["result"]["profile"] for run in found["runs"]} <= {profile}


def test_cli_profile_is_named_once(cli):
    answer = cli("compare", "CUBIC", "--profile", "rfc", "--assume", "profile=linux")
    assert answer.returncode == 2
    assert "--assume profile" in answer.stderr


def test_cli_set_reaches_every_run(cli):
    answer = cli(
        "compare",
        RULES[0],
        "--replicates",
        "1",
        "--duration",
        "3s",
        "--json",
        "--set",
        "flows.0.count=3",
    )
    assert len(json.loads(answer.stdout)["runs"][0]["result"]["flows"]) == 3


@pytest.mark.slow
def test_cli_many_environments_have_means_and_two_pictures(cli, tmp_path):
    answer = cli(
        "compare", *RULES, "--env", "demo,CL", "--setting", "all", "--replicates", "1",
        "--duration", "2s",
        "--plot", "all.png", "--jobs", "2",
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.count("means over 5 environments") == 8
    assert rows_of("AIMD(1, 0.8)", answer.stdout) == 8
    assert "D_a of goodput by setting" in answer.stdout
    assert max(map(len, answer.stdout.splitlines())) < 160
    for name in ("all.png", "all-scores.png"):
        assert (tmp_path / name).stat().st_size > 20_000


@pytest.mark.slow
def test_cli_detail_has_a_row_per_environment(cli):
    answer = cli(
        "compare", *RULES, "--env", "demo,CL", "--replicates", "2", "--duration", "2s", "--detail"
    )
    assert answer.returncode == 0, answer.stderr
    lines = answer.stdout.splitlines()
    found = [line for line in lines if line.startswith(" saw-tooth") and re.search("[±[]", line)]
    assert len(found) == len(USUAL)
    assert sum(line.startswith(" C_a") for line in lines) == len(USUAL)


def test_all_is_thirteen_environments_and_eight_settings():
    plan = plan_rules(
        RULES, env=["all"], recovery=["reno", "sack"], queue=["drop-tail", "red", "ecn", "drr"]
    )
    assert len(plan) == 13 * 8 * 2 * 3
    assert len(plan.axes["env"]) == 13
    plan.check()


def test_every_setting_reaches_the_network():
    plan = plan_rules(
        RULES[:1],
        env=["SQH", "RSQ"],
        recovery=["reno"],
        queue=["drop-tail", "ecn", "drr"],
        replicates=1,
    )
    found = {(run.cell["env"], run.cell["queue"]): run.document for run in plan}
    assert found["SQH", "drop-tail"]["dumbbell"]["queue"]["kind"] == "drop-tail"
    assert found["SQH", "ecn"]["dumbbell"]["queue"]["ecn"] is True
    assert found["SQH", "ecn"]["flows"][0]["tcp"] == {"ecn": True}
    assert found["SQH", "drr"]["cross"][0]["beside"] == 10
    assert found["RSQ", "drop-tail"]["links"][1]["queue"]["out_drop_tail"] is True
    assert found["RSQ", "ecn"]["links"][1]["queue"]["kind"] == "rio"
    assert found["RSQ", "drr"]["links"][1]["queue"]["kind"] == "drr"
    for document in found.values():
        assert document["flows"][0]["recovery"] == "reno"
        assert all(flow.get("recovery", "sack") == "sack" for flow in document["flows"][1:])


def test_drawn_courses_differ_between_replicates_and_not_between_rules():
    plan = plan_rules(RULES, env=["RWM"], replicates=2)
    course = {
        (run.cell["rule"], run.replicate): run.document["cross"][0]["available"]["points"]
        for run in plan
    }
    assert course[RULES[0], 0] == course[RULES[1], 0]
    assert course[RULES[0], 1] == course[RULES[1], 1]
    assert course[RULES[0], 0] != course[RULES[0], 1]


def test_own_keys_come_last():
    plan = plan_rules(RULES[:1], env=["SQL"], patch={"dumbbell.queue.limit": "10pkt"})
    assert all(run.document["dumbbell"]["queue"]["limit"] == "10pkt" for run in plan)


def test_metrics_are_chosen(cli):
    answer = cli(
        "compare", RULES[0], "--replicates", "2", "--duration", "5s", "--json",
        "--metrics", "p99_queueing_delay_s,Jain_index", "--expect", "lowest_share > 0",
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    rows = json.loads(answer.stdout)["summary"]
    # In the order asked for; what is expected is measured too.
    assert [row["metric"] for row in rows] == ["p99_queueing_delay_s", "jain_index", "lowest_share"]


def test_a_metric_that_is_not_known_is_refused(cli):
    answer = cli("compare", RULES[0], "--metrics", "goodput,p95_queueing_delay")
    assert answer.returncode == 2
    assert '--metrics: "p95_queueing_delay" is not known' in answer.stderr
    assert "did you mean p95_queueing_delay_s?" in answer.stderr
    answer = cli("compare", RULES[0], "--against", "CUBIC", "--metrics", "goodput")
    assert answer.returncode == 2
    assert "`--metrics` cannot be used with `--against`" in answer.stderr


def test_percentiles_of_the_rtt_are_recorded_where_they_are_asked_for():
    found = cwndlab.compare(
        RULES[0], replicates=1, duration="5s", metrics=["p50_rtt_s", "p95_rtt_s", "p99_rtt_s"]
    )
    (row,) = found.runs.to_dicts()
    plain = cwndlab.compare(RULES[0], replicates=1, duration="5s").runs
    assert row["trace_hash"] == plain["trace_hash"][0]
    assert 0.05 < row["p50_rtt_s"] <= row["p95_rtt_s"] <= row["p99_rtt_s"] < 1.0


def test_no_direction_no_mark():
    """A metric of which neither direction is known to be better is not marked either way."""
    from dataclasses import replace

    from cwndlab.tables import best, judged, verdict

    unknown = replace(BY_KEY["goodput"], more_is_better=None)
    row = {"mean": 0.2, "ci95_low": 0.1, "ci95_high": 0.3}
    assert verdict(row, BY_KEY["goodput"]) == "better"
    assert verdict(row, unknown) == "more"
    assert judged(row, unknown) == "+0.200 ± 0.100"
    assert best([0.1, 0.2], unknown) is None
    assert unknown.better == ""
