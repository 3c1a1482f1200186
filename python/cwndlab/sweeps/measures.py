"""Measures of a run in a sweep.

They are the metrics of comparisons, or any number of a result by its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cwndlab.columns import COLUMNS, RUN
from cwndlab.errors import ScenarioError
from cwndlab.groups import with_groups
from cwndlab.message import invalid, nearest, unknown
from cwndlab.metrics import BY_KEY, RECORDED, Metric, mean, only

METRIC = (
    f"{', '.join(BY_KEY)}; a number of the run, such as aggregate_goodput_bps;"
    f" or TABLE.NAME.COLUMN of {', '.join(COLUMNS)}, such as links.bottleneck.utilization, "
    "flows.*.mean_rtt_s or groups.flow.share"
)
_GROUPS = "groups"
_NAMES = {
    "flows": "group", "links": "link", "cross": "source", "arrivals": "group", _GROUPS: "group",
}  # fmt: skip

Measure = Metric
"""A number per run: a metric of comparisons, or a column of a result."""


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
        known = [
            f"{place}.{name}" for name, column in COLUMNS[table].items() if column.kind != "text"
        ]
    return ScenarioError(invalid("metrics", key, METRIC, nearest(key, known)))


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
    return {entry.key: entry.read(counted, place or {}) for entry in measures if entry.read}


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
    chosen = [row[column] for row in rows if name in ("*", row[names], row.get("flow"))]
    if not chosen:
        known = dict.fromkeys(row[names] for row in rows)
        raise ScenarioError(unknown(f"metrics: {key}: {names}", name, [*known, "*"]))
    return mean(chosen)
