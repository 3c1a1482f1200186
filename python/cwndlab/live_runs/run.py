"""One live run, and its result in the form of a simulated one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cwndlab import native
from cwndlab.arguments import Simulated
from cwndlab.columns import tables_from
from cwndlab.kernel_runs import outcomes, protocol, virtual
from cwndlab.kernel_runs.kernels import Kernel
from cwndlab.live_runs.result import LiveResult
from cwndlab.scenario import DEFAULT_PROFILE, Scenario, Source


def linux(
    scenario: Source, *, kernel: Kernel | None = None, progress: Simulated | None = None
) -> LiveResult:
    """Run a scenario with TCP flows of this machine's kernel, or of one in virtual time.

    With this machine's kernel it takes the scenario's duration.

    Parameters
    ----------
    scenario : Scenario, mapping, str or Path
        The scenario. Rules are the kernel's own (``kernel:reno``, ``kernel:cubic``, ``kernel:bbr``)
        or any rule that can run in the kernel.
    kernel : Kernel, optional
        A kernel in virtual time (`cwndlab.live_runs.kernels.find`): needs no root, and equal
        scenarios give equal results. Rules are all congestion controls that it has.
    progress : callable, optional
        Gets (seconds, released packets) some times a second. An exception it raises ends the run.

    Returns
    -------
    LiveResult
        As of a simulated run, with ``valid`` (bool), ``reasons`` (list of str), ``health``,
        ``namespaces``, ``kernel_flows``, ``kernel_rules``: see docs/live.md. With a kernel in
        virtual time also ``trace_hash``, and ``virtual_kernel``: its name, identity and HZ.

    Raises
    ------
    LiveError
        If live runs do not support the scenario, or the machine lacks a requirement.
    RunError
        If the run fails.
    """
    if kernel is None:
        return play("linux", Scenario.of(scenario), {}, progress)
    asked = Scenario.of(scenario)
    return _result(*virtual.perform(asked.to_dict(), kernel, progress), asked)


RECEIVE_BUFFER = 33_554_432
"""Largest receive buffer of live runs whose scenario sets none, bytes (Linux `tcp_rmem`)."""
SACK_SLACK = "tcp_comp_sack_slack_ns"
"""The setting of Linux that the simulator has as the knob ``sack_slack``."""


def counterpart(scenario: Scenario) -> Scenario:
    """Return the scenario to simulate for comparison with Linux TCP.

    It has Linux's endpoints, its receiver included, and the packets and windows of the live run.
    Linux's own rules have whole windows after a reduction; rules loaded as BPF programs keep the
    fraction (docs/kernel.md).

    Parameters
    ----------
    scenario : Scenario
        The scenario of the live run.

    Examples
    --------
    >>> flow = {"name": "flow", "rule": "kernel:reno"}
    >>> link = {"rate": "10Mbit", "delay": "10ms"}
    >>> plain = {"duration": "10s", "dumbbell": link, "flows": [flow], "tcp": {"packet_size": 500}}
    >>> counterpart(Scenario.from_dict(plain)).to_dict()["tcp"]
    {'packet_size': 500, 'initial_window': 10.0, 'delayed_ack': True, 'receive_buffer': 33554432}
    >>> loaded = {**plain, "flows": [{**flow, "rule": "GAIMD(0.31, 0.875)"}]}
    >>> counterpart(Scenario.from_dict(loaded)).to_dict()["flows"][0]["tcp"]
    {'precise_reduction': True, 'integer_ssthresh': False}
    """
    whole = scenario.to_dict()
    whole.pop("home", None)
    settings = whole.pop("linux", {})
    profile = whole.get("profile", DEFAULT_PROFILE)
    values = {knob["name"]: knob["values"][profile] for knob in native.knobs()}
    # Knobs in which profiles differ and that a live run takes from the scenario; the others are
    # Linux's.
    as_live = {name: values[name] for name in ("packet_size", "initial_window", "delayed_ack")}
    fractions = {"precise_reduction": True, "integer_ssthresh": False}
    flows = [
        flow
        if flow["rule"].startswith("kernel:")
        else {**flow, "tcp": {**fractions, **flow.get("tcp", {})}}
        for flow in whole["flows"]
    ]
    tcp = {**as_live, "receive_buffer": RECEIVE_BUFFER, **whole.get("tcp", {})}
    if (slack_ns := settings.get(SACK_SLACK)) is not None:
        tcp["sack_slack"] = f"{slack_ns}ns"
    return Scenario.from_dict({**whole, "profile": "linux", "tcp": tcp, "flows": flows})


def play(
    command: str, scenario: Scenario, more: Mapping[str, Any], progress: Simulated | None
) -> LiveResult:
    """Run a scenario with the program, and further keys of the request."""
    request = {"scenario": scenario.to_dict(), **more}
    return _result(*protocol.play(command, request, progress), scenario)


def _result(
    run: Mapping[str, Any], traces: Mapping[str, Mapping[str, list[Any]]], scenario: Scenario
) -> LiveResult:
    tables = tables_from(run)
    courses = outcomes.traces(traces, tables)
    return LiveResult(outcomes.fields(run), traces=courses, scenario=scenario.to_dict(), **tables)
