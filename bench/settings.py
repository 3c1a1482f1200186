"""What all measurements share: how often, how short, and how they say what they are doing."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from workloads import Workload


@dataclass(frozen=True)
class Settings:
    """Options of the command line, and whether ns-2 is there."""

    repetitions: int = 3
    quick: bool = False
    ns2: bool = True
    # Longest run of ns-2, building its network included, seconds.
    limit_s: float = 1200.0
    # Whether ns-2's sources get their links by hand instead of a node each (ns2/hand.tcl): less for
    # the caches to hold.
    by_hand: bool = False
    # The program that the user built from htsim (htsim.md).
    htsim: Path | None = None

    def turns(
        self,
        workload: Workload,
        *sides: tuple[str, Callable[[], object]],
        repetitions: int | None = None,
    ) -> list[list]:
        """Let the sides take turns, so that a machine that slows down slows all.

        One list of results for each side.
        """
        count = repetitions or self.repetitions
        results: list[list] = [[] for _ in sides]
        for turn in range(count):
            for (name, measure), found in zip(sides, results, strict=True):
                print(f"{workload.name}: {name}, {turn + 1} of {count}", file=sys.stderr)
                found.append(measure())
        return results


class Skipped(Exception):
    """A workload cannot be measured here; the text says why."""


def ratios(upper: Sequence[float], lower: Sequence[float]) -> list[float]:
    """One ratio for each pair of neighbouring runs.

    What changes slowly on the machine cancels out.
    """
    return [a / b for a, b in zip(upper, lower, strict=True)]


def spread(name: str, values: Sequence[float]) -> dict[str, float]:
    """Median, least and most of repetitions as three figures."""
    return {
        name: statistics.median(values),
        f"{name}_least": min(values),
        f"{name}_most": max(values),
    }


def per_packet(runs: Sequence[dict], seconds: str = "wall_s") -> list[float]:
    """Nanoseconds a delivered packet."""
    return [run[seconds] / run["delivered"] * 1e9 for run in runs]
