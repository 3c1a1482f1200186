"""Queues of links as queues of ns-2: class, limit, and the variables of the class.

Variables are set on the class before the link is made: some of them count when it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cwndlab.ns2.network import Link
from cwndlab.ns2.refusals import refused
from cwndlab.ns2.tcl import number
from cwndlab.quantities import seconds

UNLIMITED = 1_000_000
"""A ``queue-limit`` that nothing reaches, packets."""


@dataclass(frozen=True)
class Queue:
    """A queue of ns-2.

    Attributes
    ----------
    kind : str
        Class below ``Queue/``.
    limit : int
        Its ``queue-limit``, packets.
    variables : mapping of str to str
        Variables of the class.
    """

    kind: str
    limit: int
    variables: Mapping[str, str] = field(default_factory=dict[str, str])


def queue(link: Link, sources: int) -> Queue:
    """Return the queue of a link.

    Parameters
    ----------
    link : Link
        The link.
    sources : int
        Number of flows and sources of cross traffic.

    Raises
    ------
    ScenarioError
        If ns-2 has no such queue.
    """
    kind = link.queue["kind"]
    if kind not in MAKERS:
        raise refused(f"{link.queue_key}.kind", kind, "drop-tail, red, step or drr")
    return MAKERS[kind](link, sources)


def _drop_tail(link: Link, _sources: int) -> Queue:
    """ns-2's ``limit_`` of B holds B - 1 waiting packets and the one in service."""
    if link.limit_bytes is None and link.limit_packets is None:
        return Queue("DropTail", UNLIMITED)
    return Queue("DropTail", _packets(link) + (not link.queue.get("count_in_service", True)))


def _red(link: Link, _sources: int) -> Queue:
    spec = link.queue
    variables = {
        # 0: ns-2 chooses. Its own default, q_weight_ -1, is another choice than `weight` has.
        "thresh_": number(0 if link.min_packets is None else link.min_packets),
        "maxthresh_": number(0 if link.max_packets is None else link.max_packets),
        "q_weight_": number(spec.get("weight", 0)),
        "linterm_": number(1.0 / spec["max_p"]),
        "gentle_": _flag(spec.get("gentle", True)),
        "wait_": _flag(spec["wait"]),
        "bytes_": _flag(spec.get("bytes", False)),
        "queue_in_bytes_": _flag(spec.get("queue_in_bytes", False)),
        "mean_pktsize_": number(_bytes(spec.get("mean_packet", link.packet_bytes))),
        "setbit_": _flag(spec["ecn"]),
        "use_mark_p_": _flag("mark_p" in spec),
        "mark_p_": number(spec.get("mark_p", 0.1)),
        "adaptive_": _flag(spec["adaptive"]),
        "targetdelay_": number(seconds(spec["target_delay"]) or 0.0),
    }
    return Queue("RED", _packets(link), variables)


LEAST_STEP = 3
"""Smallest threshold of step marking that ns-2's RED can have, packets: it lets the first packet
pass that finds two waiting."""


def _step(link: Link, _sources: int) -> Queue:
    """Step marking as RED of the queue as it stands: never below the threshold, always from it on.

    With ``thresh_`` at the threshold too RED would let pass the first packet of each excursion
    beyond it; so ``thresh_`` is below, with a probability that no random number of ns-2 is under.
    Without ``use_mark_p_`` RED drops ECN-capable packets from ``maxthresh_`` on, and with it from
    ``mark_p_`` on: 2 is beyond every probability.
    """
    threshold = link.threshold_packets
    if threshold is None or threshold < LEAST_STEP:
        raise refused(
            f"{link.queue_key}.threshold",
            link.queue.get("threshold", f"{threshold}pkt"),
            f"a threshold in packets of at least {LEAST_STEP}",
        )
    variables = {
        "thresh_": "1",
        "maxthresh_": str(threshold),
        "q_weight_": "1",
        "linterm_": "1e15",
        "gentle_": "0",
        "wait_": "0",
        "bytes_": "0",
        "queue_in_bytes_": "0",
        "mean_pktsize_": str(link.packet_bytes),
        "setbit_": "1",
        "use_mark_p_": "1",
        "mark_p_": "2",
        "adaptive_": "0",
    }
    return Queue("RED", _packets(link), variables)


def _drr(link: Link, sources: int) -> Queue:
    spec = link.queue
    if "flow_limit" in spec:
        raise refused(f"{link.queue_key}.flow_limit", spec["flow_limit"], "no limit of each queue")
    variables = {
        "blimit_": str(_drr_bytes(link)),
        "quantum_": str(_bytes(spec.get("quantum", link.packet_bytes))),
        # By default more than there are flows and sources.
        "buckets_": str(spec.get("buckets", 4 * (sources + 16))),
        "mask_": "0",
    }
    return Queue("DRR", UNLIMITED, variables)


def _drr_bytes(link: Link) -> int:
    """ns-2's limit is in bytes; packets are those of the first flow that crosses the link."""
    if link.limit_bytes is not None:
        return link.limit_bytes
    packets = UNLIMITED if link.limit_packets is None else link.limit_packets
    return packets * link.packet_bytes


def _packets(link: Link) -> int:
    if link.limit_bytes is not None:
        raise refused(f"{link.queue_key}.limit", link.queue["limit"], "a limit in packets")
    return UNLIMITED if link.limit_packets is None else link.limit_packets


def _bytes(size: Any) -> int:
    """Read a size such as 500, ``"500B"`` or ``"1kB"``, which the core has checked."""
    text = str(size)
    factor = 1000 if text.endswith("kB") else 1
    return round(float(text.rstrip("kB")) * factor)


def _flag(value: object) -> str:
    return "1" if value else "0"


MAKERS: dict[str, Callable[[Link, int], Queue]] = {
    "drop-tail": _drop_tail,
    "red": _red,
    "step": _step,
    "drr": _drr,
}
"""RIO is missing: its average in ns-2 leaves out packets out of profile."""
