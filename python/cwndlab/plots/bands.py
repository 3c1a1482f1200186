"""Windows, goodput and queue over time, with what differs between replicates as a band."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cwndlab.arguments import listed
from cwndlab.custom_rules import shown
from cwndlab.message import invalid
from cwndlab.plots.drawing import figure_legend, name, ordered, points
from cwndlab.plots.over_axes import End, names_at_ends
from cwndlab.plots.style import Look, look, panels, styled
from cwndlab.plots.timelines import bottleneck

if TYPE_CHECKING:
    from cwndlab.plots.subjects import Run


class Panel(NamedTuple):
    """A trace, its column, and the factor and name with which a panel shows it."""

    trace: str
    column: str
    scale: float
    title: str


PANELS = (
    Panel("cwnd", "cwnd_packets", 1.0, "window [packets]"),
    Panel("rate", "goodput_bps", 1e-6, "goodput [Mbit/s]"),
    Panel("queue", "queue_packets", 1.0, "queue [packets]"),
)
TRACES = tuple(panel.trace for panel in PANELS)


@styled
def bands(
    replicates: Sequence[Run] | Mapping[str, Sequence[Run]],
    traces: str | Sequence[str] = TRACES,
) -> Figure:
    """Draw the median over replicates of what was traced, and a band between its quartiles.

    The window is the mean of the flows of a group, goodput their sum. A mapping has the replicates
    of several scenarios, whose flows are one group each, under the mapping's names.

    Parameters
    ----------
    replicates : sequence of Result, or mapping of str to it
        Runs that differ in their seeds, with the same intervals of the traces ``cwnd``, ``rate``
        and ``queue``, or of some of these.
    traces : str or sequence of str
        What has a panel, where it was traced.

    Raises
    ------
    ValueError
        If there are no two replicates, or without a trace.

    Examples
    --------
    >>> from cwndlab import dumbbell, plots, run
    >>> link = {"access_delay": ["1ms", "9ms"]}
    >>> two = dumbbell("5Mbit", "10ms", flows=["CUBIC", "Reno"], duration="5s", link=link,
    ...                trace={"cwnd": "100ms", "queue": "100ms"})
    >>> figure = plots.bands([run(two, seed=seed) for seed in range(1, 5)])
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['window [packets]', 'queue [packets]']
    """
    runs = dict(replicates) if isinstance(replicates, Mapping) else {"": list(replicates)}
    fewest = min((len(own) for own in runs.values()), default=0)
    if fewest < 2:
        raise ValueError(invalid("replicates", fewest, "two runs or more with their own seeds"))
    every = [run for own in runs.values() for run in own]
    asked = [panel for panel in PANELS if panel.trace in listed(traces)]
    traced = [panel for panel in asked if all(panel.trace in run.traces for run in every)]
    if not traced:
        expected = f"runs with a trace {', '.join(panel.trace for panel in PANELS)}"
        raise ValueError(invalid("replicates", "without traces", expected))
    height = 3.2 if len(traced) == 1 else 2.0
    figure, axes = panels(len(traced), sharex=True, width=8.0, height=height)
    are_groups = not isinstance(replicates, Mapping)
    rules = _rules(every[0]) if are_groups else {}
    names = ordered(rules if are_groups else runs)
    looks = {text: look(index) for index, text in enumerate(names)}
    ends: list[End] = []
    for panel, shown_trace in zip(axes, traced, strict=True):
        frames = _series(runs, shown_trace, names)
        for text, frame in frames.items():
            parts = (text, rules[text]) if text in rules else (shown(text),)
            label = name(*parts) if text else "bottleneck"
            style = looks.get(text, look(len(looks)))
            last = _draw(panel, frame, shown_trace, style, label)
            ends.append(End(panel, *last, label, style.color))
        panel.margins(x=0)
        panel.set_ylabel(shown_trace.title)
        panel.set_ylim(bottom=0)
    axes[-1].set_xlabel("time [s]")
    many = sorted({len(own) for own in runs.values()})
    count = f"{many[0]}" if len(many) == 1 else f"{many[0]} to {many[-1]}"
    title = f"Median of {count} replicates (band: from the lower to the upper quartile)"
    figure.suptitle(title, x=0.01, ha="left", fontsize=points(10.5))
    found = {str(text): handle for panel in axes
             for handle, text in zip(*panel.get_legend_handles_labels(), strict=True)}  # fmt: skip
    if len(found) > 1 and not names_at_ends(figure, ends):
        figure_legend(figure, list(found.values()), list(found), handlelength=3)
    return figure


def _rules(run: Run) -> dict[str, str]:
    """Return the rule of each group."""
    first = run.flows.unique("group", keep="first", maintain_order=True)
    return {str(group): shown(rule) for group, rule in first.select("group", "rule").iter_rows()}


def _series(
    runs: Mapping[str, Sequence[Run]], panel: Panel, names: Sequence[str]
) -> dict[str, pl.DataFrame]:
    """Return the values of all replicates over time, by the name of their line."""
    if "" not in runs:
        return {text: _values(runs[text], panel, None) for text in names}
    if panel.trace == "queue":
        return {"": _values(runs[""], panel, None)}
    return {text: _values(runs[""], panel, text) for text in names}


def _values(runs: Sequence[Run], panel: Panel, group: str | None) -> pl.DataFrame:
    """Return `time_s` and `value`, a row for each replicate."""
    whole = pl.col(panel.column)
    together = whole.sum() if panel.trace == "rate" else whole.mean()
    found: list[pl.DataFrame] = []
    for run in runs:
        trace = run.traces[panel.trace]
        if panel.trace == "queue":
            trace = trace.filter(pl.col("link").cast(pl.String) == bottleneck(run)["link"])
        elif group is not None:
            flows = run.flows.filter(group=group)["flow"].to_list()
            trace = trace.filter(pl.col("flow").cast(pl.String).is_in(flows))
        found.append(trace.group_by("time_s").agg(value=together * panel.scale))
    return pl.concat(found)


def _draw(
    axes: Axes, values: pl.DataFrame, panel: Panel, style: Look, label: str
) -> tuple[float, float]:
    """Draw a line with its band; return its end."""
    value = pl.col("value")
    over_time = (
        values.group_by("time_s")
        .agg(low=value.quantile(0.25, "linear"), middle=value.median(),
             high=value.quantile(0.75, "linear"))
        .sort("time_s")
    )  # fmt: skip
    times, is_rate = over_time["time_s"].to_numpy(), panel.trace == "rate"
    axes.fill_between(
        times, over_time["low"].to_numpy(), over_time["high"].to_numpy(), color=style.color,
        alpha=0.22, linewidth=0, step="post" if is_rate else None,
    )  # fmt: skip
    axes.plot(
        times, over_time["middle"], color=style.color, linestyle=style.linestyle, linewidth=1.3,
        drawstyle="steps-post" if is_rate else "default",
        label=label,
    )  # fmt: skip
    return float(times[-1]), float(over_time["middle"][-1])
