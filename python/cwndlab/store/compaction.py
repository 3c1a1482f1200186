"""Make parts of journals that nobody holds. Whoever does it holds the store's lock."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cwndlab.store import journal, layout
from cwndlab.store.parts import Parts
from cwndlab.store.records import Record, Use, decode


class _Taken(NamedTuple):
    """A journal that is locked for this."""

    path: Path
    descriptor: int


def compact(root: Path, runs: Parts[Record], uses: Parts[Use]) -> Iterator[list[str]]:
    """Make parts of journals, as many at a time as one part takes; gives the keys of the runs each time.

    Killed at any moment, it has lost nothing: a journal goes when all of it is in parts. What is then in both does no
    harm, since of a run that is there twice one is read.
    """
    for unfinished in (root / "parts").glob(".*.tmp"):
        # Its writer was killed: whoever writes parts holds the lock.
        unfinished.unlink(missing_ok=True)
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
        yield list(found)


def _take(root: Path) -> list[_Taken]:
    taken: list[_Taken] = []
    size = 0
    for path in journal.listed(root):
        descriptor = journal.take_abandoned(path)
        if descriptor is not None:
            taken.append(_Taken(path, descriptor))
            size += os.fstat(descriptor).st_size
            if size >= journal.ROLL_BYTES:
                break
    return taken


def _read(taken: list[_Taken]) -> tuple[dict[str, Record], dict[tuple[str, str, int], Use]]:
    """Read journals, oldest first: of what is there twice the newer counts."""
    runs: dict[str, Record] = {}
    uses: dict[tuple[str, str, int], Use] = {}
    for path, _ in taken:
        for entry in map(decode, journal.read_whole(path).payloads):
            if isinstance(entry, Record):
                runs[entry.key] = entry
            elif isinstance(entry, Use):
                uses[entry[:3]] = entry
    return runs, uses


def _merge(parts: Parts, into: dict) -> list[Path]:
    """Add the rows of small parts to newer ones; returns these parts, which are to go."""
    small = parts.small()
    for path in small:
        for row in parts.rows(path):
            into.setdefault(row.key if isinstance(row, Record) else row[:3], row)
    return small
