"""JSON output: numbers that are not finite are null."""

from __future__ import annotations

import json
import math
from typing import Any

from cwndlab.documents import is_sequence, is_table


def finite(value: Any) -> Any:
    """Replace every number that is not finite, at any depth, by None.

    Examples
    --------
    >>> finite({"a": [1.5, float("nan")], "b": float("inf")})
    {'a': [1.5, None], 'b': None}
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if is_table(value):
        return {key: finite(entry) for key, entry in value.items()}
    if is_sequence(value):
        return [finite(entry) for entry in value]
    return value


def dumps(value: Any, indent: int | None = 2) -> str:
    """Write `value` as standard JSON text (no NaN or Infinity).

    Examples
    --------
    >>> dumps([float("nan"), 2], indent=None)
    '[null, 2]'
    """
    return json.dumps(finite(value), indent=indent, allow_nan=False, ensure_ascii=False)
