"""What a run in ns-2 measures of its flows beside the tables: equal or near where packets are
equal."""

from __future__ import annotations

import polars as pl
import pytest

import cwndlab

from .test_export import needs_ns2

SCENARIO = {
    "duration": "40s",
    "measure": ["5s", "40s"],
    "profile": "ns2-2000",
    "tcp": {"window": 1000, "initial_ssthresh": 1000},
    "trace": {"rate": "10s"},
    "dumbbell": {
        "rate": "1.5Mbit",
        "delay": "50ms",
        "access_rate": "10Mbit",
        "access_delay": ["1ms", "5ms"],
        "queue": {"kind": "drop-tail", "limit": "30pkt"},
    },
    "flows": [
        {"name": "a", "rule": "GAIMD(0.31, 0.875)", "recovery": "reno", "count": 4,
         "start": ["0s", "1s"]},
        {"name": "b", "rule": "AIMD(1, 0.5)", "recovery": "reno", "count": 4, "start": "1s"},
    ],
}  # fmt: skip


@needs_ns2
def test_measures_of_flows():
    scenario = cwndlab.Scenario(SCENARIO)
    ours, theirs = cwndlab.run(scenario), cwndlab.ns2.run(scenario)
    assert theirs.flows["sent_packets"].to_list() == ours.flows["sent_packets"].to_list()
    assert theirs.flows["timeouts"].sum() > 10
    reductions = ours.flows["window_reductions"].to_list()
    assert theirs.flows["window_reductions"].to_list() == reductions
    for column, near in (("mean_rtt_s", 0.02), ("mean_rto_s", 0.12), ("rate_cov", 0.05)):
        assert theirs.flows[column].mean() == pytest.approx(ours.flows[column].mean(), rel=near)
    jain = ours.rtt_weighted_jain_index
    assert theirs.rtt_weighted_jain_index == pytest.approx(jain, abs=0.01)


@needs_ns2
def test_the_trace_of_rates():
    scenario = cwndlab.Scenario(SCENARIO)
    ours, theirs = (
        run(scenario).traces["rate"].group_by("time_s").agg(pl.col("goodput_bps").sum())
        for run in (cwndlab.run, cwndlab.ns2.run)
    )
    both = ours.join(theirs, on="time_s").sort("time_s")
    assert both["time_s"].to_list() == [0.0, 10.0, 20.0, 30.0]
    # ns-2 counts what arrived in order.
    assert both["goodput_bps_right"].to_list() == pytest.approx(
        both["goodput_bps"].to_list(), rel=0.03
    )


@needs_ns2
def test_what_ns2_cannot_tell_apart_is_null():
    queue = {"kind": "drr", "limit": "30kB"}
    theirs = cwndlab.ns2.run(cwndlab.Scenario(SCENARIO).patch({"dumbbell.queue": queue}))
    assert theirs.flows["mean_rtt_s"].null_count() == 8
    assert theirs.rtt_weighted_jain_index is None
    assert theirs.flows["mean_cwnd_packets"].null_count() == 8


@needs_ns2
def test_who_is_there_and_since_when():
    flows = [
        {"name": "there", "rule": "AIMD(1, 0.5)"},
        {"name": "late", "rule": "AIMD(1, 0.5)", "start": "17s"},
        {"name": "finite", "rule": "AIMD(1, 0.5)", "packets": 50},
        {"name": "never", "rule": "AIMD(1, 0.5)", "start": "20s"},
    ]
    document = {**SCENARIO, "duration": "20s", "measure": ["5s", "20s"], "flows": flows}
    theirs = cwndlab.ns2.run(document)
    # ns-2 does not say when a finite transfer ends.
    assert theirs.flows["active_s"].to_list() == [15.0, 3.0, None, 0.0]
    assert theirs.groups["active_flows"].to_list() == [1, 1, 1, 0]
    assert theirs.active_jain_index is None
    # The finite transfer was over before the window.
    assert theirs.lowest_share == 0.0
