"""Progress of what takes long in an import."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from cwndlab.arguments import Progress

Event = TypeVar("Event")
STEP = 4096
"""Packets or events between two reports."""


def followed(events: Sequence[Event], path: Path, progress: Progress | None) -> Iterator[Event]:
    """Yield the events of a file, and report how many are done."""
    for count, event in enumerate(events):
        if progress is not None and count % STEP == 0:
            progress(f"following {path.name}", count, len(events))
        yield event
