"""The simulated side of `--beside`: runs with several seeds, by whose spread one run is judged.

A single run of either side is one of many possible outcomes: their difference says little.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from cwndlab.arguments import Simulated
from cwndlab.columns import COLUMNS, RUN
from cwndlab.message import plural
from cwndlab.metrics import Metric
from cwndlab.results import Result
from cwndlab.runs import execute
from cwndlab.statistics import prediction
from cwndlab.tables import number

if TYPE_CHECKING:
    from pathlib import Path

    from cwndlab.scenario import Scenario

Read = Callable[[Result], float | None]

REPLICATES = 10
"""Simulated runs beside one live run."""
HOST_JITTER = "1ms"
"""Host jitter of simulated runs, unless the scenario has its own.

A valid live run delivers 99 of 100 packets less than this late (docs/live.md).
"""


@dataclass(frozen=True)
class Judged:
    """A number of a live run, and what the simulated runs have there."""

    metric: Metric
    simulated: tuple[float, ...]
    live: float | None
    mean: float | None = None
    low: float | None = None
    """Where 95 % of runs lie, by the simulated ones; None with fewer than two values."""
    high: float | None = None

    @classmethod
    def of(cls, metric: Metric, read: Read, live: Result, runs: Sequence[Result]) -> Judged:
        """Judge one metric of a live run."""
        found = [read(run) for run in runs]
        values = tuple(value for value in found if value is not None)
        mean = sum(values) / len(values) if values else None
        bounds = prediction(values, bounds=metric.bounds)
        low, high = bounds if bounds is not None else (None, None)
        return cls(metric, values, read(live), mean, low, high)

    @property
    def is_inside(self) -> bool | None:
        """Whether the live run lies where 95 % of runs do; None if that cannot be said.

        As shown: a difference that no digit of the metric shows is none.
        """
        if self.live is None or self.low is None or self.high is None:
            return None
        low, live, high = (
            round(value * self.metric.scale, self.metric.digits)
            for value in (self.low, self.live, self.high)
        )
        return low <= live <= high

    @property
    def says(self) -> str:
        """``inside``, ``outside`` or ``-``."""
        return {True: "inside", False: "outside", None: "-"}[self.is_inside]

    @property
    def spread(self) -> str:
        """Both ends of where 95 % of runs lie, as shown."""
        if self.low is None or self.high is None:
            return "-"
        return f"{number(self.low, self.metric)} to {number(self.high, self.metric)}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, in the metric's own unit."""
        return {
            "metric": self.metric.key, "simulated": list(self.simulated), "mean": self.mean,
            "low": self.low, "high": self.high, "live": self.live, "inside": self.is_inside,
        }  # fmt: skip


class Ensemble(tuple[Result, ...]):
    """Simulated runs of one scenario that differ in their seed alone."""

    __slots__ = ()

    @classmethod
    def run(
        cls, scenario: Scenario, replicates: int, progress: Simulated | None = None
    ) -> Ensemble:
        """Simulate a scenario with the seeds from its own on, and with host jitter.

        Traces are recorded of the first run alone.
        """
        document = scenario.to_dict()
        document.setdefault("host_jitter", HOST_JITTER)
        first = document.get("seed", 1)
        runs: list[Result] = []
        for seed in range(first, first + replicates):
            runs.append(execute.run({**document, "seed": seed}, progress=progress))
            document.pop("trace", None)
        return cls(runs)

    @property
    def host_jitter(self) -> str | float:
        """Host jitter of the runs, as their scenario has it."""
        return self[0].scenario["host_jitter"]

    def judge(self, live: Result) -> list[Judged]:
        """Judge the shares of the groups of a live run, and the numbers of its bottleneck."""
        return [Judged.of(metric, read, live, self) for metric, read in _metrics(live)]

    def table(self) -> pl.DataFrame:
        """Return one row per run and flow, with the seed."""
        return pl.concat(
            run.table().select(pl.lit(run.fields["seed"]).alias("seed"), pl.all()) for run in self
        )

    def save(self, directory: Path) -> None:
        """Write every run into ``seed-N``."""
        for run in self:
            run.save(directory / f"seed-{run.fields['seed']}")


def sentence(judged: Sequence[Judged], replicates: int) -> str:
    """Say whether a live run is inside the spread of the simulated ones.

    Of the shares and of the mean queueing delay.

    Examples
    --------
    >>> metric = Metric.of(COLUMNS["links"]["mean_queueing_delay_s"], digits=1)
    >>> inside = Judged(metric, (0.01, 0.012), 0.011, 0.011, 0.009, 0.013)
    >>> sentence([inside], 2)
    'Live is inside the spread of 2 simulated runs: mean queueing delay'
    """
    named = [one for one in judged if one.metric.key.startswith("share") or _is_delay(one)]
    spread = f"the spread of {plural(replicates, 'simulated run')}"
    parts: list[str] = []
    for says in ("inside", "outside"):
        names = [one.metric.label for one in named if one.says == says]
        if names:
            parts.append(f"{says} {spread if not parts else 'it'}: {', '.join(names)}")
    return f"Live is {'; '.join(parts)}" if parts else f"Nothing to judge by {spread}"


def _is_delay(one: Judged) -> bool:
    return one.metric.key == "mean_queueing_delay_s"


def _metrics(live: Result) -> list[tuple[Metric, Read]]:
    """Return what is judged: shares of all groups but one, which has the rest, and more."""
    groups = live.flows["group"].unique(maintain_order=True).to_list()
    named = groups if len(groups) > 2 else groups[: len(groups) - 1]
    shares = [
        (
            Metric(key=f"share.{group}", label=f"share of {group}", unit="%", scale=100,
                   digits=1, meaning="part of the goodput", bounds=(0.0, 1.0)),
            _share(group),
        )
        for group in named
    ]  # fmt: skip
    link = ("utilization", "mean_queueing_delay_s", "p95_queueing_delay_s", "dropped_packets",
            "marked_packets")  # fmt: skip
    return [
        *shares,
        (Metric.of(RUN["aggregate_goodput_bps"], digits=2), _field("aggregate_goodput_bps")),
        *((Metric.of(COLUMNS["links"][key], digits=2), _of_link(key)) for key in link),
        (Metric.of(RUN["jain_index"], digits=4), _field("jain_index")),
    ]


def _share(group: str) -> Read:
    def read(run: Result) -> float | None:
        goodputs: Mapping[str, float] = dict(
            run.flows.group_by("group").agg(pl.col("goodput_bps").sum()).iter_rows()
        )
        total = sum(goodputs.values())
        return goodputs[group] / total if total else None

    return read


def _of_link(key: str) -> Read:
    def read(run: Result) -> float | None:
        from cwndlab.plots.timelines import bottleneck

        return bottleneck(run)[key]

    return read


def _field(key: str) -> Read:
    return lambda run: run.fields[key]
