"""What chandrayana2002 measures on a single run.

Means over flows, shares of two kinds, Hurst parameters.

Metrics are "calculated on a per flow basis" and averaged over the flows (section III).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cwndlab_papers.papers.chandrayana2002 import hurst

METHODS = ("absolute", "rescaled", "periodogram")


def flows(run: Mapping[str, Any], traces: Mapping[str, Any]) -> dict[str, Any]:
    """Loss rate, share of losses that cause a timeout, and Hurst parameters of counted arrivals.

    Returns
    -------
    dict
        ``loss_per_flow``: a flow's loss rate, mean over flows; ``timeout_share``: timeouts over
        window reductions, mean over flows that have any; ``timeouts_per_loss``: timeouts over
        dropped packets, mean over flows that lost any. With the trace of arrivals ``hurst`` and
        ``hurst-METHOD``, of the bins within the measuring window.
    """
    found = {
        "loss_per_flow": _mean_ratio(run, "dropped_packets", "sent_packets"),
        "timeout_share": _mean_ratio(run, "timeouts", "window_reductions"),
        "timeouts_per_loss": _mean_ratio(run, "timeouts", "dropped_packets"),
    }
    if "link_arrivals" in traces:
        counted = traces["link_arrivals"]
        counts = counted["arrived_packets"].to_numpy()[
            counted["time_s"].to_numpy() >= run["measure_from_s"]
        ]
        each = hurst.estimates(counts)
        found |= {f"hurst-{name}": each[name] for name in METHODS}
        found["hurst"] = float(np.mean(list(each.values())))
    return found


def two_kinds(run: Mapping[str, Any], _traces: Mapping[str, Any]) -> dict[str, Any]:
    """Sum over the flows of each kind.

    ``goodput-KIND`` in bit/s, ``dropped-KIND`` packets, ``timeouts-KIND``.
    """
    keys = {"goodput": "goodput_bps", "dropped": "dropped_packets", "timeouts": "timeouts"}
    return {
        f"{name}-{kind}": float(sum(flow[key] for flow in run["flows"] if flow["group"] == kind))
        for name, key in keys.items()
        for kind in ("tcp", "binomial")
    }


def _mean_ratio(run: Mapping[str, Any], part: str, whole: str) -> float:
    ratios = [flow[part] / flow[whole] for flow in run["flows"] if flow[whole]]
    return float(np.mean(ratios)) if ratios else float("nan")
