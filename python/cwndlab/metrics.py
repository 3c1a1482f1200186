"""Metrics of rules: name, unit, direction, and the function that measures a run.

Goodput is normalised as in Akella et al. (2002): unique payload delivered by all flows, divided by
the nominal residual bandwidth, both over the measuring window. Headers take their share of the
bandwidth but carry no payload, so that 1000-byte payloads under 40-byte headers reach at most
1000/1040, unless the cross traffic also loses packets, whose bandwidth the flows then get.
``goodput_left`` therefore divides it by the measured residual bandwidth. With arriving flows as
cross traffic there is no nominal residual bandwidth, and both use the measured one.

>>> from cwndlab import metrics
>>> metrics.BY_KEY["goodput"].more_is_better, metrics.jain_index([1.0, 1.0, 4.0])
(True, 0.6666666666666666)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cwndlab.arguments import listed
from cwndlab.columns import COLUMNS, RUN, Column
from cwndlab.errors import ScenarioError
from cwndlab.message import invalid, same_name, unknown
from cwndlab.statistics import UNBOUNDED, Bounds, Estimate, difference_bounds, estimate

__all__ = [
    "BY_KEY",
    "Metric",
    "chosen",
    "jain_index",
    "measure",
    "of_flows",
]

Read = Callable[[Mapping[str, Any], Mapping[str, Any]], float | None]
"""Measures a run (a dictionary) with its bottleneck link."""
RECORDED: dict[str, dict[str, Any]] = {
    **{key: {"trace.rtt": True} for key in ("p50_rtt_s", "p95_rtt_s", "p99_rtt_s", "p999_rtt_s")},
    **{key: {"trace.shares": True} for key in ("starved_s", "convergence_s")},
    **{key: {"trace.solo": True} for key in ("harm", "rtt_harm", "solo_goodput_bps", "solo_rtt_s")},
}
"""Columns of flows and groups that a run records on request, to the keys that ask for them."""
_DIGITS = {"share": 1, "utilization": 1}
"""Digits after the point of columns that have others than a metric's usual ones."""


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One number per run."""

    key: str
    label: str
    short: str = ""
    """What the head of a table calls it, perhaps in two lines; empty where that is its label."""
    meaning: str
    """Definition, in Markdown."""
    unit: str = ""
    """Unit of the value times `scale`, as shown."""
    more_is_better: bool | None = None
    """None if that is not known: no value is then marked as better or worse."""
    bounds: Bounds = UNBOUNDED
    """What its values can not lie below and above."""
    resolution: float = 0.0
    """What a run's value is known to, as a part of it: the width of a bucket of a histogram."""
    scale: float = 1.0
    digits: int = 3
    read: Read | None = None
    """None if it takes more than one run."""
    needs_link: bool = False
    """Whether it reads the bottleneck link."""
    patch: Mapping[str, Any] | None = None
    """Keys of the scenario without which a run does not measure it."""
    reference: float | None = None
    """Value that figures mark: what would be fair."""

    @classmethod
    def of(cls, column: Column, read: Read | None = None, **changes: Any) -> Metric:
        """Make a metric that is a column of a result, with the column's definition."""
        own = cls(
            key=column.name, label=column.label, meaning=column.meaning, unit=column.shown_unit,
            more_is_better=column.more_is_better, bounds=column.bounds,
            resolution=column.resolution, scale=column.scale, digits=_DIGITS.get(column.name, 3),
            short="" if "label" in changes else column.heading,
        )  # fmt: skip
        return replace(own, read=read, **changes)

    @property
    def title(self) -> str:
        """Label and unit, for axes."""
        return f"{self.label} [{self.unit}]" if self.unit else self.label

    @property
    def heading(self) -> str:
        r"""Short label, and below it the unit, for heads of tables.

        Examples
        --------
        >>> BY_KEY["p95_queueing_delay_s"].heading
        'p95 delay\n[ms]'
        """
        short = self.short or self.label
        return f"{short}\n[{self.unit}]" if self.unit else short

    @property
    def better(self) -> str:
        """``higher is better``, ``lower is better``, or empty.

        Examples
        --------
        >>> BY_KEY["loss_rate"].better
        'lower is better'
        """
        words = {True: "higher is better", False: "lower is better", None: ""}
        return words[self.more_is_better]

    @property
    def difference_bounds(self) -> Bounds:
        """Bounds of the difference of two values."""
        return difference_bounds(self.bounds)

    def known_to(self, *values: Iterable[float | None]) -> float:
        """Return the least width of an interval of a mean, or of a difference of two means.

        Examples
        --------
        >>> BY_KEY["p95_queueing_delay_s"].known_to([0.064, None, 0.064], [0.032])
        0.003
        """
        return self.resolution * math.fsum(abs(mean(each) or 0.0) for each in values)

    def estimate(self, values: Sequence[float | None]) -> Estimate:
        """Return the mean of replicates, with an interval no narrower than a value is known to.

        Examples
        --------
        >>> found = BY_KEY["p95_queueing_delay_s"].estimate([0.064, 0.064])
        >>> round(found.low, 4), round(found.high, 4)
        (0.063, 0.065)
        """
        return estimate(values, bounds=self.bounds).at_least(self.known_to(values))

    def difference(self, ours: Sequence[float | None], theirs: Sequence[float | None]) -> Estimate:
        """Return the mean difference, `ours` less `theirs`, of paired replicates.

        Examples
        --------
        >>> found = BY_KEY["p95_queueing_delay_s"].difference([0.064, 0.064], [0.032, 0.032])
        >>> round(found.low, 4), round(found.high, 4)
        (0.0305, 0.0335)
        """
        pairs = zip(ours, theirs, strict=False)
        less = (None if a is None or b is None else a - b for a, b in pairs)
        found = estimate(less, bounds=self.difference_bounds)
        return found.at_least(self.known_to(ours, theirs))


def _ratio(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole is not None and whole > 0 else None


def _asked(run: Mapping[str, Any], link: Mapping[str, Any]) -> float | None:
    """Nominal residual bandwidth; the measured one if arriving flows are the cross traffic."""
    return link["left_bps"] if run.get("arrivals") else link["available_bps"]


def _total(run: Mapping[str, Any], key: str) -> float | None:
    """Sum over flows; None if a flow has none, as timeouts with ECN in ns-2."""
    values = [flow[key] for flow in run["flows"]]
    return None if None in values else sum(values)


def _of_run(key: str) -> Metric:
    return Metric.of(RUN[key], lambda run, _: run.get(key), meaning="the run's")


def _of_link(key: str) -> Metric:
    return Metric.of(
        COLUMNS["links"][key], lambda _, link: link[key], meaning="the link's", digits=1,
        needs_link=True,
    )  # fmt: skip


def _of_flows(key: str) -> Metric:
    """Mean over the flows of a percentile, which a run records on request."""
    return Metric.of(
        COLUMNS["flows"][key],
        lambda run, _: mean(flow[key] for flow in run["flows"]),
        meaning="mean over the flows; only on request, because it sets `trace.rtt`, which makes "
        "runs slower",
        digits=1,
        patch=RECORDED[key],
    )


def _of_transfers(key: str, **changes: Any) -> Metric:
    """Mean over the groups of flows that have it: web pages, or videos."""
    return Metric.of(
        COLUMNS["arrivals"][key],
        lambda run, _: mean(group.get(key) for group in run.get("arrivals", ())),
        meaning="mean over the groups in `arrivals`",
        **{"digits": 2, **changes},
    )


def _shares(run: Mapping[str, Any]) -> list[tuple[float, float | None]]:
    """Starvation and convergence of the flows that were measured."""
    found = ((flow.get("starved_s"), flow.get("convergence_s")) for flow in run["flows"])
    return [(starved_s, after_s) for starved_s, after_s in found if starved_s is not None]


def _longest_starvation(run: Mapping[str, Any], _: Mapping[str, Any]) -> float | None:
    return max((starved_s for starved_s, _ in _shares(run)), default=None)


def _unconverged(run: Mapping[str, Any], _: Mapping[str, Any]) -> float | None:
    shares = _shares(run)
    return sum(after_s is None for _, after_s in shares) if shares else None


def patch_of(metrics: Iterable[Metric]) -> dict[str, Any]:
    """Return the keys of a scenario that these metrics need.

    Examples
    --------
    >>> patch_of([BY_KEY["goodput"], BY_KEY["p99_rtt_s"]])
    {'trace.rtt': True}
    """
    return {key: value for metric in metrics for key, value in (metric.patch or {}).items()}


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the known values; None without one.

    Examples
    --------
    >>> mean([1.0, None, 2.0]), mean([None])
    (1.5, None)
    """
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


_NOT_NEGATIVE = (0.0, math.inf)
METRICS: tuple[Metric, ...] = (
    Metric(
        key="goodput", label="goodput / available", short="goodput /\navailable",
        more_is_better=True, bounds=_NOT_NEGATIVE,
        meaning="normalised goodput: the sum of the flows' `goodput_bps` / `available_bps` of the "
        "link, or / `left_bps` if finite flows are the cross traffic, because the scenario does "
        "not set their rate. The numerator is payload, the denominator includes headers: with "
        "1000-byte payloads in 1040-byte packets it is at most 0.962, unless cross traffic loses "
        "packets and leaves its bandwidth to the flows",
        read=lambda run, link: _ratio(run["aggregate_goodput_bps"], _asked(run, link)),
        needs_link=True,
    ),
    Metric.of(
        COLUMNS["flows"]["loss_rate"],
        meaning="sum of the flows' `dropped_packets` / sum of their `sent_packets`",
        read=lambda run, _: _ratio(_total(run, "dropped_packets"), _total(run, "sent_packets")),
    ),
    _of_link("mean_queueing_delay_s"),
    _of_link("p50_queueing_delay_s"),
    _of_link("p95_queueing_delay_s"),
    _of_link("p99_queueing_delay_s"),
    _of_link("p999_queueing_delay_s"),
    _of_flows("p50_rtt_s"),
    _of_flows("p95_rtt_s"),
    _of_flows("p99_rtt_s"),
    _of_flows("p999_rtt_s"),
    _of_run("fairness_spread"),
    _of_run("jain_index"),
    _of_run("active_jain_index"),
    _of_run("lowest_share"),
    Metric.of(
        COLUMNS["flows"]["starved_s"], _longest_starvation, digits=1,
        meaning="the longest over the flows: whole bins of `shares.bin` (1 s unless set) in which "
        "the goodput was below `shares.starved_below` (0.1 unless set) times the fair share; "
        "it sets `trace.shares`",
        patch=RECORDED["starved_s"],
    ),
    Metric.of(
        COLUMNS["flows"]["convergence_s"],
        lambda run, _: mean(after_s for _, after_s in _shares(run)), digits=1,
        meaning="mean over the flows that converged: read it together with `unconverged_flows`; "
        "it sets `trace.shares`",
        patch=RECORDED["convergence_s"],
    ),
    Metric(
        key="unconverged_flows", label="flows that did not converge", short="not\nconverged",
        unit="per run", more_is_better=False, bounds=_NOT_NEGATIVE,
        meaning="number of flows with a `starved_s` and without a `convergence_s`; it sets "
        "`trace.shares`",
        read=_unconverged, digits=1, patch=RECORDED["convergence_s"],
    ),
    Metric.of(
        COLUMNS["links"]["l4s_marked_packets"], lambda _, link: link["l4s_marked_packets"],
        meaning="the link's, in the measuring window", unit="per run", digits=1, needs_link=True,
    ),
    Metric(
        key="classic_marked_packets", label="marked packets without L4S",
        short="classic\nmarks", unit="per run", bounds=_NOT_NEGATIVE,
        meaning="the link's `marked_packets` - `l4s_marked_packets`: with `dualpi2` the marks of "
        "its C queue",
        read=lambda _, link: link["marked_packets"] - link["l4s_marked_packets"],
        digits=1, needs_link=True,
    ),
    _of_transfers("mean_page_load_s", digits=0),
    _of_transfers("p95_page_load_s", digits=0),
    _of_transfers("startup_delay_s"),
    _of_transfers("rebuffering_s"),
    _of_transfers("rebuffering_share"),
    _of_transfers("rebufferings", unit="per run", digits=1),
    _of_transfers("mean_bitrate_bps"),
    _of_transfers("bitrate_switches", unit="per run", digits=1),
    Metric(
        key="timeouts", label="timeouts", unit="per run", more_is_better=False,
        bounds=_NOT_NEGATIVE, meaning="sum of the flows' `timeouts`",
        read=lambda run, _: _total(run, "timeouts"), digits=1,
    ),
    Metric(
        key="goodput_left", label="goodput / residual bandwidth", short="goodput /\nresidual",
        more_is_better=True, bounds=_NOT_NEGATIVE,
        meaning="the sum of the flows' `goodput_bps` / `left_bps` of the link: the fraction of the "
        "residual bandwidth that they used",
        read=lambda run, link: _ratio(run["aggregate_goodput_bps"], link["left_bps"]),
        needs_link=True,
    ),
)  # fmt: skip

BY_KEY = {metric.key: metric for metric in METRICS}
USUAL = (
    "goodput", "loss_rate", "mean_queueing_delay_s", "p95_queueing_delay_s", "fairness_spread",
    "jain_index", "lowest_share", "timeouts", "goodput_left",
)  # fmt: skip
"""Metrics of a comparison that names none."""


def chosen(
    names: str | Sequence[str] | None, also: str | Iterable[str] = (), option: str = "metrics"
) -> tuple[Metric, ...]:
    """Return metrics by their names, in the order given; the usual ones for None.

    Parameters
    ----------
    names : str or sequence of str, optional
        The metrics, or one text with commas between them.
    also : str or iterable of str
        Metrics that conditions name; they come last.
    option : str
        What a message calls `names`.

    Raises
    ------
    ScenarioError
        If one is not known.

    Examples
    --------
    >>> [metric.key for metric in chosen("goodput, P99_queueing_delay_s", also=["timeouts"])]
    ['goodput', 'p99_queueing_delay_s', 'timeouts']
    """
    if isinstance(names, str):
        names = [part.strip() for part in names.split(",")]
    asked = [same_name(name, BY_KEY) for name in (USUAL if names is None else names)]
    for name in asked:
        if name not in BY_KEY:
            raise ScenarioError(unknown(option, name, BY_KEY))
    if not asked:
        raise ScenarioError(invalid(option, [], "one or more metrics"))
    return tuple(BY_KEY[name] for name in dict.fromkeys([*asked, *listed(also)]) if name in BY_KEY)


def measure(
    run: Mapping[str, Any],
    link_name: str = "bottleneck",
    group: str | None = None,
    metrics: Sequence[Metric] = METRICS,
) -> dict[str, float | None]:
    """Measure metrics of one run.

    Parameters
    ----------
    run : mapping
        A run as `Result.to_dict` gives it.
    link_name : str
        The bottleneck: its residual bandwidth and queue count.
    group : str, optional
        The group of flows that counts; by default all do.
    metrics : sequence of Metric
        By default every one.

    Raises
    ------
    ValueError
        If the run has no such link or group.
    """
    if group is not None:
        run = only(run, group)
    for link in run["links"]:
        if link["link"] == link_name:
            return {metric.key: metric.read(run, link) for metric in metrics if metric.read}
    names = [link["link"] for link in run["links"]]
    raise ValueError(unknown("link", link_name, names))


def only(run: Mapping[str, Any], group: str) -> Mapping[str, Any]:
    """Return a run with the flows of one group alone.

    Examples
    --------
    >>> rates = [("a", 1e6), ("a", 3e6), ("b", 5e6)]
    >>> flows = [{"group": group, "goodput_bps": bps, "active_s": 9.0} for group, bps in rates]
    >>> alone = only({"flows": flows}, "a")
    >>> alone["aggregate_goodput_bps"], alone["fairness_spread"], alone["jain_index"]
    (4000000.0, 1.0, 0.8)
    >>> alone["lowest_share"]
    0.5
    """
    flows = [flow for flow in run["flows"] if flow["group"] == group]
    if not flows:
        names = dict.fromkeys(flow["group"] for flow in run["flows"])
        raise ValueError(unknown("group", group, names))
    if len(flows) == len(run["flows"]):
        return run
    return {**run, "flows": flows, **of_flows(flows)}


def of_flows(flows: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Return the fields of a run that follow from the goodputs of its flows.

    Indices are over the flows that were active in the measuring window: one that had not started
    does not starve, one that was active and got nothing does. A flow was active where its
    `active_s` is not known.

    Examples
    --------
    >>> there = {"active_s": 5.0}
    >>> flows = [{"goodput_bps": 1.0, **there}, {"goodput_bps": 3.0, **there},
    ...          {"goodput_bps": 0.0, "active_s": 0.0}]
    >>> of_flows(flows)["fairness_spread"], of_flows([])["jain_index"]
    (1.0, None)
    >>> of_flows([*flows, {"goodput_bps": 0.0, **there}])["lowest_share"]
    0.0
    """
    active = [flow for flow in flows if flow.get("active_s") != 0.0]
    rates = [flow["goodput_bps"] for flow in active]
    own = [flow.get("active_goodput_bps") for flow in active]
    known = [rate for rate in own if rate is not None]
    total = sum(rates)
    return {
        "aggregate_goodput_bps": sum(flow["goodput_bps"] for flow in flows),
        "fairness_spread": (max(rates) - min(rates)) * len(rates) / total if total > 0 else None,
        "jain_index": jain_index(rates),
        "active_jain_index": jain_index(known) if len(known) == len(own) else None,
        "lowest_share": min(rates) * len(rates) / total if total > 0 else None,
    }


def jain_index(values: Sequence[float]) -> float | None:
    """Return Jain's fairness index (Jain, Chiu and Hawe 1984); None where nothing is shared.

    Examples
    --------
    >>> jain_index([1.0, 1.0]), jain_index([1.0, 0.0]), jain_index([])
    (1.0, 0.5, None)
    """
    squares = sum(value**2 for value in values)
    return sum(values) ** 2 / (len(values) * squares) if squares > 0 else None
