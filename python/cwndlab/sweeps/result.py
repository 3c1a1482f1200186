"""The result of a sweep: values of every finished run, and tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from cwndlab import custom_rules, native
from cwndlab.documents import is_list
from cwndlab.errors import ScenarioError
from cwndlab.message import unknown
from cwndlab.outputs import stamped
from cwndlab.result_tables import ResultTables, plotting_over
from cwndlab.runs.until import LEAST
from cwndlab.statistics import Estimate
from cwndlab.sweeps.axes import label
from cwndlab.sweeps.by_group import GROUP, ByGroup
from cwndlab.sweeps.measures import Measure, find
from cwndlab.sweeps.traces import TRANSFERS
from cwndlab.sweeps.values import NOT_DONE, Values
from cwndlab.tables import by_cell

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from cwndlab.results import Result
    from cwndlab.sweeps.definition import Sweep


class SweepResult(ResultTables):
    """Measured values of a sweep's finished runs, by cell and replicate.

    Attributes
    ----------
    sweep : Sweep
        The sweep of the runs.
    failed : list of dict
        Runs that ended with an error: ``cell``, ``replicate``, ``error``.
    unmet : list of dict
        Cells that missed the target of `Sweep.until`: ``cell``, ``replicates``, ``wide`` (metrics
        whose intervals exceed it), ``without`` (metrics without any value).
    notes : list of str
        Notes: damage in the store, runs that could not be stored, duplicate cells.

    Examples
    --------
    >>> from cwndlab import dumbbell, sweep
    >>> drawn = {"access_delay": ["1ms", "9ms"]}
    >>> base = dumbbell("2Mbit", "10ms", flows="AIMD(1, 0.5)", duration="5s", link=drawn)
    >>> found = sweep(base, axes={"rule": ["AIMD(1, 0.5)", "AIAD(1, 3)"]}, replicates=2,
    ...               metrics=["loss_rate"])
    >>> found.summary.columns, found.differences()["baseline"].to_list()
    (['rule', 'metric', 'mean', 'ci95_low', 'ci95_high', 'replicates'], ['AIMD(1, 0.5)'])
    """

    def __init__(self, sweep: Sweep) -> None:
        self.sweep = sweep
        self.failed: list[dict[str, Any]] = []
        self.unmet: list[dict[str, Any]] = []
        self.notes: list[str] = []
        plan = sweep.plan
        self._flows: dict[tuple[int, int], Sequence[Mapping[str, Any]]] = {}
        self._traced: dict[tuple[int, int], Result] = {}
        self._values = Values(plan.count // plan.replicates, sweep.metrics, sweep.first_replicates)

    def __len__(self) -> int:
        """Count finished runs."""
        return self._values.done

    def put(
        self,
        cell: int,
        replicate: int,
        trace_hash: str,
        values: Mapping[str, float | None],
        flows: Sequence[Mapping[str, Any]],
        traced: Result | None = None,
    ) -> None:
        """Add a finished run, with the traces that figures read."""
        if traced is not None:
            self._traced[cell, replicate] = traced
        if columns := self.sweep.of_flows:
            kept = ("flow", "group", *columns)
            self._flows[cell, replicate] = [{key: flow[key] for key in kept} for flow in flows]
        self._values.put(cell, replicate, int(trace_hash, 16), values)

    def values(self, cell: int, metric: str) -> list[float | None]:
        """Values of a cell by replicate; None for missing values and runs."""
        return self._values.of(cell, metric)

    def count(self, cell: int) -> int:
        """Finished replicates of a cell."""
        return self._values.count(cell)

    @property
    def counts(self) -> np.ndarray:
        """Finished replicates of every cell."""
        return self._values.counts()

    @property
    def finished(self) -> np.ndarray:
        """Cells with a finished replicate, by their numbers in the plan."""
        return self.counts.nonzero()[0]

    @property
    def of_one_run(self) -> np.ndarray:
        """Cells whose replicates, two or more, are all the same run.

        They have one outcome and no interval.
        """
        return self._values.cells_of_one_run()

    def needed(self, cell: int, done: int | None = None) -> int | None:
        """Replicates that a cell needs for `Sweep.until`.

        None if it has enough, or more would not help.
        """
        if self.count(cell) >= LEAST and self._values.is_one_run(cell):
            return None
        needed = (
            target.needed(self.values(cell, target.metric), done, find(target.metric).bounds)
            for target in self.sweep.targets
        )
        return max((count for count in needed if count is not None), default=None)

    def labels(self, cell: int) -> dict[str, str]:
        """Return the axis columns of a cell."""
        return self.sweep.columns(self.sweep.plan.cell(cell).labels)

    @property
    def axes(self) -> list[str]:
        """Axis columns of every table."""
        return list(self.levels)

    @property
    def levels(self) -> dict[str, list[str]]:
        """The levels of every axis column."""
        return self.sweep.levels

    @property
    def views(self) -> Sequence[str]:
        """Axes of other views of the runs (`seen_over`)."""
        return (GROUP,)

    @property
    def measures(self) -> Sequence[Measure]:
        """The metrics."""
        return self.sweep.measures

    @property
    def title(self) -> str:
        """What figures call it."""
        return self.sweep.name

    @property
    def runs(self) -> pl.DataFrame:
        """One row per run: cell, ``replicate``, ``seed``, ``trace_hash`` and every metric."""
        cells, replicates = (self._values.hashes != NOT_DONE).T.nonzero()
        hashes = [f"{found:016x}" for found in self._values.hashes[replicates, cells].tolist()]
        metrics = {
            metric: self._values.numbers[replicates, at, cells]
            for metric, at in self._values.metrics.items()
        }
        seeds = self.sweep.plan.seed + replicates
        return self._frame(
            cells, {"replicate": replicates, "seed": seeds, "trace_hash": hashes, **metrics}
        )

    @property
    def flows(self) -> pl.DataFrame:
        """One row per flow of every run: cell, ``replicate``, ``flow``, ``group``, distributions.

        Examples
        --------
        >>> from cwndlab import dumbbell, sweep
        >>> base = dumbbell("2Mbit", "10ms", flows=["Reno", "CUBIC"], duration="5s")
        >>> found = sweep(base, axes={"dumbbell.delay": ["5ms"]}, replicates=1,
        ...               distributions="mean_rtt_s")
        >>> found.flows.columns
        ['dumbbell.delay', 'replicate', 'flow', 'group', 'mean_rtt_s']
        """
        rows = [
            (cell, replicate, flow) for (cell, replicate), flows in sorted(self._flows.items())
            for flow in flows
        ]  # fmt: skip
        columns: dict[str, Any] = {
            key: [flow[key] for _, _, flow in rows] for key in ("flow", "group")
        }
        for key in self.sweep.of_flows:
            found = (flow[key] for _, _, flow in rows)
            columns[key] = np.array([math.nan if one is None else one for one in found], float)
        replicates = np.array([replicate for _, replicate, _ in rows], np.int64)
        cells = np.array([cell for cell, _, _ in rows], np.int64)
        return self._frame(cells, {"replicate": replicates, **columns})

    @property
    def transfers(self) -> pl.DataFrame:
        """One row per finished transfer of every run: cell, ``replicate``, and its columns.

        A run has them if `Sweep.distributions` has one of their times.

        Examples
        --------
        >>> from cwndlab import dumbbell, sweep
        >>> short = {"name": "short", "rule": "CUBIC", "gap": "100ms", "size": 5}
        >>> base = dumbbell("2Mbit", "10ms", flows=[], arrivals=[short], duration="5s")
        >>> found = sweep(base, axes={"dumbbell.delay": ["5ms"]}, replicates=1,
        ...               distributions="fct_s")
        >>> found.transfers.columns[:5]
        ['dumbbell.delay', 'replicate', 'start_s', 'group', 'packets']
        """
        import polars as pl

        found = [
            self._frame(np.full(rows.height, cell), {"replicate": np.full(rows.height, replicate)})
            .hstack(rows.with_columns(pl.col("group").cast(pl.String)))
            for (cell, replicate), run in sorted(self._traced.items())
            for rows in (run.traces[TRANSFERS],)
        ]  # fmt: skip
        return pl.concat(found) if found else pl.DataFrame()

    def traced(self, axis: str | None) -> dict[str, list[Result]]:
        """Return the runs with their traces, by level of an axis; all together without one.

        `Sweep.over_time` says which traces they have.
        """
        found: dict[str, list[Result]] = {}
        for (cell, _), run in sorted(self._traced.items()):
            found.setdefault("" if axis is None else self.labels(cell)[axis], []).append(run)
        return found

    @property
    def distributions(self) -> dict[str, Measure]:
        """What has a distribution: over flows or transfers, and metrics over replicates."""
        of_runs = {measure.key: measure for measure in self.measures}
        return {**of_runs, **self.sweep.distributed}

    def each(self, name: str) -> pl.DataFrame:
        """Return the values of a distribution, ``value``, with axes and ``replicate``."""
        of_flows = self.flows if name in self.sweep.of_flows else self.transfers
        table = of_flows if name in self.sweep.distributed else self.runs
        return table.rename({name: "value"})

    @property
    def summary(self) -> pl.DataFrame:
        """One row per cell and metric.

        ``mean``, its 95 % confidence interval from ``ci95_low`` to ``ci95_high``
        (`cwndlab.statistics.estimate`), and ``replicates``.

        A cell whose replicates are all the same run has no interval.
        """
        return self.summary_of(self.finished)

    def summary_of(self, cells: np.ndarray) -> pl.DataFrame:
        """Return `summary` of some cells, by their numbers in the plan."""
        measures = self.sweep.measures
        metrics = [measure.key for measure in measures]
        found = [
            _without_interval(measure.estimate(self.values(cell, measure.key)), is_one)
            for cell in cells.tolist()
            for is_one in (self._values.is_one_run(cell),)
            for measure in measures
        ]
        return self._frame(
            cells.repeat(len(metrics)), {"metric": metrics * len(cells), **_columns(found)}
        )

    def differences(
        self, baseline: object = None, *, cells: np.ndarray | None = None
    ) -> pl.DataFrame:
        """Return the differences of the compared axis's levels from a baseline, by cell and metric.

        Runs of the same replicate are compared, in otherwise equal cells: they share their random
        numbers. If the compared axis is zipped, levels differ in all of its axes.

        Parameters
        ----------
        baseline : rule or other level, optional
            The level to compare with, by default `Sweep.baseline`, or the first.
        cells : ndarray, optional
            The cells, by their numbers in the plan; by default all with a run.

        Returns
        -------
        polars.DataFrame
            Columns of `summary`, and ``baseline``: ``mean`` of the differences, ``ci95_low`` and
            ``ci95_high``, ``replicates``, the number of pairs.

        Raises
        ------
        ScenarioError
            If the baseline is none of the levels.

        Examples
        --------
        >>> from cwndlab import dumbbell, sweep
        >>> base = dumbbell("2Mbit", "10ms", flows="CUBIC", duration="5s")
        >>> found = sweep(base, axes={"rule": ["CUBIC", "BBR1"]}, replicates=2, metrics="goodput")
        >>> found.differences(baseline="BBR1").select("rule", "baseline").rows()
        [('CUBIC', 'BBR1')]
        """
        first = self._baseline(baseline)
        measures = self.sweep.measures
        compared = self.pairs(self.finished if cells is None else cells, first)
        metrics = [measure.key for measure in measures]
        found: list[Estimate] = []
        for cell, other in compared:
            is_one = self._values.is_one_run(cell, other)
            for measure in measures:
                key = measure.key
                between = measure.difference(self.values(cell, key), self.values(other, key))
                found.append(_without_interval(between, is_one))
        names = {
            "baseline": [first] * len(found),
            "metric": metrics * len(compared),
        }
        rows = np.array([cell for cell, _ in compared], dtype=np.int64).repeat(len(metrics))
        return self._frame(rows, {**names, **_columns(found)})

    def _baseline(self, asked: object) -> str | None:
        """Return the level that was asked for, by default the first; None if none is compared."""
        labels = self.sweep.compared_labels
        if asked is None or not labels:
            return next(iter(labels), None)
        named = native.rule(cast("Any", asked)) if self.sweep.compared == "rule" else label(asked)
        shown = custom_rules.shown(named)
        if shown not in labels:
            raise ScenarioError(unknown("baseline", shown, labels))
        return shown

    def pairs(self, cells: np.ndarray, baseline: str | None = None) -> list[tuple[int, int]]:
        """Pair each cell with the baseline's cell that is otherwise equal, if both have runs."""
        axis = self.sweep.compared
        if axis is None:
            return []
        labels = [level.label for level in self.sweep.plan.axes[axis]]
        first = baseline or self.sweep.compared_labels[0]
        place, stride = labels.index(first), self.sweep.plan.stride(axis)
        others = cells + (place - cells // stride % len(labels)) * stride
        is_pair = (others != cells) & (self.counts[others] > 0)
        return list(zip(cells[is_pair].tolist(), others[is_pair].tolist(), strict=True))

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """``summary``, ``differences`` and ``runs`` by name."""
        return {"summary": self.summary, "differences": self.differences(), "runs": self.runs}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        tables = {name: table.to_dicts() for name, table in self.tables.items()}
        found = {
            "build": native.build(),
            "sweep": self.sweep.to_dict(),
            "complete": not self.failed,
            "failed": self.failed,
            "unmet": self.unmet,
            "notes": self.notes,
            **tables,
        }
        return stamped("sweep", found)

    def table(self) -> pl.DataFrame:
        """One row per cell, a column per metric: mean ± 95 % CI in the units of the terminal."""
        return by_cell(self.summary, self.axes, "metric", self.sweep.measures)

    @plotting_over
    def plot(
        self,
        *,
        x: str | None = None,
        hue: str | None = None,
        panel: str | None = None,
        y: str | Sequence[str] = (),
        heat: str | None = None,
        cdf: str | None = None,
        bands: str | Sequence[str] = (),
        curves: Mapping[str, str] | None = None,
        log: str | Sequence[str] = (),
        **figure: Any,
    ) -> Figure:
        """Plot means with their 95 % confidence intervals (matplotlib).

        Parameters
        ----------
        x : str, optional
            What is on x: an axis of the sweep, or a metric; without it, the figure chooses, and
            draws every metric.
        hue, panel : str, optional
            With `x`: the axes whose levels have a line and a panel each. ``"group"`` is the axis
            of the groups of flows.
        y : str or sequence of str
            With `x`: metrics, a row of panels each; by default the first. For groups they are
            columns of flows, such as ``"share"``, of which the sweep has ``group.COLUMN``.
        heat : str, optional
            A metric, as the colour of cells over the axes `x` and `y`.
        cdf : str, optional
            A metric, whose distribution over replicates is drawn instead; or one of
            `Sweep.distributions`, over the flows, or the transfers, of all replicates.
        bands : {"cwnd", "rate", "queue"} or sequence of them
            Traces of `Sweep.over_time`, over time: the median of the replicates and their
            quartiles, with a line for each level of `hue`, or for each group of flows.
        curves : mapping of str to str, optional
            With `x`: formulas of x by name, in the units of the figure, such as ``1.22/sqrt(x)``.
        log : {"x", "y"} or sequence of them
            With `x`: what is logarithmic.
        **figure
            `width`, `height`, `style`, `labels`, `order`, `title` as of
            `cwndlab.plots.FigureStyle.of`.

        Raises
        ------
        FigureStyleError
            For an axis or a metric that the sweep does not have.

        Examples
        --------
        >>> from cwndlab import dumbbell, sweep
        >>> three = dumbbell("4Mbit", "10ms", flows=["Reno", "CUBIC", "BBR1"], duration="5s")
        >>> limits = {"dumbbell.queue.limit": ["5pkt", "20pkt", "80pkt"]}
        >>> found = sweep(three, axes=limits, replicates=2, metrics="group.share")
        >>> figure = found.plot(x="dumbbell.queue.limit", hue="group")
        >>> [text.get_text() for text in figure.axes[0].texts]
        ['equal share', 'NewReno', 'CUBIC', 'BBR1']
        """
        from cwndlab.plots import FigureStyle, sweep_points
        from cwndlab.plots.over import Over

        style = FigureStyle.of(**figure)
        over = Over.of(x, hue, panel, y, heat, cdf, bands, curves, log)
        if over is None:
            return style.draw(sweep_points, self)
        return style.draw(over.draw, self.seen_over(over.places))

    def seen_over(self, axes: Sequence[str]) -> SweepResult | ByGroup:
        """Return what a figure over these axes reads: with ``group``, the values of each group."""
        return ByGroup(self) if GROUP in axes and GROUP not in self.levels else self

    def extremes(self) -> dict[str, dict[str, Any]] | None:
        """Return the cells with the best and the worst mean of the first metric so far.

        If neither direction is better: ``largest`` and ``smallest``.
        """
        measure = self.sweep.measures[0]
        means = self._values.means(measure.key)
        if np.isnan(means).all():
            return None
        low, high = int(np.nanargmin(means)), int(np.nanargmax(means))
        names = ("largest", "smallest") if measure.more_is_better is None else ("best", "worst")
        ends = (low, high) if measure.more_is_better is False else (high, low)
        return {
            name: {"cell": self.labels(cell), "metric": measure.key, "mean": float(means[cell])}
            for name, cell in zip(names, ends, strict=True)
        }

    def _frame(self, cells: np.ndarray, columns: Mapping[str, Any]) -> pl.DataFrame:
        """Make a table: one row per cell of `cells`, with its axis labels and more columns."""
        import polars as pl

        plan = self.sweep.plan
        found: list[pl.Series] = []
        for axis, levels in plan.axes.items():
            at = pl.Series(cells // plan.stride(axis) % len(levels), dtype=pl.UInt32)
            parts = [self.sweep.columns({axis: level.label}) for level in levels]
            for name in parts[0]:
                found.append(
                    pl.Series(name, [part[name] for part in parts], dtype=pl.String).gather(at)
                )
        for name, values in columns.items():
            dtype = (
                pl.String if is_list(values)
                else pl.Int64 if values.dtype.kind == "i"
                else pl.Float64
            )  # fmt: skip
            found.append(pl.Series(name, values, dtype=dtype))
        return pl.DataFrame(found).fill_nan(None)


def _without_interval(found: Estimate, is_one_run: bool) -> Estimate:
    """Remove the interval if all replicates are the same run.

    Their agreement says nothing about other seeds.
    """
    return found._replace(low=None, high=None) if is_one_run else found


def _columns(found: list[Estimate]) -> dict[str, np.ndarray]:
    """Make columns of estimates; NaN means None."""

    def column(values: Any, dtype: Any = np.float64) -> np.ndarray:
        return np.fromiter(
            (math.nan if value is None else value for value in values), dtype, len(found)
        )

    return {
        "mean": column(entry.mean for entry in found),
        "ci95_low": column(entry.low for entry in found),
        "ci95_high": column(entry.high for entry in found),
        "replicates": column((entry.count for entry in found), np.int64),
    }
