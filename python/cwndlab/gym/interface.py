"""The interface between an agent and its flow: what it observes and sets, and how often."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cwndlab.errors import ScenarioError
from cwndlab.gym.actions import ACTIONS, Action, Limits
from cwndlab.gym.observations import OBSERVATIONS, SCALE_FREE
from cwndlab.gym.step import Step, Values
from cwndlab.message import invalid, unknown
from cwndlab.quantities import seconds

INTERVALS = '"rtt", a time such as "10ms" or a number of ACKs such as "8 acks"'


@dataclass(frozen=True)
class Interface:
    """What an agent observes and sets, and how often; the same in training and as a rule.

    Attributes
    ----------
    observe : tuple of str
        Names of `OBSERVATIONS`, in their order in an observation.
    action : str
        Name of one of `ACTIONS`.
    every : str
        Interval between two decisions: ``"rtt"`` (the smoothed RTT at the first of them), a time
        such as ``"10ms"``, or a number of ACKs such as ``"8 acks"``.
    limits : (float, float), optional
        Least and largest window or rate that an action can set.

    Raises
    ------
    ScenarioError
        If a name or a value is not valid.

    Examples
    --------
    >>> Interface(observe=("rtt", "loss_rate"), every="10ms").interval
    ('time', 0.01)
    """

    observe: tuple[str, ...] = SCALE_FREE
    action: str = "window_factor"
    every: str = "rtt"
    limits: Limits | None = None

    def __post_init__(self) -> None:
        if not self.observe:
            raise ScenarioError(invalid("observe", "", "names of observations"))
        for name in self.observe:
            if name not in OBSERVATIONS:
                raise ScenarioError(unknown("observe", name, OBSERVATIONS))
        if self.action not in ACTIONS:
            raise ScenarioError(unknown("action", self.action, ACTIONS))
        low, high = self.range
        if not 0 < low < high < np.inf:
            raise ScenarioError(
                invalid("limits", f"({low}, {high})", "two numbers above 0, the least one first")
            )
        _ = self.interval

    @classmethod
    def of(
        cls,
        observe: str | Sequence[str],
        action: str,
        every: str | float,
        limits: Sequence[float] | None,
    ) -> Interface:
        """Make an interface of what a caller gives: lists, numbers of seconds."""
        names = (observe,) if isinstance(observe, str) else tuple(observe)
        given = None if limits is None else _pair(limits)
        text = every if isinstance(every, str) else f"{every!r}s"
        return cls(names, action, text, given)

    @property
    def interval(self) -> tuple[str, float]:
        """The interval as the core takes it: its kind, and seconds or a number of ACKs."""
        if self.every == "rtt":
            return "rtt", 0.0
        acks = re.fullmatch(r"(\d+) ?acks?", self.every)
        found = float(acks[1]) if acks else seconds(self.every)
        if found is None or not 0 < found < np.inf:
            raise ScenarioError(invalid("every", self.every, INTERVALS))
        return ("acks" if acks else "time"), found

    @property
    def control(self) -> Action:
        """The action."""
        return ACTIONS[self.action]

    @property
    def range(self) -> Limits:
        """Least and largest window or rate."""
        return self.control.limits if self.limits is None else self.limits

    @property
    def action_range(self) -> Limits:
        """Least and largest action."""
        return self.control.range or self.range

    def observation(self, step: Step) -> NDArray[Any]:
        """Return what is observed of a step: one more axis, in the order of `observe`."""
        found = [OBSERVATIONS[name].of(step) for name in self.observe]
        if isinstance(found[0], float):
            return np.array(found, np.float32)
        return np.stack(found, axis=-1).astype(np.float32)

    def commands(self, action: Values, step: Step) -> tuple[Values, Values]:
        """Return window and pacing rate (0: none) for an action after a step."""
        return self.control.commands(action, step, self.range)

    def to_dict(self) -> dict[str, Any]:
        """Return the interface as plain data."""
        return {
            "observe": list(self.observe),
            "action": self.action,
            "every": self.every,
            "limits": list(self.range),
        }


def _pair(limits: Sequence[float]) -> Limits:
    if len(limits) != 2:
        raise ScenarioError(invalid("limits", str(list(limits)), "two numbers"))
    return float(limits[0]), float(limits[1])
