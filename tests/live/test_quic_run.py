"""QUIC transfers through the relay: a result like a simulated one, the rule's cuts, marks, and ends that say why."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from quic_checks import CUTS, HALF, answered, scenario
from surroundings import SMALL, is_running

from cwndlab import Scenario, execute
from cwndlab.errors import LiveError, ScenarioError
from cwndlab.live import program
from cwndlab.live.quic import counterpart, quic

pytestmark = [
    pytest.mark.anywhere,
    pytest.mark.skipif(not program.BUILT.is_file(), reason="cwndlab-live is not built: make live"),
]
OURS = ("machine", "kept up", "bottleneck", "processors", "sockets")
"""Words of reasons that a busy machine gives."""


@pytest.fixture(autouse=True)
def _alone():
    """Wait for the end of somebody else's live run."""
    end = time.monotonic() + 120
    while is_running() and time.monotonic() < end:
        time.sleep(0.2)


def _is_sound(result) -> None:
    """Fail where a run is invalid for a reason that is not the machine's."""
    assert [reason for reason in result.reasons if not any(word in reason for word in OURS)] == []
    assert result.valid == (not result.reasons)


def test_a_run_has_the_result_of_a_simulated_one():
    asked = Scenario.load(SMALL).patch({"trace": {"cwnd": "20ms", "queue": "20ms", "rate": "500ms"}})
    result = quic(asked)
    _is_sound(result)
    simulated = execute.run(counterpart(asked, result.packet_bytes))
    assert result.flows.schema == simulated.flows.schema
    assert result.links.schema == simulated.links.schema
    assert set(result.traces) == {"cwnd", "queue", "rate"}
    assert result.traces["cwnd"]["cwnd_packets"].min() >= 2
    # 1000 bytes of payload would be packets of 1052 bytes: QUIC has none so small.
    assert result.packet_bytes == 1228
    assert "instead of 1052" in result.notes[0]
    (flow,) = result.flows.iter_rows(named=True)
    assert flow["sent_packets"] >= flow["delivered_packets"] > 0
    assert flow["total_sent_packets"] == (
        flow["total_delivered_packets"] + flow["total_dropped_packets"] + flow["in_flight_packets"]
    )
    # At most what the link carries, 10 Mbit/s of packets whose headers have 61 of 1228 bytes, and the buffer's 40.
    assert flow["goodput_bps"] * 2 / 8 <= (2 * 10e6 / 8 / 1228 + 40) * (1228 - 61) * 1.01
    assert result.quic_flows[0]["min_rtt_s"] >= 0.020


@pytest.mark.parametrize("rule", CUTS)
def test_windows_after_a_cut_are_the_rules(rule):
    result = quic(scenario(5, 2, [{"name": "flow", "rule": rule}], queue={"kind": "drop-tail", "limit": "10pkt"}))
    _is_sound(result)
    (flow,) = result.quic_flows
    cuts = answered(flow)
    assert cuts
    for before, after, in_slow_start in cuts:
        # On a loss in slow start GAIMD halves (Yang and Lam 2000, section 4.2).
        left = before / 2 if in_slow_start and rule.startswith("GAIMD") else CUTS[rule](before)
        assert after == pytest.approx(max(left, 2.0), rel=1e-9)


def test_marks_cut_windows_and_nothing_is_lost():
    queue = {"kind": "red", "limit": "500pkt", "min": "5pkt", "max": "200pkt", "max_p": 0.5, "ecn": True}
    asked = scenario(5, 3, [{"name": "flow", "rule": "AIMD(1, 0.5)"}], queue=queue)
    result = quic(asked.patch({"tcp.ecn": True, "tcp.initial_ssthresh": 10}))
    _is_sound(result)
    assert result.flows["ecn_reductions"][0] > 0
    assert set(result.quic_flows[0]["cut_cause"]) == {"mark"}
    assert result.links["marked_packets"].sum() > 0
    # Without ECN the same queue drops, and no cut is for a mark.
    deaf = quic(asked.patch({"tcp.initial_ssthresh": 10}))
    assert deaf.links["marked_packets"].sum() == 0
    assert "mark" not in deaf.quic_flows[0]["cut_cause"]


def test_a_transfer_of_so_many_packets_ends():
    flows = [
        {"name": "short", "rule": "CUBIC", "packets": 50},
        {"name": "late", "rule": "CUBIC", "start": "1.5s", "stop": "2.5s"},
    ]
    result = quic(scenario(5, 2, flows))
    _is_sound(result)
    short, late = result.flows.iter_rows(named=True)
    assert result.quic_flows[0]["stream_bytes"] == 50 * 1448
    # 50 packets of 1500 bytes take 0.12 s at 5 Mbit/s, and some round trips of 20 ms.
    assert short["finish_s"] >= 0.12
    assert late["finish_s"] is None
    assert 0 < result.quic_flows[1]["stream_bytes"] <= 1.0 * 5e6 / 8 * 1.2


def test_half_of_the_packets_lost_is_survived():
    result = quic(scenario(10, 3, [{"name": "flow", "rule": "AIMD(1, 0.5)"}], loss=HALF))
    assert 0.3 < result.flows["dropped_packets"][0] / max(result.flows["sent_packets"][0], 1) < 0.7
    assert result.duration_s == 5


def test_an_outage_is_survived():
    asked = scenario(5, 4, [{"name": "flow", "rule": "AIMD(1, 0.5)"}], outages=[{"from": "1.5s", "to": "3.5s"}])
    result = quic(asked.set("trace", {"rate": "500ms"}))
    rates = dict(result.traces["rate"].select("time_s", "goodput_bps").iter_rows())
    assert rates[2.0] == rates[2.5] == 0
    assert rates[5.0] > 0


def test_records_are_json_text_sequences(tmp_path):
    result = quic(Scenario.load(SMALL), qlog=tmp_path / "qlog")
    (path,) = [Path(flow["qlog"]) for flow in result.quic_flows]
    # RFC 7464: each record begins with 0x1E.
    records = [json.loads(record) for record in path.read_text().split("\x1e")[1:-1]]
    names = [record.get("name") for record in records[1:]]
    assert records[0]["qlog_format"] == "JSON-SEQ"
    assert "recovery:metrics_updated" in names
    assert "transport:packet_sent" in names


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("flows.0.rule", "BBR1", r"flows\[0\].rule: rule .BBR1. sets the rate"),
        ("tcp", {"max_burst": 3}, "tcp.max_burst: is quinn's own business"),
        ("profile", "ns2-2.35", "profile: "),
        ("trace", {"packets": True}, "trace.packets: "),
    ],
)
def test_what_cannot_be_had_is_refused_by_name(key, value, message):
    with pytest.raises((LiveError, ScenarioError), match=message):
        quic(Scenario.load(SMALL).patch({key: value}))


def test_a_port_in_use_is_named():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(LiveError, match=f"port: {port} is in use on 127.0.0.1"):
            quic(SMALL, port=port)


@pytest.mark.parametrize("how", ["interrupt", "kill the command", "kill the program"])
def test_nothing_stays_behind(tmp_path, how):
    (tmp_path / "long.toml").write_text(SMALL.replace('"3s"', '"60s"'))
    command = [sys.executable, "-m", "cwndlab", "live", "quic", "long.toml"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        child = _running(process)
        if how == "kill the program":
            os.kill(child, signal.SIGKILL)
        else:
            process.send_signal(signal.SIGINT if how == "interrupt" else signal.SIGKILL)
        _, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.communicate()
    expected = {"interrupt": 130, "kill the command": -signal.SIGKILL}.get(how, 2)
    assert process.returncode == expected, err
    if how == "kill the program":
        assert "ended without a word (exit code -9)" in err
    end = time.monotonic() + 20
    while Path(f"/proc/{child}/task").exists() or is_running():
        assert time.monotonic() < end, "it did not end"
        time.sleep(0.05)


def _running(process: subprocess.Popen[str]) -> int:
    """Wait until the program runs transfers; its process."""
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        if children and is_running():
            return int(children[0])
        time.sleep(0.05)
    raise AssertionError(process.communicate())
