"""Measures of flows beside the tables of a script: ACKs, reductions, RTO, round trips, rates.

The script of a run has further commands (`measuring`), which change nothing that it simulates. It
prints lines ``series NAME TIME NUMBER...`` with a number for each flow.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from cwndlab.ns2 import tcl
from cwndlab.ns2.agents import Endpoints
from cwndlab.ns2.network import Flow, Network
from cwndlab.ns2.script import procedures, window_s, with_commands
from cwndlab.quantities import seconds

if TYPE_CHECKING:
    import polars as pl

SERIES = "series"
RTO_SAMPLES = 200
"""Looks at the RTO of a flow within the measuring window."""
EVEN = ("drop-tail", "red")
"""Queues in which the packets of all flows wait equally long."""


def measuring(script: str, document: Mapping[str, Any]) -> str:
    """Return the script of a scenario with the commands that measure its flows."""
    begin_s, end_s = window_s(document)
    every_s = tcl.number((end_s - begin_s) / RTO_SAMPLES)
    bins = {"packets-departed": (begin_s, rate_bin_s(document))}
    if "rate" in document.get("trace", {}):
        bins["bytes-in-order"] = (0.0, seconds(document["trace"]["rate"]) or 0.0)
    begin, end = tcl.number(begin_s), tcl.number(end_s)
    return with_commands(script, [
        *procedures("flows.tcl"),
        f"set series {{{' '.join(bins)}}}",
        f'$ns at {begin} "count-flows counted_before"',
        f'$ns at {end} "count-flows counted_after"',
        f'$ns at {begin} "sample-rto {every_s} {end}"',
        *(f'$ns at {tcl.number(at_s)} "print-series {name} {tcl.number(bin_s)}"'
          for name, (at_s, bin_s) in bins.items()),
    ])  # fmt: skip


def numbers_of(printed: str, name: str) -> list[float]:
    """Return the last row of a series."""
    _, numbers = series(printed, name)
    return numbers[-1].tolist()


def series(printed: str, name: str) -> tuple[np.ndarray, np.ndarray]:
    r"""Read a series: times, shape (times,), and numbers, shape (times, flows).

    Of equal times the last counts.

    Examples
    --------
    >>> rows = ["series\tbytes\t0\t0\t0", "series\tbytes\t1.5\t40\t80"]
    >>> times, numbers = series("\n".join(rows), "bytes")
    >>> times.tolist(), numbers.tolist()
    ([0.0, 1.5], [[0.0, 0.0], [40.0, 80.0]])
    """
    head = f"{SERIES}\t{name}\t"
    rows = {
        float(time_s): [float(cell) for cell in cells]
        for line in printed.splitlines()
        if line.startswith(head)
        for time_s, *cells in [line.removeprefix(head).split("\t")]
    }
    times = np.array(list(rows), dtype=float)
    return times, np.atleast_2d(np.array(list(rows.values()), dtype=float))


def rate_variations(printed: str, bin_s: float, end_s: float) -> list[float | None]:
    """Coefficient of variation of each flow's packets in the whole bins of the window."""
    times, packets = series(printed, "packets-departed")
    whole = times <= end_s + bin_s * 1e-6
    counts = np.diff(packets[whole], axis=0)
    # The row at the end of the run may end a shorter bin.
    counts = counts[np.diff(times[whole]) > bin_s * (1 - 1e-6)]
    if len(counts) < 2:
        return [None] * packets.shape[1]
    means, deviations = counts.mean(axis=0), counts.std(axis=0)
    return [float(deviation / mean) if mean > 0 else None
            for mean, deviation in zip(means, deviations, strict=True)]  # fmt: skip


def rate_trace(printed: str, found: Network, ends: list[Endpoints]) -> pl.DataFrame | None:
    """Return the trace ``rate`` by what arrived in order; None if the scenario asks for none."""
    import polars as pl

    times, received = series(printed, "bytes-in-order")
    if len(times) < 2:
        return None
    sizes = np.array([each.knobs["packet_size"] / each.packet_bytes for each in ends])
    # ns-2 counts bytes in 32 bits.
    bits = np.mod(np.diff(received, axis=0), 2.0**32) * 8 * sizes
    rates = bits / np.diff(times)[:, None]
    names = [flow.name for flow in found.flows]
    rows = [
        (time_s, name, rate)
        for time_s, row in zip(times[:-1], rates, strict=True)
        for name, rate in zip(names, row.tolist(), strict=True)
    ]
    schema = {"time_s": pl.Float64, "flow": pl.Enum(names), "goodput_bps": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def mean_rtt_s(
    flow: Flow, ends: Endpoints, found: Network, waits_s: Mapping[str, float]
) -> float | None:
    """Mean round trip time of a flow: propagation, transmission, and the mean waits on its links.

    None where flows wait differently (DRR), or where ACKs are delayed.

    Parameters
    ----------
    flow : Flow
        The flow.
    ends : Endpoints
        Its agents.
    found : Network
        The network.
    waits_s : mapping of str to float
        Link to the mean time that packets wait there, seconds.
    """
    links = [found.link(name) for name in (*flow.forward, *flow.back)]
    if ends.knobs["delayed_ack"] or any(link.queue["kind"] not in EVEN for link in links):
        return None
    data_bits, ack_bits = 8 * ends.packet_bytes, 8 * ends.knobs["ack_size"]
    own = [bps for bps in (flow.access_bps, flow.sink_bps) if bps is not None]
    time_s = 2 * (flow.access_delay_s + flow.sink_delay_s) + flow.back_delay_s
    time_s += sum((data_bits + ack_bits) / bps for bps in own)
    for link in links:
        bits = data_bits if link.name in flow.forward else ack_bits
        time_s += link.delay_s + bits / link.rate_bps + waits_s[link.name]
    return time_s


def rate_bin_s(document: Mapping[str, Any]) -> float:
    """Length of the bins of `rate_variations`, seconds."""
    return seconds(document["rate_bin"]) or 0.0
