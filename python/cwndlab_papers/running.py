"""Reproduce a paper: its sweeps through a store, its claims judged, its plots drawn, a report."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab import ScenarioError
from cwndlab.outputs import stamped
from cwndlab.plugins import (
    ESTIMATE,
    CellScenarios,
    ResultTables,
    built,
    keywords,
    listed,
    one_of,
    opened,
    write_parquet,
)
from cwndlab.statistics import Estimate
from cwndlab_papers.claims import Claim, Judged, not_searched
from cwndlab_papers.paper import Experiment, Paper, choose, load
from cwndlab_papers.published import Beside
from cwndlab_papers.readings import HOLDS, NOT_JUDGED
from cwndlab_papers.results_grid import Data, ResultsGrid

if TYPE_CHECKING:
    import polars as pl
    from distributed import Client
    from matplotlib.figure import Figure

    from cwndlab import Store
    from cwndlab.plugins import Cell, Executor
    from cwndlab.sweeps import Sweep, SweepResult

Tell = Callable[[dict[str, Any]], object]


@dataclass
class Cost:
    """Cost of one plan."""

    plan: str
    runs: int = 0
    done_now: int = 0
    computed_s: float = 0.0
    """Sum over the new runs, over all threads."""
    failed: int = 0
    notes: list[str] = field(default_factory=list[str])
    replicates: int = 0


@dataclass(repr=False)
class Reproduction(ResultTables):
    """The reproduction of a paper.

    Attributes
    ----------
    paper : Paper
        The paper.
    ids : list of str
        The selected experiments.
    judged : list of Judged
        Their claims, in the order of the paper.
    data : Data
        The results.
    costs : list of Cost
        Costs by plan.
    beside : list of Beside
        Numbers that the paper prints, with ours.
    wall_s : float
        Wall-clock time, seconds.
    folder : Path
        Directory of its report.
    reading : int, optional
        The assumption set (reading) under which its plans were run.
    home : str
        Where the runs went.

    Examples
    --------
    >>> import tempfile
    >>> from cwndlab_papers import reproduce
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = reproduce("akella2002/bounds", out=folder)
    >>> found.table()["verdict"].to_list()
    ['✗ fails', '✓ holds', '✓ holds']
    """

    paper: Paper
    ids: list[str]
    is_quick: bool
    assume: Mapping[str, Any]
    judged: list[Judged]
    data: Data
    costs: list[Cost] = field(default_factory=list[Cost])
    wall_s: float = 0.0
    beside: list[Beside] = field(default_factory=list[Beside])
    folder: Path = Path()
    reading: int | None = None
    home: str = "simulator"

    @property
    def misfit(self) -> dict[str, dict[str, float]]:
        """Differences from the printed numbers that readings are fitted on and judged by."""
        from cwndlab_papers import open_values

        return open_values.misfit(self.paper, self.data)

    def judged_of(self, id: str) -> list[Judged]:
        """Return the claims of an experiment."""
        return [entry for entry in self.judged if entry.claim.id == id]

    def beside_of(self, id: str) -> list[Beside]:
        """Return the printed numbers of an experiment, with ours."""
        return [entry for entry in self.beside if entry.printed.claim.id == id]

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """``claims``, one row each, and ``published``: the printed numbers with ours."""
        import polars as pl

        names = dict.fromkeys(("experiment", "claim"), pl.String)
        claims = [
            (entry.claim.id, entry.claim.name, entry.verdict, *entry.measured,
             entry.claim.bounds, entry.claim.statement)
            for entry in self.judged
        ]  # fmt: skip
        published = [
            (entry.printed.claim.id, entry.printed.claim.name, entry.printed.value,
             entry.printed.unit, *entry.ours)
            for entry in self.beside
        ]  # fmt: skip
        texts = dict.fromkeys(("bounds", "statement"), pl.String)
        printed = {"published": pl.Float64, "unit": pl.String}
        return {
            "claims": pl.DataFrame(
                claims, schema={**names, "verdict": pl.String, **ESTIMATE, **texts}, orient="row"
            ),
            "published": pl.DataFrame(published, schema={**names, **printed, **ESTIMATE},
                                      orient="row"),
        }  # fmt: skip

    def table(self) -> pl.DataFrame:
        """One row per claim, as ``cwndlab reproduce`` prints them."""
        import polars as pl

        from cwndlab_papers.page import SIGNS, number

        rows = [
            (entry.claim.id, entry.claim.name, f"{SIGNS[entry.verdict]} {entry.verdict}",
             number(entry.measured, exact=entry.claim.is_exact), entry.claim.bounds,
             entry.claim.statement)
            for entry in self.judged
        ]  # fmt: skip
        names = ("experiment", "claim", "verdict", "measured ± 95 % CI", "bounds",
                 "the paper states")  # fmt: skip
        return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")

    def plot(self, id: str | None = None) -> Figure:
        """Plot an experiment, by default the first selected one that has a figure (matplotlib).

        Raises
        ------
        ScenarioError
            If the experiment has no figure.
        """
        drawn = {name: entry.figure for name, entry in self.experiments.items() if entry.figure}
        chosen = next(iter(drawn), None) if id is None else id
        if chosen is None or chosen not in drawn:
            raise ScenarioError(
                f"`plot` needs an experiment with a figure: expected {one_of(drawn) or 'none here'}"
            )
        draw = getattr(self.paper.module("figures"), drawn[chosen])
        return draw(self.data, self.experiments[chosen])

    def save(self, directory: str | Path) -> Path:
        """Write ``report.html``, ``claims.json``, the tables, and each experiment's data and plot.

        Returns
        -------
        Path
            The directory, which is made if needed.
        """
        from cwndlab_papers import page

        folder = Path(directory)
        page.write(self, folder, lambda: self.wall_s)
        for name, table in self.tables.items():
            write_parquet(folder / f"{name}.parquet", table)
        return folder

    @property
    def experiments(self) -> dict[str, Experiment]:
        """The selected experiments by ID."""
        return {name: self.paper.experiments[name] for name in self.ids}

    def to_dict(self) -> dict[str, Any]:
        """Return verdicts and cost as plain data."""
        found: dict[str, Any] = {
            "paper": self.paper.key,
            "quick": self.is_quick,
            "home": self.home,
            "assume": dict(self.assume),
            "claims": [entry.to_dict() for entry in self.judged],
            "published": [entry.to_dict() for entry in self.beside],
            "misfit": self.misfit,
            "runs": sum(cost.runs for cost in self.costs),
            "runs_done_now": sum(cost.done_now for cost in self.costs),
            "runs_failed": sum(cost.failed for cost in self.costs),
            "computed_s": sum(cost.computed_s for cost in self.costs),
            "wall_s": self.wall_s,
        }
        return stamped("reproduce", found)


@keywords()
def reproduce(
    paper: str,
    ids: str | Sequence[str] | None = None,
    *,
    quick: bool = False,
    out: str | Path = "out/reproduce",
    replicates: int | None = None,
    profile: str | None = None,
    home: str | None = None,
    assume: Mapping[str, Any] | None = None,
    reading: int | None = None,
    store: Store | str | Path | None = None,
    jobs: int | None = None,
    on: str | Client | None = None,
    progress: Tell | None = None,
) -> Reproduction:
    """Reproduce experiments of a paper.

    The store keeps runs as they finish, and they are never repeated. ``OUT/KEY`` gets
    ``report.html``, ``claims.json``, and a folder per experiment with ``data.parquet`` and
    ``plot.png``.

    Parameters
    ----------
    paper : str
        The paper, or one of its experiments: ``"akella2002"``, ``"akella2002/fig4"``.
    ids : str or sequence of str, optional
        Its experiments; by default all.
    quick : bool
        Few and short runs, as a test; not enough for most verdicts.
    out : str or Path
        Directory of the report.
    replicates : int, optional
        Largest number of replicates of every plan, for a first look; a later call adds the others.
    profile : str, optional
        An ns-2 release whose endpoints and routers all runs use, such as ``"ns2-2001"``.
    home : {"simulator", "linux", "linux:NAME"}, optional
        Where the runs go: the simulator, or TCP of a Linux kernel in virtual time, whose endpoints
        replace those of the paper.
    assume : mapping, optional
        Assumptions of the environments (`cwndlab.environments.Assumptions`).
    reading : int, optional
        Number of an assumption set for the values that the paper leaves open, 0 for the one of its
        plans (`cwndlab_papers.open_values`). Plans then run with these values, with all their
        rules, in the settings of the coarse plan.
    store : Store, str or Path, optional
        Store of finished runs, by default ``OUT/store``.
    jobs : int, optional
        Number of threads; by default one for each processor.
    on : str or Client, optional
        A dask.distributed scheduler, whose cluster executes the runs.
    progress : callable, optional
        Gets the events of the sweeps, and ``{"event": "plan", "plan": ..., "of": ..., "number":
        ...}`` before each.

    Returns
    -------
    Reproduction

    Raises
    ------
    ScenarioError
        If there is no such paper, experiment or assumption, or the home cannot run a plan.
    StoreError
        If the store cannot be read or written.

    Examples
    --------
    The synchronous model needs no simulation:

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = reproduce("akella2002", ["bounds"], out=folder)
    ...     (Path(folder) / "akella2002" / "report.html").exists()
    True
    >>> [entry.verdict for entry in found.judged]
    ['fails', 'holds', 'holds']
    """
    from cwndlab_papers import open_values, page

    began_s = time.perf_counter()
    targets = [paper] if ids is None else [f"{paper}/{name}" for name in listed(ids)]
    ((key, chosen),) = choose(targets).items()
    about = load(key)
    axes: dict[str, dict[str, Any]] = {}
    if reading is not None:
        assume = {**open_values.assumptions_of(key, reading), **(assume or {})}
        axes = open_values.settings_of(key)
    boards: dict[str, ResultsGrid] = {}
    costs: list[Cost] = []
    sweeps: dict[str, Sweep] = {}
    for plan in about.plans_of(chosen):
        sweep = about.sweep(
            plan, quick=quick, assume=assume, replicates=replicates, profile=profile, home=home
        )
        sweeps[plan] = replace(sweep, axes={**sweep.axes, **axes.get(plan, {})})
        if home is not None and (error := built(next(sweep.plan.cells()).document()).error):
            raise ScenarioError(f"{key}, plan {plan}: {error}")
    if sweeps:
        with opened_runs(store or Path(out) / "store", jobs, on, progress) as (kept, executor):
            for number, (plan, sweep) in enumerate(sweeps.items(), 1):
                if progress is not None:
                    progress({"event": "plan", "plan": plan, "number": number, "of": len(sweeps)})
                boards[plan], cost = _run(sweep, about, plan, kept, executor, progress)
                costs.append(cost)
    data = Data(boards, about.rules)
    judged = judge(about, about.claims_of(chosen), data, is_quick=quick, progress=progress)
    found = Reproduction(about, chosen, quick, dict(assume or {}), judged, data, costs)
    found.beside, found.folder = beside(about, chosen, data), Path(out) / key
    found.reading, found.home = reading, home or "simulator"
    if progress is not None:
        progress({"event": "writing"})
    page.write(found, found.folder, lambda: time.perf_counter() - began_s)
    return found


@contextmanager
def opened_runs(
    store: Store | str | Path, jobs: int | None, on: str | Client | None, progress: Tell | None
) -> Generator[tuple[Store, Executor]]:
    """Open the store and what does the runs, for all plans of a paper."""

    def workers(**fields: Any) -> None:
        if progress is not None:
            progress({"event": "workers", **fields})

    with opened(store, jobs=jobs, on=on, workers=workers) as (kept, executor):
        assert kept is not None, "it was asked for"
        yield kept, executor


def judge(
    paper: Paper,
    claims: Sequence[Claim],
    data: Data,
    *,
    is_quick: bool = False,
    progress: Tell | None = None,
) -> list[Judged]:
    """Judge claims by the results; those of short runs only where short runs can judge them."""
    found: list[Judged] = []
    for number, claim in enumerate(claims, 1):
        found.append(_judge(paper, claim, data, is_quick))
        if progress is not None:
            progress({"event": "judged", "number": number, "of": len(claims)})
    return found


def beside(paper: Paper, ids: Sequence[str], data: Data) -> list[Beside]:
    """Compare our numbers with the printed ones of some experiments."""
    found: list[Beside] = []
    for printed in paper.published_of(ids):
        claim, quantity = printed.claim, paper.quantity(printed.claim)
        ours = data.estimate(lambda chosen, call=quantity, of=claim: call(chosen, of), claim.plans)
        found.append(Beside(printed, ours))
    return found


def _judge(paper: Paper, claim: Claim, data: Data, is_quick: bool) -> Judged:
    if not claim.quantity:
        return not_searched(claim)
    quantity = paper.quantity(claim)
    possible = claim.reading.possible

    def measure(data: Data, claim: Claim) -> Estimate:
        return data.estimate(lambda chosen: quantity(chosen, claim), claim.plans, possible)

    found = measure(data, claim)
    also: dict[str, tuple[Estimate, str]] = {}
    for other in () if claim.is_exact else paper.also.get(claim.arguments.get("metric", ""), ()):
        if not all(other in data.boards[plan].values for plan in claim.plans):
            continue
        measured = measure(data, claim.with_metric(other))
        also[other] = (measured, claim.verdict(measured))
    for name, changes in claim.arguments.get("also", {}).items():
        again = replace(claim, arguments={**claim.arguments, **changes})
        seen = data.without(changes["without"]) if "without" in changes else data
        measured = measure(seen, again)
        also[name] = (measured, claim.verdict(measured))
    verdict = claim.verdict(found)
    if is_quick and verdict != NOT_JUDGED and "short" in claim.arguments:
        return Judged(claim, found, NOT_JUDGED, also, f"a short run: {claim['short']}")
    missing = "no value: a run of it is missing or measured nothing" if found.mean is None else ""
    return Judged(
        claim,
        found,
        verdict,
        also,
        missing or ("" if verdict == HOLDS else claim.arguments.get("why", "")),
    )


def _run(
    sweep: Sweep,
    paper: Paper,
    plan: str,
    store: Store,
    executor: Executor,
    progress: Tell | None,
) -> tuple[ResultsGrid, Cost]:
    cost = Cost(plan, replicates=sweep.replicates)

    def tell(event: dict[str, Any]) -> None:
        if event["event"] == "run":
            cost.done_now += 1
            cost.computed_s += event["duration_s"]
        if progress is not None:
            progress(event)

    findings = sweep.run(store, executor=executor, progress=tell)
    cost.runs, cost.failed, cost.notes = len(findings), len(findings.failed), findings.notes
    own = own_measures(paper, plan, findings, store, run_keys(findings))
    return paper.board(plan, findings, own), cost


def own_measures(
    paper: Paper, plan: str, findings: SweepResult, store: Store, keys: Sequence[str]
) -> list[Mapping[str, Any]]:
    """Apply the paper's own measures to every run, whose `keys` are in the order of its rows."""
    measure = paper.measure(plan)
    if measure is None:
        return []
    found = {
        record.key: measure(record.run(), store.traces(record) if findings.sweep.traces else {})
        for record in store.records({key for key in keys if key})
    }
    # A run whose rule has no source has no key, and is not stored: it has no measures.
    return [found.get(key, {}) for key in keys]


def run_keys(
    findings: SweepResult,
    make: Callable[[Cell, str | float | None], CellScenarios] = CellScenarios,
) -> list[str]:
    """Return the keys of a sweep's runs, in the order of ``findings.runs``.

    `make` gives the scenarios of a cell with their keys: those of the core, or of ns-2.
    """
    sweep = findings.sweep
    texts = {
        tuple(sweep.columns(cell.labels).values()): make(cell, sweep.count_arrivals)
        for cell in sweep.plan.cells()
    }
    places = findings.runs.select(*findings.axes, "replicate").iter_rows()
    return [texts[tuple(labels)].key(replicate) for *labels, replicate in places]
