"""Values of a plan in arrays, by setting, environment, rule and replicate: what claims and plots of papers look at."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cwndlab.errors import ScenarioError
from cwndlab.metrics import BY_KEY
from cwndlab.statistics import Estimate, jackknife

if TYPE_CHECKING:
    from cwndlab.sweep import Findings

CASES = ("env", "case")
"""Axes that say in which network: environments, or a plan's own cases."""


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

    def value(self, metric: str, setting: str, rule: str) -> np.ndarray:
        """Value in each case, shape (cases,), in the metric's unit."""
        if metric not in self.values:
            raise ScenarioError(f"metric: `{metric}` is not measured; allowed: {', '.join(self.values)}")
        place = _place("setting", self.settings, setting), slice(None), _place("rule", self.rules, rule)
        return self.values[metric][place]

    def merit(self, metric: str, setting: str, rule: str) -> np.ndarray:
        """Return `value`, with the sign that makes more better."""
        return (1.0 if BY_KEY[metric].more_is_better else -1.0) * self.value(metric, setting, rule)

    def distances(self, metric: str, setting: str, rule: str, among: Sequence[str]) -> np.ndarray:
        """Distance from the best rule of `among` in each case, shape (cases,): d of Akella et al. (2002), section 3."""
        best = np.max([self.merit(metric, setting, other) for other in among], axis=0)
        return best - self.merit(metric, setting, rule)


@dataclass(frozen=True)
class Board:
    """Values of every run of a plan; as `Means`, with replicates as the last axis of `values`."""

    settings: tuple[str, ...]
    cases: tuple[str, ...]
    rules: tuple[str, ...]
    values: Mapping[str, np.ndarray]

    @property
    def replicates(self) -> int:
        """How many there are."""
        return next(iter(self.values.values())).shape[-1]

    @classmethod
    def of(cls, findings: Findings, *, queue: str = "", scale: Mapping[str, float] | None = None) -> Board:
        """Make it from what a sweep found.

        Parameters
        ----------
        findings : Findings
            Of a sweep with axes recovery and rule, perhaps queue, and env or case.
        queue : str
            Which queue it is where there is no such axis.
        scale : mapping, optional
            Metric to a factor on its values.
        """
        runs = findings.runs
        case = next(axis for axis in CASES if axis in runs.columns)
        settings = runs["recovery"] + "/" + (runs["queue"] if "queue" in runs.columns else queue)
        labels = [tuple(column.unique(maintain_order=True)) for column in (settings, runs[case], runs["rule"])]
        place = [
            [{label: at for at, label in enumerate(known)}[text] for text in column]
            for known, column in zip(labels, (settings, runs[case], runs["rule"]), strict=True)
        ]
        shape = (*map(len, labels), findings.sweep.replicates)
        values = {}
        for metric in findings.sweep.metrics:
            table = np.full(shape, np.nan)
            found = runs[metric].fill_null(np.nan).to_numpy()
            table[(*place, runs["replicate"].to_numpy())] = found * (scale or {}).get(metric, 1.0)
            values[metric] = table
        return cls(*labels, values)

    def means(self, replicates: Sequence[int]) -> Means:
        """Average over some replicates; where one of them has no value, so has the mean of the others."""
        chosen = list(replicates)
        return Means(
            self.settings, self.cases, self.rules,
            {metric: _mean(table[..., chosen]) for metric, table in self.values.items()},
        )  # fmt: skip


class Data:
    """The boards of a paper's plans, over some of their replicates.

    Parameters
    ----------
    boards : mapping of str to Board
        By the names of plans.
    rules : mapping of str to str
        Short names of rules, as claims have them (``AIMD``), to their notation.
    replicates : sequence of int, optional
        Which ones; by default all that every plan has.
    """

    def __init__(
        self, boards: Mapping[str, Board], rules: Mapping[str, str], replicates: Sequence[int] | None = None
    ) -> None:
        self.boards, self.rules, self.replicates = boards, rules, replicates
        self.means = functools.cache(self._means)

    def rule(self, name: str) -> str:
        """Notation of a rule that has a short name; others are returned as they are."""
        return self.rules.get(name, name)

    def _means(self, plan: str) -> Means:
        board = self.boards[plan]
        return board.means(range(board.replicates) if self.replicates is None else self.replicates)

    def estimate(self, quantity: Callable[[Data], float], plans: Sequence[str]) -> Estimate:
        """Value and 95 % confidence interval of a quantity that looks at these plans.

        Replicate i has the same random numbers everywhere, so that one is left out of all plans at once.
        """
        count = min((self.boards[plan].replicates for plan in plans), default=1)
        return jackknife(lambda chosen: quantity(Data(self.boards, self.rules, tuple(chosen))), count)


def _mean(table: np.ndarray) -> np.ndarray:
    known = ~np.isnan(table)
    count = known.sum(axis=-1)
    total = np.where(known, table, 0.0).sum(axis=-1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _place(kind: str, known: Sequence[str], name: str) -> int:
    if name not in known:
        raise ScenarioError(f"{kind}: `{name}` is not in the plan; allowed: {', '.join(known)}")
    return known.index(name)
