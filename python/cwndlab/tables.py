"""Formatting of numbers in terminal tables and reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import polars as pl

MISSING = "-"
LARGE = 1000.0
"""Numbers of a sentence have no decimals from here on."""
MOST_MORE_DIGITS = 6
"""Digits that a difference may have more than its metric; beyond it is error of rounding."""
SIGNS = {"better": "▲", "worse": "▼", "more": "+", "less": "-", "same": "="}
"""A sign for each verdict on a difference: no meaning depends on colour."""
WORDS = {
    "better": "better",
    "worse": "worse",
    "more": "more",
    "less": "less",
    "same": "no significant difference",
}


class Shown(Protocol):
    """A metric or measure, with the format of its numbers."""

    @property
    def scale(self) -> float:
        """Factor from the value to the shown number."""
        ...

    @property
    def digits(self) -> int:
        """Digits after the point."""
        ...


class Titled(Shown, Protocol):
    """A metric or measure with a name and a heading."""

    @property
    def key(self) -> str:
        """Its name."""
        ...

    @property
    def title(self) -> str:
        """Its heading, with the unit."""
        ...


class Judged(Shown, Protocol):
    """A metric or measure that may have a better direction."""

    @property
    def more_is_better(self) -> bool | None:
        """None if neither direction is better."""
        ...


def number(value: float | None, metric: Shown) -> str:
    """Write a metric's value in its shown unit.

    Examples
    --------
    >>> from cwndlab.metrics import BY_KEY
    >>> goodput = BY_KEY["goodput"]
    >>> number(0.0123, BY_KEY["loss_rate"]), number(None, goodput), number(-1e-9, goodput)
    ('1.230', '-', '0.000')
    """
    # Adding 0 makes a negative zero positive.
    return (
        MISSING
        if value is None
        else f"{round(value * metric.scale, metric.digits) + 0.0:.{metric.digits}f}"
    )


def brief(value: float | None, metric: Shown) -> str:
    """Write a metric's value in its shown unit, for a sentence: decimals of small numbers alone.

    Examples
    --------
    >>> from cwndlab.metrics import BY_KEY
    >>> delay = BY_KEY["p95_queueing_delay_s"]
    >>> brief(14.596492, delay), brief(0.0123, delay)
    ('14596', '12.3')
    """
    if value is not None and abs(value * metric.scale) >= LARGE:
        return f"{value * metric.scale:.0f}"
    return number(value, metric)


def with_interval(row: Mapping[str, Any] | None, metric: Shown) -> str:
    """Write a row of a summary as its mean with the 95 % confidence interval.

    With the half-width where both ends are equally far as shown, else with both ends.

    Examples
    --------
    >>> from cwndlab.metrics import BY_KEY
    >>> goodput = BY_KEY["goodput"]
    >>> with_interval({"mean": 0.9, "ci95_low": 0.8896, "ci95_high": 0.9104}, goodput)
    '0.900 ± 0.010'
    >>> with_interval({"mean": 0.98, "ci95_low": 0.91, "ci95_high": 0.999}, goodput)
    '0.980 [0.910, 0.999]'
    """
    if row is None:
        return MISSING
    mean, low, high = row["mean"], row["ci95_low"], row["ci95_high"]
    text = number(mean, metric)
    if low is None or high is None:
        return text
    below, above = number(mean - low, metric), number(high - mean, metric)
    if below == above:
        return f"{text} ± {above}"
    return f"{text} [{number(low, metric)}, {number(high, metric)}]"


def by_cell(
    table: pl.DataFrame,
    axes: Sequence[str],
    key: str,
    measures: Iterable[Titled],
    write: Callable[[Mapping[str, Any] | None, Any], str] = with_interval,
) -> pl.DataFrame:
    """Turn a long table of means into one row per cell, with a column of text per measure.

    Parameters
    ----------
    table : polars.DataFrame
        One row per cell and measure, with ``mean``, ``ci95_low`` and ``ci95_high``.
    axes : sequence of str
        The columns that name a cell.
    key : str
        The column that names the measure.
    measures : iterable of Titled
        The measures; their titles are the headings.
    write : callable
        Writes a row and its measure.

    Examples
    --------
    >>> import polars as pl
    >>> from cwndlab.metrics import BY_KEY
    >>> long = pl.DataFrame({"rule": "CUBIC", "metric": ["goodput", "loss_rate"],
    ...                      "mean": [0.9, 0.01], "ci95_low": [0.89, None],
    ...                      "ci95_high": [0.91, None]})
    >>> by_cell(long, ["rule"], "metric", [BY_KEY["goodput"], BY_KEY["loss_rate"]]).rows()
    [('CUBIC', '0.900 ± 0.010', '1.000')]
    """
    import polars as pl

    cells: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in table.to_dicts():
        cells.setdefault(tuple(row[axis] for axis in axes), {})[row[key]] = row
    shown = list(measures)
    rows = [[*cell, *(write(found.get(one.key), one) for one in shown)]
            for cell, found in cells.items()]  # fmt: skip
    schema = {axis: table.schema[axis] for axis in axes}
    return pl.DataFrame(
        rows, schema={**schema, **{one.title: pl.String for one in shown}}, orient="row"
    )


def difference(row: Mapping[str, Any] | None, metric: Shown) -> str:
    """Write a difference as mean and interval, with the sign of what is more than the baseline.

    If the interval excludes 0, the text has the digits that show it, more than `metric` if needed.

    Examples
    --------
    >>> from cwndlab.metrics import BY_KEY
    >>> difference({"mean": 0.02, "ci95_low": 0.0096, "ci95_high": 0.0304}, BY_KEY["goodput"])
    '+0.020 ± 0.010'
    >>> difference({"mean": 0.0012, "ci95_low": 0.0001, "ci95_high": 0.0023}, BY_KEY["goodput"])
    '+0.0012 ± 0.0011'
    """
    if row is None or row["mean"] is None:
        return MISSING
    enough = _enough(row, metric)
    plus = "+" if float(number(row["mean"], enough)) > 0 else ""
    return plus + with_interval(row, enough)


def _enough(row: Mapping[str, Any], metric: Shown) -> Shown:
    """Return the format with which an interval that excludes 0 is seen to do so."""
    mean, low, high = row["mean"], row["ci95_low"], row["ci95_high"]
    if low is None or high is None or low <= 0 <= high:
        return metric
    near, far = (low, high) if mean > 0 else (high, low)
    for more in range(MOST_MORE_DIGITS + 1):
        enough = _Format(metric.scale, metric.digits + more)
        half, other, middle, end = (
            abs(float(number(value, enough))) for value in (mean - near, far - mean, mean, near)
        )
        if (middle > half) if half == other else (end > 0):
            return enough
    return metric


@dataclass(frozen=True)
class _Format:
    scale: float
    digits: int


def verdict(row: Mapping[str, Any] | None, measure: Judged) -> str:
    """Judge a difference: ``better``, ``worse``, ``same`` (interval holds zero), or empty.

    If neither direction is better: ``more`` and ``less``.

    Examples
    --------
    >>> from cwndlab.metrics import BY_KEY
    >>> loss = BY_KEY["loss_rate"]
    >>> rows = [{"mean": mean, "ci95_low": mean - 0.01, "ci95_high": mean + 0.01}
    ...         for mean in (-0.02, 0.009, 0.02)]
    >>> [verdict(row, loss) for row in rows]
    ['better', 'same', 'worse']
    """
    if row is None or row["mean"] is None or row["ci95_low"] is None:
        return ""
    if row["ci95_low"] <= 0 <= row["ci95_high"]:
        return "same"
    is_more = row["mean"] > 0
    if measure.more_is_better is None:
        return "more" if is_more else "less"
    return "better" if is_more == measure.more_is_better else "worse"


def judged(row: Mapping[str, Any] | None, metric: Judged) -> str:
    """Write a difference with its interval after the sign of its verdict.

    Examples
    --------
    >>> from cwndlab.metrics import BY_KEY
    >>> judged({"mean": 0.02, "ci95_low": 0.0096, "ci95_high": 0.0304}, BY_KEY["goodput"])
    '▲ +0.020 ± 0.010'
    """
    found, text = verdict(row, metric), difference(row, metric)
    # Without a better direction the sign of the number says it all.
    return f"{SIGNS[found]} {text}" if found in ("better", "worse", "same") else text


def best(values: Iterable[float | None], metric: Judged) -> float | None:
    """Return the best of some means, compared as they are shown.

    None if no direction is better, if there are no two values, or if all are equal.

    Examples
    --------
    >>> from cwndlab.metrics import BY_KEY
    >>> loss = BY_KEY["loss_rate"]
    >>> best([0.02, 0.01, None], loss), best([0.02], loss), best([0.01, 0.01], loss)
    (0.01, None, None)
    """
    known = [value for value in values if value is not None]
    if metric.more_is_better is None or len({number(value, metric) for value in known}) < 2:
        return None
    return max(known) if metric.more_is_better else min(known)


def marked(text: str, value: float | None, best: float | None, metric: Shown) -> str:
    """Put a star before the text of a value that is shown as the best one is.

    Examples
    --------
    >>> from cwndlab.metrics import BY_KEY
    >>> goodput = BY_KEY["goodput"]
    >>> [marked(number(mean, goodput), mean, 0.93, goodput) for mean in (0.9301, 0.8)]
    ['* 0.930', '0.800']
    """
    is_best = None not in (value, best) and number(value, metric) == number(best, metric)
    return f"* {text}" if is_best else text
