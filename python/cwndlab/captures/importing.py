"""`cwndlab.import_pcap` and `cwndlab.import_qlog`: a recorded flow becomes a scenario."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cwndlab import native
from cwndlab.arguments import Progress, keywords
from cwndlab.captures import qlog as qlogs
from cwndlab.captures.connection import chosen, connections
from cwndlab.captures.estimates import Estimator
from cwndlab.captures.exchange import Exchange
from cwndlab.captures.handshake import Place
from cwndlab.captures.imported import Imported, distance, simulated_window
from cwndlab.captures.scenarios import Losses, scenario_of
from cwndlab.captures.segments import read
from cwndlab.errors import ScenarioError
from cwndlab.message import unknown
from cwndlab.scenario import DEFAULT_PROFILE

if TYPE_CHECKING:
    from cwndlab.custom_rules import Rule

CANDIDATES = ("AIMD(1, 0.5)", "CUBIC", "BBR1", "BBR3")
"""Rules that are tried where none is given: most of the Internet's (Mishra et al. 2024)."""
CANDIDATES_OF_QUIC = ("AIMD(1, 0.5)", "CUBIC")
PLACES = ("sender", "receiver")
LOSSES = ("list", "rate")


@keywords()
def import_pcap(
    path: str | Path,
    *,
    flow: int | None = None,
    at: Place | None = None,
    rule: Rule | None = None,
    losses: Losses = "list",
    profile: str | None = None,
    progress: Progress | None = None,
) -> Imported:
    """Turn a TCP flow of a packet capture into a scenario.

    Parameters
    ----------
    path : str or Path
        A file of pcap or pcapng, with the flow's handshake: Ethernet, raw IP, Linux cooked or
        loopback, IPv4 or IPv6.
    flow : int, optional
        Number of the flow, from 1; flow 1, the default, has the most data.
    at : {"sender", "receiver"}, optional
        Whether the capture was taken at the sender or at the receiver of the data; by default the
        handshake tells.
    rule : rule, optional
        Rule of the scenario; by default that of Reno, CUBIC, BBR1 and BBR3 whose simulated flight
        is nearest to the captured one.
    losses : {"list", "rate"}
        The scenario loses the same packets; or it loses packets at random, at the rate of the
        losses that a full queue does not explain, which suits other rules.
    profile : str, optional
        Profile of the endpoints for what a capture does not tell; by default ``"linux"``.
    progress : callable, optional
        Called with a step, its progress, and its total.

    Returns
    -------
    Imported
        The scenario, the estimates, and both windows.

    Raises
    ------
    ScenarioError
        If the file is no whole capture of a TCP flow with its handshake.
    MissingPackageError
        If dpkt is not installed.

    Examples
    --------
    >>> import cwndlab, pathlib, tempfile
    >>> path = cwndlab.dumbbell("10Mbit", "20ms", flows="CUBIC", duration="5s",
    ...                         trace={"packets": True})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "flow.pcapng"
    ...     _ = cwndlab.run(path, pcap=file)
    ...     found = cwndlab.import_pcap(file, rule="CUBIC")
    >>> rate = found.estimates["rate_bps"]
    >>> round(rate.value / 1e6, 2), "packets that waited behind another" in rate.how
    (10.0, True)
    >>> found.scenario["dumbbell"]["delay"], found.difference < 0.02
    ('20ms', True)
    """
    _check("at", at, PLACES)
    _check("losses", losses, LOSSES)
    rule = None if rule is None else native.rule(rule)
    file = Path(path)
    found = connections(file, read(file, progress))
    connection = chosen(file, found, flow)
    exchange = connection.exchange(file, at, progress)
    names = [one.name for one in found]
    return _imported(file, exchange, names, CANDIDATES, rule, losses, profile, progress)


@keywords()
def import_qlog(
    path: str | Path,
    *,
    rule: Rule | None = None,
    losses: Losses = "list",
    profile: str | None = None,
    progress: Progress | None = None,
) -> Imported:
    r"""Turn the qlog of a QUIC sender into a scenario.

    Parameters
    ----------
    path : str or Path
        A ``.qlog`` or ``.sqlog`` file with the events packet_sent, packet_received, packet_lost and
        metrics_updated.
    rule : rule, optional
        Rule of the scenario; by default that of Reno and CUBIC whose simulated window is nearer to
        the recorded one.
    losses : {"list", "rate"}
        The scenario loses the same packets, or loses packets at random, at the rate of the losses
        that a full queue does not explain.
    profile : str, optional
        Profile of the endpoints for what a qlog does not tell; by default ``"linux"``.
    progress : callable, optional
        Called with a step, its progress, and its total.

    Returns
    -------
    Imported
        The scenario, the estimates, and both windows.

    Raises
    ------
    ScenarioError
        If the file is no qlog of a connection that sends.

    Examples
    --------
    >>> import cwndlab, json, pathlib, tempfile
    >>> def record(time_ms, name, **data):
    ...     return {"time": time_ms, "name": name, "data": data}
    >>> # A packet of 1472 bytes each millisecond, acknowledged 30 ms later.
    >>> packet = {"raw": {"length": 1472}}
    >>> records = [{"qlog_version": "0.3"}]
    >>> for ms in range(100):
    ...     header = {"packet_type": "1RTT", "packet_number": ms}
    ...     records += [record(ms, "transport:packet_sent", header=header, **packet),
    ...                 record(ms, "recovery:metrics_updated", congestion_window=44160,
    ...                        bytes_in_flight=1472 * min(ms + 1, 30))]
    ...     if ms >= 29:
    ...         records.append(record(ms + 0.9, "recovery:metrics_updated",
    ...                               bytes_in_flight=1472 * 29))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "sender.sqlog"
    ...     _ = file.write_text("".join(f"\x1e{json.dumps(each)}\n" for each in records))
    ...     found = cwndlab.import_qlog(file)
    >>> found.window, found.estimates["packet_bytes"].value
    ('cwnd', 1439)
    """
    _check("losses", losses, LOSSES)
    rule = None if rule is None else native.rule(rule)
    file = Path(path)
    exchange = qlogs.read(file, progress)
    names = [exchange.facts.name]
    return _imported(file, exchange, names, CANDIDATES_OF_QUIC, rule, losses, profile, progress)


def _check(key: str, value: str | None, known: Sequence[str]) -> None:
    if value is not None and value not in known:
        raise ScenarioError(unknown(key, value, known))


def _imported(
    file: Path,
    exchange: Exchange,
    names: Sequence[str],
    candidates: Sequence[str],
    rule: str | None,
    losses: Losses,
    profile: str | None,
    progress: Progress | None,
) -> Imported:
    """Estimate, and simulate each candidate."""
    estimator = Estimator(exchange)
    rules = candidates if rule is None else [rule]
    windows: dict[str, list[tuple[float, float]]] = {}
    differences: dict[str, float] = {}
    scenarios = {
        one: scenario_of(
            estimator, rule=one, losses=losses, profile=profile or DEFAULT_PROFILE, name=file.stem
        )
        for one in rules
    }
    for count, (one, scenario) in enumerate(scenarios.items()):
        if progress is not None:
            progress(f"simulating {one}", count, len(rules))
        windows[one] = simulated_window(scenario, exchange.window)
        differences[one] = distance(exchange.steps, windows[one], scenario.duration_s)
    nearest = min(differences, key=lambda one: differences[one])
    return Imported(
        scenario=scenarios[nearest],
        estimates={each.name: each for each in estimator.all},
        differences=differences,
        window=exchange.window,
        flows=names,
        flow=exchange.facts.name,
        at=exchange.facts.at,
        notes=estimator.notes,
        recorded=exchange.steps,
        simulated=windows[nearest],
    )
