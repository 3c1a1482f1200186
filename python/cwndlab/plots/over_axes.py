"""Means over the axis of one's choice, with a line per level of another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cwndlab.plots.drawing import (
    LINE_LABEL,
    current,
    figure_legend,
    label_line,
    legend_entries,
    legend_title,
    name,
    ordered,
    panel_title,
    part_labels,
    points,
    title_of,
    whiskers,
)
from cwndlab.plots.style import REFERENCE, log_scale, look, panels, styled

if TYPE_CHECKING:
    from cwndlab.metrics import Metric
    from cwndlab.plots.over import Over
    from cwndlab.plots.subjects import Measured

DECADE = 10.0
"""Ratio of the last value to the first above which the x axis is logarithmic."""
SPREAD = 0.3
"""Width over which lines are spread at one name so that whiskers do not overlap, in steps."""
MOST_TICKS = 8
"""Values that are all written at a logarithmic axis; of more, only the powers of ten are."""
UNITS = {
    "bdp": "BDP", "pkt": "packets", "bit": "bit/s", "kbit": "kbit/s", "Mbit": "Mbit/s",
    "Gbit": "Gbit/s",
}  # fmt: skip
"""Units of scenarios that figures write in another way."""
MOST_LABELS = 6
"""Lines that may have their names at their ends; more have a legend."""
MOST_MOVED = 1.0
"""Heights of its text that a name may be off its line's end."""
MOST_WIDE = 0.25
"""Share of the figure's width that names at the ends of lines may take."""


class End(NamedTuple):
    """The last point of a line; `y` is not a number where the line has none."""

    axes: Axes
    x: float
    y: float
    text: str
    color: str


@styled
def over_axes(subject: Measured, over: Over) -> Figure:
    """Draw means with their 95 % confidence intervals; a mean of one replicate has none.

    Lines have their names at their ends where there is room, else in a legend.

    Parameters
    ----------
    subject : Measured
        The runs.
    over : Over
        What is on x, as lines, as panels and on y.
    """
    summary, measures = subject.summary, {each.key: each for each in subject.measures}
    rows = [measures[key] for key in over.y or list(measures)[:1]]
    lines = ordered(levels(subject, over.hue))
    columns = levels(subject, over.panel)
    figure, axes = panels(
        len(rows), len(columns), sharex=True, sharey="row",
        width=max(6.0, 1.0 + 3.2 * len(columns)), height=3.0,
    )  # fmt: skip
    places = levels(subject, over.x)
    numbers, unit = numbers_of(places)
    is_log = "x" in over.log or (
        numbers is not None and min(numbers) > 0 and max(numbers) > DECADE * min(numbers)
    )
    ends: list[End] = []
    for index, axis in enumerate(axes):
        measure, column = rows[index // len(columns)], columns[index % len(columns)]
        chosen = where(summary.filter(metric=measure.key), over.panel, column)
        if over.panel is not None and index < len(columns):
            axis.set_title(panel_title(over.panel, column))
        ends += [
            _line(
                axis,
                where(chosen, over.hue, line),
                over.x,
                places,
                measure,
                line,
                number,
                SPREAD * (number - (len(lines) - 1) / 2) / len(lines),
                unnamed="simulated" if over.curves else "",
            )
            for number, line in enumerate(lines)
        ]
        if numbers is None:
            axis.set_xticks(range(len(places)), [name(place) for place in places])
        else:
            low, high = min(numbers), max(numbers)
            for number, curve in enumerate(over.curves):
                end = curve.draw(axis, low, high, is_log=is_log, number=number)
                ends.append(End(axis, high, end, curve.name, REFERENCE))
            if is_log:
                log_scale(axis, "x")
            if not is_log or len(numbers) <= MOST_TICKS:
                axis.set_xticks(numbers, [f"{number:g}" for number in numbers], minor=False)
                axis.set_xticks([], minor=True)
        if "y" in over.log:
            log_scale(axis, "y")
        if index % len(columns) == 0:
            axis.set_ylabel(title_of(measure))
        if index // len(columns) == len(rows) - 1:
            axis.set_xlabel(name(over.x) + (f" [{UNITS.get(unit, unit)}]" if unit else ""))
    # A limit of one panel ends the scaling of the others of its row: all lines come first.
    for index, axis in enumerate(axes):
        _refer(axis, rows[index // len(columns)], is_named=index == 0)
    head(figure, subject, "means (whiskers: 95 % confidence interval)")
    title = legend_title(over.hue)
    has_names = len(columns) == 1 and title is None
    if len(lines) + len(over.curves) > 1 and not (has_names and names_at_ends(figure, ends)):
        figure_legend(figure, *entries(axes[0], over), handlelength=3, title=title)
    return figure


def entries(axes: Axes, over: Over) -> tuple[list[Artist], list[str]]:
    """Return what a legend shows: the points first, then the formulas."""
    found = legend_entries(axes)
    curves = {curve.name for curve in over.curves}
    found.sort(key=lambda entry: entry[1] in curves)
    return [handle for handle, _ in found], [text for _, text in found]


def head(figure: Figure, subject: Measured, text: str) -> None:
    """Write what a figure shows above it; in a paper the caption says of what."""
    drawing = current()
    is_named = subject.title and not (drawing and drawing.style.style == "paper")
    title = f"{subject.title}: {text}" if is_named else f"{text[0].upper()}{text[1:]}"
    figure.suptitle(title, x=0.01, ha="left", fontsize=points(10.5))


def levels(subject: Measured, axis: str | None) -> list[str]:
    """Return the levels of an axis; one without a name where there is no axis."""
    return [""] if axis is None else list(subject.levels[axis])


def where(frame: pl.DataFrame, axis: str | None, level: str) -> pl.DataFrame:
    """Return the rows of a level; all of them where there is no axis."""
    return frame if axis is None else frame.filter(pl.col(axis) == level)


def numbers_of(levels: Sequence[str]) -> tuple[list[float] | None, str]:
    """Read levels as numbers of one unit; None where they are not.

    Examples
    --------
    >>> numbers_of(["0.5bdp", "2bdp"]), numbers_of(["red", "codel"])
    (([0.5, 2.0], 'bdp'), (None, ''))
    """
    found = [re.fullmatch(r"([0-9.]+(?:e[-+]?[0-9]+)?) ?([a-zA-Z%/]*)", one) for one in levels]
    parts = [each.groups() for each in found if each is not None]
    units = {unit for _, unit in parts}
    if len(parts) < len(levels) or len(units) != 1:
        return None, ""
    return [float(number) for number, _ in parts], units.pop()


def _line(
    axes: Axes, rows: pl.DataFrame, x: str, places: list[str], measure: Metric, line: str,
    number: int, beside: float, *, unnamed: str,
) -> End:  # fmt: skip
    by_place = {row[x]: row for row in rows.to_dicts() if row["mean"] is not None}
    found = [by_place.get(place, {}) for place in places]
    numbers, _ = numbers_of(places)
    style, text = look(number), name(line) if line else unnamed
    spots = np.arange(len(places)) + beside if numbers is None else np.array(numbers)
    means = np.array([row.get("mean", np.nan) * measure.scale for row in found])
    axes.errorbar(
        spots, means, yerr=whiskers(found, measure.scale), color=style.color, marker=style.marker,
        markersize=4.5, capsize=2.5, linewidth=1.2,
        # Every second line is hollow: two that agree, such as two homes, are both seen.
        markerfacecolor="none" if number % 2 else style.color,
        linestyle="" if numbers is None else style.linestyle, label=text,
    )  # fmt: skip
    last = np.nan if numbers is None else float(means[-1])
    return End(axes, float(spots[-1]), last, text, style.color)


def _refer(axes: Axes, measure: Metric, *, is_named: bool) -> None:
    """Mark what would be fair; such a scale begins at 0."""
    if measure.reference is None:
        return
    height = measure.reference * measure.scale
    axes.axhline(height, color=REFERENCE, linestyle=":", linewidth=1.1, zorder=1)
    axes.set_ylim(bottom=0)
    if is_named:
        axes.annotate(
            "equal share", (0.01, height), xycoords=("axes fraction", "data"), xytext=(0, 2),
            textcoords="offset points", va="bottom", fontsize=points(8.5), color=REFERENCE,
        )  # fmt: skip


def names_at_ends(figure: Figure, ends: Sequence[End]) -> bool:
    """Name lines right of their ends, unless there is no room; return whether there is."""
    panels = {id(end.axes): end.axes for end in ends}.values()
    if len(ends) > MOST_LABELS * len(panels) or not all(np.isfinite(end.y) for end in ends):
        return False
    for end in ends:
        label_line(end.axes, end.x, end.y, end.text, end.color, is_outside=True)
    moved = part_labels(figure)
    names = [text for panel in panels for text in panel.texts if text.get_label() == LINE_LABEL]
    widest = max(text.get_window_extent().width for text in names)
    if moved <= MOST_MOVED and widest <= MOST_WIDE * figure.bbox.width:
        return True
    for text in names:
        text.remove()
    return False
