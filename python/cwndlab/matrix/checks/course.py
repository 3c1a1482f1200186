"""The course of a window, as a trace has it, compared at equal numbers of acknowledged packets.

A rule grows by ACKs, so two flows in the same state have equal windows after equally many packets,
whatever happened in between. Within a round trip a rule may act at any ACK: windows are compared
with the other flow's over the window's length before or after.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cwndlab.matrix.path import Path
from cwndlab.results import Result

PATH = Path(100, 100)
"""Windows of some 100 packets never make a queue here, whose BDP is over 800."""
BUFFER = 10_000
LOSS: dict[str, Any] = {"kind": "list", "packets": [100], "flow": "flow"}
"""One loss ends slow start: the hundredth packet leaves when the window is 50 to 100."""


@dataclass(frozen=True)
class Course:
    """Time in seconds, window in packets, and packets acknowledged so far, at each event."""

    times: np.ndarray
    windows: np.ndarray
    acknowledged: np.ndarray

    @classmethod
    def of(cls, result: Result) -> Course:
        """Read it from the trace of the only flow."""
        trace = result.traces["cwnd"]
        return cls(
            trace["time_s"].to_numpy(),
            trace["cwnd_packets"].to_numpy(),
            trace["acknowledged_packets"].to_numpy().astype(float),
        )

    def between(self, begin_s: float, end_s: float) -> Course:
        """Return what happened from one time to another."""
        part = slice(*np.searchsorted(self.times, [begin_s, end_s]))
        return Course(self.times[part], self.windows[part], self.acknowledged[part])

    def at_packet(self, numbers: np.ndarray) -> np.ndarray:
        """Return the window when so many packets were acknowledged."""
        return self.windows[self._index(self.acknowledged, numbers)]

    def at_time(self, times: np.ndarray) -> np.ndarray:
        """Return the window at some times."""
        return self.windows[self._index(self.times, times)]

    def time_of(self, first: float, count: float) -> float:
        """Return the time in which `count` packets after the first so many were acknowledged.

        Infinite if they never were.

        Examples
        --------
        >>> course = Course(np.array([0.0, 1, 3]), np.ones(3), np.array([0.0, 10, 20]))
        >>> course.time_of(10, 10), course.time_of(10, 11)
        (2.0, inf)
        """
        begin, end = np.searchsorted(self.acknowledged, [first, first + count])
        if end == len(self.times):
            return float("inf")
        return float(self.times[end] - self.times[begin])

    def most_until(self, numbers: np.ndarray) -> np.ndarray:
        """Return the largest window from so many packets on to one window later.

        Examples
        --------
        >>> course = Course(np.arange(4.0), np.array([2.0, 4, 3, 9]), np.array([0.0, 2, 4, 9]))
        >>> course.most_until(np.array([1.0, 4.0])).tolist()
        [4.0, 3.0]
        """
        return self._extreme(numbers, 0.0, 1.0, np.max)

    def least_since(self, numbers: np.ndarray) -> np.ndarray:
        """Return the smallest window from one window before so many packets on."""
        return self._extreme(numbers, -1.0, 0.0, np.min)

    def _extreme(self, numbers: np.ndarray, before: float, after: float, of: object) -> np.ndarray:
        width = np.maximum(self.at_packet(numbers), 1.0)
        low = self._index(self.acknowledged, numbers + before * width)
        high = self._index(self.acknowledged, numbers + after * width)
        assert callable(of)
        return np.array([of(self.windows[a : b + 1]) for a, b in zip(low, high, strict=True)])

    @staticmethod
    def _index(values: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        return np.clip(np.searchsorted(values, wanted, side="right") - 1, 0, len(values) - 1)
