"""Elements of a page's plots in SVG: axes with round numbers, markers and whiskers.

The page defines colours (classes ``s0`` to ``s7``) for light and dark screens; every series also
has the marker and line style of the package's other plots.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from markupsafe import Markup

from cwndlab.plots.style import LOOKS, look
from cwndlab.report.chapter import Measure
from cwndlab.tables import difference, with_interval

WIDTH = 360.0
"""Width of every plot: a phone's, so that text keeps its size there."""
RADIUS = 4.0
# Outlines of markers in a square from -1 to 1.
_SHAPES = {
    "o": "M-1,0a1,1 0 1,0 2,0a1,1 0 1,0 -2,0z",
    "s": "M-.9-.9h1.8v1.8h-1.8z",
    "^": "M0-1.1L1.1.9H-1.1z",
    "v": "M0,1.1L1.1-.9H-1.1z",
    "<": "M-1.1,0L.9-1.1V1.1z",
    "D": "M0-1.25L1.25,0L0,1.25L-1.25,0z",
    "P": "M-.4-1.1h.8v.7h.7v.8h-.7v.7h-.8v-.7h-.7v-.8h.7z",
    "X": "M-1-.5L-.5-1L0-.5L.5-1L1-.5L.5,0L1,.5L.5,1L0,.5L-.5,1L-1,.5L-.5,0z",
}


class Scale(NamedTuple):
    """Maps values, in their shown unit, to positions in a plot."""

    low: float
    high: float
    begin: float
    end: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> float:
        """Position of a value."""
        return self.begin + (value - self.low) / (self.high - self.low) * (self.end - self.begin)

    def over(self, begin: float, end: float) -> Scale:
        """Return the same values over other positions."""
        return self._replace(begin=begin, end=end)

    def text(self, tick: float) -> str:
        """Write a tick with the digits that distinguish it from the next."""
        step = self.ticks[1] - self.ticks[0] if len(self.ticks) > 1 else abs(tick) or 1.0
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        # A step of 0.25 needs a digit more than one of 0.2.
        digits += abs(round(step, digits) - step) > step * 1e-6
        return f"{tick + 0.0:.{digits}f}"


def scale(rows: Iterable[Mapping[str, Any]], measure: Measure, *, with_zero: bool) -> Scale | None:
    """Make a scale that holds every interval; None without intervals."""
    ends = [
        row[end] * measure.scale
        for row in rows
        if is_drawn(row)
        for end in ("ci95_low", "ci95_high")
    ]  # fmt: skip
    if not ends:
        return None
    ends += [0.0] if with_zero else []
    low, high = min(ends), max(ends)
    room = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
    from matplotlib.ticker import MaxNLocator

    # The axis of a quantity that is never negative, such as a delay, starts at 0.
    low, high = (low if low == 0 and not with_zero else low - room), high + room
    ticks = [
        float(tick) for tick in MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    ]
    return Scale(low, high, 0.0, 1.0, tuple(tick for tick in ticks if low <= tick <= high))


def is_drawn(row: Mapping[str, Any] | None) -> bool:
    """Whether a mean has an interval: without one it is not drawn."""
    return row is not None and row["mean"] is not None and row["ci95_low"] is not None


def mark(index: int, x: float, y: float, whisker: tuple[float, float, bool], tip: str) -> Markup:
    """Draw a mean: marker, and vertical or horizontal whisker."""
    low, high, is_upright = whisker
    if is_upright:
        line = f"M{x - 3:.1f},{low:.1f}h6M{x:.1f},{low:.1f}V{high:.1f}M{x - 3:.1f},{high:.1f}h6"
    else:
        line = f"M{low:.1f},{y - 3:.1f}v6M{low:.1f},{y:.1f}H{high:.1f}M{high:.1f},{y - 3:.1f}v6"
    return Markup(
        '<g class="mark s{c}" data-series="{i}"><title>{tip}</title><path class="reach" '
        'd="{line}"/>'
        '<path class="whisker" d="{line}"/>{symbol}</g>'
    ).format(c=index % len(LOOKS), i=index, tip=tip, line=Markup(line), symbol=symbol(index, x, y))


def symbol(index: int, x: float, y: float) -> Markup:
    """Draw the marker of a series."""
    shape = _SHAPES[look(index).marker]
    return Markup(
        f'<path class="symbol" transform="translate({x:.1f} {y:.1f}) scale({RADIUS:g})" '
        f'd="{shape}"/>'
    )


def dashes(index: int) -> str:
    """Line style of a series, as SVG's ``stroke-dasharray``."""
    style = look(index).linestyle
    if isinstance(style, tuple):
        return " ".join(f"{2 * length:g}" for length in style[1])
    return {"-": "none", "--": "6 3", "-.": "7 3 2 3", ":": "2 3"}[style]


def sample(index: int) -> Markup:
    """Draw a series' sample for the legend."""
    return Markup(
        f'<svg class="sample s{index % len(LOOKS)}" viewBox="0 0 30 12" aria-hidden="true">'
        f'<path class="line" stroke-dasharray="{dashes(index)}" '
        f'd="M1,6H29"/>{symbol(index, 15, 6)}</svg>'
    )


def tip(
    names: Iterable[str], row: Mapping[str, Any], measure: Measure, *, is_difference: bool
) -> str:
    """Describe a marker in words."""
    written = difference if is_difference else with_interval
    value = f"{written(row, measure)} {measure.unit}".strip()
    count = f"{row['replicates']} {'pairs' if is_difference else 'replicates'}"
    return "\n".join([value, *filter(None, names), f"{measure.label}, {count}"])


def text(x: float, y: float, words: str, anchor: str = "middle", kind: str = "") -> Markup:
    """Write text into a plot."""
    return Markup('<text x="{}" y="{}" text-anchor="{}"{}>{}</text>').format(
        f"{x:.1f}", f"{y:.1f}", anchor, Markup(f' class="{kind}"' if kind else ""), words
    )


def frame(height: float, label: str, parts: Iterable[Markup]) -> Markup:
    """Make a plot of its parts."""
    return (
        Markup('<svg class="plot" role="img" aria-label="{}" viewBox="0 0 {} {}">').format(
            label, f"{WIDTH:g}", f"{height:g}"
        )
        + Markup("").join(parts)
        + Markup("</svg>")
    )
