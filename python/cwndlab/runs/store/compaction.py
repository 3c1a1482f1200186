"""Compacts closed journals into parts, under the store's lock."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from cwndlab.runs.store import journal, layout
from cwndlab.runs.store.parts import Parts, Row
from cwndlab.runs.store.schema import Record, Use, decode

MOST_AT_ONCE = 64
"""Largest number of journals open at the same time: systems allow some hundred files."""
LEFT_AFTER_S = 86_400
"""Age of a temporary file whose writer was killed, seconds."""


class _Taken(NamedTuple):
    """A journal locked for compaction."""

    path: Path
    descriptor: int


def compact(root: Path, runs: Parts[Record], uses: Parts[Use]) -> Iterator[list[Record]]:
    """Compact journals into parts, one part at a time; yield the runs of each.

    A kill at any moment loses nothing: a journal is removed when all of it is in parts. Duplicates
    do no harm, since each run is read once.
    """
    for unfinished in (root / "parts").glob(".*.tmp"):
        # Its writer was killed: a live writer of parts would hold the lock.
        unfinished.unlink(missing_ok=True)
    for folder in ("sweeps", "traces"):
        for unfinished in (root / folder).glob(".*.tmp"):
            with suppress(FileNotFoundError):
                if time.time() - unfinished.stat().st_mtime > LEFT_AFTER_S:
                    unfinished.unlink()
    while taken := _take(root):
        try:
            found, placed = _read(taken)
            merged: list[Path] = []
            if found or placed:
                merged = [*_merge(runs, found), *_merge(uses, placed)]
                uses.write(list(placed.values()))
                runs.write(list(found.values()))
            for path in [*merged, *(entry.path for entry in taken)]:
                path.unlink(missing_ok=True)
            layout.sync_folder(root / "journal")
        finally:
            for entry in taken:
                os.close(entry.descriptor)
        yield list(found.values())


def _take(root: Path) -> list[_Taken]:
    taken: list[_Taken] = []
    size = 0
    for path in journal.listed(root):
        descriptor = journal.take_abandoned(path)
        if descriptor is not None:
            taken.append(_Taken(path, descriptor))
            size += os.fstat(descriptor).st_size
            if size >= journal.ROLL_BYTES or len(taken) >= MOST_AT_ONCE:
                break
    return taken


def keep_later(into: dict[Any, Row], row: Row, *, before: bool = False) -> None:
    """Add a row, unless a later row has the same run or place.

    The order of files means nothing: the process that started first may have written last. Between
    rows of the same moment the one read later counts, or the earlier one with `before`.

    Examples
    --------
    >>> found = {}
    >>> for day in (2, 3, 1):
    ...     keep_later(found, Use("sweep", "{}", 0, f"key {day}", "", f"2026-01-0{day}"))
    >>> [use.key for use in found.values()]
    ['key 3']
    """
    other = into.get(row.place)
    if other is None or (row.since > other.since if before else row.since >= other.since):
        into[row.place] = row


def _read(taken: list[_Taken]) -> tuple[dict[str, Record], dict[tuple[str, str, str, int], Use]]:
    runs: dict[str, Record] = {}
    uses: dict[tuple[str, str, str, int], Use] = {}
    for path, _ in taken:
        for entry in map(decode, journal.read_whole(path).payloads):
            if isinstance(entry, Record):
                keep_later(runs, entry)
            elif isinstance(entry, Use):
                keep_later(uses, entry)
    return runs, uses


def _merge(parts: Parts[Row], into: dict[Any, Row]) -> list[Path]:
    """Add the rows of small parts to those of journals; return these obsolete parts."""
    small = parts.small()
    for path in small:
        for row in parts.rows(path):
            keep_later(into, row, before=True)
    return small
