"""Packets that a link drops or holds back by number, in scenarios of Python and on the command
line."""

from __future__ import annotations

import json

import polars as pl
import pytest

from cwndlab import Scenario, run

SCENARIO = {
    "duration": "3s",
    "dumbbell": {"rate": "20Mbit", "delay": "20ms",
                 "queue": {"kind": "drop-tail", "limit": "1000pkt"}},
    "flows": [{"name": "a", "count": 2, "rule": "kernel:cubic", "packets": 300}],
    "trace": {"packets": True},
}  # fmt: skip


def with_drops(*drop: dict[str, object]) -> Scenario:
    return Scenario.from_dict({**SCENARIO, "dumbbell": {**SCENARIO["dumbbell"], "drop": [*drop]}})


def test_a_group_loses_the_packets_of_each_flow():
    scenario = with_drops({"flow": "a", "packet": 40}, {"flow": "a-1", "packet": 50})
    rows = run(scenario).traces["packets"].filter(pl.col("event") == "drop")
    assert sorted(rows.select("flow", "seq").rows()) == [("a-0", 40), ("a-1", 40), ("a-1", 50)]


def test_a_hold_reorders_and_loses_nothing():
    result = run(with_drops({"flow": "a-0", "packet": 40, "hold": "12ms"}))
    rows = result.traces["packets"].filter(pl.col("event") == "receive")
    flows = ("a-0", "a-1")
    late = {flow: rows.filter(pl.col("flow") == flow)["seq"].diff().min() for flow in flows}
    assert late["a-0"] < 0 < late["a-1"]
    assert result.flows["total_dropped_packets"].sum() == 0


@pytest.mark.parametrize(
    ("drop", "message"),
    [
        ({"flow": "b", "packet": 40}, '[0].flow: "b" is not known: expected a'),
        ({"flow": "a", "packet": -40}, "[0].packet: -40 is not valid: expected an integer"),
        ({"flow": "a", "packet": 40, "transmission": 0}, "[0].transmission: 0 is not valid"),
        ({"flow": "a", "packet": 40, "hold": "-1ms"}, '[0].hold: "-1ms" is not valid'),
        ({"flow": "a", "packet": 40, "holds": "1ms"}, '[0]: key "holds" is not known'),
    ],
)
def test_what_is_wrong_is_named(command, tmp_path, drop, message):
    file = tmp_path / "scenario.json"
    network = {**SCENARIO["dumbbell"], "drop": [drop]}
    file.write_text(json.dumps({**SCENARIO, "dumbbell": network}))
    ended = command("run", file)
    assert ended.returncode == 2
    assert f"dumbbell.drop{message}" in " ".join(ended.stderr.split())
