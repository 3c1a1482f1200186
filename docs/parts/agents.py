"""Tables of what an agent observes, sets and is rewarded for."""

from __future__ import annotations

from collections.abc import Callable

from cwndlab.gym import ACTIONS, OBSERVATIONS, REWARDS
from cwndlab.gym.step import STATISTICS
from parts.text import code_name, table


def part(name: str) -> str:
    """Return the table of `name`: observations, actions, rewards or statistics."""
    makers: dict[str, Callable[[], str]] = {
        "observations": observations,
        "actions": actions,
        "rewards": rewards,
        "statistics": statistics,
    }
    return makers[name]()


def observations() -> str:
    """Write the table of observations."""
    rows = [
        [code_name(entry.name), entry.unit, _range(entry.low, entry.high), entry.meaning]
        for entry in OBSERVATIONS.values()
    ]
    return table(["name", "unit", "range", "meaning"], rows)


def actions() -> str:
    """Write the table of actions."""
    rows = [
        [
            code_name(entry.name),
            entry.unit,
            "`limits`" if entry.range is None else _range(*entry.range),
            _range(*entry.limits),
            entry.meaning,
        ]
        for entry in ACTIONS.values()
    ]
    return table(["name", "unit", "range", "default of `limits`", "sets"], rows)


def rewards() -> str:
    """Write the table of rewards."""
    rows = [[code_name(entry.name), entry.formula, entry.source] for entry in REWARDS.values()]
    return table(["name", "of a step", "source"], rows)


def statistics() -> str:
    """Write the table of statistics."""
    rows = [[code_name(name), meaning] for name, meaning in STATISTICS.items()]
    return table(["name", "meaning"], rows)


def _range(low: float, high: float) -> str:
    if high == float("inf"):
        return "any" if low == -high else f"from {low:g}"
    return f"{low:g} to {high:,.0f}"
