"""Tests of `tcp.initial_ssthresh` of flows with rules in the kernel: slow start ends at it."""

from __future__ import annotations

import socket
import struct

import polars as pl
import pytest
from host_load import SMALL, measured, unless_busy
from test_kernel_rules import REASON, registered

import cwndlab
from cwndlab.errors import LiveError
from cwndlab.live_runs.run import linux

pytestmark = [
    pytest.mark.usefixtures("unchanged"),
    pytest.mark.skipif(REASON is not None, reason=REASON or ""),
]

# 10 Mbit/s, 20 ms and room for 40 packets hold 63 packets of 1052 bytes. Two windows W together
# grow by 2 packets in W x 0.84 ms, so from 24 packets they come to 54 in half a second: nothing is
# lost until then.
FLOWS = [
    {"name": "low", "rule": "AIMD(1, 0.5)", "tcp": {"initial_ssthresh": 8}},
    {"name": "high", "rule": "AIMD(1, 0.5)", "tcp": {"initial_ssthresh": 16}},
    {"name": "none", "rule": "AIMD(1, 0.5)", "start": "0.6s"},
]


def test_each_flow_leaves_slow_start_at_its_threshold():
    asked = cwndlab.Scenario.load(SMALL).patch(
        {"flows": FLOWS, "duration": "1.2s", "measure": None, "trace": {"cwnd": "1ms"}}
    )
    with measured() as load:
        result = linux(asked)
    # Two thresholds of one rule are two registrations, and none is a third.
    assert [rule["rule"] for rule in result.kernel_rules] == ["AIMD(1, 0.5)"] * 3
    # Late packets arrive in bursts, which a full queue drops.
    with unless_busy(load, result):
        assert result.reasons == []
        _leave_slow_start(result.traces["cwnd"].drop_nulls("srtt_s"))


def _leave_slow_start(trace: pl.DataFrame) -> None:
    for name, threshold in (("low", 8), ("high", 16)):
        course = trace.filter((pl.col("flow") == name) & (pl.col("time_s") < 0.5))
        assert set(course["ssthresh_packets"]) == {threshold}
        reached = course.filter(pl.col("cwnd_packets") >= threshold)["time_s"].min()
        assert reached is not None
        # Growth after slow start is a packet per RTT of at least 20 ms; slow start would double the
        # window.
        after = course.filter(pl.col("time_s") >= reached)
        rounds = (after["time_s"].max() - reached) / 0.020
        assert threshold + 1 <= after["cwnd_packets"].max() <= threshold + 1 + rounds
        # The first RTT adds a packet, plus or minus one.
        first = after.filter(pl.col("time_s") < reached + 0.020)["cwnd_packets"].max()
        assert threshold <= first <= threshold + 2
    free = trace.filter(pl.col("flow") == "none")
    assert free["ssthresh_packets"][0] is None


def test_it_is_refused_for_congestion_controls_of_linux():
    flows = [{"name": "flow", "rule": "kernel:reno", "tcp": {"initial_ssthresh": 8}}]
    with pytest.raises(LiveError, match=r"flows\[0\].tcp.initial_ssthresh: "):
        linux(cwndlab.Scenario.load(SMALL).patch({"flows": flows}))


@pytest.mark.parametrize("packets", [2, 30, 1_000_000])
def test_an_installed_rule_begins_with_its_threshold(packets):
    # struct tcp_info (linux/tcp.h): tcpi_snd_ssthresh is at offset 76.
    with (
        registered("AIMD(1, 0.5)", "cwl_t_begin", "--initial-ssthresh", str(packets)),
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket() as flow,
    ):
        flow.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cwl_t_begin")
        flow.connect(server.getsockname())
        info = flow.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
        assert struct.unpack_from("I", info, 76) == (packets,)
