"""A sweep: many runs as one object, the same in a file and in Python."""

from __future__ import annotations

import dataclasses
import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab import custom_rules
from cwndlab.arguments import keywords
from cwndlab.document_kinds import other_kind
from cwndlab.documents import is_mapping
from cwndlab.errors import ScenarioError
from cwndlab.message import plural, same_name, unknown
from cwndlab.metrics import BY_KEY
from cwndlab.runs import until as targets
from cwndlab.runs.plan import MAX_RUNS, Plan
from cwndlab.scenario import Scenario
from cwndlab.sweeps import axes as axis
from cwndlab.sweeps import base as bases
from cwndlab.sweeps import ranges
from cwndlab.sweeps.checks import (
    check_arrivals,
    check_compared,
    check_kinds,
    check_names,
    check_targets,
)
from cwndlab.sweeps.measures import (
    EACH_GROUP,
    TRANSFER_TIMES,
    Measure,
    find,
    flow_column,
    flow_columns,
    of_each_group,
    transfer_time,
)
from cwndlab.sweeps.overlaps import refuse_settings
from cwndlab.sweeps.traces import DRAWN, TRANSFERS

if TYPE_CHECKING:
    from distributed import Client

    from cwndlab.runs.executors import Executor
    from cwndlab.runs.store import Store
    from cwndlab.sweeps.result import SweepResult

METRICS = ("goodput", "loss_rate", "mean_queueing_delay_s", "jain_index")
REPLICATES = 5
TEST_FLOWS = "flow"
"""Flows under test in every environment."""
ENDPOINT_KEYS = ("profile", "recovery", "rack")
"""Last parts of the keys that `Sweep.endpoints` names."""


@keywords()
@dataclass(frozen=True, kw_only=True, repr=False)
class Sweep:
    """A base scenario, axes, replicates, and metrics.

    Replicate i has the seed ``seed + i`` in every cell, so that cells share their random numbers.

    Parameters
    ----------
    name : str
        Name of the sweep in a store.
    base : mapping
        The scenario that all runs share, as a dictionary; without a network if there is an axis
        ``env``.
    axes : mapping
        Name to list of values, or to a table of label = table of dotted keys. The cells are their
        product. Names are dotted keys of the scenario, or ``rule``, ``recovery``, ``queue``,
        ``env``.
    zip : sequence of mapping
        Zipped axes: the first values of all, the second, and so on.
    replicates : int
        Runs per cell; with `until` those before the first check, 5 or more.
    seed : int, optional
        Seed of replicate 0; by default the base scenario's, or 1.
    metrics : sequence of str
        Metrics (docs/sweeps.md lists them); the first one is the primary metric. ``"group.share"``,
        or another column of flows, is one metric for each group of flows.
    distributions : sequence of str
        Columns of flows whose values are kept for every flow (`SweepResult.flows`), and ``fct_s``
        or ``received_fct_s`` of every finished transfer (`SweepResult.transfers`).
    over_time : sequence of str
        Traces that figures over time read, of every run: ``cwnd``, ``rate``, ``queue``.
    link, group : str
        The link and the group of flows to measure; by default ``bottleneck`` and all flows.
    compare, baseline : str, optional
        The compared axis, and its baseline level; by default ``rule``, or the first axis, and its
        first level.
    until : str, optional
        Target precision, such as ``"ci(goodput) < 1%"``: add replicates until every cell meets it.
    most : int
        Largest number of replicates with `until`.
    traces : bool
        Whether to keep the traces of the base scenario; by default runs record none.
    count_arrivals : str, optional
        Replace the trace ``packets`` by the trace ``link_arrivals``: the number of packets that
        arrive at a dumbbell's bottleneck in bins of this length.
    assume, duration : mapping, str
        With ``env``: assumptions of the environments, and duration of a run.
    yes : bool
        Allow more than ten million runs.

    Raises
    ------
    ScenarioError
        If an axis is empty or names no key, a scenario is not valid, or there are too many runs.

    Examples
    --------
    >>> from cwndlab import dumbbell
    >>> base = dumbbell("2Mbit", "10ms", flows="AIMD(1, 0.5)", duration="5s")
    >>> sweep = Sweep(name="limits", base=base.to_dict(), replicates=2,
    ...               axes={"rule": ["AIMD(1, 0.5)", "AIAD(1, 3)"],
    ...                     "dumbbell.queue.limit": ["5pkt", "20pkt"]})
    >>> found = sweep.run()
    >>> found.runs.height, found.summary.columns
    (8, ['rule', 'dumbbell.queue.limit', 'metric', 'mean', 'ci95_low', 'ci95_high', 'replicates'])
    """

    name: str = "sweep"
    base: Mapping[str, Any] = field(default_factory=dict[str, Any])
    axes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    zip: Sequence[Mapping[str, Any]] = ()
    replicates: int = REPLICATES
    seed: int | None = None
    metrics: Sequence[str] = METRICS
    distributions: Sequence[str] = ()
    over_time: Sequence[str] = ()
    link: str = "bottleneck"
    group: str | None = None
    compare: str | None = None
    baseline: str | None = None
    until: str | None = None
    most: int = targets.MOST
    traces: bool = False
    count_arrivals: str | float | None = None
    assume: Mapping[str, Any] = field(default_factory=dict[str, Any])
    duration: str | float | None = None
    yes: bool = False

    def __post_init__(self) -> None:
        base: Any = self.base
        if isinstance(base, Scenario):
            object.__setattr__(self, "base", base.to_dict())
        columns: Any = self.zip
        if is_mapping(columns):
            object.__setattr__(self, "zip", [columns])
        for key in ("metrics", "distributions", "over_time"):
            if isinstance(text := getattr(self, key), str):
                object.__setattr__(self, key, [name.strip() for name in text.split(",")])
        check_kinds(vars(self))
        if self.seed is None:
            object.__setattr__(self, "seed", self.base.get("seed", 1))
            check_kinds({"seed": self.seed})
        # Sequences become lists, as in files, so that sweeps compare equal and survive JSON.
        for key in ("metrics", "distributions", "over_time", "zip"):
            object.__setattr__(self, key, list(getattr(self, key)))
        object.__setattr__(self, "axes", ranges.expanded(self.axes))
        object.__setattr__(self, "zip", [ranges.expanded(columns) for columns in self.zip])
        object.__setattr__(self, "metrics", [same_name(name, BY_KEY) for name in self.metrics])
        object.__setattr__(self, "metrics", list(self._of_each_group(self.metrics, "metrics")))
        check_names(self)
        self.distributed  # noqa: B018
        self.measures  # noqa: B018 (a metric that is not known is said now)
        check_targets(self)
        self.plan  # noqa: B018
        check_arrivals(self)
        check_compared(self)

    @classmethod
    def load(
        cls, path: str | Path, *, patch: Mapping[str, Any] | None = None, **changes: Any
    ) -> Sweep:
        """Read a sweep from a TOML or JSON file; its paths are relative to the file's directory.

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
            data: dict[str, Any] = {"name": file.stem, **bases.read(file), **changes}
            if patch:
                data["set"] = {**data.get("set", {}), **patch}
            with custom_rules.data_beside(file.parent):
                return cls.from_dict(data, folder=file.parent)
        except ScenarioError as error:
            raise type(error)(f"{file}: {error}") from None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], folder: str | Path | None = None) -> Sweep:
        """Make a sweep from a dictionary shaped like its file.

        Its paths are relative to `folder`.
        """
        known = [entry.name for entry in dataclasses.fields(cls)]
        if other := other_kind(data, "sweep"):
            raise ScenarioError(f"it {other}")
        for key in data:
            if key not in (*known, "set"):
                raise ScenarioError(unknown("key", key, [*known, "set"]))
        fields = {key: value for key, value in data.items() if key != "set"}
        where = None if folder is None else Path(folder)
        if data.get("seed") is not None and "seed" in data.get("set", {}):
            raise ScenarioError(
                "`seed` and `set.seed` must not both be given: use `seed`, or `--seed N`"
            )
        check_kinds({key: value for key, value in data.items() if key != "base"})
        fields["base"] = bases.base(
            data.get("base", {}), where, data.get("set", {}), over=data.get("axes", {})
        )
        fields["axes"] = bases.with_absolute_files(data.get("axes", {}), where)
        fields["zip"] = [
            bases.with_absolute_files(columns, where) for columns in data.get("zip", ())
        ]
        made = cls(**fields)
        refuse_settings(data.get("set", {}), made._built.keys, made.plan.base.to_dict())
        return made

    def to_dict(self) -> dict[str, Any]:
        """Return the sweep as plain data, which `from_dict` reads back."""
        return {
            entry.name: value
            for entry in dataclasses.fields(self)
            if (value := getattr(self, entry.name)) is not None
            and value is not False
            and value not in ([], {})
        }

    def __repr__(self) -> str:
        axes = " x ".join(self.plan.axes) or "no axes"
        return f"<Sweep {self.name}: {axes}, {plural(self.plan.count, 'run')}>"

    @property
    def plan(self) -> Plan:
        """The plan of all its runs; with `until`, of as many as there may be."""
        return self._built.plan

    @functools.cached_property
    def _built(self) -> bases.Built:
        return bases.build(
            self,
            self.most if self.until else self.replicates,
            sys.maxsize if self.yes else MAX_RUNS,
        )

    @property
    def first_replicates(self) -> int:
        """Replicates of every cell before the first check.

        Without `until`, all replicates.
        """
        return max(self.replicates, targets.LEAST) if self.until else self.replicates

    @functools.cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The metrics."""
        return tuple(find(key) for key in self.metrics)

    @functools.cached_property
    def distributed(self) -> dict[str, Measure]:
        """The columns of `distributions`, by name."""
        for name in self.distributions:
            if name not in (known := [*flow_columns(), *TRANSFER_TIMES]):
                raise ScenarioError(unknown("distributions", name, known))
        for name in self.over_time:
            if name not in DRAWN:
                raise ScenarioError(unknown("over_time", name, DRAWN))
        return {
            name: transfer_time(name) if name in TRANSFER_TIMES else flow_column(name)
            for name in self.distributions
        }

    @property
    def of_flows(self) -> list[str]:
        """Those of `distributions` that are columns of flows."""
        return [name for name in self.distributions if name not in TRANSFER_TIMES]

    @property
    def traced(self) -> list[str]:
        """Traces that figures read of every run."""
        has_transfers = len(self.of_flows) < len(self.distributions)
        return [*self.over_time, *[TRANSFERS] * has_transfers]

    def _of_each_group(self, metrics: Sequence[str], key: str) -> Sequence[str]:
        if not any(name.startswith(EACH_GROUP) for name in metrics):
            # The base, which may have errors of its own, is not needed.
            return metrics
        return of_each_group(metrics, self.groups, key)

    @property
    def recorded(self) -> list[Measure]:
        """Metrics and columns that the runs have to record."""
        return [*self.measures, *self.distributed.values()]

    @functools.cached_property
    def targets(self) -> tuple[targets.Target, ...]:
        """The targets of `until`; one for each group where it names ``group.COLUMN``."""
        return tuple(
            dataclasses.replace(target, metric=metric)
            for target in (targets.read(self.until) if self.until else ())
            for metric in self._of_each_group([target.metric], "until")
        )

    @property
    def measured_group(self) -> str | None:
        """The group of flows to measure."""
        return self.group or (TEST_FLOWS if axis.ENVIRONMENT in self.axes else None)

    @functools.cached_property
    def groups(self) -> dict[str, Mapping[str, Any]]:
        """Groups of flows of the base scenario, in its canonical form, by name."""
        if axis.ENVIRONMENT in self.axes:
            return {TEST_FLOWS: {"name": TEST_FLOWS, "rule": "", "count": 1}}
        return {
            str(group["name"]): group for group in Scenario(self.base).canonical().get("flows", [])
        }

    @functools.cached_property
    def arrivals(self) -> list[Mapping[str, Any]]:
        """Groups of arriving flows of the base scenario, if figures read their transfers."""
        if TRANSFERS not in self.traced or axis.ENVIRONMENT in self.axes:
            return []
        return Scenario(self.base).canonical().get("arrivals", [])

    def varies(self, name: str) -> bool:
        """Whether an axis sets a key of this last part, such as ``rule``."""
        return any(
            key.rpartition(".")[2] in (name, "flows")
            for keys in self._built.keys.values()
            for key in keys
        )

    @property
    def levels(self) -> dict[str, list[str]]:
        """The levels of every axis column, each once."""
        found: dict[str, dict[str, None]] = {}
        for name, axis_levels in self.plan.axes.items():
            for level in axis_levels:
                for column, text in self.columns({name: level.label}).items():
                    found.setdefault(column, {})[text] = None
        return {column: list(texts) for column, texts in found.items()}

    @property
    def endpoints(self) -> str:
        """Profile and loss recovery of the TCP endpoints, as they run; all where cells differ."""
        plan, cells = self.plan, [0]
        for name, levels in plan.axes.items():
            cells += [
                at * plan.stride(name)
                for at, level in enumerate(levels)
                if any(key.rpartition(".")[2] in ENDPOINT_KEYS for key in level.patch)
            ]
        found = [Scenario(plan.cell(cell).document()) for cell in cells]
        profiles = list(dict.fromkeys(one.canonical()["profile"] for one in found))
        recoveries = list(dict.fromkeys(name for one in found for name in one.recoveries))
        return ", ".join([f"profile{'s' * (len(profiles) > 1)} {', '.join(profiles)}", *recoveries])

    @property
    def compared(self) -> str | None:
        """The axis whose levels are compared; None without axes.

        Zipped axes are compared together.
        """
        wanted, axes = self.compare or "rule", self.plan.axes
        return next(
            (name for name in axes if wanted in (name, *self.parts(name))), next(iter(axes), None)
        )

    @property
    def compared_labels(self) -> list[str]:
        """Labels of the compared levels, the baseline first."""
        if self.compared is None:
            return []
        labels = [level.label for level in self.plan.axes[self.compared]]
        return (
            sorted(labels, key=lambda label: label != self.baseline)
            if self.baseline in labels
            else labels
        )

    def columns(self, labels: Mapping[str, str]) -> dict[str, str]:
        """Return the columns of a cell; zipped axes have one each."""
        found: dict[str, str] = {}
        for name, text in labels.items():
            found.update(self._built.columns.get((name, text), {name: text}))
        return found

    def cell_of(self, columns: Mapping[str, str]) -> int | None:
        """Return the number in the plan of the cell with these columns; None if there is none."""
        cell, rest = 0, dict(columns)
        for name, places in self._places.items():
            at = places.get(tuple(rest.pop(part, None) for part in self.parts(name)))
            if at is None:
                return None
            cell += at * self.plan.stride(name)
        return None if rest else cell

    @functools.cached_property
    def _places(self) -> dict[str, dict[tuple[str | None, ...], int]]:
        """Axis to the columns of its levels to their places."""
        return {
            name: {
                tuple(self.columns({name: level.label}).values()): at
                for at, level in enumerate(levels)
            }
            for name, levels in self.plan.axes.items()
        }

    def parts(self, name: str) -> list[str]:
        """Return the columns of an axis of the plan; zipped axes have several."""
        return list(self.columns({name: self.plan.axes[name][0].label}))

    def run(
        self,
        store: Store | str | Path | None = None,
        *,
        jobs: int | None = None,
        executor: Executor | None = None,
        on: str | Client | None = None,
        again: bool = False,
        progress: Callable[[dict[str, Any]], object] | None = None,
    ) -> SweepResult:
        """Do the runs that the store lacks, and return the results of all runs.

        Parameters
        ----------
        store : Store, str or Path, optional
            Store of finished runs; without one, they are lost when the program ends.
        jobs : int, optional
            Threads.
        executor : Executor, optional
            Executor of the runs (`cwndlab.runs.executors`), by default threads of this process.
        on : str or distributed.Client, optional
            A cluster for the runs: ``dask://HOST:PORT``, or a client of dask.distributed
            (docs/sweeps.md).
        again : bool
            Whether to repeat every run, even those in the store.
        progress : callable, optional
            Called with events as dictionaries (docs/sweeps.md lists them).

        Raises
        ------
        StoreError
            If the store cannot be read or written.
        ClusterError
            If the cluster cannot be reached, or its workers have another build of the engine.

        Returns
        -------
        SweepResult
        """
        from cwndlab.sweeps.result import SweepResult
        from cwndlab.sweeps.running import execute

        return execute(
            self,
            SweepResult(self),
            store,
            jobs=jobs,
            executor=executor,
            on=on,
            again=again,
            progress=progress,
        )
