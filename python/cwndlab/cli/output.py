"""Terminal output: tables on standard output, messages and progress on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.progress import TaskID

# Wide enough that no number is ever cut off, whatever the width of the terminal.
WIDTH = 250


def say(text: str) -> None:
    """Print a message."""
    print(text, file=sys.stderr, flush=True)


def print_table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, text_columns: int = 1
) -> None:
    """Print a table; the first `text_columns` are text, the rest numbers."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE, pad_edge=False)
    # Brackets hold units, not markup.
    for index, column in enumerate(columns):
        table.add_column(
            Text(column), justify="left" if index < text_columns else "right", no_wrap=True
        )
    for row in rows:
        table.add_row(*map(Text, row))
    console = Console(file=sys.stdout, width=WIDTH, highlight=False)
    # The table's own title would wrap at the table's width.
    console.print(Text(title, style="bold"))
    console.print(table, end="")


class Meter(Protocol):
    """Progress of a command."""

    def simulated(self, seconds: float, packets: int) -> None:
        """Progress of one run: simulated seconds and packets so far."""

    def packets(self, more: int) -> None:
        """Packets since the last call, over all runs; may be called on any thread."""

    def finished_run(self) -> None:
        """One more run is finished."""


@contextmanager
def meter(description: str, total: float, unit: str) -> Iterator[Meter]:
    """Show progress while the body runs; silent when standard error is no terminal.

    Parameters
    ----------
    description : str
        Name of the work.
    total : float
        Simulated seconds, or number of runs.
    unit : str
        Unit of the total as shown.
    """
    if not sys.stderr.isatty():
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
def steps() -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function that shows progress of several steps, each with its count.

    Silent when standard error is no terminal.
    """
    if not sys.stderr.isatty():
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


class _Silent:
    def simulated(self, seconds: float, packets: int) -> None:
        pass

    def packets(self, more: int) -> None:
        pass

    def finished_run(self) -> None:
        pass


class _Bar:
    def __init__(self, progress: object, task: TaskID) -> None:
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

    def finished_run(self) -> None:
        self._progress.advance(self._task)

    def _speed(self) -> str:
        elapsed = self._progress.tasks[self._task].elapsed or 0.0
        return f"{self._packets / elapsed / 1e6:.2f} M packets/s" if elapsed > 0.05 else ""
