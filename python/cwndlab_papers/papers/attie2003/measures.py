"""Measures goodput and fairness from traces, in each phase of experiments with joins or leaves."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import polars as pl

from cwndlab.plugins import invalid

PHASE_S = 15
LINK_BPS = 100e6
GROUP = re.compile(r"(?P<side>from|until)-(?P<time_s>\d+)")
"""Groups of flows are named after the time at which they come or go: ``from-15``, ``until-30``."""


def is_present(flow: str, phase: int) -> bool:
    """Whether a flow sends in the whole of a phase, 0 being the first.

    But for its start, up to a second late.

    Examples
    --------
    >>> [is_present("from-15-7", phase) for phase in range(4)]
    [False, True, True, True]
    >>> [is_present("until-15-7", phase) for phase in range(2)]
    [True, False]
    """
    found = GROUP.match(flow)
    if found is None:
        raise ValueError(invalid("flow", flow, "a name such as from-15-0 or until-30-2"))
    at = int(found["time_s"]) // PHASE_S
    return phase >= at if found["side"] == "from" else phase < at


def jain_index(rates: list[float]) -> float:
    """Jain's index ``(sum x)^2 / (n sum x^2)``, the fairness index of section 3.

    Examples
    --------
    >>> jain_index([1.0, 1.0]), jain_index([1.0, 0.0])
    (1.0, 0.5)
    """
    squares = sum(rate**2 for rate in rates)
    return sum(rates) ** 2 / (len(rates) * squares) if squares > 0 else float("nan")


def phases(_run: Mapping[str, Any], traces: Mapping[str, pl.DataFrame]) -> dict[str, float]:
    """Goodput over the link's rate, and Jain's index of the flows that are present, in each phase.

    Flows that have just left still deliver what they had sent: it counts in the goodput, not in the
    index.
    """
    rate = traces["rate"].with_columns(
        pl.col("flow").cast(pl.String), (pl.col("time_s") / PHASE_S).round().alias("phase")
    )
    flows = rate["flow"].unique(maintain_order=True).to_list()
    found: dict[str, float] = {}
    for phase in sorted(int(value) for value in rate["phase"].unique()):
        rates = dict(rate.filter(phase=phase).select("flow", "goodput_bps").rows())
        found[f"goodput.{phase}"] = sum(rates.values()) / LINK_BPS
        found[f"jain.{phase}"] = jain_index(
            [rates.get(flow, 0.0) for flow in flows if is_present(flow, phase)]
        )
    return found
