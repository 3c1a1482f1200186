"""The window of a recorded flow, and that of its scenario, over one time axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from cwndlab.plots import timelines
from cwndlab.plots.drawing import name, ordered
from cwndlab.plots.style import look, panels, styled

if TYPE_CHECKING:
    from cwndlab.plots.subjects import ImportedFlow

POINTS = 1500
"""Times that are drawn: more than a page has dots."""
SERIES = {"recorded": "recorded_packets", "simulated": "simulated_packets"}
WORDS = {"flight": "packets in flight", "cwnd": "congestion window"}


@styled
def imported(found: ImportedFlow, *, width: float = 9.0, height: float = 3.2) -> Figure:
    """Draw the recorded and the simulated window of an imported flow.

    Parameters
    ----------
    found : Imported
        What `cwndlab.import_pcap` or `cwndlab.import_qlog` returns.
    width, height : float
        Inches.
    """
    windows = found.windows(POINTS)
    figure, (axes,) = panels(1, width=width, height=height)
    for index, series in enumerate(ordered(SERIES)):
        axes.plot(
            windows["time_s"], windows[SERIES[series]], label=name(series),
            color=look(index).color, linestyle=look(index).linestyle,
            linewidth=2.2 if series == "recorded" else 1.4,
        )  # fmt: skip
    axes.set_ylabel(f"{found.window} [packets]")
    axes.set_xlabel("time [s]")
    axes.set_xlim(0, float(windows["time_s"][-1]))
    axes.set_ylim(bottom=0)
    axes.set_title(
        f"{WORDS[found.window].capitalize()}: {name(found.rule)} differs from the recorded flow by "
        f"{100 * found.difference:.1f} % of the mean"
    )
    timelines.legend(axes)
    return figure
