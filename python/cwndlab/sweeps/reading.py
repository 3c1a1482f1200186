"""Reads a sweep's finished runs from a store, without doing any run."""

from __future__ import annotations

from typing import Any, NamedTuple

from cwndlab import custom_rules
from cwndlab.arguments import Progress
from cwndlab.errors import ScenarioError, StoreError
from cwndlab.message import unknown
from cwndlab.runs.store import Store, Use
from cwndlab.scenario import DEFAULT_PROFILE, Scenario
from cwndlab.sweeps.checks import PROVENANCE
from cwndlab.sweeps.definition import Sweep
from cwndlab.sweeps.measures import measure
from cwndlab.sweeps.result import SweepResult
from cwndlab.sweeps.stored import older_runs


class StoredSweep(NamedTuple):
    """A sweep in a store: its definition, and its finished runs."""

    findings: SweepResult
    runs: list[dict[str, Any]]
    """Finished runs in the order of the sweep.

    ``cell``, ``replicate``, ``seed``, ``trace_hash`` and origin (`PROVENANCE`).
    """
    others: int
    """Runs under the sweep's name that its latest definition does not have.

    An earlier definition had another base, axes or values.
    """
    former_profile: str = ""
    """Profile of the runs where the definition names none and the default was another then."""

    @property
    def wanted(self) -> int:
        """Runs of the sweep; with `Sweep.until` the least number of them."""
        plan = self.findings.sweep.plan
        return plan.count // plan.replicates * self.findings.sweep.first_replicates

    @property
    def cells_without_runs(self) -> int:
        """Cells without a finished run."""
        return int((self.findings.counts == 0).sum())

    @property
    def missing(self) -> int:
        """Required runs that are missing."""
        lacking = self.findings.sweep.first_replicates - self.findings.counts
        return int(lacking[lacking > 0].sum())

    @property
    def wide(self) -> int:
        """Cells with runs whose intervals still exceed the target of `Sweep.until`."""
        return sum(
            self.findings.needed(cell) is not None for cell in self.findings.finished.tolist()
        )


def read_sweep(store: Store, name: str, progress: Progress | None = None) -> StoredSweep:
    """Read the finished runs of a sweep.

    Parameters
    ----------
    store : Store
        The store of the runs.
    name : str
        The sweep.
    progress : callable, optional
        Gets ``"runs"``, the number of runs read, and of all.

    Raises
    ------
    StoreError
        If the store has no such sweep, or its definition names a file that is missing here.

    Examples
    --------
    >>> import tempfile
    >>> from cwndlab import dumbbell
    >>> base = dumbbell("2Mbit", "10ms", flows="AIMD(1, 0.5)", duration="2s").to_dict()
    >>> sweep = Sweep(name="two", base=base, axes={"rule": ["AIMD(1, 0.5)", "CUBIC"]}, replicates=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = sweep.run(folder)
    ...     kept = read_sweep(Store(folder, write=False), "two")
    >>> kept.findings.summary.equals(found.summary), kept.missing
    (True, 0)
    """
    definitions = store.definitions()
    if name not in definitions:
        raise StoreError(unknown(f'sweep of the store "{store.path}"', name, definitions))
    try:
        with custom_rules.data_beside(store.path):
            sweep = Sweep.from_dict(definitions[name])
            former = former_profile(store, name)
            if former:
                settings = {**definitions[name].get("set", {}), "profile": former}
                sweep = Sweep.from_dict({**definitions[name], "set": settings})
    except (OSError, ScenarioError) as error:
        raise StoreError(
            f"sweep: the definition of `{name}` cannot be read on this machine ({error}): expected "
            "the files that it names"
        ) from error
    found = _gather(store, sweep, store.uses(name), progress)
    others = found.others + older_runs(store, name).get(name, 0)
    return found._replace(others=others, former_profile=former)


def former_profile(store: Store, name: str) -> str:
    """Return the profile of a sweep's stored runs where today's default is another; else nothing.

    The latest definition of such a sweep names no profile: its runs have the default of their time.
    """
    try:
        with custom_rules.data_beside(store.path):
            sweep = Sweep.from_dict(store.definitions()[name])
    except (KeyError, OSError, ScenarioError):
        return ""
    for use in store.uses(name):
        index = sweep.cell_of(use.cell)
        record = next(store.records([use.key]), None)
        if index is not None and record is not None:
            had = record.run().get("profile", "")
            now = Scenario(sweep.plan.cell(index).document(use.replicate)).canonical()["profile"]
            return "" if had == now else had
    return ""


def says_former_profile(name: str, profile: str) -> str:
    """Say under which profile the runs of a sweep were made, and what to do."""
    return (
        f"the sweep {name} names no profile: its stored runs have {profile}, the default when they "
        f"were made; the default is {DEFAULT_PROFILE} now. `--profile {profile}` keeps the former "
        "one; without it the runs are done anew"
    )


def _gather(store: Store, sweep: Sweep, uses: list[Use], progress: Progress | None) -> StoredSweep:
    findings = SweepResult(sweep)
    places: dict[str, list[tuple[int, int]]] = {}
    others = 0
    for use in uses:
        index = sweep.cell_of(use.cell)
        if index is None or use.replicate >= sweep.plan.replicates:
            others += 1
        else:
            places.setdefault(use.key, []).append((index, use.replicate))
    found: list[tuple[tuple[int, int], dict[str, Any]]] = []
    for done, record in enumerate(store.records(places) if places else (), 1):
        run = record.run()
        values = measure(run, sweep.measures, sweep.link, sweep.measured_group)
        about = {key: getattr(record, key) for key in ("seed", "trace_hash", *PROVENANCE)}
        for index, replicate in places[record.key]:
            findings.put(index, replicate, record.trace_hash, values, run["flows"])
            place = {"cell": findings.labels(index), "replicate": replicate}
            found.append(((index, replicate), {**place, **about}))
        if progress is not None:
            progress("runs", done, len(places))
    found.sort(key=lambda entry: entry[0])
    return StoredSweep(findings, [row for _, row in found], others)
