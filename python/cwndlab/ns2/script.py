"""A scenario as a script for ns-2 2.35."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import resources
from typing import Any

from cwndlab.arguments import keywords
from cwndlab.documents import is_mapping
from cwndlab.ns2 import linux, tcl
from cwndlab.ns2.agents import defaults
from cwndlab.ns2.arrivals import arrival_lines, slots
from cwndlab.ns2.losses import loss_lines
from cwndlab.ns2.network import Link, Network, network
from cwndlab.ns2.queues import Queue, queue
from cwndlab.ns2.refusals import refused, refused_key
from cwndlab.ns2.routes import Routes, routes
from cwndlab.ns2.traffic import INSTANT, flow_lines, source_lines
from cwndlab.quantities import seconds
from cwndlab.scenario import Scenario, Source

PROFILES = "an ns-2 profile, such as ns2-2.35 (`--profile ns2-2.35`)"
OPPORTUNITIES = ("trace", "cellular", "grants")
"""Waveforms at which bytes leave at moments, not at a rate."""
LARGEST_SEED = 2**31 - 1
RUN = "$ns run\n"


@keywords()
def export(scenario: Source) -> str:
    """Write a scenario as a Tcl script that stock ns-2 2.35 runs.

    The script builds the same network, with the starts and delays that the scenario's seed draws,
    and prints tab-separated tables of its flows, sources of cross traffic and links.

    Parameters
    ----------
    scenario : Scenario, mapping, str or Path
        What to write; a path or text is loaded with `Scenario.load`.

    Returns
    -------
    str
        The script.

    Raises
    ------
    ScenarioError
        If ns-2 cannot express the scenario; the message names the key.

    Examples
    --------
    >>> import cwndlab
    >>> scenario = cwndlab.dumbbell("10Mbit", "20ms", flows="AIMD(1, 0.5)", profile="ns2-2.35")
    >>> "$ns simplex-link $n(r1) $n(r2) 10Mb 20ms DropTail" in cwndlab.export(scenario)
    True
    >>> cwndlab.export(scenario.set("flows.0.rule", "BBR1"))
    Traceback (most recent call last):
        ...
    cwndlab.ScenarioError: flows[0].rule: "BBR1" is not valid: expected AIMD, AIAD, MIMD, MIAD, a
    Linear of one of them, GAIMD, Binomial, IIAD, SQRT, NewReno or CUBIC (what ns-2 can express)
    """
    scenario = Scenario.of(scenario)
    document = scenario.canonical()
    _check(document)
    found = network(scenario)
    ways = routes(found, document)
    lines = [
        *_head(
            document,
            has_cross=bool(found.sources),
            has_arrivals=bool(found.arrivals),
            has_linux=any(
                linux.module(spec["rule"])
                for table in ("flows", "arrivals")
                for spec in document.get(table, ())
            ),
            has_buckets=any(link.queue["kind"] == "drr" for link in found.links),
        ),
        *_network_lines(found, ways, document),
        *defaults(document),
        *flow_lines(found, ways, document),
        *source_lines(found, ways, document),
        *arrival_lines(found, ways, document),
        *loss_lines(found, ways, document),
        *_measure_lines(found, ways, document),
    ]
    return "\n".join(lines) + "\n" + RUN


def with_commands(script: str, commands: Iterable[str]) -> str:
    """Return a script that runs commands after its own and before ns-2's scheduler."""
    return script.removesuffix(RUN) + "\n".join(commands) + "\n" + RUN


def _check(document: Mapping[str, Any]) -> None:
    """Refuse what concerns no single link or flow."""
    if not document["profile"].startswith("ns2-"):
        raise refused("profile", document["profile"], PROFILES)
    if seconds(document.get("host_jitter", 0)):
        raise refused_key("host_jitter", "ns-2's overhead_ delays all packets of an ACK together")
    tables = (
        {"dumbbell": document["dumbbell"]}
        if "dumbbell" in document
        else {f"links[{index}]": table for index, table in enumerate(document["links"])}
    )
    for key, table in tables.items():
        for name in (
            "jitter", "outages", "ecn_mangling", "tunnel", "marker", "policer", "circuit_breaker",
            "shaper",
        ):  # fmt: skip
            if table.get(name):
                raise refused_key(f"{key}.{name}", f"the script has no {name}")
        if table.get("drop"):
            reason = "its error models count packets as they arrive, as `loss` of kind list does"
            raise refused_key(f"{key}.drop", reason)
    sources = {f"cross[{index}]": table for index, table in enumerate(document.get("cross", []))}
    for key, table in {**tables, **sources}.items():
        for name in ("rate", "back_rate", "available"):
            rate = table.get(name)
            if is_mapping(rate) and rate["kind"] in OPPORTUNITIES:
                raise refused_key(f"{key}.{name}", "its links have no delivery opportunities")


def _head(
    document: Mapping[str, Any],
    *,
    has_cross: bool,
    has_arrivals: bool,
    has_linux: bool,
    has_buckets: bool,
) -> list[str]:
    files = ["network.tcl", *(["cross.tcl"] if has_cross else []), "measures.tcl"]
    files += ["arrivals.tcl"] if has_arrivals else []
    files += ["linux.tcl"] if has_linux else []
    files += ["buckets.tcl"] if has_buckets else []
    begin_s, end_s = window_s(document)
    title = tcl.plain(document.get("name") or "unnamed")
    seed = document["seed"]
    # Seed 0 is the clock's in ns-2, and its seeds have 31 bits.
    own = seed if 0 < seed < LARGEST_SEED else seed % (LARGEST_SEED - 1) + 1
    return [
        f"# {title}: a scenario of cwndlab for ns-2 2.35, with what seed {seed} draws.",
        "# `ns FILE` runs it and prints its flows, cross traffic and links. Comments name the keys",
        "# of the scenario.",
        "",
        "# The headers that these agents read; without the others ns-2 is faster.",
        "remove-all-packet-headers",
        "add-packet-header IP TCP Flags RTP",
        "set tcl_precision 17",
        "set ns [new Simulator]",
        f"set seed {own} ;# seed",
        "ns-random $seed",
        "",
        *(line for file in files for line in procedures(file)),
        "",
        "# The scenario. First what precedes all that happens at the same time: timers, and the",
        "# counters at both ends of the measuring window (measure).",
        "$ns at 0.0 reset-timers",
        f"$ns at {tcl.number(begin_s)} {{ array set before [counters] }}",
        f"$ns at {tcl.number(end_s)} {{ array set after [counters] }}",
    ]


def procedures(file: str) -> list[str]:
    """Return the lines of a file of Tcl procedures."""
    return (resources.files("cwndlab") / "ns2" / file).read_text("utf-8").splitlines()


def _network_lines(found: Network, ways: Routes, document: Mapping[str, Any]) -> list[str]:
    """Write nodes, links, and what makes ns-2 route as the scenario does."""
    lines = ["", "# " + ("[dumbbell]" if "dumbbell" in document else "[[links]]")]
    sources = len(found.flows) + len(found.sources) + 4 * sum(map(slots, found.arrivals))
    queues = {link.name: queue(link, sources) for link in found.links}
    lines.append(f"foreach node {{{' '.join(ways.nodes)}}} {{ set n($node) [$ns node] }}")
    for link in found.links:
        lines += _link_lines(ways, link, queues[link.name])
    for (start, end), delay_s in ways.returns.items():
        ends = f"$n({start}) $n({end})"
        lines += [
            "# ACKs come back after a pure delay (no `back`, or `back_rate` is unlimited).",
            f"$ns simplex-link {ends} {INSTANT} {tcl.delay(delay_s)} DropTail",
            f"$ns queue-limit {ends} 1000000",
        ]
    for name, cost in ways.costs.items():
        start, end = ways.ends[name]
        lines.append(f"$ns cost $n({start}) $n({end}) {cost} ;# least delay, microseconds")
    return lines


def _link_lines(ways: Routes, link: Link, made: Queue) -> list[str]:
    start, end = ways.ends[link.name]
    ends = f"$n({start}) $n({end})"
    (_, bps), *changes = link.rates
    if bps == 0 or any(rate == 0 for _, rate in changes):
        raise refused_key(link.queue_key.replace("queue", "rate"), "its links have no rate of zero")
    table, _, key = link.queue_key.rpartition(".")
    limit = link.queue["limit"]
    if link.limit_packets is not None and limit != f"{link.limit_packets}pkt":
        limit += f" ({link.limit_packets} packets)"
    lines = [
        f"# {table}, link {tcl.plain(link.name)}: rate, delay; {key} = {link.queue['kind']}, "
        f"limit = {limit}",
        *(f"Queue/{made.kind} set {name} {value}" for name, value in made.variables.items()),
        f"$ns simplex-link {ends} {tcl.rate(bps)} {tcl.delay(link.delay_s)} {made.kind}",
        f"$ns queue-limit {ends} {made.limit}",
    ]
    if changes:
        lines += [
            "# Its rate varies; a packet in transmission keeps the rate that it began with.",
            *tcl.loop(
                ["time", "bps"],
                [[tcl.number(begin_s), tcl.rate(rate)] for begin_s, rate in changes],
                [f'$ns at $time "[[$ns link {ends}] link] set bandwidth_ $bps"'],
            ),
        ]
    return lines


def window_s(document: Mapping[str, Any]) -> tuple[float, float]:
    """Return the measuring window, seconds."""
    begin, end = document.get("measure", (0.0, document["duration"]))
    return seconds(begin) or 0.0, seconds(end) or 0.0


def _measure_lines(found: Network, ways: Routes, document: Mapping[str, Any]) -> list[str]:
    """Write what is measured, and when."""
    duration = seconds(document["duration"]) or 0.0
    begin_s, end_s = window_s(document)
    links = [(tcl.name(link.name), *ways.ends[link.name], link.rate_bps) for link in found.links]
    return [
        "",
        "# What is measured, and the end.",
        f"set links {{{' '.join(name for name, _, _, _ in links)}}}",
        f"set seconds {tcl.number(end_s - begin_s)}",
        *(f"set rate({name}) {tcl.number(bps)}" for name, _, _, bps in links),
        *(f"watch {name} $n({start}) $n({finish})" for name, start, finish, _ in links),
        f"$ns at {tcl.number(duration)} {{ report; exit 0 }} ;# duration",
    ]
