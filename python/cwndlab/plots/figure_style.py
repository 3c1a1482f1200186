"""What a user asks of a figure: its size, its text, the names and the order of its series."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, ParamSpec, TypeVar

from cwndlab.arguments import listed
from cwndlab.message import invalid_value, unknown_value

Arguments = ParamSpec("Arguments")
Drawn = TypeVar("Drawn")

INCHES = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4}
WIDTHS = {"column": 3.5, "page": 7.16}
"""Widths of one column and of both columns of a conference paper (IEEE), inches."""
LEAST_IN, MOST_IN = 1.0, 50.0


class Text(NamedTuple):
    """The text of a style, and the width of a figure for which no other was given."""

    points: float
    least_points: float
    width_in: float | None


STYLES = {
    "paper": Text(8.0, 7.0, WIDTHS["column"]),
    "slides": Text(18.0, 15.0, 10.0),
    "screen": Text(10.0, 7.0, None),
}


class FigureStyleError(ValueError):
    """A value of a figure's style that is not valid."""

    def __init__(self, key: str, text: str) -> None:
        super().__init__(f"{key}: {text}")
        self.key: str = key
        self.text: str = text


@dataclass(frozen=True)
class FigureStyle:
    """Size and text of a figure, and names and order of its series.

    `FigureStyle.of` reads what a user writes.

    Parameters
    ----------
    width_in, height_in : float, optional
        Inches; by default they follow from what is drawn.
    style : {"paper", "slides", "screen"}
        Size of the text: 8 pt, 18 pt, 10 pt.
    labels : mapping of str to str
        Name of a rule, flow or other value in the figure, instead of its own.
    order : tuple of str
        The series that come first.
    baseline : str, optional
        The series to compare with: the first, in black.
    title : str, optional
        Headline, in bold above what the figure says of itself.

    Examples
    --------
    >>> paper = FigureStyle.of(width="column", style="paper", labels={"CUBIC": "Mine"})
    >>> paper.width_in, paper.text.points
    (3.5, 8.0)
    """

    width_in: float | None = None
    height_in: float | None = None
    style: str = "screen"
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    order: tuple[str, ...] = ()
    baseline: str | None = None
    title: str | None = None

    @classmethod
    def of(
        cls,
        *,
        width: str | float | None = None,
        height: str | float | None = None,
        style: str = "screen",
        labels: Mapping[str, str] | None = None,
        order: str | Sequence[str] = (),
        baseline: str | None = None,
        title: str | None = None,
    ) -> FigureStyle:
        """Read a style.

        Parameters
        ----------
        width, height : str or float, optional
            A length such as ``"3.5in"``, ``"88mm"``; a bare number is inches. As width also
            ``"column"`` (3.5 in) and ``"page"`` (7.16 in).
        style, labels, order, baseline, title
            As of the class.

        Raises
        ------
        FigureStyleError
            If a value is not valid.
        """
        if style not in STYLES:
            raise FigureStyleError("style", unknown_value(style, STYLES))
        return cls(
            None if width is None else _inches("width", width, WIDTHS),
            None if height is None else _inches("height", height, {}),
            style,
            dict(labels or {}),
            tuple(listed(order)),
            baseline,
            title,
        )

    @property
    def text(self) -> Text:
        """The text of the style."""
        return STYLES[self.style]

    @property
    def has_own_size(self) -> bool:
        """Whether the figure differs in size or text from the one on a screen."""
        return self.style != "screen" or not self.width_in is self.height_in is None

    def check(self, names: Iterable[str], series: Iterable[str]) -> None:
        """Raise an error for a name that the figure does not have.

        Parameters
        ----------
        names : iterable of str
            What has a label.
        series : iterable of str
            What has an order, and may be the baseline.
        """
        baseline = () if self.baseline is None else (self.baseline,)
        asked = {
            "labels": (self.labels, list(names)),
            "order": (self.order, list(series)),
            "baseline": (baseline, list(series)),
        }
        for key, (given, known) in asked.items():
            for name in given:
                if same(name) not in map(same, known):
                    raise FigureStyleError(key, unknown_value(name, known))

    def draw(
        self,
        draw: Callable[Arguments, Drawn],
        *arguments: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Drawn:
        """Call a function of `cwndlab.plots`, and give its figure this style.

        Raises
        ------
        FigureStyleError
            If the figure has no series of a name in `labels`, `order` or `baseline`.

        Examples
        --------
        >>> from cwndlab import plots
        >>> from cwndlab.statistics import Estimate
        >>> wave = {"kind": "saw-tooth", "low": 1e6, "high": 2e6, "period": 5.0}
        >>> style = FigureStyle.of(width="88mm", labels={"CUBIC": "Mine"})
        >>> figure = style.draw(plots.waveform, wave, {"CUBIC": Estimate(0.9, 0.8, 1.0, 3)})
        >>> round(25.4 * figure.get_figwidth())
        88
        """
        if self == FigureStyle():
            return draw(*arguments, **named)
        from cwndlab.plots.drawing import drawn

        return drawn(self, draw, *arguments, **named)


def same(name: str) -> str:
    """Return a name without its spaces: ``AIMD(1,0.5)`` is ``AIMD(1, 0.5)``."""
    return re.sub(r"\s+", "", name)


def outside_parentheses(text: str, mark: str) -> list[str]:
    """Split a text at a mark, but not within parentheses.

    Examples
    --------
    >>> outside_parentheses("AIMD(1, 0.5),CUBIC", ",")
    ['AIMD(1, 0.5)', 'CUBIC']
    """
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == mark and depth <= 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def _inches(key: str, value: Any, named: Mapping[str, float]) -> float:
    if value in named:
        return named[value]
    found = re.fullmatch(r"\s*([0-9.]+(?:e[-+]?[0-9]+)?)\s*(in|cm|mm)?\s*", str(value))
    try:
        inches = float(found[1]) * INCHES[found[2] or "in"] if found else math.nan
    except ValueError:
        inches = math.nan
    if not LEAST_IN <= inches <= MOST_IN:
        words = f"{', '.join(named)} or " if named else ""
        expected = f"{words}a length from {LEAST_IN:g}in to {MOST_IN:g}in, such as 3.5in or 88mm"
        raise FigureStyleError(key, invalid_value(value, expected))
    return inches
