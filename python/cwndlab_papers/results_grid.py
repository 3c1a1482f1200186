"""Results of a plan in arrays, by setting, environment, rule and replicate.

Claims and plots of papers use them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cwndlab import ScenarioError
from cwndlab.metrics import BY_KEY
from cwndlab.plugins import unknown
from cwndlab.statistics import UNBOUNDED, Bounds, Estimate, bootstrap, resampled

if TYPE_CHECKING:
    import polars as pl

    from cwndlab.sweeps import SweepResult

CASES = ("env", "case")
"""Axes of the network: environments, or a plan's own cases."""
RULE = "rule"
Objects: TypeAlias = "NDArray[np.object_]"
Drawn: TypeAlias = tuple[int, ...]
"""Replicates that were drawn, in order; one may be there more than once."""
MEASURED = "_measured"
"""Suffix of the measured value of a metric that another one bounds."""


@dataclass(frozen=True)
class Means:
    """Means over replicates.

    Attributes
    ----------
    settings, cases, rules : tuple of str
        Labels of the axes: ``recovery/queue``, environment, rule.
    values : mapping of str to ndarray, shape (settings, cases, rules)
        By metric; NaN where a run has no value.
    """

    settings: tuple[str, ...]
    cases: tuple[str, ...]
    rules: tuple[str, ...]
    values: Mapping[str, np.ndarray]

    def only(self, cases: Sequence[str]) -> Means:
        """Return the means of some cases."""
        chosen = [_place("case", self.cases, case) for case in cases]
        return Means(
            self.settings,
            tuple(cases),
            self.rules,
            {key: table[:, chosen] for key, table in self.values.items()},
        )

    def value(self, metric: str, setting: str, rule: str) -> np.ndarray:
        """Value in each case, shape (cases,), in the metric's unit."""
        if metric not in self.values:
            raise ScenarioError(unknown("metric", metric, self.values))
        place = (
            _place("setting", self.settings, setting),
            slice(None),
            _place("rule", self.rules, rule),
        )
        return self.values[metric][place]

    def merit(self, metric: str, setting: str, rule: str) -> np.ndarray:
        """Return `value`, signed so that more is better."""
        return (1.0 if BY_KEY[metric.removesuffix(MEASURED)].more_is_better else -1.0) * self.value(
            metric, setting, rule
        )

    def distances(self, metric: str, setting: str, rule: str, among: Sequence[str]) -> np.ndarray:
        """Distance from the best rule of `among` in each case, shape (cases,).

        It is d of Akella et al. (2002), section 3.
        """
        best = np.max([self.merit(metric, setting, other) for other in among], axis=0)
        return best - self.merit(metric, setting, rule)


@dataclass(frozen=True)
class ResultsGrid:
    """Values of every run of a plan; as `Means`, with replicates as the last axis of `values`.

    Attributes
    ----------
    series : mapping of str to ndarray of object, shape (settings, cases, rules, replicates)
        Arrays of a paper's own measures of single runs, by name, for plots.
    """

    settings: tuple[str, ...]
    cases: tuple[str, ...]
    rules: tuple[str, ...]
    values: Mapping[str, np.ndarray]
    series: Mapping[str, Objects] = field(default_factory=dict[str, Objects])

    @property
    def replicates(self) -> int:
        """Number of replicates."""
        return next(iter(self.values.values())).shape[-1]

    @classmethod
    def of(
        cls,
        findings: SweepResult,
        *,
        queue: str = "",
        scale: Mapping[str, float] | None = None,
        bounded: Mapping[str, str] | None = None,
        own: Sequence[Mapping[str, Any]] = (),
    ) -> ResultsGrid:
        """Make a grid from the result of a sweep.

        Parameters
        ----------
        findings : SweepResult
            Result of a sweep with an axis ``rule``, and ``env`` or ``case``; the other axes, joined
            by a slash, are the settings.
        queue : str
            The queue, if there is no such axis.
        scale : mapping, optional
            Metric to a factor on its values.
        bounded : mapping, optional
            Metric to its upper bound: of each run the smaller value counts, and the measured one is
            kept as ``METRIC_measured``.
        own : sequence of mapping, optional
            The paper's own measures of each run, one mapping per row of ``findings.runs``: numbers
            and arrays.
        """
        runs = findings.runs
        others = [runs[axis] for axis in findings.axes if axis not in (*CASES, RULE)]
        columns = [
            _joined(others, queue, runs),
            next((runs[axis] for axis in CASES if axis in runs.columns), _joined([], "", runs)),
            runs[RULE] if RULE in runs.columns else _joined([], "", runs),
        ]
        labels = [tuple(column.unique(maintain_order=True)) for column in columns]
        place = tuple(
            [{label: at for at, label in enumerate(known)}[text] for text in column]
            for known, column in zip(labels, columns, strict=True)
        )
        place = (*place, runs["replicate"].to_list())
        shape = (*map(len, labels), findings.sweep.replicates)
        values: dict[str, np.ndarray] = {}
        series: dict[str, Objects] = {}
        for metric in findings.sweep.metrics:
            values[metric] = np.full(shape, np.nan)
            values[metric][place] = runs[metric].fill_null(np.nan).to_numpy() * (scale or {}).get(
                metric, 1.0
            )
        for found, *at in zip(own, *place, strict=False):
            for name, value in found.items():
                if isinstance(value, np.ndarray):
                    series.setdefault(name, np.full(shape, None, dtype=object))[tuple(at)] = value
                else:
                    values.setdefault(name, np.full(shape, np.nan))[tuple(at)] = value
        for metric, other in (bounded or {}).items():
            if metric in values and other in values:
                values[f"{metric}{MEASURED}"] = values[metric]
                values[metric] = np.fmin(values[metric], values[other])
        return cls(labels[0], labels[1], labels[2], values, series)

    def without(self, case: str) -> ResultsGrid:
        """Return the values of all cases but one."""
        kept = [at for at, known in enumerate(self.cases) if known != case]
        values, series = (
            {name: table[:, kept] for name, table in tables.items()}
            for tables in (self.values, self.series)
        )
        return ResultsGrid(
            self.settings, tuple(self.cases[at] for at in kept), self.rules, values, series
        )

    def means(self, replicates: Sequence[int]) -> Means:
        """Average over some replicates.

        A missing value makes the mean missing.
        """
        return Means(
            self.settings, self.cases, self.rules, _Averages(self.values, list(replicates))
        )


class Data:
    """The grids of a paper's plans, over some of their replicates.

    Parameters
    ----------
    boards : mapping of str to ResultsGrid
        Grids by the names of plans.
    rules : mapping of str to str
        Short names of rules, as claims have them (``AIMD``), to their notation.
    replicates : sequence of int, optional
        Which ones; by default all that every plan has.
    """

    def __init__(
        self,
        boards: Mapping[str, ResultsGrid],
        rules: Mapping[str, str],
        replicates: Sequence[int] | None = None,
    ) -> None:
        self.boards: Mapping[str, ResultsGrid] = boards
        self.rules: Mapping[str, str] = rules
        self.replicates: Sequence[int] | None = replicates
        self.means: Callable[[str], Means] = functools.cache(self._means)
        self.draws: Callable[[int], tuple[list[Drawn], dict[Drawn, Data]]] = functools.cache(
            self._draws
        )

    def without(self, case: str) -> Data:
        """Return the data without one environment or other case, which a plan must have."""
        known = [name for board in self.boards.values() for name in board.cases]
        _place("without", list(dict.fromkeys(known)), case)
        return Data(
            {name: board.without(case) for name, board in self.boards.items()},
            self.rules,
            self.replicates,
        )

    def rule(self, name: str) -> str:
        """Notation of a rule with a short name; other texts are returned unchanged."""
        return self.rules.get(name, name)

    def _means(self, plan: str) -> Means:
        board = self.boards[plan]
        return board.means(range(board.replicates) if self.replicates is None else self.replicates)

    def estimate(
        self,
        quantity: Callable[[Data], float | Bounds],
        plans: Sequence[str],
        bounds: Bounds = UNBOUNDED,
    ) -> Estimate:
        """Value and 95 % confidence interval of a quantity of these plans.

        Replicate i has the same random numbers in all plans, so the bootstrap draws it in all of
        them at once. A quantity may be censored, such as a crossing beyond the last case: it is
        then the ends between which it lies, and so is its interval.

        Parameters
        ----------
        quantity : callable
            Function from the data to the number, or to the ends between which it lies.
        plans : sequence of str
            The plans.
        bounds : (float, float)
            Least and largest possible value.
        """
        count = min((self.boards[plan].replicates for plan in plans), default=1)
        whole = quantity(self.of(range(count)))
        drawn, known = self.draws(count) if count > 1 else ([], {})
        values = {chosen: quantity(data) for chosen, data in known.items()}
        again = [values[chosen] for chosen in drawn]
        if isinstance(whole, tuple):
            return _censored(whole, again, count)
        numbers = [value for value in again if not isinstance(value, tuple)]
        return bootstrap(whole, numbers, count, bounds=bounds)

    def of(self, replicates: Sequence[int]) -> Data:
        """Return the data of some replicates; a replicate may be drawn more than once."""
        return Data(self.boards, self.rules, tuple(replicates))

    def _draws(self, count: int) -> Draws:
        """Return the resamples, and the data of those that differ; claims share them."""
        drawn = [tuple(sorted(chosen)) for chosen in resampled(count).tolist()]
        return drawn, {chosen: self.of(chosen) for chosen in dict.fromkeys(drawn)}


class _Averages(Mapping[str, np.ndarray]):
    """Means over some replicates by metric, computed when one is asked for."""

    def __init__(self, values: Mapping[str, np.ndarray], replicates: list[int]) -> None:
        self._values, self._replicates = values, replicates
        self._found: dict[str, np.ndarray] = {}

    def __getitem__(self, metric: str) -> np.ndarray:
        if metric not in self._found:
            self._found[metric] = _mean(self._values[metric][..., self._replicates])
        return self._found[metric]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def _censored(whole: Bounds, again: Sequence[float | Bounds], count: int) -> Estimate:
    """Return the range of the central 95 % of the resamples' ends, of any method the widest."""
    if math.isnan(whole[0]) or count < 2:
        return Estimate(None, None, None, count)
    ends = np.sort(np.array([whole, *again]), axis=0)
    tail = int(0.025 * len(ends))
    low, high = float(ends[tail, 0]), float(ends[-1 - tail, 1])
    known = [end for end in whole if math.isfinite(end)]
    return Estimate(known[0] if known else None, low, high, count)


Draws: TypeAlias = tuple[list[Drawn], dict[Drawn, Data]]


def _mean(table: np.ndarray) -> np.ndarray:
    known = ~np.isnan(table)
    count = known.sum(axis=-1)
    total = np.where(known, table, 0.0).sum(axis=-1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _place(kind: str, known: Sequence[str], name: str) -> int:
    if name not in known:
        raise ScenarioError(unknown(kind, name, known))
    return known.index(name)


def _joined(columns: Sequence[pl.Series], last: str, runs: pl.DataFrame) -> pl.Series:
    """Join the labels of some axes, and a common one, by slashes."""
    import polars as pl

    rows = ["/".join(filter(None, (*row, last))) for row in zip(*columns, strict=True)] or [
        last
    ] * runs.height
    return pl.Series(rows, dtype=pl.String)
