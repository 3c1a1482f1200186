"""Tests of QUIC runs: fields of the result, cuts, marks, losses, outages, and how a run ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from host_load import SMALL, Load, is_running, measured, unless_busy
from quic_checks import CUTS, HALF, answered, scenario

from cwndlab import Result, Scenario, outputs
from cwndlab.errors import LiveError, ScenarioError
from cwndlab.kernel_runs import program
from cwndlab.live_runs.quic import counterpart, quic
from cwndlab.runs import execute
from waiting import HANG_S, wait_until

pytestmark = [
    pytest.mark.anywhere,
    pytest.mark.usefixtures("alone"),
    pytest.mark.skipif(not program.BUILT.is_file(), reason="cwndlab-live is not built: make live"),
]
FLOW = {"name": "flow", "rule": "AIMD(1, 0.5)"}


def _run(asked: Scenario, **named) -> tuple[Result, Load]:
    with measured() as load:
        result = quic(asked, **named)
    assert result.valid == (result.reasons == [])
    return result, load


def test_a_run_has_the_result_of_a_simulated_one():
    asked = Scenario.load(SMALL).patch(
        {"trace": {"cwnd": "20ms", "queue": "20ms", "rate": "500ms"}}
    )
    result, load = _run(asked)
    simulated = execute.run(counterpart(asked, result.packet_bytes))
    assert result.flows.schema == simulated.flows.schema
    assert result.links.schema == simulated.links.schema
    jsonschema.validate(json.loads(result.to_json()), outputs.schema("live"))
    assert set(result.traces) == {"cwnd", "queue", "rate"}
    assert result.traces["cwnd"]["cwnd_packets"].min() >= 2
    # 1000 bytes of payload would be packets of 1052 bytes, which QUIC does not allow.
    assert result.packet_bytes == 1228
    assert "instead of 1052" in result.notes[0]
    (flow,) = result.flows.iter_rows(named=True)
    assert flow["total_sent_packets"] == (
        flow["total_delivered_packets"] + flow["total_dropped_packets"] + flow["in_flight_packets"]
    )
    # At most what the link carries, 10 Mbit/s of packets with 61 of 1228 bytes of headers, and the
    # 40 packets of the buffer.
    assert flow["goodput_bps"] * 2 / 8 <= (2 * 10e6 / 8 / 1228 + 40) * (1228 - 61) * 1.01
    assert result.quic_flows[0]["min_rtt_s"] >= 0.020
    with unless_busy(load, result):
        assert result.reasons == []
        assert flow["sent_packets"] >= flow["delivered_packets"] > 0
        assert flow["goodput_bps"] > 0.95 * 10e6 * (1228 - 61) / 1228


def test_windows_after_a_cut_are_the_rules():
    flows = [{"name": f"flow-{number}", "rule": rule} for number, rule in enumerate(CUTS)]
    asked = scenario(20, 1, flows, begin_s=1, queue={"kind": "drop-tail", "limit": "20pkt"})
    result, load = _run(asked)
    for flow, (rule, equations) in zip(result.quic_flows, CUTS.items(), strict=True):
        for before, after, in_slow_start in answered(flow):
            # On a loss in slow start GAIMD halves (Yang and Lam 2000, section 4.2).
            left = before / 2 if in_slow_start and rule.startswith("GAIMD") else equations(before)
            assert after == pytest.approx(max(left, 2.0), rel=1e-9), rule
    with unless_busy(load, result):
        assert result.reasons == []
        for flow in result.quic_flows:
            assert sum(not in_slow_start for *_, in_slow_start in answered(flow)) >= 2, flow


def test_marks_cut_windows_and_nothing_is_lost():
    queue = {
        "kind": "red",
        "limit": "500pkt",
        "min": "5pkt",
        "max": "200pkt",
        "max_p": 0.5,
        "ecn": True,
    }
    asked = scenario(5, 1, [FLOW], begin_s=1, queue=queue).patch({"tcp.initial_ssthresh": 10})
    # Without ECN the queue drops packets, and no cut has the cause mark.
    without_ecn, _ = _run(asked)
    assert without_ecn.links["marked_packets"].sum() == 0
    assert "mark" not in without_ecn.quic_flows[0]["cut_cause"]
    result, load = _run(asked.patch({"tcp.ecn": True}))
    with unless_busy(load, result):
        assert result.reasons == []
        assert result.flows["ecn_reductions"][0] > 0
        assert set(result.quic_flows[0]["cut_cause"]) == {"mark"}
        assert result.links["marked_packets"].sum() > 0


def test_a_transfer_of_so_many_packets_ends():
    flows = [
        {"name": "short", "rule": "CUBIC", "packets": 50},
        {"name": "late", "rule": "CUBIC", "start": "1s", "stop": "2s"},
    ]
    result, load = _run(scenario(5, 2, flows, begin_s=1))
    short, late = result.flows.iter_rows(named=True)
    assert late["finish_s"] is None
    with unless_busy(load, result):
        assert result.reasons == []
        assert result.quic_flows[0]["stream_bytes"] == 50 * 1448
        # 50 packets of 1500 bytes take 0.12 s at 5 Mbit/s, and some round trips of 20 ms.
        assert short["finish_s"] is not None
        assert short["finish_s"] >= 0.12
        assert 0 < result.quic_flows[1]["stream_bytes"] <= 1.0 * 5e6 / 8 * 1.2


def test_a_flow_survives_the_loss_of_half_of_its_packets():
    result, load = _run(scenario(10, 2, [FLOW], begin_s=1, loss=HALF))
    assert result.duration_s == 3
    (flow,) = result.flows.iter_rows(named=True)
    with unless_busy(load, result):
        assert flow["total_delivered_packets"] > 10
        assert 0.3 < flow["total_dropped_packets"] / flow["total_sent_packets"] < 0.7


def test_a_flow_survives_an_outage():
    asked = scenario(5, 2, [FLOW], begin_s=1, outages=[{"from": "0.8s", "to": "1.6s"}]).set(
        "trace", {"rate": "500ms"}
    )
    result, load = _run(asked)
    rates = dict(result.traces["rate"].select("time_s", "goodput_bps").iter_rows())
    with unless_busy(load, result):
        assert rates[1.0] == 0
        assert sum(rate for time_s, rate in rates.items() if time_s >= 1.5) > 0


def test_qlog_files_are_json_text_sequences(tmp_path):
    result, load = _run(
        Scenario.load(SMALL).patch({"duration": "1s", "measure": None}), qlog=tmp_path / "qlog"
    )
    (path,) = [Path(flow["qlog"]) for flow in result.quic_flows]
    # RFC 7464: each record begins with 0x1E.
    records = [json.loads(record) for record in path.read_text().split("\x1e")[1:-1]]
    names = [record.get("name") for record in records[1:]]
    assert records[0]["qlog_format"] == "JSON-SEQ"
    with unless_busy(load, result):
        assert "recovery:metrics_updated" in names
        assert "transport:packet_sent" in names


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("flows.0.rule", "BBR1", r"flows\[0\].rule: rule .BBR1. sets the pacing rate"),
        ("tcp", {"max_burst": 3}, "tcp.max_burst: has no effect on quinn"),
        ("profile", "ns2-2.35", "profile: "),
        ("trace", {"packets": True}, "trace.packets: "),
        ("dumbbell.drop", [{"flow": "flow", "packet": 30}], "dumbbell.drop: QUIC gives each"),
    ],
)
def test_unsupported_settings_are_refused_by_name(key, value, message):
    with pytest.raises((LiveError, ScenarioError), match=message):
        quic(Scenario.load(SMALL).patch({key: value}))


def test_a_port_in_use_is_named():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(LiveError, match=f"port: {port} is in use on 127.0.0.1"):
            quic(SMALL, port=port)


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ("interrupt the command", 130),
        ("terminate the command", 143),
        ("kill the command", -signal.SIGKILL),
        ("kill the program", 2),
    ],
)
def test_nothing_stays_behind(tmp_path, how, code):
    # A run that ends only by a signal.
    (tmp_path / "long.toml").write_text(SMALL.replace('"3s"', f'"{HANG_S:.0f}s"'))
    command = [sys.executable, "-m", "cwndlab", "live", "quic", "long.toml"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        child = _running(process)
        verb, _, whom = how.partition(" the ")
        number = {"interrupt": signal.SIGINT, "terminate": signal.SIGTERM, "kill": signal.SIGKILL}[
            verb
        ]
        os.kill(child if whom == "program" else process.pid, number)
        _, err = process.communicate(timeout=HANG_S)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == code, err
    if how == "kill the program":
        assert "ended without a word (exit code -9)" in err
    wait_until(
        lambda: not Path(f"/proc/{child}/task").exists() and not is_running(),
        "the end of the program",
    )


def _running(process: subprocess.Popen[str]) -> int:
    """Wait until the program runs transfers; return its process ID."""

    def children() -> list[str]:
        return Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()

    wait_until(
        lambda: process.poll() is not None or (children() and is_running()),
        "the start of the program",
    )
    assert process.poll() is None, process.communicate()
    return int(children()[0])
