"""Plots of a chapter: means, or differences from the baseline, with 95 % confidence intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup

from cwndlab.plots.style import LOOKS
from cwndlab.report import glyphs
from cwndlab.report.chapter import MOST_PANELS, Cell, Chapter, Measure, named

if TYPE_CHECKING:
    import polars as pl

HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 215.0, 46.0, 8.0, 8.0, 36.0
SPREAD = 0.36
"""Width over which series are spread at one value so that whiskers do not overlap, in steps."""
CHARACTER = 6.3
"""Approximate width of a letter in labels."""
ROW, LABEL, GAP = 13.0, 15.0, 7.0
"""In plots with names: height of a marker's row, of a name, and of a gap between groups."""
INSET = 14.0


class Plot(NamedTuple):
    """One plot with its subject."""

    title: str
    svg: Markup


class _Place(NamedTuple):
    """A label of the x axis with its markers: series, name, row."""

    label: str
    marks: list[tuple[int, str, Mapping[str, Any]]]


def plots(
    chapter: Chapter, table: pl.DataFrame, measure: Measure, *, are_differences: bool = False
) -> list[Plot]:
    """Draw a metric: one plot per combination of the axes that are neither x axis nor series.

    All share one scale. Means without intervals are not drawn.
    """
    cells = chapter.cells(table, measure.key)
    scale = glyphs.scale(cells.values(), measure, with_zero=are_differences)
    if scale is None:
        return []
    lines = chapter.is_ordered and _fits(chapter.levels[chapter.ground or ""])
    draw = _upright if lines else _lying
    found: list[Plot] = []
    for labels in chapter.panels():
        places = _places(chapter, cells, labels, are_differences=are_differences)
        if any(place.marks for place in places):
            title = named(labels)
            svg = draw(chapter, places, scale, measure, title, are_differences)
            found.append(Plot(title, svg))
    return found[:MOST_PANELS]


def _fits(labels: Sequence[str]) -> bool:
    room = (glyphs.WIDTH - LEFT - RIGHT) / len(labels)
    return max(map(len, labels)) * CHARACTER <= room - 4


def _places(
    chapter: Chapter, cells: Mapping[Cell, Any], labels: Mapping[str, str], *, are_differences: bool
) -> list[_Place]:
    series = [
        (index, label)
        for index, label in enumerate(chapter.series)
        if not (are_differences and label == chapter.baseline)
    ]

    def found(
        more: Mapping[str, str], chosen: Sequence[tuple[int, str]]
    ) -> list[tuple[int, str, Mapping[str, Any]]]:
        rows = [
            (index, label, cells.get(chapter.cell({**labels, **more}, label)))
            for index, label in chosen
        ]
        return [
            (index, label, row)
            for index, label, row in rows
            if row is not None and glyphs.is_drawn(row)
        ]

    if chapter.ground is None:
        # Without an x axis, the compared labels take its place.
        return [_Place(entry[1] or "all runs", found({}, [entry])) for entry in series]
    return [
        _Place(label, found({chapter.ground: label}, series))
        for label in chapter.levels[chapter.ground]
    ]


def _upright(
    chapter: Chapter,
    places: list[_Place],
    scale: glyphs.Scale,
    measure: Measure,
    title: str,
    are_differences: bool,
) -> Markup:
    """Draw values upwards over an axis of quantities.

    Lines join them, because values between two quantities are meaningful.
    """
    y = scale.over(HEIGHT - BOTTOM, TOP)
    step = (glyphs.WIDTH - LEFT - RIGHT) / len(places)
    count = len(chapter.series)
    parts = [
        _grid(f"M{LEFT},{y.at(tick):.1f}H{glyphs.WIDTH - RIGHT}", tick, are_differences)
        for tick in y.ticks
    ]
    parts += [glyphs.text(LEFT - 5, y.at(tick) + 4, y.text(tick), "end") for tick in y.ticks]
    at: dict[int, list[tuple[float, Mapping[str, Any], list[str]]]] = {}
    for index, place in enumerate(places):
        parts.append(glyphs.text(LEFT + (index + 0.5) * step, HEIGHT - BOTTOM + 15, place.label))
        for number, label, row in place.marks:
            x = LEFT + (index + 0.5 + SPREAD * (number - (count - 1) / 2) / count) * step
            at.setdefault(number, []).append((x, row, _names(chapter, label, place.label, title)))
    parts.append(
        glyphs.text((LEFT + glyphs.WIDTH) / 2, HEIGHT - 5, chapter.ground or "", kind="axis")
    )
    for number, points in at.items():
        path = "L".join(f"{x:.1f},{y.at(row['mean'] * measure.scale):.1f}" for x, row, _ in points)
        style = f'class="line s{number % len(LOOKS)}" data-series="{number}"'
        parts.append(
            Markup(f'<path {style} stroke-dasharray="{glyphs.dashes(number)}" d="M{path}"/>')
        )
    for number, points in at.items():
        for x, row, names in points:
            low, mean, high = (y.at(value) for value in _ends(row, measure))
            words = glyphs.tip(names, row, measure, is_difference=are_differences)
            parts.append(glyphs.mark(number, x, mean, (low, high, True), words))
    return glyphs.frame(HEIGHT, _spoken(measure, title, are_differences), parts)


def _lying(
    chapter: Chapter,
    places: list[_Place],
    scale: glyphs.Scale,
    measure: Measure,
    title: str,
    are_differences: bool,
) -> Markup:
    """Draw values to the right, with a group of rows per name.

    Names of any length fit, also on a phone.
    """
    x = scale.over(INSET, glyphs.WIDTH - INSET)
    heights = [LABEL + ROW * max(1, len(place.marks)) + GAP for place in places]
    bottom = sum(heights)
    parts = [_grid(f"M{x.at(tick):.1f},0V{bottom:.1f}", tick, are_differences) for tick in x.ticks]
    parts += [glyphs.text(x.at(tick), bottom + 14, x.text(tick)) for tick in x.ticks]
    top = 0.0
    for place, height in zip(places, heights, strict=True):
        parts.append(glyphs.text(2, top + LABEL - 3, place.label, "start", "name"))
        for row_number, (number, label, row) in enumerate(place.marks):
            y = top + LABEL + ROW * (row_number + 0.5)
            low, mean, high = (x.at(value) for value in _ends(row, measure))
            names = _names(chapter, label, "" if chapter.ground is None else place.label, title)
            words = glyphs.tip(names, row, measure, is_difference=are_differences)
            parts.append(glyphs.mark(number, mean, y, (low, high, False), words))
        top += height
    return glyphs.frame(bottom + 20, _spoken(measure, title, are_differences), parts)


def _names(chapter: Chapter, label: str, place: str, title: str) -> list[str]:
    return [label, named({chapter.ground: place}) if chapter.ground and place else "", title]


def _ends(row: Mapping[str, Any], measure: Measure) -> tuple[float, float, float]:
    low, mean, high = (row[key] * measure.scale for key in ("ci95_low", "mean", "ci95_high"))
    return low, mean, high


def _grid(path: str, tick: float, are_differences: bool) -> Markup:
    kind = "zero" if are_differences and tick == 0 else "tick"
    return Markup(f'<path class="{kind}" d="{path}"/>')


def _spoken(measure: Measure, title: str, are_differences: bool) -> str:
    what = "differences of " if are_differences else ""
    return f"{what}{measure.title}{f', {title}' if title else ''}; the table below has the numbers"
