"""Panels over time: windows, goodput with available bandwidth, queue."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from cwndlab.custom_rules import shown
from cwndlab.plots.drawing import RISING, as_float, name, ordered, points
from cwndlab.plots.style import REFERENCE, Look, look

if TYPE_CHECKING:
    from cwndlab.plots.subjects import Run

MAX_SINGLE_FLOWS = 6
"""Largest number of flows with their own lines and legend entries; more are drawn by group."""
MAX_FAINT_FLOWS = 20
UNMEASURED = "#ececec"
CLIP_FACTOR = 1.5
"""Windows are clipped if start-up exceeds the measured time by this factor.

Start-up would flatten the rest of the plot.
"""


class Series(NamedTuple):
    """Flows that share a line."""

    label: str
    flows: list[str]
    look: Look


def bottleneck(result: Run) -> dict[str, Any]:
    """Pick the link that matters most.

    It is the one named ``bottleneck``, otherwise the one with the most drops.
    """
    rows = result.links.to_dicts()
    named = [row for row in rows if row["link"] == "bottleneck"]
    return named[0] if named else max(rows, key=lambda row: row["total_dropped_packets"])


def groups(result: Run) -> list[Series]:
    """Flows by group, in the scenario's order.

    A group has the look of its first flow among single flows.
    """
    single = result.flows.height <= MAX_SINGLE_FLOWS
    found: list[tuple[str, str, list[str]]] = []
    first = 0
    for (group,), frame in result.flows.group_by("group", maintain_order=True):
        count = f", {frame.height} flows" if frame.height > 1 else ""
        label = name(str(group), shown(frame["rule"][0])) + count
        found.append((str(group), label, frame["flow"].to_list()))
    series: list[Series] = []
    for _, label, flows in ordered(found, key=itemgetter(0)):
        series.append(Series(label, flows, look(first)))
        first += len(flows) if single else 1
    return series


def _flows(result: Run) -> list[tuple[str, str]]:
    """Flows with their rules, in the order of `groups`, so that both have the same looks."""
    rules = dict(result.flows.select("flow", "rule").iter_rows())
    flows = [flow for series in groups(result) for flow in series.flows]
    return [(flow, rules[flow]) for flow in ordered(flows)]


def windows(axes: Axes, result: Run) -> None:
    """Draw congestion windows over time.

    Many flows are faint lines, with each group's mean in bold.
    """
    trace = result.traces["cwnd"]
    axes.set_ylabel("window [packets]")
    if result.flows.height <= MAX_SINGLE_FLOWS:
        for index, (flow, rule) in enumerate(_flows(result)):
            _line(
                axes,
                trace.filter(pl.col("flow") == flow),
                look(index),
                1.3,
                name(flow, shown(rule)),
            )
    else:
        for series in groups(result):
            frame = faint_windows(axes, trace, series.flows, series.look)
            _line(axes, frame, series.look, 2.0, series.label)
    is_by_group = result.flows.height > MAX_SINGLE_FLOWS
    bold = " (bold: mean of the group's flows)" if is_by_group else ""
    axes.set_title(f"Congestion window{bold}{clip_start_up(axes, [result])}")
    if "rule" in result.traces and result.flows.height == 1:
        shade_phases(axes, result)


PHASE_COLORS = {
    "slow start": "#f2a900",
    "recovery": "#d1495b",
    "loss": "#444444",
    "Startup": "#f2a900",
    "Drain": "#7b4ea3",
    "ProbeBW_DOWN": "#2e86ab",
    "ProbeBW_REFILL": "#66a182",
    "ProbeBW_UP": "#d1495b",
    "ProbeRTT": "#444444",
}
"""Shades of phases; congestion avoidance, and cruising, are the background."""


def shade_phases(axes: Axes, result: Run) -> None:
    """Shade the phases of a single flow's rule or sender, each with an entry in the legend."""
    trace = result.traces["rule"].select("time_s", pl.col("phase").cast(pl.String))
    spans = trace.with_columns(
        begins=(pl.col("phase") != pl.col("phase").shift()).fill_null(value=True)
    ).filter("begins")
    ends = [*spans["time_s"].to_list()[1:], result.simulated_s]
    for phase in spans["phase"].unique(maintain_order=True):
        if (color := PHASE_COLORS.get(phase)) is None:
            continue
        axes.broken_barh(
            [
                (begin, end - begin)
                for begin, at, end in zip(spans["time_s"], spans["phase"], ends, strict=True)
                if at == phase
            ],
            (0, 1),
            transform=axes.get_xaxis_transform(),
            color=color,
            alpha=0.2,
            linewidth=0,
            label=phase,
            zorder=0,
        )


def shade_unmeasured(axes: Axes, result: Run, label: str | None = None) -> bool:
    """Shade the time outside the measuring window, on which no number of the run depends.

    Return whether there is any: of a run that is measured as a whole nothing is shaded.
    """
    ends = (0.0, result.measure_from_s), (result.measure_to_s, result.simulated_s)
    spans = [(begin, end) for begin, end in ends if begin < end]
    for index, span in enumerate(spans):
        axes.axvspan(
            *span, color=UNMEASURED, linewidth=0, zorder=-1, label=None if index else label
        )
    return bool(spans)


def faint_windows(axes: Axes, trace: pl.DataFrame, flows: list[str], style: Look) -> pl.DataFrame:
    """Draw single windows faintly, and return their mean over time."""
    for flow in flows[:MAX_FAINT_FLOWS]:
        single = trace.filter(pl.col("flow") == flow)
        axes.plot(
            single["time_s"], single["cwnd_packets"], color=style.color, linewidth=0.5, alpha=0.35
        )
    frame = trace.filter(pl.col("flow").cast(pl.String).is_in(flows))
    return frame.group_by("time_s").agg(pl.col("cwnd_packets").mean()).sort("time_s")


def _line(axes: Axes, frame: pl.DataFrame, style: Look, width: float, label: str) -> None:
    axes.plot(
        frame["time_s"],
        frame["cwnd_packets"],
        color=style.color,
        linestyle=style.linestyle,
        linewidth=width,
        label=label,
    )


def clip_start_up(axes: Axes, results: list[Run]) -> str:
    """Scale windows to the measured time if start-up is far above it.

    Return a note about it.
    """
    whole = measured = 0.0
    for result in results:
        trace = result.traces["cwnd"]
        whole = max(whole, as_float(trace["cwnd_packets"].max()))
        later = trace.filter(pl.col("time_s") >= result.measure_from_s)
        measured = max(measured, as_float(later["cwnd_packets"].max()))
    if measured > 0 and whole > CLIP_FACTOR * measured:
        axes.set_ylim(top=1.1 * measured)
        return f" (start-up clipped, it reached {whole:.0f})"
    return ""


def goodput(axes: Axes, result: Run, *, style: Look | None = None) -> None:
    """Draw goodput over time, of each group, or of all flows if there is only one group."""
    trace = result.traces["rate"]
    several = groups(result)
    shared = bottleneck(result)["link"] == "bottleneck"
    if len(several) > 1:
        for series in several:
            frame = trace.filter(pl.col("flow").cast(pl.String).is_in(series.flows))
            _steps(axes, frame, result, series.label, **_drawn(series.look), linewidth=1.2)
    if shared or len(several) == 1:
        style = style or look(0)
        drawn = {"color": "#888888"} if len(several) > 1 else {"color": style.color}
        _steps(axes, trace, result, "all flows", **drawn, linewidth=1.5)
    if shared:
        available(axes, result)
    axes.set_ylabel("goodput [Mbit/s]")
    # A group of a single flow is no sum.
    is_sum = len(several) > 1 and any(len(series.flows) > 1 for series in several)
    axes.set_title("Goodput (sum per group)" if is_sum else "Goodput")


def _drawn(style: Look) -> dict[str, Any]:
    return {"color": style.color, "linestyle": style.linestyle}


def _steps(axes: Axes, frame: pl.DataFrame, result: Run, label: str, **line: Any) -> None:
    total = frame.group_by("time_s").agg(pl.col("goodput_bps").sum()).sort("time_s")
    times, rates = total["time_s"].to_numpy(), total["goodput_bps"].to_numpy() / 1e6
    if len(times) > 1:
        # Bins are given by their start; the last one ends a bin later, or with the run.
        end = min(2 * times[-1] - times[-2], result.simulated_s)
        times, rates = np.append(times, end), np.append(rates, rates[-1])
    axes.step(times, rates, where="post", label=label, **line)


def available(axes: Axes, result: Run) -> None:
    """Draw the available bandwidth.

    It is drawn over time if it was traced, otherwise as its mean.
    """
    link = bottleneck(result)
    line: dict[str, Any] = {"color": REFERENCE, "linestyle": "--", "linewidth": 1.1}
    if "available" in result.traces:
        frame = result.traces["available"].filter(pl.col("link") == link["link"])
        times = np.append(frame["time_s"].to_numpy(), result.simulated_s)
        rates = frame["available_bps"].to_numpy() / 1e6
        axes.step(times, np.append(rates, rates[-1:]), where="post", label="available", **line)
    elif link["available_bps"]:
        axes.axhline(link["available_bps"] / 1e6, label="available, mean", **line)


def queue(axes: Axes, result: Run, *, style: Look | None = None) -> None:
    """Draw the bottleneck's queue over time, and its limit."""
    link = bottleneck(result)
    trace = result.traces["queue"].filter(pl.col("link") == link["link"])
    color = (style or look(0)).color
    axes.plot(
        trace["time_s"],
        trace["queue_packets"],
        color=color,
        linewidth=0.9,
        label=f"queue of {link['link']}",
    )
    if link["limit_packets"]:
        axes.axhline(
            link["limit_packets"], color=REFERENCE, linestyle="--", linewidth=1.1, label="limit"
        )
    axes.set_ylabel("queue [packets]")
    axes.set_title("Queue")


def legend(axes: Axes) -> None:
    """Put the legend beside the panel, where it hides nothing."""
    handles, _ = axes.get_legend_handles_labels()
    if handles:
        legend = axes.legend(
            loc="upper left",
            bbox_to_anchor=(1.0, 1.0),
            fontsize=points(8.5),
            borderaxespad=0.2,
            handlelength=2.6,
        )
        legend.set_label(RISING)
