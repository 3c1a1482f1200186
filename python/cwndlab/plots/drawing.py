"""The figure being drawn in a style: its names, order, text sizes and panels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Annotation

from cwndlab.plots.figure_style import FigureStyle, same

if TYPE_CHECKING:
    from cwndlab.metrics import Metric

Drawn = TypeVar("Drawn")
Name = TypeVar("Name")

USUAL_POINTS = 10
LEAST_SHRINK = 0.6
"""A narrow panel is also lower, but not lower than this share of its usual height."""
INNER = 0.62
"""Share of a panel's height that is inside its axes."""
LEAST_INNER_IN = 1.1
LINE_LABEL = "label of a line"
"""Marks texts that `part_labels` moves."""
RISING = "may stand above its panel"
"""Marks legends that a narrow figure has above their panels."""
LABEL_POINTS = 9.0
HEADLINE_POINTS, NOTE_POINTS = 11.0, 9.0
"""Sizes of a headline, and of what stands below it."""


def whiskers(rows: Iterable[Mapping[str, Any]], scale: float = 1.0) -> np.ndarray:
    """Return the lengths of whiskers below and above means; 0 without an interval.

    Parameters
    ----------
    rows : iterable of mapping
        Each with ``mean``, ``ci95_low`` and ``ci95_high``, or empty.
    scale : float
        Factor to the shown unit.

    Returns
    -------
    ndarray, shape (2, rows)
        As `yerr` of matplotlib's `errorbar` takes it.

    Examples
    --------
    >>> whiskers([{"mean": 3.0, "ci95_low": 2.0, "ci95_high": 5.0}, {}], 10.0).tolist()
    [[10.0, 0.0], [20.0, 0.0]]
    """
    lengths = [
        (0.0, 0.0)
        if row.get("ci95_low") is None
        else (row["mean"] - row["ci95_low"], row["ci95_high"] - row["mean"])
        for row in rows
    ]
    # Rounding may put an end on the wrong side of its mean.
    return scale * np.maximum(np.array(lengths, dtype=float).reshape(-1, 2).T, 0.0)


@dataclass
class Panels:
    """Axes of a figure, row by row, as its plotting function counts them."""

    figure: Figure
    axes: list[Axes]
    columns: int
    is_stacked: bool
    shares_x: bool
    inner_in: float


@dataclass
class Drawing:
    """A figure in the making.

    Parameters
    ----------
    style : FigureStyle
        What is asked.
    seen : list of str
        Names that the figure shows so far, before they are replaced by labels.
    series : list of str
        Those of series, which have an order.
    has_baseline : bool
        Whether the first series is the one to compare with.
    panels : Panels, optional
        The axes, once they are made.
    """

    style: FigureStyle
    seen: list[str] = field(default_factory=list[str])
    series: list[str] = field(default_factory=list[str])
    has_baseline: bool = False
    panels: Panels | None = None

    @property
    def scale(self) -> float:
        """Size of the text compared to the usual one."""
        return self.style.text.points / USUAL_POINTS


_drawing: ContextVar[Drawing | None] = ContextVar("drawing", default=None)


def current() -> Drawing | None:
    """Return the figure that is drawn in a style, if any."""
    return _drawing.get()


def drawn(style: FigureStyle, draw: Callable[..., Drawn], *arguments: Any, **named: Any) -> Drawn:
    """Call a plotting function with a style, and fit the figure to it."""
    from cwndlab.plots.fitting import fit

    drawing = Drawing(style)
    token = _drawing.set(drawing)
    try:
        figure = draw(*arguments, **named)
        style.check(dict.fromkeys(drawing.seen), dict.fromkeys(drawing.series))
        put_title = (
            headline(figure, style.title)
            if style.title is not None and isinstance(figure, Figure)
            else None
        )
        if style.has_own_size and drawing.panels is not None:
            fit(drawing, drawing.panels)
        if put_title is not None:
            put_title()
    finally:
        _drawing.reset(token)
    return figure


def headline(figure: Figure, title: str) -> Callable[[], None]:
    """Make room for a headline above what a figure says of itself.

    Returns
    -------
    callable
        Writes it there, once the figure has its size.
    """
    note = figure.get_suptitle()
    size = points(HEADLINE_POINTS)
    above = figure.text(0.01, 1.0, title, va="top", weight="bold", fontsize=size)
    above.set_in_layout(False)
    words, lines = title.split(), [""]
    for word in words:
        above.set_text(f"{lines[-1]} {word}".strip())
        if lines[-1] and above.get_window_extent().width > 0.97 * figure.bbox.width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    above.set_text("\n".join(lines))
    # The note is of a smaller text, and begins below as many lines as the headline has.
    room = "\n" * math.ceil(len(lines) * HEADLINE_POINTS / NOTE_POINTS - 0.25)
    figure.suptitle(room + note if note else room[1:] + " ", x=0.01, ha="left", va="top",
                    fontsize=points(NOTE_POINTS))  # fmt: skip

    def put() -> None:
        figure.draw_without_rendering()
        margin = figure.get_layout_engine()
        pad = 0.04 if margin is None else float(margin.get().get("h_pad", 0.04))
        above.set_y(1.0 - pad / figure.get_figheight())

    return put


def name(*parts: str) -> str:
    """Return the label of a name; of several parts, such as flow and rule, joined by a colon."""
    whole = ": ".join(parts)
    drawing = current()
    if drawing is None:
        return whole
    labels = {same(key): label for key, label in drawing.style.labels.items()}
    drawing.seen += [whole] if len(parts) == 1 else [whole, *parts]
    if same(whole) in labels:
        return labels[same(whole)]
    return ": ".join(labels.get(same(part), part) for part in parts)


def label_of(metric: Metric) -> str:
    """Return the label of a metric, without its unit."""
    label = name(metric.key)
    return metric.label if label == metric.key else label


def title_of(metric: Metric) -> str:
    """Return the label of a metric with its unit, which `labels` leave as it is."""
    return f"{label_of(metric)} [{metric.unit}]" if metric.unit else label_of(metric)


def know(levels: Mapping[str, Iterable[str]], metrics: Iterable[Metric]) -> None:
    """Take axes, levels and metrics for known, whether or not the figure shows each of them."""
    drawing = current()
    if drawing is not None:
        drawing.seen += [*levels, *(text for found in levels.values() for text in found)]
        drawing.seen += [metric.key for metric in metrics]


UNCLEAR = ("home", "profile")
"""Axes whose levels do not say what they are: `linux` is one of both."""


def legend_title(axis: str | None) -> str | None:
    """Return the label of the axis whose levels a legend has.

    None if it was given none, and the levels speak for themselves.
    """
    label = None if axis is None else name(axis)
    return None if label == axis and axis not in UNCLEAR else label


def panel_title(axis: str, level: str) -> str:
    """Return the label of a level if only the level was given one, else those of axis and level."""
    label = name(level)
    return label if label != level and name(axis) == axis else f"{name(axis)} {label}"


def ordered(series: Iterable[Name], key: Callable[[Name], str] = str) -> list[Name]:
    """Put series into the order asked: the baseline, those named, the others.

    Parameters
    ----------
    series : iterable
        In their own order.
    key : callable
        The name of a series, by default itself.
    """
    found = list(series)
    drawing = current()
    if drawing is None:
        return found
    drawing.series += [key(one) for one in found]
    style = drawing.style
    first = [style.baseline] if style.baseline is not None else []
    places = {same(text): place for place, text in reversed([*enumerate([*first, *style.order])])}
    found.sort(key=lambda one: places.get(same(key(one)), len(places)))
    drawing.has_baseline = bool(first and found and same(key(found[0])) == same(first[0]))
    return found


def as_float(value: Any) -> float:
    """Return an aggregate of polars, which may have any type, as a number; nothing is 0."""
    return 0.0 if value is None else float(value)


def points(size: float) -> float:
    """Return a size of text, in points, that is `size` in the usual style."""
    drawing = current()
    if drawing is None or drawing.style.style == "screen":
        return size
    return max(drawing.style.text.least_points, min(size, USUAL_POINTS) * drawing.scale)


def room_in(usual: float) -> float:
    """Return the width of the figure, in inches of the usual style; `usual` if none is asked."""
    drawing = current()
    if drawing is None or not drawing.style.has_own_size:
        return usual
    width = drawing.style.width_in or drawing.style.text.width_in
    return usual if width is None else width / drawing.scale


def arrange(
    make: Callable[..., Figure],
    rows: int,
    columns: int,
    width: float,
    height: float,
    least: float,
    subplots: dict[str, Any],
) -> tuple[Figure, list[Axes]]:
    """Make a figure and its axes; below each other if there is no room beside each other.

    Parameters
    ----------
    make : callable
        Makes the figure.
    rows, columns, width, height, subplots
        As of `cwndlab.plots.panels`.
    least : float
        Least width of a panel, in inches of the usual style.
    """
    drawing = current()
    if drawing is None or not drawing.style.has_own_size:
        figure = make(figsize=(width, height * rows), layout="constrained")
        return figure, list(figure.subplots(rows, columns, squeeze=False, **subplots).ravel())
    style, room = drawing.style, room_in(width)
    is_stacked = columns > 1 and columns * least > room
    shrink = min(1.0, max(LEAST_SHRINK, math.sqrt(room / width)))
    lines = rows * columns if is_stacked else rows
    row_in = drawing.scale * shrink * height
    figure = make(
        figsize=(drawing.scale * room, style.height_in or row_in * lines), layout="constrained"
    )
    shared = dict(subplots)
    by_row = is_stacked and shared.get("sharey") == "row"
    if by_row:
        del shared["sharey"]
    axes = list(
        figure.subplots(lines, 1 if is_stacked else columns, squeeze=False, **shared).ravel()
    )
    if by_row:
        for index, panel in enumerate(axes):
            if index % columns:
                panel.sharey(axes[index - index % columns])
    inner = max(LEAST_INNER_IN * drawing.scale, INNER * row_in)
    drawing.panels = Panels(figure, axes, columns, is_stacked, bool(subplots.get("sharex")), inner)
    return figure, axes


def legend_entries(axes: Axes) -> list[tuple[Artist, str]]:
    """Return what a panel's legend would show, with its names."""
    handles, texts = axes.get_legend_handles_labels()
    return list(zip(handles, map(str, texts), strict=True))


def figure_legend(
    figure: Figure, handles: Sequence[Any], texts: Sequence[str], *, ncols: int = 4, **legend: Any
) -> Legend:
    """Draw a legend below all panels, in as many columns as fit, up to `ncols`."""
    ncols = min(ncols, len(texts))
    legend = {"loc": "outside lower center", **legend}
    made = figure.legend(handles, texts, ncols=ncols, **legend)
    while ncols > 1 and made.get_window_extent().width > 0.98 * figure.bbox.width:
        made.remove()
        ncols -= 1
        made = figure.legend(handles, texts, ncols=ncols, **legend)
    return made


def label_line(
    axes: Axes, x: float, y: float, text: str, color: str, *, is_outside: bool = False
) -> None:
    """Name a line at one of its points: just above it, or right of the panel.

    `part_labels` then moves labels that would overlap.

    Parameters
    ----------
    axes : Axes
        The panel.
    x, y : float
        A point of the line.
    text, color : str
        The label, in the color of the line.
    is_outside : bool
        Whether the label is right of the panel, at the height of the point.
    """
    axes.annotate(
        text,
        (1.0 if is_outside else x, y),
        xycoords=axes.get_yaxis_transform() if is_outside else "data",
        xytext=(5, 0 if is_outside else 2),
        textcoords="offset points",
        va="center" if is_outside else "bottom",
        color=color,
        weight="bold",
        fontsize=points(LABEL_POINTS),
        annotation_clip=False,
        label=LINE_LABEL,
    )


def part_labels(figure: Figure) -> float:
    """Move labels of lines up where they would overlap the label below them.

    Returns
    -------
    float
        The farthest that one was moved, in heights of its text.
    """
    figure.draw_without_rendering()
    farthest = 0.0
    for axes in figure.axes:
        labels = [
            text
            for text in axes.texts
            if isinstance(text, Annotation) and text.get_label() == LINE_LABEL
        ]
        heights = {label: float(axes.transData.transform((1, label.xy[1]))[1]) for label in labels}
        labels.sort(key=heights.__getitem__)
        lowest = -math.inf
        for label in labels:
            place = max(heights[label], lowest)
            above = 0 if label.get_verticalalignment() == "center" else 2
            label.xyann = (5, above + (place - heights[label]) * 72 / figure.dpi)
            height = label.get_window_extent().height
            lowest = place + height
            farthest = max(farthest, (place - heights[label]) / height)
    return farthest
