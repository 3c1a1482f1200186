"""Shares and harm of two rules on one bottleneck (docs/metrics.md defines them)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from cwndlab.columns import COLUMNS
from cwndlab.groups import with_groups
from cwndlab.metrics import Metric

RULE, AGAINST = "rule", "against"
"""Names of the two groups of flows."""


def _goodput(key: str, label: str, meaning: str) -> Metric:
    column = COLUMNS["flows"]["goodput_bps"]
    return Metric.of(column, key=key, label=label, meaning=meaning, more_is_better=None)


def _rtt(key: str, label: str) -> Metric:
    return Metric.of(
        COLUMNS["flows"]["mean_rtt_s"], key=key, label=label, more_is_better=None, digits=1,
        meaning="mean of the flows' `mean_rtt_s`: of the other rule's flows in the mixed run, and "
        "of all flows in the baseline run. It includes queueing on the path; flows without a "
        "sample are left out",
    )  # fmt: skip


def _loss(key: str, label: str) -> Metric:
    return Metric.of(
        COLUMNS["flows"]["loss_rate"], key=key, label=label, more_is_better=None,
        meaning="sum of the flows' `dropped_packets` / sum of their `sent_packets`, of the same "
        "flows",
    )  # fmt: skip


_OF_GROUP = "mean of the group's flows' `goodput_bps`"
MEASURES = (
    # More for one rule is less for the other: neither direction is better.
    Metric(
        key="share", label="share of goodput", bounds=(0.0, 1.0),
        meaning="sum of the rule's flows' `goodput_bps` / the sum of both groups'. Both groups "
        "have n flows, so 0.5 is fair",
    ),
    Metric(
        key="harm", label="harm", more_is_better=False, bounds=(-math.inf, 1.0),
        meaning="1 - `against_goodput_bps` / `baseline_goodput_bps`: the fraction of goodput that "
        "a flow of the other rule loses compared with the baseline run. 0: no difference; 1: it "
        "gets nothing; below 0: it gets more",
    ),
    _goodput("rule_goodput_bps", "goodput per flow", _OF_GROUP),
    _goodput("against_goodput_bps", "goodput per flow of the other", _OF_GROUP),
    _goodput(
        "baseline_goodput_bps", "goodput per flow of the baseline",
        "the same over all 2n flows of the baseline run with the same seed",
    ),
    _rtt("against_rtt_s", "RTT of the other"),
    _rtt("baseline_rtt_s", "RTT of the baseline"),
    _loss("against_loss_rate", "loss rate of the other"),
    _loss("baseline_loss_rate", "loss rate of the baseline"),
)  # fmt: skip
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
    flows = [flow for flow in run["flows"] if flow["group"] in (RULE, AGAINST)]
    groups = {row["group"]: row for row in with_groups({"flows": flows})["groups"]}
    together = [{**flow, "group": "both"} for flow in flows]
    (both,) = with_groups({"flows": together})["groups"]
    return {
        "share": groups[RULE]["share"],
        "rule_goodput_bps": groups[RULE]["mean_goodput_bps"],
        **_of_group("against", groups[AGAINST]),
        **_of_group("both", both),
    }


def _of_group(name: str, group: Mapping[str, Any]) -> dict[str, float | None]:
    return {
        f"{name}_goodput_bps": group["mean_goodput_bps"],
        f"{name}_rtt_s": group["mean_rtt_s"],
        f"{name}_loss_rate": group["loss_rate"],
    }
