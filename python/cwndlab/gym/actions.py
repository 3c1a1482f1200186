"""What an agent may set: the window or the pacing rate, absolutely or by a factor."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cwndlab.gym.step import Step, Values, chosen, limited, ratio

Limits = tuple[float, float]

WINDOWS_A_RATE = 2.0
"""Window of a paced flow, in rate x srtt: it stops a flow whose ACKs do not come, and nothing else
(as in the authors' kernel module of PCC Vivace)."""
LEAST_WINDOW = 4.0
"""Least window of a paced flow, packets."""


@dataclass(frozen=True)
class Action:
    """A way to control a flow."""

    name: str
    unit: str
    range: Limits | None
    """Range of the action itself; None for that of `limits`."""
    limits: Limits
    """Range of what is set, unless the caller gives another one."""
    paced: bool
    meaning: str
    target: Callable[[Values, Step], Values]
    """The window (packets) or the rate (packets/s) that an action asks for."""

    def commands(self, action: Values, step: Step, limits: Limits) -> tuple[Values, Values]:
        """Return the window and the pacing rate (0: none)."""
        target = limited(self.target(action, step), *limits)
        if not self.paced:
            return target, 0.0
        window = WINDOWS_A_RATE * target * step["srtt_s"]
        return limited(window, LEAST_WINDOW, math.inf), target


def _power_of_2(action: Values) -> Values:
    # A plain number again: what follows is faster with one.
    power = np.exp2(action)
    return float(power) if isinstance(action, float) else power


def _rate(step: Step) -> Values:
    """Pacing rate of the last action; at first the rate at which the window leaves in an RTT."""
    paced = step["pacing_rate_packets_s"]
    return chosen(paced > 0, paced, ratio(step["cwnd_packets"], step["srtt_s"]))


WINDOWS, RATES = (1.0, 10_000.0), (1.0, 1e6)

ACTIONS = {
    entry.name: entry
    for entry in (
        Action("window", "packets", None, WINDOWS, False, "the window",
               lambda action, _: action),
        Action("window_factor", "", (-1, 1), WINDOWS, False, "2^action times the window",
               lambda action, step: step["cwnd_packets"] * _power_of_2(action)),
        Action("rate", "packets/s", None, RATES, True, "the pacing rate",
               lambda action, _: action),
        Action("rate_factor", "", (-1, 1), RATES, True, "2^action times the pacing rate",
               lambda action, step: _rate(step) * _power_of_2(action)),
    )
}  # fmt: skip
