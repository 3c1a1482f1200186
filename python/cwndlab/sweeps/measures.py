"""Measures of a run in a sweep.

They are the metrics of comparisons, or any number of a result by its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cwndlab.columns import COLUMNS, RUN, TRACES
from cwndlab.errors import ScenarioError
from cwndlab.groups import with_groups
from cwndlab.message import invalid, nearest, unknown
from cwndlab.metrics import BY_KEY, RECORDED, Metric, mean, only

METRIC = (
    f"{', '.join(BY_KEY)}; a number of the run, such as aggregate_goodput_bps;"
    f" or TABLE.NAME.COLUMN of {', '.join(COLUMNS)}, such as links.bottleneck.utilization, "
    "flows.*.mean_rtt_s or groups.flow.share; or group.COLUMN, such as group.share, of each group"
)
_GROUPS = "groups"
_NAMES = {
    "flows": "group", "links": "link", "cross": "source", "arrivals": "group", _GROUPS: "group",
    "connections": "connection", "subflows": "flow",
}  # fmt: skip

Measure = Metric
"""A number per run: a metric of comparisons, or a column of a result."""
EACH_GROUP = "group."
"""Begins the name of a column that is measured of each group of flows."""


def _numbers(table: str) -> list[str]:
    return [name for name, column in COLUMNS[table].items() if column.kind != "text"]


def flow_columns() -> list[str]:
    """Names of the numbers of a flow."""
    return _numbers("flows")


def group_columns() -> list[str]:
    """Names of the numbers of a group: its own, then means over its flows."""
    return list(dict.fromkeys([*_numbers(_GROUPS), *_numbers("flows")]))


def of_each_group(metrics: Iterable[str], groups: Iterable[str], key: str = "metrics") -> list[str]:
    """Replace ``group.COLUMN`` by the metric of each group; `key` is what names the metrics.

    Examples
    --------
    >>> of_each_group(["loss_rate", "group.share"], ["near", "far"])
    ['loss_rate', 'groups.near.share', 'groups.far.share']
    >>> of_each_group(["group.limited_by_pacing"], ["near"])
    ['flows.near.limited_by_pacing']
    """
    names, found = list(groups), list[str]()
    for metric in metrics:
        column = metric.removeprefix(EACH_GROUP)
        if column == metric:
            found.append(metric)
            continue
        if column not in group_columns():
            known = [f"{EACH_GROUP}{name}" for name in group_columns()]
            if "." in column:
                known.append(f"{_GROUPS}.{column}")
            raise ScenarioError(unknown(key, metric, known))
        found += [of_group(name, column) for name in names]
    return list(dict.fromkeys(found))


def of_group(group: str, column: str) -> str:
    """Name of the metric that a group has in a column: its own, or the mean of its flows."""
    return f"{_GROUPS if column in COLUMNS[_GROUPS] else 'flows'}.{group}.{column}"


def flow_column(column: str) -> Measure:
    """Return the definition of a column of flows, without what reads it."""
    return Metric.of(COLUMNS["flows"][column], patch=RECORDED.get(column))


TRANSFER_TIMES = ("fct_s", "received_fct_s")
"""Completion times of transfers that have a distribution."""


def transfer_time(column: str) -> Measure:
    """Return the definition of a completion time of transfers.

    Examples
    --------
    >>> transfer_time("fct_s").title
    'flow completion time [ms]'
    """
    return replace(Metric.of(TRACES["transfers"][column]), label=_TIMES[column])


_TIMES = {"fct_s": "flow completion time",
          "received_fct_s": "flow completion time at the receiver"}  # fmt: skip


def group_column(column: str) -> Measure:
    """Return the definition of a column of groups, without what reads it."""
    return Metric.of(COLUMNS[_GROUPS].get(column) or COLUMNS["flows"][column])


def find(key: str) -> Measure:
    """Find a measure by its name.

    Raises
    ------
    ScenarioError
        If there is no such number.

    Examples
    --------
    >>> find("loss_rate").title, find("links.bottleneck.p99_queueing_delay_s").title
    ('loss rate [%]', 'p99 queueing delay of bottleneck [ms]')
    >>> find("flows.*.mean_rtt_s").better, find("links.back.marked_packets").better
    ('lower is better', '')
    >>> find("groups.video.share").title, find("groups.video.harm").patch
    ('share of goodput of video [%]', {'trace.solo': True})
    """
    if key in BY_KEY:
        return BY_KEY[key]
    parts = key.split(".")
    if len(parts) == 1:
        column = RUN.get(key)
        if column is not None and column.kind == "text":
            raise _unknown(key)

        def read(run: Mapping[str, Any], _: Mapping[str, Any]) -> float | None:
            return _number(key, run)

        if column is None:
            # What a live run, or a paper, adds to a run has no definition.
            return Metric(key=key, label=key, meaning="", read=read)
        return Metric.of(column, read)
    # A name may contain dots: only the first and last parts are fixed.
    table, name, column_name = parts[0], ".".join(parts[1:-1]), parts[-1]
    column = COLUMNS.get(table, {}).get(column_name)
    if column is None or not name or column.kind == "text":
        raise _unknown(key)
    whose = table if name == "*" else name
    # Harm is done to a group.
    of = "to" if column_name.endswith("harm") else "of"
    return Metric.of(
        column,
        lambda run, _: _mean(key, run[table], _NAMES[table], name, column_name),
        key=key,
        label=f"{column.label} {of} {whose}",
        patch=RECORDED.get(column_name) if table in ("flows", _GROUPS) else None,
    )


def _unknown(key: str) -> ScenarioError:
    table, _, rest = key.partition(".")
    known = [*BY_KEY, *(name for name, column in RUN.items() if column.kind != "text")]
    if rest and table not in COLUMNS and (near := nearest(table, COLUMNS)):
        known = [f"{near}.{rest}"]
    if rest and table in COLUMNS:
        place = key.rpartition(".")[0]
        place = place if place != table else f"{table}.*"
        known = [f"{place}.{name}" for name in _numbers(table)]
    return ScenarioError(invalid("metrics", key, METRIC, nearest(key, known)))


def is_known(key: str) -> bool:
    """Whether this may be a metric of a sweep.

    Examples
    --------
    >>> is_known("group.share"), is_known("los_rate"), is_known("aggregate_goodput_bps")
    (True, False, True)
    """
    if key.startswith(EACH_GROUP):
        return key.removeprefix(EACH_GROUP) in group_columns()
    try:
        find(key)
    except ScenarioError:
        return False
    # `find` also takes what a paper adds to a run, which has no definition.
    return "." in key or key in BY_KEY or key in RUN


def measure(
    run: Mapping[str, Any], measures: Sequence[Measure], link: str, group: str | None
) -> dict[str, float | None]:
    """Measure one run.

    Parameters
    ----------
    run : mapping
        As `Result.to_dict` gives it.
    link : str
        The bottleneck: its residual bandwidth and queue count in the metrics of comparisons.
    group : str, optional
        The group of flows that counts in them; by default all do.

    Raises
    ------
    ScenarioError
        If the run has no such link, group or number.
    """
    try:
        # Groups share with each other, whichever one counts elsewhere.
        shared = with_groups(run) if any(_is_of_group(entry) for entry in measures) else run
        counted = only(shared, group) if group is not None else shared
    except ValueError as error:
        raise ScenarioError(str(error)) from None
    place = next((entry for entry in run["links"] if entry["link"] == link), None)
    if place is None and any(entry.needs_link for entry in measures):
        names = [entry["link"] for entry in run["links"]]
        raise ScenarioError(unknown("link", link, names))
    return {
        entry.key: entry.read(run if _names_flows(entry.key) else counted, place or {})
        for entry in measures
        if entry.read
    }


def _names_flows(key: str) -> bool:
    """Whether a metric is of flows that it names, whichever count in the others."""
    return key.startswith("flows.") and not key.startswith("flows.*.")


def _is_of_group(measure: Measure) -> bool:
    return measure.key.startswith(f"{_GROUPS}.")


def _number(key: str, run: Mapping[str, Any]) -> float | None:
    # A field that is not a number is refused like an unknown name.
    value = run.get(key, "")
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise _unknown(key)
    return value


def _mean(
    key: str, rows: Sequence[Mapping[str, Any]], names: str, name: str, column: str
) -> float | None:
    chosen = [row for row in rows if name in ("*", row[names], row.get("flow"))]
    if not chosen:
        known = dict.fromkeys(row[names] for row in rows)
        raise ScenarioError(unknown(f"metrics: {key}: {names}", name, [*known, "*"]))
    return mean(row[column] for row in chosen)
