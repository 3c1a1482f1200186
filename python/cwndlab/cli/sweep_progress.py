"""The progress of a sweep on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from cwndlab.cli.display import display

Show = Callable[[dict[str, Any]], None]


@contextmanager
def progress_bar() -> Generator[Show]:
    """Show runs done, rate, time left, and the best and worst cell.

    Silent when standard error is no terminal, or the program is quiet.
    """
    if not display.shows_progress:
        yield lambda _event: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn
    from rich.table import Column

    columns = (
        TextColumn("sweep"),
        BarColumn(bar_width=12),
        TextColumn("{task.completed:.0f}/{task.total:.0f} runs"),
        TextColumn("{task.fields[rate]}"),
        # The text takes the remaining width; on a narrow terminal the numbers stay.
        TextColumn(
            "{task.fields[ends]}", table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis")
        ),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True, expand=True) as progress:
        bar = progress.add_task("", total=0, rate="", ends="")

        def show(event: dict[str, Any]) -> None:
            total = {"total": event["runs"]} if "runs" in event else {}
            done = {"completed": event["done"]} if "done" in event else {}
            progress.update(bar, **total, **done)
            if event["event"] == "checked":
                progress.update(bar, rate=f"{event['cells']}/{event['of']} cells checked")
            if event["event"] == "progress":
                progress.update(bar, rate=_rate(event), ends=_ends(event))

        yield show


def _rate(event: dict[str, Any]) -> str:
    left = event["remaining_s"]
    return f"{event['rate_per_s']:.1f}/s" + (
        f", {time_text(left)} left" if left is not None else ""
    )


def time_text(seconds: float) -> str:
    """Write a duration for people.

    Examples
    --------
    >>> time_text(42.3), time_text(150), time_text(7260), time_text(200000)
    ('42 s', '2 min', '2 h 1 min', '55 h 33 min')
    """
    minutes = int(seconds // 60)
    if minutes < 1:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _ends(event: dict[str, Any]) -> str:
    """Write the extremes of the first metric, with the labels of their cells."""
    ends: list[str] = []
    for name in ("best", "worst", "largest", "smallest"):
        if name in event:
            cell = ", ".join(event[name]["cell"].values())
            ends.append(f"{name} {event[name]['mean']:.4g} ({cell})")
    return "; ".join(ends)
