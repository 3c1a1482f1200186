"""Flows with the endpoints of quinn, in simulated time."""

from __future__ import annotations

from typing import Any

import pytest

import cwndlab
from conftest import ROOT
from cwndlab import ScenarioError, dumbbell
from cwndlab.ns2.script import export

EXAMPLE = ROOT / "examples" / "quic-beside-tcp.toml"


def run(flow: dict[str, Any] | None = None, **more: Any) -> cwndlab.Result:
    """Run a flow of quinn beside one of TCP."""
    quic = {"name": "quic", "rule": "quinn:cubic", "stack": "quinn", **(flow or {})}
    tcp = {"name": "tcp", "rule": "CUBIC"}
    document = {"duration": "10s", "tcp": {"packet_size": 1448}, **more}
    return cwndlab.run(dumbbell("10Mbit", "40ms", flows=[tcp, quic], **document))


def test_quinn_and_tcp_with_the_same_rule_share_the_example():
    result = cwndlab.run(EXAMPLE)
    shares = dict(result.groups.select("group", "share").iter_rows())
    # Two implementations of one RFC: no group gets two thirds.
    assert 1 / 3 < shares["quic"] < 2 / 3
    assert sum(shares.values()) == pytest.approx(1)


def test_a_run_repeats_and_a_seed_changes_it():
    first, again, other = run(), run(), run(seed=2)
    assert first.trace_hash == again.trace_hash != other.trace_hash


def test_windows_and_rates_are_traced():
    result = run(trace={"cwnd": "100ms", "rate": "1s"}, measure=["2s", "10s"])
    windows = result.traces["cwnd"].filter(flow="quic")
    assert windows["time_s"].to_list() == pytest.approx([i / 10 for i in range(101)])
    assert windows["cwnd_packets"][0] == 10
    assert windows["srtt_s"].drop_nulls().min() > 0.04
    flow = result.flows.row(1, named=True)
    inside = result.traces["rate"].filter(flow="quic")["goodput_bps"].to_list()[2:]
    assert flow["goodput_bps"] == pytest.approx(sum(inside) / 8)


def test_a_rule_in_python_runs_in_quinn():
    text = f"{ROOT / 'examples' / 'my_rules.py'}:Patient(3)"
    result = run({"rule": text}, duration="5s")
    assert result.flows["goodput_bps"][1] > 1e6


@pytest.mark.parametrize(
    ("flow", "message"),
    [
        ({"stack": "quiche"}, r'flows\[1\].stack: "quiche" is not known: expected quinn'),
        ({"rule": "BBR1"}, r'flows\[1\].rule: rule "BBR1" sets the pacing rate'),
        ({"rule": "quinn:bbr"}, r"flows\[1\].rule: .*no seed reaches: expected quinn:newreno or"),
        ({"stack": None}, r'flows\[1\].rule: "quinn:cubic" is a controller of quinn: expected'),
        ({"tcp": {"min_rto": "1s"}}, r"flows\[1\].tcp.min_rto: .*expected packet_size, window"),
    ],
)
def test_what_quinn_does_not_have_is_refused(flow: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        run(flow)


def test_captures_are_of_tcp(tmp_path):
    with pytest.raises(ScenarioError, match=r"pcap: .*flows\[1\].stack"):
        cwndlab.run(EXAMPLE, pcap=tmp_path / "run.pcapng")


def test_ns2_has_no_stacks():
    document = dumbbell(
        "10Mbit",
        "40ms",
        profile="ns2-2.35",
        flows=[{"rule": "NewReno", "stack": "quinn"}],
        duration="10s",
    )
    with pytest.raises(ScenarioError, match=r"flows\[0\].stack"):
        export(document)
