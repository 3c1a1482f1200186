"""The tables that `cwndlab run` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cwndlab.cli.output import print_table

if TYPE_CHECKING:
    from cwndlab.results import Result

MAX_FLOW_ROWS = 20
"""Beyond this many flows the table has one row per group."""

_FLOW_NUMBERS = (
    # heading, key, scale, digits
    ("goodput\n[Mbit/s]", "goodput_bps", 1e-6, 3),
    ("loss\n[%]", "loss_rate", 100, 3),
    ("RTT\n[ms]", "mean_rtt_s", 1e3, 1),
    ("window\n[packets]", "mean_cwnd_packets", 1, 1),
    ("resent", "retransmitted_packets", 1, 0),
    ("fast\nretransmits", "fast_retransmits", 1, 0),
    ("time-outs", "timeouts", 1, 0),
)
_LINK_NUMBERS = (
    ("rate\n[Mbit/s]", "rate_bps", 1e-6, 3),
    ("available\n[Mbit/s]", "available_bps", 1e-6, 3),
    ("utilization\n[%]", "utilization", 100, 1),
    ("arrived", "arrived_packets", 1, 0),
    ("dropped", "dropped_packets", 1, 0),
    ("mean queue\n[packets]", "mean_queue_packets", 1, 1),
    ("mean delay\n[ms]", "mean_queueing_delay_s", 1e3, 2),
    ("p95 delay\n[ms]", "p95_queueing_delay_s", 1e3, 2),
)


def print_result(result: Result) -> None:
    """Print flows (by group where they are many), links, and the run's own fields."""
    fields = result.fields
    many = result.flows.height > MAX_FLOW_ROWS
    window = f"{fields['measure_from_s']:g} to {fields['measure_to_s']:g} s"
    columns, rows = _groups(result) if many else _flows(result)
    print_table(f"Flows, measured {window}", columns, rows, text_columns=3)
    print_table("Links", *_links(result), text_columns=2)
    click.echo(
        f"aggregate goodput {fields['aggregate_goodput_bps'] / 1e6:.3f} Mbit/s, "
        f"Jain's index {_text(fields['jain_index'], 1, 4)}, fairness spread {_text(fields['fairness_spread'], 1, 3)}"
    )
    click.echo(
        f"simulated {fields['simulated_s']:g} s in {fields['wall_s']:.2f} s "
        f"({fields['packets_per_wall_s'] / 1e6:.2f} M packets/s), seed {fields['seed']}, "
        f"trace hash {fields['trace_hash']}"
    )


def _flows(result: Result) -> tuple[list[str], list[list[str]]]:
    columns = ["flow", "rule", "recovery", *(heading for heading, *_ in _FLOW_NUMBERS)]
    rows = [
        [
            row["flow"],
            row["rule"],
            row["recovery"],
            *(_text(row[key], scale, digits) for _, key, scale, digits in _FLOW_NUMBERS),
        ]
        for row in result.flows.to_dicts()
    ]
    return columns, rows


def _groups(result: Result) -> tuple[list[str], list[list[str]]]:
    columns = ["group", "rule", "recovery", "flows", *(f"mean {heading}" for heading, *_ in _FLOW_NUMBERS)]
    rows = []
    for (group, rule, recovery), frame in result.flows.group_by("group", "rule", "recovery", maintain_order=True):
        means = (_text(frame[key].mean(), scale, max(digits, 1)) for _, key, scale, digits in _FLOW_NUMBERS)
        rows.append([group, rule, recovery, str(frame.height), *means])
    return columns, rows


def _links(result: Result) -> tuple[list[str], list[list[str]]]:
    columns = ["link", "queue", *(heading for heading, *_ in _LINK_NUMBERS)]
    rows = [
        [
            row["link"],
            row["queue"],
            *(_text(row[key], scale, digits) for _, key, scale, digits in _LINK_NUMBERS),
        ]
        for row in result.links.to_dicts()
    ]
    return columns, rows


def _text(value: float | None, scale: float, digits: int) -> str:
    return "-" if value is None else f"{value * scale:.{digits}f}"
