"""Tables of `cwndlab live quic`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cwndlab.cli.live_tables import LATENESS, lateness, print_verdict
from cwndlab.cli.output import print_line, print_table
from cwndlab.cli.run_tables import print_tables, scaled

if TYPE_CHECKING:
    from cwndlab.results import Result

MAX_ROWS = 20
"""Largest number of flows whose window reductions are listed."""


def print_quic(result: Result) -> None:
    """Print the tables of a run, the relay's delays, window limits, and the run's validity."""
    print_tables(result)
    health, sockets = result.health, result.sockets
    columns = ["packets", *LATENESS, "refused", "dropped by\nsockets",
               "CPU\n[%]", "of all CPUs,\nwhole run [%]", "receive\nbuffer [kB]"]  # fmt: skip
    row = [
        str(health["released_packets"]), *lateness(health), str(health["refused_packets"]),
        str(sockets["dropped_datagrams"]), scaled(health["cpu_share"], 100, 1),
        scaled(sockets["machine_share"], 100, 1), str(sockets["receive_buffer_bytes"] // 1000),
    ]  # fmt: skip
    print_table(f"Relay, packets of {result.packet_bytes} bytes", columns, [row], text_columns=0)
    rules = dict(result.flows.select("flow", "rule").iter_rows())
    rows = [_cuts(flow, rules[flow["flow"]]) for flow in result.quic_flows[:MAX_ROWS]]
    columns = [
        "flow",
        "rule",
        "cuts",
        "mean of after/before",
        "last cut from\n[packets]",
        "to\n[packets]",
    ]
    print_table("Cuts of the window", columns, rows, text_columns=2)
    for note in result.notes:
        print_line(f"note: {note}")
    print_verdict(result, "relay", "quic.md")


def _cuts(flow: Mapping[str, Any], rule: str) -> list[str]:
    pairs = list(zip(flow["cut_before_packets"], flow["cut_after_packets"], strict=True))
    if not pairs:
        return [flow["flow"], rule, "0", "-", "-", "-"]
    mean = sum(after / before for before, after in pairs) / len(pairs)
    return [
        flow["flow"],
        rule,
        str(len(pairs)),
        f"{mean:.4f}",
        f"{pairs[-1][0]:.2f}",
        f"{pairs[-1][1]:.2f}",
    ]
