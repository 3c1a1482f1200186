"""Plans: many runs as one object, for `compare`, sweeps and papers."""

from __future__ import annotations

import functools
import itertools
import json
import math
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cwndlab.arguments import keywords
from cwndlab.errors import ScenarioError
from cwndlab.message import invalid, plural
from cwndlab.patching import patched
from cwndlab.scenario import SEEDS, Scenario

MAX_RUNS = 10_000_000
REPLICATE = "replicate"


@keywords()
@dataclass(frozen=True)
class Level:
    """One value of an axis: its label in tables, and the dotted keys it sets.

    Examples
    --------
    >>> Level("small", {"dumbbell.queue.limit": "5pkt"}).label
    'small'
    """

    label: str
    patch: Mapping[str, Any]


@dataclass(frozen=True)
class Joint:
    """Dotted keys that depend on several axes at once.

    For example, an environment has another network under DRR than under drop-tail.
    """

    cell: Mapping[str, str | int]
    """Axis to label: it applies to the cells that have all of these labels.

    With ``replicate``, it applies to that replicate alone.
    """
    patch: Mapping[str, Any]


class Cell:
    """One level of every axis: runs that differ in their replicate alone."""

    def __init__(self, plan: Plan, index: int, levels: Sequence[Level]) -> None:
        self.index = index
        labels = (level.label for level in levels)
        self.labels: dict[str, str] = dict(zip(plan.axes, labels, strict=True))
        """Axis name -> label."""
        self._plan, self._levels = plan, levels
        self._joint = plan.joint_of(self.labels)
        self._common: dict[str, Any] | None = None

    @property
    def is_drawn(self) -> bool:
        """Whether a joint makes replicates differ in more than their seed."""
        return any(REPLICATE in joint.cell for joint in self._joint)

    def document(self, replicate: int = 0) -> dict[str, Any]:
        """Return the scenario of a replicate as a dictionary, with its seed."""
        if self._common is None or self.is_drawn:
            self._common = self._patched(replicate)
        return {**self._common, "seed": self._plan.seed + replicate}

    def _patched(self, replicate: int) -> dict[str, Any]:
        joint = (
            joint for joint in self._joint if joint.cell.get(REPLICATE, replicate) == replicate
        )
        document = self._plan.base.to_dict()
        for part in (*joint, *self._levels):
            document = patched(document, part.patch)
        return patched(document, self._plan.patch)


@dataclass(frozen=True)
class Run:
    """One run of a plan."""

    index: int
    cell: dict[str, str]
    """Axis name -> label."""
    replicate: int
    seed: int
    document: dict[str, Any]
    """The scenario as a dictionary."""

    @property
    def scenario(self) -> Scenario:
        """The checked scenario."""
        return Scenario(self.document)


@keywords()
@dataclass(frozen=True)
class Plan:
    """Base scenario, axes, replicates and seeds.

    Replicate i has seed ``seed + i`` in EVERY cell: the cells share their random numbers (starts,
    delays, waveforms, losses), so that chance does not add to differences between cells.

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
        Keys to set first, before those of the axes.
    patch : mapping
        Dotted keys set last, in all runs.
    most_runs : int
        Largest number of runs; a larger plan is refused.

    Raises
    ------
    ScenarioError
        If there are no replicates, or more than seeds, an axis is empty or repeats a label, a joint
        names an unknown axis or label, or there are too many runs.

    Examples
    --------
    >>> from cwndlab import dumbbell
    >>> base = dumbbell("10Mbit", "20ms", flows="AIMD(1, 0.5)", duration="1s")
    >>> plan = Plan(base, {"rate": [Level("slow", {"dumbbell.rate": "1Mbit"}),
    ...                             Level("fast", {"dumbbell.rate": "9Mbit"})]},
    ...             replicates=2, seed=5)
    >>> [(run.cell["rate"], run.seed) for run in plan]
    [('slow', 5), ('slow', 6), ('fast', 5), ('fast', 6)]
    """

    base: Scenario
    axes: Mapping[str, Sequence[Level]] = field(default_factory=dict[str, Sequence[Level]])
    replicates: int = 1
    seed: int = 1
    joint: Sequence[Joint] = ()
    patch: Mapping[str, Any] = field(default_factory=dict[str, Any])
    most_runs: int = MAX_RUNS

    def __post_init__(self) -> None:
        if self.replicates < 1:
            raise ScenarioError(invalid("replicates", self.replicates, "a whole number from 1"))
        if not 0 <= self.seed <= SEEDS - self.replicates:
            raise ScenarioError(
                invalid(
                    "seed",
                    self.seed,
                    f"a whole number from 0 to {SEEDS - self.replicates} for "
                    f"{plural(self.replicates, 'replicate')}",
                )
            )
        for name, levels in self.axes.items():
            labels = [level.label for level in levels]
            if not labels:
                raise ScenarioError(invalid(f"axes.{name}", [], "one level or more"))
            if repeated := {label for label, times in Counter(labels).items() if times > 1}:
                raise ScenarioError(f"axis `{name}` must not repeat the label `{min(repeated)}`")
        for joint in self.joint:
            for axis, label in joint.cell.items():
                if label not in self._labels(axis):
                    raise ScenarioError(invalid(f"joint.{axis}", label, "a label of the axis"))
        if self.count > self.most_runs:
            raise ScenarioError(
                invalid("plan", plural(self.count, "run"), f"at most {self.most_runs}")
            )

    @property
    def labels(self) -> dict[str, list[str]]:
        """Labels of every axis."""
        return {axis: [level.label for level in levels] for axis, levels in self.axes.items()}

    def _labels(self, axis: str) -> Container[str | int]:
        if axis == REPLICATE:
            return range(self.replicates)
        return [level.label for level in self.axes.get(axis, ())]

    @property
    def count(self) -> int:
        """Number of runs; it may exceed the range of `len`."""
        return self.replicates * math.prod(len(levels) for levels in self.axes.values())

    def __len__(self) -> int:
        """Count the runs."""
        return self.count

    def __iter__(self) -> Iterator[Run]:
        """Iterate over the runs in a fixed order, all replicates of a cell together."""
        for cell in self.cells():
            for replicate in range(self.replicates):
                index = cell.index * self.replicates + replicate
                yield Run(
                    index, cell.labels, replicate, self.seed + replicate, cell.document(replicate)
                )

    def cells(self) -> Iterator[Cell]:
        """Iterate over the cells, the last axis fastest."""
        for index, levels in enumerate(itertools.product(*self.axes.values())):
            yield Cell(self, index, levels)

    def cell(self, index: int) -> Cell:
        """Return the cell with this number."""
        levels: list[Level] = []
        rest = index
        for axis in reversed(list(self.axes.values())):
            rest, at = divmod(rest, len(axis))
            levels.insert(0, axis[at])
        return Cell(self, index, levels)

    def stride(self, axis: str) -> int:
        """Return the stride of an axis: the distance of cells that differ by one of its levels."""
        names = list(self.axes)
        return math.prod(len(self.axes[later]) for later in names[names.index(axis) + 1 :])

    def joint_of(self, labels: Mapping[str, str]) -> list[Joint]:
        """Return the joints of a cell in order: those of all its replicates, and those of each."""
        found: list[tuple[int, Joint]] = []
        for axes, joints in self._joints.items():
            found += joints.get(tuple(labels[axis] for axis in axes), ())
        return [joint for _, joint in sorted(found, key=lambda entry: entry[0])]

    @functools.cached_property
    def _joints(
        self,
    ) -> dict[tuple[str, ...], dict[tuple[str | int, ...], list[tuple[int, Joint]]]]:
        """Joints by the axes that they name and the labels there.

        The index matters: an environment sweep has thousands of joints.
        """
        found: dict[tuple[str, ...], dict[tuple[str | int, ...], list[tuple[int, Joint]]]] = {}
        for place, joint in enumerate(self.joint):
            axes = tuple(axis for axis in joint.cell if axis != REPLICATE)
            labels = tuple(joint.cell[axis] for axis in axes)
            found.setdefault(axes, {}).setdefault(labels, []).append((place, joint))
        return found

    def check(self) -> None:
        """Check the scenario of every cell without running it.

        Raises
        ------
        ScenarioError
            With the message of the first invalid cell.
        """
        for cell in self.cells():
            Scenario(cell.document()).core.check_home()

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
            "joint": [
                {"cell": dict(joint.cell), "patch": dict(joint.patch)} for joint in self.joint
            ],
            "patch": dict(self.patch),
        }

    def to_json(self, indent: int | None = 2) -> str:
        """Return the plan as JSON text."""
        return json.dumps(self.to_dict(), indent=indent)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Plan:
        """Read a plan from the output of `to_dict`."""
        axes = {
            name: tuple(Level(level["label"], level["patch"]) for level in levels)
            for name, levels in data["axes"].items()
        }
        joint = tuple(Joint(entry["cell"], entry["patch"]) for entry in data.get("joint", ()))
        return cls(
            Scenario(data["base"]),
            axes,
            data["replicates"],
            data["seed"],
            joint,
            data.get("patch", {}),
        )


def named(labels: Mapping[str, str]) -> str:
    """Write a cell in a sentence.

    Examples
    --------
    >>> named({"rule": "CUBIC", "dumbbell.rate": "1Mbit"}), named({})
    ('rule = CUBIC, dumbbell.rate = 1Mbit', 'the base scenario')
    """
    return ", ".join(f"{axis} = {label}" for axis, label in labels.items()) or "the base scenario"
