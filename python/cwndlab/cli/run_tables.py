"""Tables of `cwndlab run`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cwndlab.cli.output import print_line, print_table
from cwndlab.custom_rules import shown

if TYPE_CHECKING:
    import polars as pl

    from cwndlab.results import Result

Number = tuple[str, str, float, int]
"""A column: heading, key, scale, digits."""

MAX_FLOW_ROWS = 20
"""With more flows, the table has one row per group."""

_FLOW_NUMBERS = (
    ("goodput\n[Mbit/s]", "goodput_bps", 1e-6, 3),
    ("loss\n[%]", "loss_rate", 100, 3),
    ("RTT\n[ms]", "mean_rtt_s", 1e3, 1),
    ("window\n[packets]", "mean_cwnd_packets", 1, 1),
    ("retrans-\nmitted", "retransmitted_packets", 1, 0),
    ("fast\nretransmits", "fast_retransmits", 1, 0),
    ("timeouts", "timeouts", 1, 0),
)
_LINK_NUMBERS = (
    ("rate\n[Mbit/s]", "rate_bps", 1e-6, 3),
    ("available\n[Mbit/s]", "available_bps", 1e-6, 3),
    ("utilization\n[%]", "utilization", 100, 1),
    ("arrived", "arrived_packets", 1, 0),
    ("dropped", "dropped_packets", 1, 0),
    ("mean queue\n[packets]", "mean_queue_packets", 1, 1),
    ("mean delay\n[ms]", "mean_queueing_delay_s", 1e3, 2),
    ("p50 delay\n[ms]", "p50_queueing_delay_s", 1e3, 2),
    ("p95 delay\n[ms]", "p95_queueing_delay_s", 1e3, 2),
    ("p99 delay\n[ms]", "p99_queueing_delay_s", 1e3, 2),
)
_LEFT = ("residual\n[Mbit/s]", "left_bps", 1e-6, 3)
_MARKED = ("marked", "marked_packets", 1, 0)
_CUTS = ("ECN\ncuts", "ecn_reductions", 1, 0)
_RTTS = tuple((f"p{q} RTT\n[ms]", f"p{q}_rtt_s", 1e3, 1) for q in (50, 95, 99))
_CROSS_NUMBERS = (
    ("offered\n[Mbit/s]", "offered_bps", 1e-6, 3),
    ("delivered\n[Mbit/s]", "delivered_bps", 1e-6, 3),
    ("sent", "sent_packets", 1, 0),
    ("delivered", "delivered_packets", 1, 0),
    ("dropped", "dropped_packets", 1, 0),
)
_ARRIVAL_NUMBERS = (
    ("arrived", "arrived_flows", 1, 0),
    ("finished", "finished_flows", 1, 0),
    ("goodput\n[Mbit/s]", "goodput_bps", 1e-6, 3),
    ("mean FCT\n[ms]", "mean_fct_s", 1e3, 1),
    ("p50\n[ms]", "p50_fct_s", 1e3, 1),
    ("p95\n[ms]", "p95_fct_s", 1e3, 1),
    ("p99\n[ms]", "p99_fct_s", 1e3, 1),
    ("mean\nslowdown", "mean_slowdown", 1, 2),
    ("dropped", "dropped_packets", 1, 0),
    ("timeouts", "timeouts", 1, 0),
)

_OPTIONAL_OF_FLOWS = tuple(
    f"{mean}{heading}"
    for heading in ("fast\nretransmits", "retrans-\nmitted", "window\n[packets]")
    for mean in ("", "mean ")
)
_OPTIONAL_OF_LINKS = (
    "p50 delay\n[ms]",
    "p99 delay\n[ms]",
    "arrived",
    "available\n[Mbit/s]",
    "mean queue\n[packets]",
    "rate\n[Mbit/s]",
)
"""What a narrow terminal does not show, the first one first."""


def print_tables(result: Result) -> None:
    """Print flows (by group if there are many), links, and other traffic."""
    fields = result.fields
    many = result.flows.height > MAX_FLOW_ROWS
    window = f"{fields['measure_from_s']:g} to {fields['measure_to_s']:g} s"
    columns, rows = _groups(result) if many else _flows(result)
    print_table(
        f"Flows, measured {window}", columns, rows, text_columns=3, optional=_OPTIONAL_OF_FLOWS
    )
    print_table("Links", *_links(result), text_columns=2, optional=_OPTIONAL_OF_LINKS)
    if result.cross.height:
        print_table("Cross traffic", *_rows(result.cross, ("source",), _CROSS_NUMBERS))
    if result.arrivals.height:
        title = "Finite flows and responses (FCT: flow completion time)"
        print_table(
            title,
            *_rows(result.arrivals, ("group", "rule", "recovery"), _ARRIVAL_NUMBERS),
            text_columns=3,
            optional=("dropped", "p50\n[ms]", "p95\n[ms]", "arrived"),
        )


def print_result(result: Result) -> None:
    """Print the tables of a run, and its own fields."""
    print_tables(result)
    fields = result.fields
    print_line(
        f"aggregate goodput {fields['aggregate_goodput_bps'] / 1e6:.3f} Mbit/s, "
        f"Jain's index {_text(fields['jain_index'], 1, 4)}, fairness spread "
        f"{_text(fields['fairness_spread'], 1, 3)}, lowest share / equal share "
        f"{_text(fields['lowest_share'], 1, 3)}"
    )
    print_line(
        f"simulated {fields['simulated_s']:g} s in {fields['wall_s']:.2f} s "
        f"({fields['packets_per_wall_s'] / 1e6:.2f} M packets/s), seed {fields['seed']}, "
        f"trace hash {fields['trace_hash']}"
    )


def _flow_numbers(result: Result) -> tuple[Number, ...]:
    """Add a column of ECN cuts if there are any, and percentiles of the RTT if recorded."""
    numbers = list(_FLOW_NUMBERS)
    if result.flows["p95_rtt_s"].is_not_null().any():
        numbers[3:3] = _RTTS
    return (*numbers, _CUTS) if result.flows["ecn_reductions"].sum() else tuple(numbers)


def _flows(result: Result) -> tuple[list[str], list[list[str]]]:
    return _rows(result.flows, ("flow", "rule", "recovery"), _flow_numbers(result))


def _groups(result: Result) -> tuple[list[str], list[list[str]]]:
    from cwndlab.columns import mean_of

    numbers = _flow_numbers(result)
    columns = [
        "group",
        "rule",
        "recovery",
        "flows",
        *(f"mean {heading}" for heading, *_ in numbers),
    ]
    rows: list[list[str]] = []
    for (group, rule, recovery), frame in result.flows.group_by(
        "group", "rule", "recovery", maintain_order=True
    ):
        means = (
            _text(mean_of(frame[key]), scale, max(digits, 1)) for _, key, scale, digits in numbers
        )
        rows.append([group, shown(rule), recovery, str(frame.height), *means])
    return columns, rows


def _links(result: Result) -> tuple[list[str], list[list[str]]]:
    numbers = list(_LINK_NUMBERS)
    if result.cross.height or result.arrivals.height:
        numbers.insert(2, _LEFT)
    if result.links["marked_packets"].sum():
        numbers.insert(-5, _MARKED)
    return _rows(result.links, ("link", "queue"), numbers)


def _rows(
    frame: pl.DataFrame, names: Sequence[str], numbers: Sequence[Number]
) -> tuple[list[str], list[list[str]]]:
    rows = [
        [
            *(shown(row[name]) for name in names),
            *(_text(row[key], scale, digits) for _, key, scale, digits in numbers),
        ]
        for row in frame.to_dicts()
    ]
    return [*names, *(heading for heading, *_ in numbers)], rows


def _text(value: float | None, scale: float, digits: int) -> str:
    return "-" if value is None else f"{value * scale:.{digits}f}"
