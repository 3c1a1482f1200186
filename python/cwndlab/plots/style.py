"""The common style of figures: palette, line styles, making and saving."""

from __future__ import annotations

import functools
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

import matplotlib
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from cwndlab.files import write_whole
from cwndlab.message import invalid, one_of
from cwndlab.plots.drawing import arrange, current

FORMATS = ("png", "svg", "pdf")

FloatArray = npt.NDArray[np.float64]
Arguments = ParamSpec("Arguments")
Drawn = TypeVar("Drawn")


class Look(NamedTuple):
    """How one series is drawn; the first eight differ in colour, line style and marker."""

    color: str
    linestyle: str | tuple[int, tuple[int, ...]]
    marker: str
    hatch: str


# Okabe and Ito's palette for colour-blind readers, without its yellow, which is too light for
# lines.
LOOKS = (
    Look("#0072B2", "-", "o", ""),
    Look("#D55E00", "--", "s", "///"),
    Look("#009E73", "-.", "^", "..."),
    Look("#CC79A7", ":", "D", "xxx"),
    Look("#E69F00", (0, (5, 1, 1, 1, 1, 1)), "v", "\\\\\\"),
    Look("#56B4E9", (0, (8, 2)), "P", "+++"),
    Look("#444444", (0, (1, 2)), "X", "ooo"),
    Look("#8C5A2B", (0, (3, 1)), "<", "---"),
)
LEAST_PANEL_IN = 2.2
"""Least width of a panel beside others, inches."""
REFERENCE = "#222222"
"""Colour of references such as available bandwidth and buffer limits."""

_RC: dict[Any, Any] = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "legend.frameon": False,
    "hatch.linewidth": 0.6,
    "hatch.color": "white",
    "svg.fonttype": "path",
    # The same figure gives the same bytes.
    "svg.hashsalt": "cwndlab",
}
_IN_FILES: dict[Any, Any] = {
    # Type 42 is TrueType: publishers refuse Type 3.
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    # Text stays text, which readers can search and editors change.
    "svg.fonttype": "none",
}
"""Fonts of files; in HTML, text is drawn, because the page has styles of its own."""


BASELINE = Look(REFERENCE, "-", "*", "|||")
"""Look of the series with which the others are compared."""


def look(index: int) -> Look:
    """Look of the series with this number; repeats after eight.

    In a figure with a baseline, the first series has the baseline's.
    """
    figure = current()
    if figure is not None and figure.has_baseline:
        if index == 0:
            return BASELINE
        index -= 1
    return LOOKS[index % len(LOOKS)]


class LabFigure(Figure):
    """A figure that notebooks show without pyplot, and that files have with fonts for papers.

    Examples
    --------
    >>> import io
    >>> from cwndlab import dumbbell, run
    >>> found = run(dumbbell("1Mbit", "5ms", flows="CUBIC", duration="1s", trace={"cwnd": "50ms"}))
    >>> pdf = io.BytesIO()
    >>> found.plot().savefig(pdf, format="pdf")
    >>> b"/Type3" in pdf.getvalue(), b"/CIDFontType2" in pdf.getvalue()
    (False, True)
    """

    saved_dpi = 150
    """Pixels per inch of the PNG file."""

    def savefig(self, fname: Any, **options: Any) -> None:
        """Write the figure as matplotlib does; `save` also leaves out the date."""
        with matplotlib.rc_context(_IN_FILES):
            super().savefig(fname, **options)

    def _repr_png_(self) -> bytes:
        return png_bytes(self)


def styled(draw: Callable[Arguments, Drawn]) -> Callable[Arguments, Drawn]:
    """Apply the common style within a plotting function, and restore matplotlib's settings."""

    @functools.wraps(draw)
    def wrapper(*arguments: Arguments.args, **named: Arguments.kwargs) -> Drawn:
        with matplotlib.rc_context({**_RC, **_own_text()}):
            return draw(*arguments, **named)

    return wrapper


def _own_text() -> dict[Any, Any]:
    """Sizes of text in the style of the figure that is drawn."""
    figure = current()
    if figure is None or not figure.style.has_own_size:
        return {}
    size = figure.style.text.points
    return {"font.size": size, "axes.titlesize": size, "figure.titlesize": size}


def panels(
    rows: int,
    columns: int = 1,
    *,
    width: float = 8.0,
    height: float = 2.3,
    least: float = LEAST_PANEL_IN,
    **subplots: Any,
) -> tuple[Figure, list[Axes]]:
    """Make a figure of `rows` x `columns` axes; `height` is inches per row.

    Axes come row by row. A `FigureStyle` replaces the width; in a figure too narrow for panels of
    `least` inches beside each other, they are below each other.
    """
    return arrange(LabFigure, rows, columns, width, height, least, subplots)


LABELLED = (1.0, 2.0, 5.0)
"""Multiples of powers of ten that a logarithmic axis of less than `FEW_DECADES` names."""
FEW_DECADES = 2.0


def log_scale(axes: Axes, which: str) -> None:
    """Make x or y logarithmic, with plain numbers.

    Examples
    --------
    >>> _, (axes,) = panels(1)
    >>> _ = axes.plot([1, 1000], [3, 90])
    >>> log_scale(axes, "y")
    >>> axes.figure.draw_without_rendering()
    >>> [text.get_text() for text in axes.get_yticklabels()][1:4]
    ['2', '5', '10']
    """
    getattr(axes, f"set_{which}scale")("log")
    low, high = getattr(axes, f"get_{which}lim")()
    axis = getattr(axes, f"{which}axis")
    is_short = high < low * 10**FEW_DECADES
    axis.set_major_locator(LogLocator(subs=LABELLED if is_short else (1.0,)))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(NullFormatter())


@styled
def save(figure: Figure, path: str | Path) -> Path:
    """Write a figure; the file's ending chooses PNG, SVG or PDF.

    Raises
    ------
    ValueError
        If the file name has another ending.
    """
    target = Path(path)
    if target.suffix.lstrip(".").lower() not in FORMATS:
        endings = one_of(f".{name}" for name in FORMATS)
        raise ValueError(invalid("plot", target, f"a file that ends in {endings}"))
    target.parent.mkdir(parents=True, exist_ok=True)
    dpi = getattr(figure, "saved_dpi", LabFigure.saved_dpi)
    kind = target.suffix.lstrip(".").lower()
    # In memory: where a disk is full, matplotlib's PDF writer hides the system's error.
    drawn = io.BytesIO()
    with matplotlib.rc_context(_IN_FILES):
        figure.savefig(drawn, format=kind, dpi=dpi, metadata=_undated(target.suffix))
    write_whole(target, drawn.getvalue())
    return target


FLAT_COLOURS = 32
"""Of a picture with a palette: those of marks and words, and of their edges."""


@styled
def png_bytes(figure: Figure, dpi: int = 110) -> bytes:
    """Draw a figure as PNG."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi)
    return buffer.getvalue()


def save_flat(figure: Figure, path: Path) -> Path:
    """Write a figure of few colours as a PNG with a palette: a half of the bytes."""
    from PIL import Image  # matplotlib depends on Pillow.

    with Image.open(io.BytesIO(png_bytes(figure))) as picture:
        small = picture.convert("RGB").quantize(
            FLAT_COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
        )
    drawn = io.BytesIO()
    small.save(drawn, format="png", optimize=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, drawn.getvalue())
    return path


@styled
def svg_text(figure: Figure) -> str:
    """Draw a figure as an ``<svg>`` element to put into HTML."""
    buffer = io.StringIO()
    Figure.savefig(figure, buffer, format="svg", metadata=_undated(".svg"))
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def _undated(suffix: str) -> dict[str, Any] | None:
    """Metadata without a date (the same figure gives the same bytes) and, in SVG, without links."""
    if suffix == ".svg":
        return dict.fromkeys(("Date", "Creator", "Format", "Type"))
    return {"CreationDate": None} if suffix == ".pdf" else None
