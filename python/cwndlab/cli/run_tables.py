"""Tables of `cwndlab run`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cwndlab.cli.output import print_line, print_table
from cwndlab.custom_rules import shown

if TYPE_CHECKING:
    import polars as pl

    from cwndlab.results import Result

Digits = dict[str, int]
"""Columns of a table to their digits after the point."""

MAX_FLOW_ROWS = 20
"""With more flows, there are rows for their groups only."""
MOST_OF_TIME = 0.95
"""Share of the window for which flows are there in a table without their active time."""
NOTED_SHARE = 0.1
"""Where another limit than cwnd holds for more of a flow's time, a note says so."""

_NOTED = {
    "limited_by_timeout": "repair after timeouts",
    "limited_by_application": "the application",
    "limited_by_receiver": "the receiver's window",
}

_ACTIVE: Digits = {"active_s": 1, "active_goodput_bps": 3}
"""Columns of runs in which a flow was not there for most of the time."""
_SENDERS: Digits = {
    "loss_rate": 3,
    "mean_rtt_s": 1,
    "p50_rtt_s": 1,
    "p95_rtt_s": 1,
    "p99_rtt_s": 1,
    "p999_rtt_s": 1,
    "starved_s": 1,
    "convergence_s": 1,
    "mean_cwnd_packets": 1,
    "retransmitted_packets": 0,
}
"""Columns of flows and of groups."""
_FLOWS: Digits = {
    "goodput_bps": 3,
    **_ACTIVE,
    **_SENDERS,
    "fast_retransmits": 0,
    "timeouts": 0,
    "ecn_reductions": 0,
}
_GROUPS: Digits = {
    "goodput_bps": 3,
    "mean_goodput_bps": 3,
    "share": 1,
    **_ACTIVE,
    "jain_index": 3,
    **_SENDERS,
    "timeouts": 0,
    "ecn_reductions": 0,
    "solo_goodput_bps": 3,
    "harm": 3,
    "solo_rtt_s": 1,
    "rtt_harm": 3,
}
_LINKS: Digits = {
    "rate_bps": 3,
    "available_bps": 3,
    "left_bps": 3,
    "utilization": 1,
    "arrived_packets": 0,
    "dropped_packets": 0,
    "marked_packets": 0,
    "l4s_marked_packets": 0,
    "breaker_triggers": 0,
    "mean_queue_packets": 1,
    "mean_queueing_delay_s": 2,
    "p50_queueing_delay_s": 2,
    "p95_queueing_delay_s": 2,
    "p99_queueing_delay_s": 2,
}
_CROSS: Digits = {
    "offered_bps": 3,
    "delivered_bps": 3,
    "sent_packets": 0,
    "delivered_packets": 0,
    "dropped_packets": 0,
}
_ARRIVALS: Digits = {
    "arrived_flows": 0,
    "finished_flows": 0,
    "late_flows": 0,
    "late_share": 3,
    "goodput_bps": 3,
    "mean_received_fct_s": 1,
    "p50_received_fct_s": 1,
    "p95_received_fct_s": 1,
    "p99_received_fct_s": 1,
    "mean_slowdown": 2,
    "loaded_pages": 0,
    "mean_page_load_s": 0,
    "p95_page_load_s": 0,
    "startup_delay_s": 0,
    "rebufferings": 0,
    "rebuffering_share": 2,
    "mean_bitrate_bps": 3,
    "bitrate_switches": 0,
    "dropped_packets": 0,
    "timeouts": 0,
}
_CONNECTIONS: Digits = {
    "goodput_bps": 3,
    "reinjected_packets": 0,
    "duplicate_packets": 0,
    "early_packets": 0,
    "held_s": 2,
    "most_held_packets": 0,
    "blocked_s": 2,
    "finish_s": 2,
}
_SUBFLOWS: Digits = {"goodput_bps": 3, "share": 1, "first_packets": 0}
_OF_SOME_TRAFFIC = {
    "late_flows": ("late_flows", "late_share"),
    "pages": ("loaded_pages", "mean_page_load_s", "p95_page_load_s"),
    "rebufferings": (
        "startup_delay_s", "rebufferings", "rebuffering_share", "mean_bitrate_bps",
        "bitrate_switches",
    ),
}  # fmt: skip
"""A column that only some traffic has, to the columns that are left out without that traffic."""
_OPTIONAL = {
    "flows": ("fast_retransmits", "retransmitted_packets", "mean_cwnd_packets"),
    "groups": (
        "jain_index",
        "timeouts",
        "mean_cwnd_packets",
        "retransmitted_packets",
        "solo_rtt_s",
        "solo_goodput_bps",
        "mean_goodput_bps",
    ),
    "links": (
        "p50_queueing_delay_s",
        "p99_queueing_delay_s",
        "arrived_packets",
        "available_bps",
        "mean_queue_packets",
        "rate_bps",
    ),
    "connections": (
        "duplicate_packets",
        "most_held_packets",
        "finish_s",
        "early_packets",
        "reinjected_packets",
    ),
    "arrivals": (
        "dropped_packets",
        "p50_received_fct_s",
        "late_flows",
        "p95_received_fct_s",
        "arrived_flows",
        "finished_flows",
        "p99_received_fct_s",
        "mean_slowdown",
        "mean_received_fct_s",
    ),
}
"""What a narrow terminal does not show of a table, the first one first."""


def print_tables(result: Result) -> None:
    """Print flows (unless there are many), their groups, links, and other traffic."""
    fields = result.fields
    measured = f"measured {fields['measure_from_s']:g} to {fields['measure_to_s']:g} s"
    left_out = set[str]() if _has_absent(result) else set(_ACTIVE)
    if result.flows.height <= MAX_FLOW_ROWS:
        columns = _shown(_FLOWS, result.flows, left_out)
        title, names = f"Flows, {measured}", ("flow", "rule", "recovery")
        _print(title, "flows", result.flows, names, columns)
    if result.connections.height:
        columns = {key: places for key, places in _CONNECTIONS.items()
                   if result.connections[key].count()}  # fmt: skip
        names = ("connection", "rule", "scheduler")
        _print("Connections over several paths", "connections", result.connections, names, columns)
        if result.subflows.height <= MAX_FLOW_ROWS:
            names = ("connection", "flow")
            _print("Subflows, by what they brought first", "subflows", result.subflows, names,
                   _SUBFLOWS)  # fmt: skip
    if result.flows.height > 1:
        columns = _shown(_GROUPS, result.groups, left_out)
        title, names = f"Groups of flows, {measured}", ("group", "rule", "recovery", "flows")
        _print(title, "groups", result.groups, names, columns)
    _note_limits(result.flows)
    _print("Links", "links", result.links, ("link", "queue"), _of_links(result))
    if result.cross.height:
        _print("Cross traffic", "cross", result.cross, ("source",), _CROSS)
    if result.arrivals.height:
        title = "Finite flows and transfers (FCT: flow completion time)"
        _print(title, "arrivals", result.arrivals, ("group", "rule", "recovery"),
               _of_arrivals(result.arrivals))  # fmt: skip


def print_result(result: Result) -> None:
    """Print the tables of a run, and its own fields."""
    print_tables(result)
    print_sums(result)
    fields = result.fields
    kernel = fields.get("virtual_kernel")
    who = (
        f"profile {fields['profile']}"
        if kernel is None
        else f"{fields['kernel']} (kernel {kernel['name']}, identity {kernel['identity']})"
    )
    rate = fields["packets_per_wall_s"]
    fast = f"{rate / 1e6:.2f} M" if rate >= 1e5 else f"{rate:,.0f}"
    print_line(
        f"{'simulated' if kernel is None else 'ran'} {fields['simulated_s']:g} s in "
        f"{fields['wall_s']:.2f} s ({fast} packets/s), seed {fields['seed']}, {who}, "
        f"trace hash {fields['trace_hash']}"
    )


def print_sums(result: Result) -> None:
    """Print the sum of the flows' goodputs, and how equal they are."""
    fields = result.fields
    own = f" ({scaled(fields['active_jain_index'], 1, 4)} while active)"
    print_line(
        f"aggregate goodput {fields['aggregate_goodput_bps'] / 1e6:.3f} Mbit/s, "
        f"Jain's index {scaled(fields['jain_index'], 1, 4)}{own if _has_absent(result) else ''}, "
        "fairness spread "
        f"{scaled(fields['fairness_spread'], 1, 3)}, lowest share / equal share "
        f"{scaled(fields['lowest_share'], 1, 3)}"
    )


def scaled(value: float | None, scale: float, digits: int) -> str:
    """Write a number in a table; a dash for None."""
    return "-" if value is None else f"{value * scale:.{digits}f}"


def _has_absent(result: Result) -> bool:
    """Whether a flow was not there for most of the window."""
    window_s = result.fields["measure_to_s"] - result.fields["measure_from_s"]
    # A result that an earlier version saved does not say.
    known = result.flows["active_s"] if "active_s" in result.flows.columns else None
    return known is not None and bool((known < MOST_OF_TIME * window_s).any())


def _shown(digits: Digits, frame: pl.DataFrame, left_out: set[str]) -> Digits:
    """Leave out what is not recorded, and ECN cuts if there are none."""
    unknown = {key for key in digits if key not in frame.columns or not frame[key].count()}
    if "ecn_reductions" not in unknown and not frame["ecn_reductions"].sum():
        unknown.add("ecn_reductions")
    return {key: places for key, places in digits.items() if key not in left_out | unknown}


def _of_arrivals(arrivals: pl.DataFrame) -> Digits:
    """Leave out late frames if no frame has a deadline; web pages and videos if there are none."""
    left_out = {
        key for sign, keys in _OF_SOME_TRAFFIC.items() if not arrivals[sign].count() for key in keys
    }
    return {key: digits for key, digits in _ARRIVALS.items() if key not in left_out}


def _of_links(result: Result) -> Digits:
    """Leave out the residual bandwidth without other traffic, and counts that are all 0."""
    left_out = set[str]()
    if not (result.cross.height or result.arrivals.height):
        left_out.add("left_bps")
    counts = ("marked_packets", "l4s_marked_packets", "breaker_triggers")
    # A result that an earlier version saved has no column of breakers.
    left_out |= {
        key for key in counts if key not in result.links.columns or not result.links[key].sum()
    }
    return {key: digits for key, digits in _LINKS.items() if key not in left_out}


def _note_limits(flows: pl.DataFrame) -> None:
    """Say which flows, or groups if there are many, were limited by something else than cwnd."""
    import polars as pl

    if not set(_NOTED) <= set(flows.columns):
        return  # A result that an earlier version saved.
    name = "flow" if flows.height <= MAX_FLOW_ROWS else "group"
    shares = flows.group_by(name, maintain_order=True).agg(pl.col(list(_NOTED)).mean())
    lines: list[str] = []
    for key, limit in _NOTED.items():
        limited = shares.filter(pl.col(key) > NOTED_SHARE)
        rows = limited.select(name, key).iter_rows()
        each = ", ".join(f"{one} {100 * share:.0f} %" for one, share in rows)
        if each:
            lines.append(f"limited by {limit}, share of time: {each}")
    for line in [*lines, ""] if lines else []:
        print_line(line)


def _print(
    title: str,
    table: str,
    frame: pl.DataFrame,
    names: Sequence[str],
    columns: Digits,
) -> None:
    """Print rows of a result's table: its names, then numbers."""
    from cwndlab.columns import COLUMNS
    from cwndlab.metrics import Metric
    from cwndlab.tables import number

    metrics = [Metric.of(COLUMNS[table][key], digits=digits) for key, digits in columns.items()]
    rows = [
        [
            *(shown(str(row[name])) for name in names),
            *(number(row[one.key], one) for one in metrics),
        ]
        for row in frame.to_dicts()
    ]
    headings = {one.key: one.heading for one in metrics}
    print_table(
        title,
        [*names, *headings.values()],
        rows,
        text_columns=len(names),
        optional=[headings[key] for key in _OPTIONAL.get(table, ()) if key in headings],
    )
