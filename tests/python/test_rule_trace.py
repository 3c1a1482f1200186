"""The trace of phases and of the rules' state."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import polars as pl
import pytest

import cwndlab
from cwndlab.errors import RunError, ScenarioError
from cwndlab.results import Result

BASE = {
    "duration": "12s",
    "profile": "linux",
    "dumbbell": {
        "rate": "20Mbit",
        "delay": "20ms",
        "queue": {"kind": "drop-tail", "limit": "2bdp"},
    },
}


def run(
    rule: str | list[str], every: str = "10ms", *, cwnd: str = "10ms", **changes: Any
) -> Result:
    rules = [rule] if isinstance(rule, str) else rule
    flows = [{"name": f"f{index}", "rule": text} for index, text in enumerate(rules)]
    return cwndlab.run({**BASE, "flows": flows, "trace": {"rule": every, "cwnd": cwnd}, **changes})


def phases(result: Result) -> list[str]:
    """The phases of the only flow, each change once."""
    column = result.traces["rule"]["phase"].cast(pl.String)
    return column.filter((column != column.shift()).fill_null(value=True)).to_list()


def test_bbr_goes_through_its_phases():
    result = run("BBR3")
    names = phases(result)
    assert names[:2] == ["Startup", "Drain"]
    assert "ProbeRTT" in names
    # From each refill it probes upward, and from each upward probe it goes down.
    for before, after in pairwise(names):
        assert before != "ProbeBW_REFILL" or after == "ProbeBW_UP"
        assert before != "ProbeBW_UP" or after == "ProbeBW_DOWN"
    trace = result.traces["rule"]
    gains = dict(
        trace.filter(phase="ProbeBW_UP").select("pacing_gain", "cwnd_gain").unique().iter_rows()
    )
    # draft-ietf-ccwg-bbr, section 4.6.1: 1.25 and 2.25 while it probes upward.
    assert gains == {1.25: 2.25}
    later = trace.filter(pl.col("time_s") > 2)
    # 20 Mbit/s are 1666.7 packets of 1500 bytes.
    assert later["max_bw_packets_s"].min() == pytest.approx(20e6 / 8 / 1500, rel=0.01)
    assert later["min_rtt_s"].max() < 0.045


def test_cubic_remembers_where_it_lost():
    result = run("CUBIC", "all", cwnd="all")
    assert phases(result)[:4] == [
        "slow start", "congestion avoidance", "recovery", "congestion avoidance",
    ]  # fmt: skip
    trace = result.traces["rule"].with_columns(result.traces["cwnd"]["cwnd_packets"])
    # The reduction takes the window as W_max. K = cbrt((W_max - w)/C), w where the epoch begins
    # (RFC 9438 equations 1 and 2).
    reduced = trace.filter(phase="recovery").row(0, named=True)
    before = trace.filter(pl.col("time_s") < reduced["time_s"]).row(-1, named=True)
    assert reduced["w_max_packets"] == int(before["cwnd_packets"])
    row = trace.filter(
        pl.col("k_s").is_not_null(),
        time_s=pl.col("epoch_start_s"),
        w_max_packets=reduced["w_max_packets"],
    ).row(0, named=True)
    window = int(row["cwnd_packets"])
    assert row["k_s"] == pytest.approx(((row["w_max_packets"] - window) / 0.4) ** (1 / 3))
    assert window == int(0.7 * row["w_max_packets"])


def test_rules_have_columns_of_their_own():
    result = run(["Bimodal(1, 0.5, 0.125)", "DCTCP", 'Rule(inc="1", dec="w/2")', "AIMD(1, 0.5)"])
    trace = result.traces["rule"]
    known = {"f0": "fair_share_packets", "f1": "alpha", "f2": "rtt_s", "f3": None}
    for flow, column in known.items():
        rows = trace.filter(flow=flow)
        assert rows.height > 1000
        for other in known.values():
            if other is not None:
                assert (rows[other].null_count() < rows.height) == (other == column), (flow, other)


def test_sender_phases_have_the_loss_of_a_timeout():
    # All of a window is lost: no duplicate ACK arrives.
    lost = [{"kind": "list", "packets": list(range(30, 120))}]
    result = run("AIMD(1, 0.5)", dumbbell={**BASE["dumbbell"], "loss": lost}, profile="rfc")
    assert "loss" in phases(result)


def test_the_trace_changes_nothing_and_is_kept(tmp_path):
    result = run("CUBIC")
    without = run("CUBIC", trace={})
    assert result.trace_hash == without.trace_hash
    assert "rule" not in without.traces
    result.save(tmp_path / "run")
    assert Result.load(tmp_path / "run").traces["rule"].equals(result.traces["rule"])


RULE = """
class Counting:
    def __init__(self, answer=None):
        self.acks, self.answer = 0, answer

    def increase(self, cwnd, ack):
        self.acks += 1
        return cwnd + 1 / cwnd

    def decrease(self, cwnd, signal):
        return cwnd / 2

    def state(self):
        return {"acks": self.acks, "unknown": None} if self.answer is None else self.answer
"""


def test_rules_in_python_return_their_state(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "counting.py").write_text(RULE)
    trace = run("counting.py:Counting", tcp={"initial_ssthresh": 10}).traces["rule"]
    assert trace["acks"].is_sorted()
    assert trace["acks"][-1] > 1000
    assert trace["unknown"].null_count() == trace.height
    with pytest.raises(RunError, match="state"):
        run('counting.py:Counting("nothing")')


def test_too_many_rows_are_refused():
    with pytest.raises(ScenarioError, match=r"trace\.rule"):
        run("CUBIC", "1ns")
