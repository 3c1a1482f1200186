"""Receivers whose application reads slowly or pauses, and windows that change."""

import itertools
from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest

import cwndlab
from cwndlab import ScenarioError, dumbbell

PROFILES = ["linux", "rfc", "ns2-2.35"]
RECOVERIES = ["tahoe", "reno", "newreno", "sack", "fack"]
BUFFER = 40
# The application stops for four seconds. An RTO is below one, so several probes fall in it.
PAUSE = {"buffer": BUFFER, "changes": [{"at": "5s", "reads": False}, {"at": "9s", "reads": True}]}


def run(
    profile: str, reader: Mapping[str, Any], recovery: str = "sack", **more: Any
) -> cwndlab.Result:
    """Run a flow over 10 Mbit/s and 40 ms, of which the receiver takes what `reader` says."""
    tcp = {"window": 1000, **more.pop("tcp", {})}
    flow = {"rule": "AIMD(1, 0.5)", "name": "a", "recovery": recovery, "reader": reader, "tcp": tcp}
    document = {"duration": "20s", "trace": {"packets": True}, **more}
    return cwndlab.run(dumbbell("10Mbit", "40ms", flows=[flow], profile=profile, **document))


def rows(result: cwndlab.Result, event: str) -> pl.DataFrame:
    """Return the rows of the packet trace of one kind of event."""
    return result.traces["packets"].filter(event=event)


def probes(result: cwndlab.Result) -> pl.DataFrame:
    """Return the probes of the window: packets without data, after the handshake."""
    return rows(result, "send").filter(pl.col("size_bytes") < 100, pl.col("seq") > 0)


@pytest.mark.parametrize("delayed", [False, True])
@pytest.mark.parametrize("recovery", RECOVERIES)
@pytest.mark.parametrize("profile", PROFILES)
def test_goodput_is_what_the_application_reads(profile: str, recovery: str, delayed: bool) -> None:
    # 40 packets a round trip of 40 ms or more are several times 2 Mbit/s: the application always
    # has something to read, and an arrival more or less at the edges of 15 s is 0.1 %.
    result = run(
        profile,
        {"buffer": BUFFER, "rate": "2Mbit"},
        recovery,
        tcp={"delayed_ack": delayed},
        measure=["5s", "20s"],
    )
    flow = result.flows.row(0, named=True)
    assert flow["goodput_bps"] == pytest.approx(2e6, rel=0.002)
    assert flow["limited_by_receiver"] > 0.99
    assert flow["retransmitted_packets"] == 0
    assert flow["timeouts"] == 0


@pytest.mark.parametrize("recovery", RECOVERIES)
@pytest.mark.parametrize("profile", PROFILES)
def test_a_shut_window_is_probed_and_opens_again(profile: str, recovery: str) -> None:
    result = run(profile, PAUSE, recovery)
    flow = result.flows.row(0, named=True)
    assert flow["retransmitted_packets"] == 0
    assert flow["timeouts"] == 0
    asked = probes(result)["time_s"].to_list()
    assert asked
    assert all(5 < time_s < 9.1 for time_s in asked)
    # RFC 9293 section 3.8.6.1: intervals double. From an answer on, a round trip after the probe.
    gaps = [late - early - 0.0801 for early, late in itertools.pairwise(asked)]
    for early, late in itertools.pairwise(gaps):
        assert late == pytest.approx(2 * early, rel=0.02)
    # No data between the last packet that the buffer took and the end of the pause.
    sent = rows(result, "send").filter(pl.col("size_bytes") > 100)["time_s"]
    assert sent.filter((sent > 5.2) & (sent < 9)).is_empty()
    assert not sent.filter((sent > 9) & (sent < 9.1)).is_empty()
    assert sent.filter(sent > 10).len() > 1000


@pytest.mark.parametrize("profile", PROFILES)
def test_no_packet_leaves_beyond_the_window(profile: str) -> None:
    reader = {
        "buffer": BUFFER,
        "rate": "4Mbit",
        "changes": [{"at": "6s", "buffer": 10}, {"at": "12s", "buffer": 60, "rate": "20Mbit"}],
    }
    result = run(profile, reader)
    packets = result.traces["packets"].filter(pl.col("event").is_in(["send", "ack"]))
    acknowledged, most = -1, {"early": 0, "middle": 0, "late": 0}
    for time_s, event, number in packets.select("time_s", "event", "seq").iter_rows():
        if event == "ack":
            acknowledged = max(acknowledged, number)
            continue
        # 100 ms after the smaller buffer, what the larger one had allowed is read: 50 packets.
        part = "early" if time_s < 6 else "middle" if 6.3 < time_s < 12 else "late"
        most[part] = max(most[part], number - acknowledged)
    assert most["early"] <= BUFFER
    assert most["middle"] <= 10
    assert most["late"] <= 60


@pytest.mark.parametrize("profile", PROFILES)
def test_a_lost_window_update_costs_a_probe_and_no_deadlock(profile: str) -> None:
    # ACKs are lost from 8.9 s to 9.2 s, with them the one that opens the window at 9 s.
    lost = [{"kind": "bernoulli", "p": 0.999999, "from": "8.9s", "to": "9.2s"}]
    result = run(profile, PAUSE, link={"back_loss": lost})
    flow = result.flows.row(0, named=True)
    assert flow["timeouts"] == 0
    sent = rows(result, "send").filter(pl.col("size_bytes") > 100)["time_s"]
    first_s = sent.filter(sent > 9).min()
    asked = probes(result)["time_s"]
    assert asked.filter(asked > 9.1).len() == 1
    assert first_s == pytest.approx(asked.max() + 0.0801, abs=0.001)


@pytest.mark.parametrize("recovery", ["newreno", "sack"])
@pytest.mark.parametrize("profile", PROFILES)
def test_window_updates_are_no_duplicate_acks(profile: str, recovery: str) -> None:
    # The buffer grows again and again, by three packets at a time, while packets are on their way:
    # ACKs that repeat a number, and change nothing but the window. At the end it is what the path
    # and its queue hold.
    growth = [{"at": f"{20 * number + 1}ms", "buffer": 10 + 3 * number} for number in range(1, 24)]
    result = run(profile, {"buffer": 10, "changes": growth}, recovery, duration="10s")
    flow = result.flows.row(0, named=True)
    assert flow["retransmitted_packets"] == 0
    assert flow["timeouts"] == 0
    numbers = rows(result, "ack")["seq"]
    assert (numbers.diff() == 0).sum() >= 10


def test_a_window_of_zero_from_the_start() -> None:
    for syn in (True, False):
        reader = {"buffer": 0, "changes": [{"at": "3s", "buffer": 20}]}
        result = run("rfc", reader, tcp={"syn": syn})
        sent = rows(result, "send").filter(pl.col("size_bytes") > 100)["time_s"]
        assert 3 <= sent.min() < 3.1, syn
        assert result.flows["goodput_bps"][0] > 1.6e6


@pytest.mark.parametrize(
    ("reader", "expected"),
    [
        ({"rate": "1Mbit"}, "flows[0].reader: "),
        ({"buffer": 1e7}, "flows[0].reader.buffer: "),
        ({"buffer": 2_000_000}, "flows[0].reader.buffer: 2000000 is not valid"),
        ({"buffer": 10, "changes": [{"at": "0s", "buffer": 3}]}, "changes[0].at: 0s"),
        ({"buffer": 10, "changes": [{"at": "1s"}]}, "changes[0]: at least one of `buffer`"),
        ({"buffer": 10, "rates": "1Mbit"}, "did you mean rate"),
    ],
)
def test_a_reader_that_is_not_valid_is_refused(reader: dict[str, Any], expected: str) -> None:
    with pytest.raises(ScenarioError) as error:
        run("rfc", reader)
    assert expected in str(error.value)


@pytest.mark.parametrize("knob", [{"receive_buffer": 6291456}, {"ack_division": 3}])
def test_a_reader_needs_a_receiver_with_one_window(knob: dict[str, Any]) -> None:
    with pytest.raises(ScenarioError, match=r"flows\[0\]\.reader: must not be given with tcp\."):
        run("linux", {"buffer": 10}, tcp=knob)
