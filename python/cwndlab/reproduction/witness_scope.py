"""What a witness runs: the ns-2 of a paper's date, and the cells that decide its claims.

``witness.toml`` of a paper's folder has both. Its levels are written down before the runs: ns-2
takes tens of times as long as cwndlab, and both programs are judged over the same cells.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cwndlab.errors import ScenarioError
from cwndlab.message import unknown
from cwndlab.reproduction.paper import load
from cwndlab.reproduction.readings import read_toml
from cwndlab.sweeps import Sweep


@dataclass(frozen=True)
class Scope:
    """What a witness of a paper runs.

    Attributes
    ----------
    profile : str
        The ns-2 of the paper's date.
    levels : mapping
        Plan to axis to the labels that are run; all of the axes that are not there.
    reasons : mapping of str to str
        Claim (``fig4/delay``) to why a program contradicts the paper.
    """

    profile: str
    levels: Mapping[str, Mapping[str, Sequence[str]]]
    reasons: Mapping[str, str]

    def decisive(self, plan: str, sweep: Sweep) -> Sweep:
        """Return the decisive cells of a plan."""
        for axis, labels in self.levels.get(plan, {}).items():
            known = level_labels(sweep, axis)
            if wrong := [label for label in labels if label not in known]:
                raise ScenarioError(unknown(f"witness.toml: {plan}.{axis}", wrong[0], known))
            sweep = without(sweep, axis, [label for label in known if label not in labels])
        return sweep


def read_scope(key: str) -> Scope:
    """Read ``witness.toml`` of a paper.

    Examples
    --------
    >>> read_scope("yang2000").profile
    'ns2-2000'
    """
    data = read_toml(load(key).folder / "witness.toml")
    return Scope(data["profile"], data.get("plans", {}), data.get("reasons", {}))


def level_labels(sweep: Sweep, axis: str) -> list[str]:
    """Return the labels of an axis."""
    return [level.label for level in sweep.plan.axes.get(axis, ())]


def without(sweep: Sweep, axis: str, labels: Iterable[str]) -> Sweep:
    """Return a sweep without some levels of an axis.

    Raises
    ------
    ScenarioError
        If none remains.
    """
    dropped = set(labels)
    kept = [label for label in level_labels(sweep, axis) if label not in dropped]
    if not kept:
        raise ScenarioError(f"axis `{axis}` has no level that ns-2 can express: {min(dropped)}")
    if not dropped:
        return sweep
    values: Mapping[str, Any] | Sequence[Any] = sweep.axes[axis]
    if isinstance(values, Mapping):
        chosen: Any = {label: patch for label, patch in values.items() if label not in dropped}
    elif len(values) == len(level_labels(sweep, axis)):
        pairs = zip(values, level_labels(sweep, axis), strict=True)
        chosen = [value for value, label in pairs if label not in dropped]
    else:
        # "all", which stands for several environments.
        chosen = kept
    return dataclasses.replace(sweep, axes={**sweep.axes, axis: chosen})
