"""Numbers that the paper prints.

`published.toml`, with their place and what ours is computed from.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from cwndlab_papers import Claim, reading
from cwndlab_papers.readings import read_toml

_OWN = ("name", "id", "what", "place", "value", "unit", "quantity", "exact")


@functools.cache
def published() -> tuple[dict[str, Any], ...]:
    """Return them all."""
    return tuple(read_toml(Path(__file__).parent / "published.toml")["number"])


def printed(name: str) -> float:
    """Give one by its name."""
    return next(float(row["value"]) for row in published() if row["name"] == name)


def ours(row: dict[str, Any]) -> Claim:
    """Give what our number is computed from."""
    rest = {key: value for key, value in row.items() if key not in _OWN}
    known = reading("about-the-published")
    return Claim(
        row["id"],
        row["name"],
        row["place"],
        row["what"],
        known,
        row["quantity"],
        row.get("exact", False),
        rest,
    )
