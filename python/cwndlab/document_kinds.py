"""Scenarios, sweeps and designs, told apart by their keys: each where another is expected."""

from __future__ import annotations

from collections.abc import Iterable

DESIGN = ("family", "formulas", "objectives", "training", "against")
SWEEP = ("axes", "base", "zip", "replicates", "compare", "metrics")
SCENARIO = ("flows", "dumbbell", "links")
RUNS = {"scenario": "run", "sweep": "sweep", "design": "design"}
"""What a file describes, and the function that runs it."""


def kind_of(keys: Iterable[str]) -> str | None:
    """Say what has these keys at its top: a scenario, a sweep or a design; None if it is not clear.

    Examples
    --------
    >>> kind_of(["base", "axes"]), kind_of(["duration", "flows"]), kind_of(["name"])
    ('sweep', 'scenario', None)
    """
    given = set(keys)
    if given.intersection(DESIGN):
        return "design"
    is_sweep, is_scenario = given.intersection(SWEEP), given.intersection(SCENARIO)
    return None if bool(is_sweep) == bool(is_scenario) else "sweep" if is_sweep else "scenario"


def other_kind(keys: Iterable[str], expected: str) -> str | None:
    """Say what has these keys, and what runs it; None if it may be what is expected.

    Examples
    --------
    >>> print(other_kind(["axes"], "scenario"))
    is a sweep: expected a scenario (`cwndlab.sweep(...)` runs it)
    """
    found = kind_of(keys)
    if found in (None, expected):
        return None
    return f"is a {found}: expected a {expected} (`cwndlab.{RUNS[found]}(...)` runs it)"
