"""A cwndlab scenario written as a script for ns-2 2.35: one dumbbell, TCP flows, drop-tail, exact drop lists."""

from __future__ import annotations

from pathlib import Path

from .translate import Unsupported, buffer_limit, delay, endpoints, number, quantity

SENDERS = {"tahoe": "Agent/TCP", "reno": "Agent/TCP/Reno", "newreno": "Agent/TCP/Newreno", "sack": "Agent/TCP/Sack1"}
PRELUDE = Path(__file__).with_name("prelude.tcl")


def instances(scenario: dict) -> list[dict]:
    """One entry for each flow, in the order of cwndlab's flow numbers."""
    flows = []
    for flow in scenario["flows"]:
        count = flow.get("count", 1)
        for index in range(count):
            flows.append({**flow, "name": flow["name"] if count == 1 else f"{flow['name']}-{index}"})
    return flows


def script(scenario: dict) -> str:
    """The Tcl text; prelude.tcl names its arguments."""
    bell = scenario["dumbbell"]
    flows = instances(scenario)
    lines = [PRELUDE.read_text(), "set r1 [$ns node]", "set r2 [$ns node]"]
    lines.append(pipe("$r1", "$r2", bell["rate"], bell.get("delay"), str(buffer_limit(bell["queue"]))))
    if "back_rate" in bell:
        lines.append(f"[[$ns link $r2 $r1] link] set bandwidth_ {number(quantity(bell['back_rate']))}")
    lines.append(f"$ns at 0.0 {{ boot {len(flows)} }}")
    for index, flow in enumerate(flows):
        lines += flow_lines(scenario, index, flow)
    lines += loss_lines(bell, flows)
    end = number(quantity(scenario["duration"]))
    lines.append(f"$ns at {end} {{ close $out; close $phases; exit 0 }}")
    lines.append("$ns run\n")
    return "\n".join(lines)


def pipe(source: str, target: str, rate, wait, limit: str = "$unlimited") -> str:
    """A link both ways; the way back never drops."""
    return f"pipe {source} {target} {number(quantity(rate))} {delay(wait)} {limit}"


def flow_lines(scenario: dict, index: int, flow: dict) -> list[str]:
    """The nodes, links and agents of one flow, and its start."""
    own = {**scenario["dumbbell"], **flow}
    source, sink = f"$s({index})", f"$d({index})"
    lines = []
    for side, node, router in (("access", "s", "$r1"), ("sink", "d", "$r2")):
        rate, wait = own.get(f"{side}_rate"), own.get(f"{side}_delay")
        if rate is None:
            if wait is not None:
                raise Unsupported(f"{side}_delay without {side}_rate")
            lines.append(f"set {node}({index}) {router}")
            continue
        lines.append(f"set {node}({index}) [$ns node]")
        ends = (source, router) if side == "access" else (router, sink)
        lines.append(pipe(*ends, rate, wait))

    recovery = flow.get("recovery", "sack")
    ends = endpoints(scenario, flow)
    sink_kind = "Agent/TCPSink" + ("/Sack1" if recovery == "sack" else "") + ("/DelAck" if ends.delayed_ack else "")
    lines.append(f"set tcp({index}) [new {SENDERS[recovery]}]")
    lines.append(f"set sink({index}) [new {sink_kind}]")
    lines += [f"$tcp({index}) set {name} {value}" for name, value in ends.sender.items()]
    lines += [f"$sink({index}) set {name} {value}" for name, value in ends.sink.items()]
    lines.append(f"connect {index}")
    if ends.initial_ssthresh is not None:
        # Behind `boot`, whose reset makes the threshold the window limit.
        lines.append(f'$ns at 0.0 "$tcp({index}) set ssthresh_ {int(ends.initial_ssthresh)}"')
    start = number(quantity(flow.get("start", 0)))
    send = f"$tcp({index}) advanceby {int(flow['packets'])}" if "packets" in flow else f"$ftp({index}) start"
    lines.append(f'$ns at {start} "{send}"')
    if "stop" in flow:
        lines.append(f'$ns at {number(quantity(flow["stop"]))} "$ftp({index}) stop"')
    return lines


def loss_lines(bell: dict, flows: list[dict]) -> list[str]:
    """The drop lists."""
    lines = []
    names = [flow["name"] for flow in flows]
    for loss in bell.get("loss", []):
        if loss["kind"] != "list":
            raise Unsupported(f"loss {loss}")
        if not loss["packets"]:
            continue
        packets = " ".join(str(packet) for packet in sorted(loss["packets"]))
        if "flow" in loss and len(flows) > 1:
            # At the end of the flow's own link: the same packets of that flow, in the same order, as at the bottleneck.
            lines.append(f"drops $s({names.index(loss['flow'])}) $r1 {{{packets}}} 1")
        else:
            lines.append(f"drops $r1 $r2 {{{packets}}} 0")
    return lines
