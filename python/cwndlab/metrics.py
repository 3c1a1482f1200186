"""Metrics of rules: name, unit, direction, and the function that measures a run.

Goodput is normalised as in Akella et al. (2002): unique payload delivered by all flows, divided by
the nominal residual bandwidth, both over the measuring window. Headers take their share of the
bandwidth but carry no payload, so that 1000-byte payloads under 40-byte headers reach at most
1000/1040, unless the cross traffic loses packets as well: the flows then get its share.
``goodput_left`` therefore divides it by the measured residual bandwidth. With arriving flows as
cross traffic there is no nominal residual bandwidth, and both use the measured one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cwndlab.message import unknown


@dataclass(frozen=True)
class Metric:
    """One number per run."""

    key: str
    label: str
    unit: str
    """Unit of the value times `scale`, as shown."""
    more_is_better: bool
    read: Callable[[Mapping[str, Any], Mapping[str, Any]], float | None]
    """Measures a run (a dictionary) with its bottleneck link."""
    scale: float = 1.0
    digits: int = 3

    @property
    def title(self) -> str:
        """Label and unit, for axes and table heads."""
        return f"{self.label} [{self.unit}]" if self.unit else self.label


def _ratio(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole is not None and whole > 0 else None


def _asked(run: Mapping[str, Any], link: Mapping[str, Any]) -> float | None:
    """Nominal residual bandwidth; the measured one if arriving flows are the cross traffic."""
    return link["left_bps"] if run.get("arrivals") else link["available_bps"]


def _total(run: Mapping[str, Any], key: str) -> float:
    return sum(flow[key] for flow in run["flows"])


METRICS: tuple[Metric, ...] = (
    Metric("goodput", "goodput / available", "", True,
           lambda run, link: _ratio(run["aggregate_goodput_bps"], _asked(run, link))),
    Metric("loss_rate", "loss rate", "%", False,
           lambda run, _: _ratio(_total(run, "dropped_packets"), _total(run, "sent_packets")),
           100.0),
    Metric("mean_queueing_delay_s", "mean queueing delay", "ms", False,
           lambda _, link: link["mean_queueing_delay_s"], 1e3, 1),
    Metric("fairness_spread", "fairness spread", "", False, lambda run, _: run["fairness_spread"]),
    Metric("jain_index", "Jain's index", "", True, lambda run, _: run["jain_index"]),
    Metric("timeouts", "timeouts", "per run", False, lambda run, _: _total(run, "timeouts"), 1.0,
    1),
    Metric("goodput_left", "goodput / residual bandwidth", "", True,
           lambda run, link: _ratio(run["aggregate_goodput_bps"], link["left_bps"])),
)  # fmt: skip

BY_KEY = {metric.key: metric for metric in METRICS}


def measure(
    run: Mapping[str, Any], link_name: str = "bottleneck", group: str | None = None
) -> dict[str, float | None]:
    """Measure every metric of one run.

    Parameters
    ----------
    run : mapping
        A run as `Result.to_dict` gives it.
    link_name : str
        The bottleneck: its residual bandwidth and queue count.
    group : str, optional
        The group of flows that counts; by default all do.

    Raises
    ------
    ValueError
        If the run has no such link or group.
    """
    if group is not None:
        run = only(run, group)
    for link in run["links"]:
        if link["link"] == link_name:
            return {metric.key: metric.read(run, link) for metric in METRICS}
    names = [link["link"] for link in run["links"]]
    raise ValueError(unknown("link", link_name, names))


def only(run: Mapping[str, Any], group: str) -> Mapping[str, Any]:
    """Return a run with the flows of one group alone.

    Examples
    --------
    >>> rates = [("a", 1e6), ("a", 3e6), ("b", 5e6)]
    >>> flows = [{"group": group, "goodput_bps": bps} for group, bps in rates]
    >>> alone = only({"flows": flows}, "a")
    >>> alone["aggregate_goodput_bps"], alone["fairness_spread"], alone["jain_index"]
    (4000000.0, 1.0, 0.8)
    """
    flows = [flow for flow in run["flows"] if flow["group"] == group]
    if not flows:
        names = dict.fromkeys(flow["group"] for flow in run["flows"])
        raise ValueError(unknown("group", group, names))
    if len(flows) == len(run["flows"]):
        return run
    rates = [flow["goodput_bps"] for flow in flows]
    total = sum(rates)
    return {
        **run,
        "flows": flows,
        "aggregate_goodput_bps": total,
        "fairness_spread": (max(rates) - min(rates)) * len(rates) / total if total > 0 else None,
        "jain_index": total**2 / (len(rates) * sum(rate**2 for rate in rates))
        if total > 0
        else None,
    }
