"""A sweep: many runs as one object, the same in a file and in Python."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab.errors import ScenarioError
from cwndlab.patching import patched
from cwndlab.plan import MAX_RUNS, Plan
from cwndlab.sweep import axes as axis
from cwndlab.sweep import base as bases
from cwndlab.sweep import until as targets
from cwndlab.sweep.measures import Measure, find

if TYPE_CHECKING:
    from distributed import Client

    from cwndlab.store import Store
    from cwndlab.sweep.findings import Findings
    from cwndlab.work import Executor

METRICS = ("goodput", "loss_rate", "mean_queueing_delay_s", "jain_index")
REPLICATES = 5
TEST_FLOWS = "flow"
"""Flows under test in every environment."""


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A base scenario, axes, replicates, and what is measured.

    Replicate i has the seed ``seed + i`` in every cell, so that cells share their random numbers.

    Parameters
    ----------
    name : str
        Under which its runs are found in a store.
    base : mapping
        What all runs share: a scenario as a dictionary, or without a network where there is an axis ``env``.
    axes : mapping
        Name to list of values, or to a table of label = table of dotted keys. The cells are their product. Names are
        dotted keys of the scenario, or ``rule``, ``recovery``, ``queue``, ``env``.
    zip : sequence of mapping
        Axes that go together: the first values of all, the second, and so on.
    replicates : int
        Runs of every cell; with `until` those before the first look.
    seed : int
        Of replicate 0.
    metrics : sequence of str
        What is measured (docs/sweeps.md lists it); the first one leads.
    link, group : str
        The link and the group of flows that metrics are of; by default ``bottleneck`` and all flows.
    compare, baseline : str, optional
        Axis whose levels are compared, and with which; by default ``rule``, or the first axis, and its first level.
    until : str, optional
        Such as ``"ci(goodput) < 1%"``: add replicates until every cell's interval is that narrow.
    most : int
        Replicates at most.
    traces : bool
        Keep the traces that the base scenario asks for; otherwise nothing is traced.
    assume, duration : mapping, str
        With ``env``: what environments assume, and length of a run.
    yes : bool
        Allow more than ten million runs.

    Raises
    ------
    ScenarioError
        If an axis is empty or names no key, a scenario is not valid, or the runs are too many.

    Examples
    --------
    >>> from cwndlab import dumbbell
    >>> base = dumbbell("2Mbit", "10ms", flows="AIMD(1, 0.5)", duration="5s")
    >>> sweep = Sweep(name="limits", base=base.to_dict(), replicates=2,
    ...               axes={"rule": ["AIMD(1, 0.5)", "AIAD(1, 3)"], "dumbbell.queue.limit": ["5pkt", "20pkt"]})
    >>> found = sweep.run()
    >>> found.runs.height, found.summary.columns
    (8, ['rule', 'dumbbell.queue.limit', 'metric', 'mean', 'ci95', 'replicates'])
    """

    name: str = "sweep"
    base: Mapping[str, Any] = field(default_factory=dict)
    axes: Mapping[str, Any] = field(default_factory=dict)
    zip: Sequence[Mapping[str, Any]] = ()
    replicates: int = REPLICATES
    seed: int = 1
    metrics: Sequence[str] = METRICS
    link: str = "bottleneck"
    group: str | None = None
    compare: str | None = None
    baseline: str | None = None
    until: str | None = None
    most: int = targets.MOST
    traces: bool = False
    assume: Mapping[str, Any] = field(default_factory=dict)
    duration: str | float | None = None
    yes: bool = False

    def __post_init__(self) -> None:
        # Lists, as in files, whatever was given: equal sweeps are equal, and go into JSON and back.
        for key in ("metrics", "zip"):
            object.__setattr__(self, key, list(getattr(self, key)))
        for key, least in (("replicates", 1), ("most", 1), ("seed", 0)):
            value = getattr(self, key)
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**63:
                raise ScenarioError(f"{key}: `{value}` is not allowed; allowed: a whole number from {least}")
        if not self.metrics:
            raise ScenarioError("metrics: is empty; allowed: one or more")
        measured = set(self.metrics)
        for target in self.targets:
            if target.metric not in measured:
                raise ScenarioError(f"until: `{target.metric}` is not measured; allowed: {', '.join(self.metrics)}")
        self.measures  # noqa: B018 (a metric that is not known is said now)
        self.plan  # noqa: B018
        if self.compare is not None and self.compare not in self.plan.axes:
            raise ScenarioError(f"compare: `{self.compare}` is no axis; allowed: {', '.join(self.plan.axes) or 'none'}")
        if self.baseline is not None and self.baseline not in self.compared_labels:
            raise ScenarioError(f"baseline: `{self.baseline}` is not there; allowed: {', '.join(self.compared_labels)}")

    @classmethod
    def load(cls, path: str | Path, *, patch: Mapping[str, Any] | None = None, **changes: Any) -> Sweep:
        """Read a sweep from a TOML or JSON file. Files that it names lie beside it.

        Parameters
        ----------
        path : str or Path
            The file.
        patch : mapping, optional
            Dotted keys of the base scenario to set, after those of the file.
        **changes
            Other keys of the sweep, instead of the file's.

        Raises
        ------
        ScenarioError
            If it is not a valid sweep.
        OSError
            If it cannot be read.
        """
        file = Path(path)
        try:
            data = {"name": file.stem, **bases.read(file), **changes}
            if patch:
                data["set"] = {**data.get("set", {}), **patch}
            return cls.from_dict(data, folder=file.parent)
        except ScenarioError as error:
            raise type(error)(f"{file}: {error}") from None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], folder: str | Path | None = None) -> Sweep:
        """Make a sweep from a dictionary shaped like its file; files that it names lie in `folder`."""
        known = [entry.name for entry in dataclasses.fields(cls)]
        for key in data:
            if key not in (*known, "set"):
                near = difflib.get_close_matches(key, known, n=1)
                hint = f", did you mean `{near[0]}`?" if near else ";"
                raise ScenarioError(f"key `{key}` is not known{hint} allowed: {', '.join([*known, 'set'])}")
        fields = {key: value for key, value in data.items() if key != "set"}
        where = None if folder is None else Path(folder)
        for key, kind, words in _KINDS:
            if key in data and not isinstance(data[key], kind):
                raise ScenarioError(f"{key}: `{data[key]}` is not allowed; allowed: {words}")
        fields["base"] = patched(bases.base(data.get("base", {}), where), data.get("set", {}))
        fields["axes"] = _with_absolute_files(data.get("axes", {}), where)
        fields["zip"] = [_with_absolute_files(columns, where) for columns in data.get("zip", ())]
        return cls(**fields)

    def to_dict(self) -> dict[str, Any]:
        """Return the sweep as plain data, which `from_dict` reads back."""
        return {
            entry.name: value
            for entry in dataclasses.fields(self)
            if (value := getattr(self, entry.name)) is not None and value not in ([], {}, False)
        }

    @property
    def plan(self) -> Plan:
        """The plan of all its runs; with `until`, of as many as there may be."""
        return self._built[0]

    @functools.cached_property
    def _built(self) -> tuple[Plan, bases.Columns]:
        replicates = max(self.replicates, self.most) if self.until else self.replicates
        return bases.build(self, replicates, sys.maxsize if self.yes else MAX_RUNS)

    @functools.cached_property
    def measures(self) -> tuple[Measure, ...]:
        """What is measured."""
        return tuple(find(key) for key in self.metrics)

    @functools.cached_property
    def targets(self) -> tuple[targets.Target, ...]:
        """What `until` asks for."""
        return targets.read(self.until) if self.until else ()

    @property
    def measured_group(self) -> str | None:
        """The group of flows that metrics are of."""
        return self.group or (TEST_FLOWS if axis.ENVIRONMENT in self.axes else None)

    @property
    def compared(self) -> str | None:
        """The axis whose levels are compared; None without axes."""
        return self.compare or ("rule" if "rule" in self.plan.axes else next(iter(self.plan.axes), None))

    @property
    def compared_labels(self) -> list[str]:
        """Labels of the levels that are compared, the baseline first."""
        if self.compared is None:
            return []
        labels = [level.label for level in self.plan.axes[self.compared]]
        return sorted(labels, key=lambda label: label != self.baseline) if self.baseline in labels else labels

    def columns(self, labels: Mapping[str, str]) -> dict[str, str]:
        """Give the columns of a cell: axes that go together have one each."""
        found: dict[str, str] = {}
        for name, text in labels.items():
            found.update(self._built[1].get((name, text), {name: text}))
        return found

    def run(
        self,
        store: Store | str | Path | None = None,
        *,
        jobs: int | None = None,
        executor: Executor | None = None,
        on: str | Client | None = None,
        again: bool = False,
        progress: Callable[[dict[str, Any]], object] | None = None,
    ) -> Findings:
        """Do the runs that the store has not, and return what all of them gave.

        Parameters
        ----------
        store : Store, str or Path, optional
            Where finished runs are kept; without, they are lost when the program ends.
        jobs : int, optional
            Threads.
        executor : Executor, optional
            Where runs are done (`cwndlab.work`), by default threads of this process.
        on : str or distributed.Client, optional
            A cluster that does the runs: ``dask://HOST:PORT``, or a client of dask.distributed (docs/sweeps.md).
        again : bool
            Do every run, also those that the store has.
        progress : callable, optional
            Gets events as dictionaries (docs/sweeps.md lists them).

        Raises
        ------
        StoreError
            If the store cannot be read or written.
        ClusterError
            If the cluster cannot be reached, or its workers have another build of the engine.

        Returns
        -------
        Findings
        """
        from cwndlab.sweep.findings import Findings
        from cwndlab.sweep.running import execute

        return execute(self, Findings(self), store, jobs=jobs, executor=executor, on=on, again=again, progress=progress)


_KINDS: tuple[tuple[str, type | tuple[type, ...], str], ...] = (
    ("axes", dict, "a table of axes"),
    ("zip", (list, tuple), "a list of tables, [[zip]]"),
    ("assume", dict, "a table"),
    ("set", dict, "a table of dotted keys"),
    ("metrics", (list, tuple), "a list of names"),
)


def _with_absolute_files(columns: Mapping[str, Any], folder: Path | None) -> dict[str, Any]:
    """Make files that axes name absolute: recorded links, rules in Python. They lie beside the sweep's file."""
    if folder is None:
        return dict(columns)
    return {
        name: [bases.absolute(value, folder) for value in values]
        if name.rsplit(".", 1)[-1] in ("rule", "file") and isinstance(values, list)
        else values
        for name, values in columns.items()
    }
