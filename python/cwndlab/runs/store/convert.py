"""Converts stores of formats 1 and 2: journals of framed records, and Parquet files of closed ones.

Format 1 had no definitions and no times in uses.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cwndlab.errors import StoreError
from cwndlab.files import disk_errors
from cwndlab.message import invalid
from cwndlab.runs.store.records import Record, Use
from cwndlab.runs.store.store import DATABASE, OLD_MARKER, Store

OLDER = (1, 2)
FOLDERS = ("journal", "parts", "sweeps")
_MARK = b"\xf0cwj"
_HEAD = struct.Struct("<4sI8s")
"""Of a journal's frame: magic number, length, checksum."""
_PART = re.compile(r"(runs|uses)-(\d+)-([0-9a-f]{16})\.parquet")


def convert(path: str | Path) -> tuple[int, list[str]]:
    """Convert a store to the format of today, in its place.

    The database is made beside the older files, which are removed when it is whole.

    Returns
    -------
    (int, list of str)
        How many runs it has, and one line for each damaged file, which is left out.

    Raises
    ------
    StoreError
        If the directory is no store of an older format, or cannot be written.
    """
    root = Path(path)
    notes: list[str] = []
    with disk_errors(root):
        _check(root)
        with tempfile.TemporaryDirectory(prefix=".convert-", dir=root) as folder:
            with Store(folder) as made:
                for entry in _entries(root, notes):
                    if isinstance(entry, Record):
                        made.put(entry)
                    else:
                        made.place(entry)
                for file in sorted((root / "sweeps").glob("*.json")):
                    _define(made, file, notes)
                found = len(made)
            # An empty store has none yet.
            if (Path(folder) / DATABASE).exists():
                (Path(folder) / DATABASE).replace(root / DATABASE)
        (root / OLD_MARKER).unlink()
        for name in FOLDERS:
            shutil.rmtree(root / name, ignore_errors=True)
    return found, notes


def _check(root: Path) -> None:
    try:
        number = json.loads((root / OLD_MARKER).read_bytes())["format"]
    except (OSError, ValueError, KeyError, TypeError):
        number = None
    if number not in OLDER:
        raise StoreError(invalid("store", root, "a store of format 1 or 2, which is converted"))


def _define(made: Store, file: Path, notes: list[str]) -> None:
    try:
        document = json.loads(file.read_bytes())
        made.define(file.stem, document, document.pop("definition", ""))
    except (ValueError, AttributeError) as error:
        notes.append(f"sweeps/{file.name}: is left out ({error}); the sweep itself writes it again")


def _entries(root: Path, notes: list[str]) -> Iterator[Record | Use]:
    """Read every run and use, the oldest file first."""
    parts = sorted(
        (
            found
            for file in (root / "parts").glob("*.parquet")
            if (found := _PART.fullmatch(file.name))
        ),
        key=lambda found: int(found[2]),
    )
    for part in parts:
        yield from _part(root / "parts" / part[0], part, notes)
    for journal in sorted((root / "journal").glob("*.journal")):
        if journal.is_file():
            yield from _journal(journal, notes)


def _part(file: Path, name: re.Match[str], notes: list[str]) -> Iterator[Record | Use]:
    import polars as pl

    data = file.read_bytes() if file.is_file() else b""
    if hashlib.blake2b(data, digest_size=8).hexdigest() != name[3]:
        notes.append(f"{file.name}: is damaged and skipped; its runs will be repeated")
        return
    kind: Any = Record if name[1] == "runs" else Use
    frame = pl.read_parquet(io.BytesIO(data))
    for row in frame.iter_rows(named=True):
        yield kind(**{key: row[key] for key in kind._fields if key in row})


def _journal(file: Path, notes: list[str]) -> Iterator[Record | Use]:
    data = file.read_bytes()
    at = good = damaged = 0
    while (at := data.find(_MARK, at)) >= 0:
        payload = _payload(data, at)
        if payload is None:
            at += 1
            continue
        damaged += at - good
        at = good = at + _HEAD.size + len(payload)
        head, *texts = payload.decode("ascii").split("\n")
        kind, *fields = json.loads(head)
        if kind == "use":
            yield Use(*fields)
        elif kind == "run":
            yield Record(*fields, *texts)
    if damaged:
        notes.append(f"{file.name}: {damaged} damaged bytes are skipped")


def _payload(data: bytes, at: int) -> bytes | None:
    """Return the payload of the frame at a position; None if its checksum is not right."""
    if at + _HEAD.size > len(data):
        return None
    _, length, checksum = _HEAD.unpack_from(data, at)
    payload = data[at + _HEAD.size : at + _HEAD.size + length]
    salt = length.to_bytes(8, "little")
    is_right = hashlib.blake2b(payload, digest_size=8, salt=salt).digest() == checksum
    return payload if len(payload) == length and is_right else None
