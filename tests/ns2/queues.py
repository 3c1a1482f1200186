"""A scenario's queue as a queue of ns-2: its class, its limit and the variables of that class."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .translate import Unsupported, number, quantity


@dataclass(frozen=True)
class Queue:
    """``kind`` is the class below ``Queue/``.

    The variables are set for the class before the link is made.
    """

    kind: str
    limit: int
    variables: dict[str, str] = field(default_factory=dict)
    # One bucket for each source address: sources need nodes of their own, with addresses that do
    # not collide.
    hashes_sources: bool = False


def queue(scenario: dict) -> Queue:
    """The bottleneck's queue."""
    spec = {"kind": "drop-tail", **scenario["dumbbell"].get("queue", {})}
    makers = {"drop-tail": drop_tail, "red": red, "drr": drr}
    if spec["kind"] not in makers:
        # RIO of ns-2 is not compared: packets out of profile do not enter its average.
        raise Unsupported(f"no queue of ns-2 2.35 is {spec['kind']!r}")
    return makers[spec["kind"]](spec, scenario)


def drop_tail(spec: dict, _: dict) -> Queue:
    """ns-2's ``limit_`` B holds B - 1 waiting packets and the one in service."""
    return Queue(
        "DropTail", packets(spec["limit"]) + (0 if spec.get("count_in_service", True) else 1)
    )


def red(spec: dict, scenario: dict) -> Queue:
    """Keys that are absent are cwndlab's defaults, which for flags are not always those of ns-2's
    class."""
    size = mean_packet(spec, scenario)
    variables = {
        **thresholds(spec, wire_size(scenario)),
        "linterm_": number(1.0 / spec.get("max_p", 0.1)),
        "q_weight_": number(spec.get("weight", 0)),
        "gentle_": flag(spec.get("gentle", True)),
        "wait_": flag(spec.get("wait", True)),
        "bytes_": flag(spec.get("bytes", False)),
        "queue_in_bytes_": flag(spec.get("queue_in_bytes", False)),
        "mean_pktsize_": number(size),
        "setbit_": flag(spec.get("ecn", False)),
        "use_mark_p_": flag("mark_p" in spec),
        "mark_p_": number(spec.get("mark_p", 0.1)),
        "adaptive_": flag(spec.get("adaptive", False)),
        "targetdelay_": number(quantity(spec.get("target_delay", "5ms"))),
    }
    return Queue("RED", packets(spec["limit"]), variables)


def drr(spec: dict, scenario: dict) -> Queue:
    if "flow_limit" in spec or "buckets" in spec:
        raise Unsupported(f"queue {spec}")
    found = re.fullmatch(r"(\d+)(B|kB)", str(spec["limit"]))
    if not found:
        raise Unsupported(f"the limit of ns-2's DRR is in bytes, not {spec['limit']!r}")
    limit = int(found[1]) * (1000 if found[2] == "kB" else 1)
    quantum = size_in_bytes(spec.get("quantum", wire_size(scenario)))
    # More buckets than there will be nodes: the hash of a node's number is not above it.
    nodes = 4 * (
        sum(item.get("count", 1) for item in scenario["flows"] + scenario.get("cross", [])) + 16
    )
    variables = {
        "blimit_": str(limit),
        "quantum_": str(quantum),
        "buckets_": str(nodes),
        "mask_": "0",
    }
    return Queue("DRR", 1_000_000, variables, hashes_sources=True)


def thresholds(spec: dict, packet_bytes: int) -> dict[str, str]:
    """Thresholds in packets, 0 where ns-2 shall choose."""
    return {
        name: number(threshold(spec[key], packet_bytes)) if key in spec else "0"
        for name, key in (("thresh_", "min"), ("maxthresh_", "max"))
    }


def threshold(buffer: str, packet_bytes: int) -> float:
    """A threshold in packets of the first flow, for ns-2 to multiply where it counts bytes."""
    found = re.fullmatch(r"(\d+)B", str(buffer))
    return int(found[1]) / packet_bytes if found else float(packets(buffer))


def packets(buffer: str) -> int:
    found = re.fullmatch(r"(\d+)pkt", str(buffer))
    if not found:
        raise Unsupported(f"buffer {buffer!r}")
    return int(found[1])


def mean_packet(spec: dict, scenario: dict) -> int:
    return size_in_bytes(spec.get("mean_packet", wire_size(scenario)))


def wire_size(scenario: dict) -> int:
    """Bytes of the first flow's data packets."""
    knobs = {**scenario.get("tcp", {}), **scenario["flows"][0].get("tcp", {})}
    new = scenario["profile"] == "ns2-2.35"
    header = knobs.get("header_size", 40 if new else 0)
    timestamp = (10 if new else 0) if knobs.get("timestamps", False) else 0
    return knobs.get("packet_size", 1000) + header + timestamp


def size_in_bytes(value) -> int:
    found = re.fullmatch(r"(\d+)B?", str(value))
    if not found:
        raise Unsupported(f"size {value!r}")
    return int(found[1])


def flag(value) -> str:
    return "1" if value else "0"
