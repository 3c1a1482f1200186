"""CUBIC in a script is Linux 2.6.22's, in an endpoint of its own: not packets are compared but what
a run measures."""

from __future__ import annotations

import pytest

import cwndlab
from cwndlab import ns2

from .test_export import needs_ns2

BASE = {
    "duration": "60s",
    "measure": ["10s", "60s"],
    "profile": "ns2-2.35",
    "tcp": {"window": 100_000},
    "dumbbell": {
        "rate": "20Mbit",
        "delay": "40ms",
        "queue": {"kind": "drop-tail", "limit": "1bdp"},
    },
    "flows": [{"name": "a", "rule": "CUBIC", "count": 4, "start": ["0s", "1s"]}],
}


def test_parameters_are_those_of_the_module():
    scenario = cwndlab.Scenario(BASE).set("flows.a.rule", "CUBIC(C=0.8, convergence=plain)")
    script = ns2.export(scenario)
    for name, value in (("bic_scale", 82), ("beta", 717), ("fast_convergence", 0)):
        assert f"$tcp($i) set_ca_param cubic {name} {value}\n" in script
    assert "[new Agent/TCP/Linux]" in script
    with pytest.raises(
        cwndlab.ScenarioError, match=r"tcp.initial_window: 10 is not valid: expected 2"
    ):
        ns2.export(scenario.set("tcp.initial_window", 10))
    assert "windowOption_" not in script
    assert "Linux" not in ns2.export(scenario.set("flows.a.rule", "NewReno"))


@needs_ns2
@pytest.mark.parametrize("flows", [1, 4])
def test_a_full_link_and_its_queue_are_alike(flows):
    scenario = cwndlab.Scenario(BASE).set("flows.a.count", flows)
    ours, theirs = cwndlab.run(scenario), ns2.run(scenario)
    # Its recovery sends sooner after the losses at the end of slow start.
    goodput = [run.flows["goodput_bps"].sum() for run in (theirs, ours)]
    assert goodput[0] == pytest.approx(goodput[1], rel=0.01)
    assert theirs.links["mean_queueing_delay_s"][0] == pytest.approx(
        ours.links["mean_queueing_delay_s"][0], rel=0.03
    )


@needs_ns2
def test_flows_that_arrive_complete_in_the_same_time():
    size = {"kind": "pareto", "mean": 20, "shape": 1.2, "most": 2000}
    scenario = cwndlab.Scenario({
        **BASE,
        "flows": [],
        "arrivals": [{"name": "web", "rule": "CUBIC", "size": size, "gap": "20ms"}],
    })  # fmt: skip
    ours, theirs = (
        run.arrivals.to_dicts()[0] for run in (cwndlab.run(scenario), ns2.run(scenario))
    )
    assert theirs["finished_flows"] == pytest.approx(ours["finished_flows"], rel=0.01)
    assert theirs["mean_fct_s"] == pytest.approx(ours["mean_fct_s"], rel=0.05)


@needs_ns2
@pytest.mark.parametrize("packets", [1, 2, 7, 50])
def test_a_flow_without_losses_completes_at_the_same_time(packets):
    """Until a loss the endpoint slow-starts as ns-2's others do."""
    arrivals = [{"name": "a", "rule": "CUBIC", "size": packets, "gap": "4s", "regular": True}]
    scenario = cwndlab.Scenario(
        {
            **BASE,
            "tcp": {},
            "flows": [],
            "arrivals": arrivals,
            "dumbbell": {"rate": "20Mbit", "delay": "40ms"},
        }
    )
    ours, theirs = (
        run.arrivals["mean_fct_s"][0] for run in (cwndlab.run(scenario), ns2.run(scenario))
    )
    assert theirs == pytest.approx(ours, rel=1e-9)
