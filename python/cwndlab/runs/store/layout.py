"""The store's directory: format, atomic writes, and messages for disk errors."""

from __future__ import annotations

import errno
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cwndlab import native
from cwndlab.errors import StoreError
from cwndlab.message import invalid

FORMAT = 2
"""Format of the directory; this version reads and writes only this one and those of `OLDER`."""
OLDER = (1,)
"""Older formats that this version reads.

A write converts such a store to `FORMAT`; its content stays.
"""
MARKER = "store.json"
FOLDERS = ("journal", "parts", "sweeps", "traces")
CLAIMS = "claims"


def prepare(root: Path) -> None:
    """Make a new store, or check an existing one.

    Raises
    ------
    StoreError
        If the directory is not a store, has another format, or cannot be written.
    """
    with disk_errors(root):
        if not (root / MARKER).exists():
            other = root.is_dir() and any(not _is_ours(entry.name) for entry in root.iterdir())
            # Another process may be making the store at this moment.
            if other and not (root / MARKER).exists():
                raise StoreError(invalid("store", root, "a store, or an empty or new directory"))
            root.mkdir(parents=True, exist_ok=True)
            _mark(root)
        if check(root) != FORMAT:
            # First, so that older versions refuse the store before its format changes.
            _mark(root)
        for name in FOLDERS:
            (root / name).mkdir(exist_ok=True)


def discard_empty(root: Path) -> bool:
    """Remove a store without a run or a sweep; whether it was removed.

    Directories are removed one by one, which the system refuses where a file has been written.
    """
    folders = [root / name for name in FOLDERS]
    try:
        for folder in folders:
            folder.rmdir()
    except OSError:
        # It has something after all: it stays a whole store.
        for folder in folders:
            folder.mkdir(exist_ok=True)
        return False
    for name in (CLAIMS, MARKER):
        (root / name).unlink(missing_ok=True)
    root.rmdir()
    return True


def _mark(root: Path) -> None:
    text = {"what": "cwndlab store", "format": FORMAT, "cwndlab_version": native.version()}
    write_whole(root / MARKER, json.dumps(text).encode() + b"\n")


def _is_ours(name: str) -> bool:
    return name in FOLDERS or name.startswith(f".{MARKER}.")


def check(root: Path) -> int:
    """Check that this version can read the store in a directory, and return its format.

    Raises
    ------
    StoreError
        If it cannot.
    """
    marker = root / MARKER
    if not marker.is_file():
        raise StoreError(invalid("store", root, "a directory that `cwndlab sweep` wrote"))
    try:
        found = json.loads(marker.read_bytes())
        number, version = found["format"], found["cwndlab_version"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f'store: "{marker}" cannot be read ({error}): expected what `cwndlab sweep` wrote'
        ) from None
    if number not in (FORMAT, *OLDER):
        raise StoreError(
            f'store: "{root}" has format {number} (cwndlab {version}): expected format {FORMAT}, '
            f"which cwndlab {native.version()} reads; nothing in the directory was changed"
        )
    return number


def write_whole(path: Path, data: bytes) -> None:
    """Write a file atomically, also across a power cut."""
    with written_whole(path) as part:
        part.write_bytes(data)


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Give the name of a temporary file that replaces `path` once it is on the disk.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with written_whole(Path(folder) / "runs.csv") as part:
    ...         _ = part.write_text("1")
    ...     [file.name for file in Path(folder).iterdir()]
    ['runs.csv']
    """
    # A unique name for every writer: threads of one process may write the same file.
    part = path.with_name(f".{path.name[:100]}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Sync a directory's entries to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def disk_errors(root: Path) -> Iterator[None]:
    """Turn disk errors into StoreErrors that say what to do."""
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        what = {
            errno.ENOSPC: "the disk is full: free some space, or use another directory",
            errno.EDQUOT: "the quota is used up: free some space, or use another directory",
            errno.EFBIG: "a file would exceed the system's limit (ulimit -f): raise it",
        }.get(
            error.errno or 0,
            f"{(error.strerror or str(error)).lower()}: expected a directory that can be written",
        )
        found = StoreError(f'store: "{error.filename or root}": {what}; finished runs are kept')
        found.errno = error.errno
        raise found from error
