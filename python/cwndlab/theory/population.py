"""Flows of the synchronous model that join and leave, each with its rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from cwndlab.message import invalid, plural
from cwndlab.theory.notation import as_rule
from cwndlab.theory.rules import Controller, Rule


@dataclass(frozen=True)
class Join:
    """Flows that join before a step.

    Parameters
    ----------
    step : int
        The step before which they join.
    loads : array_like
        Their first loads, one each.
    rules : Rule, str or sequence of them, optional
        Their rules; by default that of the first flow.
    """

    step: int
    loads: ArrayLike
    rules: Rule | str | Sequence[Rule | str] | None = None


@dataclass(frozen=True)
class Leave:
    """Flows that leave before a step, by number; flows that join get the next numbers."""

    step: int
    flows: Sequence[int]


class Population:
    """The flows, present or not, and the controllers of their rules.

    Parameters
    ----------
    rules : Rule, str or sequence of them
        One for all initial flows, or one each.
    starts : ndarray, shape (n,)
        Their first loads.
    changes : list of Join and Leave
        In the order of their steps.
    floor : float
        Lower bound of the loads.
    """

    def __init__(
        self,
        rules: Rule | str | Sequence[Rule | str],
        starts: np.ndarray,
        changes: list[Join | Leave],
        floor: float,
    ) -> None:
        self.rules: list[Rule] = _one_each("rules", rules, len(starts))
        self.changes = changes
        self.floor = floor
        joins = [change for change in changes if isinstance(change, Join)]
        groups = [starts, *(np.atleast_1d(np.asarray(join.loads, dtype=float)) for join in joins)]
        for join, group in zip(joins, groups[1:], strict=True):
            self.rules += _one_each(
                "rules", self.rules[0] if join.rules is None else join.rules, len(group)
            )
        self.first: np.ndarray = np.concatenate(groups)
        if not (np.isfinite(self.first) & (self.first >= 0)).all() or len(starts) == 0:
            raise ValueError(invalid("starts", [], "one load or more, each 0 or above"))
        self.count: int = len(self.first)
        self.loads: np.ndarray = np.full(self.count, np.nan)
        self.loads[: len(starts)] = np.maximum(starts, floor)
        self.next: int = len(starts)
        # Flows with the same rule are stepped together.
        kinds: list[Rule] = []
        for rule in self.rules:
            if rule not in kinds:
                kinds.append(rule)
        self.members: list[np.ndarray] = [
            np.flatnonzero([rule == kind for rule in self.rules]) for kind in kinds
        ]
        self.controllers: list[Controller] = [kind.controller(self.count) for kind in kinds]

    def change(self, step: int) -> None:
        """Apply the joins and leaves before this step."""
        while self.changes and self.changes[0].step <= step:
            change = self.changes.pop(0)
            if isinstance(change, Join):
                more = len(np.atleast_1d(np.asarray(change.loads)))
                places = slice(self.next, self.next + more)
                self.loads[places] = np.maximum(self.first[places], self.floor)
                self.next += more
            else:
                self._leave(change)

    def _leave(self, change: Leave) -> None:
        for flow in change.flows:
            if not (0 <= flow < self.count and np.isfinite(self.loads[flow])):
                raise ValueError(
                    f"flow {flow} cannot leave at step {change.step}: it is not present"
                )
            self.loads[flow] = np.nan

    def increase(self, room: float | None) -> float:
        """Let all increase, until the sum has grown by `room` if given.

        Return the part of the step this took.
        """
        grown = self._stepped(lambda controller, loads, flows: controller.increase(loads, flows))
        more = float(np.nansum(grown - self.loads))
        part = 1.0 if room is None or more <= room else room / more
        self.loads += part * (grown - self.loads)
        for controller, members in zip(self.controllers, self.members, strict=True):
            controller.grew(members[np.isfinite(self.loads[members])], part)
        return part

    def decrease(self) -> None:
        """Apply a congestion signal to all flows."""
        shrunk = self._stepped(lambda controller, loads, flows: controller.decrease(loads, flows))
        self.loads[:] = np.maximum(shrunk, self.floor)

    def calculated(self) -> np.ndarray:
        """Return fair shares as the flows estimate them, NaN without an estimate."""
        shares = np.full(self.count, np.nan)
        for controller, members in zip(self.controllers, self.members, strict=True):
            flows = members[np.isfinite(self.loads[members])]
            shares[flows] = controller.calculated(flows)
        return shares

    def _stepped(
        self, move: Callable[[Controller, np.ndarray, np.ndarray], np.ndarray]
    ) -> np.ndarray:
        after = np.full(self.count, np.nan)
        for controller, members in zip(self.controllers, self.members, strict=True):
            flows = members[np.isfinite(self.loads[members])]
            moved = move(controller, self.loads[flows], flows)
            if not np.isfinite(moved).all():
                at = self.loads[flows][~np.isfinite(moved)][0]
                text = self.rules[int(flows[0])].text
                raise ValueError(
                    f"rule `{text}` gives no finite load from {at:g}: expected a floor above 0"
                )
            after[flows] = moved
        return after


def _one_each(name: str, rules: Rule | str | Sequence[Rule | str], count: int) -> list[Rule]:
    if isinstance(rules, str) or not isinstance(rules, Sequence):
        return [as_rule(rules)] * count
    if len(rules) != count:
        raise ValueError(
            f"`{name}` must have one rule, or one per flow: {plural(len(rules), 'rule')} for "
            f"{plural(count, 'flow')}"
        )
    return [as_rule(rule) for rule in rules]
