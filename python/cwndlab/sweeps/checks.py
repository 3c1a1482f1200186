"""Checks of a sweep's keys, and the reserved column names of its tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cwndlab import link_arrivals
from cwndlab.errors import ScenarioError
from cwndlab.message import invalid, unknown
from cwndlab.metrics import BY_KEY
from cwndlab.runs.until import LEAST

if TYPE_CHECKING:
    from cwndlab.sweeps.definition import Sweep

PROVENANCE = ("duration_s", "finished", "machine", "version", "build", "key")
"""Columns of a run's origin."""
RESERVED = (
    "sweep", "replicate", "replicates", "seed", "definition", "trace_hash", "metric", "mean",
    "ci95_low", "ci95_high", "baseline",
    *PROVENANCE,
)  # fmt: skip
"""Columns of a sweep's tables beside axes and metrics."""

_TEXT, _TABLE, _LIST, _FLAG = "text", "a table", "a list", "true or false"
_KINDS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "name": (str, _TEXT),
    "base": (Mapping, _TABLE),
    "axes": (Mapping, "a table of axes"),
    "zip": (Sequence, "a list of tables, [[zip]]"),
    "replicates": (int, "a whole number from 1"),
    "seed": (int, "a whole number from 0"),
    "metrics": ((str, Sequence), "a name, or a list of names"),
    "over_time": ((str, Sequence), "a name, or a list of names"),
    "distributions": ((str, Sequence), "a name, or a list of names"),
    "link": (str, _TEXT),
    "group": (str, _TEXT),
    "compare": (str, _TEXT),
    "baseline": (str, _TEXT),
    "until": (str, _TEXT),
    "most": (int, "a whole number from 1"),
    "traces": (bool, _FLAG),
    "count_arrivals": ((str, int, float), "a length of time, such as 100ms"),
    "assume": (Mapping, _TABLE),
    "duration": ((str, int, float), "a length of time, such as 100s"),
    "yes": (bool, _FLAG),
    "set": (Mapping, "a table of dotted keys"),
}
_OPTIONAL = ("group", "compare", "baseline", "until", "duration", "seed", "count_arrivals")


def check_kinds(fields: Mapping[str, Any]) -> None:
    """Check that every key has a value of its kind.

    Raises
    ------
    ScenarioError
        With the first key that has not.

    Examples
    --------
    >>> check_kinds({"metrics": 3})
    Traceback (most recent call last):
    ...
    cwndlab.ScenarioError: metrics: 3 is not valid: expected a name, or a list of names
    """
    for key, value in fields.items():
        kind, words = _KINDS[key]
        if value is None and key in _OPTIONAL:
            continue
        # In Python a bool is an int and text is a sequence; here they are not.
        is_other = (isinstance(value, bool) and kind is not bool) or (
            isinstance(value, str) and kind is Sequence
        )
        if is_other or not isinstance(value, kind):
            raise ScenarioError(invalid(key, value, words))
    for key, least in (("replicates", 1), ("most", 1), ("seed", 0)):
        value = fields.get(key)
        if value is not None and not least <= value < 2**63:
            raise ScenarioError(invalid(key, value, f"a whole number from {least} to 2^63 - 1"))
    for key, kind in (("zip", Mapping), ("metrics", str), ("distributions", str)):
        for value in fields.get(key, ()):
            if not isinstance(value, kind):
                raise ScenarioError(invalid(key, value, _KINDS[key][1]))


def check_names(sweep: Sweep) -> None:
    """Check that axes and metrics have distinct names, and that the sweep's can name a directory.

    Each metric and axis is a column, next to the reserved ones. `cwndlab sweep` keeps runs in
    ``out/NAME``.

    Raises
    ------
    ScenarioError
        If a name is repeated, or `RESERVED`.
    """
    if sweep.name in ("", ".", "..") or "/" in sweep.name or not sweep.name.isprintable():
        raise ScenarioError(invalid("name", sweep.name, "a name that a directory may have"))
    if not sweep.metrics:
        raise ScenarioError(invalid("metrics", [], "one metric or more"))
    if repeated := _repeated(sweep.metrics):
        raise ScenarioError(f"`metrics` must not repeat `{repeated}`")
    others = f"other names than {', '.join(RESERVED)}"
    for name in sweep.metrics:
        if name in RESERVED:
            raise ScenarioError(invalid("metrics", name, others))
    # A store's runs may be listed with any metric of comparisons later.
    taken = {*RESERVED, *BY_KEY, *sweep.metrics}
    for name in (*sweep.axes, *(name for columns in sweep.zip for name in columns)):
        if name == "seed":
            raise ScenarioError(
                "axis `seed` must not be used: replicates set it; use `replicates` and `seed`"
            )
        if name in taken or not name:
            raise ScenarioError(
                invalid(
                    "axes",
                    name,
                    f"{others}, and than those of metrics, "
                    f"{', '.join(dict.fromkeys([*BY_KEY, *sweep.metrics]))}",
                )
            )


def check_targets(sweep: Sweep) -> None:
    """Check that the metrics of `Sweep.until` are measured, and that the replicates suffice."""
    for target in sweep.targets:
        if target.metric not in sweep.metrics:
            raise ScenarioError(unknown("until", target.metric, sweep.metrics))
    if sweep.until and sweep.most < sweep.first_replicates:
        raise ScenarioError(
            invalid(
                "most",
                sweep.most,
                f"a whole number from {sweep.first_replicates}, the replicates before the first "
                f"check of `until` (`replicates`, and at least {LEAST})",
            )
        )


def check_arrivals(sweep: Sweep) -> None:
    """Check that `Sweep.count_arrivals` is possible.

    It needs traces and a dumbbell.
    """
    if sweep.count_arrivals is None:
        return
    if not sweep.traces:
        raise ScenarioError("`count_arrivals` needs `traces = true`")
    link_arrivals.check(sweep.plan.cell(0).document())


def check_compared(sweep: Sweep) -> None:
    """Check the compared axis and its baseline."""
    names = list(
        dict.fromkeys(name for axis in sweep.plan.axes for name in (axis, *sweep.parts(axis)))
    )
    if sweep.compare is not None and sweep.compare not in names:
        raise ScenarioError(unknown("compare", sweep.compare, names))
    if sweep.baseline is not None and sweep.baseline not in sweep.compared_labels:
        raise ScenarioError(unknown("baseline", sweep.baseline, sweep.compared_labels))


def _repeated(names: Iterable[str]) -> str | None:
    return next((name for name, times in Counter(names).items() if times > 1), None)
