"""Flows that arrive are the same in ns-2, connection by connection: starts, sizes and delays are
the draws of the core. Flows and sources that share buckets of DRR share the same ones."""

from __future__ import annotations

import pytest

import cwndlab
from cwndlab.ns2.network import network
from cwndlab.ns2.transfers import TRANSFER

from . import exported
from .test_export import needs_ns2

PARETO = {"kind": "pareto", "mean": 20, "shape": 1.5}
BASE = {
    "duration": "20s",
    "profile": "ns2-2002",
    "dumbbell": {
        "rate": "1Mbit",
        "delay": "40ms",
        "access_rate": "5Mbit",
        "access_delay": ["8ms", "12ms"],
        "queue": {"kind": "drop-tail", "limit": "100pkt"},
    },
    "arrivals": [{"name": "web", "rule": "AIMD(1, 0.5)", "size": PARETO, "gap": "200ms"}],
}
PATCHES = {
    "many at once": {"arrivals.web.gap": "60ms", "arrivals.web.size": 10},
    "losses": {
        "dumbbell.queue": {"kind": "drop-tail", "limit": "5pkt"},
        "arrivals.web.gap": "90ms",
    },
    "a bucket each": {"dumbbell.queue": {"kind": "drr", "limit": "20kB"}},
    "no access links": {"dumbbell.access_rate": "unlimited", "dumbbell.access_delay": "0ms"},
    "beside a flow": {"flows": [{"name": "long", "rule": "AIMD(1, 0.5)"}]},
    "slots taken over, under load": {
        "duration": "300s",
        "dumbbell.queue": {"kind": "drop-tail", "limit": "12pkt"},
        "dumbbell.access_rate": "unlimited",
    },
    "Reno, ssthresh": {
        "arrivals.web.recovery": "reno",
        "arrivals.web.tcp": {"initial_ssthresh": 4},
    },
}


EQUAL = (
    "arrived_flows", "finished_flows", "sent_packets", "retransmitted_packets", "dropped_packets",
    "timeouts", "mean_fct_s", "p95_fct_s", "mean_slowdown",
)  # fmt: skip


@pytest.mark.parametrize("phases", [False, True])
def test_what_the_core_draws_is_what_it_runs(phases):
    changes = {"length": "5s", "gap": "100ms"}, {"length": "3s", "gap": "40ms"}
    patch = {"arrivals.web.phases": list(changes), "arrivals.web.gap": None} if phases else {}
    scenario = cwndlab.Scenario(BASE).patch({**patch, "dumbbell.rate": "100Mbit"})
    (drawn,) = network(scenario).arrivals
    ran = cwndlab.run(scenario).traces["transfers"]
    # Nothing queues: all flows complete but the last ones.
    assert 60 < len(ran) <= len(drawn.flows)
    starts = {flow.start_s: flow for flow in drawn.flows}
    for start_s, packets, time_s in ran.select("start_s", "packets", "fct_s").rows():
        flow = starts[start_s]
        assert flow.packets == packets
        assert time_s > drawn.links_rtt_s + 2 * flow.access_delay_s


@needs_ns2
@pytest.mark.parametrize("name", PATCHES)
def test_every_connection_completes_at_the_same_time(name):
    scenario = cwndlab.Scenario(BASE).patch(PATCHES[name])
    ours, theirs = cwndlab.run(scenario), cwndlab.ns2.run(scenario)
    script = cwndlab.export(scenario)
    printed = cwndlab.ns2.Ns2().run(script)
    times = [line.split("\t") for line in printed.splitlines() if line.startswith(TRANSFER)]
    found = {
        (float(start_s), int(packets)): float(time_s) for _, _, start_s, packets, time_s in times
    }
    wanted = {
        (start_s, packets): pytest.approx(time_s, abs=1e-9)
        for start_s, packets, time_s in ours.traces["transfers"]
        .select("start_s", "packets", "fct_s")
        .rows()
    }
    assert found == wanted
    for column in EQUAL:
        assert theirs.arrivals[column][0] == pytest.approx(ours.arrivals[column][0], rel=1e-9), (
            column
        )
    # ns-2 counts what arrived in order.
    assert theirs.arrivals["goodput_bps"][0] == pytest.approx(
        ours.arrivals["goodput_bps"][0], rel=0.03
    )


@needs_ns2
@pytest.mark.parametrize("buckets", [4, 10])
def test_flows_that_share_buckets_send_the_same_packets(buckets):
    queue = {"kind": "drr", "limit": "60kB", "quantum": "250B", "buckets": buckets}
    flows = [{"name": "a", "rule": "AIMD(1, 0.5)", "count": 10, "start": ["0s", "1s"]}]
    cross = [{"name": "cbr", "rate": "1Mbit", "count": 4, "start": "0.5s"}]
    changes = {"dumbbell.rate": "10Mbit", "dumbbell.queue": queue, "duration": "10s"}
    scenario = cwndlab.Scenario({**BASE, "arrivals": [], "flows": flows, "cross": cross})
    scenario = scenario.patch({**changes, "tcp": {"window": 1000, "initial_ssthresh": 1000}})
    ours, theirs = cwndlab.run(scenario), cwndlab.ns2.run(scenario)
    for column in ("sent_packets", "dropped_packets", "timeouts", "window_reductions"):
        assert theirs.flows[column].to_list() == ours.flows[column].to_list(), column
    assert theirs.cross["dropped_packets"].sum() == ours.cross["dropped_packets"].sum()


def test_flows_that_arrive_cannot_share_buckets():
    queue = {"kind": "drr", "limit": "20kB", "buckets": 4}
    with pytest.raises(cwndlab.ScenarioError, match=r"`arrivals\[0\].path` cannot be exported"):
        cwndlab.export(cwndlab.Scenario(BASE).set("dumbbell.queue", queue))


@needs_ns2
@pytest.mark.parametrize("name", exported.WITH_ARRIVALS)
def test_an_example_has_the_same_connections(name):
    scenario = exported.example(name, duration="10s")
    ours, theirs = cwndlab.run(scenario), cwndlab.ns2.run(scenario)
    for column in EQUAL:
        assert theirs.arrivals[column][0] == pytest.approx(ours.arrivals[column][0]), column
