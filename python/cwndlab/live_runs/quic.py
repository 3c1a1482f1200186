"""Runs scenarios with QUIC transfers (quinn) through a relay that emulates the network."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cwndlab.arguments import Simulated
from cwndlab.live_runs.result import LiveResult
from cwndlab.live_runs.run import play
from cwndlab.scenario import Scenario, Source

OVERHEAD_BYTES = 61
"""Headers of a packet with data, bytes.

IPv4 and UDP 28; QUIC's first byte, connection ID 8, packet number 2 and tag 16 (RFC 9000 section
17.3, RFC 9001 section 5.3); type, stream ID and offset of a STREAM frame (RFC 9000 section 19.8).
"""


def quic(
    scenario: Source,
    *,
    progress: Simulated | None = None,
    qlog: str | Path | None = None,
    port: int = 0,
) -> LiveResult:
    """Run a scenario with QUIC transfers on this machine.

    It takes the scenario's duration, and needs no privileges.

    Parameters
    ----------
    scenario : Scenario, mapping, str or Path
        The scenario. Rules are those that set the window alone; ``kernel:reno`` and
        ``kernel:cubic`` run as their simulated counterparts.
    progress : callable, optional
        Gets (seconds, released packets) some times a second. An exception it raises ends the run.
    qlog : str or Path, optional
        Directory for each flow's qlog, which qvis reads: ``000.sqlog`` and so on, about 400 bytes
        per packet sent.
    port : int, optional
        Port of the relay on 127.0.0.1; 0 takes a free one.

    Returns
    -------
    LiveResult
        As of a simulated run, with ``valid`` (bool), ``reasons`` and ``notes`` (lists of str),
        ``health``, ``sockets``, ``packet_bytes``, ``quic_flows``: see docs/quic.md.

    Raises
    ------
    LiveError
        If QUIC does not support the scenario, or the port is in use.
    RunError
        If the run fails.
    """
    more: dict[str, Any] = {"port": port}
    if qlog is not None:
        folder = Path(qlog).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        more["qlog"] = str(folder)
    return play("quic", Scenario.of(scenario), more, progress)


def counterpart(scenario: Scenario, packet_bytes: int) -> Scenario:
    """Return the scenario to simulate for comparison with a QUIC run.

    It has quinn's packet size, headers and pacing.

    Parameters
    ----------
    scenario : Scenario
        The scenario of the QUIC run.
    packet_bytes : int
        Bytes of its packets on the wire, from its result.

    Examples
    --------
    >>> from cwndlab import Scenario
    >>> flow = {"name": "flow", "rule": "AIMD(1, 0.5)"}
    >>> link = {"rate": "10Mbit", "delay": "10ms"}
    >>> scenario = Scenario.from_dict({"duration": "10s", "dumbbell": link, "flows": [flow]})
    >>> counterpart(scenario, 1500).to_dict()["tcp"]
    {'packet_size': 1439, 'header_size': 61, 'timestamps': False, 'pacing': True}
    """
    same = {"packet_size": packet_bytes - OVERHEAD_BYTES, "header_size": OVERHEAD_BYTES}
    same |= {"timestamps": False, "pacing": True}
    whole = scenario.to_dict()
    flows = [
        {**flow, "tcp": _without(flow["tcp"], same)} if "tcp" in flow else flow
        for flow in whole["flows"]
    ]
    return Scenario.from_dict({**whole, "tcp": {**whole.get("tcp", {}), **same}, "flows": flows})


def _without(knobs: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in knobs.items() if name not in names}
