"""A cwndlab scenario written as a script for ns-2 2.35.

A dumbbell, TCP flows, cross traffic, lists of losses.
"""

from __future__ import annotations

from pathlib import Path

from .queues import queue
from .translate import Unsupported, delay, endpoints, instances, number, quantity

SENDERS = {
    "tahoe": "Agent/TCP",
    "reno": "Agent/TCP/Reno",
    "newreno": "Agent/TCP/Newreno",
    "sack": "Agent/TCP/Sack1",
}
PRELUDE = Path(__file__).with_name("prelude.tcl")
NETWORK = Path(__file__).with_name("network.tcl")
OWN_LINKS = ("access_rate", "access_delay", "sink_rate", "sink_delay")
# What the translation reads; another key would be another network.
BELL_KEYS = {"rate", "delay", "queue", "loss", "back_rate", *OWN_LINKS}
FLOW_KEYS = {"name", "count", "rule", "recovery", "start", "stop", "packets", "tcp", *OWN_LINKS}
CROSS_KEYS = {"name", "count", "rate", "on", "off", "packet_size", "start", "stop"}


def script(scenario: dict) -> str:
    """The Tcl text of a run that notes every send; prelude.tcl names its arguments."""
    flows = instances(scenario["flows"])
    lines = [PRELUDE.read_text(), NETWORK.read_text(), *network_lines(scenario)]
    lines += [f"probe {index}" for index in range(len(flows))]
    lines.append(f"$ns at 0.0 {{ boot {len(flows)} }}")
    for index, flow in enumerate(flows):
        lines += start_lines(scenario, index, flow)
    lines += cross_lines(scenario)
    lines += loss_lines(scenario["dumbbell"], flows)
    end = number(quantity(scenario["duration"]))
    lines.append(f"$ns at {end} {{ close $out; close $phases; exit 0 }}")
    lines.append("$ns run\n")
    return "\n".join(lines)


def network_lines(scenario: dict) -> list[str]:
    """Routers, the bottleneck, and each flow's nodes and agents."""
    bell = scenario["dumbbell"]
    known(bell, BELL_KEYS, "dumbbell")
    discipline = queue(scenario)
    lines = ["set r1 [$ns node]", "set r2 [$ns node]"]
    lines += [
        f"Queue/{discipline.kind} set {name} {value}"
        for name, value in discipline.variables.items()
    ]
    rate, wait = number(quantity(bell["rate"])), delay(bell.get("delay"))
    lines.append(f"bottleneck $r1 $r2 {rate} {wait} {discipline.kind} {discipline.limit}")
    if "back_rate" in bell:
        lines.append(
            f"[[$ns link $r2 $r1] link] set bandwidth_ {number(quantity(bell['back_rate']))}"
        )
    for index, flow in enumerate(instances(scenario["flows"])):
        known(flow, FLOW_KEYS, f"flow {flow['name']}")
        lines += flow_lines(scenario, index, flow, discipline.hashes_sources)
    return lines


def known(table: dict, keys: set[str], what: str) -> None:
    if unknown := set(table) - keys:
        raise Unsupported(f"{what}: {', '.join(sorted(unknown))}")


def pipe(source: str, target: str, rate, wait) -> str:
    """A link both ways that never drops."""
    return f"pipe {source} {target} {number(quantity(rate))} {delay(wait)}"


def flow_lines(scenario: dict, index: int, flow: dict, own_address: bool) -> list[str]:
    """The nodes, links and agents of one flow."""
    own = {**scenario["dumbbell"], **flow}
    source, sink = f"$s({index})", f"$d({index})"
    lines = []
    for side, node, router in (("access", "s", "$r1"), ("sink", "d", "$r2")):
        rate, wait = own.get(f"{side}_rate"), own.get(f"{side}_delay")
        if rate is None:
            if wait is not None:
                raise Unsupported(f"{side}_delay without {side}_rate")
            if own_address and side == "access":
                raise Unsupported("sources without a link of their own share a queue of ns-2's DRR")
            lines.append(f"set {node}({index}) {router}")
            continue
        make = "[source]" if own_address and side == "access" else "[$ns node]"
        lines.append(f"set {node}({index}) {make}")
        ends = (source, router) if side == "access" else (router, sink)
        lines.append(pipe(*ends, rate, wait))

    recovery = flow.get("recovery", "sack")
    ends = endpoints(scenario, flow)
    sink_kind = (
        "Agent/TCPSink"
        + ("/Sack1" if recovery == "sack" else "")
        + ("/DelAck" if ends.delayed_ack else "")
    )
    lines.append(f"set tcp({index}) [new {SENDERS[recovery]}]")
    lines.append(f"set sink({index}) [new {sink_kind}]")
    lines += [f"$tcp({index}) set {name} {value}" for name, value in ends.sender.items()]
    lines += [f"$sink({index}) set {name} {value}" for name, value in ends.sink.items()]
    lines.append(f"connect {index}")
    return lines


def start_lines(scenario: dict, index: int, flow: dict) -> list[str]:
    """What happens when."""
    lines = []
    ends = endpoints(scenario, flow)
    if ends.initial_ssthresh is not None:
        # Behind `boot`, whose reset makes the threshold the window limit.
        lines.append(f'$ns at 0.0 "$tcp({index}) set ssthresh_ {int(ends.initial_ssthresh)}"')
    start = number(quantity(flow.get("start", 0)))
    send = (
        f"$tcp({index}) advanceby {int(flow['packets'])}"
        if "packets" in flow
        else f"$ftp({index}) start"
    )
    lines.append(f'$ns at {start} "{send}"')
    if "stop" in flow:
        lines.append(f'$ns at {number(quantity(flow["stop"]))} "$ftp({index}) stop"')
    return lines


def cross_lines(scenario: dict) -> list[str]:
    """Traffic that does not react, into the bottleneck.

    Behind a node of its own where the queue hashes addresses.
    """
    lines = []
    own_address = queue(scenario).hashes_sources
    for index, cross in enumerate(instances(scenario.get("cross", []))):
        known(cross, CROSS_KEYS, f"cross {cross['name']}")
        lines.append(f"set c({index}) {'[behind $r1]' if own_address else '$r1'}")
        kind, variables = generator(cross)
        rate, size = (
            quantity(cross["rate"]),
            int(quantity(str(cross.get("packet_size", 1000)).rstrip("B"))),
        )
        variables |= {"rate_": number(rate), "packetSize_": number(size)}
        lines.append(
            f"cross {index} {kind} "
            f"{{{' '.join(f'{name} {value}' for name, value in variables.items())}}}"
        )
        # ns-2's constant bit rate sends at once, cwndlab and the bursts of ns-2 when the first
        # packet is complete.
        start = quantity(cross.get("start", 0)) + (8 * size / rate if kind == "CBR" else 0.0)
        lines.append(f'$ns at {number(start)} "$generator({index}) start"')
        if "stop" in cross:
            lines.append(f'$ns at {number(quantity(cross["stop"]))} "$generator({index}) stop"')
    return lines


def generator(cross: dict) -> tuple[str, dict[str, str]]:
    """ns-2's class below ``Application/Traffic/``, and its variables beside rate and size."""
    if "on" not in cross and "off" not in cross:
        return "CBR", {}
    on, off = cross["on"], cross["off"]
    variables = {
        "burst_time_": number(quantity(on["mean"])),
        "idle_time_": number(quantity(off["mean"])),
    }
    if on["kind"] == off["kind"] == "exponential":
        return "Exponential", variables
    if (
        on["kind"] == off["kind"] == "pareto"
        and on["shape"] == off["shape"]
        and "most" not in {**on, **off}
    ):
        return "Pareto", {**variables, "shape_": number(on["shape"])}
    raise Unsupported(f"bursts of {on} and {off}")


def loss_lines(bell: dict, flows: list[dict]) -> list[str]:
    """The lists of packets that are lost or marked.

    ns-2 puts a later model before an earlier one: those that mark come last, so that everything
    passes them and is counted.
    """
    names = [flow["name"] for flow in flows]
    lists: dict[tuple[str, str | None], set[int]] = {}
    for loss in bell.get("loss", []):
        if loss["kind"] not in ("list", "marks"):
            raise Unsupported(f"loss {loss}")
        flow = loss.get("flow") if len(flows) > 1 else None
        lists.setdefault((loss["kind"], flow), set()).update(loss["packets"])
    if {flow is None for _, flow in lists} == {True, False}:
        raise Unsupported("lists of one flow beside lists of all")
    lines = []
    for (kind, flow), packets in sorted(lists.items(), key=lambda entry: entry[0][0]):
        if not packets:
            continue
        numbers = " ".join(str(packet) for packet in sorted(packets))
        # At the end of the flow's own link: the same packets of that flow, in the same order, as at
        # the bottleneck.
        link = "$r1 $r2" if flow is None else f"$s({names.index(flow)}) $r1"
        lines.append(
            f"{'drops' if kind == 'list' else 'marks'} {link} {{{numbers}}} {int(flow is not None)}"
        )
    return lines
