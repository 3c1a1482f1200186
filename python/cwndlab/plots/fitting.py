"""Fits a figure to its style: nothing is clipped, no texts overlap, lines suit the text."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator

from cwndlab.message import invalid_value, plural
from cwndlab.plots.drawing import RISING, Drawing, Panels, legend_entries, part_labels, points
from cwndlab.plots.figure_style import FigureStyleError
from cwndlab.plots.style import LabFigure, styled

NARROW_IN = 6.0
"""Width, in inches of the usual style, under which a legend stands above its panel."""
PAPER_DPI = 300
TICK_POINTS = 9.0
"""Size of the numbers at axes, in points of the usual style."""
SPOT_POINTS = 8.0
"""Size of text in a spot, in points of the usual style."""
LEAST_PANEL_IN = 0.3
"""Height inside under which a panel shows nothing, in inches of the usual style."""
ROOM_SHARE = 0.96
"""Share of the figure's width that legends take at most."""
ROUNDS = 3
GAP_POINTS = 3.0
SUPTITLE, SUPYLABEL, LEFT_TITLE = "_suptitle", "_supylabel", "_left_title"
SLANT_LINES = 1.9
"""Distance between slanted names that do not overlap, in heights of their text."""


@styled
def fit(drawing: Drawing, panels: Panels) -> None:
    """Fit a drawn figure to its style."""
    figure = panels.figure
    if panels.is_stacked:
        _name_stacked(panels)
    _scale_lines(figure, drawing.scale)
    if drawing.style.style == "paper" and isinstance(figure, LabFigure):
        figure.saved_dpi = PAPER_DPI
    if drawing.style.style != "screen":
        # Ticks made while the file is written would have the size of the usual style.
        for axes in panels.axes:
            axes.tick_params(labelsize=points(TICK_POINTS))
    if figure.get_figwidth() / drawing.scale < NARROW_IN:
        shown: set[tuple[str, str, str]] = set()
        for axes in panels.axes:
            _raise_legend(figure, axes, shown)
    texts = _texts(panels)
    with warnings.catch_warnings():
        # A figure without room for its panels: the check below says so.
        warnings.filterwarnings("ignore", "constrained_layout not applied")
        for _ in range(ROUNDS):
            figure.draw_without_rendering()
            _wrap_all(panels, texts)
            figure.draw_without_rendering()
            _part_ticks(panels)
            figure.draw_without_rendering()
            if drawing.style.height_in is None:
                _grow(panels)
        # Panels have another height than when the lines got their names.
        part_labels(figure)
    _refuse_too_small(drawing, panels)


def _refuse_too_small(drawing: Drawing, panels: Panels) -> None:
    """Raise an error if the panels have no room."""
    boxes = [axes.get_position(original=True) for axes in panels.axes]
    figure, least = panels.figure, LEAST_PANEL_IN * drawing.scale
    sides = (
        ("height", figure.get_figheight(), min(box.height for box in boxes)),
        ("width", figure.get_figwidth(), min(box.width for box in boxes)),
    )
    for key, length, share in sides:
        if length * share < least:
            raise FigureStyleError(
                key,
                invalid_value(
                    f"{length:.3g}in",
                    f"more room for {plural(len(boxes), 'panel')} with text of "
                    f"{drawing.style.text.points:g} pt",
                ),
            )


def _name_stacked(panels: Panels) -> None:
    """Give panels the titles and labels that they shared with their neighbours."""
    for index, axes in enumerate(panels.axes):
        row, column = divmod(index, panels.columns)
        if not axes.get_ylabel():
            first = panels.axes[row * panels.columns]
            axes.set_ylabel(first.get_ylabel(), fontsize=first.yaxis.label.get_fontsize())
        if not axes.get_title("left") and row:
            axes.set_title(panels.axes[column].get_title("left"), loc="left")
        if panels.shares_x:
            axes.label_outer()
            axes.tick_params(labelleft=True)


def _scale_lines(figure: Figure, scale: float) -> None:
    for line in figure.findobj(Line2D):
        line.set_linewidth(line.get_linewidth() * scale)
        line.set_markersize(line.get_markersize() * scale)
    for lines in figure.findobj(LineCollection):
        lines.set_linewidth([scale * width for width in np.atleast_1d(lines.get_linewidth())])
    for spots in figure.findobj(PathCollection):
        # They hold texts, which are never smaller than the style's least.
        spots.set_sizes(spots.get_sizes() * max(scale, points(SPOT_POINTS) / SPOT_POINTS) ** 2)


def _raise_legend(figure: Figure, axes: Axes, shown: set[tuple[str, str, str]]) -> None:
    """Move a legend to between the title and the panel, without what panels above have shown."""
    legend = axes.get_legend()
    if legend is None or legend.get_label() != RISING:
        return
    entries: list[tuple[Artist, str]] = []
    for handle, text in legend_entries(axes):
        line = handle if isinstance(handle, Line2D) else None
        entry = (text, str(line and line.get_color()), str(line and line.get_linestyle()))
        if line is None or entry not in shown:
            entries.append((handle, text))
        shown.add(entry)
    if not entries:
        legend.remove()
        return
    handles, texts = zip(*entries, strict=True)
    size = legend.get_texts()[0].get_fontsize()
    figure.draw_without_rendering()
    box = legend.get_window_extent()
    for columns in range(len(texts), 0, -1):
        legend = axes.legend(
            handles, texts, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns,
            fontsize=size, borderaxespad=0.0, borderpad=0.2, handlelength=2.2, columnspacing=1.0,
            labelspacing=0.3,
        )  # fmt: skip
        box = legend.get_window_extent()
        if axes.get_window_extent().x0 + box.width <= ROOM_SHARE * figure.bbox.width:
            break
    # It may be wider than the panel, up to the edge of the figure.
    legend.set_in_layout(False)
    pad = box.height * 72 / figure.dpi + GAP_POINTS
    axes.set_title(axes.get_title("left"), loc="left", pad=pad)


def _part_ticks(panels: Panels) -> None:
    """Slant names below an axis that would overlap."""
    for axes in panels.axes:
        if not isinstance(axes.xaxis.get_major_locator(), FixedLocator):
            continue
        labels = [label for label in axes.get_xticklabels() if label.get_text()]
        boxes = [label.get_window_extent() for label in labels if label.get_visible()]
        if any(left.x1 + 2 > right.x0 for left, right in pairwise(boxes)):
            spots = [axes.transData.transform((label.get_position()[0], 0))[0] for label in labels]
            line = SLANT_LINES * float(labels[0].get_fontsize()) * panels.figure.dpi / 72
            angle = 90 if any(right - left < line for left, right in pairwise(spots)) else 35
            for label in labels:
                label.set(
                    rotation=angle, ha="right", rotation_mode="anchor",
                    va="center" if angle == 90 else "top",
                )  # fmt: skip


def _text(owner: Figure | Axes, attribute: str) -> Text | None:
    """Return a text that matplotlib has only as a private attribute."""
    found = getattr(owner, attribute, None)
    return found if isinstance(found, Text) else None


def _texts(panels: Panels) -> dict[Text, str]:
    """Return what may have to be broken into lines, as it is written before."""
    figure = panels.figure
    found = [_text(figure, SUPTITLE), _text(figure, SUPYLABEL)]
    for axes in panels.axes:
        found += [_text(axes, LEFT_TITLE), axes.xaxis.label, axes.yaxis.label]
    return {text: text.get_text() for text in found if text is not None}


def _wrap_all(panels: Panels, texts: dict[Text, str]) -> None:
    """Break texts at words where they would leave the figure or their panel."""
    figure = panels.figure
    whole = figure.bbox
    most: dict[Text | None, float] = {
        _text(figure, SUPTITLE): 0.97 * whole.width,
        _text(figure, SUPYLABEL): 0.97 * whole.height,
    }
    for axes in panels.axes:
        box = axes.get_window_extent()
        middle = (box.x0 + box.x1) / 2
        most[_text(axes, LEFT_TITLE)] = whole.x1 - box.x0 - 2
        most[axes.xaxis.label] = min(1.15 * box.width, 1.98 * min(middle, whole.x1 - middle))
        middle = (box.y0 + box.y1) / 2
        most[axes.yaxis.label] = min(1.1 * box.height, 1.96 * min(middle, whole.y1 - middle))
    for text, written in texts.items():
        upright = text.get_rotation() == 90
        _wrap(text, written, most[text], is_upright=upright)


def _wrap(text: Text, whole: str, most: float, *, is_upright: bool) -> None:
    """Break a text into lines of at most this length, pixels, where it has spaces."""

    def is_short(candidate: str) -> bool:
        text.set_text(candidate)
        box = text.get_window_extent()
        return (box.height if is_upright else box.width) <= most

    if not whole.strip() or is_short(whole):
        text.set_text(whole)
        return
    lines: list[str] = []
    for paragraph in whole.split("\n"):
        line = ""
        for word in paragraph.split():
            longer = f"{line} {word}" if line else word
            if line and not is_short(longer):
                lines.append(line)
                longer = word
            line = longer
        lines.append(line)
    text.set_text("\n".join(lines))


def _grow(panels: Panels) -> None:
    """Make the figure higher or lower, so that the panels have the height inside that they need."""
    figure = panels.figure
    heights = [axes.get_position().height * figure.get_figheight() for axes in panels.axes]
    rows = len({round(axes.get_position().y0, 3) for axes in panels.axes})
    missing = panels.inner_in - min(heights)
    figure.set_figheight(figure.get_figheight() + rows * missing)
