"""Tests that qvis can load the qlog files of a run and draw their windows and packets.

From the source of qvis: its loader reads a `.sqlog` as JSON text sequences whose header has
version, format and trace. It splits events by `group_id`, and reports times out of order and fields
of older drafts. The congestion graph draws a packet by `raw.length`, matches losses with sent
packets by type and number, and has RTTs in the unit of the times, milliseconds. The sequence
diagram matches packets by type and number."""

from __future__ import annotations

import json
import math
import time
from contextlib import AbstractContextManager
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from host_load import SMALL, Load, measured, unless_busy, wait_for_others

from cwndlab import Scenario, import_qlog
from cwndlab.kernel_runs import program
from cwndlab.live_runs.quic import quic
from cwndlab.quantities import bits_per_second
from cwndlab.results import Result

pytestmark = [
    pytest.mark.anywhere,
    pytest.mark.skipif(not program.BUILT.is_file(), reason="cwndlab-live is not built: make live"),
]
VERSIONS = {"draft-02", "draft-02-RC1", "qlog-03-WIP", "0.3"}
"""qlog versions that qvis reads in this form."""
TYPES = {"initial", "handshake", "0RTT", "1RTT"}
DATAGRAM_BYTES = 1200


class Run(NamedTuple):
    """A run, its qlog file, and the load of the machine."""

    result: Result
    header: dict[str, Any]
    events: list[dict[str, Any]]
    load: Load
    between_s: tuple[float, float]
    """Wall-clock time before and after the run."""

    def unless_busy(self) -> AbstractContextManager[None]:
        return unless_busy(self.load, self.result)


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Run:
    """Run a scenario with losses."""
    wait_for_others()
    folder = tmp_path_factory.mktemp("qlog")
    begun_s = time.time()
    with measured() as load:
        result = quic(Scenario.load(SMALL).patch({"flows.0.rule": "AIMD(1, 0.5)"}), qlog=folder)
    between_s = (begun_s, time.time())
    path = Path(result.quic_flows[0]["qlog"])
    assert path.suffix == ".sqlog"
    text = path.read_text()
    # RFC 7464: a record begins with 0x1E and ends with a line feed.
    assert text.startswith("\x1e")
    records = text[1:].split("\x1e")
    assert all(record.endswith("\n") for record in records)
    header, *events = map(json.loads, records)
    return Run(result, header, events, load, between_s)


def _named(events: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [event["data"] for event in events if event["name"] == name]


def _number(packet: dict[str, Any]) -> tuple[str, int]:
    return packet["header"]["packet_type"], packet["header"]["packet_number"]


def test_the_header_describes_the_file(run):
    header = run.header
    assert header["qlog_version"] in VERSIONS
    assert header["qlog_format"] == "JSON-SEQ"
    assert header["trace"]["vantage_point"]["type"] == "client"
    common = header["trace"]["common_fields"]
    assert common["time_format"] == "relative"
    begun_s, ended_s = run.between_s
    assert begun_s - 1 < common["reference_time"] / 1e3 < ended_s + 1


def test_events_are_of_one_connection_in_order_of_time(run):
    events = run.events
    assert not any("group_id" in event or "group_id" in event["data"] for event in events)
    assert {event["name"].count(":") for event in events} == {1}
    times = [event["time"] for event in events]
    assert times[0] >= 0
    with run.unless_busy():
        # quinn timestamps some events before it writes others, so a busy machine may reorder two.
        assert all(later > earlier - 1.0 for earlier, later in pairwise(times))
        # The flow starts at 0 and sends to the end.
        end_ms = run.result.duration_s * 1e3
        assert end_ms - 500 < times[-1] <= end_ms + 500


def test_packets_can_be_drawn_and_matched(run):
    result, events = run.result, run.events
    sent, received = (
        _named(events, "transport:packet_sent"),
        _named(events, "transport:packet_received"),
    )
    for packet in sent + received:
        kind, number = _number(packet)
        assert kind in TYPES
        assert isinstance(number, int)
        assert not {"packet_size", "payload_length", "length"} & set(packet["header"])
        assert "packet_type" not in packet
    assert all(0 < packet["raw"]["length"] <= DATAGRAM_BYTES for packet in sent)
    numbers = [_number(packet) for packet in sent]
    assert len(numbers) == len(set(numbers))
    # The relay counts datagrams, which have several packets only in the handshake. At the end of
    # the run up to a whole window may be between the socket and the relay.
    (flow,) = result.flows.iter_rows(named=True)
    data = sum(kind == "1RTT" for kind, _ in numbers)
    uncounted = len(numbers) - flow["total_sent_packets"]
    assert uncounted >= 0
    assert {"initial", "handshake", "1RTT"} <= {kind for kind, _ in map(_number, received)}
    with run.unless_busy():
        assert uncounted <= len(numbers) - data + flow["mean_cwnd_packets"] * 2


def test_losses_are_of_packets_that_were_sent(run):
    result, events = run.result, run.events
    sent = set(map(_number, _named(events, "transport:packet_sent")))
    lost = [_number(packet) for packet in _named(events, "recovery:packet_lost")]
    assert set(lost) <= sent
    # The result counts the losses in the measuring window.
    assert len(lost) >= result.flows["retransmitted_packets"][0]
    with run.unless_busy():
        assert result.flows["retransmitted_packets"][0] > 0


def test_windows_are_those_of_the_controller(run):
    result, events = run.result, run.events
    flow = result.quic_flows[0]
    windows = [
        (event["time"], event["data"]["congestion_window"])
        for event in events
        if event["name"] == "recovery:metrics_updated" and "congestion_window" in event["data"]
    ]
    with run.unless_busy():
        assert flow["cut_time_s"]
    for time_s, packets in zip(flow["cut_time_s"], flow["cut_after_packets"], strict=True):
        # Cuts and events have the same times; events have seven digits. On a busy machine
        # datagrams are processed together, and other events of the same microseconds follow.
        near = [
            window
            for time_ms, window in windows
            if math.isclose(time_ms, time_s * 1e3, abs_tol=1e-2)
        ]
        # Whole bytes.
        assert any(math.isclose(after, packets * DATAGRAM_BYTES, abs_tol=2) for after in near)


def test_round_trips_are_milliseconds_and_measured(run):
    names = ("min_rtt", "smoothed_rtt", "latest_rtt")
    metrics = _named(run.events, "recovery:metrics_updated")
    for name in names:
        times_ms = [event[name] for event in metrics if name in event]
        # The path takes 20 ms, and its queue of 40 packets of 1228 bytes at 10 Mbit/s another 39.
        assert min(times_ms) >= 20
        with run.unless_busy():
            assert min(times_ms) < 100
            # 333 ms is the initial RTT, before the first sample.
            assert times_ms[0] < 300


def test_a_qlog_becomes_a_scenario_of_the_same_path(run):
    path = Scenario.load(SMALL).canonical()["dumbbell"]
    with run.unless_busy():
        found = import_qlog(run.result.quic_flows[0]["qlog"], rule="AIMD(1, 0.5)")
        rate, rtt = found.estimates["rate_bps"], found.estimates["base_rtt_s"]
        base_rtt_s = run.result.flows["base_rtt_s"][0]
        assert rate.value == pytest.approx(bits_per_second(path["rate"]), rel=0.02)
        # Both endpoints and the relay add time of the host.
        assert base_rtt_s * 0.98 < rtt.value < base_rtt_s + 1e-3
        lost = len(_named(run.events, "recovery:packet_lost"))
        assert found.estimates["lost_packets"].value == lost
        assert found.difference < 0.1
