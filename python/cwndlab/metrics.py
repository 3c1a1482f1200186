"""What is compared between rules: each metric's name, unit, direction, and how it is read off a run.

Goodput is normalised as in Akella et al. (2002): unique payload delivered by all flows, divided by the
bandwidth that the cross traffic left free, both over the measuring window. Headers take their share of the
bandwidth but carry no payload, so that 1000-byte payloads under 40-byte headers reach at most 1000/1040,
unless the cross traffic loses packets as well: the flows then get its share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Metric:
    """One number per run."""

    key: str
    label: str
    unit: str
    """Unit of the value times `scale`, as shown."""
    more_is_better: bool
    read: Callable[[Mapping[str, Any], Mapping[str, Any]], float | None]
    """From a run (as a dictionary) and its bottleneck link."""
    scale: float = 1.0
    digits: int = 3

    @property
    def title(self) -> str:
        """Label and unit, for axes and table heads."""
        return f"{self.label} [{self.unit}]" if self.unit else self.label


def _ratio(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole is not None and whole > 0 else None


def _total(run: Mapping[str, Any], key: str) -> float:
    return sum(flow[key] for flow in run["flows"])


METRICS: tuple[Metric, ...] = (
    Metric("goodput", "goodput / available", "", True,
           lambda run, link: _ratio(run["aggregate_goodput_bps"], link["available_bps"])),
    Metric("loss_rate", "loss rate", "%", False,
           lambda run, _: _ratio(_total(run, "dropped_packets"), _total(run, "sent_packets")), 100.0),
    Metric("mean_queueing_delay_s", "mean queueing delay", "ms", False,
           lambda _, link: link["mean_queueing_delay_s"], 1e3, 1),
    Metric("fairness_spread", "fairness spread", "", False, lambda run, _: run["fairness_spread"]),
    Metric("jain_index", "Jain's index", "", True, lambda run, _: run["jain_index"]),
    Metric("timeouts", "time-outs", "per run", False, lambda run, _: _total(run, "timeouts"), 1.0, 1),
)  # fmt: skip

BY_KEY = {metric.key: metric for metric in METRICS}


def measure(run: Mapping[str, Any], link_name: str = "bottleneck") -> dict[str, float | None]:
    """Every metric of one run.

    Parameters
    ----------
    run : mapping
        A run as `Result.to_dict` gives it.
    link_name : str
        The link whose available bandwidth and queue count.

    Raises
    ------
    ValueError
        If the run has no such link.
    """
    for link in run["links"]:
        if link["link"] == link_name:
            return {metric.key: metric.read(run, link) for metric in METRICS}
    names = ", ".join(link["link"] for link in run["links"])
    raise ValueError(f"link: `{link_name}` is not in this run; allowed: {names}")
