"""Flows and cross traffic as Tcl: nodes, access links, agents, and what happens when."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from cwndlab.ns2 import tcl
from cwndlab.ns2.agents import Endpoints, endpoints
from cwndlab.ns2.network import Flow, Network, Source
from cwndlab.ns2.refusals import refused, refused_key
from cwndlab.ns2.routes import Routes
from cwndlab.ns2.rules import rule_variables
from cwndlab.quantities import seconds

INSTANT = "1e300"
"""Rate of links that are pure delays, bit/s: adding the time of a packet changes no time."""
NEVER = "1e9"
"""A time after the end of every run."""
CROSS = 2**31
"""Number of the first source of cross traffic, of which buckets in DRR are counted."""
TICK_SEED = (1435829, 22644, 4294967087)
"""ns-2's generator (L'Ecuyer 1999, MRG32k3a): its first number of seed k is (a k + b)/m."""


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
    if "responses" in spec:
        raise refused_key(f"flows[{index}].responses", "the script has no requests and responses")
    if "frames" in spec:
        raise refused_key(f"flows[{index}].frames", "the script has no media frames")
    if "page" in spec:
        raise refused_key(f"flows[{index}].page", "the script has no web pages")
    if "video" in spec:
        raise refused_key(f"flows[{index}].video", "the script has no adaptive video")
    if "bytes" in spec:
        raise refused(f"flows[{index}].bytes", spec["bytes"], "`packets`, all of one size")
    ends = endpoints(document, index)
    rule = rule_variables(
        spec["rule"], f"flows[{index}].rule", halves_if_half=ends.knobs["halve_if_half"]
    )
    first, key = flows[0][1], f"flows[{index}].path"
    values = {
        "i": [str(number) for number, _ in flows],
        "flow": [tcl.name(flow.name) for _, flow in flows],
        "start": [_time(flow.start_s) for _, flow in flows],
        "stop": [_time(flow.stop_s) for _, flow in flows],
        "access": [tcl.delay(flow.access_delay_ns) for _, flow in flows],
        "sink_delay": [tcl.delay(flow.sink_delay_ns) for _, flow in flows],
    }
    body = [
        *place("s", first.access_bps, any(flow.access_delay_ns for _, flow in flows),
                f"$n({routes.first(first.forward)})", "$access",
                bucket_node(network, first.forward, "$i", key)),
        *place("d", first.sink_bps, any(flow.sink_delay_ns for _, flow in flows),
                f"$n({routes.last(first.forward)})", "$sink_delay",
                bucket_node(network, first.back, "$i", key)),
        f"set tcp($i) [new {ends.sender}] ;# recovery = {spec['recovery']}",
        f"set sink($i) [new {ends.sink}]",
        *tcl.settings("$tcp($i)", [*rule, *ends.sender_variables]),
        *tcl.settings("$sink($i)", ends.sink_variables),
        f"tcp-flow $i $flow $s $d {ends.knobs['packet_size']} {ends.packet_bytes} "
        f"{{{' '.join(map(tcl.name, first.forward))}}}",
        *timer_lines(ends),
        *_schedule(spec, index, any(flow.stop_s is not None for _, flow in flows)),
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


def place(
    node: str, bps: int | None, is_delayed: bool, router: str, delay: str, made: str
) -> list[str]:
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
    made : str
        What makes a node with a bucket in DRR, as Tcl (`bucket_node`); empty if it needs none.
    """
    if bps is None and not is_delayed and not made:
        return [f"set {node} {router}"]
    made = made or "[$ns node]"
    rate = INSTANT if bps is None else tcl.rate(bps)
    ends = f"${node} {router}" if node == "s" else f"{router} ${node}"
    return [f"set {node} {made}", f"pipe {ends} {rate} {delay}"]


def timer_lines(ends: Endpoints) -> list[str]:
    """Write what the agents of flow ``$i`` take on when their timers are reset."""
    lines: list[str] = []
    seed = timer_seed(ends.timer_phase_s / (seconds(ends.knobs["tick"]) or 1.0))
    if seed != 1:
        lines.append(f"set phase($i) {seed} ;# tcp.timer_phase = {ends.timer_phase_s:g}")
    if ends.initial_ssthresh is not None:
        ssthresh = int(ends.initial_ssthresh)
        lines.append(f"set ssthresh($i) {ssthresh} ;# tcp.initial_ssthresh")
    return lines


def timer_seed(fraction: float) -> int:
    """Return the seed whose first number is nearest to a fraction of a tick.

    Examples
    --------
    >>> timer_seed(0.0), timer_seed(0.5)
    (1, 1496)
    """
    factor, addend, modulus = TICK_SEED
    return max(1, round((fraction * modulus - addend) / factor))


def _schedule(spec: Mapping[str, Any], index: int, stops: bool) -> list[str]:
    begin = f"$tcp($i) advanceby {spec['packets']}" if "packets" in spec else "$ftp($i) start"
    comment = f" ;# packets = {spec['packets']}" if "packets" in spec else ""
    lines = [f'$ns at $start "{begin}"{comment}']
    if stops:
        if "packets" in spec:
            raise refused(f"flows[{index}].packets", spec["packets"], "no `packets` beside `stop`")
        lines.append('$ns at $stop "$ftp($i) stop"')
    return lines


def _time(time_s: float | None) -> str:
    return NEVER if time_s is None else tcl.number(time_s)


def bucket_node(network: Network, links: Sequence[str], number: str, key: str) -> str:
    """Return what makes a node with the bucket of a flow in the DRR queues of a path, as Tcl.

    Parameters
    ----------
    network : Network
        The network.
    links : sequence of str
        The path.
    number : str
        Number of the flow, from 1, as Tcl.
    key : str
        Key of the path.

    Returns
    -------
    str
        Empty if the path has no such queue.
    """
    buckets = _buckets(network, links, key)
    if buckets is None:
        return ""
    return f"[shared-bucket-node {number} {buckets}]" if buckets else "[bucket-node]"


def _buckets(network: Network, links: Sequence[str], key: str) -> int | None:
    """Return the buckets that sources share on a path; 0 if each has its own, None without DRR."""
    drr = [network.link(name).queue for name in links if network.link(name).queue["kind"] == "drr"]
    buckets = {queue.get("buckets", 0) for queue in drr}
    if len(buckets) > 1:
        raise refused_key(key, "its DRR queues differ in `buckets`, and a source has one address")
    return next(iter(buckets), None)


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
    buckets = _buckets(network, source.path, f"cross[{source.entry}].path")
    if buckets:
        lines = [f"set s [shared-bucket-source {bucket} {buckets} {router}]"]
    else:
        made = "" if buckets is None else "[bucket-node]"
        lines = place("s", None, False, router, "0ms", made)
    lines.append(
        f"cross-traffic {number} {tcl.name(source.name)} {kind} $s $n({routes.last(source.path)}) "
        f"{size} {{{' '.join(map(tcl.name, source.path))}}}"
    )
    generator = f"$generator({number})"
    lines += [f"{generator} set {name} {value}" for name, value in variables.items()]
    return [*lines, *_rate_lines(generator, source, size, kind)]


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


def _rate_lines(generator: str, source: Source, size: int, kind: str) -> list[str]:
    """Write when a source sends, and at what rate.

    ns-2's CBR sends at once when it starts, and its other sources after an idle time; cwndlab's
    first packet leaves when it is complete.
    """
    steps = [(max(begin_s, source.start_s), bps)
             for (begin_s, bps), (end_s, _) in itertools.pairwise((*source.rates, (1e300, 0.0)))
             if end_s > source.start_s]  # fmt: skip
    lines: list[str] = []
    changes: list[list[str]] = []
    is_on = False
    for (begin_s, bps), (next_s, next_bps) in itertools.pairwise((*steps, (1e300, 1.0))):
        if source.stop_s is not None and begin_s >= source.stop_s:
            break
        if bps == 0:
            if is_on:
                lines.append(f'$ns at {tcl.number(begin_s)} "{generator} stop"')
            is_on = False
            continue
        if is_on:
            changes.append([tcl.number(begin_s), tcl.rate(bps)])
            continue
        first_s = begin_s + (source.phase * 8 * size / bps if kind == "CBR" else 0.0)
        if first_s >= next_s and next_bps == 0:
            continue
        is_on = True
        if begin_s == source.start_s:
            lines.append(f"{generator} set rate_ {tcl.rate(bps)}")
        else:
            changes.append([tcl.number(begin_s), tcl.rate(bps)])
        lines.append(f'$ns at {tcl.number(first_s)} "{generator} start"')
    if source.stop_s is not None:
        lines.append(f'$ns at {tcl.number(source.stop_s)} "{generator} stop"')
    if changes:
        body = [f'$ns at $time "{generator} set rate_ $bps"']
        lines += tcl.loop(["time", "bps"], changes, body)
    return lines
