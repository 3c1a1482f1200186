"""Numeric ranges as axes: ``{ linspace = ["1Mbit", "10Mbit", 4] }``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from cwndlab import tomltext
from cwndlab.custom_rules import is_rule
from cwndlab.documents import is_list, is_mapping, is_sequence
from cwndlab.errors import ScenarioError
from cwndlab.message import invalid
from cwndlab.patching import plain

MOST = 1_000_000
"""Values of a range at most."""
WHOLE = ("pkt", "packets", "B", "bytes")
"""Units of whole numbers."""
EXPECTED = {
    "linspace": "[first, last, number of values], such as [1, 10, 4]",
    "logspace": "[first, last, number of values], both above 0, such as [1, 1000, 4]",
    "range": "[first, last, step], such as [2, 10, 2]; the last counts where a step meets it",
}


class _Number(NamedTuple):
    value: float
    unit: str
    is_whole: bool


def expanded(axes: Mapping[str, Any]) -> dict[str, Any]:
    """Replace ranges among the values of axes by lists.

    Values have six significant digits; packets and bytes are whole, each once.

    Raises
    ------
    ScenarioError
        If a range is not valid.

    Examples
    --------
    >>> expanded({"dumbbell.rate": {"linspace": ["1Mbit", "4Mbit", 3]}, "rule": ["CUBIC"]})
    {'dumbbell.rate': ['1Mbit', '2.5Mbit', '4Mbit'], 'rule': ['CUBIC']}
    >>> expanded({"limit": {"logspace": ["1pkt", "100pkt", 5]}})
    {'limit': ['1pkt', '3pkt', '10pkt', '32pkt', '100pkt']}
    >>> expanded({"flows.a.count": {"range": [2, 9, 3]}, "loss": {"range": [0.1, 0.3, 0.1]}})
    {'flows.a.count': [2, 5, 8], 'loss': [0.1, 0.2, 0.3]}
    >>> expanded({"flows.a.count": range(1, 4), "loss": np.linspace(0, 0.5, 2)})
    {'flows.a.count': [1, 2, 3], 'loss': [0.0, 0.5]}
    """
    return {name: _values(name, values) for name, values in axes.items()}


def _values(name: str, values: Any) -> Any:
    if isinstance(values, str) or is_rule(values):
        values = [values]
    if isinstance(values, np.ndarray):
        return values.tolist()
    if isinstance(values, range) or is_sequence(values):
        return plain([*values])
    if not is_mapping(values) or len(values) != 1:
        return values
    ((kind, ends),) = values.items()
    # A table of one label has a table as its value.
    if kind not in EXPECTED or is_mapping(ends):
        return values
    numbers = _numbers(ends)
    found = None if numbers is None else _between(kind, *numbers)
    if found is None:
        text = tomltext.inline(ends) if is_list(ends) else ends
        raise ScenarioError(invalid(f"axes.{name}.{kind}", text, EXPECTED[kind]))
    assert numbers is not None, "they were read"
    unit = numbers[0].unit
    is_whole = unit in WHOLE or all(number.is_whole for number in numbers)
    written = [_written(float(value), unit, is_whole=is_whole) for value in found]
    return list(dict.fromkeys(written))


def _numbers(ends: Any) -> tuple[_Number, _Number, _Number] | None:
    """Read the three numbers of a range, the first two of one unit."""
    if not is_sequence(ends) or len(ends) != 3:
        return None
    first, last, third = map(_number, ends)
    if first is None or last is None or third is None or first.unit != last.unit:
        return None
    return (first, last, third) if third.unit in ("", first.unit) else None


def _number(value: Any) -> _Number | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    found = re.fullmatch(r"\s*(-?[\d.]+(?:[eE]-?\d+)?)\s*([A-Za-z/]*)\s*", str(value))
    try:
        number = float(found[1]) if found else math.nan
    except ValueError:
        return None
    if found is None or not math.isfinite(number):
        return None
    return _Number(number, found[2], is_whole=number.is_integer() and "." not in found[1])


def _between(kind: str, first: _Number, last: _Number, third: _Number) -> np.ndarray | None:
    if kind == "range":
        steps = (last.value - first.value) / third.value if third.value != 0 else -1.0
        # A step that meets the last value up to rounding counts.
        count = math.floor(steps * (1 + 1e-12) + 1e-9) + 1 if 0 <= steps < MOST else 0
        return first.value + third.value * np.arange(count) if count else None
    if third.unit or not third.is_whole or not 1 <= third.value <= MOST:
        return None
    if kind == "linspace":
        return np.linspace(first.value, last.value, int(third.value))
    if first.value <= 0 or last.value <= 0:
        return None
    return np.geomspace(first.value, last.value, int(third.value))


def _written(value: float, unit: str, *, is_whole: bool) -> Any:
    rounded = float(f"{value:.6g}")
    if unit in WHOLE:
        rounded = float(round(rounded))
    shortest = int(rounded) if rounded.is_integer() and (unit or is_whole) else rounded
    return f"{shortest}{unit}" if unit else shortest
