"""A paper's folder: its claims, plans and experiments.

::

    papers/KEY/
      README.md       claim, setup, assumptions, expected run time
      paper.toml      title, experiments, short names of rules, what `--quick` means
      claims.toml     every sentence as a quantity and a reading
      plans/*.toml    sweeps; or waveforms of a search (`cwndlab_papers.waveforms`)
      published.csv   printed numbers with their place; or
      published.toml  the same, with the quantity to compare each number with
      measures.py     the paper's measures of a run: function(run, traces) -> numbers by name
      quantities.py   the paper's quantities: function(data, claim) -> float
      figures.py      plots of its experiments: function(data, experiment) -> Figure
      tables.py       their data and summaries: function(data, experiment) -> DataFrame

Nothing imports a paper: it is found by its folder and loaded by its name.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from cwndlab import ScenarioError
from cwndlab.plugins import listed, unknown
from cwndlab_papers import waveforms
from cwndlab_papers.claims import Claim, claims_hash, read_claims
from cwndlab_papers.published import Printed, read_published
from cwndlab_papers.quantities import QUANTITIES, Quantity
from cwndlab_papers.readings import read_toml
from cwndlab_papers.results_grid import ResultsGrid

if TYPE_CHECKING:
    import polars as pl

    from cwndlab.sweeps import Sweep, SweepResult
    from cwndlab_papers.results_grid import Data

FOLDER = "papers"
HASHES = "claims.sha256"
Measure = Callable[[Mapping[str, Any], Mapping[str, Any]], Mapping[str, Any]]
"""A function from a run (a dictionary) and its traces to numbers and arrays by name."""


@dataclass(frozen=True)
class Experiment:
    """One experiment of a paper: a figure, a table, or a remark."""

    id: str
    title: str
    section: str
    plans: tuple[str, ...] = ()
    figure: str = ""
    table: str = ""
    summary: str = ""
    about: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Paper:
    """One paper; `load` makes it.

    Attributes
    ----------
    key : str
        Name of its directory.
    title, citation : str
        Title and citation.
    experiments : mapping of str to Experiment
        By ID, in the order of the paper.
    claims : sequence of Claim
        All of them.
    rules : mapping of str to str
        Short names of rules to their notation.
    assumed : sequence of mapping
        Assumptions beyond those of the environments: ``name``, ``value``, ``reason``.
    changes : sequence of str
        Changes of its claims since they were first committed, with reasons.
    also : mapping of str to sequence of str
        Metric to further metrics by which its claims are judged.
    scales, queues : mapping
        Plan to factors on its metrics, and to the queue of plans that have no such axis.
    bounded : mapping of str to str
        Metric to the metric that bounds it from above (`ResultsGrid.of`).
    quick : mapping
        Meaning of ``--quick``: ``replicates``, ``duration``, ``measure``.
    sensitivity : mapping
        Variations of ``--sensitivity`` (`cwndlab_papers.sensitivity`).
    assume : mapping
        Assumptions of the environments that differ from the defaults.
    published : sequence of Printed
        Numbers that the paper prints.
    expected_cpu_s : float, optional
        Processor time of a full reproduction, seconds.
    """

    key: str
    title: str
    citation: str
    experiments: Mapping[str, Experiment]
    claims: Sequence[Claim]
    rules: Mapping[str, str]
    assumed: Sequence[Mapping[str, str]]
    changes: Sequence[str]
    also: Mapping[str, Sequence[str]]
    scales: Mapping[str, Mapping[str, float]]
    queues: Mapping[str, str]
    bounded: Mapping[str, str]
    quick: Mapping[str, Any]
    sensitivity: Mapping[str, Any]
    assume: Mapping[str, Any]
    measures: Mapping[str, str]
    folder: Path
    published: Sequence[Printed] = ()
    expected_cpu_s: float | None = None

    @property
    def claims_hash(self) -> str:
        """Hash of its claims, which ``papers/claims.sha256`` has from before their runs."""
        return claims_hash(self.claims)

    def claims_of(self, ids: Iterable[str]) -> list[Claim]:
        """Return the claims of some experiments."""
        chosen = set(ids)
        return [claim for claim in self.claims if claim.id in chosen]

    @property
    def has_environments(self) -> bool:
        """Whether one of its plans uses environments, and so their assumptions."""
        plans = (read_toml(file) for file in sorted((self.folder / "plans").glob("*.toml")))
        return any("env" in plan.get("axes", {}) for plan in plans)

    def published_of(self, ids: Iterable[str]) -> list[Printed]:
        """Return the printed numbers of some experiments."""
        chosen = set(ids)
        return [number for number in self.published if number.claim.id in chosen]

    def plans_of(self, ids: Iterable[str]) -> list[str]:
        """Return the plans that some experiments need, each once."""
        chosen = list(ids)
        named = [plan for name in chosen for plan in self.experiments[name].plans]
        judged = [*self.claims_of(chosen), *(number.claim for number in self.published_of(chosen))]
        return list(dict.fromkeys([*named, *(plan for claim in judged for plan in claim.plans)]))

    def sweep(
        self,
        plan: str,
        *,
        quick: bool = False,
        assume: Mapping[str, Any] | None = None,
        replicates: int | None = None,
        profile: str | None = None,
        home: str | None = None,
    ) -> Sweep:
        """Make the sweep of a plan.

        Parameters
        ----------
        plan : str
            Its name.
        quick : bool
            Few, short runs.
        assume : mapping, optional
            Assumptions of the environments, in addition to the plan's; they do not apply to plans
            with their own network.
        replicates : int, optional
            Largest number of replicates.
        profile : str, optional
            An ns-2 whose endpoints and routers the runs have, instead of the paper's profile.
        home : str, optional
            Where the runs go, instead of the simulator: a kernel has endpoints of its own.
        """
        from cwndlab.sweeps import Sweep

        assumed = {**self.assume, **(assume or {})}
        file = self.folder / "plans" / f"{plan}.toml"
        data = waveforms.read(file)
        whole = (
            waveforms.sweep(data, assumed) if waveforms.KEY in data else Sweep.load(file)
        ).to_dict()
        has_environments = "env" in whole["axes"]
        if has_environments and assumed:
            whole["assume"] = {**assumed, **whole.get("assume", {})}
        if profile is not None:
            whole["name"] += f"-{profile}"
            dated = {"profile": profile, "router_profile": profile}
            whole["base"] = {**whole.get("base", {}), **dated}
            if has_environments:
                whole["base"] = {"router_profile": profile}
                whole["assume"] = {**whole.get("assume", {}), "profile": profile}
        if replicates is not None:
            whole["replicates"] = min(replicates, whole.get("replicates", replicates))
        if quick:
            form = {**self.quick, **self.quick.get("plans", {}).get(plan, {})}
            whole["name"] += "-quick"
            whole["replicates"] = form["replicates"]
            if has_environments:
                whole["duration"] = form["duration"]
            else:
                whole["base"] = {
                    **whole["base"],
                    "duration": form["duration"],
                    "measure": form["measure"],
                }
        if home not in (None, "simulator"):
            whole["name"] += f"-{home}".replace(":", "-")
            whole["set"] = {**whole.get("set", {}), "profile": "linux", "home": home}
        return Sweep.from_dict(whole)

    def board(
        self, plan: str, findings: SweepResult, own: Sequence[Mapping[str, Any]] = ()
    ) -> ResultsGrid:
        """Put the results of a plan's sweep, and the paper's own measures, into arrays."""
        return ResultsGrid.of(
            findings,
            queue=self.queues.get(plan, ""),
            scale=self.scales.get(plan),
            bounded=self.bounded,
            own=own,
        )

    def quantity(self, claim: Claim) -> Quantity:
        """Find the function that a claim names.

        It is one of `cwndlab_papers.quantities`, or the paper's own.
        """
        own = self.module("quantities")
        found = QUANTITIES.get(claim.quantity) or getattr(own, claim.quantity, None)
        if found is None:
            raise ScenarioError(
                unknown(
                    f"claim {claim.id}/{claim.name}: quantity",
                    claim.quantity,
                    [*QUANTITIES, f"a function of {own.__name__}"],
                )
            )
        return found

    def summary(self, data: Data, experiment: Experiment) -> pl.DataFrame | None:
        """Return the summary table of an experiment, if it has one."""
        return (
            getattr(self.module("tables"), experiment.summary)(data, experiment)
            if experiment.summary
            else None
        )

    def measure(self, plan: str) -> Measure | None:
        """Find the function with the paper's own measures of a plan's runs.

        None if there is none.
        """
        name = self.measures.get(plan)
        return getattr(self.module("measures"), name) if name else None

    def module(self, name: str) -> ModuleType:
        """Load a module of the paper."""
        return importlib.import_module(f"cwndlab_papers.{FOLDER}.{self.key}.{name}")


def names() -> list[str]:
    """Keys of all papers.

    Examples
    --------
    >>> "akella2002" in names()
    True
    """
    root = resources.files("cwndlab_papers") / FOLDER
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
        raise ScenarioError(unknown("paper", key, names()))
    folder = Path(str(resources.files("cwndlab_papers") / FOLDER / key))
    about = read_toml(folder / "paper.toml")
    experiments = {entry["id"]: _experiment(entry) for entry in about["experiment"]}
    claims = read_claims(folder / "claims.toml")
    for claim in claims:
        if claim.id not in experiments:
            raise ScenarioError(
                unknown(f"claim {claim.id}/{claim.name}: experiment", claim.id, experiments)
            )
    return Paper(
        key, about["title"], about["citation"], experiments, claims, about["rules"],
        about.get("assumed", ()),
        about.get("changes", ()), about.get("also", {}), about.get("scale", {}),
        about.get("queues", {}),
        about.get("bounded", {}), about["quick"], about.get("sensitivity", {}),
        about.get("assume", {}),
        about.get("measures", {}), folder, read_published(folder / "published.toml"),
        about.get("expected_cpu_s"),
    )  # fmt: skip


def registered() -> dict[str, str]:
    """Read the hashes of claims that were committed before their runs, by paper."""
    text = (resources.files("cwndlab_papers") / FOLDER / HASHES).read_text(encoding="utf-8")
    return {name: value for value, name in (line.split() for line in text.splitlines())}


def register() -> None:
    """Write the hashes of all claims, to be committed before the runs that judge them."""
    lines = [f"{load(key).claims_hash}  {key}\n" for key in names()]
    path = Path(str(resources.files("cwndlab_papers") / FOLDER / HASHES))
    path.write_text("".join(lines), encoding="utf-8")


def choose(targets: str | Sequence[str]) -> dict[str, list[str]]:
    """Read targets such as ``akella2002`` and ``akella2002/fig4`` as papers with experiment IDs.

    Without targets: all papers, all IDs.

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
    for target in listed(targets) or names():
        key, slash, single = target.partition("/")
        known = load(key).experiments
        if slash and single not in known:
            raise ScenarioError(unknown(f"{key}: experiment", single, known))
        wanted = [single] if slash else list(known)
        chosen[key] = [name for name in known if name in {*chosen.get(key, ()), *wanted}]
    return chosen


def _experiment(entry: Mapping[str, Any]) -> Experiment:
    own = {
        key: entry[key]
        for key in ("id", "title", "section", "figure", "table", "summary", "about")
        if key in entry
    }
    rest = {key: value for key, value in entry.items() if key not in {*own, "plans"}}
    return Experiment(**own, plans=tuple(entry.get("plans", ())), arguments=rest)
