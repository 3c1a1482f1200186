"""Flows and sources of one group that differ, behind links of their own, send the same packets in
ns-2, and a queue drops the same ones at the same times."""

from __future__ import annotations

import pytest

import cwndlab
from cwndlab.ns2.timer_seeds import first_number

from . import compare, exported, ns2, reference
from .test_export import needs_ns2

TICK_S = 0.01


PHASES_S = [exported.PHASE_S, *(first_number(seed) * TICK_S for seed in (700, 1496))]
FLOWS = {
    "name": "group",
    "count": 3,
    "rule": "AIMD(1, 0.5)",
    "start": {"each": ["0s", "1.3s", "0.35s"]},
    "access_delay": {"each": ["1ms", "12ms", "3.7ms"]},
    "sink_delay": {"each": ["2ms", "0ms", "0.4ms"]},
    "tcp": {"timer_phase": {"each": PHASES_S}},
}
SOURCES = {
    "name": "cbr",
    "count": 2,
    "rate": "300kbit",
    "packet_size": "500B",
    "start": {"each": ["0.2s", "0.9s"]},
    "first_at_start": True,
    "access_rate": "10Mbit",
    "access_delay": {"each": ["500ms", "5ms"]},
    "stop": "10.7s",
}
SCENARIO = {
    "duration": "12s",
    "measure": ["2s", "11s"],
    "profile": "ns2-2.35",
    "dumbbell": {
        "rate": "2Mbit",
        "delay": "20ms",
        "access_rate": "10Mbit",
        "queue": {"kind": "drop-tail", "limit": "12pkt"},
    },
    "flows": [FLOWS],
    "cross": [SOURCES],
}
QUEUES = {
    "drop-tail": {"kind": "drop-tail", "limit": "12pkt"},
    "drr": {"kind": "drr", "limit": "9kB"},
}


@needs_ns2
@pytest.mark.parametrize("queue", QUEUES)
def test_flows_and_sources_of_a_group_send_the_same_packets(queue):
    scenario = cwndlab.Scenario(SCENARIO).patch({"dumbbell.queue": QUEUES[queue]})
    theirs = ns2.flows(reference.live(ns2.exported(scenario)), PHASES_S)
    traced = cwndlab.run(scenario.patch({"trace": {"packets": True}}))
    columns = ("time_s", "seq", "size_bytes", "cwnd_packets", "ssthresh_packets")
    sent = traced.traces["packets"].filter(event="send")
    for flow, other in zip(traced.flows["flow"].to_list(), theirs, strict=True):
        rows = sent.filter(flow=flow).select(*columns).rows()
        assert len(rows) > 100
        message = compare.describe(ns2.Flow([ns2.Send(*row) for row in rows]), other, 12.0)
        assert message is None, f"{flow}: {message}"
    beside = cwndlab.ns2.run(scenario)
    assert traced.flows["dropped_packets"].sum() > 20
    for key in ("sent_packets", "acknowledged_packets", "dropped_packets", "timeouts"):
        assert beside.flows[key].to_list() == traced.flows[key].to_list()
    for key in ("sent_packets", "delivered_packets", "dropped_packets"):
        assert beside.cross[key].to_list() == traced.cross[key].to_list()


@needs_ns2
def test_a_packet_that_is_complete_when_the_rate_changes_is_sent():
    """4000 bits at 500 kbit/s: 125 packets take the second until the source is silent for one."""
    available = {"kind": "square", "high": "2Mbit", "low": "1500kbit", "every": "1s"}
    source = {"name": "left", "available": available, "packet_size": "500B"}
    scenario = cwndlab.Scenario({**SCENARIO, "measure": ["0s", "12s"], "cross": [source]})
    ours, theirs = cwndlab.run(scenario), cwndlab.ns2.run(scenario)
    assert ours.cross["sent_packets"].to_list() == theirs.cross["sent_packets"].to_list() == [750]
    for key in ("sent_packets", "acknowledged_packets", "dropped_packets"):
        assert ours.flows[key].to_list() == theirs.flows[key].to_list()


@needs_ns2
@pytest.mark.parametrize("queue", QUEUES)
def test_a_queue_drops_the_same_packets_at_the_same_times(queue):
    scenario = cwndlab.Scenario(SCENARIO).patch({"dumbbell.queue": QUEUES[queue]})
    script = cwndlab.export(scenario)
    traced = "set trace [open /dev/stdout w]\n$ns trace-queue $n(r1) $n(r2) $trace\n$ns run"
    printed = cwndlab.ns2.Ns2().run(traced.join(script.rsplit("$ns run", 1)))
    drops = [line.split() for line in printed.splitlines() if line.startswith("d ")]
    theirs = [(float(row[1]), int(row[7]) - 1, int(row[10])) for row in drops if row[4] == "tcp"]
    ours = cwndlab.run(scenario.patch({"trace": {"packets": True}}))
    rows = ours.traces["packets"].filter(event="drop").select("time_s", "flow", "seq").rows()
    number = {name: index for index, name in enumerate(ours.flows["flow"].to_list())}
    assert len(rows) > 20
    assert [(number[flow], seq) for _, flow, seq in rows] == [row[1:] for row in theirs]
    # ns-2 prints six digits.
    assert [row[0] for row in rows] == pytest.approx([row[0] for row in theirs], abs=1e-5)
