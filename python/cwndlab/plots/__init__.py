"""Plots: matplotlib figures of results. Nothing here simulates.

Figures do not use pyplot, so they need no display and leave no global state. Lines differ by colour
AND by line style or marker.

>>> from cwndlab import dumbbell, plots, run
>>> trace = {"cwnd": "10ms", "queue": "10ms", "rate": "500ms"}
>>> result = run(dumbbell("10Mbit", "20ms", flows="AIMD(1, 0.5)", duration="5s", trace=trace))
>>> figure = plots.overview(result)
>>> [axes.get_ylabel() for axes in figure.axes[:3]]
['window [packets]', 'goodput [Mbit/s]', 'queue [packets]']
"""

from cwndlab.plots.assessment import league, verdicts
from cwndlab.plots.bands import bands
from cwndlab.plots.bars import comparison_bars
from cwndlab.plots.beside import beside
from cwndlab.plots.explained import explained
from cwndlab.plots.figure_style import FigureStyle, FigureStyleError
from cwndlab.plots.frontier import frontier
from cwndlab.plots.imported import imported
from cwndlab.plots.network import network
from cwndlab.plots.notebook import notebook_html
from cwndlab.plots.overview import overview
from cwndlab.plots.points import goodput_points, score_points
from cwndlab.plots.residual_bandwidth import available_bandwidths
from cwndlab.plots.rules import goodput_by_rule, queue_by_rule, windows_by_rule
from cwndlab.plots.shares import shares
from cwndlab.plots.style import look, panels, png_bytes, save, styled, svg_text
from cwndlab.plots.sweeps import sweep_points
from cwndlab.plots.waveforms import waveform

__all__ = [
    "FigureStyle",
    "FigureStyleError",
    "available_bandwidths",
    "bands",
    "beside",
    "comparison_bars",
    "explained",
    "frontier",
    "goodput_by_rule",
    "goodput_points",
    "imported",
    "league",
    "look",
    "network",
    "notebook_html",
    "overview",
    "panels",
    "png_bytes",
    "queue_by_rule",
    "save",
    "score_points",
    "shares",
    "styled",
    "svg_text",
    "sweep_points",
    "verdicts",
    "waveform",
    "windows_by_rule",
]
