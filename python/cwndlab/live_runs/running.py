"""`cwndlab.live`: a scenario with real flows, and simulated runs beside it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from cwndlab.arguments import Simulated, keywords
from cwndlab.errors import ScenarioError
from cwndlab.kernel_runs import kernels
from cwndlab.live_runs import quic, run
from cwndlab.live_runs.ensemble import REPLICATES, Ensemble
from cwndlab.live_runs.result import LiveResult
from cwndlab.message import invalid
from cwndlab.scenario import Scenario, Source

TRACES = {"cwnd": "20ms", "queue": "20ms", "rate": "500ms"}
"""Traces that a plot needs; the scenario's own take precedence."""


@keywords()
def live(
    scenario: Source,
    kind: Literal["linux", "quic"] = "linux",
    *,
    virtual: bool = False,
    kernel: str | None = None,
    beside: bool = False,
    replicates: int = REPLICATES,
    seed: int | None = None,
    patch: Mapping[str, Any] | None = None,
    trace: Mapping[str, Any] | None = None,
    qlog: str | Path | None = None,
    port: int = 0,
    progress: Simulated | None = None,
) -> LiveResult:
    """Run a scenario with real flows on this machine: Linux TCP, or QUIC.

    It takes the scenario's duration, but in virtual time. Linux TCP needs Linux, and root except in
    virtual time; both need ``make live``.

    Parameters
    ----------
    scenario : Scenario, mapping, str or Path
        The scenario. With Linux, rules are the kernel's own (``kernel:reno``, ``kernel:cubic``,
        ``kernel:bbr``) or any rule that can run in the kernel; with QUIC those that set the window
        alone.
    kind : {"linux", "quic"}
        The flows.
    virtual : bool
        With Linux, in virtual time with a kernel that ``cwndlab virtual-kernel build`` has built:
        without root, faster than real time if there are few packets, and equal scenarios give equal
        packets.
    kernel : str, optional
        Name of that kernel; by default ``default``, or the only one.
    beside : bool
        Also simulate the scenario, with the endpoints and packets of the live run and host jitter
        of 1 ms (or the scenario's own).
    replicates : int
        With `beside`, number of simulated runs, with consecutive seeds from the scenario's.
    seed : int, optional
        Seed that replaces the scenario's.
    patch : mapping, optional
        Dotted keys of the scenario to set.
    trace : mapping, optional
        Traces in addition to the scenario's own; with `beside` by default those of its plot.
    qlog : str or Path, optional
        With QUIC, directory for each flow's qlog.
    port : int
        With QUIC, port of the relay on 127.0.0.1; 0 chooses a free one.
    progress : callable, optional
        Called with (seconds, packets) several times a second, for the live run and then for each
        simulated one. An exception it raises ends the run.

    Returns
    -------
    LiveResult

    Raises
    ------
    ScenarioError
        If the scenario is not valid.
    LiveError
        If live runs do not support the scenario, or the machine lacks a requirement.
    RunError
        If the run fails.

    Examples
    --------
    >>> from cwndlab import dumbbell
    >>> path = dumbbell("2Mbit", "5ms", flows="AIMD(1, 0.5)", duration="1s")
    >>> found = live(path, "quic", beside=True, replicates=2)
    >>> found.table()["run"].to_list()
    ['live', 'simulated', 'simulated']
    """
    if kind != "linux" and (virtual or kernel is not None):
        raise ScenarioError('`virtual` and `kernel` are for `kind="linux"`')
    if beside and replicates < 2:
        raise ScenarioError(invalid("replicates", replicates, "at least 2: one says no spread"))
    asked = Scenario.of(scenario)
    asked = asked.patch({**(patch or {}), **({} if seed is None else {"seed": seed})})
    traces = {**(trace or (TRACES if beside else {})), **asked.to_dict().get("trace", {})}
    asked = asked.set("trace", traces) if traces else asked
    if kind == "linux":
        chosen = kernels.find(kernel) if virtual else None
        found = run.linux(asked, kernel=chosen, progress=progress)
    else:
        found = quic.quic(asked, progress=progress, qlog=qlog, port=port)
    if beside:
        found.simulated = Ensemble.run(_counterpart(asked, kind, found), replicates, progress)
    return found


def _counterpart(scenario: Scenario, kind: str, found: LiveResult) -> Scenario:
    if kind == "linux":
        return run.counterpart(scenario)
    return quic.counterpart(scenario, found.packet_bytes)
