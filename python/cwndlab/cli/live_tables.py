"""Tables of `cwndlab live`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cwndlab.cli.output import print_line, print_table, say
from cwndlab.cli.run_tables import print_sums, print_tables, scaled

if TYPE_CHECKING:
    from cwndlab.columns import Column
    from cwndlab.results import Result

LATENESS = ("late p50\n[ms]", "late p99\n[ms]", "late max\n[ms]")
"""Headings of `lateness`."""
_OF_LINK = (
    "utilization",
    "mean_queueing_delay_s",
    "p95_queueing_delay_s",
    "dropped_packets",
    "marked_packets",
)
"""What is compared of the bottleneck of a live run and a simulated one."""


def print_live(result: Result) -> None:
    """Print the tables of a run, how well the emulation kept up, and whether the run is valid."""
    print_tables(result)
    health, kernel = result.health, result.kernel
    columns = ["packets", *LATENESS, "lost\noutside", "broken", "CPU\n[%]"]
    lost = health["refused_packets"] + sum(
        end["dropped_packets"] for end in result.namespaces.values()
    )
    broken = health["broken_packets"] + sum(
        end["broken_packets"] for end in result.namespaces.values()
    )
    cpu = scaled(health["cpu_share"], 100, 1)
    row = [str(health["released_packets"]), *lateness(health), str(lost), str(broken), cpu]
    print_table(f"Emulator, beside {kernel}", columns, [row], text_columns=0)
    rules = [
        [rule["rule"], rule["name"], str(rule["skipped_callbacks"])] for rule in result.kernel_rules
    ]
    if rules:
        print_table(
            "Rules in the kernel", ["rule", "name", "skipped\ncallbacks"], rules, text_columns=2
        )
    least = [[row["flow"], scaled(row["min_rtt_s"], 1e3, 3), scaled(row["wire_min_rtt_s"], 1e3, 3)]
             for row in result.kernel_flows[:20]]  # fmt: skip
    base = dict(result.flows.select("flow", "base_rtt_s").iter_rows())
    least = [[name, f"{base[name] * 1e3:.3f}", *rest] for name, *rest in least]
    columns = ["flow", "propagation\n[ms]", "kernel's least\n[ms]", "least on the wire\n[ms]"]
    print_table("RTTs", columns, least)
    print_verdict(result, "emulation", "live.md")


def print_verdict(result: Result, network: str, document: str) -> None:
    """Print the numbers of the whole run, and whether it is valid.

    `network` is the name of its network, `document` the file that explains validity.
    """
    print_sums(result)
    if result.valid:
        print_line(f"valid: the {network} kept up, and nothing was lost outside it")
    else:
        print_line(f"NOT valid: {'; '.join(result.reasons)}")
        say(f"this run says little: see above why (docs/{document}, what makes a run valid)")


def print_beside(simulated: Result, live: Result) -> None:
    """Print shares, delay and losses of both runs, and their differences."""
    from cwndlab.columns import COLUMNS, RUN
    from cwndlab.plots.beside import shares
    from cwndlab.plots.timelines import bottleneck

    both = (simulated, live)
    found = [shares(result) for result in both]
    rows = [[label, f"{100 * share:.1f}", f"{100 * found[1][label]:.1f}",
            f"{100 * (found[1][label] - share):+.1f}"]
            for label, share in found[0].items()]  # fmt: skip
    print_table(
        "Shares of the goodput",
        ["group", "simulated\n[%]", "live\n[%]", "difference\n[points]"],
        rows,
    )
    links = [bottleneck(result) for result in both]
    fields = [result.fields for result in both]
    rows = [
        _row(RUN["aggregate_goodput_bps"], fields, 2),
        *(_row(COLUMNS["links"][key], links, 2) for key in _OF_LINK),
        _row(RUN["jain_index"], fields, 4),
    ]
    print_table(
        f"Beside each other, at {links[0]['link']}",
        ["", "simulated", "live", "difference\n[%]"],
        rows,
    )


def _row(column: Column, both: Sequence[Mapping[str, Any]], digits: int) -> list[str]:
    from cwndlab.metrics import Metric
    from cwndlab.tables import number

    metric = Metric.of(column, digits=digits)
    simulated, live = (values[column.name] or 0 for values in both)
    apart = f"{100 * (live / simulated - 1):+.1f}" if simulated else "-"
    return [metric.title, number(simulated, metric), number(live, metric), apart]


def lateness(health: dict[str, Any]) -> list[str]:
    """Columns under `LATENESS`: how late packets were released."""
    return [scaled(health[f"lateness_{what}_s"], 1e3, 3) for what in ("p50", "p99", "max")]
