"""The objective of a search: which rule is best or worst, and the margin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cwndlab import native
from cwndlab.errors import ScenarioError
from cwndlab.message import invalid, missing, same_name, unknown
from cwndlab.metrics import BY_KEY, Metric

REPRESENTATIVES = ("AIMD(1, 0.8)", "AIAD(1, 3)", "MIMD(1.125, 0.8)", "MIAD(1.125, 3)")
"""One rule of each linear family, by Akella et al. (2002), section 3.2."""


BOUNDS = {"goodput": "goodput_left"}
"""Metric to the metric that bounds it.

The residual bandwidth is the larger of the nominal and the measured one, so that a rule does not
win by displacing the cross traffic.
"""


@dataclass(frozen=True)
class Objective:
    """Rules to compare, the one to be best or worst, and the metric.

    Parameters
    ----------
    best, worst : str, optional
        Rules; at least one of the two.
    rules : sequence of str
        The rules that are compared, in any notation.
    metric : str
        The metric (docs/metrics.md, comparisons); ``goodput`` is bounded by the measured residual
        bandwidth.

    Raises
    ------
    ScenarioError
        If neither is given, one is not among the rules, the rules are fewer than two, or the metric
        is not known.
    RuleError
        If a rule is not known.

    Examples
    --------
    >>> objective = Objective(best="AIAD(1,3)")
    >>> objective.best, objective.text
    ('AIAD(1, 3)', 'AIAD(1, 3) best')
    >>> margins = objective.margins({"AIMD(1, 0.8)": 0.7, "AIAD(1, 3)": 0.9,
    ...                              "MIMD(1.125, 0.8)": 0.8,
    ...                              "MIAD(1.125, 3)": 0.6})
    >>> round(float(margins), 6)
    0.1
    """

    best: str = ""
    worst: str = ""
    rules: tuple[str, ...] = REPRESENTATIVES
    metric: str = "goodput"

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "rules", tuple(dict.fromkeys(native.rule(text) for text in self.rules))
        )
        if len(self.rules) < 2:
            raise ScenarioError(invalid("rules", ", ".join(self.rules), "two rules or more"))
        if not (self.best or self.worst):
            raise ScenarioError(missing("best or worst", "one of them, or both"))
        for key in ("best", "worst"):
            if not getattr(self, key):
                continue
            rule = native.rule(getattr(self, key))
            if rule not in self.rules:
                raise ScenarioError(unknown(key, rule, self.rules))
            object.__setattr__(self, key, rule)
        if self.best == self.worst:
            raise ScenarioError("`best` and `worst` must name different rules")
        object.__setattr__(self, "metric", same_name(self.metric, BY_KEY))
        if self.metric not in BY_KEY:
            raise ScenarioError(unknown("metric", self.metric, BY_KEY))

    @property
    def measured(self) -> list[str]:
        """The metrics that `value` needs."""
        return [self.metric, *([BOUNDS[self.metric]] if self.metric in BOUNDS else [])]

    def value(self, row: Mapping[str, float | None]) -> float | None:
        """Return the metric of a run from its measures.

        Examples
        --------
        >>> Objective(best="AIAD(1, 3)").value({"goodput": 1.1, "goodput_left": 0.9})
        0.9
        """
        known = [value for key in self.measured if (value := row[key]) is not None]
        return min(known) if known else None

    @property
    def measure(self) -> Metric:
        """The metric's definition."""
        return BY_KEY[self.metric]

    @property
    def text(self) -> str:
        """The objective in words."""
        return ", ".join(
            f"{rule} {key}" for key in ("best", "worst") if (rule := getattr(self, key))
        )

    def margins(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the margin of the objective.

        It is the smaller one of the lead of `best` and the lag of `worst`.

        Parameters
        ----------
        values : mapping of str to ndarray
            Rule to the metric; all have the same shape.

        Returns
        -------
        ndarray
            In the metric's unit, of that shape; above 0 where the objective is met.
        """
        sign = 1.0 if self.measure.more_is_better else -1.0
        merits = {rule: sign * np.asarray(values[rule]) for rule in self.rules}
        found: list[np.ndarray] = []
        if self.best:
            found.append(
                merits[self.best]
                - np.max([merits[rule] for rule in self.rules if rule != self.best], axis=0)
            )
        if self.worst:
            rest = [merits[rule] for rule in self.rules if rule != self.worst]
            found.append(np.min(rest, axis=0) - merits[self.worst])
        return np.min(found, axis=0)
