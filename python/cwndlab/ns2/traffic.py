"""Flows and cross traffic as Tcl: nodes, access links, agents, and what happens when."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from cwndlab.ns2 import tcl
from cwndlab.ns2.agents import Endpoints, endpoints
from cwndlab.ns2.network import Flow, Network, Source, Steps
from cwndlab.ns2.refusals import refused, refused_key
from cwndlab.ns2.routes import Routes
from cwndlab.ns2.timer_seeds import SEED_OF_ZERO, timer_seed
from cwndlab.quantities import seconds

INSTANT = "1e300"
"""Rate of links that are pure delays, bit/s: adding the time of a packet changes no time."""
NEVER = "1e9"
"""A time after the end of every run."""
NO_RATE_BPS = 1e-6
"""Rate of a source that sends no more: its next packet is due after the end of every run."""
CROSS = 2**31
"""Number of the first source of cross traffic, of which buckets in DRR are counted."""


def flow_lines(network: Network, routes: Routes, document: Mapping[str, Any]) -> list[str]:
    """Write every ``[[flows]]`` entry."""
    numbered = list(enumerate(network.flows, 1))
    lines: list[str] = []
    for index, spec in enumerate(document["flows"]):
        own = [(number, flow) for number, flow in numbered if flow.group == index]
        lines += ["", *_group_lines(network, routes, document, index, spec, own)]
    return lines


def _group_lines(
    network: Network,
    routes: Routes,
    document: Mapping[str, Any],
    index: int,
    spec: Mapping[str, Any],
    flows: Sequence[tuple[int, Flow]],
) -> list[str]:
    if "stack" in spec:
        raise refused_key(f"flows[{index}].stack", "ns-2's endpoints are its own")
    if "subflows" in spec:
        raise refused_key(f"flows[{index}].subflows", "the script has no multipath connections")
    if "responses" in spec:
        raise refused_key(f"flows[{index}].responses", "the script has no requests and responses")
    if "frames" in spec:
        raise refused_key(f"flows[{index}].frames", "the script has no media frames")
    if "reader" in spec:
        raise refused_key(f"flows[{index}].reader", "ns-2's receivers offer one window, tcp.window")
    if "page" in spec:
        raise refused_key(f"flows[{index}].page", "the script has no web pages")
    if "video" in spec:
        raise refused_key(f"flows[{index}].video", "the script has no adaptive video")
    if "bytes" in spec:
        raise refused(f"flows[{index}].bytes", spec["bytes"], "`packets`, all of one size")
    ends = endpoints(document, index)
    first, key = flows[0][1], f"flows[{index}].path"
    values = {
        "i": [str(number) for number, _ in flows],
        "flow": [tcl.name(flow.name) for _, flow in flows],
        "start": [_time(flow.start_s) for _, flow in flows],
        "stop": [_time(flow.stop_s) for _, flow in flows],
        "access": [tcl.delay(flow.access_delay_s) for _, flow in flows],
        "sink_delay": [tcl.delay(flow.sink_delay_s) for _, flow in flows],
        "seed": [str(phase_seed(flow.timer_phase_s, ends)) for _, flow in flows],
    }
    body = [
        *place("s", first.access_bps, any(flow.access_delay_s for _, flow in flows),
                f"$n({routes.first(first.forward)})", "$access"),
        *place("d", first.sink_bps, any(flow.sink_delay_s for _, flow in flows),
                f"$n({routes.last(first.forward)})", "$sink_delay"),
        f"set tcp($i) [new {ends.sender}] ;# recovery = {spec['recovery']}",
        f"set sink($i) [new {ends.sink}]",
        *ends.lines("$tcp($i)", "$sink($i)"),
        f"tcp-flow $i $flow $s $d {ends.knobs['packet_size']} {ends.packet_bytes} "
        f"{{{' '.join(map(tcl.name, first.forward))}}}",
        *bucket_lines(network, routes, first.forward, "$tcp($i)", "$i", key),
        *bucket_lines(network, routes, first.back, "$sink($i)", "$i", key),
        *timer_lines(ends, {flow.timer_phase_s for _, flow in flows}),
        *_schedule(spec, ends, any(flow.stop_s is not None for _, flow in flows)),
    ]  # fmt: skip
    count = f", count = {len(flows)}" if len(flows) > 1 else ""
    title = f"# [[flows]] name = {tcl.plain(spec['name'])}, rule = {tcl.plain(spec['rule'])}{count}"
    return [title, *_over(values, body)]


def _over(values: Mapping[str, Sequence[str]], body: Sequence[str]) -> list[str]:
    """Write a body for one flow, or for each of several: what they have in common stands in it."""
    used = {
        key: column for key, column in values.items() if any(f"${key}" in line for line in body)
    }
    constant = {key: column[0] for key, column in used.items() if len(set(column)) == 1}
    varying = {key: column for key, column in used.items() if key not in constant}
    written = [_substituted(line, constant) for line in body]
    if len(next(iter(values.values()))) == 1:
        return written
    table = _aligned(list(zip(*varying.values(), strict=True)))
    return tcl.loop(list(varying), table, written)


def _substituted(line: str, constant: Mapping[str, str]) -> str:
    # Longer names first: `$start` begins with `$s`.
    for key in sorted(constant, key=len, reverse=True):
        line = line.replace(f"${key}", constant[key]) if key != "i" else line
    return (
        line.replace("$i)", f"{constant['i']})").replace("$i ", f"{constant['i']} ")
        if ("i" in constant)
        else line
    )


def _aligned(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows]


def place(node: str, bps: int | None, is_delayed: bool, router: str, delay: str) -> list[str]:
    """Write the node of an endpoint: the router itself, or one behind an access link.

    Parameters
    ----------
    node : str
        ``s``, its source, or ``d``, its sink.
    bps : int or None
        Rate of the access link, bit/s; None if it is a pure delay.
    is_delayed : bool
        Whether the link delays.
    router : str
        The router, as Tcl.
    delay : str
        The delay, as Tcl.
    """
    if bps is None and not is_delayed:
        return [f"set {node} {router}"]
    rate = INSTANT if bps is None else tcl.rate(bps)
    ends = f"${node} {router}" if node == "s" else f"{router} ${node}"
    return [f"set {node} [$ns node]", f"pipe {ends} {rate} {delay}"]


def timer_lines(ends: Endpoints, phases_s: Collection[float]) -> list[str]:
    """Write what the agents of flow ``$i`` take on when their timers are reset.

    Parameters
    ----------
    ends : Endpoints
        The agents.
    phases_s : collection of float
        Phases of the timers, seconds; several are drawn by ``$seed``.
    """
    lines: list[str] = []
    if len(phases_s) > 1:
        lines.append("set phase($i) $seed ;# tcp.timer_phase")
    for phase_s in phases_s if len(phases_s) == 1 else ():
        if (seed := phase_seed(phase_s, ends)) != SEED_OF_ZERO:
            lines.append(f"set phase($i) {seed} ;# tcp.timer_phase = {phase_s:g}")
    if ends.initial_ssthresh is not None:
        ssthresh = int(ends.initial_ssthresh)
        lines.append(f"set ssthresh($i) {ssthresh} ;# tcp.initial_ssthresh")
    return lines


def phase_seed(phase_s: float, ends: Endpoints) -> int:
    """Return the seed that draws the phase of a flow's timer, seconds."""
    return timer_seed(phase_s / (seconds(ends.knobs["tick"]) or 1.0))


def _schedule(spec: Mapping[str, Any], ends: Endpoints, stops: bool) -> list[str]:
    begin = f"$tcp($i) advanceby {spec['packets']}" if "packets" in spec else "$ftp($i) start"
    comment = f" ;# packets = {spec['packets']}" if "packets" in spec else ""
    lines = [f'$ns at $start "{begin}"{comment}']
    if not stops:
        return lines
    if not ends.knobs["stop_keeps_last_packet"]:
        return [*lines, '$ns at $stop "$ftp($i) stop"']
    # `advance` adds no data beyond what was sent; `ftp stop` also takes the last packet away.
    return [*lines, '$ns at $stop "$tcp($i) advance \\[expr 1 + \\[$tcp($i) set maxseq_\\]\\]"']


def _time(time_s: float | None) -> str:
    return NEVER if time_s is None else tcl.number(time_s)


def bucket_lines(
    network: Network, routes: Routes, links: Sequence[str], agent: str, number: str, key: str
) -> list[str]:
    """Write what puts an agent's packets into the bucket of a flow, in the DRR queues of a path.

    Parameters
    ----------
    network : Network
        The network.
    routes : Routes
        Its nodes.
    links : sequence of str
        The path.
    agent, number : str
        The agent, and the number of its flow from 1, as Tcl.
    key : str
        Key of the path.

    Returns
    -------
    list of str
        Empty if the path has no such queue.
    """
    drr = drr_links(network, links, key)
    if not drr:
        return []
    start, end = routes.ends[drr[0]]
    return [f"put-in-bucket {agent} {number} $n({start}) $n({end})"]


def drr_links(network: Network, links: Sequence[str], key: str) -> list[str]:
    """Return the links of a path that have DRR, as many buckets each."""
    drr = [name for name in links if network.link(name).queue["kind"] == "drr"]
    if len({network.link(name).queue.get("buckets") for name in drr}) > 1:
        raise refused_key(key, "its DRR queues differ in `buckets`, and a source has one address")
    return drr


def source_lines(network: Network, routes: Routes, document: Mapping[str, Any]) -> list[str]:
    """Write every source of ``[[cross]]``."""
    lines: list[str] = []
    numbered = enumerate(network.sources, len(network.flows) + 1)
    for entry, members in itertools.groupby(numbered, key=lambda pair: pair[1].entry):
        spec = document["cross"][entry]
        keys = ("name", "rate", "available", "source_rate", "on", "off")
        shown = ", ".join(f"{key} = {_shown(spec[key])}" for key in keys if key in spec)
        lines += ["", f"# [[cross]] {tcl.plain(shown)}"]
        for number, source in members:
            cross = number - len(network.flows)
            lines += _source_lines(network, routes, spec, number, source, CROSS + cross)
    return lines


def _shown(value: Mapping[str, object] | Sequence[object] | str | float) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {each}" for key, each in value.items())
    return str(value)


def _source_lines(
    network: Network,
    routes: Routes,
    spec: Mapping[str, Any],
    number: int,
    source: Source,
    bucket: int,
) -> list[str]:
    kind, variables = _generator(spec, source)
    size = round(float(str(spec["packet_size"]).rstrip("B")))
    router = f"$n({routes.first(source.path)})"
    key = f"cross[{source.entry}].path"
    lines: list[str] = []
    start, path = router, source.path
    if source.access_bps is not None or source.access_delay_s > 0:
        delay, own = tcl.delay(source.access_delay_s), f"access link of {source.name}"
        # What it sends is counted there.
        lines = [*place("s", source.access_bps, True, router, delay),
                 f"watch {tcl.name(own)} $s {router}"]  # fmt: skip
        start, path = "$s", (own, *path)
    lines.append(
        f"cross-traffic {number} {tcl.name(source.name)} {kind} {start} "
        f"$n({routes.last(source.path)}) {size} {{{' '.join(map(tcl.name, path))}}}"
    )
    drr = drr_links(network, source.path, key)
    shares = bool(drr) and "buckets" in network.link(drr[0]).queue
    flow = str(bucket if shares else number)
    lines += bucket_lines(network, routes, source.path, f"$udp({number})", flow, key)
    generator = f"$generator({number})"
    lines += [f"{generator} set {name} {value}" for name, value in variables.items()]
    return [*lines, *_rate_lines(generator, source, size, kind, "source_rate" in spec)]


def _generator(spec: Mapping[str, Any], source: Source) -> tuple[str, dict[str, str]]:
    """Return ns-2's class below ``Application/Traffic/``, and its variables beside the rate."""
    if "on" not in spec:
        return "CBR", {}
    key = f"cross[{source.entry}]"
    if len(source.rates) > 1:
        raise refused(f"{key}.rate", _shown(spec["rate"]), "a constant rate of an on-off source")
    constant: Mapping[str, Any] = {"kind": "constant"}
    on, off = (spec[name] if isinstance(spec[name], Mapping) else constant
               for name in ("on", "off"))  # fmt: skip
    variables = {
        f"{name}_time_": tcl.number(seconds(law["mean"]) or 0.0)
        for name, law in (("burst", on), ("idle", off))
        if "mean" in law
    }
    kinds = {on["kind"], off["kind"]}
    if kinds == {"exponential"}:
        return "Exponential", variables
    is_bounded = "most" in on or "most" in off
    if kinds == {"pareto"} and on["shape"] == off["shape"] and not is_bounded:
        return "Pareto", {**variables, "shape_": tcl.number(on["shape"])}
    raise refused(f"{key}.on", _shown(spec["on"]),
           "exponential lengths in `on` and `off`, or Pareto ones of one shape")  # fmt: skip


def _rate_lines(generator: str, source: Source, size: int, kind: str, is_member: bool) -> list[str]:
    """Write when a source, or a member of a population of them, sends, and at what rate."""
    bits, stop_s = 8.0 * size, source.stop_s
    steps = tuple(
        (max(begin_s, source.start_s), bps)
        for (begin_s, bps), (end_s, _) in itertools.pairwise((*source.rates, (1e300, 0.0)))
        if end_s > source.start_s and (stop_s is None or begin_s < stop_s)
    )
    most_bps = max((bps for _, bps in steps), default=0.0)
    if most_bps == 0:
        return []
    if kind == "CBR" and not is_member:
        lines = _run_lines(generator, runs_of(steps, bits, source.phase), bits, stop_s)
    else:
        delay_s = source.phase * bits / most_bps if kind == "CBR" else 0.0
        lines = [
            f"{generator} set rate_ {tcl.rate(most_bps)}",
            *_spell_lines(generator, steps, delay_s),
        ]
    if lines and stop_s is not None:
        lines.append(f'$ns at {tcl.number(stop_s)} "{generator} stop"')
    return lines


def _spell_lines(generator: str, steps: Steps, delay_s: float) -> list[str]:
    """Write when a source of one rate is on; its first packet leaves after a delay."""
    lines: list[str] = []
    is_on = False
    for (begin_s, bps), (end_s, _) in itertools.pairwise((*steps, (1e300, 0.0))):
        if is_on and bps == 0:
            lines.append(f'$ns at {tcl.number(begin_s)} "{generator} stop"')
        is_on = bps > 0 and begin_s + delay_s < end_s
        if is_on:
            lines.append(f'$ns at {tcl.number(begin_s + delay_s)} "{generator} start"')
    return lines


def runs_of(steps: Steps, bits: float, phase: float = 1.0) -> list[tuple[float, float]]:
    """Find when packets leave a source whose rate changes, as cwndlab sends them.

    A packet leaves when its bits are complete, also where the rate changes meanwhile; of the first
    packet, this part of them. ns-2 takes the time to the next packet from the rate at a packet, so
    a run is one of packets with equal gaps: the time of its first packet, and the rate that gives
    the gaps. Times are sums of doubles in the core's order (``transmitter.rs``), so that a packet
    that is complete just when the rate changes falls on the same side.

    Examples
    --------
    At 1 kbit/s half of a packet of 1000 bit is complete when the rate rises to 4 kbit/s.

    >>> runs_of(((0.0, 1000.0), (2.5, 4000.0)), 1000.0)
    [(1.0, 1000.0), (2.0, 1600.0), (2.625, 4000.0)]
    >>> runs_of(((0.0, 1000.0), (2.0, 0.0), (5.0, 1000.0)), 1000.0)
    [(1.0, 1000.0), (2.0, 250.0), (6.0, 1000.0)]
    >>> runs_of(((0.0, 1000.0),), 1000.0, phase=0.0)
    [(0.0, 1000.0)]
    """
    runs: list[tuple[float, float]] = []
    left, last_s = phase * bits, None
    for (begin_s, bps), (end_s, _) in itertools.pairwise((*steps, (math.inf, 0.0))):
        # The packet under way began with the one before, or where the rate changed.
        at_s = begin_s if last_s is None or last_s < begin_s else last_s
        if bps == 0:
            continue
        if left > (capacity := bps * (end_s - at_s)):
            left -= capacity
            continue
        first_s = at_s + left / bps
        if last_s is not None:
            runs.append((last_s, _rate_between(last_s, first_s, bits)))
        last_s = first_s
        if bits <= bps * (end_s - first_s):
            runs.append((first_s, bps))
        if math.isinf(end_s):
            break
        gap_s = bits / bps
        times = np.add.accumulate(
            np.r_[first_s, np.full(int((end_s - first_s) / gap_s) + 2, gap_s)]
        )
        last_s = float(times[np.argmax(bits > bps * (end_s - times))])
        left = bits - bps * (end_s - last_s)
    if steps[-1][1] == 0 and last_s is not None:
        runs.append((last_s, NO_RATE_BPS))
    return runs


def _rate_between(last_s: float, next_s: float, bits: float) -> float:
    """Return the rate at which the packet after one is due at a time, to the last bit if any is."""
    near = bits / (next_s - last_s)
    candidates = [near]
    for direction in (0.0, math.inf):
        bps = near
        for _ in range(8):
            candidates.append(bps := math.nextafter(bps, direction))
    return next((bps for bps in candidates if last_s + bits / bps == next_s), near)


def _run_lines(
    generator: str, runs: Sequence[tuple[float, float]], bits: float, stop_s: float | None
) -> list[str]:
    """Write the rates of a source, each before the packet that begins its run.

    ns-2's CBR sends at once when it starts.
    """
    runs = [run for run in runs if stop_s is None or run[0] < stop_s]
    if not runs:
        return []
    first_s, first_bps = runs[0]
    lines = [
        f"{generator} set rate_ {tcl.rate(first_bps)}",
        f'$ns at {tcl.number(first_s)} "{generator} start"',
    ]
    # Half a gap before the packet, so that no rounding sets a rate after it.
    changes = [
        [tcl.number(at_s - bits / before_bps / 2), tcl.rate(bps)]
        for (_, before_bps), (at_s, bps) in itertools.pairwise(runs)
    ]
    if changes:
        lines += tcl.loop(["time", "bps"], changes, [f'$ns at $time "{generator} set rate_ $bps"'])
    return lines
