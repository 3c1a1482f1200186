"""Comparisons of rules: their plan, and means, confidence intervals and scores of their runs."""

from __future__ import annotations

import html
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from cwndlab import environments, native
from cwndlab.differences import differences
from cwndlab.errors import ScenarioError
from cwndlab.message import unknown
from cwndlab.metrics import Metric, chosen, measure, patch_of
from cwndlab.names import shown_environment
from cwndlab.result_tables import html_of, plotting_over
from cwndlab.runs.collection import Collection
from cwndlab.runs.plan import Joint, Level, Plan
from cwndlab.scores import AXES, scores
from cwndlab.tables import with_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cwndlab.custom_rules import Rule

MANY_ENVIRONMENTS = 4
TEST_FLOWS = "flow"
"""Name of the flows under test in every environment."""


@dataclass(repr=False)
class Comparison(Collection):
    """Results of a plan whose axes are recovery, queue, env and rule.

    Examples
    --------
    >>> from cwndlab import compare
    >>> comparison = compare(["AIMD(1, 0.5)", "AIAD(1, 3)"], replicates=2, duration="2s")
    >>> comparison.runs.height
    4
    >>> comparison.scores.filter(pl.col("metric") == "goodput")["C_a"].min()
    0.0
    """

    OUTPUT: ClassVar[str] = "compare"

    metrics: Sequence[Metric] = field(default_factory=lambda: chosen(None))
    """What is measured, in the order of tables."""

    def measure(self, run: Mapping[str, Any]) -> dict[str, Any]:
        """Every metric, over the flows under test."""
        return measure(run, group=TEST_FLOWS, metrics=self.metrics)

    @property
    def measures(self) -> Sequence[Metric]:
        """The metrics."""
        return self.metrics

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """``runs``, ``summary`` and ``scores`` by name."""
        return {"summary": self.summary, "scores": self.scores, "runs": self.runs}

    @property
    def runs(self) -> pl.DataFrame:
        """One row per finished run: its cell, replicate, seed, trace hash and every metric."""
        numbers = dict.fromkeys((metric.key for metric in self.metrics), pl.Float64)
        return pl.DataFrame(self.rows(), schema={**_RUN_SCHEMA, **numbers})

    @property
    def scores(self) -> pl.DataFrame:
        """One row per setting, metric and rule.

        ``C_a``, the largest distance, and ``D_a``, their sum.
        """
        return scores(self.summary)

    def differences(self, baseline: Rule | None = None) -> pl.DataFrame:
        """Return the differences of the other rules from a baseline, by cell and metric.

        Runs of the same replicate are compared: they share their random numbers.

        Parameters
        ----------
        baseline : rule, optional
            The rule to compare with, by default the first.

        Returns
        -------
        polars.DataFrame
            Columns of `summary`: ``mean`` of the differences, ``ci95_low`` and ``ci95_high``,
            ``replicates``, the number of pairs.

        Raises
        ------
        ScenarioError
            If the baseline is none of the rules.

        Examples
        --------
        >>> from cwndlab import compare
        >>> found = compare(["AIMD(1, 0.5)", "AIAD(1, 3)"], replicates=2, duration="2s")
        >>> found.differences(baseline="AIAD(1, 3)")["rule"].unique().to_list()
        ['AIMD(1, 0.5)']
        """
        rules = self.plan.labels["rule"]
        name = rules[0] if baseline is None else native.rule(baseline)
        if name not in rules:
            raise ScenarioError(unknown("baseline", name, rules))
        return differences(self.runs, name, self.metrics)

    def table(self, metric: str | None = None) -> pl.DataFrame:
        """Return one metric as text: a row for each rule, a column for each environment.

        The metric is by default the first. Cells are the mean and its 95 % confidence interval, as
        half-width where both ends are equally far. Recovery schemes and
        queues have columns of their own if there are several.

        Raises
        ------
        ScenarioError
            If there is no such metric.
        """
        known = {entry.key: entry for entry in self.metrics}
        if metric is None:
            metric = next(iter(known))
        if metric not in known:
            raise ScenarioError(unknown("metric", metric, known))
        found = known[metric]
        several = [name for name in ("recovery", "queue") if len(self.plan.axes[name]) > 1]
        rows = self.summary.filter(metric=metric).with_columns(
            pl.struct("mean", "ci95_low", "ci95_high")
            .map_elements(lambda cell: with_interval(cell, found), return_dtype=pl.String)
            .alias("cell")
        )
        return rows.pivot(on="env", index=[*several, "rule"], values="cell")

    def _repr_html_(self) -> str:
        return "".join(
            f"<p>{html.escape(metric.title)}</p>{html_of(self.table(metric.key))}"
            for metric in self.metrics
        )

    @property
    def has_many_environments(self) -> bool:
        """Whether there are too many environments for a column each."""
        return len(self.plan.axes["env"]) > MANY_ENVIRONMENTS

    @property
    def levels(self) -> dict[str, list[str]]:
        """The levels of every axis."""
        return self.plan.labels

    @property
    def distributions(self) -> dict[str, Metric]:
        """The metrics, which have a distribution over replicates."""
        return {metric.key: metric for metric in self.metrics}

    def each(self, name: str) -> pl.DataFrame:
        """Return the values of a metric, ``value``, with axes and ``replicate``."""
        return self.runs.rename({name: "value"})

    @property
    def views(self) -> Sequence[str]:
        """No other view has more axes."""
        return ()

    @property
    def title(self) -> str:
        """What figures call it: nothing."""
        return ""

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
        curves: Mapping[str, str] | None = None,
        log: str | Sequence[str] = (),
        **figure: Any,
    ) -> Figure:
        """Plot each metric's mean and confidence interval per environment and rule (matplotlib).

        With many environments: goodput alone, one panel per setting.

        Parameters
        ----------
        x : str, optional
            What is on x: an axis, such as ``"queue"``, or a metric.
        hue, panel : str, optional
            With `x`: the axes whose levels have a line and a panel each.
        y : str or sequence of str
            With `x`: metrics, a row of panels each; by default the first.
        heat : str, optional
            A metric, as the colour of cells over the axes `x` and `y`.
        cdf : str, optional
            A metric, whose distribution over replicates is drawn instead.
        curves : mapping of str to str, optional
            With `x`: formulas of x by name, in the units of the figure, such as ``1.22/sqrt(x)``.
        log : {"x", "y"} or sequence of them
            With `x`: what is logarithmic.
        **figure
            `width`, `height`, `style`, `labels`, `order`, `title`, `baseline` as of
            `cwndlab.plots.FigureStyle.of`.

        Raises
        ------
        FigureStyleError
            For an axis or a metric that the comparison does not have.

        Examples
        --------
        >>> from cwndlab import compare
        >>> found = compare(["AIMD(1, 0.5)", "AIAD(1, 3)"], replicates=2, duration="2s")
        >>> figure = found.plot(x="mean_queueing_delay_s", hue="rule", y="goodput")
        >>> figure.axes[0].get_xlabel()
        'mean queueing delay [ms] (lower is better)'
        """
        from cwndlab.plots import FigureStyle, comparison_bars, goodput_points
        from cwndlab.plots.over import Over

        style = FigureStyle.of(**figure)
        over = Over.of(x, hue, panel, y, heat, cdf, curves=curves, log=log)
        if over is not None:
            return style.draw(over.draw, self)
        if self.has_many_environments:
            return style.draw(goodput_points, self)
        return style.draw(comparison_bars, self)


_RUN_SCHEMA: dict[str, Any] = {
    **dict.fromkeys(AXES, pl.String),
    "replicate": pl.Int64,
    "seed": pl.Int64,
    "trace_hash": pl.String,
}


def plan_rules(
    rules: Sequence[str],
    *,
    recovery: Sequence[str] = ("sack",),
    queue: Sequence[str] = ("drop-tail",),
    env: Sequence[str] = ("constant",),
    replicates: int = 3,
    duration_s: float | None = None,
    assume: environments.Assumptions | None = None,
    seed: int = 1,
    patch: Mapping[str, Any] | None = None,
    metrics: Sequence[Metric] = (),
) -> Plan:
    """Plan a comparison of rules over recovery schemes, queues and environments.

    Parameters
    ----------
    rules : sequence of str
        Rules in any notation that `cwndlab.rule` reads; duplicates count once.
    recovery, queue, env : sequence of str
        The levels of the other axes; ``"all"`` for env stands for the thirteen of the paper,
        ``"demo"`` for four.
    replicates : int
        Runs per cell, with seeds ``seed``, ``seed + 1``, ... in every cell.
    duration_s : float, optional
        Duration of a run in seconds, instead of the assumed one.
    assume : Assumptions, optional
        Assumptions of the environments.
    patch : mapping, optional
        Dotted keys to set in all runs, after all others.
    metrics : sequence of Metric
        Metrics whose needs the runs meet, such as ``trace.rtt``.

    Raises
    ------
    ScenarioError
        If a rule, recovery, queue or environment is not known.
    """
    canonical = list(dict.fromkeys(native.rule(text) for text in rules))
    chosen = assume or environments.Assumptions()
    if duration_s is not None:
        chosen = chosen.with_(duration=f"{duration_s!r}s")
    names, queues = environments.names(env), list(dict.fromkeys(queue))
    axes = {
        "recovery": [
            Level(name, {f"flows.{TEST_FLOWS}.recovery": name}) for name in dict.fromkeys(recovery)
        ],
        "queue": [Level(name, {}) for name in queues],
        "env": [Level(shown_environment(name), {}) for name in names],
        "rule": [Level(rule, {f"flows.{TEST_FLOWS}.rule": rule}) for rule in canonical],
    }
    joint = list(_joint(names, queues, chosen, range(seed, seed + replicates)))
    # Homes are the environments' own.
    place, _ = environments.split_home(names[0])
    base = environments.scenario(place, queue=queues[0], rule=canonical[0], assume=chosen)
    return Plan(base, axes, replicates, seed, joint, {**patch_of(metrics), **(patch or {})})


def _joint(
    names: Sequence[str],
    queues: Sequence[str],
    chosen: environments.Assumptions,
    seeds: Sequence[int],
) -> Iterator[Joint]:
    """Give the networks: each queue changes an environment's network, so one axis cannot set it."""
    for queue, name in itertools.product(queues, names):
        where = {"queue": queue, "env": shown_environment(name)}
        yield Joint(where, environments.network(name, queue, chosen))
        for replicate, seed in enumerate(seeds if environments.environment(name).is_drawn else ()):
            tables = environments.network(name, queue, chosen, seed)
            yield Joint({**where, "replicate": replicate}, {"cross": tables["cross"]})
