"""Overview of one run: windows, goodput and queue over one time axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cwndlab.message import one_of
from cwndlab.plots import timelines
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
    """Draw the traces of a result, one panel each.

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
    figure, axes = panels(len(present), sharex=True, width=width, height=height)
    for table, panel in zip(present, axes, strict=True):
        PANELS[table](panel, result)
        panel.set_ylim(bottom=0)
        timelines.legend(panel)
    axes[-1].set_xlabel("time [s]")
    axes[-1].set_xlim(0, result.simulated_s)
    return figure
