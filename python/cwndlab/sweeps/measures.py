"""Measures of a run in a sweep.

They are the metrics of comparisons, or any number of a result by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from cwndlab.columns import SCHEMAS, TABLES
from cwndlab.errors import ScenarioError
from cwndlab.message import invalid, unknown
from cwndlab.metrics import BY_KEY, only
from cwndlab.statistics import estimate

METRIC = (
    f"{', '.join(BY_KEY)}; a number of the run, such as aggregate_goodput_bps;"
    f" or TABLE.NAME.COLUMN of {', '.join(TABLES)}, such as links.bottleneck.utilization or "
    "flows.*.mean_rtt_s"
)
_NAMES = {"flows": "group", "links": "link", "cross": "source", "arrivals": "group"}
_UNITS = {"bps": ("Mbit/s", 1e-6), "s": ("ms", 1e3), "packets": ("packets", 1.0)}


class Measure(NamedTuple):
    """One number per run, and its display."""

    key: str
    label: str
    unit: str
    scale: float
    digits: int
    more_is_better: bool | None
    """None if neither direction is better."""
    read: Callable[[Mapping[str, Any], Any], float | None]
    """Takes the run, and the row of the link if it needs one."""
    needs_link: bool

    @property
    def title(self) -> str:
        """Label and unit."""
        return f"{self.label} [{self.unit}]" if self.unit else self.label


def find(key: str) -> Measure:
    """Find a measure by its name.

    Raises
    ------
    ScenarioError
        If there is no such number.

    Examples
    --------
    >>> find("loss_rate").title, find("links.bottleneck.mean_queueing_delay_s").title
    ('loss rate [%]', 'links.bottleneck.mean_queueing_delay_s [ms]')
    """
    if key in BY_KEY:
        metric = BY_KEY[key]
        return Measure(
            key, metric.label, metric.unit, metric.scale, metric.digits, metric.more_is_better,
            metric.read,
            needs_link=_reads_link(key),
        )  # fmt: skip
    unit, scale = _UNITS.get(key.rsplit("_", 1)[-1], ("", 1.0))
    parts = key.split(".")
    if len(parts) == 1:

        def read(run: Mapping[str, Any], _link: object) -> float | None:
            return _number(key, run)

        return Measure(key, key, unit, scale, 3, None, read, needs_link=False)
    # A name may contain dots: only the first and last parts are fixed.
    table, name, column = parts[0], ".".join(parts[1:-1]), parts[-1]
    if (
        table not in TABLES
        or column not in SCHEMAS[table]
        or not name
        or SCHEMAS[table][column] == pl.String
    ):
        raise ScenarioError(invalid("metrics", key, METRIC))

    def mean(run: Mapping[str, Any], _link: object) -> float | None:
        return _mean(key, run[table], _NAMES[table], name, column)

    return Measure(key, key, unit, scale, 3, None, mean, needs_link=False)


def _reads_link(key: str) -> bool:
    return key in ("goodput", "goodput_left", "mean_queueing_delay_s")


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
        counted = only(run, group) if group is not None else run
    except ValueError as error:
        raise ScenarioError(str(error)) from None
    place = next((entry for entry in run["links"] if entry["link"] == link), None)
    if place is None and any(entry.needs_link for entry in measures):
        names = [entry["link"] for entry in run["links"]]
        raise ScenarioError(unknown("link", link, names))
    return {entry.key: entry.read(counted, place) for entry in measures}


def _number(key: str, run: Mapping[str, Any]) -> float | None:
    # A field that is not a number is refused like an unknown name.
    value = run.get(key, "")
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise ScenarioError(invalid("metrics", key, METRIC))
    return value


def _mean(
    key: str, rows: Sequence[Mapping[str, Any]], names: str, name: str, column: str
) -> float | None:
    chosen = [row[column] for row in rows if name in ("*", row[names], row.get("flow"))]
    if not chosen:
        known = dict.fromkeys(row[names] for row in rows)
        raise ScenarioError(unknown(f"metrics: {key}: {names}", name, [*known, "*"]))
    return estimate(chosen).mean
