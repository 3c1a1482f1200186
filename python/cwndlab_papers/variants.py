"""Verdicts under varied assumptions, and their differences from the paper's assumptions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

MOVED = 0.3
"""Change from which a number of a cell counts as moved."""


@dataclass
class Variant:
    """One value of one assumption, with its verdicts.

    Attributes
    ----------
    name, value : str
        Assumption and value; both empty for the paper's assumptions.
    met : mapping of str to bool
        ``ID/claim`` to whether its mean lies within its bounds.
    cells : mapping of str to float
        The paper's own numbers by name, such as correlations.
    runs : int
        Number of runs, shared ones included.
    took_s : float
        Processor seconds of the runs, whenever they were done.
    computed_s : float
        Processor seconds of the new runs.
    """

    name: str
    value: str
    met: Mapping[str, bool]
    cells: Mapping[str, float]
    runs: int = 0
    took_s: float = 0.0
    computed_s: float = 0.0

    def to_dict(self, base: Variant) -> dict[str, Any]:
        """Return the variant as plain data, with its changes from the paper's assumptions."""
        return {
            "assumption": self.name,
            "value": self.value,
            "claims": len(self.met),
            "met": sum(self.met.values()),
            "now_met": sorted(
                key for key, value in self.met.items() if value and not base.met[key]
            ),
            "no_longer_met": sorted(
                key for key, value in self.met.items() if not value and base.met[key]
            ),
            "medians": _medians(self.cells),
            "moved": {
                key: [base.cells[key], value]
                for key, value in self.cells.items()
                if abs(value - base.cells[key]) > MOVED
            },
            "cells": dict(self.cells),
            "runs": self.runs,
            "took_s": self.took_s,
            "computed_s": self.computed_s,
        }


@dataclass
class Sensitivity:
    """All variants; the first has the paper's assumptions.

    Attributes
    ----------
    took_s : float
        Processor seconds of all runs, whenever they were done; shared runs count once.
    wall_s : float
        Wall-clock seconds of this call.
    """

    paper: str
    is_quick: bool
    replicates: int
    variants: list[Variant] = field(default_factory=list[Variant])
    took_s: float = 0.0
    wall_s: float = 0.0
    failed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return all variants as plain data."""
        return {
            "paper": self.paper,
            "quick": self.is_quick,
            "replicates": self.replicates,
            "variants": [entry.to_dict(self.variants[0]) for entry in self.variants],
            "runs_failed": self.failed,
            "took_s": self.took_s,
            "computed_s": sum(entry.computed_s for entry in self.variants),
            "wall_s": self.wall_s,
        }


def _medians(cells: Mapping[str, float]) -> dict[str, float]:
    """Return medians by kind, the first word of a name."""
    kinds = dict.fromkeys(name.split()[0] for name in cells)
    return {
        kind: float(np.median([value for name, value in cells.items() if name.split()[0] == kind]))
        for kind in kinds
    }
