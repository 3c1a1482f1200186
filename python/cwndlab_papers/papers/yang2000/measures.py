"""What yang2000 measures on a single run.

Predicted over actual rates, shares of a link, courses of rates.

Loss rate is window reductions over packets sent, as section 2.4.1 has it. Rates are packets sent
per second.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cwndlab import theory

PACKET_BITS = 8000
GROUPS = ("gaimd", "tcp")


def prediction(run: Mapping[str, Any], _traces: Mapping[str, Any]) -> dict[str, Any]:
    """Compare equation 2 with the actual rate, for each group's mean and for each flow.

    Returns
    -------
    dict
        For each group ``ratio-GROUP``, ``ratio-by-drops-GROUP`` (with dropped packets over packets
        sent as the loss rate), ``loss-GROUP``, ``timeouts-GROUP`` (share of reductions that are
        timeouts), ``probability-GROUP`` (the Q of equation 2) and ``spread-GROUP`` (coefficient of
        variation of the flows' ratios); arrays ``ratios-GROUP`` and ``losses-GROUP``, a number for
        each flow.
    """
    found: dict[str, Any] = {}
    for group in GROUPS:
        flows = [flow for flow in run["flows"] if flow["group"] == group]
        reductions, dropped, timeouts, sent, rtt, rto = (
            np.array([np.nan if flow[key] is None else flow[key] for flow in flows], dtype=float)
            for key in (
                "window_reductions",
                "dropped_packets",
                "timeouts",
                "sent_packets",
                "mean_rtt_s",
                "mean_rto_s",
            )
        )
        rule, actual = theory.parse_linear(flows[0]["rule"]), sent / _length_s(run)
        loss = np.divide(reductions, sent, out=np.full_like(sent, np.nan), where=sent > 0)
        each = np.array(
            [
                _predicted(rule, *path) / rate if rate > 0 else np.nan
                for *path, rate in zip(loss, rtt, rto, actual, strict=True)
            ]
        )
        # A flow that took no sample of its round trip in the window has no timeout of its own
        # either.
        p, mean_rtt, mean_rto = (float(np.nanmean(values)) for values in (loss, rtt, rto))
        found |= {
            f"ratio-{group}": _predicted(rule, p, mean_rtt, mean_rto) / float(np.mean(actual)),
            f"ratio-by-drops-{group}": _predicted(
                rule, float(np.sum(dropped) / np.sum(sent)), mean_rtt, mean_rto
            )
            / float(np.mean(actual)),
            f"loss-{group}": p,
            f"timeouts-{group}": float(np.sum(timeouts) / np.sum(reductions))
            if np.sum(reductions)
            else np.nan,
            f"probability-{group}": min(1.0, 3 * np.sqrt((1 - rule.bd**2) / (2 * rule.ai) * p)),
            f"spread-{group}": float(np.nanstd(each) / np.nanmean(each))
            if np.isfinite(each).any()
            else np.nan,
            f"ratios-{group}": each,
            f"losses-{group}": loss,
        }
    return found


def shares(run: Mapping[str, Any], _traces: Mapping[str, Any]) -> dict[str, Any]:
    """Rates normalised so that an equal share of the link is 1.

    Returns
    -------
    dict
        ``gaimd`` and ``tcp``, means of the groups; ``spread``, the coefficient of variation of
        single flows' rates within their groups, mean of both; ``loss``, of all flows; arrays
        ``rates-gaimd`` and ``rates-tcp``.
    """
    link = next(link for link in run["links"] if link["link"] == "bottleneck")
    share = link["rate_bps"] / PACKET_BITS * _length_s(run) / len(run["flows"])
    rates: dict[str, np.ndarray] = {
        group: np.array([flow["sent_packets"] for flow in run["flows"] if flow["group"] == group])
        / share
        for group in GROUPS
    }
    sent, reduced = (
        sum(flow[key] for flow in run["flows"]) for key in ("sent_packets", "window_reductions")
    )
    return {
        **{group: float(np.mean(values)) for group, values in rates.items()},
        "spread": float(np.mean([np.std(values) / np.mean(values) for values in rates.values()])),
        "loss": reduced / sent,
        **{f"rates-{group}": values for group, values in rates.items()},
    }


def courses(run: Mapping[str, Any], traces: Mapping[str, Any]) -> dict[str, Any]:
    """Coefficients of variation, group means, mean RTT, and the rates of two flows over time.

    Returns
    -------
    dict
        ``variation-GROUP``, ``rtt_s``; arrays ``course-GROUP``, of its first flow, bit/s, in the
        bins of the trace.
    """
    rates = traces["rate"]
    found: dict[str, Any] = {}
    for group in GROUPS:
        found[f"variation-{group}"] = float(
            np.mean([flow["rate_cov"] for flow in run["flows"] if flow["group"] == group])
        )
        found[f"course-{group}"] = rates.filter(flow=f"{group}-0")["goodput_bps"].to_numpy()
    return {**found, "rtt_s": float(np.mean([flow["mean_rtt_s"] for flow in run["flows"]]))}


def _predicted(rule: theory.Linear, p: float, rtt: float, rto: float) -> float:
    """Packets per second by equation 2; not a number where it has none."""
    if not (0 < p < 1 and rtt > 0 and rto > 0):
        return float("nan")
    return float(theory.gaimd.rate_approximation(rule.ai, rule.bd, p, rtt=rtt, rto=rto))


def _length_s(run: Mapping[str, Any]) -> float:
    return run["measure_to_s"] - run["measure_from_s"]
