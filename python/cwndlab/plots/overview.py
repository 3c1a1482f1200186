"""Overview of one run: windows, goodput and queue over one time axis, and what limited flows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cwndlab.message import one_of
from cwndlab.plots import limits, timelines
from cwndlab.plots.style import panels, styled

if TYPE_CHECKING:
    from cwndlab.plots.subjects import Run

PANELS: dict[str, Callable[[Axes, Run], object]] = {
    "cwnd": timelines.windows,
    "rate": timelines.goodput,
    "queue": timelines.queue,
}


@styled
def overview(result: Run, *, width: float = 9.0, height: float = 2.4) -> Figure:
    """Draw the traces of a result, one panel each, and shares of time by what limited the flows.

    The time outside the measuring window is grey.

    Parameters
    ----------
    result : Result
        With at least one of the traces ``cwnd``, ``rate``, ``queue``.
    width, height : float
        Inches; the height is that of one panel.

    Raises
    ------
    ValueError
        If the result has none of these traces.
    """
    present = [table for table in PANELS if table in result.traces]
    if not present:
        raise ValueError(
            "the result has no traces to plot: expected a scenario whose `[trace]` has "
            + one_of(PANELS)
        )
    has_limits = limits.are_known(result)
    figure, axes = panels(len(present) + has_limits, width=width, height=height)
    over_time = axes[: len(present)]
    for table, panel in zip(present, over_time, strict=True):
        PANELS[table](panel, result)
        panel.set_ylim(bottom=0)
        panel.set_xlim(0, result.simulated_s)
        panel.tick_params(labelbottom=panel is over_time[-1])
        # One entry of a legend serves all panels, which share the axis of time.
        label = "not measured" if panel is over_time[0] else None
        timelines.shade_unmeasured(panel, result, label)
        timelines.legend(panel)
    over_time[-1].set_xlabel("time [s]")
    if has_limits:
        limits.limits(axes[-1], result)
        timelines.legend(axes[-1])
    return figure
