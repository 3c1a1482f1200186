"""Tests of short live runs: checks that hold on any machine, and checks that need an idle one."""

from __future__ import annotations

import json

import jsonschema
import polars as pl
import pytest
from host_load import SMALL, Load, measured, unless_busy

import cwndlab
from cwndlab import outputs
from cwndlab.live_runs.run import linux

pytestmark = pytest.mark.usefixtures("unchanged")


def _run(text: str = SMALL, **patch) -> tuple[cwndlab.Result, Load]:
    scenario = cwndlab.Scenario.load(text).patch(
        {key.replace("__", "."): value for key, value in patch.items()}
    )
    with measured() as load:
        result = linux(scenario)
    assert result.valid == (result.reasons == [])
    return result, load


def test_a_flow_fills_the_link_and_its_packets_add_up():
    result, load = _run(trace={"cwnd": "20ms", "queue": "20ms", "rate": "500ms"})
    flow, link = result.flows.to_dicts()[0], result.links.to_dicts()[0]
    # Packets of 1000 + 40 + 12 bytes at 10 Mbit/s.
    ideal = 10e6 * 1000 / 1052
    assert flow["goodput_bps"] < 1.01 * ideal
    sent = (
        flow["total_delivered_packets"] + flow["total_dropped_packets"] + flow["in_flight_packets"]
    )
    assert flow["total_sent_packets"] == sent
    arrived = (
        link["total_departed_packets"] + link["total_dropped_packets"] + link["queued_packets"]
    )
    assert link["total_arrived_packets"] == arrived
    assert link["mean_queue_packets"] <= 40
    # No RTT is shorter than the propagation delays and the transmission of a SYN and a SYN-ACK of
    # 60 bytes each.
    least = result.kernel_flows[0]
    assert least["wire_min_rtt_s"] + 1e-9 >= 0.020 + 8 * (60 + 60) / 10e6
    # The kernel's RTT samples from timestamps are whole milliseconds.
    assert least["wire_min_rtt_s"] <= least["min_rtt_s"] + 1e-3
    # The trace has a sample every 20 ms, and the maximum is over all samples; slow start doubles
    # the window every round trip.
    traced = result.traces["cwnd"]["cwnd_packets"].max()
    assert traced <= least["largest_cwnd_packets"]
    assert set(result.traces) == {"cwnd", "queue", "rate"}
    assert result.traces["queue"]["queue_packets"].max() <= 41
    with unless_busy(load, result):
        assert result.reasons == []
        assert flow["goodput_bps"] > 0.99 * ideal
        assert traced >= least["largest_cwnd_packets"] / 2


def test_reno_halves_and_adds_a_packet_a_round_trip():
    result, load = _run(duration="5s", measure=["3s", "5s"], trace={"cwnd": "10ms"})
    trace = result.traces["cwnd"].filter(pl.col("time_s") > 3)
    # Cuts show in the window; successive thresholds may be equal.
    is_high = trace["cwnd_packets"] > 1.5 * trace["ssthresh_packets"]
    # Late packets arrive in bursts, which a full queue drops.
    with unless_busy(load, result):
        assert result.reasons == []
        assert (is_high.shift() & ~is_high).sum() >= 1
        # RFC 5681: half of what was in flight, which is the buffer and what the path holds: 40 + 1
        # + 24 packets, give or take two.
        assert trace["ssthresh_packets"].is_between(30, 34).all()


def test_marks_instead_of_losses():
    red = {"kind": "red", "limit": "100pkt", "min": "5pkt", "max": "20pkt", "ecn": True}
    # Without ECN the queue drops packets.
    without_ecn, _ = _run(dumbbell__queue=red)
    assert without_ecn.links["marked_packets"][0] == 0
    assert without_ecn.flows["ecn_reductions"][0] == 0
    result, load = _run(dumbbell__queue=red, tcp={"ecn": True})
    with unless_busy(load, result):
        assert result.reasons == []
        assert result.links["marked_packets"][0] > 0
        assert result.flows["ecn_reductions"][0] > 0


def test_listed_packets_are_dropped():
    drop = [
        {"flow": "flow", "packet": 100},
        {"flow": "flow", "packet": 100, "transmission": 2},
        {"flow": "flow", "packet": 200, "hold": "5ms"},
    ]
    queue = {"kind": "drop-tail", "limit": "1000pkt"}
    result, _ = _run(dumbbell__drop=drop, dumbbell__queue=queue, flows__0__packets=300)
    flow = result.flows.to_dicts()[0]
    assert flow["finish_s"] is not None
    assert flow["total_dropped_packets"] == 2
    assert result.links["total_dropped_packets"][0] == flow["total_dropped_packets"]


def test_cubic_waits_in_the_c_queue_of_dualpi2():
    result, load = _run(
        duration="8s", measure=["3s", "8s"], tcp={"ecn": True},
        dumbbell__queue={"kind": "dualpi2", "limit": "1000pkt"}, flows=[{"rule": "kernel:cubic"}],
    )  # fmt: skip
    link = result.links.row(0, named=True)
    # CUBIC is not an L4S rule: no packet is marked in the L queue.
    assert link["l4s_marked_packets"] == 0
    with unless_busy(load, result):
        assert result.reasons == []
        assert link["marked_packets"] > 0
        assert link["dropped_packets"] == 0
        # The target is 15 ms.
        assert 0.008 < link["mean_queueing_delay_s"] < 0.022


def test_flows_start_stop_and_finish_when_the_scenario_says():
    flows = [
        {"name": "short", "rule": "kernel:reno", "packets": 100},
        {
            "name": "late",
            "rule": "kernel:cubic",
            "start": "1s",
            "stop": "2s",
            "access_delay": "20ms",
        },
        {"name": "last", "rule": "kernel:bbr", "start": "2.5s"},
    ]
    result, load = _run(flows=flows, trace={"rate": "500ms"})
    rows = {row["flow"]: row for row in result.flows.to_dicts()}
    assert rows["late"]["base_rtt_s"] == pytest.approx(0.06)
    assert rows["last"]["finish_s"] is None
    rates = result.traces["rate"].filter(pl.col("flow") == "late")
    assert rates.filter(pl.col("time_s") < 1)["goodput_bps"].sum() == 0
    with unless_busy(load, result):
        assert result.reasons == []
        finish_s = {
            name: row["finish_s"] for name, row in rows.items() if row["finish_s"] is not None
        }
        assert set(finish_s) == {"short", "late"}
        # 100 packets take at least four round trips from a window of four packets: SYN, 4, 8, 16,
        # 32, and the rest.
        assert 5 * 0.02 < finish_s["short"] < 1.5
        assert rows["short"]["total_delivered_packets"] >= 101
        assert 2.0 < finish_s["late"] < 3.0
        assert rows["last"]["total_sent_packets"] > 10
        # From 1 s to 2 s the flow is alone on the link.
        assert (
            rates.filter((pl.col("time_s") >= 1) & (pl.col("time_s") < 2))["goodput_bps"].sum()
            * 0.5
            > 2e6
        )


def test_settings_of_the_scenario_reach_the_kernel():
    result, load = _run(tcp={"packet_size": 1448, "initial_window": 7}, trace={"cwnd": "1ms"})
    assert result.kernel_flows[0]["mss_bytes"] == 1448
    trace = result.traces["cwnd"].filter(pl.col("srtt_s").is_not_null())
    with unless_busy(load, result):
        assert result.reasons == []
        assert trace["cwnd_packets"].min() >= 6


def test_the_window_of_the_receiver_limits_a_flow():
    result, load = _run(tcp={"window": 10, "timestamps": False})
    # A window of 10 packets per RTT, which is at least 20 ms of propagation and 0.86 ms of
    # transmission. The window scale gives steps of 128 bytes or more, less than a packet.
    assert result.flows["goodput_bps"][0] < 10 * 8000 / 0.0208
    with unless_busy(load, result):
        assert result.reasons == []
        assert result.flows["goodput_bps"][0] > 9 * 8000 / 0.0218


def test_the_command_prints_and_writes_what_a_run_does(cli, tmp_path):
    (tmp_path / "small.toml").write_text(SMALL.replace('"3s"', '"2s"'))
    done = cli("live", "linux", "small.toml", "--beside", "--replicates", "3", "--out", "out",
               "--json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    jsonschema.validate(answer, outputs.schema("live-beside"))
    assert answer["live"]["backend"] == "linux"
    assert isinstance(answer["live"]["valid"], bool)
    assert len(answer["simulated"]) == 3
    for name in ("live", "simulated/seed-1", "simulated/seed-3"):
        assert cwndlab.Result.load(tmp_path / "out" / name).flows.height == 1
    assert (tmp_path / "out" / "small-beside.png").stat().st_size > 20_000
    plain = cli("live", "linux", "small.toml")
    assert "valid" in plain.stdout.lower()
    assert "RTTs" in plain.stdout
