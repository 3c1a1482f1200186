"""Plans over the waveforms of a search.

Their file has the waveforms as data, and the command that finds each.

::

    setting = "sack/drop-tail"
    rules = ["AIMD(1, 0.8)", "AIAD(1, 3)"]
    replicates, seed, metrics, name as in a sweep

    [waveforms.fig1a]
    family = "saw-tooth"
    command = "cwndlab search ..."
    values = { high = "8Mbit", low = "1Mbit", period = "3s" }
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab_papers.readings import read_toml

if TYPE_CHECKING:
    from cwndlab.sweeps import Sweep

KEY = "waveforms"


def shapes(data: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the waveforms of a plan by case, rates in bit/s per test flow.

    Raises
    ------
    ScenarioError
        If a family or a parameter is not known, or a value is not valid.
    """
    from cwndlab import searches

    found: dict[str, dict[str, Any]] = {}
    for case, entry in data[KEY].items():
        family = searches.family(entry["family"])
        bounds = searches.read_bounds(
            family.name, [f"{name}={value}" for name, value in entry["values"].items()]
        )
        found[case] = family.shape({name: bounds[name][0] for name in bounds})
    return found


def read(path: Path) -> dict[str, Any]:
    """Read a plan's file."""
    return read_toml(path)


def sweep(data: Mapping[str, Any], assume: Mapping[str, Any]) -> Sweep:
    """Make the sweep of such a plan: axes recovery, case and rule."""
    from cwndlab import searches
    from cwndlab.environments import Assumptions

    recovery, _, queue = data["setting"].partition("/")
    return searches.sweep_of(
        shapes(data), data["rules"], (recovery, queue), Assumptions().with_(**assume),
        replicates=data["replicates"], seed=data["seed"], metrics=data["metrics"],
        name=data["name"],
    )  # fmt: skip
