"""The same scenario run by cwndlab, in the shape that ``ns2.run`` returns."""

from __future__ import annotations

import json

from .ns2 import Flow, Send

SEND, TIMEOUT = 0, 4


def with_phases(scenario: dict, phases: list[float]) -> dict:
    """The scenario with the timer phases that ns-2 drew, and the packet trace switched on."""
    flows = []
    for flow in scenario["flows"]:
        if flow.get("count", 1) != 1:
            raise ValueError("one entry for each flow: the timer phases differ")
        flows.append({**flow, "tcp": {**flow.get("tcp", {}), "timer_phase": phases[len(flows)]}})
    return {**scenario, "flows": flows, "trace": {"packets": True}}


def run(scenario: dict, phases: list[float]) -> list[Flow]:
    import polars

    from cwndlab import native

    traces = native.Scenario(json.dumps(with_phases(scenario, phases)), "json").run().traces()
    columns = polars.DataFrame(traces["packets"]).to_dict(as_series=True)
    flows = [Flow(timer_phase_s=phase) for phase in phases]
    names = ("time_s", "event", "flow", "seq", "size_bytes", "cwnd_packets", "ssthresh_packets")
    for time_s, event, flow, seq, size, cwnd, ssthresh in zip(
        *(columns[name].to_list() for name in names), strict=True
    ):
        if event == SEND:
            flows[flow].sends.append(Send(time_s, seq, size, cwnd, ssthresh))
        elif event == TIMEOUT:
            flows[flow].timeouts += 1
    return flows
