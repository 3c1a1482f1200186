"""Shares and harm of two rules on one bottleneck (docs/metrics.md defines them)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from cwndlab.statistics import estimate

RULE, AGAINST = "rule", "against"
"""Names of the two groups of flows."""


class Measure(NamedTuple):
    """A number per run, or per pair of runs."""

    key: str
    label: str
    unit: str = ""
    """Unit of the value times `scale`, as shown."""
    scale: float = 1.0
    digits: int = 3

    @property
    def title(self) -> str:
        """Label and unit."""
        return f"{self.label} [{self.unit}]" if self.unit else self.label


MEASURES = (
    Measure("share", "share of goodput"),
    Measure("harm", "harm"),
    Measure("rule_goodput_bps", "goodput per flow", "Mbit/s", 1e-6),
    Measure("against_goodput_bps", "goodput per flow of the other", "Mbit/s", 1e-6),
    Measure("baseline_goodput_bps", "goodput per flow of the baseline", "Mbit/s", 1e-6),
    Measure("against_rtt_s", "RTT of the other", "ms", 1e3, 1),
    Measure("baseline_rtt_s", "RTT of the baseline", "ms", 1e3, 1),
    Measure("against_loss_rate", "loss rate of the other", "%", 100.0),
    Measure("baseline_loss_rate", "loss rate of the baseline", "%", 100.0),
)
BY_KEY = {measure.key: measure for measure in MEASURES}
BASELINE = {
    key: key.replace("both", "baseline")
    for key in ("both_goodput_bps", "both_rtt_s", "both_loss_rate")
}
"""Measures over both groups, to their names in a baseline run."""


def measure(run: Mapping[str, Any]) -> dict[str, float | None]:
    """Measure a mixed run: share, and means over the groups ``rule`` and ``against``.

    Parameters
    ----------
    run : mapping
        A run as `Result.to_dict` gives it.

    Returns
    -------
    dict
        ``share``, and ``goodput_bps`` (of a flow, bit/s), ``rtt_s`` (of a flow, s) and
        ``loss_rate`` of groups; None without delivered packets, acknowledgements or sent packets.

    Examples
    --------
    >>> flow = {"mean_rtt_s": 0.1, "sent_packets": 200, "dropped_packets": 1}
    >>> flows = [{**flow, "group": "rule", "goodput_bps": 3e6},
    ...          {**flow, "group": "against", "goodput_bps": 1e6}]
    >>> found = measure({"flows": flows})
    >>> found["share"], found["both_goodput_bps"], found["against_loss_rate"]
    (0.75, 2000000.0, 0.005)
    """
    rule = [flow for flow in run["flows"] if flow["group"] == RULE]
    against = [flow for flow in run["flows"] if flow["group"] == AGAINST]
    both = rule + against
    own, total = (sum(flow["goodput_bps"] for flow in flows) for flows in (rule, both))
    return {
        "share": own / total if total > 0 else None,
        "rule_goodput_bps": estimate(flow["goodput_bps"] for flow in rule).mean,
        **_of_group("against", against),
        **_of_group("both", both),
    }


def _of_group(name: str, flows: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    sent = sum(flow["sent_packets"] for flow in flows)
    return {
        f"{name}_goodput_bps": estimate(flow["goodput_bps"] for flow in flows).mean,
        f"{name}_rtt_s": estimate(flow["mean_rtt_s"] for flow in flows).mean,
        f"{name}_loss_rate": sum(flow["dropped_packets"] for flow in flows) / sent
        if sent
        else None,
    }
