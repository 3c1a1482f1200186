"""Terminal output: tables on standard output, messages and progress on standard error."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from cwndlab import arguments, markup
from cwndlab.cli.display import display
from cwndlab.cli.fitting import EDGES, GAP, NO_BREAK, Column, fit

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console
    from rich.progress import Progress, TaskID


INTERVAL = "mean, 95 % CI"
"""What no line break divides."""


def say(text: str) -> None:
    """Print a note, unless the program is quiet."""
    if not display.quiet:
        warn(text)


def warn(text: str) -> None:
    """Print what also a quiet program says: a failure, or what is probably a mistake."""
    if display.message_width is not None:
        text = textwrap.fill(
            text, display.message_width, break_long_words=False, break_on_hyphens=False
        )
    print(text, file=sys.stderr, flush=True)


def detail(text: str) -> None:
    """Print what only a verbose program says."""
    if display.verbose:
        warn(text)


def print_table(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    text_columns: int = 1,
    optional: Sequence[str] = (),
) -> None:
    """Print a table; the first `text_columns` are text, the rest numbers.

    An empty row separates two parts. On a terminal that is too narrow, the columns with the
    headings `optional` are left out, the first one first, unless `--wide` is given.
    """
    title, columns = display.labelled(title), [display.labelled(column) for column in columns]
    rows = [[*map(display.labelled, row[:text_columns]), *row[text_columns:]] for row in rows]
    if not display.is_terminal:
        write = markup.latex if display.format == "latex" else markup.markdown
        print(write(title, columns, rows, text_columns), end="\n\n")
        return
    filled = [row for row in rows if row]
    given = [
        Column(heading, tuple(row[at] for row in filled), at < text_columns)
        for at, heading in enumerate(columns)
    ]
    fitted = fit(given, display.width, optional)
    print_line(title, style="bold")
    for part in fitted.parts:
        _print_part(part, rows, is_narrow=fitted.is_narrow, names=fitted.names)
    if fitted.dropped:
        say(f"columns left out: {'; '.join(fitted.dropped)} (--wide shows all)")


def print_frame(frame: pl.DataFrame) -> None:
    """Print a data frame as CSV."""
    print(frame.write_csv(), end="")


def print_line(text: str, style: str = "") -> None:
    """Print a line of text on standard output; on a terminal, wrapped between words."""
    from rich.text import Text

    width = display.width or len(text) + 1
    indent = " " * (len(text) - len(text.lstrip()))
    whole = text.replace(INTERVAL, INTERVAL.replace(" ", NO_BREAK))
    wrapped = textwrap.fill(whole, width, subsequent_indent=indent, break_on_hyphens=False)
    _console(width).print(Text(wrapped.replace(NO_BREAK, " "), style=style))


def _print_part(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], *, is_narrow: bool, names: int
) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    # Brackets hold units, not markup.
    table = Table(
        box=box.SIMPLE,
        pad_edge=False,
        show_edge=not is_narrow,
        padding=(0, 1, 0, 0) if is_narrow else (0, 1),
    )
    for column in columns:
        table.add_column(
            Text(column.heading),
            justify="left" if column.is_text else "right",
            no_wrap=column.width is None,
            width=column.width,
            overflow="fold",
        )
    cells = zip(*(column.cells for column in columns), strict=True)
    for row in rows:
        texts = next(cells) if row else ()
        # Of several parts, this one may have nothing about a row.
        if any(texts[names:]):
            table.add_row(*map(Text, texts))
        elif not row:
            table.add_section()
    # As wide as the table: no number is ever cut off.
    widest = sum(column.width or column.natural for column in columns)
    console = _console(widest + (GAP + 1) * len(columns) + EDGES)
    with console.capture() as taken:
        console.print(table, end="")
    # Without the spaces behind the cells, which a terminal would wrap.
    lines = [line.rstrip() for line in taken.get().split("\n")]
    print("\n".join(lines), end="\n" if is_narrow else "")


def _console(width: int) -> Console:
    from rich.console import Console

    class Tables(Console):
        """A console that leaves a closed pipe to `cwndlab.cli.main`; rich's ends the program."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return Tables(file=sys.stdout, width=width, highlight=False)


class Meter(Protocol):
    """Progress of a command."""

    def simulated(self, seconds: float, packets: int) -> None:
        """Progress of one run: simulated seconds and packets so far."""

    def packets(self, more: int) -> None:
        """Packets since the last call, over all runs; may be called on any thread."""

    def runs(self, _what: str, done: int, of: int) -> None:
        """So many runs are finished, of so many."""


@contextmanager
def meter(description: str, total: float, unit: str) -> Generator[Meter]:
    """Show progress while the body runs.

    Silent when standard error is no terminal, or the program is quiet.

    Parameters
    ----------
    description : str
        Name of the work.
    total : float
        Simulated seconds, or number of runs.
    unit : str
        Unit of the total as shown.
    """
    if not display.shows_progress:
        yield _Silent()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        TextColumn(
            "{task.completed:.1f}/{task.total:.1f} " + unit
            if unit == "s"
            else "{task.completed:.0f}/{task.total:.0f} " + unit
        ),
        TextColumn("{task.fields[speed]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield _Bar(progress, progress.add_task(description, total=total, speed=""))


@contextmanager
def steps() -> Generator[arguments.Progress]:
    """Yield a function that shows progress of several steps, each with its count.

    Silent when standard error is no terminal, or the program is quiet.
    """
    if not display.shows_progress:
        yield lambda _what, _done, _of: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(bar_width=30), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("")
        yield lambda what, done, of: progress.update(
            bar, description=what, completed=done, total=of
        )


@contextmanager
def counter(description: str) -> Generator[Callable[[str, int], None]]:
    """Yield a function that shows the step and a count without a known total.

    Silent when standard error is no terminal, or the program is quiet.
    """
    if not display.shows_progress:
        yield lambda _step, _done: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task(description, total=None)
        yield lambda step, done: progress.update(
            bar, description=f"{description}: {step}" + (f", {done} files" if done else "")
        )


class _Silent:
    def simulated(self, seconds: float, packets: int) -> None:
        pass

    def packets(self, more: int) -> None:
        pass

    def runs(self, _what: str, done: int, of: int) -> None:
        pass


class _Bar:
    def __init__(self, progress: Progress, task: TaskID) -> None:
        from threading import Lock

        self._progress, self._task = progress, task
        self._packets, self._lock = 0, Lock()

    def simulated(self, seconds: float, packets: int) -> None:
        self._packets = packets
        self._progress.update(self._task, completed=seconds, speed=self._speed())

    def packets(self, more: int) -> None:
        with self._lock:
            self._packets += more
        self._progress.update(self._task, speed=self._speed())

    def runs(self, _what: str, done: int, of: int) -> None:
        self._progress.update(self._task, completed=done, total=of)

    def _speed(self) -> str:
        elapsed = self._progress.tasks[self._task].elapsed or 0.0
        return f"{self._packets / elapsed / 1e6:.2f} M packets/s" if elapsed > 0.05 else ""
