"""Single panels over time: windows, goodput against available bandwidth, queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from cwndlab.plots.style import REFERENCE, Look, look

if TYPE_CHECKING:
    from cwndlab.results import Result

MAX_SINGLE_FLOWS = 6
"""Up to here every flow gets its own line and legend entry; beyond, flows are drawn by group."""


def bottleneck(result: Result) -> dict:
    """Pick the link that matters most: the one named ``bottleneck``, otherwise the one that dropped most."""
    rows = result.links.to_dicts()
    named = [row for row in rows if row["link"] == "bottleneck"]
    return named[0] if named else max(rows, key=lambda row: row["total_dropped_packets"])


def groups(result: Result) -> list[str]:
    """Names of the flow groups, in the scenario's order."""
    return result.flows["group"].unique(maintain_order=True).to_list()


def windows(axes: Axes, result: Result) -> None:
    """Draw congestion windows over time; many flows as thin lines with each group's mean in bold."""
    trace = result.traces["cwnd"]
    axes.set_ylabel("window [packets]")
    if result.flows.height <= MAX_SINGLE_FLOWS:
        for index, (name, rule) in enumerate(result.flows.select("flow", "rule").iter_rows()):
            frame = trace.filter(pl.col("flow") == name)
            style = look(index)
            axes.plot(
                frame["time_s"],
                frame["cwnd_packets"],
                color=style.color,
                linestyle=style.linestyle,
                linewidth=1.3,
                label=f"{name}: {rule}",
            )
    else:
        for index, group in enumerate(groups(result)):
            _group_windows(axes, result, trace, group, look(index))
    axes.set_ylim(bottom=0)


def _group_windows(axes: Axes, result: Result, trace: pl.DataFrame, group: str, style: Look) -> None:
    members = result.flows.filter(pl.col("group") == group)
    frame = trace.filter(pl.col("flow").cast(pl.String).is_in(members["flow"].implode()))
    for name in members["flow"].head(20):
        single = frame.filter(pl.col("flow") == name)
        axes.plot(single["time_s"], single["cwnd_packets"], color=style.color, linewidth=0.6, alpha=0.3)
    mean = frame.group_by("time_s").agg(pl.col("cwnd_packets").mean()).sort("time_s")
    axes.plot(
        mean["time_s"],
        mean["cwnd_packets"],
        color=style.color,
        linestyle=style.linestyle,
        linewidth=2.0,
        label=f"{group}: {members['rule'][0]}" + (f", mean of {members.height} flows" if members.height > 1 else ""),
    )


def goodput(axes: Axes, result: Result, *, style: Look | None = None, label: str = "all flows") -> None:
    """Draw the flows' total goodput over time, and the bandwidth that was available to them."""
    total = result.traces["rate"].group_by("time_s").agg(pl.col("goodput_bps").sum()).sort("time_s")
    style = style or look(0)
    axes.step(
        total["time_s"],
        total["goodput_bps"] / 1e6,
        where="post",
        color=style.color,
        linewidth=1.5,
        label=f"goodput, {label}",
    )
    available(axes, result)
    axes.set_ylabel("goodput [Mbit/s]")
    axes.set_ylim(bottom=0)


def available(axes: Axes, result: Result) -> None:
    """Draw the available bandwidth: its course if it was traced, otherwise its mean as a level line."""
    link = bottleneck(result)
    line = {"color": REFERENCE, "linestyle": "--", "linewidth": 1.2}
    if "available" in result.traces:
        frame = result.traces["available"].filter(pl.col("link") == link["link"])
        times = np.append(frame["time_s"].to_numpy(), result.simulated_s)
        rates = frame["available_bps"].to_numpy() / 1e6
        axes.step(times, np.append(rates, rates[-1:]), where="post", label="available", **line)
    elif link["available_bps"]:
        axes.axhline(link["available_bps"] / 1e6, label="available, mean", **line)


def queue(axes: Axes, result: Result, *, style: Look | None = None) -> None:
    """Draw the bottleneck's queue over time, and its limit."""
    link = bottleneck(result)
    trace = result.traces["queue"].filter(pl.col("link") == link["link"])
    style = style or look(0)
    axes.plot(
        trace["time_s"],
        trace["queue_packets"],
        color=style.color,
        linewidth=0.9,
        label=f"queue of {link['link']}",
    )
    if link["limit_packets"]:
        axes.axhline(link["limit_packets"], color=REFERENCE, linestyle="--", linewidth=1.2, label="limit")
    axes.set_ylabel("queue [packets]")
    axes.set_ylim(bottom=0)


def legend(axes: Axes) -> None:
    """Put the legend above the panel, where it hides no data."""
    handles, _ = axes.get_legend_handles_labels()
    if handles:
        axes.legend(
            loc="lower right",
            bbox_to_anchor=(1, 1),
            ncols=min(3, len(handles)),
            fontsize=8.5,
            borderaxespad=0.2,
        )
