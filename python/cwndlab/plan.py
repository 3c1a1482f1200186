"""A plan: one object for many runs. `compare`, sweeps and papers all execute it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cwndlab.errors import ScenarioError
from cwndlab.patching import patched
from cwndlab.scenario import Scenario

MAX_RUNS = 1_000_000
REPLICATE = "replicate"


@dataclass(frozen=True)
class Level:
    """One value of an axis: its label in tables, and the dotted keys it sets."""

    label: str
    patch: Mapping[str, Any]


@dataclass(frozen=True)
class Joint:
    """Dotted keys that depend on several axes at once: what no axis can set by itself.

    An environment, for example, is another network under DRR than under drop-tail.
    """

    cell: Mapping[str, str | int]
    """Axis to label: the cells it is for are those that have all of these. With ``replicate``, that one alone."""
    patch: Mapping[str, Any]


class Run(NamedTuple):
    """One run of a plan."""

    index: int
    cell: dict[str, str]
    """Axis name -> label."""
    replicate: int
    seed: int
    document: dict[str, Any]
    """The scenario as a dictionary; made into a `Scenario` when it is run."""

    @property
    def scenario(self) -> Scenario:
        """The checked scenario."""
        return Scenario(self.document)


@dataclass(frozen=True)
class Plan:
    """Base scenario, axes, replicates and seeds.

    Replicate i has seed ``seed + i`` in EVERY cell: the cells share their random numbers (starts, delays,
    waveforms, losses), so that differences between cells are not differences of luck.

    Parameters
    ----------
    base : Scenario
        What all runs share.
    axes : mapping
        Axis name to its levels. The cells are the product of all axes, the last axis fastest.
    replicates : int
        Runs per cell, at least 1.
    seed : int
        Seed of replicate 0.
    joint : sequence of Joint
        Set first, before the axes' own keys.
    patch : mapping
        Dotted keys set last, in all runs.

    Raises
    ------
    ScenarioError
        If there are no replicates, an axis is empty or repeats a label, a joint names an axis or a label that
        is not there, or the runs are too many.

    Examples
    --------
    >>> from cwndlab import dumbbell
    >>> base = dumbbell("10Mbit", "20ms", flows="AIMD(1, 0.5)", duration="1s")
    >>> plan = Plan(base, {"rate": [Level("slow", {"dumbbell.rate": "1Mbit"}),
    ...                             Level("fast", {"dumbbell.rate": "9Mbit"})]}, replicates=2, seed=5)
    >>> [(run.cell["rate"], run.seed) for run in plan]
    [('slow', 5), ('slow', 6), ('fast', 5), ('fast', 6)]
    """

    base: Scenario
    axes: Mapping[str, Sequence[Level]] = field(default_factory=dict)
    replicates: int = 1
    seed: int = 1
    joint: Sequence[Joint] = ()
    patch: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.replicates < 1:
            raise ScenarioError(f"replicates: {self.replicates} is not allowed; allowed: 1 or more")
        for name, levels in self.axes.items():
            labels = [level.label for level in levels]
            if not labels:
                raise ScenarioError(f"axis `{name}`: has no levels; allowed: one or more")
            if repeated := {label for label in labels if labels.count(label) > 1}:
                raise ScenarioError(f"axis `{name}`: repeats `{min(repeated)}`; allowed: each label once")
        for joint in self.joint:
            for axis, label in joint.cell.items():
                if label not in self._labels(axis):
                    raise ScenarioError(f"joint: `{axis}` = `{label}` is in no cell; allowed: a label of an axis")
        if len(self) > MAX_RUNS:
            raise ScenarioError(f"plan: {len(self)} runs are too many; allowed: {MAX_RUNS}")

    def _labels(self, axis: str) -> Container[str | int]:
        if axis == REPLICATE:
            return range(self.replicates)
        return [level.label for level in self.axes.get(axis, ())]

    def __len__(self) -> int:
        """Count the runs."""
        count = self.replicates
        for levels in self.axes.values():
            count *= len(levels)
        return count

    def __iter__(self) -> Iterator[Run]:
        """Go through the runs, all replicates of a cell together, in a fixed order."""
        index = 0
        for levels, cell in self._cells():
            document = self._document(levels, cell)
            for replicate in range(self.replicates):
                own = self._document(levels, cell, replicate) if self._is_drawn(cell) else document
                yield Run(index, cell, replicate, self.seed + replicate, {**own, "seed": self.seed + replicate})
                index += 1

    def _cells(self) -> Iterator[tuple[Sequence[Level], dict[str, str]]]:
        for levels in itertools.product(*self.axes.values()):
            yield levels, dict(zip(self.axes, (level.label for level in levels), strict=True))

    def _is_drawn(self, cell: Mapping[str, str]) -> bool:
        """Whether the replicates of a cell differ in more than their seed."""
        own = (joint.cell for joint in self.joint if REPLICATE in joint.cell)
        return any(all(cell.get(axis) == label for axis, label in where.items() if axis != REPLICATE) for where in own)

    def _document(self, levels: Sequence[Level], cell: Mapping[str, str], replicate: int = 0) -> dict[str, Any]:
        where = {**cell, REPLICATE: replicate}.items()
        document = self.base.to_dict()
        for part in (*(joint for joint in self.joint if joint.cell.items() <= where), *levels):
            document = patched(document, part.patch)
        return patched(document, self.patch)

    def check(self) -> None:
        """Check the scenario of every cell without running it.

        Raises
        ------
        ScenarioError
            The first cell's message.
        """
        for levels, cell in self._cells():
            Scenario(self._document(levels, cell))

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain data, which `from_dict` reads back."""
        axes = {
            name: [{"label": level.label, "patch": dict(level.patch)} for level in levels]
            for name, levels in self.axes.items()
        }
        return {
            "base": self.base.to_dict(),
            "axes": axes,
            "replicates": self.replicates,
            "seed": self.seed,
            "joint": [{"cell": dict(joint.cell), "patch": dict(joint.patch)} for joint in self.joint],
            "patch": dict(self.patch),
        }

    def to_json(self, indent: int | None = 2) -> str:
        """Return the plan as JSON text."""
        return json.dumps(self.to_dict(), indent=indent)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Plan:
        """Read a plan from what `to_dict` gave."""
        axes = {
            name: tuple(Level(level["label"], level["patch"]) for level in levels)
            for name, levels in data["axes"].items()
        }
        joint = tuple(Joint(entry["cell"], entry["patch"]) for entry in data.get("joint", ()))
        return cls(Scenario(data["base"]), axes, data["replicates"], data["seed"], joint, data.get("patch", {}))
