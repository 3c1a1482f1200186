"""What limited the flows of a run: a stacked bar each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from cwndlab.columns import COLUMNS
from cwndlab.plots.style import look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cwndlab.plots.subjects import Run

LIMITS = (
    "limited_by_cwnd",
    "limited_by_slow_start",
    "limited_by_pacing",
    "limited_by_receiver",
    "limited_by_application",
    "limited_by_recovery",
    "limited_by_timeout",
)
"""From the ordinary limit, cwnd, to the gravest."""
MAX_BARS = 12
"""With more flows, a bar is the mean of a group."""


def are_known(result: Run) -> bool:
    """Whether any flow has shares: live flows have none, nor results of earlier versions."""
    flows = result.flows
    return "limited_by_cwnd" in flows.columns and flows["limited_by_cwnd"].count() > 0


def limits(axes: Axes, result: Run) -> None:
    """Draw shares of each flow's time, or of each group's, by what limited it."""
    name = "flow" if result.flows.height <= MAX_BARS else "group"
    known = result.flows.filter(pl.col("limited_by_cwnd").is_not_null())
    means = known.group_by(name, maintain_order=True).agg(pl.col(list(LIMITS)).mean())
    names = [str(one) for one in means[name]]
    begins = [0.0] * len(names)
    for index, key in enumerate(LIMITS):
        shares = [100 * share for share in means[key]]
        if any(share >= 0.05 for share in shares):
            style = look(index)
            label = str(COLUMNS["flows"][key].label).removeprefix("limited by ")
            axes.barh(
                names, shares, left=begins, height=0.7, label=label,
                color=style.color, hatch=style.hatch, edgecolor="white", linewidth=0.5,
            )  # fmt: skip
        begins = [begin + share for begin, share in zip(begins, shares, strict=True)]
    axes.set_xlim(0, 100)
    axes.set_xlabel("share of the flow's time [%]")
    axes.set_title(f"What limited each {name}")
    # From the top down; a single bar does not fill the panel.
    axes.set_ylim(max(len(names), 3) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
