"""Fits a table into the width of a terminal.

In this order: less space and wrapped headings, wrapped text, the least important columns left out,
and columns that still do not fit below the others.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace

GAP, NARROW_GAP, EDGES = 3, 2, 2
"""Spaces between columns, those in a narrow table, and those around a table that is not."""
INTERVAL, NO_BREAK, BREAK = "95 % CI", "\N{NO-BREAK SPACE}", "\N{ZERO WIDTH SPACE}"
"""What no line break divides, and the characters where none and where one may be."""
LONG_TEXT, LEAST_TEXT = 20, 14
"""Width above which a column of text may be wrapped, and the least width it then has."""


@dataclass(frozen=True)
class Column:
    """A column: its heading, its cells, and its width where these are wrapped."""

    heading: str
    cells: tuple[str, ...]
    is_text: bool
    width: int | None = None

    @property
    def natural(self) -> int:
        """Width without wrapping."""
        return max(map(len, (*self.heading.split("\n"), *self.cells)))

    def narrowed(self) -> Column:
        r"""Return it with the words of its heading below each other where its cells are narrower.

        Examples
        --------
        >>> Column("goodput /\navailable bandwidth", ("0.930",), False).narrowed().heading
        'goodput /\navailable\nbandwidth'
        >>> Column("dumbbell.queue.limit", ("1bdp",), True).narrowed().heading
        'dumbbell.\nqueue.\nlimit'
        """
        heading = self.heading.replace(INTERVAL, INTERVAL.replace(" ", NO_BREAK))
        # A dotted key may be divided behind its dots.
        heading = re.sub(r"(?<=[a-z]\.)(?=[a-z])", BREAK, heading)
        lines = heading.split("\n")
        words = [word for line in lines for word in re.split(f"[ {BREAK}]", line)]
        longest = max(map(len, (*words, *self.cells)), default=1)
        wrapped = [part for line in lines for part in _wrapped(line, longest)]
        return replace(self, heading="\n".join(wrapped).replace(NO_BREAK, " "))


@dataclass(frozen=True)
class Fitted:
    """The parts of a table, one below the other, and what was left out."""

    parts: Sequence[Sequence[Column]]
    dropped: Sequence[str] = ()
    is_narrow: bool = True
    names: int = 0
    """Columns that every part begins with, if there are several."""


def fit(columns: Sequence[Column], width: int | None, optional: Sequence[str] = ()) -> Fitted:
    """Fit a table into a width.

    Parameters
    ----------
    columns : sequence of Column
        The table.
    width : int, optional
        Columns of the terminal; by default without a limit.
    optional : sequence of str
        Headings of columns that may be left out, the least important first.

    Examples
    --------
    >>> flow, rate = Column("flow", ("a", "b"), True), Column("rate", ("1.000", "2.000"), False)
    >>> timeouts = Column("timeouts", ("0", "0"), False)
    >>> fit([flow, rate, timeouts], 16, ["timeouts"]).dropped
    ['timeouts']
    >>> [[column.heading for column in part] for part in fit([flow, rate, timeouts], 16).parts]
    [['flow', 'rate'], ['flow', 'timeouts']]
    """
    if width is None or _natural(columns) + GAP * (len(columns) - 1) + EDGES <= width:
        return Fitted([columns], is_narrow=False)
    kept = [column.narrowed() for column in columns]
    dropped: list[str] = []
    names = {narrow.heading: column.heading for narrow, column in zip(kept, columns, strict=True)}
    leaving = [heading for heading in optional if heading in names.values()]
    while not (found := _wrapped_into(kept, width)) and leaving:
        heading = leaving.pop(0)
        kept = [column for column in kept if names[column.heading] != heading]
        dropped.append(
            " ".join(heading.replace("-\n", "").partition(" [")[0].partition("\n[")[0].split())
        )
    if found:
        return Fitted([found], dropped)
    parts, names = _stacked(kept, width)
    return Fitted(parts, dropped, names=names if len(parts) > 1 else 0)


def _natural(columns: Sequence[Column]) -> int:
    return sum(column.width or column.natural for column in columns)


def _room(columns: Sequence[Column], width: int) -> int:
    """Columns of the terminal that are left, negative where they are too few."""
    return width - _natural(columns) - NARROW_GAP * (len(columns) - 1)


def _wrapped_into(columns: Sequence[Column], width: int) -> list[Column] | None:
    """Wrap long text until the columns fit; None if they do not even then."""
    found = list(columns)
    while (room := _room(found, width)) < 0:
        widths = [column.natural if column.width is None else column.width for column in found]
        long = [
            at for at, column in enumerate(found)
            if column.is_text and column.natural > LONG_TEXT and widths[at] > LEAST_TEXT
        ]  # fmt: skip
        if not long:
            return None
        # Take from the widest, at most down to the next one, so that all shrink alike.
        widest = max(long, key=lambda at: widths[at])
        found[widest] = replace(
            found[widest], width=max(LEAST_TEXT, widths[widest] - min(4, -room))
        )
    return found


def _stacked(columns: Sequence[Column], width: int) -> tuple[list[list[Column]], int]:
    """Put columns below the others, each part with the columns of text that name the rows."""
    names = [column for column in columns if column.is_text]
    widest = max((column.natural for column in columns if not column.is_text), default=0)
    is_narrow = _room(names, width) < max(width // 3, widest + NARROW_GAP)
    if is_narrow and len(set(names[0].cells)) == len(names[0].cells):
        # It names the rows alone.
        names = names[:1]
    names = _wrapped_into(names, width - NARROW_GAP - widest) or names
    rest = [column for column in columns if column.heading not in {one.heading for one in names}]
    parts: list[list[Column]] = [[*names]]
    for column in rest:
        if len(parts[-1]) > len(names) and _room([*parts[-1], column], width) < 0:
            parts.append([*names])
        parts[-1].append(column)
    return [_wrapped_into(part, width) or part for part in parts], len(names)


def _wrapped(line: str, width: int) -> list[str]:
    """Divide a line between its words, and at `BREAK` where a word is too long."""
    found: list[str] = []
    for words in textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False):
        parts = [""]
        for part in words.split(BREAK):
            if parts[-1] and len(parts[-1]) + len(part) > width:
                parts.append("")
            parts[-1] += part
        found += parts
    return found or [""]
