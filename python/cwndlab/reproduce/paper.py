"""A paper's folder: what it states, which plans it needs, which of its experiments there are.

::

    papers/KEY/
      README.md       claim, setup, assumptions, expected run time
      paper.toml      title, experiments, short names of rules, what `--quick` means
      claims.toml     every sentence as a quantity and a reading
      plans/*.toml    sweeps
      published.csv   numbers the paper prints, with their place
      quantities.py   quantities that are the paper's own: function(data, claim) -> float
      figures.py      plots of its experiments: function(data, experiment) -> Figure
      tables.py       their data: function(data, experiment) -> DataFrame

Nothing imports a paper; it is found by its folder and loaded by its name.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from cwndlab.errors import ScenarioError
from cwndlab.reproduce.claims import Claim, read_claims
from cwndlab.reproduce.quantities import QUANTITIES, Quantity
from cwndlab.reproduce.readings import read_toml

if TYPE_CHECKING:
    from cwndlab.sweep import Sweep

FOLDER = "papers"


@dataclass(frozen=True)
class Experiment:
    """One result of a paper: a figure, a table, or a remark that can be checked."""

    id: str
    title: str
    section: str
    plans: tuple[str, ...] = ()
    figure: str = ""
    table: str = ""
    about: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Paper:
    """One paper; `load` makes it.

    Attributes
    ----------
    key : str
        Name of its folder.
    title, citation : str
        What it is called, and where it is found.
    experiments : mapping of str to Experiment
        By ID, in the order of the paper.
    claims : sequence of Claim
        All of them.
    rules : mapping of str to str
        Short names of rules to their notation.
    assumed : sequence of mapping
        What the paper leaves open beside what environments assume: ``name``, ``value``, ``reason``.
    changes : sequence of str
        What changed in its claims since they were first committed, each with its reason.
    """

    key: str
    title: str
    citation: str
    experiments: Mapping[str, Experiment]
    claims: Sequence[Claim]
    rules: Mapping[str, str]
    assumed: Sequence[Mapping[str, str]]
    changes: Sequence[str]
    also: Mapping[str, str]
    scales: Mapping[str, Mapping[str, float]]
    queues: Mapping[str, str]
    quick: Mapping[str, Any]
    folder: Path

    def claims_of(self, ids: Iterable[str]) -> list[Claim]:
        """Return the claims of some experiments."""
        chosen = set(ids)
        return [claim for claim in self.claims if claim.id in chosen]

    def plans_of(self, ids: Iterable[str]) -> list[str]:
        """Return the plans that some experiments need, each once."""
        chosen = list(ids)
        named = [plan for name in chosen for plan in self.experiments[name].plans]
        return list(dict.fromkeys([*named, *(plan for claim in self.claims_of(chosen) for plan in claim.plans)]))

    def sweep(self, plan: str, *, quick: bool = False, assume: Mapping[str, Any] | None = None) -> Sweep:
        """Make the sweep of a plan.

        Parameters
        ----------
        plan : str
            Its name.
        quick : bool
            With few, short runs.
        assume : mapping, optional
            What environments assume, beside what the plan says; it does not touch plans without environments.
        """
        from cwndlab.sweep import Sweep

        whole = Sweep.load(self.folder / "plans" / f"{plan}.toml").to_dict()
        has_environments = "env" in whole["axes"]
        if has_environments and assume:
            whole["assume"] = {**assume, **whole.get("assume", {})}
        if quick:
            whole["name"] += "-quick"
            whole["replicates"] = self.quick["replicates"]
            if has_environments:
                whole["duration"] = self.quick["duration"]
            else:
                whole["base"] = {**whole["base"], "duration": self.quick["duration"], "measure": self.quick["measure"]}
        return Sweep.from_dict(whole)

    def quantity(self, claim: Claim) -> Quantity:
        """Find the function that a claim names: one of `cwndlab.reproduce.quantities`, or the paper's own."""
        own = self.module("quantities")
        found = QUANTITIES.get(claim.quantity) or getattr(own, claim.quantity, None)
        if found is None:
            raise ScenarioError(
                f"claim {claim.id}/{claim.name}: quantity `{claim.quantity}` is not known;"
                f" allowed: {', '.join(QUANTITIES)}, or a function of {own.__name__}"
            )
        return found

    def module(self, name: str) -> ModuleType:
        """Load a part of the paper's own code."""
        return importlib.import_module(f"cwndlab.{FOLDER}.{self.key}.{name}")


def names() -> list[str]:
    """Keys of all papers.

    Examples
    --------
    >>> "akella2002" in names()
    True
    """
    root = resources.files("cwndlab") / FOLDER
    return sorted(entry.name for entry in root.iterdir() if (entry / "paper.toml").is_file())


def load(key: str) -> Paper:
    """Read a paper's folder.

    Raises
    ------
    ScenarioError
        If there is no such paper.

    Examples
    --------
    >>> paper = load("akella2002")
    >>> paper.experiments["fig4"].section, len(paper.claims_of(["fig4"]))
    ('4.1.1', 7)
    """
    if key not in names():
        raise ScenarioError(f"paper: `{key}` is not known; allowed: {', '.join(names())}")
    folder = Path(str(resources.files("cwndlab") / FOLDER / key))
    about = dict(read_toml(folder / "paper.toml"))
    experiments = {entry["id"]: _experiment(entry) for entry in about["experiment"]}
    claims = read_claims(folder / "claims.toml")
    for claim in claims:
        if claim.id not in experiments:
            raise ScenarioError(f"claim {claim.id}/{claim.name}: no such experiment; allowed: {', '.join(experiments)}")
    return Paper(
        key, about["title"], about["citation"], experiments, claims, about["rules"], about.get("assumed", ()),
        about.get("changes", ()), about.get("also", {}), about.get("scale", {}), about.get("queues", {}),
        about["quick"], folder,
    )  # fmt: skip


def choose(targets: Sequence[str]) -> dict[str, list[str]]:
    """Read targets such as ``akella2002`` and ``akella2002/fig4`` as papers with the IDs that are meant.

    Without any: all papers, all IDs.

    Raises
    ------
    ScenarioError
        If there is no such paper, or the paper has no such ID.

    Examples
    --------
    >>> choose(["akella2002/fig4", "akella2002/ring"])
    {'akella2002': ['fig4', 'ring']}
    """
    chosen: dict[str, list[str]] = {}
    for target in targets or names():
        key, slash, single = target.partition("/")
        known = load(key).experiments
        if slash and single not in known:
            raise ScenarioError(f"{key}: `{single}` is no experiment of this paper; allowed: {', '.join(known)}")
        wanted = [single] if slash else list(known)
        chosen[key] = [name for name in known if name in {*chosen.get(key, ()), *wanted}]
    return chosen


def _experiment(entry: Mapping[str, Any]) -> Experiment:
    own = {key: entry[key] for key in ("id", "title", "section", "figure", "table", "about") if key in entry}
    rest = {key: value for key, value in entry.items() if key not in {*own, "plans"}}
    return Experiment(**own, plans=tuple(entry.get("plans", ())), arguments=rest)
