"""Groups of flows: their shares and harm, and flows that are late, finite, or starve."""

from __future__ import annotations

import json

import polars as pl
import pytest

import cwndlab
from cwndlab.groups import groups_of
from cwndlab.metrics import of_flows

THREE = {
    "duration": "20s",
    "measure": ["5s", "20s"],
    "dumbbell": {
        "rate": "6Mbit",
        "delay": "20ms",
        "queue": {"kind": "drop-tail", "limit": "40pkt"},
    },
    "flows": [
        {"name": "reno", "rule": "NewReno", "count": 2, "start": ["0s", "1s"]},
        {"name": "cubic", "rule": "CUBIC", "start": ["0s", "1s"]},
        {"name": "bbr", "rule": "BBR1", "start": ["0s", "1s"]},
    ],
}
FAIR = {"rate": "6Mbit", "delay": "20ms", "queue": {"kind": "drr", "limit": "100pkt"}}


def _flow(name, goodput_bps, **columns):
    return {"group": name, "goodput_bps": goodput_bps, "active_s": 30.0,
            "active_goodput_bps": goodput_bps, **columns}  # fmt: skip


def _late():
    """Two flows throughout, one for the last quarter of 30 s, one that would start later."""
    return [
        _flow("there", 4e6),
        _flow("there", 4e6),
        _flow("late", 1e6, active_s=7.5, active_goodput_bps=4e6),
        _flow("later", 0.0, active_s=0.0, active_goodput_bps=None),
    ]


def test_who_is_not_there_does_not_starve():
    found = of_flows(_late())
    # 9^2 / (3 x (16 + 16 + 1)); 1/3; (4 - 1)/3.
    assert found["jain_index"] == pytest.approx(81 / 99)
    assert found["lowest_share"] == pytest.approx(1 / 3)
    assert found["fairness_spread"] == pytest.approx(1.0)
    assert found["active_jain_index"] == pytest.approx(1.0)
    assert found["aggregate_goodput_bps"] == 9e6
    starved = of_flows([*_late(), _flow("starved", 0.0)])
    assert starved["jain_index"] == pytest.approx(81 / 132)
    assert starved["lowest_share"] == 0.0


def test_groups_by_hand():
    of_two = {"sent_packets": 200, "dropped_packets": 1, "mean_rtt_s": 0.1}
    rows = [
        _flow("a", 1e6, **of_two, retransmitted_packets=2),
        _flow("a", 3e6, **of_two, retransmitted_packets=5),
        _flow("b", 4e6, sent_packets=0, dropped_packets=0, mean_rtt_s=None),
        *_late()[3:],
    ]
    alone = {"a": {"goodput_bps": 8e6, "mean_rtt_s": 0.04}}
    table = groups_of(pl.DataFrame(rows, infer_schema_length=None), alone)
    assert table["group"].to_list() == ["a", "b", "later"]
    a, b, later = table.to_dicts()
    assert (a["flows"], a["active_flows"]) == (2, 2)
    assert (a["goodput_bps"], a["mean_goodput_bps"], a["share"]) == (4e6, 2e6, 0.5)
    assert (a["loss_rate"], a["retransmitted_packets"]) == (0.005, 7)
    assert a["mean_rtt_s"] == pytest.approx(0.1)
    assert a["jain_index"] == pytest.approx(0.8)
    assert (a["active_s"], a["active_goodput_bps"], a["harm"]) == (30.0, 2e6, 0.75)
    assert a["rtt_harm"] == pytest.approx(0.6)
    assert (b["loss_rate"], b["mean_rtt_s"], b["harm"]) == (None, None, None)
    # It has no share to be harmed in, and what two of three groups lost to it is not known.
    assert (later["flows"], later["active_flows"], later["share"]) == (1, 0, 0.0)
    assert (later["active_goodput_bps"], later["jain_index"]) == (None, None)


def test_what_is_not_known_of_a_flow_is_not_known_of_its_group():
    # ns-2 does not say when a finite transfer ends, nor of timeouts with ECN.
    unknown = dict.fromkeys(("active_s", "active_goodput_bps", "timeouts"))
    known = dict.fromkeys(("timeouts",), 3)
    rows = [_flow("a", 1e6, **known), _flow("a", 3e6, **unknown)]
    (group,) = groups_of(pl.DataFrame(rows, infer_schema_length=None)).to_dicts()
    assert (group["active_flows"], group["goodput_bps"]) == (2, 4e6)
    assert (group["timeouts"], group["active_goodput_bps"]) == (None, None)
    assert group["active_jain_index"] is None
    assert group["jain_index"] == pytest.approx(0.8)


def test_active_times_of_a_run():
    flows = [
        {"name": "whole", "rule": "NewReno"},
        {"name": "late", "rule": "NewReno", "start": "17s"},
        {"name": "short", "rule": "NewReno", "packets": 300, "start": "6s"},
        {"name": "over", "rule": "NewReno", "stop": "2s"},
        {"name": "never", "rule": "NewReno", "start": "20s"},
    ]
    result = cwndlab.run({**THREE, "dumbbell": FAIR, "flows": flows})
    rows = {row["flow"]: row for row in result.flows.to_dicts()}
    assert rows["over"]["finish_s"] < 5.0
    active_s = {name: row["active_s"] for name, row in rows.items()}
    assert active_s == {
        "whole": 15.0,
        "late": 3.0,
        "short": pytest.approx(rows["short"]["finish_s"] - 6.0),
        "over": 0.0,
        "never": 0.0,
    }
    # A fifth of the window, and 300 packets whatever the window.
    late = rows["late"]
    assert late["active_goodput_bps"] == pytest.approx(5 * late["goodput_bps"])
    short = rows["short"]
    assert short["delivered_packets"] == 300
    # Packets of profile linux carry 1448 bytes.
    assert short["active_goodput_bps"] * short["active_s"] == pytest.approx(300 * 1448 * 8)
    assert rows["never"]["active_goodput_bps"] is None
    # Three share; the others asked for nothing.
    assert result.lowest_share > 0.0
    assert result.jain_index > 1 / 3


def test_a_flow_whose_packets_are_all_lost_starves():
    every = {"to_bad": 1.0, "to_good": 1e-9, "good_loss": 0.999999}
    loss = [{"kind": "gilbert-elliott", **every, "flow": "lost"}]
    flows = [{"name": "there", "rule": "NewReno"}, {"name": "lost", "rule": "NewReno"}]
    document = {**THREE, "dumbbell": {**FAIR, "loss": loss}, "flows": flows}
    result = cwndlab.run(document)
    assert result.flows["active_s"].to_list() == [15.0, 15.0]
    assert result.flows["goodput_bps"][1] == 0.0
    assert (result.jain_index, result.lowest_share) == (0.5, 0.0)
    late = {**document, "flows": [flows[0], {**flows[1], "start": "20s"}]}
    assert (cwndlab.run(late).jain_index, cwndlab.run(late).lowest_share) == (1.0, 1.0)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_equal_groups_on_a_fair_link_have_the_harm_of_their_number(count):
    flows = [{"name": f"g{number}", "rule": "NewReno"} for number in range(count)]
    document = {**THREE, "dumbbell": FAIR, "flows": flows}
    table = cwndlab.run(document, patch={"trace.solo": True}).groups
    assert table["share"].to_list() == pytest.approx([1 / count] * count, abs=0.01)
    assert table["harm"].to_list() == pytest.approx([1 - 1 / count] * count, abs=0.02)


def test_a_group_alone_is_a_run_without_the_others():
    plain = cwndlab.run(THREE)
    result = cwndlab.run(THREE, patch={"trace.solo": True})
    assert result.trace_hash == plain.trace_hash
    assert plain.groups["harm"].null_count() == 3
    for flow in THREE["flows"]:
        (alone,) = cwndlab.run({**THREE, "flows": [flow]}).groups.to_dicts()
        assert result.solo[flow["name"]] == {
            "goodput_bps": alone["active_goodput_bps"],
            "mean_rtt_s": alone["mean_rtt_s"],
        }


def test_saved_groups(tmp_path):
    result = cwndlab.run(THREE, patch={"trace.solo": True})
    result.save(tmp_path)
    again = cwndlab.Result.load(tmp_path)
    assert again.groups.equals(result.groups)
    assert pl.read_parquet(tmp_path / "groups.parquet").equals(result.groups)
    # An earlier version knew no active time.
    flows = pl.read_parquet(tmp_path / "flows.parquet").drop("active_s", "active_goodput_bps")
    flows.write_parquet(tmp_path / "flows.parquet")
    older = cwndlab.Result.load(tmp_path).groups
    assert older["share"].equals(result.groups["share"])
    assert older["active_flows"].to_list() == [2, 1, 1]
    assert older["active_s"].null_count() == 3


def test_a_sweep_over_buffers_has_the_share_of_each_group(tmp_path):
    metrics = ["groups.reno.share", "groups.cubic.share", "groups.bbr.share", "groups.reno.harm"]
    asked = {
        "axes": {"dumbbell.queue.limit": ["10pkt", "100pkt"]},
        "replicates": 2,
        "metrics": metrics,
    }
    found = cwndlab.sweep(THREE, **asked, store=tmp_path / "store")
    runs = found.runs
    assert runs.height == 4
    assert runs.select(pl.sum_horizontal(metrics[:3])).to_series().to_list() == pytest.approx(
        [1] * 4
    )
    # Small buffers are BBR's (Hock, Bless and Zitterbart 2017).
    means = dict(found.summary.filter(metric="groups.bbr.share").select(
        "dumbbell.queue.limit", "mean").iter_rows())  # fmt: skip
    assert means["10pkt"] > 0.5 > means["100pkt"]
    assert runs["groups.reno.harm"].null_count() == 0
    # From the store, without a run.
    again = cwndlab.sweep(THREE, **asked, store=tmp_path / "store")
    assert again.runs.select(metrics).equals(runs.select(metrics))
    # Groups share with each other, whichever one the other metrics are of.
    one = cwndlab.sweep(THREE, **{**asked, "metrics": [*metrics[:1], "jain_index"]}, group="reno")
    assert one.runs["groups.reno.share"].equals(runs["groups.reno.share"])


@pytest.mark.parametrize(
    ("metric", "nearest"),
    [
        ("groups.renno.share", "did you mean reno?"),
        ("groups.reno.shar", "did you mean groups.reno.share?"),
        ("group.reno.share", "did you mean groups.reno.share?"),
        ("groups.reno.rule", "did you mean groups.reno."),
    ],
)
def test_misspelt_metrics_are_refused_with_the_nearest(metric, nearest):
    with pytest.raises(cwndlab.ScenarioError) as refused:
        cwndlab.sweep(THREE, axes={"duration": ["20s"]}, metrics=[metric], replicates=1)
    assert metric in str(refused.value)
    assert nearest in str(refused.value)


def test_the_table_of_run(command, tmp_path):
    (tmp_path / "three.json").write_text(json.dumps(THREE))
    answer = command("run", "three.json", "--expect", "groups.bbr.harm < 1")
    assert answer.returncode == 0, answer.stderr
    assert "Groups of flows, measured 5 to 20 s" in answer.stdout
    rows = {line.split()[0]: line.split() for line in answer.stdout.splitlines() if line.split()}
    assert rows["reno"][1:4] == ["NewReno", "rack", "2"]
    assert "harm" in answer.stdout
    one = {**THREE, "flows": [{"rule": "CUBIC"}]}
    (tmp_path / "one.json").write_text(json.dumps(one))
    assert "Groups of flows" not in command("run", "one.json").stdout
    many = {**THREE, "flows": [{"name": "a", "rule": "CUBIC", "count": 30, "start": "10s"}]}
    (tmp_path / "many.json").write_text(json.dumps(many))
    table = command("run", "many.json").stdout
    assert "a-0" not in table
    assert "while active" in table
